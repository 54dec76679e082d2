//! Compares two traces, or two ranges of one: the growth from A to B, and its likely explanation.
//!
//! The sums of each side come from the dumps, which run on its own extract: nothing is counted
//! again here. `docs/diff.md` explains the tables.

mod awaited;
mod compare;
mod facts;
mod fail_on;
mod findings;
mod key;
mod load;
mod parts;
mod report;
mod results;
mod rows;
mod sentence;
mod side;
mod totals;
mod view;

use etwkit_question::ProcessQuery;
use etwkit_question::rows::Field;
use etwkit_question::{Answer, Example, Form, OptionError, Question, Words, fields, group, option};
use etwkit_sql::Session;

pub use parts::Parts;
pub use rows::{
    Change, CounterChange, Fact, FindingChange, MarkChange, Remark, ResultChange, Summary,
};

/// The number of rows that means all.
const ALL_ROWS: usize = 0;

/// Rows of each table for people, so that the tables of a comparison take a few screens.
const SHOWN: usize = 8;

etwkit_question::declare! {
    /// A table of a comparison.
    pub words DiffTable {
        "summary" => Summary = "The comparison in one sentence.",
        "sides" => Sides = "What A and B are.",
        "remarks" => Remarks = "Differences that make the sides harder to compare, and data that was not recorded.",
        "findings" => Findings = "Findings of the rules of `diagnose`, on one side or on both.",
        "marks" => Marks = "Times from mark to mark.",
        "processes" => Processes = "Processes, by name and command line.",
        "modules" => Modules = "Modules in the stacks of processes.",
        "methods" => Methods = "Methods in the stacks of processes.",
        "tags" => Tags = "Stack tags.",
        "reasons" => Reasons = "Waits by reason.",
        "readying" => Readying = "Waits by who ended them.",
        "files" => Files = "Operations on files.",
        "disk" => Disk = "Disk I/O by file.",
        "folders" => Folders = "Disk I/O by folder.",
        "hard-faults" => HardFaults = "Hard page faults by file.",
        "dns" => Dns = "DNS queries.",
        "counters" => Counters = "Counters of processors.",
        "results" => Results = "Operations that failed: system calls, files, registry; exceptions.",
        "settings" => Settings = "Settings of the machine: disks, power, services.",
        "versions" => Versions = "Modules with another version, and those that only one side has.",
    }

    /// Choice of the compared range if none is given.
    pub words Align {
        "marks" => Marks = "From the first to the last mark that both traces have, if they have several.",
        "whole" => Whole = "All of both.",
    }

    /// Options of `diff`.
    pub request DiffRequest {
        /// Process filter; with --process the wall time is the lifetime of the processes, unless it
        /// is a time between marks
        processes: ProcessQuery = group(),
        /// Only this part of a trace (s); given twice, the first is of A and the second of B
        range: Parts = option("A..B").excludes(&["from-mark", "to-mark"]),
        /// Only from the first mark with this text on (*, ?)
        from_mark: Option<String> = option("TEXT").called("from-mark"),
        /// Only up to the next mark with this text (*, ?)
        to_mark: Option<String> = option("TEXT").called("to-mark"),
        /// Range to compare by default: marks, from the first to the last mark that both traces
        /// have; or all of both
        align: Align = option("WHAT").shape(),
        /// Only this table
        table: Option<DiffTable> = option("NAME").or_all().shape(),
        /// Rows of each table; 0: all, as JSON and CSV have by default
        top: Option<usize> = option("N").shape(),
        /// Times that differ by less are noise: a few samples, or one scheduling slice (ms)
        noise: f64 = option("MS").shape() => 5.0,
        /// Differences below this share of the larger side are also noise: two runs of the same
        /// program differ by that much
        noise_percent: f64 = option("PERCENT").called("noise-percent").shape() => 5.0,
        /// Exit with code 3 if B takes longer than A by more than a share or a time, otherwise with 0:
        /// slower, slower:5% or slower:200ms
        fail_on: Option<String> = option("WHAT").called("fail-on").output(),
    }
}

impl DiffTable {
    /// Returns all tables, in the order of the report.
    fn all() -> impl Iterator<Item = Self> {
        Self::WORDS.iter().map(|(_, table)| *table)
    }

    fn fields(self) -> Vec<Field> {
        match self {
            Self::Summary => fields::<Summary>(),
            Self::Sides | Self::Settings | Self::Versions => fields::<Fact>(),
            Self::Remarks => fields::<Remark>(),
            Self::Findings => fields::<FindingChange>(),
            Self::Results => fields::<ResultChange>(),
            Self::Marks => fields::<MarkChange>(),
            Self::Counters => fields::<CounterChange>(),
            _ => fields::<Change>(),
        }
    }
}

impl DiffRequest {
    fn tables(&self) -> impl Iterator<Item = DiffTable> {
        let asked = self.table;
        DiffTable::all().filter(move |table| asked.is_none_or(|asked| asked == *table))
    }

    fn wants(&self, table: DiffTable) -> bool {
        self.table.is_none_or(|asked| asked == table)
    }
}

impl Question for DiffRequest {
    const NAME: &'static str = "diff";
    const SENTENCE: &'static str =
        "Two traces, or two parts of one, side by side: what explains that one takes longer";
    const USUAL: &'static [&'static str] =
        &["table", "from-mark", "to-mark", "align", "noise", "fail-on"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "good.etl slow.etl",
            answer: "what explains that one takes longer",
        },
        Example {
            words: "--process setup --table methods good.etl slow.etl",
            answer: "methods of setup.exe side by side",
        },
    ];
    const OF_ALL: bool = true;
    const OF_TWO: bool = true;

    fn form(&self) -> Form<Self> {
        let fields = self.tables().flat_map(DiffTable::fields);
        let answer = |asked: &Self, session: &Session| {
            let top = asked.top.unwrap_or(ALL_ROWS);
            report::answer(asked, session, top, report::Readers::Programs)
        };
        Form::report(report::sql(self), fields, answer)
    }

    fn answer_for_people(&self, session: &Session) -> crate::Result<Answer> {
        let top = self.top.unwrap_or(SHOWN);
        report::answer(self, session, top, report::Readers::People)
    }

    fn check(&self) -> Result<(), OptionError> {
        for (option, number) in [("noise", self.noise), ("noise-percent", self.noise_percent)] {
            if !(0.0..=1e9).contains(&number) {
                let problem = format!("expected 0 or more, found {number}");
                return Err(OptionError::Value { option, problem });
            }
        }
        fail_on::FailOn::of(self).map(|_| ())
    }

    fn one_table(&self) -> Option<&'static str> {
        let how = "choose it with --table summary, processes, methods, files, settings or another one that \
                   --help lists";
        self.table.is_none().then_some(how)
    }
}
