//! Screenshots by ETWController: times, triggers, and files.

use etwkit_question::Format::{Id, Whole, Word};
use etwkit_question::Recorded;
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::Conditions;
use etwkit_question::{Column, Example, Form, Question, Ranked, View, group, option};
use etwkit_sql::literal::quoted;

/// Triggers of a screenshot, with their names in the table.
pub const TRIGGERS: [&str; 6] = ["click", "key", "reaction", "enter", "timer", "other"];

declare! {
    /// Options of `dump screenshot`.
    #[derive(Eq)]
    pub request ScreenshotRequest {
        /// Number of rows from the end of the list
        top: Top = group(),
        /// Only pictures that were taken for these reasons, with commas between
        triggers: Vec<&'static str> = option("WHAT").called("trigger").among(&TRIGGERS),
        /// Only files with these names (*, ?, several with ;, ! excludes)
        file: Option<String> = option("NAMES"),
        /// Only this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
    }

    /// A picture of the screen.
    pub row ScreenshotRow {
        ts_ns: Option<i64> = "When it was taken; missing if that is not known.",
        time_from: Option<String> = "Where the time comes from: `event`, `name` of the file, or `modified`.",
        trigger: String = "Why it was taken: one of [`TRIGGERS`].",
        event_number: Option<i64> = "Number of the click or key.",
        input: Option<String> = "Mouse button or key, if its event is in the trace.",
        x: Option<i64> = "Where the mouse was.",
        y: Option<i64> = "Where the mouse was.",
        file_name: String = "Name of the file.",
        path: Option<String> = "The file from the folder of the trace on; missing if it was not there.",
        has_file: bool = "Whether the file was there when the extract was made.",
        size_bytes: Option<i64> = "Size of the file.",
    }
}

type ScreenshotColumn = Column<ScreenshotRequest, ScreenshotRow>;

const PICTURES: View<ScreenshotRequest, ScreenshotRow> = View::new(
    &[
        ScreenshotColumn::time("Time", |_, row| row.ts_ns.into()),
        ScreenshotColumn::new("TimeFrom", "Time from", Word, |_, row| {
            row.time_from.clone().into()
        }),
        ScreenshotColumn::new("Trigger", "Trigger", Word, |_, row| {
            row.trigger.clone().into()
        }),
        ScreenshotColumn::new("Event", "Event", Id, |_, row| row.event_number.into()),
        ScreenshotColumn::new("Input", "Input", Word, |_, row| row.input.clone().into()),
        ScreenshotColumn::new("At", "At", Word, |_, row| {
            row.x.zip(row.y).map(|(x, y)| format!("{x},{y}")).into()
        }),
        ScreenshotColumn::new("Size", "Bytes", Whole, |_, row| row.size_bytes.into()).sum(),
        ScreenshotColumn::new("Picture", "Picture", Word, |_, row| {
            row.path
                .clone()
                .unwrap_or_else(|| format!("{} (not there)", row.file_name))
                .into()
        }),
    ],
    // Pictures of unknown time are the last ones, as in the answer to the query.
    |row| row.ts_ns.map_or(f64::INFINITY, |ns| ns as f64),
)
.ranking(|_| Ranked::No);

impl Question for ScreenshotRequest {
    const NAME: &'static str = "screenshot";
    const ALIASES: &'static [&'static str] = &["screenshots"];
    const SENTENCE: &'static str =
        "Pictures of the screen that ETWController took: when, why, and where they are";
    const USUAL: &'static [&'static str] = &["trigger", "file"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "pictures of the screen, and when they were taken",
        },
        Example {
            words: "--range 10..20 slow.etl",
            answer: "pictures of a part of the trace",
        },
    ];

    fn form(&self) -> Form<Self> {
        Form::rows(&PICTURES, self.sql())
            .needs(&SCREENSHOT, true)
            .top(self.top)
    }
}

const SCREENSHOT: Recorded = Recorded::rows(
    "screenshot",
    "pictures of the screen",
    "record with ETWController, with its option to take screenshots, and extract the trace where its folder \
     NAME.etl.Screenshots or NAME.Screenshots is next to it",
);

impl ScreenshotRequest {
    /// Returns the SQL of the question.
    #[must_use]
    pub fn sql(&self) -> String {
        let triggers = self.triggers.iter().map(|trigger| quoted(trigger));
        let is_one = format!("s.trigger IN ({})", triggers.collect::<Vec<_>>().join(", "));
        let conditions = Conditions::new()
            .text("s.file_name", self.file.as_deref())
            .range("s.ts_ns", self.time)
            .when(!self.triggers.is_empty(), &is_one);
        format!(
            "SELECT s.ts_ns, s.time_from, s.trigger, s.event_number, s.input, s.x, s.y, s.file_name, s.path, s.has_file, s.size_bytes
FROM screenshot s{conditions}
ORDER BY s.ts_ns, s.file_name, s.path"
        )
    }
}
