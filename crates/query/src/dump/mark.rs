//! Marks that users or programs set.

use super::sql::{filtered, range_condition, text_condition};
use super::zero::ZeroTime;
use super::{Error, Result, Top, ask, has_rows};
use crate::Session;
use crate::range::Range;

/// Which marks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkRequest {
    /// A filter on their texts. Marks that are left out still are a zero of times.
    pub text: Option<String>,
    /// Time since zero, in nanoseconds.
    pub diff: Range,
    /// What becomes second 0 of times.
    pub zero: ZeroTime,
    /// How many from the end of the list.
    pub top: Top,
}

rows! {
    /// A mark.
    pub struct MarkRow {
        /// Time; moved if there is another zero.
        ts_ns: i64,
        /// Time since zero: since the start of the trace if there is no other.
        diff_to_zero_ns: i64,
        /// Text.
        text: String,
        /// Processor.
        cpu: i64,
        /// Process that ran there, if known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread that ran there, if known.
        tid: Option<i64>,
    }
}

impl MarkRequest {
    /// The question.
    #[must_use]
    pub fn sql(&self) -> String {
        let time = self.zero.moved("m.ts_ns");
        let conditions: Vec<String> =
            [text_condition("m.text", self.text.as_deref()), range_condition(&time, self.diff)]
                .into_iter()
                .flatten()
                .collect();
        format!(
            "SELECT {time} AS ts_ns, {time} AS diff_to_zero_ns, m.text, m.cpu, m.process_key, p.pid, p.name AS process, t.tid
FROM mark m
LEFT JOIN process p ON p.process_key = m.process_key
LEFT JOIN thread t ON t.thread_key = m.thread_key{}{}
ORDER BY ts_ns, m.cpu",
            self.zero.join(),
            filtered(&conditions)
        )
    }

    /// Asks.
    ///
    /// # Errors
    /// No marks were recorded; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<MarkRow>> {
        if !has_rows(session, "mark")? {
            return Err(Error::NotRecorded {
                what: "marks",
                how: "set marks while you record: `wpr -marker TEXT`, `xperf -m TEXT`, or EtwSetMark of a program",
            });
        }
        let mut rows = ask(session, &self.sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }
}
