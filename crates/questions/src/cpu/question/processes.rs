//! Sums of processes.

use std::collections::HashMap;

use serde::Serialize;

use super::below::below;
use super::{CpuViewContext, lacks_waits, numbers, source_line, sums, without_waits};
use crate::cpu::{CpuRequest, CpuRow, CpuTotal};
use crate::module_text::module_text as module;
use etwkit_question::Format::{Fixed, Milliseconds, Moment, ProcessLine, Whole, Word};
use etwkit_question::Result;
use etwkit_question::group::Top;
use etwkit_question::rows::Field;
use etwkit_question::{
    Answer, Column, Line, ProcessCell, ProcessColumns, Ranked, Shows, Source, Value, View,
};
use etwkit_sql::Session;
use etwkit_sql::time_format::TimeFormat;

/// A row, with its difference from the newest extract.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    row: CpuRow,
    /// CPU of the process of this name in the newest trace, minus the CPU of the row.
    #[serde(skip)]
    diff_ns: Option<i64>,
}

impl ProcessColumns for Shown {
    fn process_cell(&self) -> ProcessCell {
        self.row.process_cell()
    }
}

type ProcessColumn = Column<CpuViewContext, Shown>;

const PROCESSES: View<CpuViewContext, Shown> = View::new(
    &[
        ProcessColumn::new("Cpu", "", Milliseconds, |_, it| it.row.cpu_ns.into())
            .titled(CpuViewContext::cpu_title)
            .cost(),
        ProcessColumn::new("Wait", "Wait ms", Milliseconds, |_, it| {
            it.row.wait_ns.into()
        })
        .cost()
        .shown_if(|asked| asked.has_waits),
        ProcessColumn::new("Ready", "Ready ms", Milliseconds, |_, it| {
            it.row.ready_ns.into()
        })
        .cost()
        .shown_if(CpuViewContext::has_ready),
        ProcessColumn::new("Switches", "Switches", Whole, |_, it| {
            it.row.switches.into()
        })
        .sum()
        .shown_if(|asked| asked.has_waits),
        ProcessColumn::new("Preemptions", "Preempted", Whole, |_, it| {
            it.row.preemptions.into()
        })
        .cost()
        .shown_if(|asked| asked.has_waits && asked.by.details),
        ProcessColumn::new("Threads", "Threads", Whole, |_, it| it.row.threads.into())
            .sum()
            .shown_if(|asked| asked.by.details || asked.by.thread_count),
        ProcessColumn::new("Priority", "Priority", Fixed(1), |_, it| {
            it.row.priority.filter(|priority| *priority > 0.0).into()
        })
        .shown_if(|asked| !asked.by.no_priority),
        ProcessColumn::new("Cores", "Cores", Whole, |asked, it| {
            let names = asked.by.show_core_number.then(|| it.row.cores.clone());
            names.map_or_else(|| it.row.core_count.into(), Value::from)
        })
        .shown_if(|asked| !asked.by.no_core_usage),
        ProcessColumn::new("First", "First", Moment, |asked, it| {
            moment(asked.first(), it.row.first_ns)
        })
        .titled(|asked| starred("First", asked))
        .shown_if(|asked| asked.first().is_some()),
        ProcessColumn::new("Last", "Last", Moment, |asked, it| {
            moment(asked.last(), it.row.last_ns)
        })
        .titled(|asked| starred("Last", asked))
        .shown_if(|asked| asked.last().is_some()),
        ProcessColumn::new("Session", "Session", Whole, |_, it| {
            it.row.session_id.into()
        })
        .shown_if(|asked| asked.by.details),
        ProcessColumn::new("Diff", "Diff ms", Milliseconds, |_, it| it.diff_ns.into())
            .shown_when_merged(|_| true),
        ProcessColumn::new("Process", "Process", ProcessLine, |_, it| it.into()),
        ProcessColumn::new("Module", "Path", Word, |_, it| {
            let row = &it.row;
            module([
                &row.module_path,
                &row.file_version,
                &row.product_name,
                &row.company,
            ])
            .into()
        })
        .shown_if(|asked| asked.by.show_module.is_some()),
    ],
    |it| it.row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(asked.by.is_by_time()))
.with_below(|asked, it| below(&asked.by, &it.row.kinds, &it.row.ready))
.with_merge(merged);

/// Declares the aggregation of columns of JSON and CSV.
pub(super) fn describe(question: &CpuRequest, fields: &mut [Field]) {
    PROCESSES.describe(
        &CpuViewContext::new(question, None, CpuTotal::default()),
        |row| Shown { row, diff_ns: None },
        fields,
    );
}

/// Returns a time in the format of a column, if the column has one.
pub(super) fn moment(format: Option<Option<TimeFormat>>, ns: i64) -> Value {
    match format.flatten() {
        Some(format) => Value::Moment(format, ns),
        None => ns.into(),
    }
}

/// Returns a title, with a star if times count from another zero.
fn starred(title: &str, asked: &CpuViewContext) -> String {
    format!(
        "{title}{}",
        if asked.by.zero.mode.is_some() {
            "*"
        } else {
            ""
        }
    )
}

/// Merges all extracts into one list. Processes of one name are adjacent, in ascending order of
/// their common sum. Each row has its difference from the newest extract.
fn merged(_: &CpuViewContext, sources: Vec<Source<Shown>>, top: Top) -> Vec<(usize, Shown)> {
    let newest = newest(&sources);
    let mut all = etwkit_question::largest(sources, top, |it| it.row.sort_value);
    let mut together: HashMap<Option<String>, f64> = HashMap::new();
    for (_, it) in &mut all {
        *together.entry(it.row.process.clone()).or_default() += it.row.sort_value;
        it.diff_ns = newest
            .get(&it.row.process)
            .map(|cpu_ns| cpu_ns.saturating_sub(it.row.cpu_ns));
    }
    // Rows are cut before they are grouped: the request is for the largest rows of all extracts,
    // not for the largest names.
    let sum = |it: &Shown| together.get(&it.row.process).map_or(0.0, |sum| *sum);
    all.sort_by(|(_, a), (_, b)| {
        let by_sum = sum(a)
            .total_cmp(&sum(b))
            .then_with(|| a.row.process.cmp(&b.row.process));
        by_sum.then_with(|| a.row.sort_value.total_cmp(&b.row.sort_value))
    });
    all
}

/// Returns the CPU of the largest process of each name in the trace that started last.
fn newest(sources: &[Source<Shown>]) -> HashMap<Option<String>, i64> {
    let newest = sources.iter().max_by_key(|source| source.start_filetime);
    let mut largest = HashMap::new();
    for it in newest.into_iter().flat_map(|source| &source.rows) {
        let known = largest
            .entry(it.row.process.clone())
            .or_insert(it.row.cpu_ns);
        *known = it.row.cpu_ns.max(*known);
    }
    largest
}

pub(super) fn answer(question: &CpuRequest, session: &Session) -> Result<Answer> {
    let answer = question.process_answer(session)?;
    let (source, mut total): (_, CpuTotal) = (answer.source(), answer.total);
    let mut rows = answer.rows;
    let asked = CpuViewContext::new(question, source, total);
    if lacks_waits(session, total)? {
        total = without_waits(total);
        rows.iter_mut().for_each(forget_waits);
    }
    let rows = rows
        .into_iter()
        .map(|row| Shown { row, diff_ns: None })
        .collect();
    // Sums of processes are the rows themselves.
    let is_total = question.show_total.as_deref() == Some("total");
    let heading = question
        .shows_sums()
        .then(|| sums(Line::default(), (source, total), question.sort));
    Ok(Answer::rows(&asked, &PROCESSES, rows)
        .with_head(source_line(source, ""))
        .with_heading(heading)
        .with_sums(numbers(source, total))
        .showing(if is_total { Shows::Sums } else { Shows::Rows }))
}

/// Removes waits and ready times from a row.
fn forget_waits(row: &mut CpuRow) {
    row.wait_ns = None;
    row.ready_ns = None;
}
