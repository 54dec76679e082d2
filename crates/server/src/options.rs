//! Options and limits of a server.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use etwkit_engine::Engine;
use etwkit_record::Control;

/// Writes the trace of the demonstration and returns its path.
pub type Demo = Arc<dyn Fn() -> std::io::Result<PathBuf> + Send + Sync>;

/// Options of a server.
pub struct ServerOptions {
    /// The engine that opens and queries traces.
    pub engine: Engine,
    /// Port on the loopback address; `None` for a free one.
    pub port: Option<u16>,
    /// Folder for the list of opened traces, and for uploaded ones.
    pub cache_folder: PathBuf,
    /// Creates the trace of the demonstration, if it is available.
    pub demo: Option<Demo>,
    /// Records this machine, where that is possible.
    pub recorder: Option<Control>,
    /// Limits on the cost of a request.
    pub limits: Limits,
}

/// Limits on the cost of a request. The defaults are documented in `docs/view.md`.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Longest time of an answer.
    pub question_time: Duration,
    /// Longest time of a diagnosis, which runs all rules.
    pub diagnosis_time: Duration,
    /// Bytes of one question for sorting, grouping and joining.
    pub question_bytes: usize,
    /// Longest time in which a client has to receive an answer, once the system buffers no more of
    /// it.
    pub receiving_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            question_time: Duration::from_secs(60),
            diagnosis_time: Duration::from_secs(600),
            question_bytes: 512 << 20,
            receiving_time: Duration::from_secs(30),
        }
    }
}
