//! Marks that users or programs set.

use super::rows::Field;
use super::sql::{filtered, range_condition, text_condition};
use super::zero::ZeroTime;
use super::{Error, Result, Top, ask, has_rows};
use crate::Session;
use crate::question::Format::{Id, Seconds, Word};
use crate::question::{Answer, Column, Question, View, fields, group, option};
use crate::range::{Range, Unit};

request! {
    /// Which marks.
    #[derive(Eq)]
    pub struct MarkRequest {
        /// How many from the end of the list
        top: Top = group(),
        /// What becomes second 0 of times
        zero: ZeroTime = group(),
        /// Only marks with such texts (*, ?, several with ;, ! excludes)
        text: Option<String> = option("TEXT").called("marker-filter"),
        /// Only marks that are so far from zero, in seconds; in front of it numbers are negative
        diff: Range = option("A..B").unit(Unit::Seconds),
    }
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

type Mark = Column<MarkRequest, MarkRow>;

const MARKS: View<MarkRequest, MarkRow> = View::new(
    &[
        Mark::time("Time", |_, row| row.ts_ns.into()),
        Mark::new("DiffToZero", "Diff to zero s", Seconds(3), |_, row| row.diff_to_zero_ns.into()),
        Mark::new("Cpu", "Cpu", Id, |_, row| row.cpu.into()).hidden(),
        Mark::new("Thread", "Thread", Id, |_, row| row.tid.into()).hidden(),
        Mark::new("Process", "Process", Word, |_, row| process(row).into()).hidden(),
        Mark::new("Mark", "Mark", Word, |_, row| row.text.clone().into()),
    ],
    |row| row.ts_ns as f64,
);

/// Name and id of the process; nothing where none is known.
fn process(row: &MarkRow) -> String {
    let pid = row.pid.map(|pid| format!("({pid})")).unwrap_or_default();
    format!("{}{pid}", row.process.as_deref().unwrap_or_default())
}

impl Question for MarkRequest {
    const NAME: &'static str = "mark";
    const ALIASES: &'static [&'static str] = &["marker"];
    const SENTENCE: &'static str = "Marks that users or programs set";

    fn show_sql(&self) -> String {
        self.sql()
    }

    fn fields(&self) -> Vec<Field> {
        fields::<MarkRow>()
    }

    fn answer(&self, session: &Session) -> Result<Answer> {
        Answer::rows(self, &MARKS, self.ask(session)?).moved(&self.zero, session)
    }

    fn top(&self) -> Top {
        self.top
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
