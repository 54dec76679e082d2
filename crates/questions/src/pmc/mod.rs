//! Performance counters of processes, threads or methods.

use etwkit_question::declare;
mod sql;

use etwkit_question::Format::{Fixed, Id, Milliseconds, ProcessLine, Whole, Word};
use etwkit_question::group::Group;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::{Answer, Column, Example, Form, Line, Question, View, group, option};

declare! {
    /// Options of `dump pmc`.
    #[derive(Eq)]
    pub request PmcRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first; of each process with `methods`
        top: Top = group(),
        /// Rows for each thread
        per_thread: bool = option("").called("per-thread").excludes(&["methods"]).shape(),
        /// Rows for each method in the stacks of switch-ins or samples: only these (*, ?, several
        /// with ;, ! excludes)
        methods: Option<String> = option("NAMES"),
        /// Names of methods start with their module
        include_dll: bool = option("").called("include-dll").requires("methods").shape(),
        /// Only scheduling slices that end in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Leave the counters out, keep what is computed from them
        no_counters: bool = option("").called("no-counters").output(),
    }

    /// Counters of a process, thread or method.
    pub row PmcRow: process {
        ..process = "Process key; missing for threads whose process is not known.",
        tid: Option<i64> = "Thread id, with rows for each thread.",
        name: Option<String> = "Method, with rows for each method.",
        kind: String = "`counted` between context switches, or `sampled`: an estimate from samples.",
        instructions: Option<i64> = "Instructions.",
        cycles: Option<i64> = "Cycles.",
        cpi: Option<f64> = "Cycles for each instruction.",
        branches: Option<i64> = "Branches.",
        branch_mispredictions: Option<i64> = "Branches that the processor predicted wrongly.",
        branch_mispredict_percent: Option<f64> = "`branch_mispredictions` of `branches`.",
        cache_misses: Option<i64> = "Misses of the last level of the cache.",
        llc_references: Option<i64> = "References to the last level of the cache.",
        cache_miss_percent: Option<f64> = "`cache_misses` of `llc_references`.",
        run_ns: Option<i64> = "Time in which counters ran; missing for samples.",
        instructions_per_s: Option<f64> = "Instructions for each second of that time.",
        cycles_per_s: Option<f64> = "Cycles for each second of that time.",
        count: i64 = "Scheduling slices, or samples.",
        other_counters: Option<String> = "All other counters: `Name=value`, with blanks between.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

/// Counters by process: one group with all rows unless they are of methods.
pub type PmcAnswer = Vec<Group<PmcRow, f64>>;

/// Names of the counters of a column: first the name on recent processors, then the name that
/// Windows uses on all of them. The first one that was recorded counts.
pub(super) const COLUMNS: [(&str, &[&str]); 6] = [
    (
        "instructions",
        &[
            "InstructionRetired",
            "TotalIssues",
            "InstructionsRetiredFixed",
        ],
    ),
    (
        "cycles",
        &[
            "UnhaltedCoreCycles",
            "TotalCycles",
            "UnhaltedCoreCyclesFixed",
        ],
    ),
    (
        "branches",
        &["BranchInstructionRetired", "BranchInstructions"],
    ),
    (
        "branch_mispredictions",
        &["BranchMispredictsRetired", "BranchMispredictions"],
    ),
    ("cache_misses", &["LLCMisses", "CacheMisses"]),
    ("llc_references", &["LLCReference", "LLCReferences"]),
];

/// Returns the names of the counters of a column, the preferred one first; empty for an unknown
/// column.
#[must_use]
pub fn counter_names(column: &str) -> &'static [&'static str] {
    COLUMNS
        .iter()
        .find(|(name, _)| *name == column)
        .map_or(&[], |(_, names)| names)
}

type PmcColumn = Column<PmcRequest, PmcRow>;

/// Only recorded counters have a column.
const COUNTERS: View<PmcRequest, PmcRow> = View::new(
    &[
        PmcColumn::new("Instructions", "Instructions", Whole, |_, row| {
            row.instructions.into()
        })
        .sum()
        .shown_if_known(has_counters),
        PmcColumn::new("Cycles", "Cycles", Whole, |_, row| row.cycles.into())
            .cost()
            .shown_if_known(has_counters),
        PmcColumn::new("CPI", "CPI", Fixed(2), |_, row| row.cpi.into())
            .worst()
            .shown_if_known(|_| true),
        PmcColumn::new("Branches", "Branches", Whole, |_, row| row.branches.into())
            .sum()
            .shown_if_known(has_counters),
        PmcColumn::new("BranchMispredicts", "BranchMispredicts", Whole, |_, row| {
            row.branch_mispredictions.into()
        })
        .cost()
        .shown_if_known(has_counters),
        PmcColumn::new(
            "BrMispredictPercent",
            "BrMispredict %",
            Fixed(2),
            |_, row| row.branch_mispredict_percent.into(),
        )
        .worst()
        .shown_if_known(|_| true),
        PmcColumn::new("CacheMisses", "CacheMisses", Whole, |_, row| {
            row.cache_misses.into()
        })
        .cost()
        .shown_if_known(has_counters),
        PmcColumn::new("LLCReferences", "LLCReferences", Whole, |_, row| {
            row.llc_references.into()
        })
        .sum()
        .shown_if_known(has_counters),
        PmcColumn::new("CacheMissPercent", "CacheMiss %", Fixed(2), |_, row| {
            row.cache_miss_percent.into()
        })
        .worst()
        .shown_if_known(|_| true),
        PmcColumn::new("Time", "Time ms", Milliseconds, |_, row| row.run_ns.into())
            .cost()
            .shown_if_known(|_| true),
        PmcColumn::new("Rate", "Instr/µs", Fixed(0), |_, row| {
            row.instructions_per_s.map(|rate| rate / 1e6).into()
        })
        .shown_if_known(|_| true),
        PmcColumn::new("Speed", "Cycles/µs", Fixed(0), |_, row| {
            row.cycles_per_s.map(|rate| rate / 1e6).into()
        })
        .shown_if_known(|_| true),
        PmcColumn::new("Count", "Count", Whole, |_, row| row.count.into())
            .sum()
            .hidden(),
        PmcColumn::new("Others", "Other counters", Word, |_, row| {
            row.other_counters.clone().into()
        })
        .shown_if_known(has_counters),
        PmcColumn::new("Tid", "Tid", Id, |_, row| row.tid.into())
            .shown_if(|asked| asked.per_thread),
        PmcColumn::new("Method", "Method", Word, |_, row| row.name.clone().into())
            .shown_if(|asked| asked.methods.is_some()),
        PmcColumn::new("Process", "Process", ProcessLine, |_, row| row.into())
            .shown_if(|asked| asked.methods.is_none()),
    ],
    |row| row.sort_value,
)
.with_headings(|asked, rows| {
    let row = rows.first().filter(|_| asked.methods.is_some())?;
    Some(Line::new("  ").value(ProcessLine, row))
});

const fn has_counters(asked: &PmcRequest) -> bool {
    !asked.no_counters
}

impl Question for PmcRequest {
    const NAME: &'static str = "pmc";
    const SENTENCE: &'static str =
        "Performance counters of the processor: instructions, cycles, cache misses";
    const USUAL: &'static [&'static str] = &["per-thread", "methods", "no-counters"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "counters by process",
        },
        Example {
            words: "--methods \"*\" slow.etl",
            answer: "counters by method",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = Form::made::<PmcRow>(self.sql(), |asked: &Self, session| {
            let groups: Vec<Vec<PmcRow>> = asked
                .ask(session)?
                .into_iter()
                .map(|group| group.rows)
                .collect();
            let is_sampled = groups.iter().flatten().any(|row| row.kind == "sampled");
            let head = is_sampled.then(|| Line::new("Counters are estimates from samples."));
            Ok(Answer::groups(asked, &COUNTERS, groups).with_head(head))
        })
        .shows(&COUNTERS);
        // With methods, `top` counts the methods of each process, not all rows.
        if self.methods.is_some() {
            form
        } else {
            form.top(self.top)
        }
    }
}
