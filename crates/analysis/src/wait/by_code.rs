//! Sums by method or module: each wait counts for every frame of its stack, and a join in SQL
//! would have about ten times as many rows as there are waits. The numbers equal the ones of the SQL
//! that the request shows; a test compares them.
//!
//! The waits are read in windows of time, so that memory does not depend on their number: a union is
//! the sum of the unions of the windows, and every other sum counts a wait in the window in which it
//! ends.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard};

use etwkit_base::index::{Idx, IndexVec};
use etwkit_base::intervals::SortedUnion;
use etwkit_base::lock::lock;
use etwkit_base::ordered::{Workers, processors};
use etwkit_question::{FromRows, ask};
use etwkit_sql::Session;
use etwkit_sql::frames::TraceFrames;

use super::window::{Window, windows};
use super::{WaitBy, WaitRequest, WaitSort, WaitSum};
use crate::Result;

/// Waits that are held at once: about 150 MB.
pub(super) const HELD_WAITS: i64 = 1_000_000;

etwkit_question::declare! {
    /// A wait with a stack, clipped to the part of the trace.
    row Wait {
        process_key: Option<i64> = "Process.",
        thread_key: i64 = "Thread.",
        stack_id: i64 = "Stack of the switch-in.",
        in_ns: Option<i64> = "Time of the switch-in; missing for an open wait.",
        wait_start: Option<i64> = "Start of the wait.",
        wait_end: Option<i64> = "End of the wait.",
        ready_start: Option<i64> = "Start of the ready time.",
        ready_end: Option<i64> = "End of the ready time.",
        first_ns: Option<i64> = "Start of the recorded time.",
        open_ns: Option<i64> = "Length of an open wait.",
        is_open_wait: bool = "Whether it was open.",
        is_unknown: bool = "Whether no event separates it from the ready time.",
        is_preemption: bool = "Whether it is the switch-in of a preempted thread.",
    }

    /// A process with what rows say about it.
    row Process {
        process_key: Option<i64> = "Its key.",
        pid: Option<i64> = "Process id.",
        name: Option<String> = "File name of its executable.",
        start_ns: Option<i64> = "Start, if in the trace.",
        stop_ns: Option<i64> = "End, if in the trace.",
        command_line: Option<String> = "Command line.",
    }
}

impl Wait {
    /// Returns the interval from `start` to `end`, if it is one.
    fn interval(start: Option<i64>, end: Option<i64>) -> Option<(i64, i64)> {
        start.zip(end).filter(|(start, end)| start <= end)
    }

    fn waiting(&self) -> Option<(i64, i64)> {
        Self::interval(self.wait_start, self.wait_end)
    }

    fn ready(&self) -> Option<(i64, i64)> {
        Self::interval(self.ready_start, self.ready_end)
    }
}

/// Returns the sums of a request by method or module, before its top rows are chosen. Windows hold
/// about `held` waits.
pub(super) fn sums(request: &WaitRequest, session: &Session, held: i64) -> Result<Vec<WaitSum>> {
    let frames = session.frames()?;
    let Some(trace) = frames.trace(0) else {
        return Ok(Vec::new());
    };
    let code = Code::new(trace, request.by == WaitBy::Method);
    let mut processes: HashMap<Option<i64>, OfProcess> = HashMap::new();
    // By windows of time, so that memory does not grow with the trace.
    for window in windows(request.time, session, held)? {
        let mut waits: HashMap<Option<i64>, Vec<Wait>> = HashMap::new();
        for batch in session.sql(&request.stack_sql(window))? {
            for wait in Wait::read(&batch?)? {
                waits.entry(wait.process_key).or_default().push(wait);
            }
        }
        let mut jobs: Vec<Job> = Vec::new();
        for (process_key, waits) in waits {
            // The first window of a process has no sums before it.
            // Taken out and put back: the work on a process moves to another thread.
            let known = processes.remove(&process_key).unwrap_or_default();
            jobs.push(Job::new(process_key, known, waits));
        }
        processes.extend(Job::all(jobs, &code, window));
    }
    let mut rows: Vec<WaitSum> = processes
        .into_iter()
        .flat_map(|(process_key, process)| process.rows(process_key, &code))
        .collect();
    describe(session, &mut rows)?;
    let fits = |row: &WaitSum| {
        request.wait.contains(Some(row.wait_ns))
            && request.ready.contains(Some(row.ready_ns))
            && request.count.contains(Some(row.waits))
            && request.max.contains(row.wait_max_ns)
    };
    rows.retain(fits);
    rows.iter_mut()
        .for_each(|row| row.sort_value = sort_value(request.sort, row) as f64);
    // Sorted here and not in SQL, since the sums are made here.
    rows.sort_by(|a, b| {
        a.sort_value
            .total_cmp(&b.sort_value)
            .then_with(|| order(a).cmp(&order(b)))
    });
    Ok(rows)
}

/// Returns the sort key of rows with equal values; missing texts come last, as in SQL.
fn order(row: &WaitSum) -> impl Ord + '_ {
    let text = |text: &'_ Option<String>| (text.is_none(), text.clone());
    (
        row.wait_sum_ns,
        row.process_key.is_none(),
        row.process_key,
        text(&row.module),
        text(&row.method),
    )
}

fn sort_value(sort: WaitSort, row: &WaitSum) -> i64 {
    let value = match sort {
        WaitSort::Wait => Some(row.wait_ns),
        WaitSort::WaitSum => Some(row.wait_sum_ns),
        WaitSort::WaitMax => row.wait_max_ns,
        WaitSort::WaitMean => row.wait_mean_ns,
        WaitSort::Ready => Some(row.ready_ns),
        WaitSort::ReadySum => Some(row.ready_sum_ns),
        WaitSort::ReadyMax => row.ready_max_ns,
        WaitSort::Count => Some(row.waits),
        WaitSort::Open => row.open_max_ns,
        WaitSort::Time => row.first_ns,
    };
    // Without waits of that kind, there is no time of them.
    value.unwrap_or(0)
}

fn describe(session: &Session, rows: &mut [WaitSum]) -> Result<()> {
    let sql = "SELECT process_key, pid, name, start_ns, stop_ns, command_line FROM process";
    let processes: Vec<Process> = ask(session, sql)?;
    let by_key: HashMap<i64, Process> = processes
        .into_iter()
        .filter_map(|process| Some((process.process_key?, process)))
        .collect();
    // A process that no event described has only its key.
    for row in rows {
        let Some(process) = row.process_key.and_then(|key| by_key.get(&key)) else {
            continue;
        };
        row.pid = process.pid;
        row.process = process.name.clone();
        row.process_start_ns = process.start_ns;
        row.process_stop_ns = process.stop_ns;
        row.command_line = process.command_line.clone();
    }
    Ok(())
}

/// Module and method.
type Name = (Option<String>, Option<String>);

/// Names of the frames of stacks.
struct Code {
    /// All different names.
    names: IndexVec<Name>,
    /// The names in each stack. A recursive method has several frames in a stack, but waits only
    /// once.
    of_stack: Vec<Box<[Idx<Name>]>>,
}

impl Code {
    fn new(trace: &TraceFrames, with_method: bool) -> Self {
        let mut names: IndexVec<Name> = IndexVec::new();
        // Names are numbered once, so that sums are found by number and not by text.
        let mut known = HashMap::new();
        let mut number = |frame| {
            let name = name(trace, frame, with_method);
            *known
                .entry(name)
                .or_insert_with_key(|name: &Name| names.push(name.clone()))
        };
        let of_frame: Vec<Idx<Name>> = (0..).take(trace.frames()).map(&mut number).collect();
        let of_stack = |stack| {
            let mut names: Vec<Idx<Name>> = trace
                .stack(stack)
                .filter_map(|frame| of_frame.get(usize::try_from(frame).ok()?).copied())
                // A method counts once for a stack, even if it calls itself.
                .collect();
            names.sort_unstable();
            names.dedup();
            names.into_boxed_slice()
        };
        Self {
            of_stack: (0..).take(trace.stacks()).map(of_stack).collect(),
            names,
        }
    }
}

/// Returns the name of a frame. Code without a name is `+0x1a2b`: the offset in its module, or its
/// address.
fn name(trace: &TraceFrames, frame: i32, with_method: bool) -> Name {
    let module = trace.module(frame);
    if !with_method {
        return (module.map(str::to_owned), None);
    }
    let method = trace.method(frame).map_or_else(
        || {
            let text = trace.text(frame);
            // The module has a column of its own.
            match module {
                Some(module) => text.strip_prefix(module).unwrap_or(&text).to_owned(),
                None => format!("+{}", text.trim_start_matches("?!")),
            }
        },
        str::to_owned,
    );
    (module.map(str::to_owned), Some(method))
}

/// A row while waits are added.
struct Sum {
    name: Idx<Name>,
    row: WaitSum,
    /// The thread that was added last.
    last_thread: i64,
    /// Times in which a thread waited.
    waiting: SortedUnion,
    /// Times in which a thread was ready.
    ready: SortedUnion,
}

impl Sum {
    fn new(name: Idx<Name>) -> Self {
        Self {
            name,
            row: WaitSum::default(),
            // Less than any key, so that the first thread counts.
            last_thread: i64::MIN,
            waiting: SortedUnion::default(),
            ready: SortedUnion::default(),
        }
    }
}

/// The sums of a process.
#[derive(Default)]
struct OfProcess {
    sums: IndexVec<Sum>,
    /// Threads of each sum. A thread has waits in many windows, and counts once.
    threads: HashSet<(Idx<Sum>, i64)>,
}

impl OfProcess {
    /// Adds the waits of a window, whose unions begin where those of the window before end.
    fn add(&mut self, waits: &mut [Wait], code: &Code, window: Window) {
        let mut finder = Finder::new(self, code);
        // The same waits are sorted in three orders instead of keeping a set for each sum: then a
        // sum needs to remember only the last thread, and the end so far.
        waits.sort_by_key(|wait| wait.thread_key);
        for wait in waits.iter() {
            // A wait counts in the window in which it ends, so that it counts once.
            let is_end = window.holds(wait.in_ns);
            finder.each(self, wait, |number, sum, threads| {
                if sum.last_thread != wait.thread_key && threads.insert((number, wait.thread_key)) {
                    sum.row.threads += 1;
                }
                sum.last_thread = wait.thread_key;
                if is_end {
                    add(&mut sum.row, wait);
                }
            });
        }
        waits.sort_by_key(|wait| wait.wait_start);
        for wait in waits.iter() {
            // Clipped to the window: unions of windows add up to the union of the trace.
            let part = wait.waiting().and_then(|interval| window.part(interval));
            if let Some((start, end)) = part {
                finder.each(self, wait, |_, sum, _| sum.waiting.add(start, end));
            }
        }
        waits.sort_by_key(|wait| wait.ready_start);
        for wait in waits.iter() {
            let part = wait.ready().and_then(|interval| window.part(interval));
            if let Some((start, end)) = part {
                finder.each(self, wait, |_, sum, _| sum.ready.add(start, end));
            }
        }
    }

    /// Returns the rows of the process, in the order in which they were found.
    fn rows(self, process_key: Option<i64>, code: &Code) -> impl Iterator<Item = WaitSum> {
        self.sums.into_iter().map(move |sum| {
            let (module, method) = code.names[sum.name].clone();
            WaitSum {
                process_key,
                module,
                method,
                wait_ns: sum.waiting.length(),
                ready_ns: sum.ready.length(),
                // Rounded down, as the SQL of the other groupings does.
                wait_mean_ns: (sum.row.waits > 0).then(|| sum.row.wait_sum_ns / sum.row.waits),
                ..sum.row
            }
        })
    }
}

/// Finds the sums of a process by their names.
struct Finder<'c> {
    code: &'c Code,
    /// The sum of each name.
    of_name: IndexVec<Name, Option<Idx<Sum>>>,
}

impl<'c> Finder<'c> {
    fn new(process: &OfProcess, code: &'c Code) -> Self {
        let mut of_name = IndexVec::filled(None, &code.names);
        for (number, sum) in process.sums.enumerate() {
            of_name[sum.name] = Some(number);
        }
        Self { code, of_name }
    }

    /// Calls `take` with the sum of each name of the stack of a wait.
    fn each(
        &mut self,
        process: &mut OfProcess,
        wait: &Wait,
        mut take: impl FnMut(Idx<Sum>, &mut Sum, &mut HashSet<(Idx<Sum>, i64)>),
    ) {
        let stack = usize::try_from(wait.stack_id).ok();
        let names = stack.and_then(|stack| self.code.of_stack.get(stack));
        for name in names.into_iter().flatten() {
            // Made when the first stack has that name.
            let number =
                *self.of_name[*name].get_or_insert_with(|| process.sums.push(Sum::new(*name)));
            take(number, &mut process.sums[number], &mut process.threads);
        }
    }
}

/// The waits of a process in a window, which are added on a thread of their own.
struct Job {
    process_key: Option<i64>,
    work: Mutex<(OfProcess, Vec<Wait>)>,
}

impl Job {
    fn new(process_key: Option<i64>, known: OfProcess, waits: Vec<Wait>) -> Self {
        Self {
            process_key,
            work: Mutex::new((known, waits)),
        }
    }

    /// Adds the waits of all processes, and returns their sums.
    fn all(mut jobs: Vec<Self>, code: &Code, window: Window) -> Vec<(Option<i64>, OfProcess)> {
        // The largest first, so that no thread begins it when the others are done.
        jobs.sort_by_cached_key(|job| std::cmp::Reverse(job.lock().1.len()));
        let workers = Workers {
            threads: processors(),
            jobs_ahead: jobs.len(),
        };
        let add = |job: &Self| {
            let mut work = job.lock();
            let (process, waits) = &mut *work;
            process.add(waits, code, window);
            // Freed as soon as they are added, while other processes go on.
            *waits = Vec::new();
        };
        let done = workers.map(&jobs, add, |_, ()| Ok::<(), Infallible>(()));
        let Ok(()) = done;
        jobs.into_iter()
            .map(|job| (job.process_key, std::mem::take(&mut job.lock().0)))
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, (OfProcess, Vec<Wait>)> {
        lock(&self.work)
    }
}

/// Adds a wait to a row, except for unions and threads.
fn add(row: &mut WaitSum, wait: &Wait) {
    let longer = |max: Option<i64>, length: i64| Some(max.map_or(length, |max| max.max(length)));
    if let Some((start, end)) = wait.waiting() {
        row.waits += 1;
        let length = end.saturating_sub(start);
        row.wait_sum_ns = row.wait_sum_ns.saturating_add(length);
        row.wait_max_ns = longer(row.wait_max_ns, length);
    }
    if let Some((start, end)) = wait.ready() {
        let length = end.saturating_sub(start);
        row.ready_sum_ns = row.ready_sum_ns.saturating_add(length);
        row.ready_max_ns = longer(row.ready_max_ns, length);
    }
    row.preemptions += i64::from(wait.is_preemption);
    row.unknown += i64::from(wait.is_unknown);
    if wait.is_open_wait {
        row.open_waits += 1;
        row.open_max_ns = wait
            .open_ns
            .map_or(row.open_max_ns, |open| longer(row.open_max_ns, open));
    }
    if let Some(first) = wait.first_ns {
        row.first_ns = Some(row.first_ns.map_or(first, |known| known.min(first)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_longer_than_a_number_holds_is_cut() {
        let wait = Wait {
            wait_start: Some(i64::MIN),
            wait_end: Some(i64::MAX),
            ..Wait::default()
        };
        let mut row = WaitSum::default();
        add(&mut row, &wait);
        assert_eq!(
            (row.waits, row.wait_sum_ns, row.wait_max_ns),
            (1, i64::MAX, Some(i64::MAX))
        );
    }
}
