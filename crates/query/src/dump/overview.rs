//! What a trace is about, on one screen: machine, processes, modules, methods, files, health.
//!
//! The numbers are those of the derived tables, which the other dumps ask, too.

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
    }

    /// A process.
    pub struct ProcessShare {
        /// File name of its executable.
        process: Option<String>,
        /// Process id.
        pid: Option<i64>,
        /// Sampled CPU; without any samples, CPU from context switches.
        cpu_ns: i64,
        /// Time in which at least one thread waited.
        wait_ns: Option<i64>,
        /// Time in which at least one thread was ready.
        ready_ns: Option<i64>,
        /// Switch-ins.
        switches: Option<i64>,
    }

    /// A module, over all processes.
    pub struct ModuleShare {
        /// File name; missing for code that lies in none.
        module: Option<String>,
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

    /// A file on a disk.
    pub struct FileShare {
        /// Path; missing for flushes and files without a name.
        path: Option<String>,
        /// Time in which the disk served it.
        service_ns: i64,
        /// Reads, writes and flushes.
        operations: i64,
        /// Bytes read.
        read_bytes: i64,
        /// Bytes written.
        write_bytes: i64,
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
    pub processes: Vec<ProcessShare>,
    /// CPU of all processes.
    pub cpu_ns: i64,
    /// Modules by CPU of their own.
    pub modules: Vec<ModuleShare>,
    /// Methods by CPU of their own.
    pub methods: Vec<MethodShare>,
    /// Files by service time of the disk.
    pub files: Vec<FileShare>,
    /// Errors and warnings.
    pub notes: Vec<Note>,
}

rows! {
    /// A sum.
    struct Sum {
        /// Nanoseconds.
        ns: i64,
    }
}

const RECORDING: &str = "SELECT file_name, computer, os_name, os_version, processors, cpu_mhz, memory_bytes, start_utc, duration_ns, range_start_ns, range_end_ns, events,
       (SELECT count(switches) FROM cpu_process) > 0 AS has_switches, (SELECT sum(samples) FROM cpu_process) > 0 AS has_samples
FROM trace";

/// CPU of a process: from samples, or from context switches if the trace has no samples.
const CPU: &str =
    "CASE WHEN (SELECT sum(samples) FROM cpu_process) > 0 THEN c.cpu_ns ELSE coalesce(c.run_ns, 0) END";

impl Overview {
    /// Asks a session with one extract for the `top` largest of each.
    ///
    /// # Errors
    /// A query fails.
    pub fn ask(session: &Session, top: usize) -> Result<Self> {
        let processes = format!(
            "SELECT p.name AS process, p.pid, {CPU} AS cpu_ns, c.wait_ns, c.ready_ns, c.switches
FROM cpu_process c LEFT JOIN process p ON p.process_key = c.process_key WHERE coalesce(p.pid, -1) <> 0
ORDER BY 3 DESC, c.process_key LIMIT {top}"
        );
        let modules = format!(
            "SELECT module, sum(exclusive_ns) AS exclusive_ns FROM cpu_method GROUP BY module
HAVING sum(exclusive_ns) > 0 ORDER BY 2 DESC, 1 LIMIT {top}"
        );
        let methods = format!(
            "SELECT p.name AS process, p.pid, c.module, c.method, c.exclusive_ns, c.cpu_ns, c.wait_ns
FROM cpu_method c LEFT JOIN process p ON p.process_key = c.process_key
WHERE c.exclusive_ns > 0 ORDER BY c.exclusive_ns DESC, c.process_key, c.module, c.method LIMIT {top}"
        );
        let files = format!(
            "SELECT path, sum(read_service_ns + write_service_ns + flush_service_ns) AS service_ns,
       sum(reads + writes + flushes) AS operations, sum(read_bytes) AS read_bytes, sum(write_bytes) AS write_bytes
FROM disk_file GROUP BY path ORDER BY 2 DESC, 1 LIMIT {top}"
        );
        let total = format!(
            "SELECT sum({CPU}) AS ns FROM cpu_process c LEFT JOIN process p ON p.process_key = c.process_key
WHERE coalesce(p.pid, -1) <> 0"
        );
        let notes = "SELECT severity, count, position, message FROM diagnostic WHERE severity <> 'info' ORDER BY severity, count DESC";
        Ok(Self {
            recording: ask(session, RECORDING)?.into_iter().next().unwrap_or_default(),
            processes: ask(session, &processes)?,
            cpu_ns: ask::<Sum>(session, &total)?.first().map_or(0, |sum| sum.ns),
            modules: ask(session, &modules)?,
            methods: ask(session, &methods)?,
            files: ask(session, &files)?,
            notes: ask(session, notes)?,
        })
    }
}
