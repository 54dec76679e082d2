//! `dump cpu`: CPU, waiting and ready time of processes, of their methods, modules, threads and
//! stack tags, or as call trees.
//!
//! One request with several kinds of rows: its options choose among those of
//! [`cpu`](crate::cpu), [`method`](crate::method) and [`stack::tree`](crate::stack::tree).

mod below;
mod methods;
mod over_time;
mod processes;
mod trees;

pub use over_time::CpuBucket;

use crate::cpu::source::{CpuSource, check_comparable};
use crate::cpu::{By, CpuRequest, CpuRow, CpuSort, CpuTotal, check_waits};
use crate::method::MethodRow;
use crate::stack::tree::TreeRow;
use etwkit_question::Format::Milliseconds;
use etwkit_question::{Answer, Example, Form, Line, OptionError, Question, Sums, Tagging};
use etwkit_question::{Count, Result, ask};
use etwkit_sql::Session;
use etwkit_sql::time_format::TimeFormat;

/// A question with the properties of its answer.
#[derive(Clone)]
struct CpuViewContext {
    by: CpuRequest,
    source: Option<CpuSource>,
    has_waits: bool,
}

impl CpuViewContext {
    fn new(question: &CpuRequest, source: Option<CpuSource>, total: CpuTotal) -> Self {
        Self {
            by: question.clone(),
            source,
            has_waits: total.wait_ns.is_some(),
        }
    }

    fn has_ready(&self) -> bool {
        self.has_waits && !self.by.no_ready
    }

    /// Returns the format of the first time, if that is shown.
    fn first(&self) -> Option<Option<TimeFormat>> {
        self.by.first_last_formats().0
    }

    /// Returns the format of the last time, if that is shown.
    fn last(&self) -> Option<Option<TimeFormat>> {
        self.by.first_last_formats().1
    }

    /// Returns the title of the column of CPU times.
    fn cpu_title(&self) -> String {
        format!("{} ms", cpu_word(self.source))
    }
}

/// Returns the word for CPU times. Without samples they are time on processors, which is a
/// different quantity.
#[must_use]
pub const fn cpu_word(source: Option<CpuSource>) -> &'static str {
    match source {
        Some(CpuSource::ContextSwitches) => "Running",
        Some(CpuSource::Samples) | None => "CPU",
    }
}

/// Returns the line below a heading which says that CPU is not sampled; `more` describes the rows
/// in this case.
fn source_line(source: Option<CpuSource>, more: &str) -> Option<Line> {
    let is_sampled = source != Some(CpuSource::ContextSwitches);
    let words = "  no CPU was sampled: running is time on processors, from context switches";
    if is_sampled {
        None
    } else {
        Some(Line::new(words).words(more))
    }
}

/// Adds `CPU 5 ms, wait 7 ms, ready 1 ms, total 12 ms` to a line.
fn sums(line: Line, (source, total): (Option<CpuSource>, CpuTotal), sort: CpuSort) -> Line {
    let line = line
        .words(cpu_word(source))
        .words(" ")
        .value(Milliseconds, total.cpu_ns)
        .words(" ms");
    let Some(wait_ns) = total.wait_ns else {
        return line;
    };
    let line = line
        .words(", wait ")
        .value(Milliseconds, wait_ns)
        .words(" ms");
    let line = match total.ready_ns {
        Some(ready_ns) => line
            .words(", ready ")
            .value(Milliseconds, ready_ns)
            .words(" ms"),
        None => line,
    };
    let has_ready = sort == CpuSort::CpuWaitReady;
    // A total that lacks one of its parts would be too small.
    if has_ready && total.ready_ns.is_none() {
        return line;
    }
    let all_ns = total.total_ns(has_ready);
    line.words(", total ")
        .value(Milliseconds, all_ns)
        .words(" ms")
}

/// Returns `true` if waits and ready times are not known. Without events that make threads ready,
/// no wait counts, and of ready times only those of preempted threads.
fn lacks_waits(session: &Session, total: CpuTotal) -> Result<bool> {
    // Extracts that were made of sums can have waits without these events.
    if total.wait_ns != Some(0) {
        return Ok(false);
    }
    let sql =
        "SELECT count(*) AS rows FROM topic WHERE topic = 'ready threads' AND NOT is_recorded";
    let missing: Vec<Count> = ask(session, sql)?;
    Ok(missing.iter().any(|count| count.rows > 0))
}

/// Returns the sums without waits and ready times.
const fn without_waits(total: CpuTotal) -> CpuTotal {
    CpuTotal {
        wait_ns: None,
        ready_ns: None,
        ..total
    }
}

/// Returns the numbers to add up over extracts.
// Sums are numbers, so the source is encoded as one: the number of extracts that have it.
fn numbers(
    source: Option<CpuSource>,
    total: CpuTotal,
) -> impl Iterator<Item = (&'static str, i64)> {
    let is = |of| i64::from(source == Some(of));
    let known = [
        ("sampled", Some(is(CpuSource::Samples))),
        ("switched", Some(is(CpuSource::ContextSwitches))),
        ("cpu_ns", Some(total.cpu_ns)),
        ("wait_ns", total.wait_ns),
        ("ready_ns", total.ready_ns),
        ("switches", total.switches),
    ];
    known
        .into_iter()
        .filter_map(|(name, number)| Some((name, number?)))
}

fn source_of(numbers: &Sums) -> Option<CpuSource> {
    let is = |name| numbers.get(name).is_some_and(|number| *number > 0);
    let sampled = is("sampled").then_some(CpuSource::Samples);
    sampled.or_else(|| is("switched").then_some(CpuSource::ContextSwitches))
}

fn total_of(numbers: &Sums) -> CpuTotal {
    // A missing value stays missing: 0 ms of waiting would mean that no thread waited.
    let number = |name| numbers.get(name).copied();
    CpuTotal {
        cpu_ns: number("cpu_ns").unwrap_or_default(),
        wait_ns: number("wait_ns"),
        ready_ns: number("ready_ns"),
        switches: number("switches"),
    }
}

impl Question for CpuRequest {
    const NAME: &'static str = "cpu";
    const SENTENCE: &'static str = "CPU, waiting and ready time of processes or methods";
    const USUAL: &'static [&'static str] = &[
        "methods",
        "stack-tags",
        "top-methods",
        "over-time",
        "stacks",
        "bottom-up",
        "butterfly",
        "metric",
        "cpu",
        "wait",
        "ready",
    ];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "who used the CPU",
        },
        Example {
            words: "--process cmd --methods \"*\" --top-methods 5 slow.etl",
            answer: "the hottest methods of cmd.exe",
        },
        Example {
            words: "--stack-tags \"*virus*\" --wait 10ms.. slow.etl",
            answer: "who waits for antivirus software",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.over_time.is_some() {
            let form = Form::made::<CpuBucket>(self.over_time_sql(), over_time::answer);
            return form.describing(over_time::describe);
        } else if self.asks_trees() {
            Form::made::<TreeRow>(self.stack_sql(&self.tags_of_trees()), trees::answer)
                .describing(trees::describe)
        } else if self.asks_methods() {
            let sql = if self.asks_names() {
                self.method_sql()
            } else {
                self.tag_sql()
            };
            Form::made::<MethodRow>(sql, Self::compute).describing(methods::describe)
        } else {
            Form::made::<CpuRow>(self.process_sql(), Self::compute).describing(processes::describe)
        };
        form.top(self.top)
    }

    fn check(&self) -> std::result::Result<(), OptionError> {
        let (option, problem) = if self.asks_trees() && self.by == By::Method && !self.is_merged {
            (
                "by",
                "call trees are by process, thread or module: --butterfly METHODS shows call trees of methods",
            )
        } else if self.only_drivers() && !self.asks_trees() && !self.asks_methods() {
            (
                "show-module=driver",
                "drivers are modules of methods: add --methods or --by module",
            )
        } else {
            return Ok(());
        };
        Err(OptionError::Value {
            option,
            problem: problem.to_owned(),
        })
    }

    fn check_together(&self, all: &[(&str, &Sums)]) -> Result<()> {
        check_comparable(
            all.iter()
                .map(|(name, numbers)| (source_of(numbers), *name)),
        )
    }

    fn merges(&self) -> bool {
        self.is_merged && !self.asks_trees()
    }

    fn overall(&self, all: &[Sums]) -> Vec<Line> {
        let count = |of| {
            all.iter()
                .filter(|numbers| source_of(numbers) == Some(of))
                .count()
        };
        let sampled = count(CpuSource::Samples);
        let switched = count(CpuSource::ContextSwitches);
        let is_several = all.len() > 1 || self.is_merged;
        if self.asks_trees() || !is_several || !self.shows_sums() {
            return Vec::new();
        }
        if sampled > 0 && switched > 0 {
            return vec![Line::heading(format!(
                "All extracts: not summed up, since CPU is sampled in {sampled} and time on processors from context switches in {switched}"
            ))];
        }
        let source = if switched > 0 {
            CpuSource::ContextSwitches
        } else {
            CpuSource::Samples
        };
        let total = all.iter().fold(CpuTotal::default(), |sum, numbers| {
            sum.plus(total_of(numbers))
        });
        let exclusive = all.iter().filter_map(|numbers| numbers.get("exclusive_ns"));
        let exclusive_ns = exclusive.copied().reduce(i64::saturating_add);
        let line = Line::heading("All extracts: ");
        vec![self.sums_of_rows(line, (Some(source), total), exclusive_ns)]
    }

    fn tagging(&self) -> Tagging<'_> {
        match self.stack_tag_file.as_slice() {
            [] => Tagging::None,
            // Sums are of the whole trace; stacks of a range and of call trees are tagged when they
            // are queried.
            files if self.time.is_unlimited() && !self.asks_trees() => Tagging::Derived(files),
            files => Tagging::Function(files),
        }
    }
}

impl CpuRequest {
    /// Adds the sums of rows to a line. Where times of rows contain those of others, it is
    /// `exclusive CPU 5 ms; rows add up to CPU 9 ms, wait 2 ms, total 11 ms`. ETWAnalyzer prints
    /// the second part, which counts the time of a callee once for each of its callers.
    fn sums_of_rows(
        &self,
        line: Line,
        (source, total): (Option<CpuSource>, CpuTotal),
        exclusive_ns: Option<i64>,
    ) -> Line {
        if !self.has_nested_rows() {
            return sums(line, (source, total), self.sort);
        }
        let line = match exclusive_ns {
            Some(exclusive_ns) => line
                .words("exclusive ")
                .words(cpu_word(source))
                .words(" ")
                .value(Milliseconds, exclusive_ns)
                .words(" ms; "),
            None => line,
        };
        sums(line.words("rows add up to "), (source, total), self.sort)
    }

    /// Returns the answer with processes, or with methods.
    fn compute(&self, session: &Session) -> Result<Answer> {
        if self.asks_waits() {
            check_waits(session)?;
        }
        let answer = if self.asks_methods() {
            methods::answer
        } else {
            processes::answer
        };
        answer(self, session)?.moved(&self.zero, session)
    }
}
