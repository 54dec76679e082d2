//! Dumps: every number on rows that were made by hand.

mod between;
mod collections;
mod core_kinds;
mod cores;
mod covered;
mod cpu;
mod delays;
mod disk;
mod dns;
mod dpc;
mod exception;
mod file;
mod heap;
mod lbr;
mod memory;
mod methods;
mod metrics;
mod net;
mod object_ref;
mod overview;
mod pmc;
mod pool;
mod process;
mod recording;
mod registry;
mod schemas;
mod sessions;
mod stacks;
mod starts;
mod stats;
mod tcp;
mod thread_pool;
mod trace_log;
mod win32k;
mod zero;

use etwkit_questions::cpu::{By, CpuRequest, CpuSort};
use etwkit_trace::table::{Process, Trace};

/// One second in nanoseconds.
const S: i64 = 1_000_000_000;

/// One millisecond in nanoseconds.
const MS: i64 = 1_000_000;

fn process(process_key: i32, pid: i32, name: &str) -> Process {
    Process {
        process_key,
        pid,
        name: Some(name.into()),
        ..Process::default()
    }
}

/// A request for methods by their CPU, which has that of their callees.
fn methods_by_cpu() -> CpuRequest {
    CpuRequest {
        by: By::Method,
        sort: CpuSort::Cpu,
        ..CpuRequest::default()
    }
}

/// A recording of ten seconds.
fn trace() -> Trace {
    Trace {
        file_name: "office.etl".into(),
        computer: Some("DESK".into()),
        os_version: Some("10.0.19041".into()),
        start_utc: "2024-05-01T10:00:00.1234567Z".into(),
        start_filetime: 116_444_736_000_000_000 + 17_145_576_001_234_567,
        time_zone_bias_minutes: Some(-120),
        boot_filetime: Some(116_444_736_000_000_000 + 17_145_575_001_234_567),
        duration_ns: 10 * S,
        clock: "qpc".into(),
        processors: 4,
        memory_bytes: Some(8 << 30),
        ..Trace::default()
    }
}
