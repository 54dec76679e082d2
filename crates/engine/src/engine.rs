//! State that all questions of a program share.

use std::sync::Arc;

use etwkit_sql::Options;

use crate::cache::InTheMaking;
use crate::{Asking, SessionPool, Settings};

/// Opens and queries traces and extracts. Copies are the same engine; any number of threads may use
/// it at once.
#[derive(Debug, Clone)]
pub struct Engine(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    settings: Settings,
    pool: SessionPool,
    making: InTheMaking,
}

/// Creates an engine with the settings of the environment.
impl Default for Engine {
    fn default() -> Self {
        Self::new(Settings::from_environment())
    }
}

impl Engine {
    /// Creates an engine that stores its files in these places. Nothing is created before it is
    /// needed.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let pool = SessionPool::default();
        let making = InTheMaking::default();
        Self(Arc::new(Shared {
            settings,
            pool,
            making,
        }))
    }

    /// Returns the places of its files.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Returns the extracts that stay open between questions; by default none do.
    #[must_use]
    pub fn pool(&self) -> &SessionPool {
        &self.0.pool
    }

    /// Returns the extracts that are being made in the cache.
    pub(crate) fn making(&self) -> &InTheMaking {
        &self.0.making
    }

    /// Returns the options of one of `sessions` sessions that run at the same time: each has its
    /// share of processors and memory.
    pub(crate) fn options(&self, asking: &Asking, sessions: usize) -> Options {
        let usual = Options::default();
        let all = Options {
            memory_bytes: asking.resources.memory_bytes.unwrap_or(usual.memory_bytes),
            partitions: asking.resources.threads.unwrap_or(usual.partitions),
            temp_dir: self.settings().temp_dir.clone(),
            cancel: asking.cancel.clone(),
            process_names: asking.process_names.clone(),
        };
        // At least one of each: more sessions than processors would otherwise get none.
        let share = |whole: usize| (whole / sessions.max(1)).max(1);
        Options {
            memory_bytes: share(all.memory_bytes),
            partitions: share(all.partitions),
            ..all
        }
    }
}
