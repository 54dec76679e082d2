//! Windows of time with about equally many switches, whatever their number in the trace.

use etwkit_question::ask;
use etwkit_question::range::Range;
use etwkit_question::sql::ends;
use etwkit_sql::Session;

use crate::Result;

/// Parts into which a piece of the trace is divided to count what is in each.
const PARTS: i64 = 1024;

/// A window of time, from its start to before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) from: i64,
    pub(super) to: i64,
}

impl Window {
    /// All times.
    pub(super) const ALL: Self = Self {
        from: i64::MIN,
        to: i64::MAX,
    };

    /// Returns `true` if a switch-in is in the window. One that did not come is in the last window.
    pub(super) fn holds(self, in_ns: Option<i64>) -> bool {
        let at = in_ns.unwrap_or(i64::MAX);
        // The last window also has what comes after it.
        self.from <= at && (at < self.to || self.to == i64::MAX)
    }

    /// Returns the part of an interval that is in the window.
    pub(super) fn part(self, (start, end): (i64, i64)) -> Option<(i64, i64)> {
        let part = (start.max(self.from), end.min(self.to));
        // Touching counts, so that a wait of no length is in a window.
        (part.0 <= part.1).then_some(part)
    }

    /// Returns the SQL condition for rows of `context_switch` whose wait or ready time may reach
    /// into the window; empty for all rows.
    pub(super) fn condition(self) -> Option<String> {
        let (from, to) = ends(Range {
            min: self.from,
            max: self.to,
        });
        (self != Self::ALL)
            .then(|| format!("c.last_out_ns <= {to} AND (c.in_ns >= {from} OR c.in_ns IS NULL)"))
    }
}

etwkit_question::declare! {
    /// The number of switch-ins in a part of the trace.
    row Count {
        part: Option<i64> = "Number of the part.",
        rows: i64 = "Switch-ins.",
        from_ns: Option<i64> = "The first of them.",
        to_ns: Option<i64> = "The last of them.",
    }
}

/// Returns windows that follow each other without gaps and in which about `held` threads were
/// switched in at most. The first begins before all times, the last ends after all.
///
/// # Errors
/// The query fails.
pub(super) fn windows(time: Range, session: &Session, held: i64) -> Result<Vec<Window>> {
    let (from, to) = ends(time);
    let mut cuts = Vec::new();
    // First as a whole: most traces need only one window.
    let whole = Count::ask(session, &format!("in_ns BETWEEN {from} AND {to}"), "0")?;
    for piece in whole {
        cut(session, &piece, held, &mut cuts)?;
    }
    cuts.push(i64::MAX);
    let starts = std::iter::once(i64::MIN).chain(cuts.iter().copied());
    Ok(starts
        .zip(cuts.iter().copied())
        .map(|(from, to)| Window { from, to })
        .collect())
}

impl Count {
    fn ask(session: &Session, condition: &str, part: &str) -> Result<Vec<Self>> {
        let sql = format!(
            "SELECT {part} AS part, count(*) AS rows, min(in_ns) AS from_ns, max(in_ns) AS to_ns
FROM context_switch
WHERE {condition}
GROUP BY 1
ORDER BY 1"
        );
        ask(session, &sql)
    }
}

/// Adds the times at which windows end inside a piece of the trace.
fn cut(session: &Session, piece: &Count, held: i64, cuts: &mut Vec<i64>) -> Result<()> {
    let Some((from, to)) = piece.from_ns.zip(piece.to_ns) else {
        // No switch-in in this piece.
        return Ok(());
    };
    // Switches at one time cannot be divided.
    if piece.rows <= held || from >= to {
        return Ok(());
    }
    // At least one nanosecond wide, and the last part ends after the piece.
    let width = to.saturating_sub(from) / PARTS + 1;
    let within = format!("in_ns BETWEEN {from} AND {to}");
    let parts = Count::ask(session, &within, &format!("(in_ns - {from}) / {width}"))?;
    let mut rows = 0;
    for part in parts {
        let Some(start) = part.from_ns else { continue };
        // A cut before this part, if both together are too many.
        if rows > 0 && rows + part.rows > held {
            cuts.push(start);
            rows = 0;
        }
        let before = cuts.len();
        cut(session, &part, held, cuts)?;
        // The rows after the last cut inside the part are at most what a window holds.
        rows = if cuts.len() > before {
            held
        } else {
            rows + part.rows
        };
    }
    Ok(())
}
