//! Overview of a trace on one screen: machine, processes, modules, methods, files, health, and
//! further questions.
//!
//! The numbers come from the derived tables, which the other dumps also query. For a range they are
//! the answers of these dumps.

use etwkit_question::declare;
mod contents;
mod next;
mod rows;
mod sql;
mod view;

use self::sql::{COUNTS, METHODS, MODULES, NOTES, PROVIDERS, RECORDING, TOPICS};
use super::cpu::{By, CpuRequest, CpuSort};
use super::disk::{DiskRequest, DiskSort};
use super::stats::sql::CLASSES;
use etwkit_question::Result;
use etwkit_question::path::WHOLE_PATH;
use etwkit_question::range::{Range, Unit};
use etwkit_question::rows::Field;
use etwkit_question::sql::ends;
use etwkit_question::{Above, Answer, Example, Form, Question, Shows, Words, fields, option};
use etwkit_sql::Session;

pub use self::rows::{
    Content, FileShare, MethodShare, ModuleShare, Next, Note, ProcessShare, ProviderEvents,
    Recording, TopicEvents,
};

declare! {
    /// A table of an overview.
    pub words OverviewTable {
        "recording" => Recording = "The recording and its machine.",
        "processes" => Processes = "Processes with most CPU.",
        "modules" => Modules = "Modules with most CPU of their own.",
        "methods" => Methods = "Methods with most CPU of their own.",
        "files" => Files = "Files that disks worked on longest.",
        "contents" => Contents = "What there is, in a trace without CPU.",
        "providers" => Providers = "Providers of events without a table of their own, in a trace without CPU.",
        "topics" => Topics = "Topics that a trace without CPU recorded.",
        "health" => Health = "What was lost or is damaged.",
        "next" => Next = "Which questions have an answer.",
    }

    /// Options of `dump overview`.
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
    /// CPU of DPCs and interrupts on idle processors, which is of no process in the list.
    pub idle_ns: i64,
    /// Modules by CPU of their own.
    pub modules: Vec<ModuleShare>,
    /// Methods by CPU of their own.
    pub methods: Vec<MethodShare>,
    /// Files by service time of the disk.
    pub files: Vec<FileShare>,
    /// Contents of the trace, if no CPU was recorded.
    pub contents: Option<Contents>,
    /// Errors and warnings.
    pub notes: Vec<Note>,
    /// The smaller dumps that have rows.
    pub dumps: Vec<String>,
}

/// Contents of a trace without CPU samples and context switches.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contents {
    /// The recorded topics.
    pub topics: Vec<TopicEvents>,
    /// Number of rows of each kind.
    pub counts: Vec<Content>,
    /// Providers with most events.
    pub providers: Vec<ProviderEvents>,
    /// Number of providers.
    pub provider_count: usize,
}

impl Question for OverviewRequest {
    const NAME: &'static str = "overview";
    const SENTENCE: &'static str = "Everything on one screen: machine, processes, modules, methods, files, health, and what to ask next";
    const USUAL: &'static [&'static str] = &["table"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "the trace on one screen",
        },
        Example {
            words: "--table next slow.etl",
            answer: "what to ask next",
        },
    ];

    fn form(&self) -> Form<Self> {
        let sql = |table: OverviewTable| format!("-- {}\n{}", table.word(), self.sql(table));
        let sql = self.tables().map(sql).collect::<Vec<_>>().join("\n");
        Form::report(
            sql,
            self.tables().flat_map(OverviewTable::fields),
            Self::report,
        )
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

    /// Returns its tables in the order of the report; without tables that were not requested, and
    /// without tables that have no data.
    fn report(&self, session: &Session) -> Result<Answer> {
        let overview = Overview::ask(session, self)?;
        let next = next::next(&overview, session);
        let asked = |(table, title, answer): (OverviewTable, String, Answer)| match self.table {
            None => Some((table.word(), title, answer)),
            // One table alone needs no title.
            Some(asked) if asked == table => Some((table.word(), String::new(), answer)),
            Some(_) => None,
        };
        let tables: Vec<_> = view::tables(self, overview, next)
            .into_iter()
            .filter_map(asked)
            .collect();
        if let (Some(table), true) = (self.table, tables.is_empty()) {
            let nothing = view::nothing(self).showing(Shows::Sums);
            return Ok(Answer::report([(table.word(), String::new(), nothing)]).below(Above::Name));
        }
        Ok(Answer::report(tables).below(Above::Name))
    }

    pub(super) fn processes(&self) -> CpuRequest {
        CpuRequest {
            time: self.time,
            ..CpuRequest::default()
        }
    }

    /// Returns the SQL for the sampled CPU of the idle process, which is not among the processes.
    pub(super) fn idle_sql(&self) -> String {
        let (column, table, condition) = if self.time.is_unlimited() {
            ("c.cpu_ns", "cpu_process", String::new())
        } else {
            let (a, b) = ends(self.time);
            let condition = format!(" AND NOT c.is_idle AND c.ts_ns BETWEEN {a} AND {b}");
            ("c.weight_ns", "cpu_sample", condition)
        };
        format!(
            "SELECT coalesce(sum({column}), 0) AS cpu_ns
FROM {table} c JOIN process p ON p.process_key = c.process_key
WHERE p.pid = 0{condition}"
        )
    }

    pub(super) fn files(&self) -> DiskRequest {
        let sort = DiskSort::TotalTime;
        DiskRequest {
            level: WHOLE_PATH,
            sort,
            time: self.time,
            ..DiskRequest::default()
        }
    }

    /// Returns the request for methods of a range of the trace; the whole trace has stored sums of
    /// methods.
    pub(super) fn methods(&self) -> Option<CpuRequest> {
        let request = CpuRequest {
            by: By::Method,
            idle: true,
            sort: CpuSort::Cpu,
            time: self.time,
            ..CpuRequest::default()
        };
        (!self.time.is_unlimited()).then_some(request)
    }

    /// Returns the number of rows of each list.
    pub(super) const fn most(&self) -> usize {
        if self.top == 0 { usize::MAX } else { self.top }
    }

    /// Returns a query limited to the requested number of rows.
    fn limited(&self, sql: &str) -> String {
        if self.top == 0 {
            sql.to_owned()
        } else {
            format!("{sql} LIMIT {}", self.top)
        }
    }

    /// Returns the SQL for a table.
    #[must_use]
    pub fn sql(&self, table: OverviewTable) -> String {
        match table {
            OverviewTable::Recording => RECORDING.replace("CLASSES", CLASSES),
            OverviewTable::Processes => self.processes().process_sql(),
            OverviewTable::Modules => self
                .methods()
                .map_or_else(|| self.limited(MODULES), |asked| asked.method_sql()),
            OverviewTable::Methods => self
                .methods()
                .map_or_else(|| self.limited(METHODS), |asked| asked.method_sql()),
            OverviewTable::Files => self.files().sql(),
            OverviewTable::Contents => COUNTS.to_owned(),
            OverviewTable::Providers => PROVIDERS.to_owned(),
            OverviewTable::Topics => TOPICS.to_owned(),
            OverviewTable::Health => NOTES.to_owned(),
            OverviewTable::Next => next::answering_sql(),
        }
    }
}
