//! Columns of tables in texts whose cells became longer or shorter.

use std::collections::BTreeMap;
use std::iter::repeat_n;

/// Minimum number of blanks between two cells.
const GAP: usize = 2;

/// Maximum width of a text that makes its column wider; a wider one moves only the rest of its line.
/// Otherwise one long original would add its length to every line.
const MAX_PADDED: usize = 1000;

/// A cell of a line: a text between two or more blanks.
pub(crate) struct Cell {
    /// Column at which it started.
    start: usize,
    /// Number of columns that it had.
    width: usize,
    /// The new text.
    text: String,
}

/// Returns `true` if a line can be a row or the titles of a table, which are indented.
pub(crate) fn is_row(line: &str) -> bool {
    // A color may come before the indentation.
    let color = line.strip_prefix("\x1B[");
    let text = color
        .and_then(|rest| rest.split_once('m'))
        .map_or(line, |(_, text)| text);
    text.starts_with("  ")
}

/// Returns the cells of a line, each with its new text.
pub(crate) fn cells(line: &str, renamed: impl Fn(&str) -> String) -> Vec<Cell> {
    let (mut cells, mut start, mut rest) = (Vec::new(), 0, line);
    while !rest.is_empty() {
        // Two blanks separate cells. A single one is part of a text.
        let end = rest.find("  ").unwrap_or(rest.len());
        let (cell, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let blanks = after.len() - after.trim_start_matches(' ').len();
        let width = width(cell);
        if !cell.is_empty() {
            cells.push(Cell {
                start,
                width,
                text: renamed(cell),
            });
        }
        start += width + blanks;
        (_, rest) = after.split_at(blanks);
    }
    cells
}

/// Returns the lines of a table with the new texts: its columns are as wide as these need.
pub(crate) fn aligned(lines: &[Vec<Cell>]) -> Vec<String> {
    let growth = growth(lines);
    lines.iter().map(|cells| line(cells, &growth)).collect()
}

/// A column of a table, by the cells that start where it does.
#[derive(Clone, Copy)]
struct Column {
    /// Start of the first cell after it.
    next: usize,
    /// End of its widest new text, if that is wider than before.
    end: usize,
}

/// Returns the number of blanks that the columns need in addition, by their starts.
fn growth(lines: &[Vec<Cell>]) -> BTreeMap<usize, usize> {
    let mut columns: BTreeMap<usize, Column> = BTreeMap::new();
    for cells in lines {
        // The last cell of a line needs no room behind it.
        for (cell, next) in cells.iter().zip(cells.iter().skip(1)) {
            let column = columns.entry(cell.start).or_insert(Column {
                next: next.start,
                end: 0,
            });
            column.next = column.next.min(next.start);
            let width = width(&cell.text);
            // Only texts that became wider move a column.
            if width > cell.width && width <= MAX_PADDED {
                column.end = column.end.max(cell.start + width);
            }
        }
    }
    let needed = |column: Column| match column.end {
        0 => 0,
        end => (end + GAP).saturating_sub(column.next),
    };
    columns
        .into_iter()
        .map(|(start, column)| (start, needed(column)))
        .collect()
}

fn line(cells: &[Cell], growth: &BTreeMap<usize, usize>) -> String {
    let (mut line, mut end) = (String::new(), 0);
    // Lines below a row start further right, and have columns of their own.
    let mut from = cells.first().map_or(0, |cell| cell.start);
    let mut more = 0;
    for (number, cell) in cells.iter().enumerate() {
        let before = growth.range(from..cell.start);
        more += before.map(|(_, more)| *more).sum::<usize>();
        from = cell.start;
        // At least two blanks after the cell before, even where its text is too wide for its
        // column.
        let least = if number == 0 { 0 } else { end + GAP };
        let start = (cell.start + more).max(least);
        line.extend(repeat_n(' ', start - end));
        line.push_str(&cell.text);
        end = start + width(&cell.text);
    }
    line
}

/// Returns the number of columns of a text: sequences that set a color have none.
fn width(text: &str) -> usize {
    let (mut width, mut is_color) = (0, false);
    for letter in text.chars() {
        match letter {
            '\x1B' => is_color = true,
            'm' if is_color => is_color = false,
            _ if is_color => {}
            _ => width += 1,
        }
    }
    width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_the_longest_new_text() {
        let table = [
            "\x1B[1m  ms  Culprit  Times  Victim\x1B[0m",
            "   1  drv.sys      2  a.exe",
            "  12               3  drv.sys",
            "        fix        leave drv.sys out",
        ];
        let renamed = |cell: &str| cell.replace("drv.sys", "scanner-of-files.sys");
        let lines: Vec<Vec<Cell>> = table.iter().map(|line| cells(line, renamed)).collect();
        assert_eq!(
            aligned(&lines),
            [
                "\x1B[1m  ms  Culprit               Times  Victim\x1B[0m",
                "   1  scanner-of-files.sys      2  a.exe",
                "  12                            3  scanner-of-files.sys",
                "        fix        leave scanner-of-files.sys out",
            ]
        );
    }

    #[test]
    fn a_very_long_text_moves_only_its_own_line() {
        let long = "x".repeat(MAX_PADDED + 1);
        let renamed = |cell: &str| cell.replace("drv.sys", &long);
        let table = ["  drv.sys  1", "  other    2"];
        let lines: Vec<Vec<Cell>> = table.iter().map(|line| cells(line, renamed)).collect();
        let expected = [format!("  {long}  1"), "  other    2".to_owned()];
        assert_eq!(aligned(&lines), expected);
    }

    /// A sum over all columns for each cell would take minutes.
    #[test]
    fn a_line_of_many_cells_is_written_at_once() {
        let row = "  a".repeat(100_000);
        let start = std::time::Instant::now();
        let lines = [cells(&row, str::to_owned)];
        assert_eq!(aligned(&lines), [row]);
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }

    #[test]
    fn shorter_texts_leave_columns_as_they_are() {
        let renamed = |cell: &str| cell.replace("program-1", "sh");
        let line = cells("  program-1.exe(1)   12  x", renamed);
        assert_eq!(aligned(&[line]), ["  sh.exe(1)          12  x"]);
        assert!(is_row("\x1B[1m  ms") && is_row("  1") && !is_row("1  2"));
    }
}
