//! Scenario traces with known truth: a small machine is simulated, its events are written through the writer of
//! [`etwkit_etl`], and what is true of them is summed up on the way.
//!
//! The same arguments give the same bytes. A trace of scale N is N seconds long, and its events grow with it; memory
//! does not, since nothing is kept but sums.
//!
//! ```
//! use std::io::Cursor;
//!
//! # fn main() -> etwkit_synth::Result<()> {
//! let scenario = etwkit_synth::find("office").unwrap_or(&etwkit_synth::SCENARIOS[0]);
//! let options = etwkit_synth::Options { seed: 7, ..Default::default() };
//! let (trace, truth) = scenario.write(Cursor::new(Vec::new()), &options)?;
//! assert!(trace.into_inner().len() as u64 > 40 * truth.counts.total);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod office;
mod payload;
mod plan;
mod rng;
mod sim;
mod stacks;
mod table;
mod tape;
pub mod truth;

use std::io::{Seek, Write};

pub use truth::Truth;

/// Why a trace could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The trace writer refused.
    #[error(transparent)]
    Write(#[from] etwkit_etl::writer::WriteError),
    /// The scale is not one that a scenario has.
    #[error("a scale of {scale} is not possible: expected 1 to {MAX_SCALE}")]
    Scale {
        /// What was asked for.
        scale: u32,
    },
    /// The machine cannot have so many processors.
    #[error("{cpus} processors are not possible: expected 1 to {MAX_CPUS}")]
    Cpus {
        /// What was asked for.
        cpus: u16,
    },
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The largest scale: a day and a bit.
pub const MAX_SCALE: u32 = 100_000;

/// Most processors of a simulated machine.
pub const MAX_CPUS: u16 = 64;

/// What a trace is to be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Length in seconds.
    pub scale: u32,
    /// Other seeds give other traces of the same kind.
    pub seed: u64,
    /// Compress buffers.
    pub compressed: bool,
    /// Processors of the machine; `None`: as many as the scenario has.
    pub cpus: Option<u16>,
}

impl Default for Options {
    fn default() -> Self {
        Self { scale: 1, seed: 1, compressed: false, cpus: None }
    }
}

/// A kind of trace.
#[derive(Debug)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What happens in it.
    pub description: &'static str,
    plan: fn() -> plan::Plan,
}

/// All scenarios.
pub static SCENARIOS: [Scenario; 1] = [Scenario {
    name: "office",
    description: "editor, mail program and document service on four processors: samples, switches, calls, disk and file I/O",
    plan: office::plan,
}];

/// The scenario of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.name == name)
}

impl Scenario {
    /// Writes a trace. Gives back the sink, which stands behind the trace, and what is true of it.
    ///
    /// # Errors
    /// [`Error::Scale`] and [`Error::Cpus`] if there is no such machine, [`Error::Write`] if the sink fails.
    pub fn write<W: Write + Seek>(&self, sink: W, options: &Options) -> Result<(W, Truth)> {
        if !(1..=MAX_SCALE).contains(&options.scale) {
            return Err(Error::Scale { scale: options.scale });
        }
        let mut plan = (self.plan)();
        if let Some(cpus) = options.cpus {
            if !(1..=MAX_CPUS).contains(&cpus) {
                return Err(Error::Cpus { cpus });
            }
            plan.cpus = cpus;
        }
        let (sink, mut truth) = sim::Sim::new(plan, sink, options)?.run()?;
        truth.made = truth::Made {
            format_version: truth::FORMAT_VERSION,
            scenario: self.name.to_owned(),
            scale: options.scale,
            seed: options.seed,
            compressed: options.compressed,
        };
        Ok((sink, truth))
    }
}
