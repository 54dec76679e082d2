//! The machine that a program runs on.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use chrono::{Local, NaiveDateTime};
use etwkit_terminal::interrupt::Stoppable;

use crate::{Clock, Machine, Programs};

/// Polling interval for the Ctrl-C flag.
const LOOK: Duration = Duration::from_millis(50);

/// This machine: its programs and its time.
#[derive(Debug, Default)]
pub struct Here {
    programs: Programs,
    clock: SystemClock,
}

impl Here {
    /// Returns the machine. `cache` is the cache folder that the programs of this project share.
    /// The settings to restore at the end of a recording are stored there, so either program can
    /// end it.
    pub fn machine(&mut self, cache: Option<PathBuf>) -> Machine<'_> {
        let folder = cache.unwrap_or_else(std::env::temp_dir).join("record");
        Machine::here(
            &mut self.programs,
            &self.clock,
            crate::test_runs::machine(),
            folder,
        )
    }
}

/// The time of the system. From the first pause on, Ctrl-C ends pauses and not the program.
#[derive(Debug, Default)]
struct SystemClock(OnceCell<Stoppable>);

impl Clock for SystemClock {
    fn now(&self) -> NaiveDateTime {
        Local::now().naive_local()
    }

    fn pause(&self, time: Duration) -> bool {
        let stoppable = self.0.get_or_init(Stoppable::begin);
        let begun = Instant::now();
        while !stoppable.is_asked_to_stop() {
            // Slices of the pause, since a sleep does not end by Ctrl-C.
            let Some(left) = time.checked_sub(begun.elapsed()) else {
                return true;
            };
            std::thread::sleep(LOOK.min(left));
        }
        false
    }
}
