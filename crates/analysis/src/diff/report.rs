//! The tables of a comparison, in one report.

use etwkit_question::Error;
use etwkit_question::{Above, Answer, Line, Question, Shows, Words};
use etwkit_questions::cpu::{By, CpuRequest, CpuSort};
use etwkit_questions::disk::DiskRequest;
use etwkit_questions::dns::DnsRequest;
use etwkit_questions::file::FileRequest;
use etwkit_questions::hard_fault::HardFaultRequest;
use etwkit_questions::pmc::PmcRequest;
use etwkit_sql::Session;

use super::awaited::Awaited;
use super::compare::{Compared, Scale, changes, counters};
use super::fail_on::FailOn;
use super::findings::Found;
use super::rows::{Change, Fact, FindingChange, Remark, Summary};
use super::side::{Side, Sides};
use super::totals::Sums;
use super::view::{
    CHANGES, COUNTERS, FACTS, FINDINGS, Has, MARKS, REMARKS, RESULTS, SUMMARY, TableProperties,
};
use super::{DiffRequest, DiffTable, facts, findings, load, results, sentence};
use crate::Result;
use crate::wait::{WaitBy, WaitRequest};

/// A table, its title, its kind of numbers, and the titles of its columns of names.
type Section = (DiffTable, &'static str, Has, &'static str, &'static str);

/// Tables of changes, in the order of the report.
const SECTIONS: &[Section] = &[
    (
        DiffTable::Processes,
        "Processes",
        Has::Times,
        "Process",
        "Command line",
    ),
    (
        DiffTable::Modules,
        "Modules in the stacks of processes",
        Has::Times,
        "Module",
        "Process",
    ),
    (
        DiffTable::Methods,
        "Methods in the stacks of processes",
        Has::Times,
        "Method",
        "Process",
    ),
    (DiffTable::Tags, "Stack tags", Has::Times, "Tag", "Process"),
    (
        DiffTable::Reasons,
        "Waits by reason",
        Has::Waits,
        "Reason",
        "Process",
    ),
    (
        DiffTable::Readying,
        "Waits by who ended them",
        Has::Waits,
        "Ended by",
        "Process",
    ),
    (DiffTable::Files, "Operations on files", Has::Io, "File", ""),
    (DiffTable::Disk, "Disk I/O by file", Has::Io, "File", ""),
    (
        DiffTable::Folders,
        "Disk I/O by folder",
        Has::Io,
        "Folder",
        "",
    ),
    (
        DiffTable::HardFaults,
        "Hard page faults by file",
        Has::Io,
        "File",
        "",
    ),
    (DiffTable::Dns, "DNS queries", Has::Queries, "Name", ""),
];

/// Returns the SQL of both sides for the requested tables.
pub(super) fn sql(asked: &DiffRequest) -> String {
    let of = |table| {
        let processes = asked.processes.clone();
        let code = |by| CpuRequest {
            processes: asked.processes.clone(),
            by,
            include_dll: true,
            sort: CpuSort::Cpu,
            ..CpuRequest::default()
        };
        let waits = |by| {
            WaitRequest {
                processes: asked.processes.clone(),
                by,
                ..WaitRequest::default()
            }
            .sql()
        };
        match table {
            DiffTable::Processes => CpuRequest {
                processes,
                ..CpuRequest::default()
            }
            .process_sql(),
            DiffTable::Modules => code(By::Module).method_sql(),
            DiffTable::Methods => code(By::Method).method_sql(),
            DiffTable::Tags => code(By::Method).tag_sql(),
            DiffTable::Reasons => waits(WaitBy::Reason),
            DiffTable::Readying => waits(WaitBy::Readying),
            DiffTable::Files => FileRequest {
                processes,
                ..FileRequest::default()
            }
            .show_sql(),
            DiffTable::Disk | DiffTable::Folders => DiskRequest {
                processes,
                ..DiskRequest::default()
            }
            .sql(),
            DiffTable::HardFaults => HardFaultRequest {
                processes,
                ..HardFaultRequest::default()
            }
            .sql(),
            DiffTable::Dns => DnsRequest {
                processes,
                ..DnsRequest::default()
            }
            .show_sql(),
            DiffTable::Counters => PmcRequest {
                processes,
                ..PmcRequest::default()
            }
            .show_sql(),
            DiffTable::Results => results::sql(asked),
            DiffTable::Settings => facts::SETTINGS.to_owned(),
            DiffTable::Versions => facts::versions_sql(asked),
            DiffTable::Summary
            | DiffTable::Sides
            | DiffTable::Remarks
            | DiffTable::Findings
            | DiffTable::Marks => "SELECT * FROM trace".to_owned(),
        }
    };
    let named = |table: DiffTable| format!("-- {}, of each side\n{};", table.word(), of(table));
    asked.tables().map(named).collect::<Vec<_>>().join("\n")
}

/// Readers of an answer: text says in sentences what rows for programs have in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Readers {
    People,
    Programs,
}

/// Returns the comparison with `top` rows of each table; 0 means all.
pub(super) fn answer(
    asked: &DiffRequest,
    session: &Session,
    top: usize,
    readers: Readers,
) -> Result<Answer> {
    let mut both = Sides::of(asked, session)?;
    let processes = load(asked, &both, DiffTable::Processes)?;
    if let Ok(sums) = &processes {
        both.measure_by_process(sums, noise_ns(asked));
    }
    let mut report = Report::new(asked, &both, top, readers);
    report.has_processes = processes.is_ok();
    let topics = facts::topics(&both)?;
    let [of_a, of_b] = &topics;
    report.has_shared = both.is_one_trace || !of_a.is_disjoint(of_b);
    report.remarks.extend(facts::remarks(&both, &topics)?);
    report.judge()?;
    let mut processes = Some(processes);
    for section in SECTIONS {
        // What the sentence is made of.
        let is_said = matches!(
            section.0,
            DiffTable::Processes
                | DiffTable::Modules
                | DiffTable::Methods
                | DiffTable::HardFaults
                | DiffTable::Dns
        );
        if asked.wants(section.0) || is_said && asked.wants(DiffTable::Summary) {
            let loaded = processes
                .take()
                .filter(|_| section.0 == DiffTable::Processes);
            report.section(*section, loaded)?;
        }
    }
    report.others()?;
    let fails = FailOn::of(asked)?
        .map(|fail_on| fail_on.verdict(&both))
        .transpose()?;
    Ok(report.finish().with_verdict(fails))
}

fn noise_ns(asked: &DiffRequest) -> i64 {
    // A cast of a float saturates, which is right for a limit.
    (asked.noise * 1e6) as i64
}

/// What both sides have, or the reason for which they cannot be compared.
type Loaded<T = Sums> = std::result::Result<[T; 2], Lacking>;

/// A side without the data of a table.
enum Lacking {
    /// Neither side recorded it.
    Both,
    /// Only one side lacks it: the reason, and the side.
    One(String),
}

fn load(asked: &DiffRequest, both: &Sides, table: DiffTable) -> Result<Loaded> {
    of_both(both, |side| load::sums(table, asked, side))
}

/// Asks both sides. A side without the data is no error.
fn of_both<T>(both: &Sides, ask: impl Fn(&Side) -> Result<T>) -> Result<Loaded<T>> {
    let [a, b] = &both.sides;
    let of = |side| match ask(side) {
        Err(nothing) if nothing.is_nothing() => Ok(Err(nothing)),
        answer => answer.map(Ok),
    };
    Ok(match (of(a)?, of(b)?) {
        (Ok(a), Ok(b)) => Ok([a, b]),
        (Err(Error::NotRecorded { .. }), Err(Error::NotRecorded { .. })) => Err(Lacking::Both),
        (Err(why), Err(_)) => Err(Lacking::One(format!("{why} (A and B)"))),
        (Err(why), _) => Err(Lacking::One(format!("{why} (A)"))),
        (_, Err(why)) => Err(Lacking::One(format!("{why} (B)"))),
    })
}

/// A report under construction.
struct Report<'a> {
    asked: &'a DiffRequest,
    both: &'a Sides,
    scale: Scale,
    top: usize,
    readers: Readers,
    remarks: Vec<String>,
    /// Titles of tables whose data neither side recorded.
    not_recorded: Vec<&'static str>,
    tables: Vec<(DiffTable, String, Answer)>,
    /// True if there is a topic that both sides recorded.
    has_shared: bool,
    /// True if both sides recorded times of processes.
    has_processes: bool,
    processes: Vec<Change>,
    modules: Vec<Change>,
    methods: Vec<Change>,
    awaited: Vec<Awaited>,
    found: Found,
    settings: Vec<Fact>,
    /// True if no table has a row so far, and none has noise.
    is_same: bool,
}

impl<'a> Report<'a> {
    fn new(asked: &'a DiffRequest, both: &'a Sides, top: usize, readers: Readers) -> Self {
        let scale = Scale {
            wall_ns: both.wall_difference(),
            noise_ns: noise_ns(asked),
            noise_percent: asked.noise_percent,
            process: both.wall.process(),
            is_process: false,
            is_code: false,
        };
        Self {
            asked,
            both,
            scale,
            top,
            readers,
            remarks: Vec::new(),
            not_recorded: Vec::new(),
            tables: Vec::new(),
            has_shared: false,
            has_processes: false,
            processes: Vec::new(),
            modules: Vec::new(),
            methods: Vec::new(),
            awaited: Vec::new(),
            found: Found::default(),
            settings: Vec::new(),
            is_same: true,
        }
    }

    /// Asks the rules of both sides.
    fn judge(&mut self) -> Result<()> {
        let is_wanted = [DiffTable::Findings, DiffTable::Summary]
            .into_iter()
            .any(|table| self.asked.wants(table));
        if !is_wanted {
            return Ok(());
        }
        if findings::can_be_judged(self.both) {
            self.found = findings::findings(self.both)?;
        } else {
            let why = "Findings: not compared, rules judge whole traces".to_owned();
            self.remarks.push(why);
        }
        Ok(())
    }

    /// Returns what both sides have; adds a remark if one side lacks it.
    fn known<T>(&mut self, loaded: Loaded<T>, title: &'static str) -> Option<[T; 2]> {
        match loaded {
            Ok(both) => return Some(both),
            Err(Lacking::Both) => self.not_recorded.push(title),
            Err(Lacking::One(why)) => self.remarks.push(format!("{title}: not compared, {why}")),
        }
        None
    }

    fn section(
        &mut self,
        (table, title, has, name, of): Section,
        loaded: Option<Loaded>,
    ) -> Result<()> {
        let loaded = loaded.map_or_else(|| load(self.asked, self.both, table), Ok)?;
        let Some([mut a, mut b]) = self.known(loaded, title) else {
            return Ok(());
        };
        // Sampled CPU and time on processors are different measures: if only one side has samples,
        // both are compared by context switches.
        let [is_sampled_a, is_sampled_b] = has_samples(self.both);
        if has == Has::Times && is_sampled_a != is_sampled_b {
            [&mut a, &mut b].into_iter().for_each(only_running);
        }
        let is_process = table == DiffTable::Processes;
        let is_code = matches!(
            table,
            DiffTable::Modules | DiffTable::Methods | DiffTable::Tags
        );
        let mut compared = changes(
            a,
            b,
            &Scale {
                is_process,
                is_code,
                ..self.scale.clone()
            },
        );
        match table {
            DiffTable::Processes => self.processes.clone_from(&compared.rows),
            DiffTable::Modules => self.modules.clone_from(&compared.rows),
            DiffTable::Methods => self.methods.clone_from(&compared.rows),
            _ => self.awaited.extend(Awaited::all(table, &compared.rows)),
        }
        // Before rows are left out for readers: a hidden row is still a difference.
        self.is_same &= compared.rows.is_empty() && compared.hidden == 0;
        if self.top > 0 {
            compared.rows.retain(|row| row.is_shown);
        }
        if is_process {
            let lead = findings::lead(&self.found.rows, self.scale.wall_ns, self.scale.noise_ns);
            put_last(
                &mut compared.rows,
                lead.and_then(|lead| lead.process.as_deref()),
            );
        }
        if !self.asked.wants(table) {
            return Ok(());
        }
        let has_percent = self.scale.wall_ns.is_some_and(|wall| wall != 0);
        let shown = TableProperties {
            has,
            name,
            of,
            has_percent,
        };
        let title = format!("{title}, B - A");
        let (rows, foot) = self.cut(compared);
        if let Some(answer) = with_foot(rows.is_empty(), foot, |()| {
            Answer::rows(&shown, &CHANGES, rows)
        }) {
            self.tables.push((table, title, answer));
        }
        Ok(())
    }

    /// Returns the last rows of an ascending list, and lines about the others.
    fn cut<R>(&self, Compared { mut rows, hidden }: Compared<R>) -> (Vec<R>, Vec<Line>) {
        let more = if self.top == 0 {
            0
        } else {
            rows.len().saturating_sub(self.top)
        };
        rows.drain(..more);
        let more = (more > 0).then(|| {
            Line::new("… ")
                .whole(count(more))
                .words(" more differ (--top 0 shows all)")
        });
        let hidden = (hidden > 0).then(|| {
            Line::new("(").counted(
                count(hidden),
                [
                    "differs by less than noise, or only waits on both sides)",
                    "differ by less than noise, or only wait on both sides)",
                ],
            )
        });
        (rows, more.into_iter().chain(hidden).collect())
    }

    /// Adds tables that have no sums of times.
    fn others(&mut self) -> Result<()> {
        self.results()?;
        if self.asked.wants(DiffTable::Counters) {
            let title = "Counters of processors";
            let loaded = load(self.asked, self.both, DiffTable::Counters)?;
            if let Some(sums) = self.known(loaded, title) {
                self.counters(sums, title);
            }
        }
        if self.both.is_one_trace {
            return Ok(());
        }
        let asked = self.asked;
        let both = self.both;
        // The sentence is made of them, too.
        if asked.wants(DiffTable::Settings) || asked.wants(DiffTable::Summary) {
            self.settings = facts::settings(asked, both)?;
        }
        if asked.wants(DiffTable::Settings) {
            let title = "Settings that differ";
            self.facts(
                DiffTable::Settings,
                title,
                &"Setting",
                self.settings.clone(),
            );
        }
        if asked.wants(DiffTable::Versions) {
            let title = "Modules that differ";
            let loaded = of_both(both, |side| facts::versions(asked, side))?;
            if let Some(sides) = self.known(loaded, "Versions of modules") {
                let rows = facts::other_versions(sides);
                self.facts(DiffTable::Versions, title, &"Module", rows);
            }
        }
        Ok(())
    }

    /// Adds a table of facts, the first of which explain most.
    fn facts(&mut self, table: DiffTable, title: &str, name: &&'static str, mut rows: Vec<Fact>) {
        self.is_same &= rows.is_empty();
        let more = if self.top == 0 {
            0
        } else {
            rows.len().saturating_sub(self.top)
        };
        rows.truncate(rows.len().saturating_sub(more));
        let foot = (more > 0).then(|| {
            Line::new("… ")
                .whole(count(more))
                .words(" more (--top 0 shows all)")
        });
        if !rows.is_empty() {
            let answer = Answer::rows(name, &FACTS, rows).with_foot(foot);
            self.tables.push((table, title.to_owned(), answer));
        }
    }

    /// Adds the operations that failed.
    fn results(&mut self) -> Result<()> {
        if !self.asked.wants(DiffTable::Results) {
            return Ok(());
        }
        let rows = results::results(self.asked, self.both)?;
        self.is_same &= rows.is_empty();
        let (rows, foot) = self.cut(Compared { rows, hidden: 0 });
        if !rows.is_empty() {
            let answer = Answer::rows(&(), &RESULTS, rows).with_foot(foot);
            let title = "Operations that failed".to_owned();
            self.tables.push((DiffTable::Results, title, answer));
        }
        Ok(())
    }

    /// Returns the rows of findings, with a title, unless there are none.
    fn finding_table(&mut self) -> Option<(DiffTable, String, Answer)> {
        let mut found = std::mem::take(&mut self.found);
        // Text leaves out what both have, since it explains no difference.
        if self.top > 0 {
            found.rows.retain(|row| {
                row.only_in.is_some() || row.difference_ns.abs() > self.scale.noise_ns
            });
        }
        let not_checked = match self.readers {
            Readers::People => found.not_checked(),
            Readers::Programs => Vec::new(),
        };
        let is_in_sentence =
            |row: &FindingChange| self.readers == Readers::People && row.not_checked_in.is_some();
        let (in_sentences, rows): (Vec<_>, Vec<_>) =
            found.rows.into_iter().partition(is_in_sentence);
        let (rows, foot) = self.cut(Compared { rows, hidden: 0 });
        let is_empty = rows.is_empty();
        let is_shown =
            self.asked.wants(DiffTable::Findings) && !(is_empty && not_checked.is_empty());
        is_shown.then(|| {
            let foot = foot
                .into_iter()
                .chain(not_checked.into_iter().map(Line::new));
            let answer = Answer::rows(&(), &FINDINGS, rows).with_foot(foot);
            // Titles of columns above no rows would say nothing, and sentences are an answer.
            let answer = if is_empty {
                answer.showing(Shows::Sums).with_records(in_sentences)
            } else {
                answer
            };
            (DiffTable::Findings, "Findings, B - A".to_owned(), answer)
        })
    }

    fn counters(&mut self, [a, b]: [Sums; 2], title: &str) {
        let compared = counters(a, b, self.scale.noise_percent);
        self.is_same &= compared.rows.is_empty() && compared.hidden == 0;
        let (rows, foot) = self.cut(compared);
        let shown = TableProperties {
            has: Has::Times,
            name: "Process",
            of: "",
            has_percent: false,
        };
        if let Some(answer) = with_foot(rows.is_empty(), foot, |()| {
            Answer::rows(&shown, &COUNTERS, rows)
        }) {
            self.tables
                .push((DiffTable::Counters, title.to_owned(), answer));
        }
    }

    /// Returns the report, with a description of the compared ranges before the tables.
    fn finish(mut self) -> Answer {
        let asked = self.asked;
        let both = self.both;
        if !self.not_recorded.is_empty() {
            self.remarks.push(format!(
                "Neither side recorded: {}",
                self.not_recorded.join(", ")
            ));
        }
        let mut all = Vec::new();
        let wants = |table| asked.wants(table);
        if wants(DiffTable::Summary) {
            all.push((DiffTable::Summary, String::new(), self.summary()));
        }
        if wants(DiffTable::Sides) {
            let answer = Answer::rows(&"", &FACTS, facts::sides(both));
            all.push((DiffTable::Sides, String::new(), answer));
        }
        if wants(DiffTable::Remarks) && !self.remarks.is_empty() {
            let remark = |remark: String| Remark { remark };
            let rows = std::mem::take(&mut self.remarks)
                .into_iter()
                .map(remark)
                .collect();
            let answer = Answer::rows(&(), &REMARKS, rows).showing(Shows::Untitled);
            all.push((DiffTable::Remarks, "What to know".to_owned(), answer));
        }
        all.extend(self.finding_table());
        let marks = if wants(DiffTable::Marks) {
            both.mark_changes()
        } else {
            Vec::new()
        };
        if !marks.is_empty() {
            let answer = Answer::rows(&(), &MARKS, marks);
            all.push((
                DiffTable::Marks,
                "From mark to mark, B - A".to_owned(),
                answer,
            ));
        }
        all.extend(self.tables);
        let is_one = asked.table.is_some();
        // One table alone needs no title.
        let titled = |(table, title, answer): (DiffTable, String, Answer)| {
            (
                table.word(),
                if is_one { String::new() } else { title },
                answer,
            )
        };
        Answer::report(all.into_iter().map(titled)).below(Above::Nothing)
    }

    /// Returns the sentence, and the process that explains most if the sentence names something
    /// else.
    fn summary(&self) -> Answer {
        let both = self.both;
        let is_same = self.is_same
            && both
                .wall_difference()
                .is_none_or(|difference| difference == 0);
        let finding = findings::lead(&self.found.rows, self.scale.wall_ns, self.scale.noise_ns);
        let rows = sentence::Rows {
            finding,
            has_shared: self.has_shared,
            settings: &self.settings,
            has_processes: self.has_processes,
            processes: &self.processes,
            modules: &self.modules,
            methods: &self.methods,
            awaited: &self.awaited,
        };
        let sentence = sentence::sentence(both, &rows, is_same);
        let busiest = sentence::busiest(both, &rows);
        let head = Line::heading(sentence.clone());
        let more = sentence::below(both, &rows)
            .filter(|process| !sentence.ends_with(process.as_str()))
            .map(|process| Line::new(format!("By process: {process}")));
        let row = Summary {
            busiest,
            ..summary(both, sentence)
        };
        Answer::rows(&(), &SUMMARY, vec![row])
            .with_head([head].into_iter().chain(more))
            .showing(Shows::Sums)
    }
}

/// Puts the rows of the process that the named finding costs most after all others: the last rows
/// are those that explain most.
fn put_last(rows: &mut [Change], process: Option<&str>) {
    if let Some(process) = process {
        // The sort is stable.
        rows.sort_by_key(|row| row.name.eq_ignore_ascii_case(process));
    }
}

/// Returns a table with the lines below it; without rows the first of these lines replaces it.
fn with_foot(is_empty: bool, foot: Vec<Line>, answer: impl FnOnce(()) -> Answer) -> Option<Answer> {
    match (is_empty, foot.into_iter()) {
        (true, mut foot) => foot.next().map(|line| answer(()).or_line(line)),
        (false, foot) => Some(answer(()).with_foot(foot)),
    }
}

/// Returns, for each side, whether it has sampled CPU.
fn has_samples(both: &Sides) -> [bool; 2] {
    [0, 1].map(|at: usize| {
        both.sides
            .get(at)
            .is_some_and(|side| side.recording.sample_interval_ns.is_some())
    })
}

/// Replaces sampled CPU by the time on processors from context switches, which both sides have.
fn only_running(sums: &mut Sums) {
    sums.values_mut()
        .for_each(|(.., totals)| totals.cpu = totals.run);
}

fn summary(both: &Sides, sentence: String) -> Summary {
    let [a, b] = &both.sides;
    let ((from_a_ns, to_a_ns), (from_b_ns, to_b_ns)) = (a.bounds(), b.bounds());
    Summary {
        sentence,
        busiest: None,
        wall: both.wall.word().to_owned(),
        wall_a_ns: a.wall_ns,
        wall_b_ns: b.wall_ns,
        wall_difference_ns: b.wall_ns.saturating_sub(a.wall_ns),
        trace_a: a.recording.file_name.clone(),
        trace_b: b.recording.file_name.clone(),
        from_a_ns,
        to_a_ns,
        from_b_ns,
        to_b_ns,
    }
}

fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
