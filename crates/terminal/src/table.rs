//! Tables of text, and cells of CSV.

use crate::escape;
use crate::style::Role;

/// Alignment of the text in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// At the left, as words do.
    Left,
    /// At the right, as numbers do.
    Right,
}

/// A line of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableLine {
    /// Role of the line: titles, or a row.
    pub role: Role,
    /// Its cells, escaped and aligned.
    pub text: String,
}

impl std::fmt::Display for TableLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Columns that are as wide as their widest cell.
#[derive(Debug)]
pub struct Table {
    aligns: Vec<Align>,
    has_titles: bool,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table with a row of titles.
    #[must_use]
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let titles = columns
            .iter()
            .map(|(title, _)| (*title).to_owned())
            .collect();
        let aligns = columns.iter().map(|(_, align)| *align).collect();
        Self {
            aligns,
            has_titles: true,
            rows: vec![titles],
        }
    }

    /// Creates a table of rows below titles that are separated by `|`. Columns with a title that
    /// ends with `>` are right-aligned.
    #[must_use]
    pub fn of<const N: usize>(titles: &str, rows: impl IntoIterator<Item = [String; N]>) -> Self {
        fn column(title: &str) -> (&str, Align) {
            title
                .strip_suffix('>')
                .map_or((title, Align::Left), |title| (title, Align::Right))
        }
        let mut table = Self::new(&titles.split('|').map(column).collect::<Vec<_>>());
        rows.into_iter().for_each(|row| table.row(row));
        table
    }

    /// Creates a table of names and values without titles.
    #[must_use]
    pub fn pairs() -> Self {
        Self {
            aligns: vec![Align::Left, Align::Left],
            has_titles: false,
            rows: Vec::new(),
        }
    }

    /// Appends a row, whose cells are escaped.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        // Escaped before the widths are taken, so that the printer finds nothing more to escape.
        self.rows.push(
            cells
                .into_iter()
                .map(|cell| escape::text(&cell).into_owned())
                .collect(),
        );
    }

    /// Returns the number of characters in the widest cell of each column.
    #[must_use]
    pub fn widths(&self) -> Vec<usize> {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).fold(0, usize::max)
        };
        (0..self.aligns.len()).map(width).collect()
    }

    /// Returns the lines, the titles first.
    #[must_use]
    pub fn lines(&self) -> Vec<TableLine> {
        let widths = self.widths();
        let line = |row: &Vec<String>| {
            let mut line = String::new();
            for ((cell, &width), &align) in row.iter().zip(&widths).zip(&self.aligns) {
                push_cell(&mut line, cell, width, align);
            }
            line
        };
        let role = |at: usize| {
            if at == 0 && self.has_titles {
                Role::Titles
            } else {
                Role::Plain
            }
        };
        self.rows
            .iter()
            .enumerate()
            .map(|(at, row)| TableLine {
                role: role(at),
                text: line(row),
            })
            .collect()
    }
}

/// Largest width to which a cell is padded. A wider cell pushes its own row aside instead of
/// widening all others: one name of 64 Ki characters in a table of a hundred thousand rows would
/// otherwise become gigabytes of blanks.
const MAX_PADDED: usize = 1000;

/// Appends a cell and the gap before it. Width specifiers of format strings panic above 65,535, so
/// blanks are written by hand.
pub fn push_cell(line: &mut String, cell: &str, width: usize, align: Align) {
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

/// Returns a cell of CSV, in quotes if necessary. A cell that a spreadsheet would take for a
/// formula gets a leading apostrophe.
#[must_use]
pub fn csv_cell(cell: &str) -> String {
    // Texts come from untrusted traces, and a spreadsheet runs formulas when the file is opened.
    let formula = cell.starts_with(['=', '+', '-', '@']);
    let cell = if formula {
        format!("'{cell}")
    } else {
        cell.to_owned()
    };
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_of_any_width_is_printed() {
        let mut table = Table::new(&[
            ("name", Align::Left),
            ("events", Align::Right),
            ("end", Align::Left),
        ]);
        // Eleven thousand escape characters are 66,000 characters when they are escaped.
        table.row(["\x1B".repeat(11_000), "x".repeat(70_000), "z".into()]);
        table.row(["short".into(), "7".into(), "z".into()]);
        let lines: Vec<String> = table.lines().iter().map(ToString::to_string).collect();
        assert_eq!(
            lines[1].trim(),
            format!("{}  {}  z", "\\u{1b}".repeat(11_000), "x".repeat(70_000))
        );
        assert_eq!(
            lines[2],
            format!("  short{}  {}7  z  ", " ".repeat(995), " ".repeat(999))
        );
    }
}
