//! All output of a command goes through here, so that nothing can forget to escape it. Colours
//! ([`crate::style`]) come behind that.

use std::io::{self, Write};

use etwkit_engine::{AllGaps, Asking, Gaps};
use etwkit_query::numbers::Numbers;
use serde_json::{Value, json};

use crate::Terminal;
use crate::context::Context;
use crate::sanitize;
use crate::style::{Colors, Role, When, labelled};

/// The answer could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the answer")]
pub(crate) struct WriteError(#[from] io::Error);

impl WriteError {
    /// Whether the reader at the other end of a pipe has gone: `etwkit … | head`.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        // ERROR_PIPE_NOT_CONNECTED has no kind of its own; named pipes of Windows end with it.
        self.0.kind() == io::ErrorKind::BrokenPipe || (cfg!(windows) && self.0.raw_os_error() == Some(233))
    }
}

type Result<T> = std::result::Result<T, WriteError>;

/// Version of the JSON that commands print: changes when a key changes its meaning or goes away.
pub(crate) const FORMAT_VERSION: u32 = 1;

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

/// Writes lines.
pub(crate) struct Printer<'w> {
    out: &'w mut dyn Write,
    /// Columns of the terminal, if it writes to one.
    width: Option<usize>,
    /// Colours that the terminal, or the session, has.
    terminal: Colors,
    /// Colours of this command.
    colors: Colors,
    /// Something was printed.
    started: bool,
    /// What the reader of the answer should know, for the error stream.
    notes: Vec<String>,
    /// How much of that is said.
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

impl<'w> Printer<'w> {
    pub(crate) fn new(out: &'w mut dyn Write) -> Self {
        let colors = Colors::default();
        Self {
            out,
            width: None,
            terminal: colors,
            colors,
            started: false,
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
        let Terminal { width, colors } = terminal;
        Self { width, terminal: colors, colors: colors.chosen(session), speech, ..self }
    }

    /// Follows the choice of a command line, if it has one.
    pub(crate) fn choose_colors(&mut self, when: Option<When>) {
        if when.is_some() {
            self.colors = self.terminal.chosen(when);
        }
    }

    /// Follows what a command line wants to be said, if it wants something else than usual.
    pub(crate) fn speak(&mut self, speech: Speech) {
        if speech != Speech::Usual {
            self.speech = speech;
        }
    }

    /// Colours of this command.
    pub(crate) const fn colors(&self) -> Colors {
        self.colors
    }

    /// The same, for a command that asks extracts with this.
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

    /// Columns of the terminal; `None` for a pipe or file.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// One line: line breaks and other controls in it are escaped.
    pub(crate) fn line(&mut self, line: &str) -> Result<()> {
        self.line_as(Role::Plain, line)
    }

    /// A line that looks like what it is.
    pub(crate) fn line_as(&mut self, role: Role, line: &str) -> Result<()> {
        self.started = true;
        let line = sanitize::text(line.trim_end());
        writeln!(self.out, "{}", role.paint(&line, self.colors.out)).map_err(WriteError)
    }

    /// A line that begins with what it is: `hint: …`, `warning: …`.
    pub(crate) fn labelled(&mut self, line: &str) -> Result<()> {
        self.started = true;
        let line = sanitize::text(line.trim_end());
        writeln!(self.out, "{}", labelled(&line, self.colors.out)).map_err(WriteError)
    }

    /// Text for a file, as it is.
    pub(crate) fn raw(&mut self, text: &str) -> Result<()> {
        self.started = true;
        self.out.write_all(text.as_bytes()).map_err(WriteError)
    }

    /// Where bytes go that are no text.
    pub(crate) fn bytes(&mut self) -> &mut dyn Write {
        self.started = true;
        self.out
    }

    /// Text of our own that has several lines.
    pub(crate) fn block(&mut self, block: &str) -> Result<()> {
        block.lines().try_for_each(|line| self.line(line))
    }

    /// A heading, with an empty line in front unless it is the first one.
    pub(crate) fn heading(&mut self, heading: &str) -> Result<()> {
        self.heading_as(Role::Heading, heading)
    }

    /// The heading of a trace or an extract.
    pub(crate) fn file(&mut self, heading: &str) -> Result<()> {
        self.heading_as(Role::File, heading)
    }

    fn heading_as(&mut self, role: Role, heading: &str) -> Result<()> {
        if self.started {
            self.line("")?;
        }
        self.line_as(role, heading)
    }

    /// A table below a heading.
    pub(crate) fn table(&mut self, table: &Table) -> Result<()> {
        table.lines().iter().try_for_each(|line| self.line_as(line.role, &line.text))
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
            return if self.is_json { self.late_gaps() } else { Ok(()) };
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
        self.gaps.new_json().iter().try_for_each(|gaps| self.json_line(gaps))
    }

    /// One object on one line.
    pub(crate) fn json(&mut self, value: &Value) -> Result<()> {
        self.json_started()?;
        self.json_line(value)
    }

    fn json_line(&mut self, value: &Value) -> Result<()> {
        writeln!(self.out, "{}", sanitize::json_text(&value.to_string())).map_err(WriteError)
    }

    /// Writes what is buffered.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.json_started()?;
        self.out.flush().map_err(WriteError)
    }
}

/// Where the text of a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A line of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableLine {
    pub(crate) role: Role,
    pub(crate) text: String,
}

impl std::fmt::Display for TableLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Columns that are as wide as their widest cell.
#[derive(Debug)]
pub(crate) struct Table {
    aligns: Vec<Align>,
    has_titles: bool,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a row of titles.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        let titles = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
        let aligns = columns.iter().map(|(_, align)| *align).collect();
        Self { aligns, has_titles: true, rows: vec![titles] }
    }

    /// A table of rows below titles with `|` between; columns whose title ends with `>` stand at the right.
    pub(crate) fn of<const N: usize>(titles: &str, rows: impl IntoIterator<Item = [String; N]>) -> Self {
        fn column(title: &str) -> (&str, Align) {
            title.strip_suffix('>').map_or((title, Align::Left), |title| (title, Align::Right))
        }
        let mut table = Self::new(&titles.split('|').map(column).collect::<Vec<_>>());
        rows.into_iter().for_each(|row| table.row(row));
        table
    }

    /// Names and values without titles.
    pub(crate) fn pairs() -> Self {
        Self { aligns: vec![Align::Left, Align::Left], has_titles: false, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        // Escaped before the widths are taken; the printer then finds nothing more to escape.
        self.rows.push(cells.into_iter().map(|cell| sanitize::text(&cell).into_owned()).collect());
    }

    /// Characters of the widest cell of each column.
    pub(crate) fn widths(&self) -> Vec<usize> {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
        };
        (0..self.aligns.len()).map(width).collect()
    }

    /// The lines, the one of titles first.
    pub(crate) fn lines(&self) -> Vec<TableLine> {
        let widths = self.widths();
        let line = |row: &Vec<String>| {
            let mut line = String::new();
            for ((cell, &width), &align) in row.iter().zip(&widths).zip(&self.aligns) {
                push_cell(&mut line, cell, width, align);
            }
            line
        };
        let role = |at: usize| if at == 0 && self.has_titles { Role::Titles } else { Role::Plain };
        self.rows.iter().enumerate().map(|(at, row)| TableLine { role: role(at), text: line(row) }).collect()
    }
}

/// Blanks that a cell is filled up with at most. A wider cell pushes its own row aside instead of widening
/// all others: one name of 64 Ki characters in a table of a hundred thousand rows would otherwise become
/// gigabytes of blanks.
const MAX_PADDED: usize = 1000;

/// Appends a cell and the gap in front of it. Width specifiers of format strings panic above 65,535, so
/// blanks are written by hand.
pub(crate) fn push_cell(line: &mut String, cell: &str, width: usize, align: Align) {
    let missing = width.min(MAX_PADDED).saturating_sub(cell.chars().count());
    line.push_str("  ");
    if align == Align::Right {
        line.extend(std::iter::repeat_n(' ', missing));
    }
    line.push_str(cell);
    if align == Align::Left {
        line.extend(std::iter::repeat_n(' ', missing));
    }
}

/// A cell of CSV, in quotes if it needs them. One that a spreadsheet would take for a formula gets an
/// apostrophe.
pub(crate) fn csv_cell(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@']);
    let cell = if formula { format!("'{cell}") } else { cell.to_owned() };
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

/// A number with its digits in groups: `1 234 567`. For people only.
pub(crate) fn grouped(number: u64) -> String {
    Numbers::default().grouped(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_of_any_width_is_printed() {
        let mut table = Table::new(&[("name", Align::Left), ("events", Align::Right), ("end", Align::Left)]);
        // Eleven thousand escape characters are 66,000 characters when they are escaped.
        table.row(["\x1B".repeat(11_000), "x".repeat(70_000), "z".into()]);
        table.row(["short".into(), "7".into(), "z".into()]);
        let lines: Vec<String> = table.lines().iter().map(ToString::to_string).collect();
        assert_eq!(lines[1].trim(), format!("{}  {}  z", "\\u{1b}".repeat(11_000), "x".repeat(70_000)));
        assert_eq!(lines[2], format!("  short{}  {}7  z  ", " ".repeat(995), " ".repeat(999)));
    }

    #[test]
    fn columns_align_and_cells_are_escaped() {
        let mut table = Table::new(&[("name", Align::Left), ("events", Align::Right)]);
        table.row(["a\x1B".into(), "7".into()]);
        table.row(["longer".into(), "1 000".into()]);
        let mut out = Vec::new();
        let mut printer = Printer::new(&mut out);
        printer.heading("Title\x07").unwrap();
        printer.table(&table).unwrap();
        let want = "Title\\u{7}\n  name     events\n  a\\u{1b}       7\n  longer    1 000\n";
        assert_eq!(String::from_utf8(out).unwrap(), want);
        let mut out = Vec::new();
        let mut printer = Printer::new(&mut out);
        printer.choose_colors(Some(When::Always));
        printer.heading("Title\x07").unwrap();
        printer.table(&table).unwrap();
        printer.labelled("hint: \x1B[31m").unwrap();
        let want = "\x1B[1mTitle\\u{7}\x1B[0m\n\x1B[1m  name     events\x1B[0m\n  a\\u{1b}       7\n  longer    1 000\n\
                    \x1B[32mhint:\x1B[0m \\u{1b}[31m\n";
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }
}
