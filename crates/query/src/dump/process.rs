//! Processes: when they ran, what started them, how they ended.

use std::collections::BTreeSet;

use super::cpu_source::SAMPLED_OF_ALL;
use super::process_merge::together;
use super::sql::{ProcessQuery, filtered, quoted, range_condition};
use super::zero::ZeroTime;
use super::{Result, Top, ask};
use crate::question::Format::{
    CommandLine, Id, LeftMoment, Length, Milliseconds, Process, Trace, Whole, Word,
};
use crate::question::{
    Among, Answer, Column, Form, Line, OptionError, ProcessCell, Question, Ranked, Sets, Sums, Value, View,
    group, option,
};
use crate::range::{Range, Unit};
use crate::{Session, nt_status};

declare! {
    /// Orders of processes.
    pub words ProcessSort {
        "default" => Usual = "By CPU if only the largest are asked for, else by name.",
        "cpu" => Cpu = "CPU.",
        "name" => Name = "Name, start, process id.",
        "time" => Time =
            "Processes that ran all the time by name, then those that only ended by end, then the others by start.",
        "stop-time" => StopTime = "End; processes that did not end come first.",
        "session" => Session = "Session.",
        "tree" => Tree = "Each process below its parent.",
    }

    /// Which processes, and in which order.
    #[derive(Eq)]
    pub request ProcessRequest {
        /// Which processes
        processes: ProcessQuery = group(),
        /// How many: those with the most CPU, or the last ones of another order
        top: Top = group(),
        /// What becomes second 0 of times
        zero: ZeroTime = group(),
        /// Only these parents and what they started
        parent: Option<String> = option("NAMES").of(Among::Processes),
        /// Only processes whose start and end lie so far apart, such as 10s..; without both it is 0
        duration: Range = option("A..B").unit(Unit::Seconds),
        /// Only processes that started at such seconds of the trace
        start: Range = option("A..B").unit(Unit::Moment),
        /// Only processes that crashed: by exit code, or reported to Windows Error Reporting
        crashed: bool = option("").called("crash"),
        /// Order; without it those with the most CPU first if only the N largest are asked for, else by name
        sort: ProcessSort = option("ORDER").called("sort-by").shape(),
        /// Show users
        show_user: bool = option("").called("show-user").output(),
        /// Show terminal sessions and app packages
        details: bool = option("").output(),
        /// One list over all extracts: a process that started in one and ended in a later one has both times
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

/// Processes and their numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessAnswer {
    /// The processes.
    pub rows: Vec<ProcessRow>,
    /// What they are.
    pub counts: ProcessCounts,
}

/// What a list of processes consists of.
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
    /// Counts the processes of a list.
    #[must_use]
    pub fn of(rows: &[ProcessRow]) -> Self {
        Self::of_each(rows.iter())
    }

    fn of_each<'r>(rows: impl Iterator<Item = &'r ProcessRow> + Clone) -> Self {
        let count = |test: &dyn Fn(&ProcessRow) -> bool| rows.clone().filter(|row| test(row)).count();
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
        let Self { processes, started, ended, permanent, .. } = self;
        [("processes", processes), ("started", started), ("ended", ended), ("permanent", permanent)]
            .map(|(name, count)| (name, count as i64))
    }
}

impl std::fmt::Display for ProcessCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { processes, started, ended, permanent, sessions, users } = self;
        write!(
            f,
            "{processes} processes: {started} started, {ended} ended, {permanent} did neither; {sessions} sessions, {users} users"
        )
    }
}

fn sessions<'r>(rows: impl Iterator<Item = &'r ProcessRow>) -> BTreeSet<String> {
    rows.filter_map(|row| row.session_id).map(|id| id.to_string()).collect()
}

fn users<'r>(rows: impl Iterator<Item = &'r ProcessRow>) -> BTreeSet<String> {
    rows.filter_map(|row| row.sid.clone()).collect()
}

/// A process, and by how much its times are moved for people, so that times of several recordings can be
/// compared.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct ListedProcess {
    #[serde(flatten)]
    pub(super) row: ProcessRow,
    #[serde(skip)]
    pub(super) offset_ns: i64,
}

impl ListedProcess {
    fn start_ns(&self) -> Option<i64> {
        self.row.start_ns.map(|ns| ns.saturating_add(self.offset_ns))
    }

    fn stop_ns(&self) -> Option<i64> {
        self.row.stop_ns.map(|ns| ns.saturating_add(self.offset_ns))
    }

    /// The row with its times moved.
    pub(super) fn moved(&self) -> ProcessRow {
        ProcessRow { start_ns: self.start_ns(), stop_ns: self.stop_ns(), ..self.row.clone() }
    }

    /// The process, indented as deep as it stands in the tree.
    fn cell(&self) -> Value {
        let branch = if self.row.level > 0 { "|- " } else { "" };
        // Deeper levels are indented no further: a damaged trace can have chains of any length.
        let indent = usize::try_from(self.row.level).unwrap_or(0).min(64) * 2;
        let name = self.row.name.as_deref().unwrap_or("(unknown)");
        Value::Process(ProcessCell {
            name: Some(format!("{:indent$}{branch}{name}", "")),
            pid: Some(self.row.pid),
            start_ns: self.start_ns(),
            stop_ns: self.stop_ns(),
            command_line: self.row.command_line.clone(),
        })
    }
}

type One = Column<ProcessRequest, ListedProcess>;

const PROCESSES: View<ProcessRequest, ListedProcess> = View::new(
    &[
        One::new("ProcessId", "Pid", Id, |_, one| one.row.pid.into()).shown_if(is_list),
        One::new("StartTime", "Start", LeftMoment, |_, one| one.start_ns().into())
            .titled(|asked| time_title("Start", asked))
            .shown_if(is_list),
        One::new("StopTime", "Stop", LeftMoment, |_, one| one.stop_ns().into())
            .titled(|asked| time_title("Stop", asked))
            .shown_if(is_list),
        One::new("Duration", "Duration", Length, |_, one| one.row.duration_ns.into()).shown_if(is_list),
        One::new("Cpu", "CPU ms", Milliseconds, |_, one| one.row.cpu_ns.into())
            .cost()
            .shown_if(ProcessRequest::is_by_cpu),
        One::new("ReturnCode", "Return code", Word, |_, one| one.row.exit_code.map(return_code).into()),
        One::new("Session", "Session", Whole, |_, one| one.row.session_id.into())
            .shown_if(|asked| asked.details),
        One::new("User", "User", Word, |_, one| one.row.sid.clone().into()).shown_if(|asked| asked.show_user),
        One::new("ParentPid", "Parent", Id, |_, one| one.row.parent_pid.into()).shown_if(is_list),
        One::new("ParentProcess", "Parent process", Word, |_, one| one.row.parent.clone().into()).hidden(),
        One::new("Process", "Process", Process, |_, one| one.cell()),
        One::new("CommandLine", "Command line", CommandLine, |_, one| one.row.command_line.clone().into()),
        One::new("Package", "Package", Word, |_, one| one.row.package.clone().into())
            .shown_if(|asked| asked.details),
        One::new("FileName", "File", Trace, |_, _| Value::Missing).shown_if(|asked| asked.show_file_on_line),
    ],
    |one| one.row.cpu_ns.map_or(-1.0, |ns| ns as f64),
)
.alarming_if(|one| one.row.is_crash)
.ranking(|asked| Ranked::rows_unless(!asked.is_by_cpu()))
.with_join(together)
.with_total(|asked, all, _| {
    let is_shown = all.len() > 1 && asked.show_total.as_deref() != Some("none");
    let counts = || ProcessCounts::of_each(all.iter().map(|one| &one.row));
    is_shown.then(|| Line::new(counts().to_string())).into_iter().collect()
});

fn is_list(asked: &ProcessRequest) -> bool {
    asked.sort != ProcessSort::Tree
}

/// The title of a column of times; a star says that they were moved.
fn time_title(title: &str, asked: &ProcessRequest) -> String {
    format!("{title}{}", if asked.zero.mode.is_some() { "*" } else { "" })
}

/// The name of an error of Windows, or the number.
fn return_code(code: i64) -> String {
    let name = i32::try_from(code).ok().and_then(nt_status::error_name);
    name.map_or_else(|| code.to_string(), str::to_owned)
}

impl Question for ProcessRequest {
    const NAME: &'static str = "process";
    const SENTENCE: &'static str = "Processes: when they ran, what started them, how they ended";

    fn form(&self) -> Form<Self> {
        Form::made::<ProcessRow>(self.sql(), |asked: &Self, session| {
            // The largest processes of the merged list need not be the largest of each extract, so that each
            // extract gives all of its processes.
            let top = if asked.merge { Top::default() } else { asked.top };
            let ProcessAnswer { rows, counts } = Self { top, ..asked.clone() }.ask(session)?;
            let sets = Sets::from([("sessions", sessions(rows.iter())), ("users", users(rows.iter()))]);
            let listed = rows.into_iter().map(|row| ListedProcess { row, offset_ns: 0 }).collect();
            let answer = Answer::rows(asked, &PROCESSES, listed).with_sums(counts.sums()).with_sets(sets);
            answer.moved(&asked.zero, session)
        })
        .shows_as(&PROCESSES, |row| ListedProcess { row, offset_ns: 0 })
        .top(self.top)
    }

    fn overall(&self, all: &[Sums]) -> Vec<Line> {
        let answers = all.iter().filter(|sums| sums.contains_key("processes")).count();
        if self.merge || self.show_total.as_deref() != Some("total") || answers < 2 {
            return Vec::new();
        }
        let sum = |name: &str| {
            let sum = all
                .iter()
                .filter_map(|sums| sums.get(name))
                .fold(0, |sum: i64, one| sum.saturating_add(*one));
            usize::try_from(sum).unwrap_or_default()
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

    fn check(&self) -> std::result::Result<(), OptionError> {
        if self.merge && self.sort == ProcessSort::Tree {
            let problem = "a tree is one of a single extract".to_owned();
            return Err(OptionError::Value { option: "merge", problem });
        }
        Ok(())
    }
}

/// Exit codes that mean a crash: errors of Windows (NTSTATUS 0xC…), a break point, and the exceptions of .NET
/// and C++. -1 (0xFFFFFFFF) is no crash: programs return it themselves.
const CRASH_CODES: &str = "(p.exit_code BETWEEN -1073741824 AND -805306369 \
     OR p.exit_code IN (-2147483645, -532462766, -529697949))";

/// Processes that Windows Error Reporting was started for: `WerFault.exe … -p PID`.
// Ids are reused, so that the process has to have run when the report was started.
const REPORTED: &str = "
  SELECT DISTINCT c.process_key
  FROM process c
  JOIN (
    SELECT CAST(regexp_match(command_line, '(?i)\\s-p\\s+([0-9]{1,9})(?:\\s|$)')[1] AS INT) AS pid, start_ns
    FROM process_recorded WHERE lower(name) = 'werfault.exe'
  ) w ON w.pid = c.pid
  WHERE (c.start_ns IS NULL OR w.start_ns >= c.start_ns) AND (c.stop_ns IS NULL OR w.start_ns <= c.stop_ns)";

impl ProcessRequest {
    /// The question.
    #[must_use]
    pub fn sql(&self) -> String {
        let mut conditions = self.processes.conditions();
        conditions.extend(self.parent.as_ref().map(|filter| {
            let filter = quoted(filter);
            // A parent that ended before the trace has a number, but no name.
            format!(
                "(process_match(p.name, p.pid, {filter}) OR process_match(q.name, p.parent_pid, {filter}))"
            )
        }));
        conditions.extend(range_condition("p.stop_ns - p.start_ns", self.duration));
        conditions.extend(range_condition(&self.zero.moved("p.start_ns"), self.start));
        if self.crashed {
            conditions.push(format!("({CRASH_CODES} OR r.process_key IS NOT NULL)"));
        }
        format!(
            "SELECT * FROM (
SELECT p.process_key, p.pid, p.name, {}, {}, p.stop_ns - p.start_ns AS duration_ns, p.exit_code,
  coalesce({CRASH_CODES}, FALSE) OR r.process_key IS NOT NULL AS is_crash,
  p.parent_pid, p.parent_process_key, q.name AS parent, p.session_id, p.sid, p.command_line, p.package, 0 AS level,
  CASE WHEN u.sampled > 0 THEN u.cpu_ns ELSE u.run_ns END AS cpu_ns
FROM process p
LEFT JOIN (SELECT process_key, cpu_ns, run_ns, {SAMPLED_OF_ALL} AS sampled FROM cpu_process) u
  ON u.process_key = p.process_key
LEFT JOIN process q ON q.process_key = p.parent_process_key
LEFT JOIN ({REPORTED}
) r ON r.process_key = p.process_key{}{}
) p
ORDER BY {}",
            self.zero.column("p", "start_ns"),
            self.zero.column("p", "stop_ns"),
            self.zero.join(),
            filtered(&conditions),
            self.order()
        )
    }

    /// Whether processes are sorted by their CPU.
    pub(super) fn is_by_cpu(&self) -> bool {
        match self.sort {
            ProcessSort::Cpu => true,
            ProcessSort::Usual => self.top.most().is_some() || self.top.skip > 0,
            _ => false,
        }
    }

    /// Of processes with equal CPU the last name comes first: the largest row is the last one, so that the
    /// list reads by name from its end.
    fn order(&self) -> &'static str {
        match self.sort {
            _ if self.is_by_cpu() => "p.cpu_ns NULLS FIRST, lower(p.name) DESC, p.pid DESC, p.process_key",
            ProcessSort::Usual | ProcessSort::Cpu | ProcessSort::Name => {
                "lower(p.name) NULLS FIRST, p.start_ns NULLS FIRST, p.pid, p.process_key"
            }
            ProcessSort::Time => {
                "CASE WHEN p.start_ns IS NOT NULL THEN 2 WHEN p.stop_ns IS NOT NULL THEN 1 ELSE 0 END, \
                 CASE WHEN p.start_ns IS NULL THEN p.stop_ns ELSE p.start_ns END, lower(p.name), p.process_key"
            }
            ProcessSort::StopTime => "p.stop_ns NULLS FIRST, lower(p.name), p.process_key",
            ProcessSort::Session => "p.session_id NULLS FIRST, lower(p.name), p.process_key",
            ProcessSort::Tree => {
                "p.start_ns NULLS FIRST, p.session_id NULLS FIRST, lower(p.name), p.process_key"
            }
        }
    }

    /// Asks.
    ///
    /// # Errors
    /// The query fails.
    pub fn ask(&self, session: &Session) -> Result<ProcessAnswer> {
        let mut rows: Vec<ProcessRow> = ask(session, &self.sql())?;
        if self.sort == ProcessSort::Tree {
            rows = tree(rows);
        }
        self.top.cut(&mut rows);
        Ok(ProcessAnswer { counts: ProcessCounts::of(&rows), rows })
    }
}

/// Puts each process behind its parent; those whose parent is not in the list are roots.
fn tree(rows: Vec<ProcessRow>) -> Vec<ProcessRow> {
    let listed: std::collections::HashSet<i64> = rows.iter().map(|row| row.process_key).collect();
    let mut children: std::collections::HashMap<Option<i64>, Vec<ProcessRow>> =
        std::collections::HashMap::new();
    let total = rows.len();
    // From behind, so that taking from the end gives the first one.
    for row in rows.into_iter().rev() {
        let parent = row.parent_process_key.filter(|key| listed.contains(key) && *key != row.process_key);
        children.entry(parent).or_default().push(row);
    }
    let mut out = Vec::with_capacity(total);
    let mut open = vec![children.remove(&None).unwrap_or_default()];
    while let Some(siblings) = open.last_mut() {
        let Some(mut row) = siblings.pop() else {
            open.pop();
            continue;
        };
        row.level = i64::try_from(open.len()).unwrap_or(i64::MAX) - 1;
        open.push(children.remove(&Some(row.process_key)).unwrap_or_default());
        out.push(row);
    }
    // Parents that go round in a circle have no root; a damaged trace can say so.
    let mut rest: Vec<ProcessRow> = children.into_values().flatten().collect();
    rest.sort_by_key(|row| row.process_key);
    out.extend(rest);
    out
}
