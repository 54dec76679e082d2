//! Rows of all dumps as text, JSON lines or CSV.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use etwkit_compat::csv as csv_of_etwanalyzer;
use etwkit_engine::ExtractAnswer;
use etwkit_question::rows::Field;
use etwkit_question::text::Text;
use etwkit_question::trace::TraceInfo;
use etwkit_question::{TypedRow, TypedValue};
use etwkit_record::profiles;
use etwkit_sql::Session;
use etwkit_sql::time_format::{TimeFormat, TimeWriter, unknown_zone};
use etwkit_terminal::Exit;
use etwkit_terminal::style::Role;
use serde_json::json;

use super::args::{Common, is_stdout};
use super::asking::{Naming, ask_in_order};
pub(super) use super::typed::{Record, TRACE};
use crate::context::Context;
use crate::extracts::{OneRecording, SameTrace, note_unread, readable, unpacked};
use crate::out_file;
use crate::printer::Printer;

/// The answer of an extract.
pub(super) struct Answered<A> {
    /// Its trace.
    pub(super) info: TraceInfo,
    pub(super) answer: A,
}

/// Queries all extracts, several at a time, and passes on each answer as soon as the previous ones
/// have been passed on. Extracts without an answer are reported, the others returned. Of several
/// extracts one that cannot be read becomes an error of the command, and does not stop the others.
pub(super) fn ask_each<A: Send>(
    common: &Common,
    command: &str,
    printer: &mut Printer<'_>,
    question: impl Fn(&Session) -> etwkit_question::Result<A> + Sync,
    mut on_answer: impl FnMut(&mut Printer<'_>, Answered<A>) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<PathBuf>> {
    begin(common, command, printer)?;
    let extracts = unpacked(common.chosen(printer)?.into(), printer)?;
    if extracts.is_empty() {
        printer.note("no recording matches the choice of tests");
    }
    let context = printer.context();
    let (mut same, mut names, mut answered) = (SameTrace::default(), HashSet::new(), Vec::new());
    let mut failed = 0;
    let mut parts = OneRecording::default();
    let naming = Naming {
        with_path: common.show_full_file_name,
        as_asked: common.etwanalyzer_csv().is_some(),
    };
    let wants_notes = printer.wants_notes();
    ask_in_order(
        naming,
        &extracts,
        &context,
        wants_notes,
        &question,
        |asked| {
            asked.notes.iter().for_each(|note| printer.note(note));
            printer.add_gaps(asked.gaps);
            same.see(&asked.name, asked.hash.as_deref(), printer.notes());
            let name = asked.name;
            let answer = named(common, &name, asked.answer, &mut names);
            if let Ok((info, _)) = &answer {
                parts.see(&name, info);
            }
            match answer {
                Ok((info, Ok(answer))) => {
                    printer.answered_by(&name);
                    answered.push(PathBuf::from(&name));
                    on_answer(printer, Answered { info, answer })
                }
                Ok((_, Err(nothing))) => explain((common, command), printer, &name, &nothing),
                Err(error) if common.keep_going || extracts.len() > 1 && is_of_extract(&error) => {
                    failed += 1;
                    printer.failed(error);
                    Ok(())
                }
                Err(error) => Err(error),
            }
        },
    )?;
    parts.notes().iter().for_each(|note| printer.note(note));
    note_unread(failed, extracts.len(), printer);
    Ok(answered)
}

/// Returns the answer of an extract with its trace. An error of the question becomes one of the
/// extract, unless it says that there is nothing to answer.
fn named<A>(
    common: &Common,
    name: &str,
    answer: Result<(TraceInfo, etwkit_question::Result<A>), etwkit_engine::Error>,
    names: &mut HashSet<String>,
) -> anyhow::Result<(TraceInfo, etwkit_question::Result<A>)> {
    let (mut info, answer) = answer?;
    // Two recordings with one name are distinguished by their paths; rows for machines have a
    // column for this.
    if info.of_several && common.is_text() && !names.insert(info.file_name.clone()) {
        name.clone_into(&mut info.file_name);
    }
    match answer {
        Err(error) if !error.is_nothing() => {
            Err(anyhow::Error::new(error).context(name.to_owned()))
        }
        answer => Ok((info, answer)),
    }
}

/// Returns `true` if an error is about one extract, so that the others can still answer. A wrong
/// option fails for all, and a user who cancels means all.
fn is_of_extract(error: &anyhow::Error) -> bool {
    if let Some(error) = error.downcast_ref::<etwkit_engine::Error>() {
        return !error.is_cancelled();
    }
    let is_cancelled = error.chain().any(|cause| {
        matches!(
            cause.downcast_ref::<etwkit_sql::Error>(),
            Some(etwkit_sql::Error::Cancelled)
        )
    });
    let of_question = error.downcast_ref::<etwkit_question::Error>();
    !is_cancelled
        && of_question.is_none_or(|error| matches!(error, etwkit_question::Error::Query(_)))
}

/// Queries all extracts together for one answer. Returns the extracts if they have one, and reports
/// the reason if not.
pub(super) fn ask_all<A>(
    common: &Common,
    command: &str,
    printer: &mut Printer<'_>,
    question: impl FnOnce(&Session) -> etwkit_question::Result<A>,
) -> anyhow::Result<(Option<Answered<A>>, Vec<PathBuf>)> {
    begin(common, command, printer)?;
    let mut extracts = unpacked(common.chosen(printer)?.into(), printer)?.into_owned();
    // A comparison needs both.
    let can_do_without = !common.is_of_two;
    if common.keep_going && can_do_without {
        extracts = readable(extracts, printer)?;
    }
    let Context { engine, asking } = printer.context();
    let ExtractAnswer {
        name,
        notes,
        gaps,
        answer,
        ..
    } = engine.ask_all(&asking, &extracts, question);
    notes.iter().for_each(|note| printer.note(note));
    printer.add_gaps(gaps);
    let (info, answer) = answer.map_err(|error| {
        let error = anyhow::Error::from(error);
        // One answer of all would leave something out without a word.
        if can_do_without && extracts.len() > 1 && is_of_extract(&error) {
            printer.note("with --keep-going the answer leaves out what cannot be read");
        }
        error
    })?;
    match answer {
        Ok(answer) => {
            extracts
                .iter()
                .for_each(|extract| printer.answered_by(&extract.display().to_string()));
            Ok((Some(Answered { info, answer }), extracts))
        }
        Err(nothing) if nothing.is_nothing() => {
            explain((common, command), printer, &name, &nothing)?;
            Ok((None, Vec::new()))
        }
        Err(error) => Err(anyhow::Error::new(error).context(name)),
    }
}

/// Starts the output of a command for machines. Rejects a file that cannot be written before
/// anything is computed for it.
pub(super) fn begin(
    common: &Common,
    command: &str,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    if common.json {
        printer.json_start(command);
    }
    let is_here = matches!(
        common.time_format(),
        TimeFormat::Here | TimeFormat::HereTime
    );
    if let Some(zone) = unknown_zone().filter(|_| is_here) {
        printer.note(&format!(
            "this system does not know the time zone {zone:?} (TZ): times are in its own zone, or in UTC"
        ));
    }
    if let Some(typed) = common.typed()? {
        return typed.check(printer);
    }
    let file = common.csv.as_ref().filter(|path| !is_stdout(path));
    file.map_or(Ok(()), |path| out_file::check(path, common.csv_replace()))
}

/// Reports the reason why there is no answer, with advice.
fn explain(
    (common, command): (&Common, &str),
    printer: &mut Printer<'_>,
    name: &str,
    why: &etwkit_question::Error,
) -> anyhow::Result<()> {
    let mut hint = why.hint().unwrap_or("").to_owned();
    if let etwkit_question::Error::NotRecorded { what, .. } = why {
        let question = command.rsplit(' ').next().unwrap_or("");
        if let Some(profile) = profiles::to_answer(question, what) {
            hint = format!(
                "{hint}; or record with `etwkit record start {}`",
                profile.name
            );
        }
    }
    if common.json {
        printer.json(&json!({"extract": name, "nothing": why.to_string(), "hint": hint}))?;
    } else if common.streams() {
        printer.note(&format!("{name}: {why}; {hint}"));
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

/// Returns a row for JSON and CSV: the trace, its path, machine, number and labels if there are
/// several, then the columns of the SQL.
fn with_recording(info: &TraceInfo, record: TypedRow, with_place: bool) -> TypedRow {
    let mut row = TypedRow::default();
    let mut set = |name: &str, value: TypedValue| row.insert(name.to_owned(), value);
    // Rows about names of recordings have a column for their trace.
    set(TRACE, info.file_name.clone().into());
    if with_place && info.of_several {
        set("extract", info.extract_path.clone().into());
        set("computer", info.computer.clone().into());
        set("start_utc", info.start_utc.clone().into());
        set("run_id", info.run_id.into());
        set("labels", info.labels.clone().into());
    }
    row.extend(record);
    row
}

/// Writes rows for machines if requested, and returns true if it did. A file without rows has the
/// names of columns. If extracts failed and none answered there is no file: an empty one would be read
/// as an answer.
pub(super) fn machine_with_header<'r>(
    common: &Common,
    printer: &mut Printer<'_>,
    fields: &[Field],
    rows: impl Iterator<Item = (&'r TraceInfo, Record)>,
) -> anyhow::Result<bool> {
    let typed = common.typed()?;
    if printer.has_no_answer() && (typed.is_some() || common.csv.is_some()) {
        return Ok(true);
    }
    if let Some(typed) = typed {
        typed.write(printer, fields, rows)?;
        return Ok(true);
    }
    if let Some(path) = &common.csv {
        if let Some(style) = common.etwanalyzer_csv() {
            return foreign_csv(common, (style, path), printer, fields, rows).map(|()| true);
        }
        if is_stdout(path) {
            return csv_on_stdout(common, printer, fields, rows).map(|()| true);
        }
        let written = csv_file(common, path, fields, rows)?;
        printer.wrote(written, path)?;
        return Ok(true);
    }
    if common.json {
        for (info, row) in rows {
            printer.json(&with_recording(info, row?, true).into())?;
        }
    }
    Ok(common.json)
}

/// Writes rows in the format of ETWAnalyzer, and reports it in ETWAnalyzer's words.
fn foreign_csv<'r>(
    common: &Common,
    (style, path): (&csv_of_etwanalyzer::Style, &Path),
    printer: &mut Printer<'_>,
    fields: &[Field],
    rows: impl Iterator<Item = (&'r TraceInfo, Record)>,
) -> anyhow::Result<()> {
    let rows = rows.map(|(info, row)| {
        let times = TimeWriter::new(common.time_format(), common.time_digits, info.clock());
        Ok((info, with_recording(info, row?, false), times))
    });
    let mut file = out_file::buffered(path, common.csv_replace())?;
    // Grouped digits would turn numbers into text.
    let numbers = common.numbers().ungrouped();
    csv_of_etwanalyzer::write(&mut file, path, style, numbers, fields, rows)?;
    out_file::keep(file, path)?;
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    Ok(printer.line(&format!(
        "CSV export was successful. File is: {}",
        whole.display()
    ))?)
}

fn csv_on_stdout<'r>(
    common: &Common,
    printer: &mut Printer<'_>,
    fields: &[Field],
    rows: impl Iterator<Item = (&'r TraceInfo, Record)>,
) -> anyhow::Result<()> {
    let mut text = Vec::new();
    let writer = csv::Writer::from_writer(&mut text);
    csv_rows(writer, common.csv_for_excel, fields, rows)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    // A terminal gets no control characters out of a trace.
    let is_terminal = printer.width().is_some();
    if is_terminal {
        printer.block(&text)
    } else {
        printer.raw(&text)
    }?;
    Ok(())
}

fn csv_file<'r>(
    common: &Common,
    path: &Path,
    fields: &[Field],
    rows: impl Iterator<Item = (&'r TraceInfo, Record)>,
) -> anyhow::Result<usize> {
    let file = out_file::buffered(path, common.csv_replace())?;
    let writer = csv::Writer::from_writer(file);
    let (writer, written) = csv_rows(writer, common.csv_for_excel, fields, rows)?;
    let file = writer
        .into_inner()
        .map_err(csv::IntoInnerError::into_error)
        .with_context(|| out_file::cannot(path))?;
    out_file::keep(file, path)?;
    Ok(written)
}

/// Writes rows below their titles, and returns the writer with their number.
fn csv_rows<'r, W: std::io::Write>(
    mut writer: csv::Writer<W>,
    is_for_spreadsheets: bool,
    fields: &[Field],
    rows: impl Iterator<Item = (&'r TraceInfo, Record)>,
) -> anyhow::Result<(csv::Writer<W>, usize)> {
    let mut written = 0;
    for (info, row) in rows {
        let row = with_recording(info, row?, true);
        if written == 0 {
            writer.write_record(row.columns().map(|(name, _)| name))?;
        }
        let texts = row
            .columns()
            .map(|(_, value)| csv_text(value, is_for_spreadsheets));
        writer.write_record(texts)?;
        written += 1;
    }
    // The titles come from the first row. Without rows they come from the declared fields.
    if written == 0 && !fields.is_empty() {
        let others = fields
            .iter()
            .map(|field| field.name)
            .filter(|name| *name != TRACE);
        writer.write_record(std::iter::once(TRACE).chain(others))?;
    }
    writer.flush()?;
    Ok((writer, written))
}

/// Returns a value as text.
fn csv_text(value: &TypedValue, is_for_spreadsheets: bool) -> String {
    match value {
        TypedValue::Text(text) if is_for_spreadsheets && is_formula(text) => format!("'{text}"),
        other => other.written(),
    }
}

/// True if a spreadsheet would run a text as a formula. Names come out of traces, so this may be
/// what a stranger wrote.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n'])
}

/// Prints lines of text, optionally cut at the width of the terminal.
pub(super) struct AnswerLines<'p, 'w> {
    printer: &'p mut Printer<'w>,
    width: Option<usize>,
}

impl<'p, 'w> AnswerLines<'p, 'w> {
    pub(super) fn new(common: &Common, printer: &'p mut Printer<'w>) -> Self {
        Self {
            width: if common.clip { width() } else { None },
            printer,
        }
    }

    /// Returns the width for columns, if there is a terminal.
    pub(super) fn screen(&self) -> Option<usize> {
        self.printer.width()
    }

    pub(super) fn line(&mut self, line: &str) -> anyhow::Result<()> {
        self.line_as(Role::Plain, line)
    }

    /// Prints a line in the style of its role.
    pub(super) fn line_as(&mut self, role: Role, line: &str) -> anyhow::Result<()> {
        let text = clipped(line, self.width);
        let Some(screen) = self
            .screen()
            .filter(|screen| text.chars().count() > *screen)
        else {
            return Ok(self.printer.line_as(role, &text)?);
        };
        folded(&text, screen)
            .iter()
            .try_for_each(|part| Ok(self.printer.line_as(role, part)?))
    }

    pub(super) fn heading(&mut self, line: &str) -> anyhow::Result<()> {
        Ok(self.printer.heading(&clipped(line, self.width))?)
    }

    /// Prints the heading of an extract: the start of its trace, sums, its name.
    pub(super) fn file(&mut self, info: &TraceInfo, text: &Text, sums: &str) -> anyhow::Result<()> {
        let start = text.begin();
        let sums = if sums.is_empty() {
            String::new()
        } else {
            format!("  {sums}")
        };
        let heading = format!("{start}{sums}  {}", info.file_name);
        Ok(self.printer.file(&clipped(&heading, self.width))?)
    }

    /// Prints the heading of an extract whose start is shown elsewhere.
    pub(super) fn name(&mut self, info: &TraceInfo) -> anyhow::Result<()> {
        let name = if info.file_name.is_empty() {
            "Trace"
        } else {
            &info.file_name
        };
        Ok(self.printer.file(&clipped(name, self.width))?)
    }
}

/// Returns the width at which lines are cut. COLUMNS takes precedence, so that lines can also be cut
/// without a terminal.
fn width() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok();
    let columns = columns.and_then(|columns| columns.parse().ok());
    columns.filter(|columns| *columns > 0).or_else(|| {
        let size = console::Term::stdout().size_checked();
        size.map(|(_, width)| usize::from(width))
    })
}

/// Returns the line, or its first characters followed by `...` if it is too long.
fn clipped(line: &str, width: Option<usize>) -> String {
    // Escaped first: the width applies to the text that reaches the terminal.
    let line = etwkit_terminal::escape::text(line.trim_end()).into_owned();
    match width {
        Some(width) if line.chars().count() > width => {
            let kept: String = line.chars().take(width.saturating_sub(3)).collect();
            format!("{kept}...")
        }
        _ => line,
    }
}

/// Indent of the continuation of a folded line, in addition to the indent of its first part.
const HANGING: usize = 4;

/// Splits a line that is wider than the screen between words, since a terminal breaks words
/// anywhere. A word that is wider than the screen stays whole.
fn folded(line: &str, screen: usize) -> Vec<String> {
    let indent = line.chars().take_while(|c| *c == ' ').count();
    // At most half of a narrow screen, so that there is room for words.
    let hanging = " ".repeat((indent + HANGING).min(screen / 2));
    let (mut parts, mut part, mut width) = (Vec::new(), String::new(), 0);
    let mut rest = line;
    while !rest.is_empty() {
        let gap = rest.chars().take_while(|c| *c == ' ').count();
        let (blanks, behind) = rest.split_at(gap);
        let (word, next) = behind.split_at(behind.find(' ').unwrap_or(behind.len()));
        let needed = word.chars().count();
        let has_words = width > 0 && !part.trim_start().is_empty();
        if has_words && width + gap + needed > screen {
            parts.push(std::mem::replace(&mut part, format!("{hanging}{word}")));
            width = hanging.len() + needed;
        } else {
            part.push_str(blanks);
            part.push_str(word);
            width += gap + needed;
        }
        rest = next;
    }
    parts.push(part);
    parts
}

/// Returns the exit code of a command that printed this number of rows.
pub(super) const fn exit(rows: usize) -> Exit {
    if rows > 0 {
        Exit::Answered
    } else {
        Exit::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_folded_between_words() {
        for (line, parts) in [
            ("  ab cd ef", &["  ab cd", "    ef"][..]),
            ("  ab      cd", &["  ab", "    cd"]),
            ("abcdefghijklmn op", &["abcdefghijklmn", "    op"]),
            ("ab cd", &["ab cd"]),
        ] {
            assert_eq!(folded(line, 8), parts, "{line}");
        }
    }

    #[test]
    fn no_text_becomes_a_formula_of_a_spreadsheet() {
        for text in ["=1+1.exe", "-x", "+x", "@x", "\tx", "\rx", "\nx"] {
            let value = TypedValue::Text(text.to_owned());
            assert_eq!(csv_text(&value, true), format!("'{text}"));
            assert_eq!(csv_text(&value, false), text);
        }
        for text in ["", "cmd.exe", "a=b", "'"] {
            assert_eq!(csv_text(&TypedValue::Text(text.to_owned()), true), text);
        }
        assert_eq!(csv_text(&TypedValue::Whole(-5), true), "-5");
        assert_eq!(csv_text(&TypedValue::Missing, true), "");
    }

    #[test]
    fn lines_are_cut_at_the_width_of_what_is_printed() {
        assert_eq!(clipped("123456", Some(6)), "123456");
        assert_eq!(clipped("1234567", Some(6)), "123...");
        assert_eq!(clipped("1\u{1b}567", Some(6)), "1\\u...");
        assert_eq!(clipped("1234567", None), "1234567");
    }
}
