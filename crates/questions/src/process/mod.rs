//! Processes: lifetimes, parents, and exit codes.

use etwkit_base::digits::noun;
use etwkit_question::declare;
pub mod merge;
mod sql;
mod view;

use std::collections::BTreeSet;

use self::view::{ListedProcess, PROCESSES};
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::zero::ZeroTime;
use etwkit_question::{
    Among, Answer, Example, Form, Line, OptionError, Question, Sets, Sums, group, option,
};

declare! {
    /// Orders of processes.
    pub words ProcessSort {
        "default" => Usual = "By CPU if only the largest are requested, otherwise by name.",
        "cpu" => Cpu = "CPU.",
        "name" => Name = "Name, start, process id.",
        "time" => Time =
            "Processes that ran all the time by name, then those that only ended by end, then the others by start.",
        "stop-time" => StopTime = "End; processes that did not end come first.",
        "session" => Session = "Session.",
        "tree" => Tree = "Each process below its parent.",
    }

    /// Options of `dump process`.
    #[derive(Eq)]
    pub request ProcessRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of processes: the ones with the most CPU, or the last ones of another order
        top: Top = group(),
        /// Zero point of times
        zero: ZeroTime = group(),
        /// Only these parents and their children
        parent: Option<String> = option("NAMES").of(Among::Processes),
        /// Only processes with this time from start to end, such as 10s..; it is 0 unless both are
        /// in the trace
        duration: Range = option("A..B").unit(Unit::Seconds),
        /// Only processes that started at these seconds of the trace
        start: Range = option("A..B").unit(Unit::Moment),
        /// Only processes that crashed: by exit code, or reported to Windows Error Reporting
        crashed: bool = option("").called("crash"),
        /// Order [default: by name; with --top the most CPU first]
        sort: ProcessSort = option("ORDER").called("sort-by").shape(),
        /// Show users
        show_user: bool = option("").called("show-user").output(),
        /// Show terminal sessions and app packages
        details: bool = option("").output(),
        /// One list over all extracts: a process that started in one and ended in a later one has
        /// both times
        merge: bool = option("").excludes(&["zero-time"]).shape(),
        /// With --merge: processes that neither started nor ended once for each extract
        all_processes: bool = option("").called("all-processes").requires("merge").shape(),
        /// Show the name of the trace in each line
        show_file_on_line: bool = option("").called("show-file-on-line").output(),
        /// Sums: none, or total, also over all extracts
        show_total: Option<String> = option("WHAT").called("show-total").among(&["none", "total"]).output(),
    }

    /// A process.
    pub row ProcessRow {
        process_key: i64 = "Key in the extract.",
        pid: i64 = "Process id.",
        name: Option<String> = "File name of its executable.",
        start_ns: Option<i64> = "Start, if in the trace.",
        stop_ns: Option<i64> = "End, if in the trace.",
        duration_ns: Option<i64> = "From start to end, if both are in the trace.",
        exit_code: Option<i64> = "Exit code.",
        is_crash: bool =
            "Whether the exit code is an error of Windows or of a runtime, or Windows Error Reporting was \
             called for it.",
        parent_pid: Option<i64> = "Process id of the parent.",
        parent_process_key: Option<i64> = "Key of the parent, if that is known.",
        parent: Option<String> = "Name of the parent.",
        session_id: Option<i64> = "Terminal session.",
        sid: Option<String> = "User.",
        command_line: Option<String> = "Command line.",
        package: Option<String> = "App package.",
        level: i64 = "Parents above it in the tree; 0 in other orders.",
        cpu_ns: Option<i64> = "CPU, from context switches in a trace without samples.",
    }
}

/// Processes and their numbers by kind.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessAnswer {
    /// The processes.
    pub rows: Vec<ProcessRow>,
    /// Numbers of processes by kind.
    pub counts: ProcessCounts,
}

/// Numbers of processes in a list, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct ProcessCounts {
    /// Processes.
    pub processes: usize,
    /// Processes that started in the trace.
    pub started: usize,
    /// Processes that ended in the trace.
    pub ended: usize,
    /// Processes that did neither.
    pub permanent: usize,
    /// Terminal sessions.
    pub sessions: usize,
    /// Users.
    pub users: usize,
}

impl ProcessCounts {
    /// Returns counts the processes of a list.
    #[must_use]
    pub fn of(rows: &[ProcessRow]) -> Self {
        Self::of_each(rows.iter())
    }

    pub(super) fn of_each<'r>(rows: impl Iterator<Item = &'r ProcessRow> + Clone) -> Self {
        let count =
            |test: &dyn Fn(&ProcessRow) -> bool| rows.clone().filter(|row| test(row)).count();
        Self {
            processes: rows.clone().count(),
            started: count(&|row| row.start_ns.is_some()),
            ended: count(&|row| row.stop_ns.is_some()),
            permanent: count(&|row| row.start_ns.is_none() && row.stop_ns.is_none()),
            sessions: sessions(rows.clone()).len(),
            users: users(rows).len(),
        }
    }

    fn sums(self) -> [(&'static str, i64); 4] {
        let Self {
            processes,
            started,
            ended,
            permanent,
            ..
        } = self;
        [
            ("processes", processes),
            ("started", started),
            ("ended", ended),
            ("permanent", permanent),
        ]
        .map(|(name, count)| (name, count as i64))
    }
}

impl std::fmt::Display for ProcessCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            processes,
            started,
            ended,
            permanent,
            sessions,
            users,
        } = self;
        let processes = counted(*processes, ["process", "processes"]);
        write!(
            f,
            "{processes}: {started} started, {ended} ended, {permanent} did neither"
        )?;
        // Every process has a session and a user, so that none is one that was not recorded.
        let known: Vec<String> = [
            (*sessions, ["session", "sessions"]),
            (*users, ["user", "users"]),
        ]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, nouns)| counted(number, nouns))
        .collect();
        if known.is_empty() {
            return Ok(());
        }
        write!(f, "; {}", known.join(", "))
    }
}

/// Returns a number with its noun.
fn counted(number: usize, nouns: [&str; 2]) -> String {
    format!("{number} {}", noun(number as u64, nouns))
}

fn sessions<'r>(rows: impl Iterator<Item = &'r ProcessRow>) -> BTreeSet<String> {
    rows.filter_map(|row| row.session_id)
        .map(|id| id.to_string())
        .collect()
}

fn users<'r>(rows: impl Iterator<Item = &'r ProcessRow>) -> BTreeSet<String> {
    rows.filter_map(|row| row.sid.clone()).collect()
}

impl Question for ProcessRequest {
    const NAME: &'static str = "process";
    const SENTENCE: &'static str = "Processes: when they ran, what started them, how they ended";
    const USUAL: &'static [&'static str] = &["parent", "duration", "start", "crash", "show-user"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "processes with start, end, parent and exit code",
        },
        Example {
            words: "--new-process 1 --duration 1s.. slow.etl",
            answer: "those that started and ran for long",
        },
    ];

    fn form(&self) -> Form<Self> {
        Form::made::<ProcessRow>(self.sql(), |asked: &Self, session| {
            // The largest processes of the merged list need not be the largest of each extract, so
            // each extract returns all of its processes.
            let top = if asked.merge {
                Top::default()
            } else {
                asked.top
            };
            let ProcessAnswer { rows, counts } = Self {
                top,
                ..asked.clone()
            }
            .ask(session)?;
            let sets = Sets::from([
                ("sessions", sessions(rows.iter())),
                ("users", users(rows.iter())),
            ]);
            let listed = rows
                .into_iter()
                .map(|row| ListedProcess { row, offset_ns: 0 })
                .collect();
            let answer = Answer::rows(asked, &PROCESSES, listed)
                .with_sums(counts.sums())
                .with_sets(sets);
            answer.moved(&asked.zero, session)
        })
        .shows_as(&PROCESSES, |row| ListedProcess { row, offset_ns: 0 })
        .top(self.top)
    }

    fn overall(&self, all: &[Sums]) -> Vec<Line> {
        let answers = all
            .iter()
            .filter(|sums| sums.contains_key("processes"))
            .count();
        if self.merge || self.show_total.as_deref() != Some("total") || answers < 2 {
            return Vec::new();
        }
        let sum = |name: &str| {
            let sum = all
                .iter()
                .filter_map(|sums| sums.get(name))
                .fold(0, |sum: i64, one| sum.saturating_add(*one));
            usize::try_from(sum.max(0)).unwrap_or(usize::MAX)
        };
        let counts = ProcessCounts {
            processes: sum("processes"),
            started: sum("started"),
            ended: sum("ended"),
            permanent: sum("permanent"),
            sessions: sum("sessions"),
            users: sum("users"),
        };
        vec![Line::heading(format!("All extracts: {counts}"))]
    }

    fn merges(&self) -> bool {
        self.merge
    }

    fn check(&self) -> Result<(), OptionError> {
        if self.merge && self.sort == ProcessSort::Tree {
            let problem = "a tree is one of a single extract".to_owned();
            return Err(OptionError::Value {
                option: "merge",
                problem,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_kind_is_singular() {
        let counts = ProcessCounts {
            processes: 1,
            started: 1,
            ended: 0,
            permanent: 0,
            sessions: 1,
            users: 2,
        };
        assert_eq!(
            counts.to_string(),
            "1 process: 1 started, 0 ended, 0 did neither; 1 session, 2 users"
        );
    }

    #[test]
    fn sessions_and_users_that_were_not_recorded_are_not_none() {
        let counts = |sessions, users| ProcessCounts {
            processes: 2,
            started: 0,
            ended: 0,
            permanent: 2,
            sessions,
            users,
        };
        let text = "2 processes: 0 started, 0 ended, 2 did neither";
        assert_eq!(counts(0, 0).to_string(), text);
        assert_eq!(counts(1, 0).to_string(), format!("{text}; 1 session"));
    }
}
