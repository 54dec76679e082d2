//! The times of marks, which options of questions name.

use etwkit_sql::Session;

use crate::sql::Conditions;
use crate::{Error, Recorded, Result, ask};

/// The recording of marks.
pub const MARK: Recorded = Recorded::rows(
    "mark",
    "marks",
    "set marks while you record: `wpr -marker TEXT`, `xperf -m TEXT`, or EtwSetMark of a program",
);

/// Returns the time of the first mark with a matching text, after a given time if there is one.
///
/// # Errors
/// There is none; the query fails.
pub fn moment(session: &Session, text: &str, after: Option<i64>) -> Result<i64> {
    // Strictly after it: two equal texts mean two marks, or the range would be empty.
    let behind = after.map(|after| format!("ts_ns > {after}"));
    let fits = Conditions::new().text("text", Some(text)).and(behind);
    let first = format!("SELECT min(ts_ns) AS ts_ns FROM mark{fits}");
    let found: Vec<Found> = ask(session, &first)?;
    found.first().and_then(|first| first.ts_ns).ok_or_else(|| {
        let behind = if after.is_none() {
            ""
        } else {
            " after the first"
        };
        let message = format!("there is no mark {text:?}{behind}");
        Error::NotThere {
            message,
            how: "`etwkit dump mark` lists the marks that there are".to_owned(),
        }
    })
}

declare! {
    /// Time of a mark.
    row Found {
        ts_ns: Option<i64> = "Time.",
    }
}
