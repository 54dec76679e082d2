//! All output of a command goes through here, so that nothing can forget to escape it
//! ([`etwkit_terminal::Lines`]) or to say what the traces lack.

use std::io::Write;
use std::ops::{Deref, DerefMut};

pub(crate) use etwkit_base::digits::grouped;
use etwkit_engine::{AllGaps, Asking, Gaps};
pub(crate) use etwkit_terminal::FORMAT_VERSION;
use etwkit_terminal::style::When;
use etwkit_terminal::{Lines, WriteError};
use serde_json::{Value, json};

use crate::Terminal;
use crate::context::Context;

type Result<T> = std::result::Result<T, WriteError>;

/// How much is said on the error stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Speech {
    /// Errors alone.
    Quiet,
    /// Notes, too.
    #[default]
    Usual,
    /// What answered, too.
    Verbose,
}

/// Writes an answer: its lines, and what goes with it on the error stream.
pub(crate) struct Printer<'w> {
    lines: Lines<'w>,
    /// What the reader of the answer should know, for the error stream.
    notes: Vec<String>,
    /// How many of the notes are printed.
    speech: Speech,
    /// What failed while the rest went on.
    failures: Vec<anyhow::Error>,
    /// What the traces of the answer lack.
    gaps: AllGaps,
    /// The command that the first line of machine output has yet to name.
    json_start: Option<String>,
    /// Machine output has begun.
    is_json: bool,
    /// What the command asks extracts with.
    context: Context,
    /// The extracts that answered without saying that they cannot.
    answered: Vec<String>,
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
        }
    }

    /// This printer, for a terminal, in a session that may have chosen other colours and says so much.
    pub(crate) fn on(self, terminal: Terminal, session: Option<When>, speech: Speech) -> Self {
        Self {
            lines: self.lines.on(terminal.width, terminal.colors, session),
            speech,
            ..self
        }
    }

    /// Follows what a command line wants to be said, if it wants something else than usual.
    pub(crate) fn speak(&mut self, speech: Speech) {
        if speech != Speech::Usual {
            self.speech = speech;
        }
    }

    /// This printer, for a command that asks extracts with this.
    pub(crate) fn with_context(self, context: Context) -> Self {
        Self { context, ..self }
    }

    /// What the command asks extracts with.
    pub(crate) fn context(&self) -> Context {
        self.context.clone()
    }

    /// From now on extracts are asked with this. Returns what they were asked with before.
    pub(crate) fn ask_with(&mut self, asking: Asking) -> Asking {
        std::mem::replace(&mut self.context.asking, asking)
    }

    /// An extract answered, be it without a row.
    pub(crate) fn answered_by(&mut self, extract: &str) {
        self.answered.push(extract.to_owned());
    }

    /// Keeps a note for the error stream.
    pub(crate) fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    /// Keeps an error of a part of the work, which ends the command with status 2 when the rest is done.
    pub(crate) fn failed(&mut self, error: anyhow::Error) {
        self.failures.push(error);
    }

    /// Takes the errors of parts out.
    pub(crate) fn take_failures(&mut self) -> Vec<anyhow::Error> {
        std::mem::take(&mut self.failures)
    }

    /// The notes so far.
    pub(crate) fn notes(&mut self) -> &mut Vec<String> {
        &mut self.notes
    }

    /// Takes the notes out, what the traces lack last.
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

    /// Takes what traces of the answer lack: the error stream gets a line, machine output a field of its
    /// first line, or a line of its own where that was printed before.
    pub(crate) fn add_gaps(&mut self, gaps: impl IntoIterator<Item = Gaps>) {
        gaps.into_iter().for_each(|gaps| self.gaps.add(gaps));
    }

    /// What the traces of the answer lack.
    pub(crate) fn gaps(&mut self) -> &mut AllGaps {
        &mut self.gaps
    }

    /// This printer, for a part of the answer that goes to a file and has these gaps.
    pub(crate) fn with_gaps(self, gaps: AllGaps) -> Self {
        Self { gaps, ..self }
    }

    /// The first line of machine output. It is printed with the next one, or at the end, since it says what
    /// the traces lack that were opened meanwhile.
    pub(crate) fn json_start(&mut self, command: &str) {
        self.json_start = Some(command.to_owned());
    }

    /// Prints the first line of machine output, if that is still to be done, and what traces lack that were
    /// opened since.
    fn json_started(&mut self) -> Result<()> {
        let Some(command) = self.json_start.take() else {
            // Gaps of traces that were opened behind the first line come in lines of their own, since that is
            // printed.
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

    /// One object on one line.
    pub(crate) fn json(&mut self, value: &Value) -> Result<()> {
        self.json_started()?;
        self.json_line(value)
    }

    fn json_line(&mut self, value: &Value) -> Result<()> {
        self.lines.json_line(&value.to_string())
    }

    /// Writes what is buffered.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.json_started()?;
        self.lines.flush()
    }
}
