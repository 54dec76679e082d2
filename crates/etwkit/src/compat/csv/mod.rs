//! CSV files as ETWAnalyzer writes them: its columns in its order, `;` between them, and its replacements.

mod cell;
mod columns;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use etwkit_query::dump::trace::TraceInfo;
use etwkit_query::time_format::TimeWriter;
use serde_json::{Map, Value};

use cell::{Cell, Row};

/// How a line of ETWAnalyzer wants its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style<'a> {
    /// Sub command, as in `-dump cpu`.
    pub(crate) dump: &'a str,
    /// The whole command line, for the first column.
    pub(crate) line: &'a str,
    /// Whether the first line tells Excel the separator.
    pub(crate) has_separator_line: bool,
}

/// Whether the columns of a sub command are known.
pub(super) fn is_known(dump: &str) -> bool {
    columns::of(dump, &Map::new()).is_some()
}

/// Writes rows. Returns how many.
pub(crate) fn write<'r>(
    path: &Path,
    style: Style<'_>,
    rows: impl Iterator<Item = anyhow::Result<(&'r TraceInfo, Map<String, Value>, TimeWriter)>>,
) -> anyhow::Result<usize> {
    let context = || format!("cannot write {}", path.display());
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).with_context(context)?);
    let mut written = 0;
    for row in rows {
        let (trace, values, times) = row?;
        let Some(columns) = columns::of(style.dump, &values) else {
            bail!("-csv: the columns of -dump {} are not known", style.dump)
        };
        if written == 0 {
            if style.has_separator_line {
                writeln!(file, "sep = ;").with_context(context)?;
            }
            let titles: Vec<&str> =
                columns.iter().flat_map(|table| table.iter()).map(|(title, _)| *title).collect();
            writeln!(file, "{}", titles.join(";")).with_context(context)?;
        }
        let line = if written == 0 { style.line } else { "" };
        let row = Row { trace, values: &values, times, line };
        let cells: Vec<String> = columns
            .iter()
            .flat_map(|table| table.iter())
            .map(|(_, cell): &(&str, Cell)| value(&cell.of(&row)))
            .collect();
        writeln!(file, "{}", cells.join(";")).with_context(context)?;
        written += 1;
    }
    file.flush().with_context(context)?;
    Ok(written)
}

/// A value in a line: separators and quotes become `_`, and a value of several lines is quoted.
fn value(text: &str) -> String {
    let text = text.replace([';', '"'], "_");
    if text.contains(['\n', '\r']) { format!("\"{text}\"") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_break_a_line() {
        assert_eq!(value("a;b\"c"), "a_b_c");
        assert_eq!(value("a\r\nb"), "\"a\r\nb\"");
    }

    #[test]
    fn titles_stand_once_in_a_table() {
        for dump in columns::ALL {
            for kind in ["method", "tag"] {
                let row = Map::from_iter([("kind".to_owned(), Value::from(kind))]);
                let tables = columns::of(dump, &row).unwrap();
                let mut titles: Vec<&str> =
                    tables.iter().flat_map(|table| table.iter()).map(|(t, _)| *t).collect();
                let all = titles.len();
                titles.sort_unstable();
                titles.dedup();
                assert_eq!(titles.len(), all, "{dump}");
            }
        }
    }
}
