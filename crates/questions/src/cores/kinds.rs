//! CPU by kind of core, in addition to the rows of processes and methods.

use etwkit_question::declare;
declare! {
    /// CPU of a row on each kind of core, of machines with several kinds.
    pub row CoreKinds {
        class_0_cpu_ns: Option<i64> = "CPU on cores of class 0.",
        class_0_cpu_percent: Option<f64> = "`class_0_cpu_ns` of the CPU on all kinds.",
        class_0_normalized_ns: Option<i64> =
            "CPU × speed ÷ nominal speed; missing where no speed was recorded.",
        class_0_mean_mhz: Option<f64> = "Mean speed; missing where none was recorded.",
        class_0_frequency_percent: Option<f64> = "`class_0_mean_mhz` of the nominal speed.",
        class_0_used_cores: Option<i64> = "Cores it ran on.",
        class_0_enabled_cores: Option<i64> = "Cores of that class that its threads were allowed to run on.",
        class_0_duration_ns: Option<i64> =
            "From the first to the last sample (switch-in, switch-out) on that class.",
        class_1_cpu_ns: Option<i64> = "CPU on cores of class 1.",
        class_1_cpu_percent: Option<f64> = "`class_1_cpu_ns` of the CPU on all kinds.",
        class_1_normalized_ns: Option<i64> =
            "CPU × speed ÷ nominal speed; missing where no speed was recorded.",
        class_1_mean_mhz: Option<f64> = "Mean speed; missing where none was recorded.",
        class_1_frequency_percent: Option<f64> = "`class_1_mean_mhz` of the nominal speed.",
        class_1_used_cores: Option<i64> = "Cores it ran on.",
        class_1_enabled_cores: Option<i64> = "Cores of that class that its threads were allowed to run on.",
        class_1_duration_ns: Option<i64> =
            "From the first to the last sample (switch-in, switch-out) on that class.",
        class_2_cpu_ns: Option<i64> = "CPU on cores of class 2.",
        class_2_cpu_percent: Option<f64> = "`class_2_cpu_ns` of the CPU on all kinds.",
        class_2_normalized_ns: Option<i64> =
            "CPU × speed ÷ nominal speed; missing where no speed was recorded.",
        class_2_mean_mhz: Option<f64> = "Mean speed; missing where none was recorded.",
        class_2_frequency_percent: Option<f64> = "`class_2_mean_mhz` of the nominal speed.",
        class_2_used_cores: Option<i64> = "Cores it ran on.",
        class_2_enabled_cores: Option<i64> = "Cores of that class that its threads were allowed to run on.",
        class_2_duration_ns: Option<i64> =
            "From the first to the last sample (switch-in, switch-out) on that class.",
        class_other_cpu_ns: Option<i64> = "CPU on cores of other classes, or whose class was not recorded.",
    }
}

/// CPU of a row on one kind of core.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KindUse {
    /// Kind of core, 0 the most efficient one.
    pub efficiency_class: i64,
    /// CPU.
    pub cpu_ns: i64,
    /// `cpu_ns` of the CPU of the row on all kinds.
    pub cpu_percent: f64,
    /// CPU × speed ÷ nominal speed; missing if no speed was recorded.
    pub normalized_ns: Option<i64>,
    /// Mean speed; missing if none was recorded.
    pub mean_mhz: Option<f64>,
    /// `mean_mhz` of the nominal speed.
    pub frequency_percent: Option<f64>,
    /// Cores it ran on.
    pub used_cores: i64,
    /// Cores of that kind.
    pub enabled_cores: Option<i64>,
    /// From the first to the last sample (switch-in, switch-out) on that kind.
    pub duration_ns: i64,
}

impl KindUse {
    /// CPU on a class without speeds. Of a row with CPU on a class, the share, the cores and the
    /// length of that are known as well.
    fn of(
        efficiency_class: i64,
        cpu_ns: i64,
        percent: Option<f64>,
        (cores, length): (Option<i64>, Option<i64>),
    ) -> Self {
        Self {
            efficiency_class,
            cpu_ns,
            cpu_percent: percent.unwrap_or_default(),
            normalized_ns: None,
            mean_mhz: None,
            frequency_percent: None,
            used_cores: cores.unwrap_or(0),
            enabled_cores: None,
            duration_ns: length.unwrap_or(0),
        }
    }
}

impl CoreKinds {
    /// Returns the kinds on which the row has CPU, the fastest one first.
    #[must_use]
    pub fn uses(&self) -> Vec<KindUse> {
        let all = [
            self.class_0_cpu_ns.map(|cpu_ns| KindUse {
                normalized_ns: self.class_0_normalized_ns,
                mean_mhz: self.class_0_mean_mhz,
                frequency_percent: self.class_0_frequency_percent,
                enabled_cores: self.class_0_enabled_cores,
                ..KindUse::of(
                    0,
                    cpu_ns,
                    self.class_0_cpu_percent,
                    (self.class_0_used_cores, self.class_0_duration_ns),
                )
            }),
            self.class_1_cpu_ns.map(|cpu_ns| KindUse {
                normalized_ns: self.class_1_normalized_ns,
                mean_mhz: self.class_1_mean_mhz,
                frequency_percent: self.class_1_frequency_percent,
                enabled_cores: self.class_1_enabled_cores,
                ..KindUse::of(
                    1,
                    cpu_ns,
                    self.class_1_cpu_percent,
                    (self.class_1_used_cores, self.class_1_duration_ns),
                )
            }),
            self.class_2_cpu_ns.map(|cpu_ns| KindUse {
                normalized_ns: self.class_2_normalized_ns,
                mean_mhz: self.class_2_mean_mhz,
                frequency_percent: self.class_2_frequency_percent,
                enabled_cores: self.class_2_enabled_cores,
                ..KindUse::of(
                    2,
                    cpu_ns,
                    self.class_2_cpu_percent,
                    (self.class_2_used_cores, self.class_2_duration_ns),
                )
            }),
        ];
        all.into_iter().rev().flatten().collect()
    }
}

/// Classes with columns of their own; processors have three at most.
const CLASSES: [i64; 3] = [0, 1, 2];

/// Columns of each efficiency class: name, SQL type, and the aggregate over the rows of the class.
// `C` is replaced with the condition on the class. Speeds without measured time belong to no
// sample, so they count as missing.
const COLUMNS: [(&str, &str, &str); 8] = [
    ("cpu_ns", "BIGINT", "sum(cpu_ns) FILTER (WHERE C)"),
    (
        "cpu_percent",
        "DOUBLE",
        "100.0 * sum(cpu_ns) FILTER (WHERE C) / nullif(sum(cpu_ns), 0)",
    ),
    (
        "normalized_ns",
        "BIGINT",
        "max(normalized_ns) FILTER (WHERE C AND measured_ns > 0)",
    ),
    (
        "mean_mhz",
        "DOUBLE",
        "max(mean_mhz) FILTER (WHERE C AND measured_ns > 0)",
    ),
    (
        "frequency_percent",
        "DOUBLE",
        "max(100.0 * mean_mhz / nominal_mhz) FILTER (WHERE C AND measured_ns > 0)",
    ),
    ("used_cores", "BIGINT", "max(core_count) FILTER (WHERE C)"),
    (
        "enabled_cores",
        "BIGINT",
        "max(enabled_cores) FILTER (WHERE C)",
    ),
    (
        "duration_ns",
        "BIGINT",
        "max(last_ns - first_ns) FILTER (WHERE C)",
    ),
];

/// The column for the CPU of all other classes.
const OTHER: &str = "class_other_cpu_ns";

/// Processors of each class that a process may use: the ones that at least one of its threads was
/// allowed to run on at some time. Thread events do not name the group of their mask, so all
/// processors count if there are several groups, or if no mask was recorded.
pub(crate) const ENABLED_CORES: &str = "(
    SELECT p.process_key AS owner_key, c.efficiency_class, count(*) AS enabled_cores
    FROM (SELECT process_key FROM process UNION ALL SELECT NULL) p
    LEFT JOIN (
      SELECT process_key, nullif(bit_or(affinity), 0) AS mask
      FROM (
        SELECT process_key, affinity FROM thread
        UNION ALL
        SELECT t.process_key, f.affinity FROM thread_affinity f JOIN thread t ON t.thread_key = f.thread_key
      )
      GROUP BY process_key
    ) a ON a.process_key IS NOT DISTINCT FROM p.process_key
    JOIN cpu_core c ON a.mask IS NULL OR (SELECT count(DISTINCT processor_group) FROM cpu_core) > 1
      OR (a.mask >> coalesce(c.group_number, c.cpu)) & 1 = 1
    GROUP BY p.process_key, c.efficiency_class
  )";

/// Returns the columns of the joined kinds.
pub(crate) fn columns() -> String {
    let one = |class: i64| {
        COLUMNS
            .map(|(name, ..)| format!("k.class_{class}_{name}"))
            .join(", ")
    };
    format!("{},\n  k.{OTHER}", CLASSES.map(one).join(",\n  "))
}

/// Returns the columns of kinds of cores, all missing: for ranges of the trace, and for rows with
/// another grouping.
pub(crate) fn no_columns() -> String {
    let one = |class: i64| {
        COLUMNS
            .map(|(name, kind, _)| format!("CAST(NULL AS {kind}) AS class_{class}_{name}"))
            .join(", ")
    };
    format!(
        "{},\n  CAST(NULL AS BIGINT) AS {OTHER}",
        CLASSES.map(one).join(",\n  ")
    )
}

/// Joins the kinds of cores of the process of the rows named `of`.
pub(crate) fn join_processes(of: &str) -> String {
    // Threads without a process have a missing key, which an equation never pairs; no key is
    // negative.
    join(
        "cpu_class",
        "process_key",
        &format!("coalesce(k.process_key, -1) = coalesce({of}.process_key, -1)"),
    )
}

/// Joins the kinds of cores of the method of the rows named `of`.
pub(crate) fn join_methods(of: &str) -> String {
    let on = format!(
        "coalesce(k.process_key, -1) = coalesce({of}.process_key, -1) AND {of}.kind = 'method'
  AND k.method = {of}.method AND coalesce(k.module_path, '') = coalesce({of}.module_path, '')"
    );
    join("cpu_method_class", "process_key, module_path, method", &on)
}

/// Returns one row for all classes of a process or method, if there is more than one kind of core.
fn join(table: &str, key: &str, on: &str) -> String {
    let one = |class: i64| {
        // Aggregates with a condition make columns of rows: one pass over the table instead of a
        // join for each class.
        let of_class = format!("c.efficiency_class = {class}");
        COLUMNS
            .map(|(name, _, value)| {
                format!(
                    "{} AS class_{class}_{name}",
                    value.replace("(WHERE C", &format!("(WHERE {of_class}"))
                )
            })
            .join(",\n    ")
    };
    format!(
        "
LEFT JOIN (
  SELECT {key},
    {},
    sum(cpu_ns) FILTER (WHERE c.efficiency_class IS NULL OR c.efficiency_class NOT BETWEEN 0 AND 2) AS {OTHER}
  FROM {table} c
  LEFT JOIN {ENABLED_CORES} e ON e.efficiency_class = c.efficiency_class AND e.owner_key IS NOT DISTINCT FROM c.process_key
  WHERE (SELECT count(DISTINCT efficiency_class) FROM cpu_core) > 1
  GROUP BY {key}
) k ON {on}",
        CLASSES.map(one).join(",\n    ")
    )
}
