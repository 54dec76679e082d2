//! Rows of all dumps as text, JSON lines or CSV.

use std::collections::HashSet;
use std::io::BufWriter;
use std::path::Path;

use anyhow::Context;
use etwkit_query::Session;
use etwkit_query::dump;
use etwkit_query::dump::rows::Field;
use etwkit_query::dump::trace::TraceInfo;
use etwkit_query::dump::zero::ZeroTime;
use etwkit_query::question::record;
use etwkit_query::time_format::TimeWriter;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::args::Common;
use super::asking::{Naming, ask_in_order};
pub(super) use super::columns::Columns;
use crate::compat::csv as csv_of_etwanalyzer;
use crate::exit::Exit;
use crate::extracts::{SameTrace, unpacked};
use crate::out_file::{self, OutFile, Replace};
use crate::printer::{Line, Printer};

/// What an extract answered.
pub(super) struct Answered<A> {
    /// Its trace.
    pub(super) info: TraceInfo,
    pub(super) answer: A,
}

/// Asks all extracts, several at a time; answers come in their order. Those that hold no answer are named; with none left the answer is empty.
pub(super) fn ask<A: Send>(
    common: &Common,
    command: &str,
    printer: &mut Printer<'_>,
    question: impl Fn(&Session) -> dump::Result<A> + Sync,
) -> anyhow::Result<Vec<Answered<A>>> {
    let mut all = Vec::new();
    ask_each(common, command, printer, question, |_, answered| {
        all.push(answered);
        Ok(())
    })?;
    Ok(all)
}

/// Asks as [`ask`] does, and hands on each answer as soon as those in front of it are there.
pub(super) fn ask_each<A: Send>(
    common: &Common,
    command: &str,
    printer: &mut Printer<'_>,
    question: impl Fn(&Session) -> dump::Result<A> + Sync,
    mut on_answer: impl FnMut(&mut Printer<'_>, Answered<A>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if common.json {
        printer.json_start(command);
    }
    if let Some(path) = &common.csv {
        // Before anything is computed for it.
        out_file::check(path, common.csv_replace())?;
    }
    let extracts = unpacked(common.chosen()?, printer)?;
    if extracts.is_empty() {
        printer.note("no recording fits the choice of tests");
    }
    let shelf = printer.shelf();
    let (mut same, mut names) = (SameTrace::default(), HashSet::new());
    let naming = Naming { with_path: common.show_full_file_name, as_asked: common.etwanalyzer_csv.is_some() };
    ask_in_order(naming, &extracts, &shelf, &question, |asked| {
        asked.notes.iter().for_each(|note| printer.note(note));
        printer.add_gaps(asked.gaps);
        same.see(&asked.name, asked.hash.as_deref(), printer.notes());
        let name = asked.name;
        let answer = asked.answer.and_then(|(mut info, answer)| {
            // Two recordings of one name are told apart by where they lie; rows for machines have a column for that.
            let is_text = !common.json && common.csv.is_none();
            if info.of_several && is_text && !names.insert(info.file_name.clone()) {
                name.clone_into(&mut info.file_name);
            }
            match answer {
                Err(error) if !error.is_nothing() => Err(anyhow::Error::new(error).context(name.clone())),
                answer => Ok((info, answer)),
            }
        });
        match answer {
            Ok((info, Ok(answer))) => {
                printer.answered_by(&name);
                on_answer(printer, Answered { info, answer })
            }
            Ok((_, Err(nothing))) => explain(common, printer, &name, &nothing),
            Err(error) if common.keep_going => {
                printer.failed(error);
                Ok(())
            }
            Err(error) => Err(error),
        }
    })
}

/// Asks as [`ask`] does, with another zero of times; what the reader should know of it becomes notes.
pub(super) fn ask_from_zero<A: Send>(
    common: &Common,
    command: &str,
    zero: &ZeroTime,
    printer: &mut Printer<'_>,
    question: impl Fn(&Session) -> dump::Result<A> + Sync,
) -> anyhow::Result<Vec<Answered<A>>> {
    let mut all = Vec::new();
    ask_each_from_zero(common, command, zero, printer, question, |_, answered| {
        all.push(answered);
        Ok(())
    })?;
    Ok(all)
}

/// Asks as [`ask_each`] does, with another zero of times.
pub(super) fn ask_each_from_zero<A: Send>(
    common: &Common,
    command: &str,
    zero: &ZeroTime,
    printer: &mut Printer<'_>,
    question: impl Fn(&Session) -> dump::Result<A> + Sync,
    mut on_answer: impl FnMut(&mut Printer<'_>, Answered<A>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let both = |session: &Session| Ok((zero.warning(session)?, question(session)?));
    ask_each(common, command, printer, both, |printer, Answered { info, answer: (warning, answer) }| {
        warning.iter().for_each(|warning| printer.note(warning));
        on_answer(printer, Answered { info, answer })
    })
}

/// Why there is no answer, and what would give one.
fn explain(common: &Common, printer: &mut Printer<'_>, name: &str, why: &dump::Error) -> anyhow::Result<()> {
    let hint = why.hint().unwrap_or_default();
    if common.json {
        printer.json(&json!({"extract": name, "nothing": why.to_string(), "hint": hint}))?;
    } else {
        printer.line(&format!("{name}: {why}"))?;
        printer.labelled(&format!("hint: {hint}"))?;
    }
    Ok(())
}

/// Prints the SQL, runnable as it is.
pub(super) fn show_sql(printer: &mut Printer<'_>, sql: &str) -> anyhow::Result<Exit> {
    printer.block(sql)?;
    Ok(Exit::Answered)
}

/// A row as JSON and CSV have it: the trace, where it lies and which machine it is of if there are several, then the columns of the SQL.
fn object(info: &TraceInfo, record: Map<String, Value>, with_place: bool) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("trace".into(), Value::from(info.file_name.clone()));
    if with_place && info.of_several {
        object.insert("extract".into(), Value::from(info.extract_path.clone()));
        object.insert("computer".into(), Value::from(info.computer.clone()));
        object.insert("start_utc".into(), Value::from(info.start_utc.clone()));
    }
    object.extend(record);
    object
}

/// A row as machines get it.
pub(super) type Record = serde_json::Result<Map<String, Value>>;

/// The rows that extracts answered, each with its trace.
pub(super) fn rows_of<'a, A, R: 'a, I: IntoIterator<Item = &'a R>>(
    answers: &'a [Answered<A>],
    rows: impl Fn(&'a A) -> I + Clone,
) -> impl Iterator<Item = (&'a TraceInfo, &'a R)> + Clone
where
    I::IntoIter: Clone,
{
    answers.iter().flat_map(move |one| rows(&one.answer).into_iter().map(|row| (&one.info, row)))
}

/// Writes rows for machines, or text where that is not asked for, and says how the command ends.
pub(super) fn written<'r, R: Serialize + 'r>(
    common: &Common,
    printer: &mut Printer<'_>,
    rows: impl Iterator<Item = (&'r TraceInfo, &'r R)> + Clone,
    text: impl FnOnce(&mut Lines<'_, '_>) -> anyhow::Result<()>,
) -> anyhow::Result<Exit> {
    let has_rows = rows.clone().next().is_some();
    if !machine(common, printer, rows)? {
        text(&mut Lines::new(common, printer))?;
    }
    Ok(if has_rows { Exit::Answered } else { Exit::Nothing })
}

/// Asks all extracts, and writes each as soon as those in front of it are written, so that of hundreds the first rows are there at once. Only a CSV
/// file is written when all is known.
pub(super) fn streamed<A: Send, R: Serialize>(
    common: &Common,
    command: &str,
    printer: &mut Printer<'_>,
    question: impl Fn(&Session) -> dump::Result<A> + Sync,
    rows: impl Fn(&A) -> Vec<&R>,
    text: impl FnMut(&Answered<A>, &mut Lines<'_, '_>) -> anyhow::Result<()>,
) -> anyhow::Result<Exit> {
    streamed_from_zero((common, &ZeroTime::default()), command, printer, question, rows, text)
}

/// Asks and writes as [`streamed`] does, with another zero of times.
pub(super) fn streamed_from_zero<A: Send, R: Serialize>(
    (common, zero): (&Common, &ZeroTime),
    command: &str,
    printer: &mut Printer<'_>,
    question: impl Fn(&Session) -> dump::Result<A> + Sync,
    rows: impl Fn(&A) -> Vec<&R>,
    mut text: impl FnMut(&Answered<A>, &mut Lines<'_, '_>) -> anyhow::Result<()>,
) -> anyhow::Result<Exit> {
    let (mut has_rows, mut for_file) = (false, Vec::new());
    ask_each_from_zero(common, command, zero, printer, question, |printer, one| {
        has_rows |= !rows(&one.answer).is_empty();
        if common.csv.is_some() {
            for_file.push(one);
            return Ok(());
        }
        if !machine(common, printer, with_trace(&one, &rows))? {
            text(&one, &mut Lines::new(common, printer))?;
        }
        Ok(printer.finish()?)
    })?;
    if common.csv.is_some() {
        machine(common, printer, for_file.iter().flat_map(|one| with_trace(one, &rows)))?;
    }
    Ok(if has_rows { Exit::Answered } else { Exit::Nothing })
}

/// The rows of an answer, each with its trace.
fn with_trace<'a, A, R: 'a>(
    one: &'a Answered<A>,
    rows: &impl Fn(&A) -> Vec<&R>,
) -> impl Iterator<Item = (&'a TraceInfo, &'a R)> {
    rows(&one.answer).into_iter().map(|row| (&one.info, row))
}

/// Asks for a list of rows and writes it as [`streamed`] does.
pub(super) fn listed<R: Serialize + Send>(
    common: &Common,
    command: &str,
    printer: &mut Printer<'_>,
    question: impl Fn(&Session) -> dump::Result<Vec<R>> + Sync,
    text: impl FnMut(&Answered<Vec<R>>, &mut Lines<'_, '_>) -> anyhow::Result<()>,
) -> anyhow::Result<Exit> {
    streamed(common, command, printer, question, |rows| rows.iter().collect(), text)
}

/// Writes rows for machines, if that is asked for; says whether it was.
pub(super) fn machine<'r, R: Serialize>(
    common: &Common,
    printer: &mut Printer<'_>,
    rows: impl Iterator<Item = (&'r TraceInfo, R)>,
) -> anyhow::Result<bool> {
    machine_with_header(common, printer, &[], rows.map(|(info, row)| (info, record(&row))))
}

/// The same for rows whose columns are known, so that a file without rows has their names.
pub(super) fn machine_with_header<'r>(
    common: &Common,
    printer: &mut Printer<'_>,
    fields: &[Field],
    rows: impl Iterator<Item = (&'r TraceInfo, Record)>,
) -> anyhow::Result<bool> {
    if let Some(path) = &common.csv {
        if let Some(dump) = &common.etwanalyzer_csv {
            return foreign_csv(common, dump, path, printer, rows).map(|()| true);
        }
        let written = csv_file(path, common.csv_replace(), fields, rows)?;
        printer.line(&format!("wrote {written} rows to {}", path.display()))?;
        return Ok(true);
    }
    if common.json {
        for (info, row) in rows {
            printer.json(&Value::Object(object(info, row?, true)))?;
        }
    }
    Ok(common.json)
}

/// Writes rows as ETWAnalyzer does, and says so in its words.
fn foreign_csv<'r>(
    common: &Common,
    dump: &str,
    path: &Path,
    printer: &mut Printer<'_>,
    rows: impl Iterator<Item = (&'r TraceInfo, Record)>,
) -> anyhow::Result<()> {
    let style = csv_of_etwanalyzer::Style {
        dump,
        line: &common.etwanalyzer_line,
        has_separator_line: !common.no_csv_separator,
        // Groups would make texts of them.
        numbers: common.numbers().ungrouped(),
    };
    let rows = rows.map(|(info, row)| {
        let times = TimeWriter::new(common.time_format, common.time_digits, info.clock());
        Ok((info, object(info, row?, false), times))
    });
    let mut file = BufWriter::new(OutFile::create(path, common.csv_replace())?);
    csv_of_etwanalyzer::write(&mut file, path, style, rows)?;
    out_file::keep(file, path)?;
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    Ok(printer.line(&format!("CSV export was successful. File is: {}", whole.display()))?)
}

fn csv_file<'r>(
    path: &Path,
    replace: Replace,
    fields: &[Field],
    rows: impl Iterator<Item = (&'r TraceInfo, Record)>,
) -> anyhow::Result<usize> {
    let mut writer = csv::Writer::from_writer(BufWriter::new(OutFile::create(path, replace)?));
    let mut written = 0;
    for (info, row) in rows {
        let object = object(info, row?, true);
        if written == 0 {
            writer.write_record(object.keys())?;
        }
        writer.write_record(object.values().map(|value| match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }))?;
        written += 1;
    }
    if written == 0 && !fields.is_empty() {
        writer.write_record(std::iter::once("trace").chain(fields.iter().map(|field| field.name)))?;
    }
    let file = writer
        .into_inner()
        .map_err(csv::IntoInnerError::into_error)
        .with_context(|| out_file::cannot(path))?;
    out_file::keep(file, path)?;
    Ok(written)
}

/// Prints lines of text, cut at the width of the terminal if that is asked for.
pub(super) struct Lines<'p, 'w> {
    printer: &'p mut Printer<'w>,
    width: Option<usize>,
}

impl<'p, 'w> Lines<'p, 'w> {
    pub(super) fn new(common: &Common, printer: &'p mut Printer<'w>) -> Self {
        let width = || {
            let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
            columns.or_else(|| console::Term::stdout().size_checked().map(|(_, width)| usize::from(width)))
        };
        Self { width: if common.clip { width() } else { None }, printer }
    }

    pub(super) fn line(&mut self, line: &(impl Line + ?Sized)) -> anyhow::Result<()> {
        Ok(self.printer.line_as(line.role(), &clipped(line.text(), self.width))?)
    }

    pub(super) fn heading(&mut self, line: &str) -> anyhow::Result<()> {
        Ok(self.printer.heading(&clipped(line, self.width))?)
    }

    /// The heading of an extract: when its trace started, sums, its name.
    pub(super) fn file(
        &mut self,
        info: &TraceInfo,
        text: &super::text::Text,
        sums: &str,
    ) -> anyhow::Result<()> {
        let start = text.times.write(0);
        let sums = if sums.is_empty() { String::new() } else { format!("  {sums}") };
        let heading = format!("{start}{sums}  {}", info.file_name);
        Ok(self.printer.file(&clipped(&heading, self.width))?)
    }
}

/// The line, or its begin with `...` if it is too long.
fn clipped(line: &str, width: Option<usize>) -> String {
    // Escaped first: the width is that of what reaches the terminal.
    let line = crate::sanitize::text(line.trim_end()).into_owned();
    match width {
        Some(width) if line.chars().count() > width => {
            let kept: String = line.chars().take(width.saturating_sub(3)).collect();
            format!("{kept}...")
        }
        _ => line,
    }
}

/// How a command ends that printed so many rows.
pub(super) const fn exit(rows: usize) -> Exit {
    if rows > 0 { Exit::Answered } else { Exit::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_the_width_of_what_is_printed() {
        assert_eq!(clipped("123456", Some(6)), "123456");
        assert_eq!(clipped("1234567", Some(6)), "123...");
        assert_eq!(clipped("1\u{1b}567", Some(6)), "1\\u...");
        assert_eq!(clipped("1234567", None), "1234567");
    }
}
