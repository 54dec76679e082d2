//! What a trace is about, on one screen: machine, processes, modules, methods, files, health.
//!
//! The numbers are those of the derived tables, which the other dumps ask, too.

use super::cpu::{CpuAnswer, CpuRequest, CpuRow};
use super::disk::{DiskRequest, DiskRow, DiskSort};
use super::path::WHOLE_PATH;
use super::{Result, ask};
use crate::Session;

rows! {
    /// The recording and its machine.
    pub struct Recording {
        /// File name of the trace.
        file_name: String,
        /// Computer.
        computer: Option<String>,
        /// Windows edition.
        os_name: Option<String>,
        /// Windows version.
        os_version: Option<String>,
        /// Processors.
        processors: i64,
        /// Speed of the processors in MHz.
        cpu_mhz: Option<i64>,
        /// Memory.
        memory_bytes: Option<i64>,
        /// Start, UTC.
        start_utc: String,
        /// Length of the recording.
        duration_ns: i64,
        /// Begin of the part that was extracted; missing if it was all.
        range_start_ns: Option<i64>,
        /// End of that part.
        range_end_ns: Option<i64>,
        /// Events.
        events: i64,
        /// Whether context switches were recorded.
        has_switches: bool,
        /// Whether CPU was sampled.
        has_samples: bool,
        /// Whether DNS queries were recorded.
        has_dns: bool,
        /// Whether TCP connections were recorded.
        has_tcp: bool,
        /// Whether system calls failed.
        has_failed_syscalls: bool,
        /// Whether handles were left open.
        has_leaks: bool,
        /// Whether virtual memory was not given back.
        has_outstanding_memory: bool,
    }

    /// A module, over all processes.
    pub struct ModuleShare {
        /// `module`, `dotnet` for methods of .NET that were compiled at run time and lie in no module, or `unknown` for addresses in none.
        kind: String,
        /// File name; missing for code that lies in none.
        module: Option<String>,
        /// Its path: files of one name in several folders are several modules.
        module_path: Option<String>,
        /// Sampled CPU with its code innermost.
        exclusive_ns: i64,
    }

    /// A method of a process.
    pub struct MethodShare {
        /// File name of its executable.
        process: Option<String>,
        /// Process id.
        pid: Option<i64>,
        /// File name of the module.
        module: Option<String>,
        /// Function, or offset in the module.
        method: String,
        /// Sampled CPU with the method innermost.
        exclusive_ns: i64,
        /// Sampled CPU with the method in the stack.
        cpu_ns: i64,
        /// Union of the waits of stacks with the method.
        wait_ns: Option<i64>,
    }

    /// A dump with something to show.
    struct Answering {
        /// Its name.
        dump: String,
    }

    /// A kind of information that was recorded.
    pub struct TopicEvents {
        /// What was recorded.
        topic: String,
        /// Its events; missing where that is not known.
        events: Option<i64>,
    }

    /// A provider.
    pub struct ProviderEvents {
        /// Name, or GUID.
        provider: String,
        /// Events that have no table of their own.
        events: i64,
    }

    /// How much there is of something.
    pub struct Content {
        /// What is counted.
        what: String,
        /// How many of it.
        count: i64,
        /// Something else about it, 0 if there is none.
        more: i64,
        /// What that is; empty if there is nothing to say.
        of: String,
    }

    /// What a reader of the numbers should know.
    pub struct Note {
        /// `error`, `warning` or `info`.
        severity: String,
        /// How often.
        count: i64,
        /// The first place.
        position: Option<String>,
        /// The sentence.
        message: String,
    }
}

/// The largest of everything, largest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overview {
    /// The recording.
    pub recording: Recording,
    /// Processes by CPU.
    pub processes: Vec<CpuRow>,
    /// CPU of all processes.
    pub cpu_ns: i64,
    /// Modules by CPU of their own.
    pub modules: Vec<ModuleShare>,
    /// Methods by CPU of their own.
    pub methods: Vec<MethodShare>,
    /// Files by service time of the disk.
    pub files: Vec<DiskRow>,
    /// Errors and warnings.
    pub notes: Vec<Note>,
    /// Which of the smaller dumps have something to show.
    pub dumps: Vec<String>,
    /// What there is, where no CPU was recorded.
    pub contents: Option<Contents>,
}

/// What a trace without CPU samples and context switches holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contents {
    /// What was recorded.
    pub topics: Vec<TopicEvents>,
    /// How much there is.
    pub counts: Vec<Content>,
    /// Providers with most events.
    pub providers: Vec<ProviderEvents>,
    /// How many providers there are.
    pub provider_count: usize,
}

const TOPICS: &str = "SELECT topic, events FROM topic WHERE is_recorded";

const COUNTS: &str = "SELECT what, count, coalesce(more, 0) AS more, of FROM (
SELECT 1 AS at, 'processes' AS what, count(*) AS count, count(start_ns) AS more, 'started in the trace' AS of
  FROM process WHERE pid <> 0
UNION ALL SELECT 2, 'threads', count(*), count(start_ns), 'started in the trace' FROM thread
UNION ALL SELECT 3, 'modules', count(*), count(DISTINCT path), 'different files' FROM module
UNION ALL SELECT 4, 'network transfers', count(*), sum(size_bytes), 'bytes' FROM net_io
UNION ALL SELECT 5, 'TCP connections', count(*), NULL, '' FROM tcp_connection
UNION ALL SELECT 6, 'DNS queries', count(*), count(DISTINCT lower(name)), 'names' FROM dns_query
UNION ALL SELECT 7, '.NET collections', count(*), sum(suspended_ns) / 1000, 'us in which programs stood still'
  FROM gc
UNION ALL SELECT 8, '.NET methods compiled', count(*), NULL, '' FROM jit
UNION ALL SELECT 9, '.NET exceptions', count(*), count(DISTINCT exception_type), 'types' FROM exception
UNION ALL SELECT 10, 'operations on files', sum(count), count(DISTINCT path), 'files' FROM file_file
UNION ALL SELECT 11, 'hard page faults', count(*), sum(size_bytes), 'bytes' FROM hard_fault
UNION ALL SELECT 12, 'marks', count(*), NULL, '' FROM mark
UNION ALL SELECT 13, 'other events', count(*), count(DISTINCT provider_guid), 'providers' FROM generic_event
) WHERE count > 0 ORDER BY at";

const PROVIDERS: &str =
    "SELECT coalesce(provider, provider_guid) AS provider, count(*) AS events FROM generic_event
GROUP BY 1 ORDER BY 2 DESC, 1";

impl Contents {
    fn ask(session: &Session, top: usize) -> Result<Self> {
        let mut providers: Vec<ProviderEvents> = ask(session, PROVIDERS)?;
        let provider_count = providers.len();
        providers.truncate(top);
        Ok(Self { topics: ask(session, TOPICS)?, counts: ask(session, COUNTS)?, providers, provider_count })
    }
}

/// Dumps whose tables have rows.
const DUMPS: &str = "SELECT dump FROM (
SELECT 1 AS at, 'exception' AS dump, count(*) AS n FROM exception
UNION ALL SELECT 2, 'thread-pool', count(*) FROM thread_pool WHERE thread_pool_reason_name(reason) = 'Starvation'
UNION ALL SELECT 3, 'tracelog', count(*) FROM generic_event WHERE described_by IN ('tracelogging', 'eventsource')
UNION ALL SELECT 4, 'memory', count(*) FROM memory_sample
UNION ALL SELECT 5, 'power', count(*) FROM power_setting
UNION ALL SELECT 6, 'mark', count(*) FROM mark
UNION ALL SELECT 7, 'user-lock', count(*) FROM user_lock_process
UNION ALL SELECT 8, 'gdi-user', count(*) FROM gdi_user_type
UNION ALL SELECT 9, 'ui-delay', count(*) FROM ui_delay
UNION ALL SELECT 10, 'focus', count(*) FROM focus_change
UNION ALL SELECT 11, 'registry', count(*) FROM registry_key
UNION ALL SELECT 12, 'standby', count(*) FROM standby
) WHERE n > 0 ORDER BY at";

/// CPU of each module, by path whatever its case, since Windows does not tell cases of paths apart. Only code that .NET compiled at run
/// time has a name without a file: names of native functions come from the symbols of a module.
const MODULES: &str = "SELECT kind, min(module) AS module, min(module_path) AS module_path, sum(exclusive_ns) AS exclusive_ns
FROM (
  SELECT module, module_path, exclusive_ns,
    CASE WHEN module IS NOT NULL THEN 'module' WHEN starts_with(method, '+') OR starts_with(method, '0x') THEN 'unknown' ELSE 'dotnet' END AS kind
  FROM cpu_method
) m
GROUP BY kind, lower(coalesce(module_path, module))
HAVING sum(exclusive_ns) > 0
ORDER BY exclusive_ns DESC, kind, module_path, module";

const RECORDING: &str = "SELECT file_name, computer, os_name, os_version, processors, cpu_mhz, memory_bytes, start_utc, duration_ns, range_start_ns, range_end_ns, events,
       (SELECT count(switches) FROM cpu_process) + (SELECT count(wait_ns) FROM cpu_method) > 0 AS has_switches,
       (SELECT coalesce(sum(samples), 0) + coalesce(max(cpu_ns), 0) FROM cpu_process) > 0 AS has_samples,
       (SELECT count(*) FROM dns_query) > 0 AS has_dns, (SELECT count(*) FROM tcp_connection) > 0 AS has_tcp,
       (SELECT coalesce(sum(failures), 0) FROM syscall_function) > 0 AS has_failed_syscalls,
       (SELECT coalesce(sum(leaked), 0) FROM handle_type) > 0 AS has_leaks,
       (SELECT coalesce(sum(outstanding_bytes), 0) FROM virtual_alloc_process) > 0 AS has_outstanding_memory
FROM trace";

impl Overview {
    /// Asks a session with one extract for the `top` largest of each.
    ///
    /// # Errors
    /// A query fails.
    pub fn ask(session: &Session, top: usize) -> Result<Self> {
        let cpu = answered(CpuRequest::default().ask(session))?.unwrap_or_else(|| CpuAnswer::new(Vec::new()));
        let by_time = DiskRequest { level: WHOLE_PATH, sort: DiskSort::TotalTime, ..DiskRequest::default() };
        let files = answered(by_time.ask(session))?.map_or_else(Vec::new, |disk| disk.groups);
        let files = files.into_iter().flat_map(|group| group.rows).collect();
        let modules = format!("{MODULES} LIMIT {top}");
        let methods = format!(
            "SELECT p.name AS process, p.pid, c.module, c.method, c.exclusive_ns, c.cpu_ns, c.wait_ns
FROM cpu_method c LEFT JOIN process p ON p.process_key = c.process_key
WHERE c.exclusive_ns > 0 ORDER BY c.exclusive_ns DESC, c.process_key, c.module, c.method LIMIT {top}"
        );
        let recording: Recording = ask(session, RECORDING)?.into_iter().next().unwrap_or_default();
        let has_cpu = recording.has_samples || recording.has_switches;
        let notes = "SELECT severity, count, position, message FROM diagnostic WHERE severity <> 'info' ORDER BY severity, count DESC";
        Ok(Self {
            contents: if has_cpu { None } else { Some(Contents::ask(session, top)?) },
            recording,
            cpu_ns: cpu.total.cpu_ns,
            processes: largest(cpu.rows, top, |row| row.cpu_ns),
            modules: ask(session, &modules)?,
            methods: ask(session, &methods)?,
            files: largest(files, top, |row| row.total_service_ns),
            notes: ask(session, notes)?,
            dumps: ask::<Answering>(session, DUMPS)?.into_iter().map(|answering| answering.dump).collect(),
        })
    }
}

/// The answer, or none where the trace has nothing of the kind.
fn answered<A>(answer: Result<A>) -> Result<Option<A>> {
    match answer {
        Err(error) if error.is_nothing() => Ok(None),
        answer => answer.map(Some),
    }
}

/// The largest rows of an ascending list, largest first; rows of the same size stay in their order.
fn largest<R>(mut rows: Vec<R>, top: usize, size: impl Fn(&R) -> i64) -> Vec<R> {
    rows.sort_by_key(|row| std::cmp::Reverse(size(row)));
    rows.truncate(top);
    rows
}
