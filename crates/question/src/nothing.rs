//! Messages for an answer without rows: the given options, the values that exist, and the likely
//! intended ones.

use etwkit_base::{digits, shell};

use crate::covered::{Covered, Recorder};
use crate::range::{TracePart, Unit};
use crate::trace::TraceInfo;
use crate::{Among, AnyQuestion, AnyRequest, Count, Group, Opt, OptionKind, Values};
use crate::{Result, ask};
use etwkit_sql::Session;
use etwkit_sql::filter::{ProcessFilter, TextFilter};
use etwkit_sql::similar;
use etwkit_sql::time_format::{TimeFormat, TimeWriter, TraceClock};

/// Maximum number of different names that are compared with the given one.
// Comparing takes a look at each letter of each name, and a trace can name millions of files.
const COMPARED: usize = 20_000;

/// Names are listed without a similar one only if there are at most this many.
const LISTED: usize = 8;

/// Option that adds the idle process.
const IDLE: &str = "idle";

/// Noun for a process in messages.
const PROCESS: &str = "process";

declare! {
    /// A process.
    row ProcessName {
        name: Option<String> = "Name, if it is known.",
        pid: Option<i64> = "Process id.",
    }

    /// A name that a filter is compared with.
    row TextRow {
        text: Option<String> = "The name.",
    }
}

/// The options of a request that choose among rows, with their values.
pub struct RowFilters {
    given: Vec<(Opt, String)>,
    /// The request with these values; `None` if they are faulty.
    request: Option<Box<dyn AnyRequest>>,
    /// True if an option was given, whether it chooses rows or not.
    has_options: bool,
    /// True if one answer is about all extracts. It can lack rows although its options match.
    is_of_all: bool,
    /// True if the idle process has rows only with an option.
    leaves_out_idle: bool,
}

impl RowFilters {
    /// Returns the options that were given and that choose rows.
    #[must_use]
    pub fn of(question: &dyn AnyQuestion, values: &Values) -> Self {
        let given = |option: Opt| {
            let value = match values.get(option.name)? {
                serde_json::Value::Array(files) => files
                    .iter()
                    .filter_map(serde_json::Value::as_str)
                    .collect::<Vec<_>>()
                    .join(" "),
                serde_json::Value::Bool(_) => String::new(),
                value => value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned),
            };
            // An option given without a value that is not a flag only changes how rows are shown.
            let chooses = option.group == Group::Rows && option.heading.is_none();
            // A flag has no value, and any other option without one was not given.
            (chooses && value.is_empty() == (option.kind == OptionKind::Flag))
                .then_some((option, value))
        };
        Self {
            given: question.options().into_iter().filter_map(given).collect(),
            request: question.read(values).ok(),
            has_options: !values.is_empty(),
            is_of_all: question.is_of_all(),
            leaves_out_idle: question.options().iter().any(|option| option.name == IDLE),
        }
    }

    /// Returns `true` if no option chooses among rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// Returns a sentence about why `of` has no rows; opens a session over it only if it needs one.
    ///
    /// # Errors
    /// The session cannot be opened; a query fails.
    pub fn sentence<E: From<crate::Error>>(
        &self,
        of: &str,
        open: impl FnOnce() -> std::result::Result<std::sync::Arc<Session>, E>,
    ) -> std::result::Result<String, E> {
        let no_rows = format!("no rows in {of}");
        // Without any option a question leaves nothing out by itself.
        if !self.has_options {
            return Ok(no_rows);
        }
        let session = open()?;
        let reason = self.own_reason(&session)?;
        if self.given.is_empty() {
            return Ok(match reason {
                Some(reason) => format!("{no_rows}: {reason}"),
                None => no_rows,
            });
        }
        let option = |(option, value): &(Opt, String)| {
            format!("--{} {value}", option.name).trim_end().to_owned()
        };
        let asked: Vec<String> = self.given.iter().map(option).collect();
        let together = match asked.len() {
            0 | 1 => "",
            _ => " together",
        };
        let asked = asked.join(" and ");
        if let Some(reason) = reason {
            return Ok(format!("nothing in {of} for {asked}: {reason}"));
        }
        let asked = format!("nothing in {of} matches {asked}");
        let mut why = Vec::new();
        for (option, value) in &self.given {
            why.extend(match (&option.of, &option.kind) {
                (Some(Among::Processes), _) => match no_process(&session, value)? {
                    None if self.leaves_out_idle => only_idle(&session, value)?,
                    none => none,
                },
                (Some(Among::Texts(what, several, sql)), _) => {
                    no_text(&session, (what, several), sql, value)?
                }
                (None, OptionKind::Range(Unit::Moment)) if option.name == "range" => {
                    outside(&session, value)?
                }
                (None, _) => None,
            });
        }
        Ok(match why.as_slice() {
            [] if self.is_of_all => no_rows,
            [] => format!("{asked}{together}"),
            why => format!("{asked}: {}", why.join("; ")),
        })
    }

    /// Returns the reason that the question itself knows.
    fn own_reason(&self, session: &Session) -> Result<Option<String>> {
        match &self.request {
            Some(request) => request.why_nothing(session),
            None => Ok(None),
        }
    }
}

/// Returns a message that no process passes a filter, with similar names; `None` if one does.
///
/// # Errors
/// The query fails.
pub fn no_process(session: &Session, filter: &str) -> Result<Option<String>> {
    let all = processes(session)?;
    // A matching process means that another option left nothing: then this one explains nothing.
    let is_process = |filter: &str| {
        let wanted = ProcessFilter::parse(filter);
        all.iter().any(|row| row.passes(&wanted))
    };
    if is_process(filter) {
        return Ok(None);
    }
    let names: Vec<String> = all.iter().filter_map(ProcessName::called).collect();
    let inputs: Vec<&str> = session.names().collect();
    let list = list_of_processes(&inputs);
    // Windows reuses ids, so that several processes can have one name and id.
    let counts: Vec<Count> = ask(session, "SELECT count(*) AS rows FROM process")?;
    let count = counts.first().map_or(0, |count| count.rows);
    let message = none_fits(
        (PROCESS, "processes"),
        filter,
        &names,
        usize::try_from(count).unwrap_or(0),
        list.as_deref(),
    );
    Ok(Some(match name_and_arguments(filter) {
        Some((name, arguments)) if is_process(name) => {
            let name = shell::quoted_pattern(name);
            let arguments = shell::quoted_pattern(&format!("*{arguments}*"));
            format!("{message}; a name has no arguments: --process {name} --cmdline {arguments}")
        }
        _ => message,
    }))
}

/// Returns a message that a filter leaves nothing but the idle process, whose idle time no answer has;
/// `None` if another process passes it.
fn only_idle(session: &Session, filter: &str) -> Result<Option<String>> {
    let wanted = ProcessFilter::parse(filter);
    let all = processes(session)?;
    let matching: Vec<&ProcessName> = all.iter().filter(|row| row.passes(&wanted)).collect();
    let only = match *matching {
        [idle] if idle.pid == Some(0) => idle.called(),
        _ => None,
    };
    Ok(only.map(|idle| {
        format!(
            "only {idle} matches {filter}, and idle time is left out; `etwkit dump cores --table states` shows it, \
             and --methods \"*\" --idle shows interrupts and DPCs on idle processors"
        )
    }))
}

/// Returns the names and ids of processes, sorted by name.
fn processes(session: &Session) -> Result<Vec<ProcessName>> {
    let sql = format!("SELECT DISTINCT name, pid FROM process ORDER BY name, pid LIMIT {COMPARED}");
    ask(session, &sql)
}

impl ProcessName {
    fn passes(&self, wanted: &ProcessFilter) -> bool {
        let pid = self.pid.and_then(|pid| i32::try_from(pid).ok());
        wanted.matches(self.name.as_deref(), pid)
    }

    fn called(&self) -> Option<String> {
        match (&self.name, self.pid) {
            (Some(name), Some(pid)) => Some(format!("{name} ({pid})")),
            (name, _) => name.clone(),
        }
    }
}

/// Returns a sentence with the command that lists the processes of these traces and extracts.
fn list_of_processes(inputs: &[&str]) -> Option<String> {
    let first = shell::quoted_pattern(inputs.first()?);
    let them = match inputs.len() {
        1 => "them",
        _ => "the processes of the first",
    };
    Some(format!("`etwkit dump process {first}` lists {them}"))
}

/// Splits `editor.exe report.docx`, in which a program is named with what it was started with.
fn name_and_arguments(filter: &str) -> Option<(&str, &str)> {
    let (name, arguments) = filter.split_once(' ')?;
    let arguments = arguments.trim();
    (!arguments.is_empty()).then_some((name, arguments))
}

/// Returns a message that none of these texts passes a filter, with similar ones.
fn no_text(
    session: &Session,
    what: (&str, &str),
    sql: &str,
    filter: &str,
) -> Result<Option<String>> {
    let sql = format!(
        "SELECT DISTINCT text FROM ({sql}) WHERE text IS NOT NULL ORDER BY text LIMIT {COMPARED}"
    );
    let all: Vec<TextRow> = ask(session, &sql)?;
    let names: Vec<String> = all.into_iter().filter_map(|row| row.text).collect();
    let wanted = TextFilter::parse(filter);
    let fits = names.iter().any(|name| wanted.matches(Some(name)));
    Ok((!fits).then(|| none_fits(what, filter, &names, names.len(), None)))
}

/// Returns a message that no name passes a filter, with the similar ones among `names`, or else with
/// the sentence `list` about how to see all.
fn none_fits(
    (what, several): (&str, &str),
    filter: &str,
    names: &[String],
    count: usize,
    list: Option<&str>,
) -> String {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let close = similar(filter, &names);
    let meant = match close.as_slice() {
        [] if (1..=LISTED).contains(&names.len()) => format!(": {}", names.join(", ")),
        [] if !names.is_empty() => list.map_or_else(String::new, |list| format!("; {list}")),
        [] => String::new(),
        close => format!(", similar: {}", close.join(", ")),
    };
    let grouped = |number: usize| digits::grouped(number as u64);
    let what_there_is = match count {
        0 => format!("there are no {several}"),
        1 => format!("there is 1 {what}"),
        count if count >= COMPARED => {
            format!("there are more than {} {several}", grouped(COMPARED))
        }
        count => format!("there are {} {several}", grouped(count)),
    };
    format!("no {what} matches {filter} ({what_there_is}{meant})")
}

/// Returns a message if a range is outside the trace.
fn outside(session: &Session, text: &str) -> Result<Option<String>> {
    let Ok(part) = TracePart::parse(text) else {
        return Ok(None);
    };
    let info = TraceInfo::ask(session)?;
    let (start_ns, end_ns) = Covered::whole(Recorder::Any).ends_ns(session)?;
    let Ok(range) = part.place(text, info.clock(), end_ns) else {
        return Ok(None);
    };
    let is_outside = range.min > end_ns || range.max < start_ns;
    Ok(is_outside.then(|| reach(info.clock(), start_ns, end_ns)))
}

/// Returns a sentence about the times of a trace, or of the part that was extracted: seconds, and
/// clock times of the recorded machine.
fn reach(clock: TraceClock, start_ns: i64, end_ns: i64) -> String {
    let seconds = |ns: i64| format!("{:.3}", ns as f64 / 1e9);
    let start = if start_ns == 0 {
        "0".to_owned()
    } else {
        seconds(start_ns)
    };
    // A time of day is ambiguous in a recording of more than a day.
    let format = if end_ns < 86_400_000_000_000 {
        TimeFormat::LocalTime
    } else {
        TimeFormat::Local
    };
    let times = TimeWriter::new(format, 0, clock);
    let clock_times = times.zone().map_or_else(String::new, |zone| {
        let (first, last) = (times.write(start_ns), times.write(end_ns));
        format!(" ({first}..{last} {zone})")
    });
    let end = seconds(end_ns);
    format!("the trace goes from {start} to {end} s{clock_times}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_processes_are_listed_by_a_command() {
        let names: Vec<String> = (0..24)
            .map(|number| format!("{number}{number}.exe"))
            .collect();
        let none = |names: &[String], inputs: &[&str]| {
            let list = list_of_processes(inputs);
            let processes = (PROCESS, "processes");
            none_fits(processes, "powershell", names, names.len(), list.as_deref())
        };
        for (inputs, expected) in [
            (&[][..], ""),
            (
                &["my trace.etl"],
                "; `etwkit dump process \"my trace.etl\"` lists them",
            ),
            (
                &["a.etl", "b.etl"],
                "; `etwkit dump process a.etl` lists the processes of the first",
            ),
        ] {
            assert_eq!(
                none(&names, inputs),
                format!("no process matches powershell (there are 24 processes{expected})")
            );
        }
        assert_eq!(
            none(&[], &["a.etl"]),
            "no process matches powershell (there are no processes)"
        );
    }

    #[test]
    fn a_range_outside_of_the_trace_is_told_its_clock_times() {
        let clock = |start_filetime, bias_minutes| TraceClock {
            start_filetime,
            bias_minutes,
        };
        // 2022-10-02 15:47:32.5 UTC.
        const START: i64 = 133_091_992_525_000_000;
        for (clock, seconds, expected) in [
            (
                clock(START, Some(0)),
                2,
                "2.000 s (15:47:32..15:47:34 +00:00)",
            ),
            (
                clock(START, Some(-120)),
                2,
                "2.000 s (17:47:32..17:47:34 +02:00)",
            ),
            (clock(START, None), 2, "2.000 s (15:47:32..15:47:34 Z)"),
            (
                clock(START, Some(0)),
                100_000,
                "100000.000 s (2022-10-02 15:47:32..2022-10-03 19:34:12 +00:00)",
            ),
            // The start was not recorded.
            (clock(0, Some(0)), 2, "2.000 s"),
            (clock(i64::MAX, Some(0)), 2, "2.000 s"),
        ] {
            assert_eq!(
                reach(clock, 0, seconds * 1_000_000_000),
                format!("the trace goes from 0 to {expected}")
            );
        }
        // A part of a trace was extracted.
        assert_eq!(
            reach(clock(0, Some(0)), 5_000_000_000, 6_500_000_000),
            "the trace goes from 5.000 to 6.500 s"
        );
    }
}
