//! CSV files in the format of ETWAnalyzer: its columns in its order, `;` between them, and its
//! replacements.

mod cell;
mod columns;
mod machine;
mod rows;
mod shape;

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use etwkit_question::TypedRow;
use etwkit_question::numbers::Numbers;
use etwkit_question::rows::Field;
use etwkit_question::trace::TraceInfo;
use etwkit_sql::time_format::TimeWriter;

use crate::switch::{Native, value_of};
use cell::{Cell, Row};
pub(crate) use rows::rows;

/// The format of the file of rows for a line of ETWAnalyzer.
#[derive(Debug, Clone)]
pub struct Style {
    /// Our sub command.
    dump: &'static str,
    /// Settings of titles and cells: formats of first and last times, or the level of folders.
    words: [String; 2],
    /// The whole command line, for the first column.
    line: String,
    /// True if the first line names the separator for Excel.
    has_separator_line: bool,
}

impl Style {
    /// Creates the style of a line that was translated into these arguments of a sub command.
    pub(crate) fn new(
        dump: &'static str,
        native: &Native,
        line: String,
        has_separator_line: bool,
    ) -> Self {
        let of = |option| value_of(native, option);
        let words = match dump {
            // Titles without formats have no words.
            "cpu" => of("--first-last")
                .filter(|formats| formats != "none")
                .unwrap_or_default(),
            "disk" | "file" => of("--dir-level").unwrap_or_else(|| "0".to_owned()),
            _ => String::new(),
        };
        let (first, second) = words.split_once(';').unwrap_or((&words, ""));
        Self {
            dump,
            words: [first, second].map(str::to_owned),
            line,
            has_separator_line,
        }
    }

    /// Returns a title with the words that it depends on.
    fn title(&self, title: &str) -> String {
        let [first, second] = self.words.each_ref().map(|word| match self.dump {
            "cpu" => abbreviated(word),
            _ => word,
        });
        title.replace("{0}", first).replace("{1}", second)
    }
}

/// Returns the name of a time format in titles.
fn abbreviated(format: &str) -> &'static str {
    match format.to_ascii_lowercase().as_str() {
        "local" | "localtime" => "Local",
        "utc" | "utctime" => "UTC",
        "here" | "heretime" => "Here",
        _ => "s",
    }
}

/// Returns `true` if the columns of a sub command are known.
pub(crate) fn is_known(dump: &str) -> bool {
    columns::of(dump, &[]).is_some()
}

/// A row of an answer: its trace, its columns, the format of its times.
pub type Answer<'r> = (&'r TraceInfo, TypedRow, TimeWriter);

/// Writes rows that have these fields. Returns their number.
///
/// # Errors
///
/// A row is an error, or the file cannot be written.
pub fn write<'r>(
    file: &mut impl Write,
    path: &Path,
    style: &Style,
    numbers: Numbers,
    fields: &[Field],
    rows: impl Iterator<Item = anyhow::Result<Answer<'r>>>,
) -> anyhow::Result<usize> {
    let context = || format!("cannot write {}", path.display());
    let (rows, of_events) = shape::shaped(style.dump, rows)?;
    let columns: Vec<(&str, Cell)> = columns::of(style.dump, fields)
        .into_iter()
        .flatten()
        .copied()
        .flatten()
        .copied()
        .collect();
    writeln!(file, "{}", titles(style, &columns, of_events)).with_context(context)?;
    let words = style.words.each_ref().map(String::as_str);
    let mut written = 0;
    let mut seen = shape::Seen::default();
    for row in rows {
        let (trace, values, times) = row?;
        let line = if written == 0 { &*style.line } else { "" };
        let is_first = seen.is_first(style.dump, trace, &values);
        let row = Row {
            trace,
            values: &values,
            times,
            numbers,
            words,
            line,
            is_first,
        };
        let mut cells: Vec<String> = columns
            .iter()
            .map(|(_, cell)| value(&cell.of(&row)))
            .collect();
        if of_events > 0 {
            let mut of_event = shape::fields(&values);
            of_event.resize(of_events, String::new());
            cells.extend(of_event.iter().map(|text| value(text)));
        }
        writeln!(file, "{}", cells.join(";")).with_context(context)?;
        written += 1;
    }
    file.flush().with_context(context)?;
    Ok(written)
}

/// Returns the lines above the rows.
fn titles(style: &Style, columns: &[(&str, Cell)], fields: usize) -> String {
    let own = columns.iter().map(|(title, _)| style.title(title));
    let titles: Vec<String> = own
        .chain((1..=fields).map(|n| format!("Field{n}")))
        .collect();
    let separator = if style.has_separator_line {
        "sep = ;\n"
    } else {
        ""
    };
    format!("{separator}{}", titles.join(";"))
}

/// Formats a value in a line: separators and quotes become `_`, and a value of several lines is
/// quoted.
// ETWAnalyzer replaces separators and quotes instead of escaping them.
fn value(text: &str) -> String {
    let text = text.replace([';', '"'], "_");
    if text.contains(['\n', '\r']) {
        format!("\"{text}\"")
    } else {
        text
    }
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
        for (dump, option, expected) in [
            ("cpu", "", "First Call time in s, s"),
            ("cpu", "--first-last=s", "First Call time in s, s"),
            (
                "cpu",
                "--first-last=localtime;UTC",
                "First Call time in Local, UTC",
            ),
            ("disk", "--dir-level=2", "First Call time in 2, "),
        ] {
            let style = Style::new(dump, &vec![option.into()], String::new(), true);
            assert_eq!(
                style.title("First Call time in {0}, {1}"),
                expected,
                "{dump} {option}"
            );
        }
    }

    fn field(name: &'static str) -> Field {
        Field::new(name, "", "string", false)
    }

    #[test]
    fn a_file_without_rows_has_the_titles_of_its_rows() {
        let style = Style::new("cpu", &Native::new(), String::new(), false);
        let numbers = Numbers::like("1234567.8").unwrap();
        let titles = |fields: &[Field]| {
            let mut file = Vec::new();
            let path = Path::new("rows.csv");
            write(&mut file, path, &style, numbers, fields, std::iter::empty()).unwrap();
            String::from_utf8(file).unwrap()
        };
        assert!(titles(&[field("kind")]).contains(";Method;"));
        assert!(titles(&[]).contains(";ParentPid;"));
    }

    #[test]
    fn titles_stand_once_in_a_table() {
        for dump in crate::tables::DUMPS
            .iter()
            .map(|dump| dump.native)
            .filter(|dump| is_known(dump))
        {
            for kind in ["kind", "retransmission_ns", "pdb", "part", "pid"] {
                let tables = columns::of(dump, &[field(kind)]).unwrap();
                let mut titles: Vec<&str> = tables
                    .iter()
                    .flat_map(|table| table.iter())
                    .map(|(t, _)| *t)
                    .collect();
                let all = titles.len();
                titles.sort_unstable();
                titles.dedup();
                assert_eq!(titles.len(), all, "{dump} {kind}");
            }
        }
    }
}
