//! Sums of one side, from the dumps.

use etwkit_question::Question;
use etwkit_question::path::WHOLE_PATH;
use etwkit_questions::cpu::{By, CpuRequest, CpuSort};
use etwkit_questions::disk::DiskRequest;
use etwkit_questions::dns::DnsRequest;
use etwkit_questions::file::FileRequest;
use etwkit_questions::hard_fault::{HardFaultRequest, HardFaultRow};
use etwkit_questions::method::MethodAnswer;
use etwkit_questions::pmc::PmcRequest;

use super::key::command_line;
use super::side::Side;
use super::totals::{Sums, Totals, add};
use super::{DiffRequest, DiffTable};
use crate::Result;
use crate::wait::{WaitBy, WaitRequest, WaitSum};

/// Share of the compared time, in per cent; a process that waits for at least this much does little
/// else.
const IDLE_PERCENT: i64 = 90;

/// Levels of folders below the drive that get separate sums.
const FOLDERS: u32 = 3;

/// Name of files without a name, and of flushes.
const NO_PATH: &str = "(files without a name)";

/// Returns the sums of a table of one side.
///
/// # Errors
/// The errors of its dump: nothing of this kind was recorded; a range is requested and the extract
/// has only sums; the query fails.
pub(super) fn sums(table: DiffTable, asked: &DiffRequest, side: &Side) -> Result<Sums> {
    match table {
        DiffTable::Processes => processes(asked, side),
        DiffTable::Modules => methods(asked, side, By::Module),
        DiffTable::Methods => methods(asked, side, By::Method),
        DiffTable::Tags => {
            let answer = code(asked, side, By::Method).tag_answer(&side.session)?;
            Ok(code_sums(answer, side))
        }
        DiffTable::Reasons => waits(asked, side, WaitBy::Reason),
        DiffTable::Readying => waits(asked, side, WaitBy::Readying),
        DiffTable::Disk => disk(asked, side, WHOLE_PATH),
        DiffTable::Folders => disk(asked, side, FOLDERS),
        DiffTable::Files => files(asked, side),
        DiffTable::HardFaults => hard_faults(asked, side),
        DiffTable::Dns => dns(asked, side),
        DiffTable::Counters => counters(asked, side),
        _ => Ok(Sums::new()),
    }
}

/// Returns the request for rows of code.
fn code(asked: &DiffRequest, side: &Side, by: By) -> CpuRequest {
    let processes = asked.processes.clone();
    let time = side.time;
    CpuRequest {
        processes,
        time,
        by,
        include_dll: true,
        sort: CpuSort::Cpu,
        ..CpuRequest::default()
    }
}

fn methods(asked: &DiffRequest, side: &Side, by: By) -> Result<Sums> {
    let answer = code(asked, side, by).method_answer(&side.session)?;
    Ok(code_sums(answer, side))
}

/// Returns `true` if something did more than wait all the time.
fn is_busy(wait_ns: Option<i64>, side: &Side) -> bool {
    let all = side
        .length_ns()
        .saturating_div(100)
        .saturating_mul(IDLE_PERCENT);
    wait_ns.is_none_or(|wait| wait < all)
}

fn processes(asked: &DiffRequest, side: &Side) -> Result<Sums> {
    let processes = asked.processes.clone();
    let time = side.time;
    let answer = CpuRequest {
        processes,
        time,
        ..CpuRequest::default()
    }
    .process_answer(&side.session)?;
    let (from, to) = side.bounds();
    let mut sums = Sums::new();
    for row in answer.rows {
        // A process whose start or end is not in the trace lived up to its edge.
        let start = row.process_start_ns.unwrap_or(from);
        let stop = row.process_stop_ns.unwrap_or(to);
        let lived = stop.clamp(from, to).saturating_sub(start.clamp(from, to));
        let totals = Totals {
            cpu: Some(row.cpu_ns),
            run: row.run_ns,
            wait: row.wait_ns,
            ready: row.ready_ns,
            duration: Some(lived),
            is_whole: row.process_start_ns.is_some_and(|start| start >= from)
                && row.process_stop_ns.is_some_and(|stop| stop <= to),
            count: Some(1),
            is_busy: is_busy(row.wait_ns, side),
            ..Totals::default()
        };
        let of = row
            .command_line
            .as_deref()
            .map(command_line)
            .filter(|line| !line.is_empty());
        add(&mut sums, process_name(row.process), of, totals);
    }
    Ok(sums)
}

fn process_name(name: Option<String>) -> String {
    name.unwrap_or_else(|| "(unknown process)".to_owned())
}

/// Returns the sums of methods, modules or stack tags, by the names of their processes.
fn code_sums(answer: MethodAnswer, side: &Side) -> Sums {
    let mut sums = Sums::new();
    for row in answer.processes.into_iter().flat_map(|group| group.rows) {
        let totals = Totals {
            // Stack tags of a trace without samples have none.
            cpu: row.cpu_source.is_some().then_some(row.cpu_ns),
            wait: row.wait_ns,
            ready: row.ready_ns,
            duration: row.duration_ns,
            depth: row.depth,
            is_busy: is_busy(row.wait_ns, side),
            ..Totals::default()
        };
        add(&mut sums, row.name, Some(process_name(row.process)), totals);
    }
    sums
}

fn waits(asked: &DiffRequest, side: &Side, by: WaitBy) -> Result<Sums> {
    let processes = asked.processes.clone();
    let time = side.time;
    let mut sums = Sums::new();
    for row in (WaitRequest {
        processes,
        time,
        by,
        ..WaitRequest::default()
    })
    .ask(&side.session)?
    {
        let name = match by {
            WaitBy::Reason => row
                .wait_reason
                .clone()
                .unwrap_or_else(|| "(unknown)".to_owned()),
            _ => ended_by(&row),
        };
        let totals = Totals {
            wait: Some(row.wait_ns),
            ready: Some(row.ready_ns),
            count: Some(row.waits),
            is_busy: is_busy(Some(row.wait_ns), side),
            ..Totals::default()
        };
        add(&mut sums, name, Some(process_name(row.process)), totals);
    }
    Ok(sums)
}

/// Returns the thread that ended waits, without the process id, which differs in each run.
fn ended_by(row: &WaitSum) -> String {
    match row.ended_by.as_deref() {
        Some("thread") => process_name(row.readying_process.clone()),
        Some("dpc") => "(DPC)".to_owned(),
        Some("open") => "(still open)".to_owned(),
        _ => "(not recorded)".to_owned(),
    }
}

fn disk(asked: &DiffRequest, side: &Side, level: u32) -> Result<Sums> {
    let processes = asked.processes.clone();
    let time = side.time;
    let answer = DiskRequest {
        processes,
        time,
        level,
        ..DiskRequest::default()
    }
    .ask(&side.session)?;
    let mut sums = Sums::new();
    for row in answer.groups.into_iter().flat_map(|group| group.rows) {
        let count = [row.reads, row.writes, row.flushes]
            .into_iter()
            .flatten()
            .reduce(i64::saturating_add);
        let time = Some(row.total_service_ns);
        let bytes = Some(row.total_bytes);
        let totals = Totals {
            time,
            bytes,
            count,
            ..Totals::default()
        };
        add(
            &mut sums,
            row.path.unwrap_or_else(|| NO_PATH.to_owned()),
            None,
            totals,
        );
    }
    Ok(sums)
}

fn files(asked: &DiffRequest, side: &Side) -> Result<Sums> {
    let processes = asked.processes.clone();
    let time = side.time;
    let request = FileRequest {
        processes,
        time,
        level: WHOLE_PATH,
        ..FileRequest::default()
    };
    let mut sums = Sums::new();
    for row in request
        .ask(&side.session)?
        .groups
        .into_iter()
        .flat_map(|group| group.rows)
    {
        let time = Some(row.total_ns);
        let bytes = Some(row.total_bytes);
        let count = Some(row.total_count);
        let totals = Totals {
            time,
            bytes,
            count,
            ..Totals::default()
        };
        add(
            &mut sums,
            row.path.unwrap_or_else(|| NO_PATH.to_owned()),
            None,
            totals,
        );
    }
    Ok(sums)
}

fn hard_faults(asked: &DiffRequest, side: &Side) -> Result<Sums> {
    let processes = asked.processes.clone();
    let time = side.time;
    let request = HardFaultRequest {
        processes,
        time,
        ..HardFaultRequest::default()
    };
    let mut sums = Sums::new();
    for row in Question::ask::<HardFaultRow>(&request, &side.session)? {
        let time = Some(row.duration_ns);
        let bytes = Some(row.size_bytes);
        let count = Some(row.count);
        let totals = Totals {
            time,
            bytes,
            count,
            ..Totals::default()
        };
        add(
            &mut sums,
            row.path.unwrap_or_else(|| NO_PATH.to_owned()),
            None,
            totals,
        );
    }
    Ok(sums)
}

/// Returns the sums of DNS queries; for a range of the trace those that start in it.
fn dns(asked: &DiffRequest, side: &Side) -> Result<Sums> {
    let processes = asked.processes.clone();
    let range = side.time;
    let request = DnsRequest {
        processes,
        range,
        ..DnsRequest::default()
    };
    let mut sums = Sums::new();
    for row in request.ask(&side.session)?.rows {
        let time = Some(row.total_ns);
        let count = Some(row.count);
        let timeouts = Some(row.timed_out);
        add(
            &mut sums,
            row.name,
            None,
            Totals {
                time,
                count,
                timeouts,
                ..Totals::default()
            },
        );
    }
    Ok(sums)
}

fn counters(asked: &DiffRequest, side: &Side) -> Result<Sums> {
    let processes = asked.processes.clone();
    let time = side.time;
    let mut sums = Sums::new();
    let answer = PmcRequest {
        processes,
        time,
        ..PmcRequest::default()
    }
    .ask(&side.session)?;
    let rows: Vec<_> = answer.into_iter().flat_map(|group| group.rows).collect();
    // Counted values are exact, sampled ones an estimate of the same: adding both would count it
    // twice.
    let is_counted = rows.iter().any(|row| row.kind == "counted");
    for row in rows
        .into_iter()
        .filter(|row| !is_counted || row.kind == "counted")
    {
        let of = row
            .command_line
            .as_deref()
            .map(command_line)
            .filter(|line| !line.is_empty());
        let instructions = row.instructions;
        let cycles = row.cycles;
        add(
            &mut sums,
            process_name(row.process),
            of,
            Totals {
                instructions,
                cycles,
                ..Totals::default()
            },
        );
    }
    Ok(sums)
}
