//! The SQL of kinds of cores.

use super::kinds::ENABLED_CORES;
use super::{CoresRequest, CoresTable};
use etwkit_question::covered::{Covered, Recorder};
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS, process_columns};

impl CoresRequest {
    /// Returns the SQL for one table.
    #[must_use]
    pub fn sql(&self, table: CoresTable) -> String {
        match table {
            CoresTable::Cores => CORES.replace("LENGTH", &length()),
            CoresTable::States => STATES.replace("LENGTH", &length()),
            CoresTable::Processes => self.processes_sql(),
            CoresTable::Priorities => self.priorities_sql(),
            CoresTable::Methods => self.methods_sql(),
        }
    }

    fn conditions(&self) -> Conditions {
        Conditions::of("coalesce(p.pid, -1) <> 0").and(self.processes.conditions())
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
  CASE WHEN c.measured_ns > 0 THEN 100.0 * c.mean_mhz / nullif(c.nominal_mhz, 0) END AS frequency_percent,
  c.cores, c.core_count, e.enabled_cores, c.last_ns - c.first_ns AS duration_ns
FROM cpu_method_class c
LEFT JOIN process p ON p.process_key = c.process_key
LEFT JOIN {ENABLED_CORES} e ON e.efficiency_class = c.efficiency_class AND e.owner_key IS NOT DISTINCT FROM c.process_key{}
)
){}
ORDER BY process_cpu_ns, process_key, method_cpu_ns, name, module_path, efficiency_class DESC",
            self.conditions(),
            Conditions::new().text("name", self.methods.as_deref()),
        )
    }

    // A mean speed without measured time belongs to no sample, so it counts as missing.
    fn processes_sql(&self) -> String {
        format!(
            "SELECT *, 100.0 * cpu_ns / nullif(process_cpu_ns, 0) AS cpu_percent
FROM (
SELECT c.process_key, {PROCESS_COLUMNS}, c.efficiency_class, c.cpu_ns, c.normalized_ns,
  CASE WHEN c.measured_ns > 0 THEN c.mean_mhz END AS mean_mhz,
  CASE WHEN c.measured_ns > 0 THEN 100.0 * c.mean_mhz / nullif(c.nominal_mhz, 0) END AS frequency_percent, c.cores, c.core_count, c.first_ns, c.last_ns,
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
}

/// Returns the length of the part of the trace that states and parking are of.
// The kernel logger does not write their events.
fn length() -> String {
    Covered::whole(Recorder::Any).length()
}

// Means are weighted by time: a long stretch at low speed counts more than a short one at high
// speed. Of a processor with measured and requested speeds only one kind counts, or its time would
// count twice.
const CORES: &str = "SELECT c.cpu, c.processor_group, c.group_number, c.numa_node, c.efficiency_class, c.scheduling_class,
  c.is_hyper_threaded, c.nominal_mhz, c.relative_performance_percent, f.mean_mhz, f.min_mhz, f.max_mhz,
  100.0 * f.mean_mhz / nullif(c.nominal_mhz, 0) AS frequency_percent, f.measured_ns, k.parked_ns,
  100.0 * k.parked_ns / LENGTH AS parked_percent, c.name
FROM cpu_core c
LEFT JOIN (
  SELECT cpu, sum(CAST(mhz AS DOUBLE) * (stop_ns - start_ns)) / nullif(sum(stop_ns - start_ns), 0) AS mean_mhz, min(mhz) AS min_mhz,
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

// Both sources describe the same idle times, so only one may count. Idle events name every state,
// context switches only deep ones; `idle_event` sorts after `context_switch`.
const STATES: &str =
    "SELECT s.cpu, c.efficiency_class, s.source, s.state, s.count, s.duration_ns, s.max_ns,
  100.0 * s.duration_ns / LENGTH AS percent
FROM cpu_core_state s
LEFT JOIN cpu_core c ON c.cpu = s.cpu
WHERE s.source = (SELECT max(source) FROM cpu_core_state)
ORDER BY s.cpu, s.source, s.state";
