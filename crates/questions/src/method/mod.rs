//! CPU, waiting and ready time of methods.

use etwkit_question::declare;
mod rows;

use self::rows::Rows;
use super::cores::kinds::{self, CoreKinds};
use super::cpu::fact;
use super::cpu::source::{CpuSource, SAMPLED};
use super::cpu::{By, CpuRequest, CpuSort, CpuTotal, check};
use super::ready::{self, ReadyTimes};
use etwkit_question::group::Top;
use etwkit_question::group::{Group, grouped};
use etwkit_question::sql::{Conditions, process_columns_from, text_condition};
use etwkit_question::{Error, Result, Tagging, ask, has_rows, is_recorded};
use etwkit_sql::Session;

declare! {
    /// A method, module, thread or stack tag in a process.
    pub row MethodRow: process {
        ..process = "Process key; missing for threads whose process is not known.",
        kind: String = "`method`, `module`, `thread` or `tag`.",
        tid: Option<i64> = "Thread id, of threads.",
        tag_set: Option<String> = "Set of stack tags, of tags.",
        name: String = "Name as it is printed.",
        module: Option<String> = "File name of the module.",
        method: String = "Function, or offset in the module.",
        cpu_ns: i64 =
            "Sampled CPU with the method in the stack; without any busy sample in the trace, time on \
             processors from context switches.",
        cpu_source: Option<String> =
            "What `cpu_ns` is computed from, see [`CpuSource`]; missing for stack tags of a trace without \
             samples, whose CPU is not known.",
        exclusive_ns: Option<i64> = "Sampled CPU with the method as innermost frame.",
        wait_ns: Option<i64> = "Time in which at least one thread waited with the method in its stack.",
        ready_ns: Option<i64> = "Time in which at least one thread with the method in its stack was ready.",
        wait_sum_ns: Option<i64> = "Waits, summed over threads.",
        ready_sum_ns: Option<i64> = "Ready times, summed over threads.",
        ready_avg_ns: Option<i64> = "Mean ready time.",
        switches: Option<i64> = "Switch-ins with the method in the stack.",
        threads: Option<i64> = "Threads.",
        depth: Option<f64> = "Mean number of frames between the method and the innermost frame.",
        first_ns: Option<i64> = "First sample or switch-in.",
        last_ns: Option<i64> = "Last sample or switch-out.",
        duration_ns: Option<i64> = "`last_ns` − `first_ns`.",
        module_path: Option<String> = "Path of the module.",
        file_version: Option<String> = "File version of the module.",
        product_name: Option<String> = "Product of the module.",
        company: Option<String> = "Company of the module.",
        product_version: Option<String> = "Product version of the module.",
        description: Option<String> = "Description of the module.",
        driver_vendor: Option<String> = "Vendor of a well-known driver.",
        driver_category: Option<String> = "What kind of driver it is.",
        session_id: Option<i64> = "Terminal session.",
        process_start_ns: Option<i64> = "Start of the process, if in the trace.",
        process_stop_ns: Option<i64> = "End of the process, if in the trace.",
        process_priority: Option<f64> = "Mean priority of the process.",
        command_line: Option<String> = "Command line.",
        ready: ReadyTimes = "Ready times as percentiles, of methods of the whole trace.",
        kinds: CoreKinds = "CPU by kind of core, of methods of the whole trace.",
        sort_value: f64 = "What the rows are sorted by.",
    }
}

impl MethodRow {
    /// Returns its times. They are inclusive: sums are meaningful only for methods that do not call
    /// each other.
    #[must_use]
    pub fn total(&self) -> CpuTotal {
        let wait_ns = self.wait_ns;
        let ready_ns = self.ready_ns;
        CpuTotal {
            cpu_ns: self.cpu_ns,
            wait_ns,
            ready_ns,
            switches: self.switches,
        }
    }
}

/// Returns sums over methods.
#[must_use]
pub fn total(rows: &[MethodRow]) -> CpuTotal {
    rows.iter()
        .fold(CpuTotal::default(), |sum, row| sum.plus(row.total()))
}

/// Methods by process.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodAnswer {
    /// Processes, ascending by their sums.
    pub processes: Vec<Group<MethodRow, CpuTotal>>,
    /// Sums over all rows.
    pub total: CpuTotal,
}

impl MethodAnswer {
    /// Returns the source of CPU times; `None` without rows, and without samples for stack tags
    /// alone.
    #[must_use]
    pub fn source(&self) -> Option<CpuSource> {
        let mut named = self
            .processes
            .iter()
            .flat_map(|group| &group.rows)
            .filter_map(|row| row.cpu_source.as_deref());
        named.next().and_then(CpuSource::named)
    }
}

/// Name of a row that is not a method, and of addresses without a name.
const NAME: &str = "CASE WHEN m.kind = 'module' THEN coalesce(m.module, '(no module)') WHEN m.kind <> 'method' THEN m.method \
     WHEN starts_with(m.method, '+') OR starts_with(m.method, '0x') THEN concat(coalesce(m.module, ''), m.method)";

/// Versions of modules by path.
// A row of `module` is one load into one process: without groups each would repeat the row that is
// joined.
const VERSIONS: &str = "
LEFT JOIN (
  SELECT path, max(file_version) AS file_version, max(product_name) AS product_name, max(company) AS company,
    max(product_version) AS product_version, max(description) AS description
  FROM module GROUP BY path
) v ON v.path = m.module_path";

/// Well-known drivers by path.
const DRIVERS: &str = "
JOIN (
  SELECT o.path, max(d.vendor) AS vendor, max(d.category) AS category
  FROM driver_category d JOIN module o ON o.module_id = d.module_id GROUP BY o.path
) w ON w.path = m.module_path";

/// Sums of code: methods, modules, threads and stack tags.
impl CpuRequest {
    /// Returns the SQL for methods, modules or threads, with stack tags if these are requested as
    /// well.
    #[must_use]
    pub fn method_sql(&self) -> String {
        self.code_sql(false)
    }

    /// Returns the SQL for stack tags alone.
    #[must_use]
    pub fn tag_sql(&self) -> String {
        self.code_sql(true)
    }

    fn code_sql(&self, only_tags: bool) -> String {
        let conditions = Conditions::new()
            .when(!self.idle, "coalesce(p.pid, -1) <> 0")
            .and(self.processes.conditions());
        let named = if self.include_dll {
            "concat(m.module || '!', m.method)"
        } else {
            "m.method"
        };
        let Rows { with, from } = self.code_rows(only_tags);
        let whole = self.time.is_unlimited();
        let sampled = if only_tags && whole {
            SAMPLED
        } else {
            rows::sampled(self.by, self.time)
        };
        // Percentiles and kinds of cores are stored only for methods, and only for the whole trace.
        let is_by_method = matches!(self.by, By::Process | By::Method);
        let has_more = whole && is_by_method && !only_tags;
        let (ready, ready_join) = if has_more {
            (ready::columns(), ready::join_methods("m"))
        } else {
            (ready::no_columns(), String::new())
        };
        let (kinds, kinds_join) = if has_more {
            (kinds::columns(), kinds::join_methods("m"))
        } else {
            (kinds::no_columns(), String::new())
        };
        let (vendor, category, drivers) = if self.only_drivers() {
            ("w.vendor", "w.category", DRIVERS)
        } else {
            ("CAST(NULL AS VARCHAR)", "CAST(NULL AS VARCHAR)", "")
        };
        format!(
            "{with}SELECT *, CAST({} AS DOUBLE) AS sort_value
FROM (
SELECT m.process_key, {}, c.priority AS process_priority, m.kind, m.tid, m.tag_set,
  {NAME} ELSE {named} END AS name, m.module, m.method,
  m.cpu_ns, CASE WHEN ({sampled}) > 0 THEN 'samples' WHEN m.kind <> 'tag' THEN 'context_switches' END AS cpu_source,
  m.exclusive_ns, m.wait_ns, m.ready_ns, m.wait_sum_ns, m.ready_sum_ns,
  m.ready_sum_ns / nullif(m.ready_count, 0) AS ready_avg_ns, m.switches, m.threads, m.depth,
  {}, {}, m.last_ns - m.first_ns AS duration_ns,
  m.module_path, v.file_version, v.product_name, v.company, v.product_version, v.description,
  {vendor} AS driver_vendor, {category} AS driver_category,
  {ready},
  {kinds}
FROM ({from}
) m
LEFT JOIN process p ON p.process_key = m.process_key
LEFT JOIN cpu_process c ON c.process_key = m.process_key{VERSIONS}{drivers}{ready_join}{kinds_join}{}{conditions}
){}
ORDER BY sort_value, cpu_ns, process_key, name",
            self.code_order(),
            process_columns_from(&self.zero),
            self.zero.column("m", "first_ns"),
            self.zero.column("m", "last_ns"),
            self.zero.join(),
            self.code_limits(),
        )
    }

    fn code_rows(&self, only_tags: bool) -> Rows {
        let condition = self
            .stack_tags
            .as_ref()
            .and_then(|tags| text_condition("tag", Some(tags)));
        let is_whole = self.time.is_unlimited();
        let tags = if is_whole {
            rows::tags(condition.as_deref())
        } else {
            rows::tags_in_range(&Tagging::names(&self.stack_tag_file), condition.as_deref())
        };
        if only_tags {
            let with = match is_whole {
                true => String::new(),
                false => format!("WITH {}\n", fact::rows(self.time, &self.processes)),
            };
            return Rows { with, from: tags };
        }
        let others = rows::rows(self.by, self.time, &self.processes);
        match self.stack_tags {
            Some(_) => Rows {
                with: others.with,
                from: rows::union(&[others.from, tags]),
            },
            None => others,
        }
    }

    fn code_limits(&self) -> Conditions {
        // A filter on methods does not apply to tags, which are rows of the same list.
        let filter = self.methods.as_deref().map(without_symbols);
        let name = text_condition("name", filter.as_deref());
        let has_tags = self.stack_tags.is_some();
        let name = name.map(|name| match has_tags {
            true => format!("(kind = 'tag' OR {name})"),
            false => name,
        });
        let module = "concat_ws(', ', module_path, file_version, product_name, company)";
        Conditions::new()
            .and(name)
            .text(module, self.modules())
            .and(self.limits.conditions("duration_ns"))
            .range("ready_avg_ns", self.limits.ready_avg)
    }

    /// `StackDepth`: CPU divided by e^depth, which prefers methods near the innermost frame.
    /// Methods with no more CPU than the largest method without callees rank lower, by e^10.
    const fn code_order(&self) -> &'static str {
        match self.sort {
            // Stack tags have no time of their own, threads no callers.
            CpuSort::Usual | CpuSort::Exclusive if !matches!(self.by, By::Thread) => {
                "coalesce(exclusive_ns, cpu_ns)"
            }
            CpuSort::Usual
            | CpuSort::Exclusive
            | CpuSort::Cpu
            | CpuSort::Priority
            | CpuSort::StartTime => "cpu_ns",
            CpuSort::Wait => "coalesce(wait_ns, 0)",
            CpuSort::Ready => "coalesce(ready_ns, 0)",
            CpuSort::CpuWait => "cpu_ns + coalesce(wait_ns, 0)",
            CpuSort::CpuWaitReady => "cpu_ns + coalesce(wait_ns, 0) + coalesce(ready_ns, 0)",
            CpuSort::ReadyAvg => "coalesce(ready_avg_ns, 0)",
            CpuSort::Switches => "coalesce(switches, 0)",
            CpuSort::First => "coalesce(first_ns, 0)",
            CpuSort::Last => "coalesce(last_ns, 0)",
            CpuSort::StackDepth => {
                "cpu_ns / exp(coalesce(floor(depth), 0) + CASE WHEN cpu_ns > \
                 coalesce(max(CASE WHEN floor(depth) = 0 THEN cpu_ns END) OVER (PARTITION BY process_key), 0) \
                 THEN 0 ELSE 10 END)"
            }
        }
    }

    /// Queries methods, modules or threads, with stack tags if these are requested as well.
    ///
    /// # Errors
    /// There are neither samples nor context switches, or the extract has only sums of them; the
    /// query fails.
    pub fn method_answer(&self, session: &Session) -> Result<MethodAnswer> {
        self.code_answer(session, false)
    }

    /// Queries stack tags alone.
    ///
    /// # Errors
    /// The errors of [`Self::method_answer`]; there are no stacks.
    pub fn tag_answer(&self, session: &Session) -> Result<MethodAnswer> {
        self.code_answer(session, true)
    }

    fn code_answer(&self, session: &Session, only_tags: bool) -> Result<MethodAnswer> {
        self.check_code(session, only_tags)?;
        let rows: Vec<MethodRow> = ask(session, &self.code_sql(only_tags))?;
        let top = Top {
            count: self.top_methods,
            skip: self.skip_methods,
        };
        let mut processes = grouped(rows, |row| row.process_key, top, total);
        processes.sort_by_key(|group| match self.sort {
            // A process without a start ran when the recording began.
            CpuSort::StartTime => group
                .rows
                .first()
                .and_then(|row| row.process_start_ns)
                .unwrap_or(0),
            sort => group.total.sort_value(sort),
        });
        self.top.cut(&mut processes);
        // After the cut: the sum is over the rows that are shown.
        let total = processes
            .iter()
            .fold(CpuTotal::default(), |sum, group| sum.plus(group.total));
        Ok(MethodAnswer { processes, total })
    }

    fn check_code(&self, session: &Session, only_tags: bool) -> Result<()> {
        check(session, self.time)?;
        if self.by == By::Thread
            && !is_recorded(session, "cpu_sample")?
            && !is_recorded(session, "context_switch")?
        {
            return Err(Error::NeedsRows {
                what: "samples and context switches",
            });
        }
        if only_tags && self.time.is_unlimited() && !has_rows(session, "cpu_tag")? {
            return Err(Error::NotRecorded {
                what: "stacks that tags could be given to",
                how: "record samples or context switches with their stacks, for example `wpr -start CPU`",
                tables: Vec::new(),
            });
        }
        Ok(())
    }
}

/// `*.dll` and `*.sys` alone mean code without names in these modules: `ntdll.dll+0x1a2b`.
fn without_symbols(filter: &str) -> String {
    let parts: Vec<&str> = filter.split(';').collect();
    let is_alias =
        |part: &&str| part.eq_ignore_ascii_case("*.dll") || part.eq_ignore_ascii_case("*.sys");
    if parts.iter().all(is_alias) {
        parts
            .iter()
            .map(|part| format!("{part}+*"))
            .collect::<Vec<_>>()
            .join(";")
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
