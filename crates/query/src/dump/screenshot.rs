//! Pictures of the screen that ETWController took: when, why, and where they lie.

use super::sql::{filtered, quoted, range_condition, text_condition};
use super::{Result, Top, ask, check_recorded};
use crate::Session;
use crate::range::Range;

/// Why a picture was taken, as the table has it.
pub const TRIGGERS: [&str; 6] = ["click", "key", "reaction", "enter", "timer", "other"];

/// Which pictures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScreenshotRequest {
    /// Only those that were taken for these reasons, of [`TRIGGERS`]; all if empty.
    pub triggers: Vec<&'static str>,
    /// A filter on the names of files.
    pub file: Option<String>,
    /// Only those of this part of the trace, in nanoseconds; one of unknown time is left out by any limit.
    pub time: Range,
    /// How many from the end of the list.
    pub top: Top,
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
