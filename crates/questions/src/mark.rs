//! Marks that users or programs set.

use etwkit_question::Format::{Id, Seconds, Word};
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::moment::MARK;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::Conditions;
use etwkit_question::zero::ZeroTime;
use etwkit_question::{
    Among, Answer, Column, Example, Form, Question, Ranked, View, group, option,
};
use etwkit_sql::Session;

const TEXTS: Among = Among::Texts("mark", "marks", "SELECT text FROM mark");

declare! {
    /// Options of `dump mark`.
    #[derive(Eq)]
    pub request MarkRequest {
        /// Number of rows from the end of the list
        top: Top = group(),
        /// Zero point of times
        zero: ZeroTime = group(),
        /// Only marks with these texts (*, ?, several with ;, ! excludes)
        text: Option<String> = option("TEXT").called("marker-filter").of(TEXTS),
        /// Only marks at this distance from zero, in seconds; it is negative for marks before zero
        diff: Range = option("A..B").unit(Unit::Seconds),
    }

    /// A mark.
    pub row MarkRow {
        ts_ns: i64 = "Time; moved if there is another zero.",
        diff_to_zero_ns: i64 = "Time since zero: since the start of the trace if there is no other.",
        text: String = "Text.",
        cpu: i64 = "Processor.",
        ..process = "Process that ran there, if known.",
        tid: Option<i64> = "Thread that ran there, if known.",
    }
}

type MarkColumn = Column<MarkRequest, MarkRow>;

const MARKS: View<MarkRequest, MarkRow> = View::new(
    &[
        MarkColumn::time("Time", |_, row| row.ts_ns.into()),
        MarkColumn::new("DiffToZero", "Diff to zero s", Seconds(3), |_, row| {
            row.diff_to_zero_ns.into()
        }),
        MarkColumn::new("Cpu", "Cpu", Id, |_, row| row.cpu.into()).hidden(),
        MarkColumn::new("Thread", "Thread", Id, |_, row| row.tid.into()).hidden(),
        MarkColumn::new("Process", "Process", Word, |_, row| process(row).into()).hidden(),
        MarkColumn::new("Mark", "Mark", Word, |_, row| row.text.clone().into()),
    ],
    |row| row.ts_ns as f64,
)
.ranking(|_| Ranked::No);

/// Returns the name and id of the process; empty if it is not known.
fn process(row: &MarkRow) -> String {
    let pid = row.pid.map_or_else(String::new, |pid| format!("({pid})"));
    format!("{}{pid}", row.process.as_deref().unwrap_or(""))
}

impl Question for MarkRequest {
    const NAME: &'static str = "mark";
    const ALIASES: &'static [&'static str] = &["marker"];
    const SENTENCE: &'static str = "Marks that users or programs set";
    const USUAL: &'static [&'static str] = &["marker-filter", "diff", "zero-time"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "marks with their times",
        },
        Example {
            words: "--marker-filter \"*login*\" slow.etl",
            answer: "only those about the login",
        },
    ];

    fn form(&self) -> Form<Self> {
        let answer = |asked: &Self, session: &Session, rows| {
            Answer::rows(asked, &MARKS, rows).moved(&asked.zero, session)
        };
        Form::of(self.sql(), answer)
            .shows(&MARKS)
            .needs(&MARK, true)
            .top(self.top)
    }
}

impl MarkRequest {
    /// Returns the SQL of the question.
    #[must_use]
    pub fn sql(&self) -> String {
        let time = self.zero.moved("m.ts_ns");
        let conditions = Conditions::new()
            .text("m.text", self.text.as_deref())
            .range(&time, self.diff);
        format!(
            "SELECT {time} AS ts_ns, {time} AS diff_to_zero_ns, m.text, m.cpu, m.process_key, p.pid, p.name AS process, t.tid
FROM mark m
LEFT JOIN process p ON p.process_key = m.process_key
LEFT JOIN thread t ON t.thread_key = m.thread_key{}{conditions}
ORDER BY ts_ns, m.cpu",
            self.zero.join()
        )
    }
}
