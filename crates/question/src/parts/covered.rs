//! The part of a trace that an answer covers. Shares and rates of an answer are of its length.

use etwkit_sql::Session;

use super::sql::ends;
use crate::range::Range;
use crate::{Result, ask};

/// The sessions of a recording that logged the events of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorder {
    /// The kernel logger: CPU, context switches, DPCs, disks. It may start later than other
    /// sessions of the recording and end before them.
    Kernel,
    /// Any session, so nothing shorter than the trace is known. A ring of buffers starts with the
    /// first event of the kernel logger that it still has.
    Any,
}

declare! {
    /// The ends of the part.
    row CoveredRow {
        start_ns: i64 = "Start.",
        end_ns: i64 = "End.",
    }
}

/// The part of a trace that an answer covers, as SQL over a row of the table `trace`: what was
/// recorded, extracted and asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Covered {
    /// Start in nanoseconds.
    pub start: String,
    /// End in nanoseconds. It is before the start where nothing is covered.
    pub end: String,
}

impl Covered {
    /// Returns the part of the trace in which these sessions recorded and which was extracted.
    #[must_use]
    pub fn whole(recorder: Recorder) -> Self {
        Self::new(recorder, Range::default())
    }

    /// Returns the part of the range in which these sessions recorded and which was extracted.
    #[must_use]
    pub fn new(recorder: Recorder, asked: Range) -> Self {
        let (from, to) = ends(asked);
        let mut starts = vec!["coalesce(range_start_ns, 0)".to_owned()];
        let mut stops = vec!["coalesce(range_end_ns, duration_ns)".to_owned()];
        match recorder {
            Recorder::Kernel => {
                starts.push("coalesce(kernel_start_ns, 0)".to_owned());
                stops.push("coalesce(kernel_end_ns, duration_ns)".to_owned());
            }
            Recorder::Any => starts.push(RING_START.to_owned()),
        }
        if asked.min != i64::MIN {
            starts.push(from.to_string());
        }
        if asked.max != i64::MAX {
            stops.push(to.to_string());
        }
        Self {
            start: innermost("greatest", &starts),
            end: innermost("least", &stops),
        }
    }

    /// Returns the statement with one row for a trace: `start_ns` and `end_ns`.
    #[must_use]
    pub fn sql(&self) -> String {
        let Self { start, end } = self;
        format!("SELECT {start} AS start_ns, {end} AS end_ns FROM trace")
    }

    /// Returns the length in nanoseconds as an SQL expression; null if nothing is covered.
    #[must_use]
    pub fn length(&self) -> String {
        let Self { start, end } = self;
        format!("(SELECT nullif(greatest(max({end} - {start}), 0), 0) FROM trace)")
    }

    /// Queries start and end in nanoseconds.
    ///
    /// # Errors
    /// The query fails.
    pub fn ends_ns(&self, session: &Session) -> Result<(i64, i64)> {
        let rows: Vec<CoveredRow> = ask(session, &self.sql())?;
        // Tables without a trace, as of a test, have no time.
        Ok(rows
            .first()
            .map_or((0, 0), |row| (row.start_ns, row.end_ns)))
    }

    /// Queries the length in nanoseconds; 0 if nothing is covered.
    ///
    /// # Errors
    /// The query fails.
    pub fn length_ns(&self, session: &Session) -> Result<i64> {
        let (start_ns, end_ns) = self.ends_ns(session)?;
        Ok(end_ns.saturating_sub(start_ns).max(0))
    }
}

/// Start of what a ring of buffers kept; 0 for other recordings.
const RING_START: &str =
    "CASE WHEN ring_start_ns IS NULL THEN 0 ELSE coalesce(kernel_start_ns, 0) END";

/// Returns the call of a function that chooses one of several numbers; one number needs no call.
fn innermost(function: &str, numbers: &[String]) -> String {
    match numbers {
        [one] => one.clone(),
        several => format!("{function}({})", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_limits_that_there_are_shorten_it() {
        let asked = |recorder, min, max| Covered::new(recorder, Range { min, max });
        assert_eq!(
            asked(Recorder::Any, i64::MIN, i64::MAX).sql(),
            format!(
                "SELECT greatest(coalesce(range_start_ns, 0), {RING_START}) AS start_ns, \
                 coalesce(range_end_ns, duration_ns) AS end_ns FROM trace"
            )
        );
        let part = asked(Recorder::Kernel, 5, i64::MAX);
        assert_eq!(
            part.start,
            "greatest(coalesce(range_start_ns, 0), coalesce(kernel_start_ns, 0), 5)"
        );
        assert_eq!(
            part.end,
            "least(coalesce(range_end_ns, duration_ns), coalesce(kernel_end_ns, duration_ns))"
        );
    }
}
