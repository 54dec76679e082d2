//! All output of a command goes through here, so that no command can forget to escape it
//! ([`etwkit_terminal::Lines`]) or to report gaps of the traces.

use std::io::Write;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use etwkit_base::digits::counted;
pub(crate) use etwkit_base::digits::grouped;
use etwkit_engine::{AllGaps, Asking, Gaps};
pub(crate) use etwkit_terminal::FORMAT_VERSION;
use etwkit_terminal::style::ColorMode;
use etwkit_terminal::{Lines, WriteError};
use serde_json::{Value, json};

use crate::Terminal;
use crate::context::Context;
use crate::report;

type Result<T> = std::result::Result<T, WriteError>;

/// Amount of output on the error stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Speech {
    /// Errors alone.
    Quiet,
    /// Errors and notes.
    #[default]
    Usual,
    /// Errors, notes, and the source of the answer.
    Verbose,
}

/// Writes an answer: its lines, and its notes on the error stream.
pub(crate) struct Printer<'w> {
    lines: Lines<'w>,
    /// Notes for the reader of the answer, for the error stream.
    notes: Vec<String>,
    /// Amount of notes to print.
    speech: Speech,
    /// Failures after which the rest continued.
    failures: Vec<anyhow::Error>,
    /// Gaps of the answer's traces.
    gaps: AllGaps,
    /// The command for the first line of machine output, while that line is pending.
    json_start: Option<String>,
    /// Machine output has begun.
    is_json: bool,
    /// Settings of the command's queries.
    context: Context,
    /// The extracts that have answered without an error.
    answered: Vec<String>,
    /// The hint for errors that have no better one.
    help: String,
}

impl<'w> Deref for Printer<'w> {
    type Target = Lines<'w>;

    fn deref(&self) -> &Self::Target {
        &self.lines
    }
}

impl DerefMut for Printer<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.lines
    }
}

impl<'w> Printer<'w> {
    pub(crate) fn new(out: &'w mut dyn Write) -> Self {
        Self {
            lines: Lines::new(out),
            notes: Vec::new(),
            speech: Speech::Usual,
            failures: Vec::new(),
            gaps: AllGaps::default(),
            json_start: None,
            is_json: false,
            context: Context::default(),
            answered: Vec::new(),
            help: report::HELP.to_owned(),
        }
    }

    /// Returns this printer for a terminal, with the colors and the verbosity of a session.
    pub(crate) fn on(self, terminal: Terminal, session: Option<ColorMode>, speech: Speech) -> Self {
        Self {
            lines: self.lines.on(terminal.width, terminal.colors, session),
            speech,
            ..self
        }
    }

    /// Applies the verbosity of a command line, unless it is the default.
    pub(crate) fn speak(&mut self, speech: Speech) {
        if speech != Speech::Usual {
            self.speech = speech;
        }
    }

    /// Returns this printer for a command with these query settings.
    pub(crate) fn with_context(self, context: Context) -> Self {
        Self { context, ..self }
    }

    /// Returns the settings of the command's queries.
    pub(crate) fn context(&self) -> Context {
        self.context.clone()
    }

    /// Replaces the settings of later queries. Returns the previous ones.
    pub(crate) fn ask_with(&mut self, asking: Asking) -> Asking {
        std::mem::replace(&mut self.context.asking, asking)
    }

    /// Whether the reader wants notes on the error stream.
    pub(crate) fn wants_notes(&self) -> bool {
        self.speech != Speech::Quiet
    }

    /// Reports the number of rows that went into a file.
    pub(crate) fn wrote(&mut self, rows: usize, file: &Path) -> Result<()> {
        let rows = counted(rows as u64, ["row", "rows"]);
        self.line(&format!("Wrote {rows} to {}", file.display()))
    }

    /// Records that an extract has answered, even without a row.
    pub(crate) fn answered_by(&mut self, extract: &str) {
        self.answered.push(extract.to_owned());
    }

    /// Sets the hint for errors that have no better one.
    pub(crate) fn help_with(&mut self, help: String) {
        self.help = help;
    }

    /// Takes out the hint for errors that have no better one.
    pub(crate) fn take_help(&mut self) -> String {
        std::mem::take(&mut self.help)
    }

    /// Keeps a note for the error stream.
    pub(crate) fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    /// Keeps an error of a part of the work. The command then ends with status 2 after the rest is
    /// finished.
    pub(crate) fn failed(&mut self, error: anyhow::Error) {
        self.failures.push(error);
    }

    /// Whether parts of the work failed and no extract has answered.
    pub(crate) const fn has_no_answer(&self) -> bool {
        self.answered.is_empty() && !self.failures.is_empty()
    }

    /// Takes the errors of parts out.
    pub(crate) fn take_failures(&mut self) -> Vec<anyhow::Error> {
        std::mem::take(&mut self.failures)
    }

    /// Returns the notes so far.
    pub(crate) fn notes(&mut self) -> &mut Vec<String> {
        &mut self.notes
    }

    /// Takes the notes out, with the gaps of the traces last.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(self.gaps.lines());
        self.gaps.clear();
        match self.speech {
            Speech::Quiet => Vec::new(),
            Speech::Usual => notes,
            Speech::Verbose => {
                let answered = |extract: &String| format!("answered by {extract}");
                self.answered.iter().map(answered).chain(notes).collect()
            }
        }
    }

    /// Adds gaps of the answer's traces: the error stream gets a line, and machine output a field
    /// of its first line, or a line of its own if the first line is already printed.
    pub(crate) fn add_gaps(&mut self, gaps: impl IntoIterator<Item = Gaps>) {
        gaps.into_iter().for_each(|gaps| self.gaps.add(gaps));
    }

    /// Returns the gaps of the answer's traces.
    pub(crate) fn gaps(&mut self) -> &mut AllGaps {
        &mut self.gaps
    }

    /// Returns this printer for a part of the answer that goes to a file and has these gaps.
    pub(crate) fn with_gaps(self, gaps: AllGaps) -> Self {
        Self { gaps, ..self }
    }

    /// Sets the first line of machine output. It is printed with the next line, or at the end,
    /// since it contains the gaps of traces that are opened until then.
    pub(crate) fn json_start(&mut self, command: &str) {
        self.json_start = Some(command.to_owned());
    }

    /// Prints the first line of machine output if it is still pending, and the gaps of traces that
    /// were opened since.
    fn json_started(&mut self) -> Result<()> {
        let Some(command) = self.json_start.take() else {
            // Gaps of traces that were opened after the first line was printed come in lines of
            // their own.
            return if self.is_json {
                self.late_gaps()
            } else {
                Ok(())
            };
        };
        self.is_json = true;
        let mut first = json!({"command": command, "format_version": FORMAT_VERSION});
        let gaps = self.gaps.new_json();
        if let Some(first) = first.as_object_mut().filter(|_| !gaps.is_empty()) {
            first.insert("incomplete".into(), gaps.into());
        }
        self.json_line(&first)
    }

    fn late_gaps(&mut self) -> Result<()> {
        self.gaps
            .new_json()
            .iter()
            .try_for_each(|gaps| self.json_line(gaps))
    }

    /// Prints one object on one line.
    pub(crate) fn json(&mut self, value: &Value) -> Result<()> {
        self.json_started()?;
        self.json_line(value)
    }

    fn json_line(&mut self, value: &Value) -> Result<()> {
        self.lines.json_line(&value.to_string())
    }

    /// Flushes buffered output.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.json_started()?;
        self.lines.flush()
    }
}
