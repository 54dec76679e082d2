//! Sums by method or module, in one pass over the waits: each wait counts for every frame of its
//! stack, and a join in SQL would have about ten times as many rows as there are waits. The numbers
//! equal the ones of the SQL that the request shows; a test compares them.

use std::collections::HashMap;

use etwkit_query::Session;
use etwkit_query::dump::{Error, FromRows, ask};
use etwkit_query::frames::TraceFrames;

use super::{WaitBy, WaitRequest, WaitSort, WaitSum};
use crate::Result;

/// Maximum number of waits that are held at once: about 1 GB.
const MAX_WAITS: usize = 12_000_000;

etwkit_query::declare! {
    /// A wait with a stack, clipped to the part of the trace.
    row Wait {
        process_key: Option<i64> = "Process.",
        thread_key: i64 = "Thread.",
        stack_id: i64 = "Stack of the switch-in.",
        wait_start: Option<i64> = "Start of the wait.",
        wait_end: Option<i64> = "End of the wait.",
        ready_start: Option<i64> = "Start of the ready time.",
        ready_end: Option<i64> = "End of the ready time.",
        first_ns: Option<i64> = "Start of what was recorded.",
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

    /// Returns the sort key of the process; a missing key comes last.
    fn process(&self) -> (bool, Option<i64>) {
        (self.process_key.is_none(), self.process_key)
    }
}

/// Returns the sums of a request by method or module, before its top rows are chosen.
pub(super) fn sums(request: &WaitRequest, session: &Session) -> Result<Vec<WaitSum>> {
    let mut waits = Vec::new();
    for batch in session.sql(&request.stack_sql())? {
        waits.extend(Wait::read(&batch?)?);
        if waits.len() > MAX_WAITS {
            let message = format!("more than {MAX_WAITS} waits have stacks");
            return Err(Error::TooWide {
                message,
                how: "ask for a part of the trace with --range",
            });
        }
    }
    let frames = session.frames()?;
    let Some(trace) = frames.trace(0) else {
        return Ok(Vec::new());
    };
    let code = Code::new(trace, request.by == WaitBy::Method);
    let mut rows = Sums::new(trace, &code).of(&mut waits);
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
    value.unwrap_or(0)
}

fn describe(session: &Session, rows: &mut [WaitSum]) -> Result<()> {
    let sql = "SELECT process_key, pid, name, start_ns, stop_ns, command_line FROM process";
    let processes: Vec<Process> = ask(session, sql)?;
    let by_key: HashMap<i64, Process> = processes
        .into_iter()
        .filter_map(|process| Some((process.process_key?, process)))
        .collect();
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

/// Names of frames: all different names, and the index of the name of each frame.
struct Code {
    names: Vec<Name>,
    of_frame: Vec<usize>,
}

impl Code {
    fn new(trace: &TraceFrames, with_method: bool) -> Self {
        let (mut names, mut known) = (Vec::new(), HashMap::new());
        let number = |frame| {
            let name = name(trace, frame, with_method);
            *known.entry(name).or_insert_with_key(|name: &Name| {
                names.push(name.clone());
                names.len() - 1
            })
        };
        let of_frame = (0..).take(trace.frames()).map(number).collect();
        Self { names, of_frame }
    }

    fn of(&self, frame: i32) -> Option<usize> {
        self.of_frame.get(usize::try_from(frame).ok()?).copied()
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
            match module {
                Some(module) => text.strip_prefix(module).unwrap_or(&text).to_owned(),
                None => format!("+{}", text.trim_start_matches("?!")),
            }
        },
        str::to_owned,
    );
    (module.map(str::to_owned), Some(method))
}

/// The state of a row while waits are added.
struct Mark {
    /// Index of its name.
    name: usize,
    /// The thread that was added last.
    thread_key: i64,
    /// End of the waits that are counted.
    waited: i64,
    /// End of the ready times that are counted.
    ready: i64,
}

/// Adds up waits for each name in their stacks.
struct Sums<'a> {
    trace: &'a TraceFrames,
    code: &'a Code,
    rows: Vec<WaitSum>,
    /// The state of each row.
    marks: Vec<Mark>,
    /// The row of each name in the current process.
    row_of: Vec<Option<usize>>,
    /// The wait that had each name last, so that it counts once.
    seen: Vec<usize>,
}

impl<'a> Sums<'a> {
    fn new(trace: &'a TraceFrames, code: &'a Code) -> Self {
        let names = code.names.len();
        Self {
            trace,
            code,
            rows: Vec::new(),
            marks: Vec::new(),
            row_of: vec![None; names],
            seen: vec![0; names],
        }
    }

    /// Returns rows by process and name. Unions need the waits in the order of their starts,
    /// counting threads needs them in the order of threads.
    fn of(mut self, waits: &mut [Wait]) -> Vec<WaitSum> {
        // The same waits are sorted in three orders instead of keeping a set for each row: then a
        // row needs to remember only the last thread, and the end so far.
        waits.sort_by_key(|wait| (wait.process(), wait.thread_key));
        let mut firsts: HashMap<(bool, Option<i64>), usize> = HashMap::new();
        self.each(waits, &mut firsts, add);
        waits.sort_by_key(|wait| (wait.process(), wait.wait_start));
        self.each(waits, &mut firsts, |row, mark, wait| {
            join(&mut row.wait_ns, &mut mark.waited, wait.waiting());
        });
        waits.sort_by_key(|wait| (wait.process(), wait.ready_start));
        self.each(waits, &mut firsts, |row, mark, wait| {
            join(&mut row.ready_ns, &mut mark.ready, wait.ready());
        });
        for row in &mut self.rows {
            row.wait_mean_ns = (row.waits > 0).then(|| row.wait_sum_ns / row.waits);
        }
        self.rows
    }

    /// Calls `take` with each wait for each name of its stack. `firsts` holds the first row of each
    /// process; its rows are adjacent.
    fn each(
        &mut self,
        waits: &[Wait],
        firsts: &mut HashMap<(bool, Option<i64>), usize>,
        take: impl Fn(&mut WaitSum, &mut Mark, &Wait),
    ) {
        self.seen.fill(0);
        // From 1 on, since 0 means that no wait has had the name yet.
        let mut numbers = 1..;
        for of_process in waits.chunk_by(|a, b| a.process() == b.process()) {
            let Some(process) = of_process.first() else {
                continue;
            };
            self.begin(
                *firsts.entry(process.process()).or_insert(self.rows.len()),
                process.process_key,
            );
            for wait in of_process {
                let Some(number) = numbers.next() else { return };
                let Ok(stack) = i32::try_from(wait.stack_id) else {
                    continue;
                };
                for frame in self.trace.stack(stack) {
                    let Some(name) = self.code.of(frame) else {
                        continue;
                    };
                    let Some(seen) = self.seen.get_mut(name) else {
                        continue;
                    };
                    // A recursive method has several frames in a stack, but waits only once.
                    if std::mem::replace(seen, number) == number {
                        continue;
                    }
                    let row = self.row(name, process.process_key);
                    if let Some((row, mark)) = self.rows.get_mut(row).zip(self.marks.get_mut(row)) {
                        take(row, mark, wait);
                    }
                }
            }
        }
    }

    /// Finds the rows of a process, which are adjacent from the first one on.
    fn begin(&mut self, first: usize, process_key: Option<i64>) {
        // Names are shared by all processes, but rows are not.
        self.row_of.fill(None);
        let of_process = self.rows.iter().zip(&self.marks).enumerate().skip(first);
        for (number, (_, mark)) in
            of_process.take_while(|(_, (row, _))| row.process_key == process_key)
        {
            if let Some(row) = self.row_of.get_mut(mark.name) {
                *row = Some(number);
            }
        }
    }

    fn row(&mut self, name: usize, process_key: Option<i64>) -> usize {
        if let Some(row) = self.row_of.get(name).copied().flatten() {
            return row;
        }
        let (module, method) = self.code.names.get(name).cloned().unwrap_or_default();
        self.rows.push(WaitSum {
            process_key,
            module,
            method,
            ..WaitSum::default()
        });
        // Less than any key or time, so that the first wait always counts in full.
        self.marks.push(Mark {
            name,
            thread_key: i64::MIN,
            waited: i64::MIN,
            ready: i64::MIN,
        });
        let row = self.rows.len() - 1;
        if let Some(known) = self.row_of.get_mut(name) {
            *known = Some(row);
        }
        row
    }
}

/// Adds a wait to a row, except for the unions.
fn add(row: &mut WaitSum, mark: &mut Mark, wait: &Wait) {
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
    if mark.thread_key != wait.thread_key {
        (mark.thread_key, row.threads) = (wait.thread_key, row.threads + 1);
    }
}

/// Adds the part of an interval after `until`, the end of all intervals before it.
fn join(sum: &mut i64, until: &mut i64, interval: Option<(i64, i64)>) {
    let Some((start, end)) = interval else { return };
    *sum = sum.saturating_add(end.saturating_sub(start.max(*until)).max(0));
    *until = end.max(*until);
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
        let mut mark = Mark {
            name: 0,
            thread_key: i64::MIN,
            waited: i64::MIN,
            ready: i64::MIN,
        };
        let mut row = WaitSum::default();
        add(&mut row, &mut mark, &wait);
        assert_eq!(
            (row.waits, row.wait_sum_ns, row.wait_max_ns),
            (1, i64::MAX, Some(i64::MAX))
        );
    }
}
