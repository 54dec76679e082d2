//! Answers of declared questions as text, JSON lines and CSV: one printer for all of them.

use std::path::PathBuf;

use etwkit_base::shell;
use etwkit_question::group::Top;
use etwkit_question::rows::Field;
use etwkit_question::text::Text;
use etwkit_question::trace::TraceInfo;
use etwkit_question::{
    Above, Answer, AnswerPart, AnyColumn, AnyRequest, AnyTable, Format, Heading, Line, Ranked,
    Sets, Shows, Style, Sums, Value,
};
use etwkit_sql::Session;
use etwkit_terminal::style::Role;
use etwkit_terminal::{Align, Exit, TableLine};

use super::args::{Common, ProcessOutput};
use super::columns::Columns;
use super::output::{
    AnswerLines, Answered, Record, ask_all, ask_each, begin, exit, machine_with_header,
};
use crate::printer::Printer;

/// A question, and the format of its answer.
pub(super) struct PrintedQuestion<'a> {
    pub(super) common: &'a Common,
    /// Format of processes.
    pub(super) processes: Option<&'a ProcessOutput>,
    /// The command, for machines.
    pub(super) command: &'a str,
    /// The columns of rows for machines.
    pub(super) fields: &'a [Field],
    /// One list over all extracts, with this number of rows.
    pub(super) merge: Option<Top>,
    /// The request to answer.
    pub(super) request: &'a dyn AnyRequest,
}

/// The answers of extracts, as far as the lines about all of them need these.
#[derive(Default)]
struct Gathered {
    /// Number of rows.
    rows: usize,
    /// Answers that are printed when all are there.
    kept: Vec<Answered<Answer>>,
    sums: Vec<Sums>,
    sets: Sets,
    fails: Option<bool>,
    /// Format of lines about all extracts together: the format of the first extract.
    text: Option<Text>,
}

impl Gathered {
    fn add(&mut self, answer: &Answer) {
        self.rows += answer.len();
        self.sums.push(answer.sums.clone());
        self.fails = self.fails.max(answer.fails);
        for (name, items) in &answer.sets {
            let all = self.sets.entry(name).or_default();
            all.extend(items.iter().cloned());
        }
    }

    /// Adds the sizes of sets as the last sums.
    fn count_sets(&mut self) {
        if self.sets.is_empty() {
            return;
        }
        let sizes = self.sets.iter();
        let sizes = sizes.map(|(name, items)| (*name, items.len() as i64));
        self.sums.push(sizes.collect());
    }
}

/// Queries all extracts, and writes each answer as soon as the previous ones are written. A CSV
/// file, and one list over all extracts, are written at the end. Also returns the extracts that
/// could be queried.
pub(super) fn answered(
    printed: &PrintedQuestion<'_>,
    printer: &mut Printer<'_>,
    question: impl Fn(&Session) -> etwkit_question::Result<Answer> + Sync,
) -> anyhow::Result<(Exit, Vec<PathBuf>)> {
    let (common, request) = (printed.common, printed.request);
    // A CSV file, a merged list and a comparison need the answers of all extracts.
    let needs_all = common.has_one_file() || printed.merge.is_some() || request.compares();
    let mut gathered = Gathered::default();
    let asked = ask_each(
        common,
        printed.command,
        printer,
        question,
        |printer, one| {
            one.answer.notes.iter().for_each(|note| printer.note(note));
            gathered.add(&one.answer);
            gathered
                .text
                .get_or_insert_with(|| common.text(printed.processes, &one.info));
            if needs_all {
                gathered.kept.push(one);
                return Ok(());
            }
            print_one(printed, printer, &one)
        },
    )?;
    let comparison = compare(printed, &mut gathered, printer)?;
    if printed.merge.is_some() {
        check_together(printed, &gathered.kept)?;
    }
    print_kept(printed, &mut gathered, printer)?;
    for note in request.notes(&gathered.sums) {
        printer.note(&note);
    }
    gathered.count_sets();
    if common.is_text() {
        if let Some(comparison) = comparison {
            print_comparison(printed, &comparison, gathered.text, printer)?;
        }
        if let Some(text) = gathered.text {
            let lines = &mut AnswerLines::new(common, printer);
            written(&text, None, &request.overall(&gathered.sums), lines)?;
        }
    }
    Ok((verdict(gathered.fails, gathered.rows), asked))
}

/// Compares the answers of all extracts, if the question does, and prints the answers themselves.
fn compare(
    printed: &PrintedQuestion<'_>,
    gathered: &mut Gathered,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Option<Answer>> {
    if !printed.request.compares() {
        return Ok(None);
    }
    let mut all: Vec<_> = gathered
        .kept
        .iter_mut()
        .map(|one| (&one.info, &mut one.answer))
        .collect();
    let comparison = printed.request.across(&mut all)?;
    // Answers are adjusted to each other, and may have fewer rows then.
    gathered.rows = gathered.kept.iter().map(|one| one.answer.len()).sum();
    if !printed.common.has_one_file() && printed.merge.is_none() {
        for one in &gathered.kept {
            print_one(printed, printer, one)?;
        }
    }
    Ok(comparison)
}

/// Checks that the rows of these answers can be one list.
fn check_together(printed: &PrintedQuestion<'_>, kept: &[Answered<Answer>]) -> anyhow::Result<()> {
    let all: Vec<(&str, &Sums)> = kept
        .iter()
        .map(|one| (one.info.file_name.as_str(), &one.answer.sums))
        .collect();
    Ok(printed.request.check_together(&all)?)
}

/// Prints one list over all extracts, or their rows for machines.
fn print_kept(
    printed: &PrintedQuestion<'_>,
    gathered: &mut Gathered,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    let common = printed.common;
    let kept = std::mem::take(&mut gathered.kept);
    let joins = kept.iter().any(|one| one.answer.joins_extracts());
    // Rows for machines name their trace themselves, so without text only combined rows need one
    // list.
    if let Some(top) = printed.merge.filter(|_| common.is_text() || joins) {
        let listed = print_merged(printed, kept, top, printer)?;
        if joins {
            gathered.rows = listed;
        }
    } else if common.has_one_file() || printed.merge.is_some() {
        let rows = kept.iter().flat_map(records);
        machine_with_header(common, printer, printed.fields, rows)?;
    }
    Ok(())
}

fn print_comparison(
    printed: &PrintedQuestion<'_>,
    comparison: &Answer,
    text: Option<Text>,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    let info = TraceInfo::default();
    let text = text.unwrap_or_else(|| printed.common.text(printed.processes, &info));
    let lines = &mut AnswerLines::new(printed.common, printer);
    for part in &comparison.parts {
        print_part(printed.common, (&text, &info), part, lines)?;
    }
    Ok(())
}

/// Returns the exit code for scripts: with --fail-on by its condition, otherwise by the presence of
/// rows.
fn verdict(fails: Option<bool>, rows: usize) -> Exit {
    fails.map_or_else(
        || exit(rows),
        |fails| if fails { Exit::Failed } else { Exit::Answered },
    )
}

/// Queries all extracts together for one answer, and prints it. Also returns the extracts that
/// could be queried.
pub(super) fn answered_together(
    printed: &PrintedQuestion<'_>,
    printer: &mut Printer<'_>,
    question: impl FnOnce(&Session) -> etwkit_question::Result<Answer>,
) -> anyhow::Result<(Exit, Vec<PathBuf>)> {
    let (one, asked) = ask_all(printed.common, printed.command, printer, question)?;
    let Some(one) = one else {
        // A file without rows still gets the names of its columns.
        if printed.common.has_one_file() {
            machine_with_header(printed.common, printer, printed.fields, std::iter::empty())?;
        }
        return Ok((Exit::Nothing, asked));
    };
    one.answer.notes.iter().for_each(|note| printer.note(note));
    print_one(printed, printer, &one)?;
    Ok((verdict(one.answer.fails, one.answer.len()), asked))
}

/// Prints an answer about names of recordings, which belongs to no extract.
pub(super) fn answered_to_names(
    printed: &PrintedQuestion<'_>,
    printer: &mut Printer<'_>,
    answer: Answer,
) -> anyhow::Result<Exit> {
    begin(printed.common, printed.command, printer)?;
    let one = Answered {
        info: TraceInfo::default(),
        answer,
    };
    print_one(printed, printer, &one)?;
    Ok(verdict(one.answer.fails, one.answer.len()))
}

/// Prints the answer of an extract.
fn print_one(
    printed: &PrintedQuestion<'_>,
    printer: &mut Printer<'_>,
    one: &Answered<Answer>,
) -> anyhow::Result<()> {
    let common = printed.common;
    if !machine_with_header(common, printer, printed.fields, records(one))? {
        let text = common.text(printed.processes, &one.info);
        print(common, &text, one, &mut AnswerLines::new(common, printer))?;
    }
    Ok(printer.finish()?)
}

/// Prints the largest rows of all extracts as one list, each with the name of its trace, and
/// returns their number. Machines get only rows that can combine several extracts.
fn print_merged(
    printed: &PrintedQuestion<'_>,
    answers: Vec<Answered<Answer>>,
    top: Top,
    printer: &mut Printer<'_>,
) -> anyhow::Result<usize> {
    if !answers.iter().all(is_list) {
        // Sentences are reported for each extract.
        answers
            .iter()
            .try_for_each(|one| print_one(printed, printer, one))?;
        return Ok(answers.iter().map(|one| one.answer.len()).sum());
    }
    let (infos, answers): (Vec<TraceInfo>, Vec<Answer>) = answers
        .into_iter()
        .map(|one| (one.info, one.answer))
        .unzip();
    let Some((answer, of)) = Answer::merged(answers, &infos, top) else {
        return Ok(0);
    };
    let Some(part) = answer.parts.first() else {
        return Ok(0);
    };
    let (rows, joins) = (part.table.len(), answer.joins_extracts());
    // A row that combines several traces uses the clock of the earliest one.
    let first = if joins {
        earliest(&infos)
    } else {
        infos.first()
    };
    let Some(first) = first else { return Ok(0) };
    let records = of
        .iter()
        .enumerate()
        .filter_map(|(row, of)| Some((infos.get(*of)?, part.typed(row))));
    if joins && machine_with_header(printed.common, printer, printed.fields, records)? {
        return Ok(rows);
    }
    let lines = &mut AnswerLines::new(printed.common, printer);
    let of: Vec<Option<&TraceInfo>> = of.iter().map(|of| infos.get(*of)).collect();
    let text = printed.common.text(printed.processes, first);
    let chosen = printed.common.column.as_deref();
    let how = How {
        traces: Traces::Each(&of),
        shows: Shows::Rows,
        chosen,
    };
    print_table(printed.common, &text, part.table.as_ref(), how, lines)?;
    written(&text, None, &part.table.total(), lines)?;
    Ok(rows)
}

/// True if an answer has only tables with columns.
fn is_list(one: &Answered<Answer>) -> bool {
    let mut parts = one.answer.parts.iter();
    parts.all(|part| !part.table.columns().is_empty())
}

fn earliest(infos: &[TraceInfo]) -> Option<&TraceInfo> {
    infos.iter().min_by_key(|info| info.start_filetime)
}

/// Returns the rows of an answer for machines, each with its trace.
fn records(one: &Answered<Answer>) -> impl Iterator<Item = (&TraceInfo, Record)> {
    let Answered { info, answer } = one;
    let of_part =
        move |part| (0..AnswerPart::records(part).len()).map(move |row| (info, part.typed(row)));
    answer
        .parts
        .iter()
        .filter(|part| !part.is_aside)
        .flat_map(of_part)
}

/// Prints an answer: its heading, then each table.
fn print(
    common: &Common,
    text: &Text,
    one: &Answered<Answer>,
    lines: &mut AnswerLines<'_, '_>,
) -> anyhow::Result<()> {
    let Answered {
        info,
        answer:
            Answer {
                parts,
                heading,
                is_moved,
                above,
                ..
            },
    } = one;
    // A wrong name is an error before anything is printed.
    parts
        .iter()
        .try_for_each(|part| check_columns(common, (text, info), part))?;
    let heading = heading
        .as_ref()
        .map_or_else(String::new, |line| text.line(line));
    match above {
        Above::Start => lines.file(info, text, &heading)?,
        Above::Name => lines.name(info)?,
        Above::Nothing => {}
    }
    let text = if *is_moved {
        text.of_moved_times()
    } else {
        *text
    };
    parts
        .iter()
        .try_for_each(|part| print_part(common, (&text, info), part, lines))
}

/// Checks that a table has the columns that `--column` names.
fn check_columns(
    common: &Common,
    (text, info): (&Text, &TraceInfo),
    part: &AnswerPart,
) -> anyhow::Result<()> {
    let table = part.table.as_ref();
    let is_sentence = part.instead.is_some() && table.is_empty();
    let has_columns = !table.columns().is_empty();
    let Some(chosen) = common.column.as_deref() else {
        return Ok(());
    };
    if part.is_aside || is_sentence || !has_columns {
        return Ok(());
    }
    columns(common, text, table, (Traces::One(info), Some(chosen))).map(drop)
}

/// Prints a table with its title, the lines before it, its sums, and the lines after it.
fn print_part(
    common: &Common,
    (text, info): (&Text, &TraceInfo),
    AnswerPart {
        title,
        head,
        table,
        foot,
        instead,
        shows,
        is_aside,
        ..
    }: &AnswerPart,
    lines: &mut AnswerLines<'_, '_>,
) -> anyhow::Result<()> {
    if !title.is_empty() {
        lines.heading(title)?;
    }
    if let Some(instead) = instead.as_ref().filter(|_| table.is_empty()) {
        return lines.line(&text.line(instead));
    }
    written(text, Some(info), head, lines)?;
    let chosen = common.column.as_deref().filter(|_| !is_aside);
    let how = How {
        traces: Traces::One(info),
        shows: *shows,
        chosen,
    };
    print_table(common, text, table.as_ref(), how, lines)?;
    written(text, Some(info), &table.total(), lines)?;
    written(text, Some(info), foot, lines)
}

/// Prints lines. Command lines among them get the name of the trace, so that they run as they are.
fn written(
    text: &Text,
    trace: Option<&TraceInfo>,
    all: &[Line],
    lines: &mut AnswerLines<'_, '_>,
) -> anyhow::Result<()> {
    let named = trace.and_then(|trace| trace.named.as_deref());
    all.iter()
        .try_for_each(|line| match (text.line(line), named) {
            (heading, _) if line.is_heading => lines.heading(&heading),
            (command, Some(named)) if line.is_command => {
                lines.line(&format!("{command} {}", shell::quoted_pattern(named)))
            }
            (words, _) => lines.line(&words),
        })
}

/// Format of a table.
#[derive(Clone, Copy)]
struct How<'a> {
    traces: Traces<'a>,
    shows: Shows,
    /// The columns that are chosen by name.
    chosen: Option<&'a str>,
}

fn print_table(
    common: &Common,
    text: &Text,
    table: &dyn AnyTable,
    how: How<'_>,
    lines: &mut AnswerLines<'_, '_>,
) -> anyhow::Result<()> {
    let How {
        traces,
        shows,
        chosen,
    } = how;
    if shows == Shows::Sums && table.columns().is_empty() {
        return Ok(());
    }
    let most = common
        .most_rows()
        .filter(|_| shows.has_rows() && table.ranked() == Ranked::Rows);
    let shown = Shown::of(table, most);
    // One table, so that columns of all groups have one width.
    let mut columns = columns(common, text, table, (traces, chosen))?;
    if shows == Shows::Untitled {
        columns = columns.untitled();
    }
    // Columns that the user has chosen are never dropped, and ETWAnalyzer's format does not depend
    // on the width of the screen.
    let may_fit = shows == Shows::Rows && chosen.is_none() && !common.is_etwanalyzer();
    let screen = lines.screen().filter(|_| may_fit);
    let left_out = screen.map_or_else(Vec::new, |width| columns.fit(width, shown.rows()));
    let printed = columns.lines(shown.rows());
    let mut printed = printed.iter();
    if let Some(titles) = printed.next().filter(|_| shows == Shows::Rows) {
        lines.line_as(titles.role, &titles.text)?;
    }
    if shows == Shows::Sums {
        return Ok(());
    }
    for (number, group) in shown.groups.iter().enumerate() {
        if matches!(traces, Traces::One(_)) {
            let trace = traces.all();
            written(text, trace, table.heading(number).as_slice(), lines)?;
            written(text, trace, &table.subheading(number), lines)?;
        }
        for (row, line) in group.shown.iter().copied().zip(printed.by_ref()) {
            if shows.has_rows() {
                print_row(common, text, table, (traces.of(row), row, line), lines)?;
            }
        }
        if group.more > 0 && shown.groups.len() > 1 {
            let more = text.int(count(group.more));
            lines.line(&format!("{}  … {more} more", table.indent()))?;
        }
    }
    print_left_out(text, shown.more(), &left_out, lines)
}

/// Prints how many rows and which columns are not shown.
fn print_left_out(
    text: &Text,
    rows: usize,
    columns: &[&str],
    lines: &mut AnswerLines<'_, '_>,
) -> anyhow::Result<()> {
    if rows > 0 {
        let more = text.int(count(rows));
        lines.line(&format!("… {more} more (--top 0 shows all)"))?;
    }
    if !columns.is_empty() {
        let names = columns.join(";+");
        lines.line(&format!(
            "(too narrow for: {}; --column \"+{names}\" shows them)",
            columns.join(" ")
        ))?;
    }
    Ok(())
}

/// Prints a row of a trace, with the lines above and below it.
fn print_row(
    common: &Common,
    text: &Text,
    table: &dyn AnyTable,
    (trace, row, line): (Option<&TraceInfo>, usize, &TableLine),
    lines: &mut AnswerLines<'_, '_>,
) -> anyhow::Result<()> {
    written(text, trace, &table.above(row), lines)?;
    match table.indent() {
        "" if table.is_alarming(row) && !common.is_etwanalyzer() => {
            lines.line_as(Role::Warning, &line.text)?;
        }
        "" => lines.line_as(line.role, &line.text)?,
        indent => lines.line(&format!("{indent}{line}"))?,
    }
    written(text, trace, &table.below(row), lines)
}

fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// The rows that are shown of a table.
struct Shown {
    groups: Vec<ShownGroup>,
    /// Rows of groups that are not shown at all.
    of_others: usize,
}

/// The rows that are shown of a group.
struct ShownGroup {
    shown: Vec<usize>,
    /// Number of its other rows.
    more: usize,
}

impl Shown {
    /// Groups that share the rows of a screen.
    const GROUPS: usize = 10;

    /// Selects all rows or at most `most`: with groups, the first rows of each of the first groups.
    fn of(table: &dyn AnyTable, most: Option<usize>) -> Self {
        let (mut next, mut groups) = (0, Vec::new());
        for count in table.groups() {
            let shown: Vec<usize> = (next..next + count)
                .filter(|row| table.is_listed(*row))
                .collect();
            groups.push(ShownGroup { shown, more: 0 });
            next += count;
        }
        let all: usize = groups.iter().map(|group| group.shown.len()).sum();
        let Some(most) = most.filter(|most| all > *most) else {
            return Self {
                groups,
                of_others: 0,
            };
        };
        let of_others = groups
            .iter()
            .skip(Self::GROUPS)
            .map(|group| group.shown.len())
            .sum();
        groups.truncate(Self::GROUPS);
        // Each group shows at least one row: a heading without rows has no use.
        let each = (most / groups.len().max(1)).max(1);
        for group in &mut groups {
            group.more = group.shown.len().saturating_sub(each);
            group.shown.truncate(each);
        }
        Self { groups, of_others }
    }

    /// Returns the rows, group by group.
    fn rows(&self) -> impl Iterator<Item = usize> {
        self.groups.iter().flat_map(|group| &group.shown).copied()
    }

    /// Returns the number of rows that are not shown.
    fn more(&self) -> usize {
        self.groups.iter().map(|group| group.more).sum::<usize>() + self.of_others
    }
}

/// The traces that the rows of a table come from.
#[derive(Clone, Copy)]
enum Traces<'a> {
    /// All of this one.
    One(&'a TraceInfo),
    /// Each row of the trace at its index.
    Each(&'a [Option<&'a TraceInfo>]),
}

impl<'a> Traces<'a> {
    /// Returns the trace of a row.
    fn of(self, row: usize) -> Option<&'a TraceInfo> {
        match self {
            Self::One(trace) => Some(trace),
            Self::Each(traces) => traces.get(row).copied().flatten(),
        }
    }

    /// Returns the file name of the trace of a row.
    fn name_of(self, row: usize) -> String {
        self.of(row)
            .map_or_else(String::new, |trace| trace.file_name.clone())
    }

    /// Returns the trace of all rows, if they have one.
    fn all(self) -> Option<&'a TraceInfo> {
        match self {
            Self::One(trace) => Some(trace),
            Self::Each(_) => None,
        }
    }
}

/// Returns the selected columns of a table for people. If rows come from several traces, the column
/// of the trace comes before the last text columns.
fn columns<'a>(
    common: &Common,
    text: &'a Text,
    table: &'a dyn AnyTable,
    (traces, chosen): (Traces<'a>, Option<&str>),
) -> anyhow::Result<Columns<'a>> {
    let (mut columns, all) = (Columns::default(), table.columns());
    let words = all
        .iter()
        .rev()
        .take_while(|column| !column.format.is_number())
        .count();
    let trace = all.len().saturating_sub(words);
    // Rows may have files of their own.
    let trace_name = if all.iter().any(|column| column.name == "File") {
        "Trace"
    } else {
        "File"
    };
    let add_trace = |columns: &mut Columns<'a>| {
        let is_shown = matches!(traces, Traces::Each(_));
        columns.push(trace_name, "Trace", Align::Left, is_shown, move |row| {
            traces.name_of(row)
        });
    };
    let has_trace = all
        .iter()
        .any(|column| column.format == Format::Trace || column.name == "Trace");
    let style = if common.is_etwanalyzer() {
        Style::EtwAnalyzer
    } else {
        Style::Own
    };
    let names: Vec<&str> = all.iter().map(|column| column.name).collect();
    for (
        at,
        AnyColumn {
            name,
            title,
            format,
            is_shown,
            missing,
            style: only_in,
            ..
        },
    ) in all.into_iter().enumerate()
    {
        if at == trace && !has_trace {
            add_trace(&mut columns);
        }
        let is_in_style = only_in == Style::Both || only_in == style;
        // `--column` can show a column of the other style, unless this style has one with the same
        // name.
        if !is_in_style && names.iter().filter(|other| **other == name).count() > 1 {
            continue;
        }
        let is_shown =
            is_shown && is_in_style && (format != Format::CommandLine || text.command_lines);
        let title = title_of(&title, text, format, || is_moment(table, at, format));
        let align = if format.is_number() {
            Align::Right
        } else {
            Align::Left
        };
        columns.push(name, title, align, is_shown, move |row| {
            match table.value(row, at) {
                _ if format == Format::Trace => traces.name_of(row),
                Value::Missing => missing.to_owned(),
                value => text.value(format, &value),
            }
        });
    }
    if words == 0 && !has_trace {
        add_trace(&mut columns);
    }
    columns.choose(chosen)?;
    Ok(columns)
}

/// Returns the title of a column for people.
fn title_of(title: &Heading, text: &Text, format: Format, is_moment: impl Fn() -> bool) -> String {
    match title {
        Heading::Words(words) if text.has_seconds() && is_moment() => format!("{words} s"),
        Heading::Words(words) => text.title(words, format),
        Heading::Time if text.has_seconds() => format!("Time {}", text.times.title()),
        Heading::Time => text.times.title(),
        Heading::Line(line) => text.line(line),
        Heading::TimeIn(words, format) => {
            let times = format.map_or(text.times, |format| text.times.with_format(format));
            format!("{words} {}", times.title())
        }
    }
}

/// True if the cells of a column are times in the chosen format.
fn is_moment(table: &dyn AnyTable, column: usize, format: Format) -> bool {
    let has_own = || matches!(table.value(0, column), Value::Moment(..));
    matches!(format, Format::Moment | Format::LeftMoment) && !has_own()
}
