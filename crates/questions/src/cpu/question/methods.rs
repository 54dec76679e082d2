//! Methods, modules, threads and stack tags by process.

use super::below::below;
use super::processes::moment;
use super::{CpuViewContext, lacks_waits, numbers, source_line, without_waits};
use crate::cpu::{By, CpuRequest, CpuTotal};
use crate::method::{MethodRow, total};
use crate::module_text::module_text as module;
use etwkit_question::Format::{
    Fixed, Milliseconds, Moment, Process, ProcessLine, Seconds, Whole, Word,
};
use etwkit_question::Result;
use etwkit_question::rows::Field;
use etwkit_question::{Answer, Column, Line, Ranked, Shows, View};
use etwkit_sql::Session;

type MethodColumn = Column<CpuViewContext, MethodRow>;

const METHODS: View<CpuViewContext, MethodRow> = View::new(
    &[
        MethodColumn::new("Cpu", "", Milliseconds, |_, row| {
            // CPU of a stack tag is not known without samples.
            row.cpu_source.as_ref().map(|_| row.cpu_ns).into()
        })
        .titled(CpuViewContext::cpu_title)
        .cost(),
        MethodColumn::new("Exclusive", "Exclusive ms", Milliseconds, |_, row| {
            row.exclusive_ns.into()
        })
        .cost()
        .shown_if(|asked| {
            asked.by.details || asked.by.by == By::Module || asked.by.is_by_exclusive()
        }),
        MethodColumn::new("Wait", "Wait ms", Milliseconds, |_, row| row.wait_ns.into())
            .cost()
            .shown_if(|asked| asked.has_waits),
        MethodColumn::new("Ready", "Ready ms", Milliseconds, |_, row| {
            row.ready_ns.into()
        })
        .cost()
        .shown_if(CpuViewContext::has_ready),
        // Cut, as the mean of the question is.
        MethodColumn::new("ReadyAvg", "Ready avg µs", Whole, |_, row| {
            row.ready_avg_ns.map(|ns| ns / 1000).into()
        })
        .worst()
        .shown_if(|asked| asked.has_ready() && asked.by.details),
        MethodColumn::new("WaitSum", "Wait sum ms", Milliseconds, |_, row| {
            row.wait_sum_ns.into()
        })
        .cost()
        .hidden(),
        MethodColumn::new("ReadySum", "Ready sum ms", Milliseconds, |_, row| {
            row.ready_sum_ns.into()
        })
        .cost()
        .hidden(),
        MethodColumn::new("Switches", "Switches", Whole, |_, row| row.switches.into())
            .sum()
            .shown_if(|asked| asked.has_waits && asked.by.details),
        MethodColumn::new("Threads", "Threads", Whole, |_, row| row.threads.into())
            .shown_if(|asked| asked.by.thread_count),
        MethodColumn::new("Depth", "Depth", Fixed(1), |_, row| row.depth.into())
            .shown_if(|asked| asked.by.details),
        MethodColumn::new("Duration", "Last-First s", Seconds(3), |_, row| {
            row.duration_ns.into()
        })
        .shown_if(|asked| asked.by.first_last.is_some()),
        MethodColumn::new("First", "First", Moment, |asked, row| {
            row.first_ns.map(|ns| moment(asked.first(), ns)).into()
        })
        .time_in(|asked| asked.first().flatten())
        .shown_if(|asked| asked.first().is_some()),
        MethodColumn::new("Last", "Last", Moment, |asked, row| {
            row.last_ns.map(|ns| moment(asked.last(), ns)).into()
        })
        .time_in(|asked| asked.last().flatten())
        .shown_if(|asked| asked.last().is_some()),
        MethodColumn::new("Method", "", Word, |asked, row| {
            asked
                .by
                .cut_method
                .map_or_else(|| row.name.clone(), |cut| cut.of(&row.name))
                .into()
        })
        .titled(|asked| {
            match asked.by.by {
                By::Module => "Module",
                By::Thread => "Thread",
                By::Process | By::Method => "Method",
            }
            .to_owned()
        }),
        MethodColumn::new("Process", "Process", Process, |_, row| row.into())
            .shown_if(|asked| asked.by.show_on_method),
        MethodColumn::new("Driver", "Driver", Word, |_, row| {
            let parts = [&row.driver_vendor, &row.driver_category];
            parts
                .into_iter()
                .flatten()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" ")
                .into()
        })
        .shown_if(|asked| asked.by.only_drivers()),
        MethodColumn::new("Module", "Path", Word, |_, row| {
            module([
                &row.module_path,
                &row.file_version,
                &row.product_name,
                &row.company,
            ])
            .into()
        })
        .shown_if(|asked| asked.by.show_module.is_some() && !asked.by.only_drivers()),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(asked.by.is_by_time()))
.with_headings(heading)
.with_below(|asked, row| below(&asked.by, &row.kinds, &row.ready));

/// Declares the aggregation of columns of JSON and CSV.
pub(super) fn describe(question: &CpuRequest, fields: &mut [Field]) {
    METHODS.describe(
        &CpuViewContext::new(question, None, CpuTotal::default()),
        |row: MethodRow| row,
        fields,
    );
}

/// Returns the process of a group, with its priority and sums.
fn heading(asked: &CpuViewContext, rows: &[MethodRow]) -> Option<Line> {
    let row = rows.first().filter(|_| !asked.by.show_on_method)?;
    let line = Line::new("  ").value(ProcessLine, row);
    let priority = row
        .process_priority
        .filter(|_| asked.by.details && !asked.by.no_priority);
    let line = match priority {
        Some(priority) => line.words("  priority ").value(Fixed(1), priority),
        None => line,
    };
    if !matches!(asked.by.show_total.as_deref(), Some("process" | "method")) {
        return Some(line);
    }
    let sum = (asked.source, total(rows));
    let line = asked
        .by
        .sums_of_rows(line.words("  ["), sum, exclusive(rows));
    Some(line.words("]"))
}

/// Returns the CPU of methods without their callees; `None` if no row knows it.
fn exclusive<'r>(rows: impl IntoIterator<Item = &'r MethodRow>) -> Option<i64> {
    let known = rows.into_iter().filter_map(|row| row.exclusive_ns);
    known.reduce(i64::saturating_add)
}

pub(super) fn answer(question: &CpuRequest, session: &Session) -> Result<Answer> {
    let answer = if question.asks_names() {
        question.method_answer(session)?
    } else {
        question.tag_answer(session)?
    };
    let (source, mut total): (_, CpuTotal) = (answer.source(), answer.total);
    let asked = CpuViewContext::new(question, source, total);
    let more = match question.by {
        By::Thread => "",
        By::Process | By::Method | By::Module => {
            "; here CPU of the scheduling slices that started with the code in their stack"
        }
    };
    let shows = match question.show_total.as_deref() {
        Some("total") => Shows::Sums,
        Some("process") => Shows::Headings,
        _ => Shows::Rows,
    };
    let mut processes = answer.processes;
    let exclusive_ns = exclusive(processes.iter().flat_map(|group| &group.rows));
    if lacks_waits(session, total)? {
        total = without_waits(total);
        let rows = processes.iter_mut().flat_map(|group| &mut group.rows);
        rows.for_each(forget_waits);
    }
    let heading = question
        .shows_sums()
        .then(|| question.sums_of_rows(Line::default(), (source, total), exclusive_ns));
    let groups = processes.into_iter().map(|group| group.rows).collect();
    Ok(Answer::groups(&asked, &METHODS, groups)
        .with_head(source_line(source, more))
        .with_heading(heading)
        .with_sums(numbers(source, total).chain(exclusive_ns.map(|ns| ("exclusive_ns", ns))))
        .showing(shows))
}

/// Removes waits and ready times from a row.
fn forget_waits(row: &mut MethodRow) {
    row.wait_ns = None;
    row.ready_ns = None;
    row.wait_sum_ns = None;
    row.ready_sum_ns = None;
    row.ready_avg_ns = None;
}
