//! Kinds of cores: what they are, how fast they ran and how deep they slept, who used them, and who waited for one while it was idle.

use super::core_kinds::ENABLED_CORES;
use super::sql::{PROCESS_COLUMNS, ProcessQuery, filtered, process_columns, text_condition};
use super::{Error, Result, Top, ask, has_rows};
use crate::Session;

/// A table of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CoresTable {
    /// Processors with their kinds and speeds.
    #[default]
    Cores,
    /// Idle states of processors.
    States,
    /// CPU of processes by kind of core.
    Processes,
    /// Running and ready time by priority and kind of core.
    Priorities,
    /// CPU of methods by kind of core.
    Methods,
}

impl CoresTable {
    /// The tables that are shown if none is named, in their order.
    pub const ALL: [Self; 4] = [Self::Cores, Self::States, Self::Processes, Self::Priorities];
}

/// Whose use of the cores.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoresRequest {
    /// Which processes, in the tables that tell of them.
    pub processes: ProcessQuery,
    /// Priorities of each process.
    pub per_process: bool,
    /// Methods: a filter on their names, for the table of methods.
    pub methods: Option<String>,
    /// How many of the processes with the most CPU.
    pub top: Top,
}

rows! {
    /// A logical processor.
    pub struct CoreRow {
        /// Processor.
        cpu: i64,
        /// Processor group.
        processor_group: Option<i64>,
        /// Number in it.
        group_number: Option<i64>,
        /// NUMA node.
        numa_node: Option<i64>,
        /// Kind of core, 0 the most efficient one.
        efficiency_class: Option<i64>,
        /// How much the scheduler prefers it.
        scheduling_class: Option<i64>,
        /// Whether it shares its core.
        is_hyper_threaded: Option<bool>,
        /// Speed without boost.
        nominal_mhz: Option<i64>,
        /// Speed relative to the others.
        relative_performance_percent: Option<i64>,
        /// Mean speed, weighted by time; measured, else what Windows asked for.
        mean_mhz: Option<f64>,
        /// Lowest and
        min_mhz: Option<i64>,
        /// highest speed.
        max_mhz: Option<i64>,
        /// `mean_mhz` of `nominal_mhz`.
        frequency_percent: Option<f64>,
        /// Time whose speed is known.
        measured_ns: Option<i64>,
        /// Time in which it was parked.
        parked_ns: Option<i64>,
        /// `parked_ns` of the trace; missing where nothing tells of parking.
        parked_percent: Option<f64>,
        /// Model.
        name: Option<String>,
    }
    /// An idle state of a processor.
    pub struct StateRow {
        /// Processor.
        cpu: i64,
        /// Kind of core.
        efficiency_class: Option<i64>,
        /// `idle_event` or `context_switch`.
        source: String,
        /// Number of the state; missing where a stay of the idle thread does not tell it.
        state: Option<i64>,
        /// How often.
        count: i64,
        /// Time.
        duration_ns: i64,
        /// Longest time.
        max_ns: i64,
        /// `duration_ns` of the trace.
        percent: f64,
    }
    /// CPU of a process on one kind of core.
    pub struct ClassRow {
        /// Process key; missing for threads whose process is not known.
        process_key: Option<i64>,
        /// Process id.
        pid: Option<i64>,
        /// File name of the executable.
        process: Option<String>,
        /// Kind of core.
        efficiency_class: Option<i64>,
        /// CPU.
        cpu_ns: i64,
        /// `cpu_ns` of all CPU of the process.
        cpu_percent: f64,
        /// CPU × speed ÷ nominal speed.
        normalized_ns: Option<i64>,
        /// Mean speed; missing where none was recorded.
        mean_mhz: Option<f64>,
        /// `mean_mhz` of the nominal speed.
        frequency_percent: Option<f64>,
        /// Processors it ran on.
        cores: String,
        /// Number of them.
        core_count: i64,
        /// First sample or switch-in.
        first_ns: i64,
        /// Last sample or switch-out.
        last_ns: i64,
        /// CPU of the process on all cores.
        process_cpu_ns: i64,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Terminal session.
        session_id: Option<i64>,
        /// Command line.
        command_line: Option<String>,
    }
    /// CPU of a method on one kind of core.
    pub struct MethodClassRow {
        /// Process key; missing for threads whose process is not known.
        process_key: Option<i64>,
        /// Process id.
        pid: Option<i64>,
        /// File name of the executable.
        process: Option<String>,
        /// Name as it is printed.
        name: String,
        /// File name of the module.
        module: Option<String>,
        /// Kind of core.
        efficiency_class: Option<i64>,
        /// CPU with the method in the stack.
        cpu_ns: i64,
        /// `cpu_ns` of all CPU of the method.
        cpu_percent: f64,
        /// CPU × speed ÷ nominal speed.
        normalized_ns: Option<i64>,
        /// Mean speed; missing where none was recorded.
        mean_mhz: Option<f64>,
        /// `mean_mhz` of the nominal speed.
        frequency_percent: Option<f64>,
        /// Processors it ran on.
        cores: String,
        /// Number of them.
        core_count: i64,
        /// Processors of this kind that its threads were allowed to run on.
        enabled_cores: i64,
        /// From the first to the last sample on this kind.
        duration_ns: i64,
        /// CPU of the method on all cores.
        method_cpu_ns: i64,
        /// Largest CPU of a method of the process.
        process_cpu_ns: i64,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Terminal session.
        session_id: Option<i64>,
        /// Command line.
        command_line: Option<String>,
    }
    /// Running and ready time with one priority on one kind of core.
    pub struct PriorityRow {
        /// Process key, with rows for each process.
        process_key: Option<i64>,
        /// Process id.
        pid: Option<i64>,
        /// File name of the executable.
        process: Option<String>,
        /// Priority; missing for threads that ran when the trace began.
        priority: Option<i64>,
        /// Kind of core.
        efficiency_class: Option<i64>,
        /// Switch-ins.
        switches: i64,
        /// Time on such cores.
        run_ns: i64,
        /// `run_ns` of all running time with this priority.
        run_percent: Option<f64>,
        /// Part of `run_ns` in which a core of a higher class was idle.
        run_faster_idle_ns: i64,
        /// Time ready before a switch-in on such a core.
        ready_ns: i64,
        /// Part of it in which a core of this class was idle.
        ready_idle_ns: i64,
        /// Part of it in which any core was idle.
        ready_any_idle_ns: i64,
        /// Running time of the process, or of all.
        owner_run_ns: i64,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Terminal session.
        session_id: Option<i64>,
        /// Command line.
        command_line: Option<String>,
    }
}

/// All tables. Those that were not asked for are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CoresAnswer {
    /// Processors.
    pub cores: Vec<CoreRow>,
    /// Their idle states.
    pub states: Vec<StateRow>,
    /// Processes, ascending by their CPU; of each the fastest cores first.
    pub processes: Vec<ClassRow>,
    /// Priorities, of each the fastest cores first.
    pub priorities: Vec<PriorityRow>,
    /// Methods by process, ascending by their CPU; of each the fastest cores first.
    pub methods: Vec<MethodClassRow>,
}

impl CoresAnswer {
    /// Whether kinds of cores are told apart.
    #[must_use]
    pub fn has_classes(&self) -> bool {
        self.cores.iter().any(|core| core.efficiency_class.is_some())
    }
}

/// Length of what was extracted; missing if it has none.
const LENGTH: &str =
    "(SELECT nullif(max(coalesce(range_end_ns - range_start_ns, duration_ns)), 0) FROM trace)";

const CORES: &str = "SELECT c.cpu, c.processor_group, c.group_number, c.numa_node, c.efficiency_class, c.scheduling_class,
  c.is_hyper_threaded, c.nominal_mhz, c.relative_performance_percent, f.mean_mhz, f.min_mhz, f.max_mhz,
  100.0 * f.mean_mhz / nullif(c.nominal_mhz, 0) AS frequency_percent, f.measured_ns, k.parked_ns,
  100.0 * k.parked_ns / LENGTH AS parked_percent, c.name
FROM cpu_core c
LEFT JOIN (
  SELECT cpu, sum(CAST(mhz AS DOUBLE) * (stop_ns - start_ns)) / sum(stop_ns - start_ns) AS mean_mhz, min(mhz) AS min_mhz,
    max(mhz) AS max_mhz, sum(stop_ns - start_ns) AS measured_ns
  FROM cpu_frequency f
  WHERE kind = (SELECT min(k.kind) FROM cpu_frequency k WHERE k.cpu = f.cpu)
  GROUP BY cpu
) f ON f.cpu = c.cpu
LEFT JOIN (
  SELECT a.cpu, coalesce(p.parked_ns, 0) AS parked_ns
  FROM cpu_core a
  LEFT JOIN (SELECT cpu, sum(stop_ns - start_ns) AS parked_ns FROM cpu_parking GROUP BY cpu) p ON p.cpu = a.cpu
  WHERE EXISTS (SELECT 1 FROM cpu_parking)
) k ON k.cpu = c.cpu
ORDER BY c.cpu";

const STATES: &str = "SELECT s.cpu, c.efficiency_class, s.source, s.state, s.count, s.duration_ns, s.max_ns,
  100.0 * s.duration_ns / LENGTH AS percent
FROM cpu_core_state s
LEFT JOIN cpu_core c ON c.cpu = s.cpu
WHERE s.source = (SELECT max(source) FROM cpu_core_state)
ORDER BY s.cpu, s.source, s.state";

impl CoresRequest {
    /// The question for one table.
    #[must_use]
    pub fn sql(&self, table: CoresTable) -> String {
        match table {
            CoresTable::Cores => CORES.replace("LENGTH", LENGTH),
            CoresTable::States => STATES.replace("LENGTH", LENGTH),
            CoresTable::Processes => self.processes_sql(),
            CoresTable::Priorities => self.priorities_sql(),
            CoresTable::Methods => self.methods_sql(),
        }
    }

    fn conditions(&self) -> String {
        let mut conditions = vec!["coalesce(p.pid, -1) <> 0".to_owned()];
        conditions.extend(self.processes.conditions());
        filtered(&conditions)
    }

    fn methods_sql(&self) -> String {
        format!(
            "SELECT *, max(method_cpu_ns) OVER (PARTITION BY process_key) AS process_cpu_ns
FROM (
SELECT *, 100.0 * cpu_ns / nullif(sum(cpu_ns) OVER (PARTITION BY process_key, module_path, module, method), 0) AS cpu_percent,
  sum(cpu_ns) OVER (PARTITION BY process_key, module_path, module, method) AS method_cpu_ns
FROM (
SELECT c.process_key, {PROCESS_COLUMNS}, c.module, c.module_path, c.method,
  CASE WHEN starts_with(c.method, '+') THEN concat(coalesce(c.module, ''), c.method) ELSE c.method END AS name,
  c.efficiency_class, c.cpu_ns, c.normalized_ns,
  CASE WHEN c.measured_ns > 0 THEN c.mean_mhz END AS mean_mhz,
  CASE WHEN c.measured_ns > 0 THEN 100.0 * c.mean_mhz / c.nominal_mhz END AS frequency_percent,
  c.cores, c.core_count, e.enabled_cores, c.last_ns - c.first_ns AS duration_ns
FROM cpu_method_class c
LEFT JOIN process p ON p.process_key = c.process_key
LEFT JOIN {ENABLED_CORES} e ON e.efficiency_class = c.efficiency_class AND e.owner_key IS NOT DISTINCT FROM c.process_key{}
)
){}
ORDER BY process_cpu_ns, process_key, method_cpu_ns, name, module_path, efficiency_class DESC",
            self.conditions(),
            filtered(&text_condition("name", self.methods.as_deref()).into_iter().collect::<Vec<_>>()),
        )
    }

    fn processes_sql(&self) -> String {
        format!(
            "SELECT *, 100.0 * cpu_ns / nullif(process_cpu_ns, 0) AS cpu_percent
FROM (
SELECT c.process_key, {PROCESS_COLUMNS}, c.efficiency_class, c.cpu_ns, c.normalized_ns,
  CASE WHEN c.measured_ns > 0 THEN c.mean_mhz END AS mean_mhz,
  CASE WHEN c.measured_ns > 0 THEN 100.0 * c.mean_mhz / c.nominal_mhz END AS frequency_percent, c.cores, c.core_count, c.first_ns, c.last_ns,
  sum(c.cpu_ns) OVER (PARTITION BY c.process_key) AS process_cpu_ns
FROM cpu_class c
LEFT JOIN process p ON p.process_key = c.process_key{}
)
ORDER BY process_cpu_ns, process_key, efficiency_class DESC",
            self.conditions()
        )
    }

    fn priorities_sql(&self) -> String {
        format!(
            "SELECT *, 100.0 * run_ns / nullif(sum(run_ns) OVER (PARTITION BY process_key, priority), 0) AS run_percent,
  sum(run_ns) OVER (PARTITION BY process_key) AS owner_run_ns
FROM (
SELECT process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, priority, efficiency_class,
  sum(switches) AS switches, sum(run_ns) AS run_ns, sum(run_faster_idle_ns) AS run_faster_idle_ns,
  sum(ready_ns) AS ready_ns, sum(ready_idle_ns) AS ready_idle_ns, sum(ready_any_idle_ns) AS ready_any_idle_ns
FROM (
SELECT {process}, c.priority, c.efficiency_class, c.switches, c.run_ns, c.run_faster_idle_ns, c.ready_ns, c.ready_idle_ns,
  c.ready_any_idle_ns
FROM cpu_class_priority c
LEFT JOIN process p ON p.process_key = c.process_key{conditions}
)
GROUP BY process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, priority, efficiency_class
)
ORDER BY owner_run_ns, process_key, priority, efficiency_class DESC",
            process = process_columns("c", self.per_process),
            conditions = self.conditions(),
        )
    }

    /// Asks for some of the tables.
    ///
    /// # Errors
    /// Nothing of them was recorded; a query fails.
    pub fn ask(&self, session: &Session, tables: &[CoresTable]) -> Result<CoresAnswer> {
        let mut answer = CoresAnswer::default();
        let mut is_recorded = false;
        for table in tables {
            let sql = self.sql(*table);
            let from = match table {
                CoresTable::Cores => {
                    answer.cores = ask(session, &sql)?;
                    "cpu_core"
                }
                CoresTable::States => {
                    answer.states = ask(session, &sql)?;
                    "cpu_core_state"
                }
                CoresTable::Processes => {
                    answer.processes = ask(session, &sql)?;
                    "cpu_class"
                }
                CoresTable::Priorities => {
                    answer.priorities = ask(session, &sql)?;
                    "cpu_class_priority"
                }
                CoresTable::Methods => {
                    answer.methods = ask(session, &sql)?;
                    "cpu_method_class"
                }
            };
            is_recorded |= has_rows(session, from)?;
        }
        if !is_recorded {
            return Err(Error::NotRecorded { what: "kinds, speeds or use of cores", how: HOW });
        }
        cut(&mut answer.processes, self.top, |row| row.process_key);
        cut(&mut answer.methods, self.top, |row| row.process_key);
        if self.per_process {
            cut(&mut answer.priorities, self.top, |row| row.process_key);
        }
        Ok(answer)
    }
}

/// What records kinds and speeds of cores.
pub const HOW: &str = "record the provider Microsoft-Windows-Kernel-Processor-Power with its capture state for kinds and speeds of cores, \
     PROFILE or CSWITCH for their use, CSWITCH+IDLE_STATES for idle states";

/// Keeps the rows of the processes with the most CPU, which are the last ones.
fn cut<R>(rows: &mut Vec<R>, top: Top, key: impl Fn(&R) -> Option<i64>) {
    let mut keys: Vec<Option<i64>> = rows.iter().map(&key).collect();
    keys.dedup();
    top.cut(&mut keys);
    let kept: std::collections::HashSet<Option<i64>> = keys.into_iter().collect();
    rows.retain(|row| kept.contains(&key(row)));
}
