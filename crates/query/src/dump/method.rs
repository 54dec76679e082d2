//! CPU, waiting and ready time of methods.

use super::cpu::{CpuSort, CpuTotal, check};
use super::group::{Group, grouped};
use super::sql::{PROCESS_COLUMNS, ProcessQuery, filtered, range_condition, text_condition};
use super::{Result, Top, ask};
use crate::Session;
use crate::range::Range;

/// Which methods of which processes, and in which order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodRequest {
    /// Which processes.
    pub processes: ProcessQuery,
    /// Which methods: a filter on their names as they are printed.
    pub methods: Option<String>,
    /// Names begin with the module: `ntdll.dll!NtWaitForSingleObject`.
    pub include_dll: bool,
    /// CPU in nanoseconds.
    pub cpu: Range,
    /// Waiting in nanoseconds.
    pub wait: Range,
    /// Ready in nanoseconds.
    pub ready: Range,
    /// Mean time ready in nanoseconds.
    pub ready_avg: Range,
    /// Switch-ins.
    pub switches: Range,
    /// First sample or switch-in, in nanoseconds.
    pub first: Range,
    /// Last sample or switch-out, in nanoseconds.
    pub last: Range,
    /// From first to last, in nanoseconds.
    pub duration: Range,
    /// Order of methods and processes.
    pub sort: CpuSort,
    /// How many of the largest processes.
    pub top: Top,
    /// How many of the largest methods of each process.
    pub top_methods: Top,
}

rows! {
    /// A method in a process.
    pub struct MethodRow {
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
        /// Function, or offset in the module.
        method: String,
        /// Sampled CPU with the method in the stack.
        cpu_ns: i64,
        /// Sampled CPU with the method as innermost frame.
        exclusive_ns: i64,
        /// Time in which at least one thread waited with the method in its stack.
        wait_ns: Option<i64>,
        /// Time in which at least one such thread was ready.
        ready_ns: Option<i64>,
        /// Mean time ready.
        ready_avg_ns: Option<i64>,
        /// Switch-ins with the method in the stack.
        switches: Option<i64>,
        /// Threads.
        threads: i64,
        /// Mean number of frames between the method and the innermost frame.
        depth: f64,
        /// First sample or switch-in.
        first_ns: i64,
        /// Last sample or switch-out.
        last_ns: i64,
        /// `last_ns` − `first_ns`.
        duration_ns: i64,
        /// Path of the module.
        module_path: Option<String>,
        /// File version of the module.
        file_version: Option<String>,
        /// Product of the module.
        product_name: Option<String>,
        /// Company of the module.
        company: Option<String>,
        /// Terminal session.
        session_id: Option<i64>,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Command line.
        command_line: Option<String>,
        /// What the rows are sorted by.
        sort_value: f64,
    }
}

impl MethodRow {
    /// Its times. They are inclusive: sums mean something only for methods that do not call each other.
    #[must_use]
    pub fn total(&self) -> CpuTotal {
        let (wait_ns, ready_ns) = (self.wait_ns, self.ready_ns);
        CpuTotal { cpu_ns: self.cpu_ns, wait_ns, ready_ns, switches: self.switches }
    }
}

/// Sums over methods.
#[must_use]
pub fn total(rows: &[MethodRow]) -> CpuTotal {
    rows.iter().fold(CpuTotal::default(), |sum, row| sum.plus(row.total()))
}

/// Methods by process.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodAnswer {
    /// Processes, ascending by their sums.
    pub processes: Vec<Group<MethodRow, CpuTotal>>,
    /// Sums over all rows.
    pub total: CpuTotal,
}

/// Name without module, with it, and for addresses without a name.
const NAME: &str = "CASE WHEN starts_with(m.method, '+') OR starts_with(m.method, '0x') THEN concat(coalesce(m.module, ''), m.method)";

impl MethodRequest {
    /// The question.
    #[must_use]
    pub fn sql(&self) -> String {
        let mut conditions = vec!["coalesce(p.pid, -1) <> 0".to_owned()];
        conditions.extend(self.processes.conditions());
        let named = if self.include_dll { "concat(m.module || '!', m.method)" } else { "m.method" };
        format!(
            "SELECT *, CAST({} AS DOUBLE) AS sort_value
FROM (
SELECT m.process_key, {PROCESS_COLUMNS}, {NAME} ELSE {named} END AS name, m.module, m.method,
  m.cpu_ns, m.exclusive_ns, m.wait_ns, m.ready_ns, m.ready_sum_ns / nullif(m.ready_count, 0) AS ready_avg_ns, m.switches,
  m.threads, m.depth, m.first_ns, m.last_ns, m.last_ns - m.first_ns AS duration_ns,
  m.module_path, v.file_version, v.product_name, v.company
FROM cpu_method m
LEFT JOIN process p ON p.process_key = m.process_key
LEFT JOIN (
  SELECT path, max(file_version) AS file_version, max(product_name) AS product_name, max(company) AS company
  FROM module GROUP BY path
) v ON v.path = m.module_path{}
){}
ORDER BY sort_value, cpu_ns, process_key, name",
            self.sort_value(),
            filtered(&conditions),
            filtered(&self.limits()),
        )
    }

    fn limits(&self) -> Vec<String> {
        let limits = [
            ("cpu_ns", self.cpu),
            ("wait_ns", self.wait),
            ("ready_ns", self.ready),
            ("ready_avg_ns", self.ready_avg),
            ("switches", self.switches),
            ("first_ns", self.first),
            ("last_ns", self.last),
            ("duration_ns", self.duration),
        ];
        let filter = self.methods.as_deref().map(without_symbols);
        let mut all: Vec<String> = text_condition("name", filter.as_deref()).into_iter().collect();
        all.extend(limits.into_iter().filter_map(|(column, range)| range_condition(column, range)));
        all
    }

    /// `StackDepth`: CPU divided by e^depth, which prefers methods near the innermost frame; those with no more CPU than the
    /// largest method without callees rank behind, by e^10.
    const fn sort_value(&self) -> &'static str {
        match self.sort {
            CpuSort::Cpu | CpuSort::Priority | CpuSort::StartTime => "cpu_ns",
            CpuSort::Wait => "coalesce(wait_ns, 0)",
            CpuSort::Ready => "coalesce(ready_ns, 0)",
            CpuSort::CpuWait => "cpu_ns + coalesce(wait_ns, 0)",
            CpuSort::CpuWaitReady => "cpu_ns + coalesce(wait_ns, 0) + coalesce(ready_ns, 0)",
            CpuSort::ReadyAvg => "coalesce(ready_avg_ns, 0)",
            CpuSort::Switches => "coalesce(switches, 0)",
            CpuSort::First => "first_ns",
            CpuSort::Last => "last_ns",
            CpuSort::StackDepth => {
                "cpu_ns / exp(floor(depth) + CASE WHEN cpu_ns > \
                 coalesce(max(CASE WHEN floor(depth) = 0 THEN cpu_ns END) OVER (PARTITION BY process_key), 0) \
                 THEN 0 ELSE 10 END)"
            }
        }
    }

    /// Asks.
    ///
    /// # Errors
    /// There are neither samples nor context switches; the query fails.
    pub fn ask(&self, session: &Session) -> Result<MethodAnswer> {
        check(session, Range::default())?;
        let rows: Vec<MethodRow> = ask(session, &self.sql())?;
        let mut processes = grouped(rows, |row| row.process_key, self.top_methods, total);
        processes.sort_by_key(|group| match self.sort {
            CpuSort::StartTime => group.rows.first().and_then(|row| row.process_start_ns).unwrap_or(0),
            sort => group.total.sort_value(sort),
        });
        self.top.cut(&mut processes);
        let total = processes.iter().fold(CpuTotal::default(), |sum, group| sum.plus(group.total));
        Ok(MethodAnswer { processes, total })
    }
}

/// `*.dll` and `*.sys` alone mean code without names in such modules: `ntdll.dll+0x1a2b`.
fn without_symbols(filter: &str) -> String {
    let parts: Vec<&str> = filter.split(';').collect();
    let is_alias = |part: &&str| part.eq_ignore_ascii_case("*.dll") || part.eq_ignore_ascii_case("*.sys");
    if parts.iter().all(is_alias) {
        parts.iter().map(|part| format!("{part}+*")).collect::<Vec<_>>().join(";")
    } else {
        filter.to_owned()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_bare_kind_of_module_means_code_without_names() {
        for (filter, meaning) in [
            ("*.dll", "*.dll+*"),
            ("*.DLL;*.sys", "*.DLL+*;*.sys+*"),
            ("*.dll;x", "*.dll;x"),
            ("a.dll", "a.dll"),
        ] {
            assert_eq!(super::without_symbols(filter), meaning);
        }
    }
}
