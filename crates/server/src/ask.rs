//! Declared questions.

use std::sync::Arc;

use etwkit_base::shell::{quoted, quoted_pattern};
use etwkit_engine::question;
use etwkit_question as declared;
use etwkit_question::text::Text;
use etwkit_question::trace::TraceInfo;
use etwkit_question::{AnswerPart, AnyColumn, Heading, Line, Style, Values};

use crate::api::Call;
use crate::lines;
use crate::problem::{Problem, Result};
use crate::titles;
use crate::wire::{Answer, AnswerColumn, AnswerTable, AskRequest, Cell, Source};
use crate::words::trace_word;

/// Largest number of rows in a table of an answer.
const MOST_ROWS: usize = 10_000;

pub(crate) fn ask(call: &Call<'_>, request: &AskRequest) -> Result<Answer> {
    let known = question(&request.question).ok_or_else(|| {
        Problem::not_found(format!("there is no question {:?}", request.question))
            .with_hint("`schema` lists them")
    })?;
    let ready = call.ready(request.trace)?;
    refuse_files(known, &request.options)?;
    let asked = known
        .read(&request.options)
        .map_err(|error| Problem::bad(error.to_string()))?;
    let session = ready.session(&call.shared.engine, call.asking)?;
    // Questions keep the tags of the extract, whatever the page chose.
    session.use_tags(Arc::default());
    let text = lines::text(TraceInfo::ask(&session)?.clock());
    let answer = asked
        .answer_for_people(&session)
        .map_err(|error| error.of(&session))?;
    let fields = asked.fields();
    // Columns of a question have sentences only where they are fields.
    let sentence = |name: &str| {
        let field = fields.iter().find(|field| field.name == name);
        field.map_or_else(String::new, |field| field.sentence.to_owned())
    };
    let path = ready.named.display().to_string();
    let parts = answer.parts.iter();
    let tables = parts
        .map(|part| table(part, &text, &path, &sentence))
        .collect();
    let command = command_line(
        &known.options(),
        &request.question,
        &request.options,
        &[path],
    );
    let lines = lines_of(&answer, &text);
    let rows_read = answer.len() as u64;
    let source = Source {
        sql: asked.show_sql(),
        command,
        rows_read,
        took_ms: call.took_ms(),
        not_applied: Vec::new(),
        notes: answer.notes,
    };
    Ok(Answer {
        tables,
        lines,
        source,
    })
}

/// Checks that no option names files: the page does not name files of this machine.
fn refuse_files(question: &dyn declared::AnyQuestion, values: &Values) -> Result<()> {
    for option in question.options() {
        if matches!(option.kind, declared::OptionKind::Files) && values.contains_key(option.name) {
            return Err(Problem::bad(format!(
                "{} names files, which the page cannot",
                option.name
            )));
        }
    }
    Ok(())
}

/// Returns the lines around the tables of an answer.
fn lines_of(answer: &declared::Answer, text: &Text) -> Vec<String> {
    let written = |line: &Line| text.line(&lines::with_units_of_cells(line));
    let mut all: Vec<String> = answer.heading.iter().map(written).collect();
    for part in &answer.parts {
        let total = part.table.total();
        let around = part.head.iter().chain(&total).chain(&part.foot);
        all.extend(around.map(written));
    }
    // Empty lines separate paragraphs in a terminal; the page has its own spacing.
    all.retain(|line| !line.trim().is_empty());
    all
}

fn table(
    part: &AnswerPart,
    text: &Text,
    path: &str,
    sentence: &dyn Fn(&str) -> String,
) -> AnswerTable {
    let columns = part.table.columns();
    let shown: Vec<(usize, &AnyColumn)> = columns
        .iter()
        .enumerate()
        .filter(|(_, c)| c.is_shown && matches!(c.style, Style::Both | Style::Own))
        .collect();
    let listed: Vec<usize> = (0..part.table.len())
        .filter(|row| part.table.is_listed(*row))
        .collect();
    let is_cut = listed.len() > MOST_ROWS;
    let listed = listed.get(..MOST_ROWS).unwrap_or(&listed);
    let row = |row: &usize| -> Vec<Cell> {
        let cell = |(at, column): &(usize, &AnyColumn)| {
            let value = part.table.value(*row, *at);
            named(column, lines::cell(text, column.format, &value))
        };
        shown.iter().map(cell).collect()
    };
    AnswerTable {
        name: part.name.to_owned(),
        title: part.title.clone(),
        columns: shown
            .iter()
            .zip(titles_of(&shown, text))
            .map(|((_, column), title)| AnswerColumn {
                name: column.name.to_owned(),
                title,
                unit: lines::unit(column.format).to_owned(),
                sentence: sentence(column.name),
            })
            .collect(),
        rows: listed.iter().map(row).collect(),
        is_cut,
        below: below(part, listed, text, path),
        instead: instead(part, text),
    }
}

/// Returns the titles of columns. Titles of the command line can differ by their units alone, or
/// stand next to another column that explains them: then the name of the column says what it is.
fn titles_of(columns: &[(usize, &AnyColumn)], text: &Text) -> Vec<String> {
    let words: Vec<String> = columns
        .iter()
        .map(|(_, column)| lines::title(&heading(&column.title, text), column.format))
        .collect();
    let is_clear = |title: &String| {
        let same = words.iter().filter(|other| *other == title);
        !title.is_empty() && same.count() == 1
    };
    columns
        .iter()
        .zip(&words)
        .map(|((_, column), title)| {
            if is_clear(title) {
                title.clone()
            } else {
                titles::of_camel_case(column.name)
            }
        })
        .collect()
}

/// Returns a cell with the name that its column has for rows without one, such as `(idle)`. Signs
/// for unknown values stay missing: the page has its own.
fn named(column: &AnyColumn, cell: Cell) -> Cell {
    match cell {
        Cell::Missing(()) if column.missing.starts_with('(') => {
            Cell::Text(column.missing.to_owned())
        }
        known => known,
    }
}

/// Returns the line in place of the rows, if there are none; empty if the question has no such line.
fn instead(part: &AnswerPart, text: &Text) -> String {
    let line = part.instead.as_ref().filter(|_| part.table.is_empty());
    line.map_or_else(String::new, |line| {
        text.line(&lines::with_units_of_cells(line))
            .trim()
            .to_owned()
    })
}

/// Returns the lines below each of these rows, such as the frames of its stack; nothing if no row has any.
fn below(part: &AnswerPart, rows: &[usize], text: &Text, path: &str) -> Vec<Vec<String>> {
    let written = |line: Line| {
        let words = text.line(&lines::with_units_of_cells(&line));
        if line.is_command {
            format!("{words} {}", trace_word(path))
        } else {
            words
        }
    };
    let all: Vec<Vec<String>> = rows
        .iter()
        .map(|row| part.table.below(*row).into_iter().map(written).collect())
        .collect();
    if all.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    all
}

/// Returns the title of a column that does not depend on the format of times.
fn heading(heading: &Heading, text: &Text) -> String {
    match heading {
        Heading::Words(words) => words.clone(),
        Heading::Time => "Time".to_owned(),
        Heading::TimeIn(words, _) => (*words).to_owned(),
        Heading::Line(line) => text.line(line),
    }
}

/// Returns the command line that runs the same question on the traces at these paths.
#[must_use]
pub fn command_line(
    options: &[declared::Opt],
    question: &str,
    values: &Values,
    paths: &[String],
) -> String {
    let mut line = format!("etwkit dump {question}");
    for option in options {
        let name = option.name.replace('_', "-");
        let words = match values.get(option.name) {
            None | Some(serde_json::Value::Null | serde_json::Value::Bool(false)) => continue,
            Some(serde_json::Value::Bool(true)) => String::new(),
            Some(serde_json::Value::String(text)) => format!(" {}", quoted_value(text)),
            Some(serde_json::Value::Array(all)) => {
                let text = |value: &serde_json::Value| {
                    value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned)
                };
                all.iter()
                    .map(|value| format!(" {}", quoted_value(&text(value))))
                    .collect()
            }
            Some(other) => format!(" {}", quoted(&other.to_string())),
        };
        line.push_str(&format!(" --{name}{words}"));
    }
    paths
        .iter()
        .fold(line, |line, path| format!("{line} {}", trace_word(path)))
}

/// Quotes the value of an option. It can be a name out of a trace, and `cmd` cannot be given each
/// double quote or a line break: then it becomes a pattern.
fn quoted_value(value: &str) -> String {
    if value.contains(|letter: char| letter == '"' || letter.is_control()) {
        return quoted_pattern(value);
    }
    quoted(value)
}

#[cfg(test)]
mod tests {
    use etwkit_question::{Better, Format, Total};

    use super::*;

    fn column(name: &'static str, title: &str, format: Format) -> AnyColumn {
        AnyColumn {
            name,
            title: Heading::Words(title.to_owned()),
            format,
            is_shown: true,
            style: Style::Both,
            total: Total::None,
            better: Better::Neither,
            missing: "",
        }
    }

    #[test]
    fn no_two_columns_of_an_answer_have_one_title() {
        let columns = [
            column("Time", "Time", Format::Moment),
            column("Duration", "ms", Format::FineMilliseconds),
            column("ReadTime", "Read s", Format::Seconds(3)),
            column("ReadSize", "Read MB", Format::Megabytes),
            column("Writes", "Writes", Format::Whole),
        ];
        let shown: Vec<(usize, &AnyColumn)> = columns.iter().enumerate().collect();
        let text = lines::text(TraceInfo::default().clock());
        assert_eq!(
            titles_of(&shown, &text),
            ["Time", "Duration", "Read time", "Read size", "Writes"]
        );
    }

    #[test]
    fn rows_without_a_name_have_the_name_of_the_command_line() {
        let idle = AnyColumn {
            missing: "(idle)",
            ..column("Process", "Process", Format::Process)
        };
        let unknown = AnyColumn {
            missing: "?",
            ..column("Process", "Process", Format::Process)
        };
        assert_eq!(
            named(&idle, Cell::Missing(())),
            Cell::Text("(idle)".to_owned())
        );
        assert_eq!(
            named(&idle, Cell::Text("a.exe".to_owned())),
            Cell::Text("a.exe".to_owned())
        );
        assert_eq!(named(&unknown, Cell::Missing(())), Cell::Missing(()));
    }
}
