//! Kinds of cores: properties, speeds, idle states, the processes that used them, and the threads
//! that waited while one was idle.

use etwkit_question::declare;
pub mod kinds;
mod rows;
mod sql;
mod view;

use self::view::{CLASSES, CORE_SPEEDS, IDLE_STATES, METHODS, PRIORITIES, Priorities};
use etwkit_question::group::Top;
use etwkit_question::rows::Field;
use etwkit_question::sql::ProcessQuery;
use etwkit_question::{Answer, Example, Form, Line, Question, Shows, Words, fields, group, option};
use etwkit_question::{Error, Result, ask, has_rows};
use etwkit_sql::Session;

pub use self::rows::{ClassRow, CoreRow, MethodClassRow, PriorityRow, StateRow};

declare! {
    /// A table of the answer.
    pub words CoresTable {
        "cores" => Cores = "Processors with their kinds and speeds.",
        "states" => States = "Idle states of processors.",
        "processes" => Processes = "CPU of processes by kind of core.",
        "priorities" => Priorities = "Running and ready time by priority and kind of core.",
        "methods" => Methods = "CPU of methods by kind of core.",
    }
}

impl CoresTable {
    /// The tables that are shown if none is named, in their order.
    pub const ALL: [Self; 4] = [Self::Cores, Self::States, Self::Processes, Self::Priorities];
}

declare! {
    /// Options of `dump cores`.
    #[derive(Eq)]
    pub request CoresRequest {
        /// Process filter, for the tables by process
        processes: ProcessQuery = group(),
        /// Number of processes, most CPU first
        top: Top = group(),
        /// Table to show: speeds of cores, their idle states, or the CPU of processes, priorities or
        /// methods by kind of core. With all, every one but methods
        table: Option<CoresTable> = option("NAME").or_all().shape(),
        /// With --table methods: only these (*, ?, several with ;, ! excludes)
        methods: Option<String> = option("NAMES"),
        /// Priorities of each process
        per_process: bool = option("").called("per-process").shape(),
    }
}

/// All tables. Tables that were not requested are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CoresAnswer {
    /// Processors.
    pub cores: Vec<CoreRow>,
    /// Their idle states.
    pub states: Vec<StateRow>,
    /// Processes, ascending by their CPU; of each the fastest cores first.
    pub processes: Vec<ClassRow>,
    /// Priorities, of each the fastest cores first.
    pub priorities: Vec<PriorityRow>,
    /// Methods by process, ascending by their CPU; of each the fastest cores first.
    pub methods: Vec<MethodClassRow>,
}

impl CoresAnswer {
    /// Returns `true` if the kind of at least one core is known.
    #[must_use]
    pub fn has_classes(&self) -> bool {
        self.cores
            .iter()
            .any(|core| core.efficiency_class.is_some())
    }
}

impl Question for CoresRequest {
    const NAME: &'static str = "cores";
    const SENTENCE: &'static str =
        "Kinds of cores, their speeds and idle states, and who used them";
    const USUAL: &'static [&'static str] = &["table", "methods"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "cores, speeds, idle states, and who used which kind",
        },
        Example {
            words: "--table processes slow.etl",
            answer: "programs on P-cores and E-cores",
        },
    ];

    fn form(&self) -> Form<Self> {
        // `--show-sql` prints the questions of all tables; each is named by a comment.
        let sql = |table: &CoresTable| format!("-- {}\n{}", table.word(), self.sql(*table));
        let sql = self.tables().iter().map(sql).collect::<Vec<_>>().join("\n");
        let fields = self.tables().iter().flat_map(CoresTable::fields);
        Form::report(sql, fields, Self::compute)
    }

    fn one_table(&self) -> Option<&'static str> {
        let how = "choose it with --table cores, states, processes, priorities or methods";
        self.table.is_none().then_some(how)
    }
}

impl CoresTable {
    fn fields(&self) -> Vec<Field> {
        match self {
            Self::Cores => fields::<CoreRow>(),
            Self::States => fields::<StateRow>(),
            Self::Processes => fields::<ClassRow>(),
            Self::Priorities => fields::<PriorityRow>(),
            Self::Methods => fields::<MethodClassRow>(),
        }
    }
}

impl CoresRequest {
    /// Returns the tables that have rows, and a table without rows if only that one was requested.
    fn compute(&self, session: &Session) -> Result<Answer> {
        let answer = self.ask(session, self.tables())?;
        let has_classes = answer.has_classes();
        let CoresAnswer {
            cores,
            states,
            processes,
            priorities,
            methods,
        } = answer;
        let of_priorities = Priorities {
            per_process: self.per_process,
            has_faster: has_classes || self.table.is_some(),
        };
        let all = [
            (
                CoresTable::Cores,
                "Processors",
                Answer::rows(self, &CORE_SPEEDS, cores),
            ),
            (
                CoresTable::States,
                "Idle states",
                Answer::rows(self, &IDLE_STATES, states),
            ),
            (
                CoresTable::Processes,
                "CPU by kind of core",
                Answer::rows(self, &CLASSES, processes),
            ),
            (
                CoresTable::Priorities,
                "Priority by kind of core",
                Answer::rows(&of_priorities, &PRIORITIES, priorities),
            ),
            (
                CoresTable::Methods,
                "Methods by kind of core",
                Answer::rows(self, &METHODS, methods),
            ),
        ];
        // One table alone needs no title.
        let title = |title: &str| {
            if self.table.is_none() {
                title.to_owned()
            } else {
                String::new()
            }
        };
        let named = all
            .into_iter()
            .filter_map(|(table, name, answer)| match answer.is_empty() {
                false => Some((table.word(), title(name), answer)),
                true if self.table == Some(table) => {
                    Some((table.word(), String::new(), answer.showing(Shows::Sums)))
                }
                true => None,
            });
        let is_missing = self.table.is_none() && !has_classes;
        let hint = is_missing.then(|| {
            let why = Line::new(why_no_kinds(session));
            let nothing = Answer::rows(self, &CORE_SPEEDS, Vec::new()).or_line(why);
            ("", String::new(), nothing)
        });
        Ok(Answer::report(named.chain(hint)))
    }

    fn tables(&self) -> &[CoresTable] {
        self.table
            .as_ref()
            .map_or(&CoresTable::ALL, std::slice::from_ref)
    }

    /// Queries some of the tables.
    ///
    /// # Errors
    /// Nothing of them was recorded; a query fails.
    pub fn ask(&self, session: &Session, tables: &[CoresTable]) -> Result<CoresAnswer> {
        let mut answer = CoresAnswer::default();
        let mut is_recorded = false;
        for table in tables {
            let sql = self.sql(*table);
            let from = match table {
                CoresTable::Cores => {
                    answer.cores = ask(session, &sql)?;
                    OF_KINDS
                }
                CoresTable::States => {
                    answer.states = ask(session, &sql)?;
                    "cpu_core_state"
                }
                CoresTable::Processes => {
                    answer.processes = ask(session, &sql)?;
                    "cpu_class"
                }
                CoresTable::Priorities => {
                    answer.priorities = ask(session, &sql)?;
                    "cpu_class_priority"
                }
                CoresTable::Methods => {
                    answer.methods = ask(session, &sql)?;
                    "cpu_method_class"
                }
            };
            // One table with rows is enough: idle states, speeds and use of cores come from
            // different events, and hardly any recording has all of them.
            is_recorded |= has_rows(session, from)?;
        }
        if !is_recorded {
            return Err(Error::NotRecorded {
                what: "kinds, speeds or use of cores",
                how: HOW,
                tables: Vec::new(),
            });
        }
        cut(&mut answer.processes, self.top, |row| row.process_key);
        cut(&mut answer.methods, self.top, |row| row.process_key);
        // Otherwise rows of priorities are sums over all processes, without a key to cut by.
        if self.per_process {
            cut(&mut answer.priorities, self.top, |row| row.process_key);
        }
        Ok(answer)
    }
}

/// Returns why the kind of no core is known. An extract of a part of a trace has the kinds of the whole
/// trace, so that only a table that was left out proves nothing.
fn why_no_kinds(session: &Session) -> String {
    if session.leaves_out(OF_KINDS) {
        return format!(
            "This extract was made without {OF_KINDS} (--tables), which has the kinds of cores."
        );
    }
    format!("Kinds of cores were not recorded: {HOW}.")
}

/// The table of processors with their kinds.
const OF_KINDS: &str = "cpu_core";

/// The recording that has kinds and speeds of cores.
pub const HOW: &str = "record the provider Microsoft-Windows-Kernel-Processor-Power with its capture state for kinds and speeds of cores, \
     PROFILE or CSWITCH for their use, CSWITCH+IDLE_STATES for idle states";

/// Keeps the rows of the processes with the most CPU, which are the last ones.
fn cut<R>(rows: &mut Vec<R>, top: Top, key: impl Fn(&R) -> Option<i64>) {
    let mut keys: Vec<Option<i64>> = rows.iter().map(&key).collect();
    // Rows of a process are adjacent in the order of the SQL.
    keys.dedup();
    top.cut(&mut keys);
    let kept: std::collections::HashSet<Option<i64>> = keys.into_iter().collect();
    rows.retain(|row| kept.contains(&key(row)));
}
