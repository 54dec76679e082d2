//! Pictures of the screen that ETWController took: when, why, and where they lie.

use super::rows::Field;
use super::sql::{filtered, quoted, range_condition, text_condition};
use super::{Result, Top, ask, check_recorded};
use crate::Session;
use crate::question::Format::{Id, Whole, Word};
use crate::question::{Answer, Column, Question, View, fields, group, option};
use crate::range::{Range, Unit};

/// Why a picture was taken, as the table has it.
pub const TRIGGERS: [&str; 6] = ["click", "key", "reaction", "enter", "timer", "other"];

request! {
    /// Which pictures.
    #[derive(Eq)]
    pub struct ScreenshotRequest {
        /// How many from the end of the list
        top: Top = group(),
        /// Only pictures that were taken for these reasons, with commas between
        triggers: Vec<&'static str> = option("WHAT").called("trigger").among(&TRIGGERS),
        /// Only files of such names (*, ?, several with ;, ! excludes)
        file: Option<String> = option("NAMES"),
        /// Only this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Seconds),
    }
}

rows! {
    /// A picture of the screen.
    pub struct ScreenshotRow {
        /// When it was taken; missing if nothing tells.
        ts_ns: Option<i64>,
        /// What tells the time: `event`, `name` of the file, or `modified`.
        time_from: Option<String>,
        /// Why it was taken: one of [`TRIGGERS`].
        trigger: String,
        /// Number of the click or key.
        event_number: Option<i64>,
        /// Mouse button or key, if its event is in the trace.
        input: Option<String>,
        /// Where the mouse was.
        x: Option<i64>,
        /// Where the mouse was.
        y: Option<i64>,
        /// Name of the file.
        file_name: String,
        /// The file from the folder of the trace on; missing if it was not there.
        path: Option<String>,
        /// Whether the file was there when the extract was made.
        has_file: bool,
        /// Its size.
        size_bytes: Option<i64>,
    }
}

type Picture = Column<ScreenshotRequest, ScreenshotRow>;

const PICTURES: View<ScreenshotRequest, ScreenshotRow> = View::new(
    &[
        Picture::time("Time", |_, row| row.ts_ns.into()),
        Picture::new("TimeFrom", "Told by", Word, |_, row| row.time_from.clone().into()),
        Picture::new("Trigger", "Trigger", Word, |_, row| row.trigger.clone().into()),
        Picture::new("Event", "Event", Id, |_, row| row.event_number.into()),
        Picture::new("Input", "Input", Word, |_, row| row.input.clone().into()),
        Picture::new("At", "At", Word, |_, row| row.x.zip(row.y).map(|(x, y)| format!("{x},{y}")).into()),
        Picture::new("Size", "Bytes", Whole, |_, row| row.size_bytes.into()).sum(),
        Picture::new("Picture", "Picture", Word, |_, row| {
            row.path.clone().unwrap_or_else(|| format!("{} (not there)", row.file_name)).into()
        }),
    ],
    // Pictures of unknown time are the last ones, as in the answer to the query.
    |row| row.ts_ns.map_or(f64::INFINITY, |ns| ns as f64),
);

impl Question for ScreenshotRequest {
    const NAME: &'static str = "screenshot";
    const ALIASES: &'static [&'static str] = &["screenshots"];
    const SENTENCE: &'static str =
        "Pictures of the screen that ETWController took: when, why, and where they lie";

    fn show_sql(&self) -> String {
        self.sql()
    }

    fn fields(&self) -> Vec<Field> {
        fields::<ScreenshotRow>()
    }

    fn answer(&self, session: &Session) -> Result<Answer> {
        Ok(Answer::rows(self, &PICTURES, self.ask(session)?))
    }

    fn top(&self) -> Top {
        self.top
    }
}

impl ScreenshotRequest {
    /// The question.
    #[must_use]
    pub fn sql(&self) -> String {
        let mut conditions: Vec<String> =
            [text_condition("s.file_name", self.file.as_deref()), range_condition("s.ts_ns", self.time)]
                .into_iter()
                .flatten()
                .collect();
        if !self.triggers.is_empty() {
            let triggers: Vec<String> = self.triggers.iter().map(|trigger| quoted(trigger)).collect();
            conditions.push(format!("s.trigger IN ({})", triggers.join(", ")));
        }
        format!(
            "SELECT s.ts_ns, s.time_from, s.trigger, s.event_number, s.input, s.x, s.y, s.file_name, s.path, s.has_file, s.size_bytes
FROM screenshot s{}
ORDER BY s.ts_ns, s.file_name, s.path",
            filtered(&conditions)
        )
    }

    /// Asks.
    ///
    /// # Errors
    /// There are no pictures; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<ScreenshotRow>> {
        check_recorded(
            session,
            "screenshot",
            "pictures of the screen",
            "record with ETWController, with its option to take screenshots, and extract the trace where its folder NAME.etl.Screenshots or NAME.Screenshots lies \
             beside it",
        )?;
        let mut rows = ask(session, &self.sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }
}
