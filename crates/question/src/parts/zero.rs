//! A different zero point for times: an event of each trace becomes second 0, so that traces can be
//! compared.

use crate::sql::{Conditions, ProcessQuery};
use crate::{Opt, OptionError, OptionValue, Spec, Values, Words, option};
use crate::{Result, ask};
use etwkit_sql::Session;

declare! {
    /// Kind of event that becomes second 0.
    pub words ZeroMode {
        "marker" => Marker = "The first mark with a matching text.",
        "first" => First =
            "The first sample or switch-in of a matching stack tag; if there is none, of a matching method.",
        "last" => Last = "The last sample or switch-out of a matching method or stack tag.",
        "process-start" => ProcessStart = "The start of a process with a matching command line.",
        "process-end" => ProcessEnd = "The end of a process with a matching command line.",
    }
}

/// The zero point of times. Times are not moved without a mode, or if no event matches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ZeroTime {
    /// Kind of event.
    pub mode: Option<ZeroMode>,
    /// Filter on marks, methods or command lines.
    pub filter: Option<String>,
    /// Only in these processes; marks have none.
    pub process: Option<String>,
}

/// The options and their syntax.
const MODE: Spec = option("MODE[:FILTER]").called("zero-time").output();
const PROCESS: Spec = option("NAMES")
    .called("zero-process")
    .requires("zero-time")
    .output();

/// Two options: mode and filter with a colon between, and the processes.
impl OptionValue for ZeroTime {
    fn options(&self, _: Spec) -> Vec<Opt> {
        let mode = MODE.of_field("", "Move times so that this is second 0: marker, first or last (of a method or stack tag), process-start or process-end. A filter of marks, methods or command lines follows a colon: first:*OnLoad*");
        let process = PROCESS.of_field("", "Only in these processes");
        let none: Option<String> = None;
        [none.options(mode), none.options(process)].concat()
    }

    fn read(values: &Values, _: &Spec) -> std::result::Result<Option<Self>, OptionError> {
        let text = Option::<String>::read(values, &MODE)?.flatten();
        let process = Option::<String>::read(values, &PROCESS)?.flatten();
        let Some(text) = text else {
            return Ok(process.map(|process| Self {
                process: Some(process),
                ..Self::default()
            }));
        };
        let (word, filter) = text
            .split_once(':')
            .map_or((text.as_str(), None), |(word, filter)| (word, Some(filter)));
        // Also without hyphens and in any case, as in command lines of ETWAnalyzer.
        let plain = |word: &str| word.to_ascii_lowercase().replace('-', "");
        let found = ZeroMode::WORDS
            .iter()
            .find(|(known, _)| plain(known) == plain(word));
        if found.is_none() && plain(word) != "none" {
            let problem =
                "expected none, marker, first, last, process-start or process-end".to_owned();
            return Err(OptionError::Value {
                option: "zero-time",
                problem,
            });
        }
        let filter = filter
            .filter(|filter| !filter.is_empty())
            .map(str::to_owned);
        Ok(Some(Self {
            mode: found.map(|(_, mode)| *mode),
            filter,
            process,
        }))
    }

    fn write(&self, _: &Spec, values: &mut Values) {
        let filter = self
            .filter
            .as_ref()
            .map_or_else(String::new, |filter| format!(":{filter}"));
        self.mode
            .map(|mode| format!("{}{filter}", mode.word()))
            .write(&MODE, values);
        self.process.write(&PROCESS, values);
    }
}

declare! {
    /// Number of matching times, and the outermost ones.
    row Fitting {
        count: i64 = "How many.",
        first_ns: Option<i64> = "The earliest.",
        last_ns: Option<i64> = "The latest.",
    }
}

/// Matching times that are farther apart cause a warning.
const CLOSE_NS: i64 = 10_000_000;

impl ZeroTime {
    /// Returns a time column with the zero subtracted.
    #[must_use]
    pub fn moved(&self, column: &str) -> String {
        if self.mode.is_some() {
            format!("{column} - z.zero_ns")
        } else {
            column.to_owned()
        }
    }

    /// Returns a column under its own name.
    #[must_use]
    pub fn column(&self, table: &str, column: &str) -> String {
        let full = format!("{table}.{column}");
        if self.mode.is_some() {
            self.column_as(&full, column)
        } else {
            full
        }
    }

    /// Returns a moved time under another name.
    #[must_use]
    pub fn column_as(&self, time: &str, name: &str) -> String {
        format!("{} AS {name}", self.moved(time))
    }

    /// Joins the zero of the trace, which is one row.
    #[must_use]
    pub fn join(&self) -> String {
        let Some(mode) = self.mode else {
            return String::new();
        };
        let sources = self.sources(mode);
        let all: Vec<String> = sources
            .iter()
            .map(|source| {
                format!(
                    "(SELECT {}({}) FROM {}{})",
                    mode.which(),
                    source.time,
                    source.table,
                    source.conditions
                )
            })
            .collect();
        // Without a match, 0 leaves the times as they are.
        format!(
            "\nCROSS JOIN (SELECT coalesce({}, 0) AS zero_ns) z",
            all.join(", ")
        )
    }

    /// Returns the tables with matching times; the second source counts only if the first one has
    /// no match.
    fn sources(&self, mode: ZeroMode) -> Vec<Source> {
        let of_process = ProcessQuery {
            process: self.process.clone(),
            ..ProcessQuery::default()
        }
        .conditions();
        let filter = self.filter.as_deref();
        let with = |column: &str| of_process.clone().text(column, filter);
        let summed = |table: &str, name: &str, time: &'static str| Source {
            time,
            table: format!("{table} m LEFT JOIN process p ON p.process_key = m.process_key"),
            conditions: with(name),
        };
        // Stored sums have the first and the last time of a method or tag, so no single events are
        // needed.
        let of_methods = |time| {
            vec![
                summed("cpu_method", "m.method", time),
                summed("cpu_tag", "m.tag", time),
            ]
        };
        let process = |time| {
            vec![Source {
                time,
                table: "process p".to_owned(),
                conditions: with("p.command_line"),
            }]
        };
        match mode {
            ZeroMode::Marker => vec![Source {
                time: "ts_ns",
                table: "mark".to_owned(),
                conditions: Conditions::new().text("text", filter),
            }],
            ZeroMode::First => of_methods("m.first_ns"),
            ZeroMode::Last => of_methods("m.last_ns"),
            ZeroMode::ProcessStart => process("p.start_ns"),
            ZeroMode::ProcessEnd => process("p.stop_ns"),
        }
    }

    /// Returns a warning if no event matches, or if several match that are not close to each other.
    ///
    /// # Errors
    /// The query fails.
    pub fn warning(&self, session: &Session) -> Result<Option<String>> {
        let Some(mode) = self.mode else {
            return Ok(None);
        };
        for source in self.sources(mode) {
            let Source {
                time,
                table,
                conditions,
            } = &source;
            let sql = format!(
                "SELECT count({time}) AS count, min({time}) AS first_ns, max({time}) AS last_ns FROM {table}{conditions}"
            );
            let found: Vec<Fitting> = ask(session, &sql)?;
            let Some(Fitting {
                count,
                first_ns: Some(first),
                last_ns: Some(last),
            }) = found.first()
            else {
                continue;
            };
            let seconds = |ns: i64| etwkit_sql::time_format::seconds(ns, 3);
            let zero = if mode.which() == "max" { last } else { first };
            // Times of a damaged extract can lie at both ends of the numbers, farther apart than a
            // number holds.
            return Ok((last.saturating_sub(*first) > CLOSE_NS).then(|| {
                format!(
                    "{count} match the zero time, from {} to {} s; it is {} s",
                    seconds(*first),
                    seconds(*last),
                    seconds(*zero)
                )
            }));
        }
        Ok(Some(
            "nothing matches the zero time: times are not moved".to_owned(),
        ))
    }
}

impl ZeroMode {
    /// Returns the aggregate that chooses one of several matching times.
    const fn which(self) -> &'static str {
        match self {
            Self::Last => "max",
            _ => "min",
        }
    }
}

struct Source {
    time: &'static str,
    table: String,
    conditions: Conditions,
}
