//! Lines about long work where no bar is drawn: in scripts, logs and pipes.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use etwkit_terminal::escape;

/// Time from one line to the next. Shorter work says nothing.
const EVERY: Duration = Duration::from_secs(10);

/// Writes a line about some work on the error stream from time to time.
#[derive(Debug)]
pub(crate) struct Pace {
    /// The trace or file that is worked on.
    what: String,
    begun: Instant,
    /// Time of the last line.
    said: Instant,
}

impl Pace {
    /// Starts to watch work; `None` if the reader wants no notes, or has a terminal with bars.
    pub(crate) fn begin(what: &str, wants_notes: bool) -> Option<Self> {
        let begun = Instant::now();
        (wants_notes && !io::stderr().is_terminal()).then(|| Self {
            what: what.to_owned(),
            begun,
            said: begun,
        })
    }

    /// Writes a line if one is due; `done` is the finished share.
    pub(crate) fn at(&mut self, done: f64) {
        if self.said.elapsed() < EVERY {
            return;
        }
        self.said = Instant::now();
        let line = line(&self.what, done, self.begun.elapsed());
        // Nobody who closed the stream misses a line.
        let _ = writeln!(io::stderr(), "{line}");
    }
}

fn line(what: &str, done: f64, after: Duration) -> String {
    let percent = 100.0 * done.clamp(0.0, 1.0);
    let what = escape::text(what);
    let seconds = after.as_secs();
    format!("note: {what}: {percent:.0} % after {seconds} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_work_and_its_share() {
        let after = Duration::from_millis(20_900);
        assert_eq!(
            line("slow\n.etl", 0.42, after),
            "note: slow\\n.etl: 42 % after 20 s"
        );
        assert_eq!(line("a", 1.5, after), "note: a: 100 % after 20 s");
        assert!(Pace::begin("a", false).is_none());
    }
}
