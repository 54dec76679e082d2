//! Columns of text, and which of them are shown.

use anyhow::bail;
use etwkit_sql::filter::TextFilter;
use etwkit_terminal::{Align, Table, TableLine};

/// Blanks before a column.
const GAP: usize = 2;

/// Characters of the last column that should be visible. The rest of a command line may continue on
/// the next line.
const LAST_WIDTH: usize = 30;

/// A column of text.
struct Column<'a> {
    /// Name for `--column`.
    name: &'static str,
    title: String,
    align: Align,
    shown: bool,
    /// Returns the text of the cell in a row.
    text: Box<dyn Fn(usize) -> String + 'a>,
}

/// Columns of text, and the selection of the shown ones.
#[derive(Default)]
pub(super) struct Columns<'a>(Vec<Column<'a>>);

impl<'a> Columns<'a> {
    /// Adds a column.
    pub(super) fn push(
        &mut self,
        name: &'static str,
        title: impl Into<String>,
        align: Align,
        shown: bool,
        text: impl Fn(usize) -> String + 'a,
    ) {
        self.0.push(Column {
            name,
            title: title.into(),
            align,
            shown,
            text: Box::new(text),
        });
    }

    /// Applies `--column`: `a` keeps only these, `!a` removes these, `+a` also shows these. The
    /// order is the order of the table.
    pub(super) fn choose(&mut self, names: Option<&str>) -> anyhow::Result<()> {
        let parts: Vec<&str> = names
            .unwrap_or("")
            .split([';', ' '])
            .filter(|part| !part.is_empty())
            .collect();
        let is_plain = |part: &&str| !part.starts_with(['!', '+']);
        if parts.iter().any(is_plain) {
            self.0.iter_mut().for_each(|column| column.shown = false);
        }
        for part in parts {
            let shown = !part.starts_with('!');
            let filter = TextFilter::parse(part.trim_start_matches(['!', '+']));
            let mut found = false;
            for column in self
                .0
                .iter_mut()
                .filter(|column| filter.matches(Some(column.name)))
            {
                (column.shown, found) = (shown, true);
            }
            if !found {
                let names: Vec<&str> = self.0.iter().map(|column| column.name).collect();
                bail!(
                    "--column {part:?}: there is no column of this name; there are: {}",
                    names.join(" ")
                );
            }
        }
        Ok(())
    }

    /// These columns without titles.
    pub(super) fn untitled(mut self) -> Self {
        self.0.iter_mut().for_each(|column| column.title.clear());
        self
    }

    /// Removes columns until a line is narrow enough, and returns their names: numbers from the
    /// right, then words from the right, but never the first and the last column, which identify a
    /// row. Of the last column only the first characters have to be visible.
    pub(super) fn fit(
        &mut self,
        width: usize,
        rows: impl Iterator<Item = usize>,
    ) -> Vec<&'static str> {
        let table = self.table(rows);
        let widths = table.widths();
        let shown: Vec<usize> = (0..self.0.len())
            .filter(|at| self.0.get(*at).is_some_and(|it| it.shown))
            .collect();
        let last = shown.len().saturating_sub(1);
        let needed = |at: usize| {
            let cell = widths.get(at).copied().unwrap_or_default();
            GAP + if at == last {
                cell.min(LAST_WIDTH)
            } else {
                cell
            }
        };
        let mut all: usize = (0..shown.len()).map(needed).sum();
        let mut left_out = Vec::new();
        // Numbers are removed first, since the words of a row give its numbers a meaning.
        for align in [Align::Right, Align::Left] {
            for at in (1..last).rev() {
                let column = shown.get(at).and_then(|at| self.0.get_mut(*at));
                let Some(column) = column.filter(|it| it.align == align && all > width) else {
                    continue;
                };
                column.shown = false;
                all = all.saturating_sub(needed(at));
                left_out.push(column.name);
            }
        }
        left_out.reverse();
        left_out
    }

    /// Returns a line of titles and a line for each row.
    pub(super) fn lines(&self, rows: impl Iterator<Item = usize>) -> Vec<TableLine> {
        self.table(rows).lines()
    }

    fn table(&self, rows: impl Iterator<Item = usize>) -> Table {
        let shown: Vec<&Column<'a>> = self.0.iter().filter(|column| column.shown).collect();
        let titles: Vec<(&str, Align)> = shown
            .iter()
            .map(|column| (column.title.as_str(), column.align))
            .collect();
        let mut table = Table::new(&titles);
        for row in rows {
            table.row(shown.iter().map(|column| (column.text)(row)));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_chosen_by_name() {
        let chosen = |names: &str| {
            let mut columns = Columns::default();
            columns.push("Path", "path", Align::Left, true, |_| String::new());
            columns.push("ReadSize", "read", Align::Right, true, |_| String::new());
            columns.push("ReadTime", "time", Align::Right, false, |_| String::new());
            columns.choose(Some(names)).map(|()| {
                columns.lines(std::iter::empty())[0]
                    .to_string()
                    .trim()
                    .to_owned()
            })
        };
        for (names, titles) in [
            ("", "path  read"),
            ("path", "path"),
            ("!path", "read"),
            ("+readtime", "path  read  time"),
            ("!*;ReadSize", "read"),
            ("Read*;!readsize", "time"),
            ("Path ReadTime", "path  time"),
        ] {
            assert_eq!(chosen(names).unwrap(), titles, "{names}");
        }
        let fitting = |width: usize| {
            let mut columns = Columns::default();
            columns.push("Cpu", "cpu", Align::Right, true, |_| "123456".into());
            columns.push("Wait", "wait", Align::Right, true, |_| "1".into());
            columns.push("Kind", "kind", Align::Left, true, |_| "a kind".into());
            columns.push("Ready", "ready", Align::Right, true, |_| "12".into());
            columns.push("Process", "process", Align::Left, true, |_| "x".repeat(100));
            let left_out = columns.fit(width, std::iter::once(0));
            (
                left_out,
                columns.lines(std::iter::empty())[0]
                    .to_string()
                    .trim()
                    .to_owned(),
            )
        };
        assert_eq!(fitting(80).0, [""; 0]);
        assert_eq!(
            fitting(57),
            (vec!["Ready"], "cpu  wait  kind  process".into())
        );
        assert_eq!(
            fitting(50),
            (vec!["Wait", "Ready"], "cpu  kind  process".into())
        );
        assert_eq!(
            fitting(10),
            (vec!["Kind", "Wait", "Ready"], "cpu  process".into())
        );
        let error = chosen("+nosuch").unwrap_err().to_string();
        assert_eq!(
            error,
            "--column \"+nosuch\": there is no column of this name; there are: Path ReadSize ReadTime"
        );
    }
}
