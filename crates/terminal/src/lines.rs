//! The answer of a command as lines.

use std::io::{self, Write};

use crate::escape;
use crate::style::{ColorMode, Colors, Role, labelled};
use crate::table::Table;

/// The answer could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the answer")]
pub struct WriteError(#[from] io::Error);

impl WriteError {
    /// True if the reader at the other end of a pipe has gone, as in `etwkit … | head`.
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        // ERROR_PIPE_NOT_CONNECTED has no kind of its own; named pipes of Windows end with it.
        self.0.kind() == io::ErrorKind::BrokenPipe
            || (cfg!(windows) && self.0.raw_os_error() == Some(233))
    }
}

type Result<T> = std::result::Result<T, WriteError>;

/// Writes lines. All text is escaped here, so that no command can forget it.
pub struct Lines<'w> {
    out: &'w mut dyn Write,
    /// Columns of the terminal, if it writes to one.
    width: Option<usize>,
    /// Colors of the terminal, or of the session.
    terminal: Colors,
    /// Colours of this command.
    colors: Colors,
    /// Something was printed.
    started: bool,
}

impl<'w> Lines<'w> {
    /// Creates lines without colors and of any width.
    pub fn new(out: &'w mut dyn Write) -> Self {
        Self {
            out,
            width: None,
            terminal: Colors::default(),
            colors: Colors::default(),
            started: false,
        }
    }

    /// Sets the columns of the terminal, and the colors of a session that may have chosen others.
    #[must_use]
    pub fn on(self, width: Option<usize>, colors: Colors, session: Option<ColorMode>) -> Self {
        Self {
            width,
            terminal: colors,
            colors: colors.chosen(session),
            ..self
        }
    }

    /// Applies the choice of a command line, if it has one.
    pub fn choose_colors(&mut self, when: Option<ColorMode>) {
        if when.is_some() {
            self.colors = self.terminal.chosen(when);
        }
    }

    /// Colours of this command.
    #[must_use]
    pub const fn colors(&self) -> Colors {
        self.colors
    }

    /// Returns the columns of the terminal; `None` for a pipe or file.
    #[must_use]
    pub const fn width(&self) -> Option<usize> {
        self.width
    }

    /// Prints one line: line breaks and other controls in it are escaped.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn line(&mut self, line: &str) -> Result<()> {
        self.line_as(Role::Plain, line)
    }

    /// Prints a line in the style of its role.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn line_as(&mut self, role: Role, line: &str) -> Result<()> {
        let line = escape::text(line.trim_end());
        let colors = self.colors.out;
        writeln!(self.bytes(), "{}", role.paint(&line, colors)).map_err(WriteError)
    }

    /// Prints a line that starts with its label: `hint: …`, `warning: …`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn labelled(&mut self, line: &str) -> Result<()> {
        let line = escape::text(line.trim_end());
        let colors = self.colors.out;
        writeln!(self.bytes(), "{}", labelled(&line, colors)).map_err(WriteError)
    }

    /// Prints text for a file, unescaped.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn raw(&mut self, text: &str) -> Result<()> {
        self.bytes().write_all(text.as_bytes()).map_err(WriteError)
    }

    /// Returns the writer for bytes that are not text.
    pub fn bytes(&mut self) -> &mut dyn Write {
        self.started = true;
        self.out
    }

    /// Prints a text of this program that has several lines.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn block(&mut self, block: &str) -> Result<()> {
        block.lines().try_for_each(|line| self.line(line))
    }

    /// Prints a heading, with an empty line before it unless it is the first one.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn heading(&mut self, heading: &str) -> Result<()> {
        self.heading_as(Role::Heading, heading)
    }

    /// Prints the heading of a trace or an extract.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn file(&mut self, heading: &str) -> Result<()> {
        self.heading_as(Role::File, heading)
    }

    fn heading_as(&mut self, role: Role, heading: &str) -> Result<()> {
        if self.started {
            self.line("")?;
        }
        self.line_as(role, heading)
    }

    /// Prints a table below a heading.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn table(&mut self, table: &Table) -> Result<()> {
        table
            .lines()
            .iter()
            .try_for_each(|line| self.line_as(line.role, &line.text))
    }

    /// Prints one object of JSON on a line of its own, without a text heading before or after it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn json_line(&mut self, json: &str) -> Result<()> {
        // The plain writer, so that this does not count as something printed: otherwise a later
        // heading would get an empty line before it, which is not JSON.
        writeln!(self.out, "{}", escape::json_text(json)).map_err(WriteError)
    }

    /// Flushes buffered output.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(WriteError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Align;

    #[test]
    fn columns_align_and_cells_are_escaped() {
        let mut table = Table::new(&[("name", Align::Left), ("events", Align::Right)]);
        table.row(["a\x1B".into(), "7".into()]);
        table.row(["longer".into(), "1,000".into()]);
        let mut out = Vec::new();
        let mut lines = Lines::new(&mut out);
        lines.heading("Title\x07").unwrap();
        lines.table(&table).unwrap();
        let want = "Title\\u{7}\n  name     events\n  a\\u{1b}       7\n  longer    1,000\n";
        assert_eq!(String::from_utf8(out).unwrap(), want);
        let mut out = Vec::new();
        let mut lines = Lines::new(&mut out);
        lines.choose_colors(Some(ColorMode::Always));
        lines.heading("Title\x07").unwrap();
        lines.table(&table).unwrap();
        lines.labelled("hint: \x1B[31m").unwrap();
        let want = "\x1B[1mTitle\\u{7}\x1B[0m\n\x1B[1m  name     events\x1B[0m\n  a\\u{1b}       7\n  longer    1,000\n\
                    \x1B[32mhint:\x1B[0m \\u{1b}[31m\n";
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }
}
