//! What a trace is about, on one screen: machine, processes, modules, methods, files, health, and what to ask
//! next.
//!
//! The numbers are those of the derived tables, which the other dumps ask, too; of a part of the trace they
//! are those that these dumps answer for it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::cpu::{CpuAnswer, CpuRequest, CpuRow};
use super::disk::{DiskRequest, DiskRow, DiskSort};
use super::method::{MethodRequest, MethodRow};
use super::overview_rows::Answering;
pub use super::overview_rows::{
    Content, FileShare, MethodShare, ModuleShare, Next, Note, ProcessShare, ProviderEvents, Recording,
    TopicEvents,
};
use super::overview_sql::{COUNTS, METHODS, MODULES, NOTES, PROVIDERS, RECORDING, TOPICS};
use super::path::WHOLE_PATH;
use super::rows::Field;
use super::stats::CLASSES;
use super::{Error, Result, ask, overview_next, overview_view};
use crate::Session;
use crate::question::{Above, Answer, Form, Question, Shows, Words, fields, option};
use crate::range::{Range, Unit};

declare! {
    /// A table of an overview.
    pub words OverviewTable {
        "recording" => Recording = "The recording and its machine.",
        "processes" => Processes = "Processes with most CPU.",
        "modules" => Modules = "Modules with most CPU of their own.",
        "methods" => Methods = "Methods with most CPU of their own.",
        "files" => Files = "Files that disks worked on longest.",
        "contents" => Contents = "What there is, in a trace without CPU.",
        "providers" => Providers = "Providers of events without a table of their own, in such a trace.",
        "topics" => Topics = "What such a trace recorded.",
        "health" => Health = "What was lost or is damaged.",
        "next" => Next = "Which questions have an answer.",
    }

    /// How much, of which part of the trace.
    #[derive(Eq)]
    pub request OverviewRequest {
        /// Rows of each list; 0 is all
        top: usize = option("N").shape() => 8,
        /// Only this table
        table: Option<OverviewTable> = option("NAME").or_all().shape(),
        /// Processes, modules, methods and files of this part of the trace (s) alone
        time: Range = option("A..B").called("range").unit(Unit::Moment),
    }
}

/// The largest of everything, ascending.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overview {
    /// The recording.
    pub recording: Recording,
    /// Processes by CPU.
    pub processes: Vec<ProcessShare>,
    /// CPU of all processes, and its share of the time of all processors.
    pub cpu: (i64, Option<f64>),
    /// Modules by CPU of their own.
    pub modules: Vec<ModuleShare>,
    /// Methods by CPU of their own.
    pub methods: Vec<MethodShare>,
    /// Files by service time of the disk.
    pub files: Vec<FileShare>,
    /// What there is, where no CPU was recorded.
    pub contents: Option<Contents>,
    /// Errors and warnings.
    pub notes: Vec<Note>,
    /// Which of the smaller dumps have something to show.
    pub dumps: Vec<String>,
}

/// What a trace without CPU samples and context switches holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contents {
    /// What was recorded.
    pub topics: Vec<TopicEvents>,
    /// How much there is.
    pub counts: Vec<Content>,
    /// Providers with most events.
    pub providers: Vec<ProviderEvents>,
    /// How many providers there are.
    pub provider_count: usize,
}

impl Question for OverviewRequest {
    const NAME: &'static str = "overview";
    const SENTENCE: &'static str =
        "Everything on one screen: machine, processes, modules, methods, files, health, and what to ask next";

    fn form(&self) -> Form<Self> {
        let sql = |table: OverviewTable| format!("-- {}\n{}", table.word(), self.sql(table));
        let sql = self.tables().map(sql).collect::<Vec<_>>().join("\n");
        Form::report(sql, self.tables().flat_map(OverviewTable::fields), Self::report)
    }

    fn one_table(&self) -> Option<&'static str> {
        let how = "choose it with --table recording, processes, modules, methods, files, contents, \
                   providers, topics, health or next";
        self.table.is_none().then_some(how)
    }
}

impl OverviewTable {
    fn fields(self) -> Vec<Field> {
        match self {
            Self::Recording => fields::<Recording>(),
            Self::Processes => fields::<ProcessShare>(),
            Self::Modules => fields::<ModuleShare>(),
            Self::Methods => fields::<MethodShare>(),
            Self::Files => fields::<FileShare>(),
            Self::Contents => fields::<Content>(),
            Self::Providers => fields::<ProviderEvents>(),
            Self::Topics => fields::<TopicEvents>(),
            Self::Health => fields::<Note>(),
            Self::Next => fields::<Next>(),
        }
    }
}

impl OverviewRequest {
    fn tables(&self) -> impl Iterator<Item = OverviewTable> {
        let all = OverviewTable::WORDS.iter().map(|(_, table)| *table);
        let asked = self.table;
        all.filter(move |table| asked.is_none_or(|asked| asked == *table))
    }

    /// Its tables as they stand one below the other; those that are not asked for, and those that the trace
    /// has nothing for, are left out.
    fn report(&self, session: &Session) -> Result<Answer> {
        let overview = Overview::ask(session, self)?;
        let next = overview_next::next(&overview, session);
        let asked = |(table, title, answer): (OverviewTable, String, Answer)| match self.table {
            None => Some((table.word(), title, answer)),
            // One table alone needs no title.
            Some(asked) if asked == table => Some((table.word(), String::new(), answer)),
            Some(_) => None,
        };
        let tables: Vec<_> =
            overview_view::tables(self, overview, next).into_iter().filter_map(asked).collect();
        if let (Some(table), true) = (self.table, tables.is_empty()) {
            let nothing = overview_view::nothing(self).showing(Shows::Sums);
            return Ok(Answer::report([(table.word(), String::new(), nothing)]).below(Above::Name));
        }
        Ok(Answer::report(tables).below(Above::Name))
    }

    fn processes(&self) -> CpuRequest {
        CpuRequest { time: self.time, ..CpuRequest::default() }
    }

    fn files(&self) -> DiskRequest {
        let sort = DiskSort::TotalTime;
        DiskRequest { level: WHOLE_PATH, sort, time: self.time, ..DiskRequest::default() }
    }

    /// Methods of a part of the trace; the whole trace has stored sums of methods.
    fn methods(&self) -> Option<MethodRequest> {
        let request = MethodRequest { with_idle: true, time: self.time, ..MethodRequest::default() };
        (!self.time.is_unlimited()).then_some(request)
    }

    /// Rows of each list.
    const fn most(&self) -> usize {
        if self.top == 0 { usize::MAX } else { self.top }
    }

    /// A query with no more rows than are wanted.
    fn limited(&self, sql: &str) -> String {
        if self.top == 0 { sql.to_owned() } else { format!("{sql} LIMIT {}", self.top) }
    }

    /// The question for a table.
    #[must_use]
    pub fn sql(&self, table: OverviewTable) -> String {
        match table {
            OverviewTable::Recording => RECORDING.replace("CLASSES", CLASSES),
            OverviewTable::Processes => self.processes().sql(),
            OverviewTable::Modules => {
                self.methods().map_or_else(|| self.limited(MODULES), |asked| asked.sql())
            }
            OverviewTable::Methods => {
                self.methods().map_or_else(|| self.limited(METHODS), |asked| asked.sql())
            }
            OverviewTable::Files => self.files().sql(),
            OverviewTable::Contents => COUNTS.to_owned(),
            OverviewTable::Providers => PROVIDERS.to_owned(),
            OverviewTable::Topics => TOPICS.to_owned(),
            OverviewTable::Health => NOTES.to_owned(),
            OverviewTable::Next => overview_next::answering_sql(),
        }
    }
}

impl Contents {
    fn ask(session: &Session, top: usize) -> Result<Self> {
        let mut providers: Vec<ProviderEvents> = ask(session, PROVIDERS)?;
        let provider_count = providers.len();
        // All of them are read, since their number is shown as well.
        providers.truncate(top);
        providers.reverse();
        Ok(Self { topics: ask(session, TOPICS)?, counts: ask(session, COUNTS)?, providers, provider_count })
    }
}

impl Overview {
    /// Asks a session with one extract.
    ///
    /// # Errors
    /// A part of the trace is asked, and the extract has only sums; a query fails.
    pub fn ask(session: &Session, asked: &OverviewRequest) -> Result<Self> {
        let (top, is_part) = (asked.most(), !asked.time.is_unlimited());
        let cpu = answered(asked.processes().ask(session), is_part)?;
        let cpu = cpu.unwrap_or_else(|| CpuAnswer::new(Vec::new()));
        let files = answered(asked.files().ask(session), is_part)?.map_or_else(Vec::new, |disk| disk.groups);
        let files = files.into_iter().flat_map(|group| group.rows).collect();
        let recording = asked.sql(OverviewTable::Recording);
        let recording: Recording = ask(session, &recording)?.into_iter().next().unwrap_or_default();
        let machine_ns = machine_ns(&recording, asked.time);
        let process = |row| ProcessShare::of(row, machine_ns);
        let (modules, methods) = Self::code(session, asked)?;
        Ok(Self {
            contents: if recording.has_cpu() { None } else { Some(Contents::ask(session, top)?) },
            recording,
            cpu: (cpu.total.cpu_ns, percent(cpu.total.cpu_ns, machine_ns)),
            processes: largest(cpu.rows, top, |row| row.cpu_ns).into_iter().map(process).collect(),
            modules,
            methods,
            files: largest(files, top, |row: &DiskRow| row.total_service_ns)
                .into_iter()
                .map(FileShare::from)
                .collect(),
            notes: ask(session, NOTES)?,
            dumps: ask::<Answering>(session, &asked.sql(OverviewTable::Next))?
                .into_iter()
                .map(|answering| answering.dump)
                .collect(),
        })
    }

    /// Modules and methods with most CPU of their own.
    fn code(session: &Session, asked: &OverviewRequest) -> Result<(Vec<ModuleShare>, Vec<MethodShare>)> {
        let top = asked.most();
        let Some(methods) = asked.methods() else {
            let mut modules: Vec<ModuleShare> = ask(session, &asked.sql(OverviewTable::Modules))?;
            let mut methods: Vec<MethodShare> = ask(session, &asked.sql(OverviewTable::Methods))?;
            // The SQL sorts descending, so that LIMIT keeps the largest; lists are ascending.
            modules.reverse();
            methods.reverse();
            return Ok((modules, methods));
        };
        let Some(answer) = answered(methods.ask(session), true)? else { return Ok(Default::default()) };
        let rows = answer.processes.into_iter().flat_map(|group| group.rows);
        // Both lists are by CPU of their own: methods that only call others would be rows of 0.
        let rows: Vec<MethodRow> = rows.filter(|row| row.exclusive_ns.unwrap_or(0) > 0).collect();
        let mut modules: BTreeMap<(&str, String), ModuleShare> = BTreeMap::new();
        for row in &rows {
            // Windows ignores the case of paths.
            let path = row.module_path.as_ref().or(row.module.as_ref());
            let key = (kind(row), path.map(|path| path.to_lowercase()).unwrap_or_default());
            let share = modules.entry(key).or_insert_with(|| ModuleShare {
                kind: kind(row).to_owned(),
                module: row.module.clone(),
                module_path: row.module_path.clone(),
                exclusive_ns: 0,
            });
            share.exclusive_ns = share.exclusive_ns.saturating_add(row.exclusive_ns.unwrap_or(0));
        }
        let modules: Vec<ModuleShare> = modules.into_values().collect();
        let methods: Vec<MethodShare> = rows.into_iter().map(MethodShare::from).collect();
        let (modules, methods) =
            (largest(modules, top, |row| row.exclusive_ns), largest(methods, top, |row| row.exclusive_ns));
        Ok((modules, methods))
    }
}

/// Where code of a method lies. Only code that .NET compiled at run time has a name without a file.
fn kind(row: &MethodRow) -> &'static str {
    match &row.module {
        Some(_) => "module",
        None if row.method.starts_with('+') || row.method.starts_with("0x") => "unknown",
        None => "dotnet",
    }
}

impl ProcessShare {
    fn of(row: CpuRow, machine_ns: f64) -> Self {
        Self {
            process_key: row.process_key,
            pid: row.pid,
            process: row.process,
            cpu_ns: row.cpu_ns,
            machine_percent: percent(row.cpu_ns, machine_ns),
            wait_ns: row.wait_ns,
            ready_ns: row.ready_ns,
            switches: row.switches,
        }
    }
}

impl From<MethodRow> for MethodShare {
    fn from(row: MethodRow) -> Self {
        Self {
            process: row.process,
            pid: row.pid,
            module: row.module,
            method: row.method,
            exclusive_ns: row.exclusive_ns.unwrap_or(0),
            cpu_ns: row.cpu_ns,
            wait_ns: row.wait_ns,
        }
    }
}

impl From<DiskRow> for FileShare {
    fn from(row: DiskRow) -> Self {
        let counts = [row.reads, row.writes, row.flushes];
        let operations = counts.into_iter().try_fold(0i64, |sum, count| Some(sum.saturating_add(count?)));
        Self {
            path: row.path,
            service_ns: row.total_service_ns,
            operations,
            read_bytes: row.read_bytes,
            write_bytes: row.write_bytes,
        }
    }
}

/// The time of all processors, as far as it was seen and asked for.
fn machine_ns(recording: &Recording, asked: Range) -> f64 {
    let (start, end) =
        recording.range_start_ns.zip(recording.range_end_ns).unwrap_or((0, recording.duration_ns));
    let seen_ns = end.min(asked.max).saturating_sub(start.max(asked.min)).max(0);
    seen_ns as f64 * recording.processors.max(1) as f64
}

/// The share of that time; of no time at all, as damaged numbers can have it, nothing is a share.
fn percent(ns: i64, machine_ns: f64) -> Option<f64> {
    (machine_ns > 0.0).then(|| ns as f64 * 100.0 / machine_ns)
}

/// The answer, or none where the trace has nothing of the kind. An extract that cannot answer for parts of a
/// trace is an error.
fn answered<A>(answer: Result<A>, is_part: bool) -> Result<Option<A>> {
    match answer {
        Err(error @ Error::NeedsRows { .. }) if is_part => Err(error),
        Err(error) if error.is_nothing() => Ok(None),
        answer => answer.map(Some),
    }
}

/// The largest rows of a list, ascending; of rows of the same size the first ones count as the largest.
fn largest<R>(mut rows: Vec<R>, top: usize, size: impl Fn(&R) -> i64) -> Vec<R> {
    rows.sort_by_key(|row| Reverse(size(row)));
    rows.truncate(top);
    rows.reverse();
    rows
}
