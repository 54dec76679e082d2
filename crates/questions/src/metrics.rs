//! Numbers of a trace as one long table, for dashboards and for comparisons of many runs.

use etwkit_question::Format::{WholeOrFixed, Word};
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::sql::Conditions;
use etwkit_question::{
    Among, Column, Example, Form, OptionError, Question, Value, View, group, option,
};
use etwkit_sql::filter::TextFilter;

declare! {
    /// Options of `dump metrics`.
    #[derive(Eq)]
    pub request MetricsRequest {
        /// Number of rows: the largest value of each metric first, then the second largest
        top: Top = group(),
        /// Only these metrics: method.cpu, disk.* (*, ?, several with ;, ! excludes)
        metric: Option<String> = option("METRICS"),
        /// Only processes with these names (*, ?, several with ;, ! excludes)
        process: Option<String> = option("NAMES").of(PROCESSES),
        /// Only these subjects: methods, tags, drivers, host names, counters (*, ?, several with ;, ! excludes)
        name: Option<String> = option("NAMES"),
    }

    /// A number of the trace.
    pub row MetricsRow {
        metric: String = "The metric: `SUBJECT.QUANTITY`.",
        process: Option<String> =
            "Name of the processes whose values are added; missing for the whole trace, and for unknown processes.",
        name: Option<String> = "The method, tag, driver, host name or counter; missing if the metric has none.",
        value: f64 = "The number.",
        unit: String = "Its unit: `ms`, `bytes` or `count`.",
        better: Option<String> = "`lower` if less of it is better; missing if neither is.",
        place: i64 = "Place of the value among all values of the metric, from 1: the largest.",
    }
}

const PROCESSES: Among = Among::Texts("process", "processes", "SELECT name AS text FROM process");

/// A unit of a metric, and the factor from the number of the table to it.
#[derive(Clone, Copy)]
enum Unit {
    /// Milliseconds, of a number in nanoseconds.
    Ms,
    Bytes,
    Count,
}

impl Unit {
    const fn word(self) -> &'static str {
        match self {
            Self::Ms => "ms",
            Self::Bytes => "bytes",
            Self::Count => "count",
        }
    }

    const fn factor(self) -> &'static str {
        match self {
            Self::Ms => " / 1e6",
            Self::Bytes | Self::Count => "",
        }
    }
}

/// A quantity of a subject.
struct Quantity {
    name: &'static str,
    /// The number of a row, which is added over the rows of a process and a name.
    number: &'static str,
    unit: Unit,
    /// True if less of it is better.
    is_better_low: bool,
}

/// Something that has quantities: methods, disk I/O, garbage collection.
struct Subject {
    name: &'static str,
    /// The table, with the alias `c`, and its conditions.
    from: &'static str,
    /// The name in a row; null if the subject has none.
    what: &'static str,
    /// True if its rows have a process.
    has_process: bool,
    quantities: &'static [Quantity],
}

const fn lower(name: &'static str, number: &'static str, unit: Unit) -> Quantity {
    Quantity {
        name,
        number,
        unit,
        is_better_low: true,
    }
}

const fn neutral(name: &'static str, number: &'static str, unit: Unit) -> Quantity {
    Quantity {
        is_better_low: false,
        ..lower(name, number, unit)
    }
}

const NO_NAME: &str = "CAST(NULL AS VARCHAR)";

/// All metrics. Every table of them is kept in summaries, too.
const SUBJECTS: &[Subject] = &[
    Subject {
        name: "trace",
        from: "trace c",
        what: NO_NAME,
        has_process: false,
        quantities: &[
            neutral("duration", "c.duration_ns", Unit::Ms),
            neutral("events", "c.events", Unit::Count),
            lower("lost_events", "c.lost_events", Unit::Count),
        ],
    },
    Subject {
        name: "process",
        from: "cpu_process c",
        what: NO_NAME,
        has_process: true,
        quantities: &[
            lower("cpu", "c.cpu_ns", Unit::Ms),
            lower("ready", "c.ready_ns", Unit::Ms),
        ],
    },
    Subject {
        name: "method",
        from: "cpu_method c",
        what: "coalesce(c.module || CASE WHEN starts_with(c.method, '+') THEN '' ELSE '!' END, '') || c.method",
        has_process: true,
        quantities: &[
            lower("cpu", "c.cpu_ns", Unit::Ms),
            lower("wait", "c.wait_ns", Unit::Ms),
            lower("ready", "c.ready_ns", Unit::Ms),
        ],
    },
    Subject {
        name: "tag",
        from: "(SELECT * FROM cpu_tag WHERE tag_set = 'default') c",
        what: "c.tag",
        has_process: true,
        quantities: &[
            lower("cpu", "c.cpu_ns", Unit::Ms),
            lower("wait", "c.wait_ns", Unit::Ms),
        ],
    },
    Subject {
        name: "disk",
        from: "disk_file c",
        what: NO_NAME,
        has_process: true,
        quantities: &[
            lower(
                "time",
                "c.read_service_ns + c.write_service_ns + c.flush_service_ns",
                Unit::Ms,
            ),
            lower("read", "c.read_bytes", Unit::Bytes),
            lower("written", "c.write_bytes", Unit::Bytes),
        ],
    },
    Subject {
        name: "file",
        from: "file_file c",
        what: NO_NAME,
        has_process: true,
        quantities: &[
            lower("time", "c.duration_ns", Unit::Ms),
            lower("operations", "c.count", Unit::Count),
            lower("failures", "c.failures", Unit::Count),
        ],
    },
    Subject {
        name: "hard_fault",
        from: "hard_fault_file c",
        what: NO_NAME,
        has_process: true,
        quantities: &[
            lower("time", "c.duration_ns", Unit::Ms),
            lower("count", "c.count", Unit::Count),
            lower("read", "c.size_bytes", Unit::Bytes),
        ],
    },
    Subject {
        name: "filter_driver",
        from: "mini_filter_driver c",
        what: "c.module",
        has_process: true,
        quantities: &[lower("time", "c.duration_ns", Unit::Ms)],
    },
    Subject {
        name: "dns",
        from: "dns_query c",
        what: "c.name",
        has_process: true,
        quantities: &[
            lower("time", "c.duration_ns", Unit::Ms),
            neutral("queries", "1", Unit::Count),
            lower(
                "timeouts",
                "CASE WHEN c.is_timed_out THEN 1 ELSE 0 END",
                Unit::Count,
            ),
        ],
    },
    Subject {
        name: "gc",
        from: "gc c",
        what: NO_NAME,
        has_process: true,
        quantities: &[
            lower("pause", "c.suspended_ns", Unit::Ms),
            neutral("count", "1", Unit::Count),
        ],
    },
    Subject {
        name: "jit",
        from: "jit c",
        what: NO_NAME,
        has_process: true,
        quantities: &[
            lower("time", "c.duration_ns", Unit::Ms),
            neutral("methods", "1", Unit::Count),
        ],
    },
    Subject {
        name: "counter",
        from: "(SELECT * FROM pmc_thread WHERE kind = 'counted') c",
        what: "c.counter",
        has_process: true,
        quantities: &[neutral("value", "c.value", Unit::Count)],
    },
];

type MetricsColumn = Column<MetricsRequest, MetricsRow>;

const VIEW: View<MetricsRequest, MetricsRow> = View::new(
    &[
        MetricsColumn::new("Value", "Value", WholeOrFixed(3), |_, row| value_of(row)),
        MetricsColumn::new("Unit", "Unit", Word, |_, row| row.unit.clone().into()),
        MetricsColumn::new("Better", "Better", Word, |_, row| row.better.clone().into()).hidden(),
        MetricsColumn::new("Metric", "Metric", Word, |_, row| row.metric.clone().into()),
        MetricsColumn::new("Process", "Process", Word, |_, row| {
            row.process.clone().into()
        }),
        MetricsColumn::new("Name", "Name", Word, |_, row| row.name.clone().into()),
    ],
    |row| -(row.place as f64),
);

/// Returns the value of a row. Bytes and counts are whole.
fn value_of(row: &MetricsRow) -> Value {
    if row.unit == Unit::Ms.word() {
        row.value.into()
    } else {
        Value::Number(row.value.round() as i64)
    }
}

impl Question for MetricsRequest {
    const NAME: &'static str = "metrics";
    const SENTENCE: &'static str =
        "All numbers of a trace as one long table, for dashboards and many runs";
    const USUAL: &'static [&'static str] = &["metric", "process", "name"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "--metric \"process.*\" slow.etl",
            answer: "CPU and ready time by process name",
        },
        Example {
            words: "--csv metrics.csv runs/",
            answer: "all numbers of all runs, with their labels",
        },
    ];

    fn form(&self) -> Form<Self> {
        Form::rows(&VIEW, self.sql()).top(self.top)
    }

    fn check(&self) -> Result<(), OptionError> {
        let Some(metric) = &self.metric else {
            return Ok(());
        };
        let pattern = TextFilter::parse(metric);
        if names().any(|name| pattern.matches(Some(&name))) {
            return Ok(());
        }
        let all: Vec<String> = names().collect();
        Err(OptionError::Value {
            option: "metric",
            problem: format!("no metric matches {metric} (metrics: {})", all.join(", ")),
        })
    }
}

/// Returns the names of all metrics.
fn names() -> impl Iterator<Item = String> {
    SUBJECTS.iter().flat_map(|subject| {
        let name = |quantity: &Quantity| format!("{}.{}", subject.name, quantity.name);
        subject.quantities.iter().map(name)
    })
}

/// Returns a SELECT for each quantity of a subject.
fn selects(subject: &'static Subject) -> impl Iterator<Item = String> {
    let (process, join) = if subject.has_process {
        (
            "p.name",
            " LEFT JOIN process p ON p.process_key = c.process_key",
        )
    } else {
        (NO_NAME, "")
    };
    subject.quantities.iter().map(move |quantity| {
        let better = if quantity.is_better_low {
            "'lower'"
        } else {
            NO_NAME
        };
        format!(
            "SELECT '{subject}.{name}' AS metric, {process} AS process, {what} AS name,
  sum(CAST({number} AS DOUBLE)){factor} AS value, '{unit}' AS unit, {better} AS better
FROM {from}{join}
GROUP BY {process}, {what}",
            subject = subject.name,
            name = quantity.name,
            what = subject.what,
            number = quantity.number,
            factor = quantity.unit.factor(),
            unit = quantity.unit.word(),
            from = subject.from,
        )
    })
}

impl MetricsRequest {
    /// Returns the SQL of the question.
    #[must_use]
    pub fn sql(&self) -> String {
        let numbers: Vec<String> = SUBJECTS.iter().flat_map(selects).collect();
        let conditions = Conditions::of("value > 0")
            .text("metric", self.metric.as_deref())
            .text("process", self.process.as_deref())
            .text("name", self.name.as_deref());
        format!(
            "SELECT *, row_number() OVER (PARTITION BY metric ORDER BY value DESC, process, name) AS place
FROM (
{}
){conditions}
ORDER BY place DESC, metric DESC",
            numbers.join("\nUNION ALL\n")
        )
    }
}
