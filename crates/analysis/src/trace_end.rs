//! Start and end of the trace, and checks that it recorded the events that questions about waits
//! need.

use etwkit_question::covered::{Covered, Recorder};
use etwkit_question::{Error, ask, has_rows};
use etwkit_sql::Session;

use crate::Result;

etwkit_question::declare! {
    /// From when to when it is known what threads did: while the kernel logger recorded, in the
    /// part that was extracted.
    pub(crate) row TraceEnds {
        start_ns: i64 = "Start.",
        end_ns: i64 = "End.",
    }

    /// A number of rows.
    row Count {
        rows: i64 = "Rows.",
    }
}

impl TraceEnds {
    /// Queries an extract; both are 0 if it does not have them.
    pub(crate) fn ask(session: &Session) -> Result<Self> {
        // Other sessions in the same files may start before the kernel logger and continue after it,
        // when the states of threads are unknown.
        let sql = Covered::whole(Recorder::Kernel).sql();
        let found = ask(session, &sql)?.into_iter().next();
        // Tables without a trace, as of a test, have no time.
        Ok(found.unwrap_or_default())
    }
}

/// The recording that has waits.
const HOW: &str = "record with the kernel keywords CSWITCH+DISPATCHER (and stacks of CSwitch and ReadyThread), for example `wpr -start CPU`";

/// Checks that there are single rows of context switches, and events for the ends of waits.
///
/// # Errors
/// They were not recorded, or only sums are kept; the query fails.
pub(crate) fn check(session: &Session) -> Result<()> {
    if !has_rows(session, "context_switch")? {
        let kept: Vec<Count> = ask(session, "SELECT count(run_ns) AS rows FROM cpu_process")?;
        if kept.iter().any(|count| count.rows > 0) {
            return Err(Error::NeedsEvents {
                what: "context switches",
            });
        }
        return Err(Error::NotRecorded {
            what: "context switches",
            how: HOW,
            tables: vec!["context_switch"],
        });
    }
    // One row is enough; counting all would read millions of them.
    let readied: Vec<Count> = ask(
        session,
        "SELECT count(*) AS rows FROM (SELECT readied_ns FROM context_switch WHERE readied_ns IS NOT NULL LIMIT 1)",
    )?;
    if readied.iter().any(|count| count.rows > 0) {
        return Ok(());
    }
    // Without any wait, no thread had to be made ready.
    let waited: Vec<Count> = ask(
        session,
        "SELECT count(*) AS rows FROM (SELECT in_ns FROM context_switch WHERE in_ns IS NOT NULL AND prev_state IN (5, 8, 9) LIMIT 1)",
    )?;
    if waited.iter().any(|count| count.rows > 0) {
        return Err(Error::NotRecorded {
            what: "events that make threads ready (ReadyThread)",
            how: HOW,
            tables: Vec::new(),
        });
    }
    Ok(())
}
