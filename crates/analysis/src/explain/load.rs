//! Features of all runs, queried in SQL: sums by run, process and name, from tables that summaries
//! also have. Where all runs keep their features, these are read instead.

use etwkit_question::FromRows;
use etwkit_questions::pmc::counter_names;
use etwkit_sql::Session;

use super::feature::{FeatureKind, Matrix, Measure, Name};
use super::runs::FREQUENCIES;
use super::stored;
use crate::Result;

/// Share of the highest mean frequency of a run, below which processors count as slow.
const SLOW_CLOCK: f64 = 0.9;

/// Least size of a method, tag or process that is compared, in milliseconds.
pub(super) const LEAST_MS: f64 = 0.5;

/// Maximum number of values that are read, one for each feature and run: with more runs, features
/// have to be larger.
const MOST_NUMBERS: i64 = 6_000_000;

etwkit_question::declare! {
    /// Times of something in a run.
    pub(super) row Times {
        trace_id: i64 = "Run.",
        process: Option<String> = "Process.",
        what: Option<String> = "What it is of.",
        cpu_ns: i64 = "CPU.",
        wait_ns: i64 = "Wait.",
        ready_ns: i64 = "Ready time.",
        depth: f64 = "Frames further in.",
    }

    /// A number of something in a run.
    pub(super) row Number {
        trace_id: i64 = "Run.",
        process: Option<String> = "Process.",
        what: Option<String> = "What it is of.",
        value: f64 = "The number.",
        bytes: f64 = "Bytes.",
    }

    /// The number of values to read.
    row Count {
        numbers: i64 = "Numbers.",
    }
}

/// Frames that the stacks of all waits and threads have: they do not distinguish causes.
const PLUMBING: [&str; 21] = [
    "ntoskrnl.exe!Ki",
    "ntoskrnl.exe!KeWait",
    "ntoskrnl.exe!KeRemove",
    "ntoskrnl.exe!KeDelay",
    "ntoskrnl.exe!NtDelay",
    "ntoskrnl.exe!NtRemove",
    "ntoskrnl.exe!ObWait",
    "ntoskrnl.exe!ObpWait",
    "ntoskrnl.exe!NtWait",
    "ntoskrnl.exe!Iof",
    "ntoskrnl.exe!Psp",
    "ntdll.dll!Nt",
    "ntdll.dll!Zw",
    "ntdll.dll!RtlUserThread",
    "ntdll.dll!Ldr",
    "kernel32.dll!BaseThread",
    "KERNELBASE.dll!WaitFor",
    "KERNELBASE.dll!SleepEx",
    "ntoskrnl.exe!Alpcp",
    "ntoskrnl.exe!NtAlpc",
    "rpcrt4.dll!",
];

/// Returns `true` for a method that does not distinguish causes. Traces spell names of modules as the
/// loader of a process did: `KERNELBASE.dll` or `KernelBase.dll`.
fn is_plumbing(method: &str) -> bool {
    let begins_with = |frame: &&str| {
        method
            .get(..frame.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(frame))
    };
    PLUMBING.iter().any(begins_with)
}

const PROCESS: &str =
    "LEFT JOIN process p ON p.process_key = c.process_key AND p.trace_id = c.trace_id";

/// The folder of a path: everything up to the last separator.
const FOLDER: &str = r"regexp_replace(c.path, '[^\\]*$', '')";

/// Kinds of features with times, each with its SQL for features of at least `floor_ms`.
pub(super) fn times(floor_ms: f64) -> [(FeatureKind, String); 3] {
    // Without context switches waits are null, and sums of them have to be 0 to be compared.
    let sums = "sum(coalesce(c.wait_ns, 0)) AS wait_ns, sum(coalesce(c.ready_ns, 0)) AS ready_ns";
    // The least size applies to sums: a method that is small in each thread may be large over all
    // of them.
    let grouped = format!(
        "GROUP BY c.trace_id, p.name, what
HAVING sum(c.cpu_ns) >= {least} OR sum(coalesce(c.wait_ns, 0)) >= {least}
  OR sum(coalesce(c.ready_ns, 0)) >= {least}",
        least = nanoseconds(floor_ms)
    );
    let of = |what: &str, depth: &str, table: &str, condition: &str| {
        format!(
            "SELECT c.trace_id, p.name AS process, {what} AS what, sum(c.cpu_ns) AS cpu_ns,
  {sums}, {depth} AS depth
FROM {table} c {PROCESS}{condition}
{grouped}"
        )
    };
    let tags = " WHERE c.tag_set = 'default' AND c.tag <> 'Other'";
    [
        (
            FeatureKind::Method,
            of(
                "coalesce(c.module, '?') || '!' || c.method",
                "min(c.depth)",
                "cpu_method",
                "",
            ),
        ),
        (FeatureKind::Tag, of("c.tag", "0.0", "cpu_tag", tags)),
        (FeatureKind::Process, of("''", "0.0", "cpu_process", "")),
    ]
}

/// Nanoseconds of a size.
pub(super) fn nanoseconds(floor_ms: f64) -> f64 {
    floor_ms * 1e6
}

/// Kinds of features with one time and bytes.
pub(super) fn numbers() -> [(FeatureKind, Measure, String); 14] {
    let of = |table: &str, what: &str, ns: &str, bytes: &str| {
        format!(
            "SELECT c.trace_id, p.name AS process, {what} AS what, sum(CAST({ns} AS DOUBLE)) / 1e6 AS value,
  sum(CAST({bytes} AS DOUBLE)) AS bytes
FROM {table} c {PROCESS}
GROUP BY c.trace_id, p.name, what"
        )
    };
    let disk = "c.read_service_ns + c.write_service_ns + c.flush_service_ns";
    let of_disk = "c.read_bytes + c.write_bytes";
    let counted = "SELECT c.trace_id, p.name AS process, ";
    let pmc = format!(
        "{counted}c.counter AS what, sum(CAST(c.value AS DOUBLE)) AS value, 0.0 AS bytes
FROM pmc_thread c {PROCESS} WHERE c.kind = 'counted'
GROUP BY c.trace_id, p.name, c.counter"
    );
    let cycles = format!(
        "{counted}'cycles per instruction' AS what, {} / nullif({}, 0) AS value, 0.0 AS bytes
FROM pmc_thread c {PROCESS} WHERE c.kind = 'counted'
GROUP BY c.trace_id, p.name",
        first_counted("cycles"),
        first_counted("instructions")
    );
    let modules = "SELECT trace_id, CAST(NULL AS VARCHAR) AS process,
  name || coalesce(' ' || coalesce(file_version, product_version), '') AS what, 1.0 AS value, 0.0 AS bytes
FROM module GROUP BY trace_id, what"
        .to_owned();
    [
        (
            FeatureKind::Driver,
            Measure::Time,
            of("mini_filter_driver", "c.module", "c.duration_ns", "0"),
        ),
        (
            FeatureKind::Dns,
            Measure::Time,
            of("dns_query", "c.name", "coalesce(c.duration_ns, 0)", "0"),
        ),
        (
            FeatureKind::HardFault,
            Measure::Time,
            of("hard_fault_file", "''", "c.duration_ns", "c.size_bytes"),
        ),
        (
            FeatureKind::Gc,
            Measure::Time,
            of("gc", "''", "coalesce(c.suspended_ns, 0)", "0"),
        ),
        (
            FeatureKind::Jit,
            Measure::Time,
            of("jit", "''", "coalesce(c.duration_ns, 0)", "0"),
        ),
        (
            FeatureKind::Disk,
            Measure::Time,
            of("disk_file", "''", disk, of_disk),
        ),
        (
            FeatureKind::File,
            Measure::Time,
            of("file_file", "''", "c.duration_ns", "c.result_bytes"),
        ),
        (
            FeatureKind::Folder,
            Measure::Time,
            of("disk_file", FOLDER, disk, of_disk),
        ),
        (
            FeatureKind::Path,
            Measure::Time,
            of("disk_file", "c.path", disk, of_disk),
        ),
        (
            FeatureKind::Reason,
            Measure::Wait,
            of(
                "context_switch",
                "wait_reason_name(c.wait_reason)",
                "coalesce(c.wait_ns, 0)",
                "0",
            ),
        ),
        (FeatureKind::Pmc, Measure::Count, pmc),
        (FeatureKind::Pmc, Measure::Ratio, cycles),
        (FeatureKind::Module, Measure::Present, modules),
        (FeatureKind::Setting, Measure::Present, settings()),
    ]
}

/// Returns the sum of a counter that is a column of `dump pmc`, under the first of its names that
/// was recorded: processors count some events twice, in a fixed counter and in a general one, and
/// both would give twice as much.
pub(super) fn first_counted(column: &str) -> String {
    let sum =
        |name: &&str| format!("sum(CAST(c.value AS DOUBLE)) FILTER (WHERE c.counter = '{name}')");
    let sums: Vec<String> = counter_names(column).iter().map(sum).collect();
    format!("coalesce({})", sums.join(", "))
}

/// Returns the SQL of the setting that is known only beside other runs: slow processors. Not the frequency
/// itself, which is another number in each run.
fn slow_processors() -> String {
    format!(
        "SELECT f.trace_id, CAST(NULL AS VARCHAR) AS process,
  'processor frequency: far below the fastest run' AS what, 1.0 AS value, 0.0 AS bytes
FROM ({FREQUENCIES}) f, (SELECT max(value) AS best FROM ({FREQUENCIES})) b
WHERE f.value < {SLOW_CLOCK} * b.best"
    )
}

/// Returns the SQL of hardware and settings of a machine, as `name: value`.
fn settings() -> String {
    let of = |name: &str, value: &str, from: &str| {
        format!(
            "SELECT trace_id, CAST(NULL AS VARCHAR) AS process,
  {name} || ': ' || CAST({value} AS VARCHAR) AS what, 1.0 AS value, 0.0 AS bytes FROM {from}"
        )
    };
    let cache = "CASE WHEN is_write_cache_enabled THEN 'on' ELSE 'off' END";
    [
        of(
            "'write cache of disk ' || CAST(disk AS VARCHAR)",
            cache,
            "disk WHERE is_write_cache_enabled IS NOT NULL",
        ),
        of(
            "coalesce(name, setting_guid)",
            "value_hex",
            "power_setting WHERE kind = 'rundown' GROUP BY 1, 2, 3",
        ),
        of(
            "topic || ' ' || name",
            "value",
            // The address of the kernel is another one after each start of Windows.
            "system_config WHERE value IS NOT NULL AND name <> 'kernel_base' GROUP BY 1, 2, 3",
        ),
        of("'processors'", "processors", "trace"),
        of("'computer'", "computer", "trace WHERE computer IS NOT NULL"),
        of(
            "'Windows'",
            "os_version",
            "trace WHERE os_version IS NOT NULL",
        ),
    ]
    .join("\nUNION ALL\n")
}

/// Returns the SQL of all kinds, for people to read.
pub(super) fn shown() -> String {
    let times = times(1.0).into_iter();
    let numbers = numbers().into_iter().map(|(kind, _, sql)| (kind, sql));
    times
        .chain(numbers)
        .chain([(FeatureKind::Setting, slow_processors())])
        .map(|(kind, sql)| format!("-- {}\n{sql};\n", kind.word()))
        .collect()
}

/// Returns the features of all runs; methods, tags and processes only if they have `floor_ms` in
/// some run. `has_rows` is true if all extracts have single rows, not only sums.
pub(super) fn load(
    session: &Session,
    runs: usize,
    floor_ms: f64,
    has_rows: bool,
) -> Result<Matrix> {
    let mut matrix = Matrix::new(runs);
    if stored::are_in_all(session, runs) {
        let floor_ms = enough(session, floor_ms, stored::methods)?;
        stored::read(session, (floor_ms, has_rows), &mut matrix)?;
    } else {
        let floor_ms = enough(session, floor_ms, methods)?;
        compute(session, (floor_ms, has_rows), &mut matrix)?;
    }
    each(session, &slow_processors(), |row: Number| {
        matrix.add_number((FeatureKind::Setting, Measure::Present), row);
    })?;
    add_labels(session, &mut matrix);
    matrix.finish();
    Ok(matrix)
}

/// Computes the features of the runs.
fn compute(
    session: &Session,
    (floor_ms, has_rows): (f64, bool),
    matrix: &mut Matrix,
) -> Result<()> {
    for (kind, sql) in times(floor_ms) {
        each(session, &sql, |row: Times| matrix.add_times(kind, row))?;
    }
    for (kind, measure, sql) in numbers() {
        if is_compared(kind, has_rows) {
            each(session, &sql, |row: Number| {
                matrix.add_number((kind, measure), row);
            })?;
        }
    }
    Ok(())
}

/// Returns `true` for a kind that all runs have. Summaries do not keep context switches, and a reason that
/// only some runs have would look like a cause.
pub(super) fn is_compared(kind: FeatureKind, has_rows: bool) -> bool {
    kind != FeatureKind::Reason || has_rows
}

impl Matrix {
    /// Adds the CPU, wait and ready time of something.
    pub(super) fn add_times(&mut self, kind: FeatureKind, row: Times) {
        // Code without a name is one cause.
        let what = row.what.unwrap_or_default();
        // Not in SQL, where sixteen more conditions would hide its purpose from a reader.
        if is_plumbing(&what) {
            return;
        }
        let process = Some(row.process.unwrap_or_else(|| "?".to_owned()));
        let run = usize::try_from(row.trace_id).unwrap_or(usize::MAX);
        let all = [
            (Measure::Cpu, row.cpu_ns),
            (Measure::Wait, row.wait_ns),
            (Measure::Ready, row.ready_ns),
        ];
        for (measure, ns) in all.into_iter().filter(|(_, ns)| *ns > 0) {
            let name = Name {
                kind,
                measure,
                what: what.clone(),
                process: process.clone(),
            };
            self.add(run, name, row.depth, ns as f64 / 1e6);
        }
    }

    /// Adds a number of something, and its bytes.
    pub(super) fn add_number(&mut self, (kind, measure): (FeatureKind, Measure), row: Number) {
        let Some(what) = row.what else { return };
        let run = usize::try_from(row.trace_id).unwrap_or(usize::MAX);
        // A module or setting counts once for a run, even if many processes have it.
        let of_machine = matches!(kind, FeatureKind::Module | FeatureKind::Setting);
        let process = (!of_machine).then(|| row.process.unwrap_or_else(|| "?".to_owned()));
        let name = Name {
            kind,
            measure,
            what,
            process,
        };
        if row.bytes > 0.0 {
            let bytes = Name {
                measure: Measure::Bytes,
                ..name.clone()
            };
            self.add(run, bytes, 0.0, row.bytes);
        }
        let is_present = measure == Measure::Present;
        self.add(run, name, 0.0, if is_present { 1.0 } else { row.value });
    }
}

/// Adds the labels of runs, such as the parameters of a test.
fn add_labels(session: &Session, matrix: &mut Matrix) {
    for (run, (_, manifest)) in session.manifests().enumerate() {
        for (label, value) in &manifest.labels {
            let name = Name {
                kind: FeatureKind::Setting,
                measure: Measure::Present,
                what: format!("{label}={value}"),
                process: None,
            };
            matrix.add(run, name, 0.0, 1.0);
        }
    }
}

/// Returns the SQL of methods of at least this size.
fn methods(floor_ms: f64) -> String {
    let [(_, methods), ..] = times(floor_ms);
    methods
}

/// Returns the smallest size with an acceptable number of values of methods.
fn enough(session: &Session, mut floor_ms: f64, methods: fn(f64) -> String) -> Result<f64> {
    loop {
        let count = format!("SELECT count(*) AS numbers FROM ({})", methods(floor_ms));
        let mut numbers = 0;
        each(session, &count, |row: Count| numbers = row.numbers)?;
        if numbers <= MOST_NUMBERS {
            return Ok(floor_ms);
        }
        // Doubled, so that a few counts reach a suitable size even from far away.
        floor_ms *= 2.0;
    }
}

/// Calls `take` with each row of an answer, which is read batch by batch.
pub(super) fn each<R: FromRows>(
    session: &Session,
    sql: &str,
    mut take: impl FnMut(R),
) -> Result<()> {
    for batch in session.sql(sql)? {
        R::read(&batch?)?.into_iter().for_each(&mut take);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_that_all_waits_call_are_plumbing() {
        for method in [
            "ntoskrnl.exe!KeWaitForSingleObject",
            "KERNELBASE.dll!WaitForMultipleObjectsEx",
            "KERNELBASE.dll!SleepEx",
            "KernelBase.dll!WaitForSingleObjectEx",
            "NTDLL.DLL!NtWaitForSingleObject",
            "rpcrt4.dll!NdrClientCall3",
            "RPCRT4.dll!NdrClientCall3",
        ] {
            assert!(is_plumbing(method), "{method}");
        }
        assert!(!is_plumbing("KERNELBASE.dll!CreateFileW"));
        assert!(!is_plumbing("builder.exe!WaitForWorkers"));
    }
}
