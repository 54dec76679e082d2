//! CSV files as ETWAnalyzer writes them: its columns in its order, `;` between them, and its replacements.

mod cell;
mod columns;
mod machine;
mod rows;
mod shape;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use etwkit_query::dump::trace::TraceInfo;
use etwkit_query::time_format::TimeWriter;
use serde_json::{Map, Value};

use super::switch::{Native, value_of};
use crate::numbers::Numbers;
use cell::{Cell, Row};
pub(super) use rows::rows;

/// How a line of ETWAnalyzer wants its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style<'a> {
    /// Sub command, as in `-dump cpu`, and behind `;` what its titles depend on: see [`style`].
    pub(crate) dump: &'a str,
    /// The whole command line, for the first column.
    pub(crate) line: &'a str,
    /// Whether the first line tells Excel the separator.
    pub(crate) has_separator_line: bool,
    /// How numbers are written.
    pub(crate) numbers: Numbers,
}

/// The sub command, and what titles and cells depend on: formats of first and last times, or the level of
/// folders.
pub(super) fn style(dump: &str, native: &Native) -> String {
    let of = |option| value_of(native, option);
    match dump {
        "cpu" => {
            let formats = of("--first-last").filter(|formats| formats != "none").unwrap_or_default();
            format!("cpu;{formats}")
        }
        "disk" | "file" => format!("{dump};{}", of("--dir-level").unwrap_or_else(|| "0".to_owned())),
        _ => dump.to_owned(),
    }
}

impl<'a> Style<'a> {
    /// The sub command alone.
    fn name(self) -> &'a str {
        self.dump.split(';').next().unwrap_or_default()
    }

    /// What stands behind it.
    fn words(self) -> [&'a str; 2] {
        let mut words = self.dump.split(';').skip(1);
        [words.next().unwrap_or_default(), words.next().unwrap_or_default()]
    }

    /// A title with the words that it depends on.
    fn title(self, title: &str) -> String {
        let [first, second] = self.words().map(|word| match self.name() {
            "cpu" => abbreviated(word),
            _ => word,
        });
        title.replace("{0}", first).replace("{1}", second)
    }
}

/// The name of a time format in titles.
fn abbreviated(format: &str) -> &'static str {
    match format.to_ascii_lowercase().as_str() {
        "local" | "localtime" => "Local",
        "utc" | "utctime" => "UTC",
        "here" | "heretime" => "Here",
        _ => "s",
    }
}

/// Whether the columns of a sub command are known.
pub(super) fn is_known(dump: &str) -> bool {
    columns::ALL.contains(&dump)
}

/// A row that a question answered: its trace, its columns, how its times are written.
pub(crate) type Answer<'r> = (&'r TraceInfo, Map<String, Value>, TimeWriter);

/// Writes rows. Returns how many.
pub(crate) fn write<'r>(
    file: &mut impl Write,
    path: &Path,
    style: Style<'_>,
    rows: impl Iterator<Item = anyhow::Result<Answer<'r>>>,
) -> anyhow::Result<usize> {
    let context = || format!("cannot write {}", path.display());
    let (rows, fields) = shape::shaped(style.name(), rows)?;
    let (mut written, mut seen) = (0, shape::Seen::default());
    for row in rows {
        let (trace, values, times) = row?;
        let Some(columns) = columns::of(style.name(), &values) else {
            bail!("-csv: the columns of -dump {} are not known", style.name())
        };
        if written == 0 {
            writeln!(file, "{}", titles(style, columns, fields)).with_context(context)?;
        }
        let line = if written == 0 { style.line } else { "" };
        let is_first = seen.is_first(style.name(), trace, &values);
        let (numbers, words) = (style.numbers, style.words());
        let row = Row { trace, values: &values, times, numbers, words, line, is_first };
        let mut cells: Vec<String> =
            columns.iter().copied().flatten().map(|(_, cell)| value(&cell.of(&row))).collect();
        if fields > 0 {
            let mut of_event = shape::fields(&values);
            of_event.resize(fields, String::new());
            cells.extend(of_event.iter().map(|text| value(text)));
        }
        writeln!(file, "{}", cells.join(";")).with_context(context)?;
        written += 1;
    }
    if written == 0 {
        let columns = columns::of(style.name(), &Map::new()).unwrap_or_default();
        writeln!(file, "{}", titles(style, columns, fields)).with_context(context)?;
    }
    file.flush().with_context(context)?;
    Ok(written)
}

/// The lines above the rows.
fn titles(style: Style<'_>, columns: &[&[(&str, Cell)]], fields: usize) -> String {
    let own = columns.iter().copied().flatten().map(|(title, _)| style.title(title));
    let titles: Vec<String> = own.chain((1..=fields).map(|n| format!("Field{n}"))).collect();
    let separator = if style.has_separator_line { "sep = ;\n" } else { "" };
    format!("{separator}{}", titles.join(";"))
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
    fn titles_depend_on_words() {
        let numbers = "1234567.8".parse().unwrap();
        let title =
            |dump, title: &str| Style { dump, line: "", has_separator_line: true, numbers }.title(title);
        for (dump, expected) in [
            ("cpu;", "First Call time in s, s"),
            ("cpu;s", "First Call time in s, s"),
            ("cpu;localtime;UTC", "First Call time in Local, UTC"),
            ("disk;2", "First Call time in 2, "),
        ] {
            assert_eq!(title(dump, "First Call time in {0}, {1}"), expected, "{dump}");
        }
    }

    #[test]
    fn titles_stand_once_in_a_table() {
        for dump in columns::ALL {
            for kind in ["kind", "retransmission_ns", "module", "pid"] {
                let row = Map::from_iter([(kind.to_owned(), Value::from("x"))]);
                let tables = columns::of(dump, &row).unwrap();
                let mut titles: Vec<&str> =
                    tables.iter().flat_map(|table| table.iter()).map(|(t, _)| *t).collect();
                let all = titles.len();
                titles.sort_unstable();
                titles.dedup();
                assert_eq!(titles.len(), all, "{dump} {kind}");
            }
        }
    }
}
