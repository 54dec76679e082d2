//! Virtual memory that processes committed and did not release, by process, stack or method.

use etwkit_question::declare;
mod rows;
mod sql;
mod view;

use self::rows::total;
use self::view::{ALLOCATIONS, STACKS, of_process};
use etwkit_question::Format::{Bytes, ProcessLine, Whole};
use etwkit_question::group::Top;
use etwkit_question::group::grouped;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::{
    Answer, Column, Example, Form, OptionError, Question, Scalar, Spec, View, group, option,
};
use etwkit_question::{Recorded, Result, ask};
use etwkit_sql::Session;

pub use self::rows::{
    VirtualAllocRow, VirtualAllocTotal, VirtualEvent, VirtualStackAnswer, VirtualStackRow,
};

declare! {
    /// Orders of processes, stacks and methods.
    pub orders VirtualAllocSort {
        "not-released-size" => NotReleasedSize: "outstanding_bytes" = "Bytes that were not given back.",
        "not-released-count" => NotReleasedCount: "outstanding_commits" = "Commits that were not given back.",
        "commit-size" => CommitSize: "commit_bytes" = "Bytes of commits.",
        "commit-count" => CommitCount: "commits" = "Commits.",
        "freed-size" => FreedSize: "freed_bytes" / "outstanding_bytes" = "Bytes of decommits and releases.",
        "freed-count" => FreedCount: "frees" / "outstanding_bytes" = "Decommits and releases.",
        "max-commit-size" => MaxCommitSize: "max_commit_bytes" = "Largest commit.",
        "peak-size" => PeakSize: "peak_bytes" / "outstanding_bytes" =
            "The most that was committed at one time.",
    }
}

/// Numbers of stacks with `;` between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackNumbers(pub Vec<i32>);

impl Scalar for StackNumbers {
    fn parse(text: &str, spec: &Spec) -> std::result::Result<Self, OptionError> {
        let parts = text.split([';', ' ', ',']).filter(|part| !part.is_empty());
        let numbers = parts.map(str::parse).collect::<std::result::Result<_, _>>();
        numbers
            .map(Self)
            .map_err(|_| spec.wrong(format!("expected numbers with ; between, found {text:?}")))
    }
    fn text(&self, _: &Spec) -> String {
        self.0
            .iter()
            .map(i32::to_string)
            .collect::<Vec<_>>()
            .join(";")
    }
}

declare! {
    /// Limits of the list of stacks or methods of each process.
    #[derive(Copy, Eq)]
    pub request TopStacks {
        /// With --details or --methods: only the N largest of each process
        count: usize = option("N").called("top-stacks").shape() => 10,
        /// Leave the N largest of each process out first
        skip: usize = option("N").called("skip-stacks").shape(),
    }

    /// Options of `dump virtual-alloc`.
    #[derive(Eq)]
    pub request VirtualAllocRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of processes, largest first
        top: Top = group(),
        /// Sums of processes; what is shown without any other word
        stats: bool = option("").excludes(&["details", "methods", "stack-id", "events"]).shape(),
        /// Stacks of each process whose commits were not given back; with --stack-id the single
        /// allocations of these stacks
        details: bool = option("").excludes(&["methods", "events"]).shape(),
        /// Commits not given back, by method: only these (*, ?, several with ;, ! excludes), each
        /// with all stacks that contain it
        methods: Option<String> = option("NAMES").excludes(&["stack-id", "events"]),
        /// Single allocations of these stacks: numbers that --details shows, with ;
        stack_numbers: Option<StackNumbers> = option("NUMBERS").called("stack-id"),
        /// Single allocations
        events: bool = option("").shape(),
        /// With --details, --stack-id or --events: frames
        stacks: bool = option("").called("show-stack").output(),
        /// Only commits whose stack has this frame: module!method, or its method alone (*, ?,
        /// several with ;, ! excludes)
        stack: Option<String> = option("FRAMES").called("stack-filter"),
        /// Number of stacks or methods of each process, largest first
        top_stacks: TopStacks = group(),
        /// Order; of stacks by memory that was committed or not released
        sort: VirtualAllocSort = option("ORDER").called("sort-by").shape(),
        /// Only rows with so many bytes that were not given back
        not_released_size: Range = option("A..B").called("not-released-size").unit(Unit::Bytes),
        /// Only rows with so many commits that were not given back
        not_released_count: Range = option("A..B").called("not-released-count"),
        /// Only allocations in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Count what processes had when they ended as not given back
        include_exited: bool = option("").called("include-exited"),
        /// Sums after the rows: total, or none
        with_total: bool = option("WHAT").called("show-total").either("none", "total").output() => true,
    }
}

/// The kind of list.
enum List {
    Processes,
    Stacks(StackBy),
    Events(Vec<i32>),
}

type VirtualAllocColumn = Column<VirtualAllocRequest, VirtualAllocRow>;

const PROCESSES: View<VirtualAllocRequest, VirtualAllocRow> = View::new(
    &[
        VirtualAllocColumn::new("NotReleasedSize", "Outstanding", Bytes, |_, row| {
            row.outstanding_bytes.into()
        })
        .cost(),
        VirtualAllocColumn::new("NotReleasedCount", "Count", Whole, |_, row| {
            row.outstanding_commits.into()
        })
        .cost(),
        VirtualAllocColumn::new("CommitSize", "Committed", Bytes, |_, row| {
            row.commit_bytes.into()
        })
        .cost(),
        VirtualAllocColumn::new("CommitCount", "Count", Whole, |_, row| row.commits.into()).cost(),
        VirtualAllocColumn::new("FreedSize", "Freed", Bytes, |_, row| row.freed_bytes.into()).sum(),
        VirtualAllocColumn::new("FreedCount", "Count", Whole, |_, row| row.frees.into()).sum(),
        VirtualAllocColumn::new("MaxCommitSize", "Largest", Bytes, |_, row| {
            row.max_commit_bytes.into()
        })
        .worst(),
        VirtualAllocColumn::new("PeakSize", "Peak", Bytes, |_, row| row.peak_bytes.into()).worst(),
        VirtualAllocColumn::new("ReserveCount", "Reserves", Whole, |_, row| {
            row.reserves.into()
        })
        .sum()
        .hidden(),
        VirtualAllocColumn::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {|process|processes}, outstanding {NotReleasedCount|commit|commits}, {NotReleasedSize}",
    |asked, _| asked.with_total,
);

impl Question for VirtualAllocRequest {
    const NAME: &'static str = "virtual-alloc";
    const ALIASES: &'static [&'static str] = &["virtualalloc"];
    const SENTENCE: &'static str = "Virtual memory that processes committed and did not release";
    const USUAL: &'static [&'static str] = &[
        "methods",
        "not-released-size",
        "not-released-count",
        "top-stacks",
    ];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "memory that was not given back",
        },
        Example {
            words: "--process chrome --top-stacks 3 slow.etl",
            answer: "the stacks that committed it",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = match self.list() {
            List::Processes => {
                Form::rows(&PROCESSES, self.sql()).needs(&VIRTUAL_ALLOC, !self.limits().is_empty())
            }
            List::Events(stacks) => Form::rows(&ALLOCATIONS, self.events_sql(&stacks, self.stacks))
                .needs(&VIRTUAL_ALLOC, true),
            List::Stacks(by) => {
                let sql = self.of_what_is_left().stacks_sql(&by);
                Form::made::<VirtualStackRow>(sql, move |asked: &Self, session| {
                    let groups = asked.of_what_is_left().ask_stacks(session, &by)?;
                    Ok(Answer::headed(
                        asked,
                        &STACKS,
                        groups.into_iter().map(of_process).collect(),
                    ))
                })
                .shows(&STACKS)
            }
        };
        form.top(self.top)
    }
}

/// Grouping of stacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StackBy {
    /// Each stack, with or without its text.
    Stack {
        /// True to include the text.
        text: bool,
    },
    /// Each method that passes a filter, by all frames of a stack.
    Method(String),
}

impl VirtualAllocRequest {
    fn list(&self) -> List {
        match (&self.stack_numbers, &self.methods) {
            (Some(StackNumbers(numbers)), _) => List::Events(numbers.clone()),
            (None, Some(methods)) => List::Stacks(StackBy::Method(methods.clone())),
            (None, None) if self.events => List::Events(Vec::new()),
            (None, None) if self.details => List::Stacks(StackBy::Stack { text: self.stacks }),
            (None, None) => List::Processes,
        }
    }

    /// Returns the request for stacks. Sorted by outstanding memory, it excludes stacks whose
    /// commits were all released.
    fn of_what_is_left(&self) -> Self {
        let mut asked = self.clone();
        let is_of_rest = matches!(
            self.sort,
            VirtualAllocSort::NotReleasedSize | VirtualAllocSort::NotReleasedCount
        );
        if is_of_rest && self.not_released_size.is_unlimited() {
            asked.not_released_size.min = 1;
        }
        asked
    }

    /// Queries stacks or methods of commits, by process.
    ///
    /// # Errors
    /// Virtual memory was not recorded; the extract has no single allocations; the query fails.
    pub fn ask_stacks(&self, session: &Session, by: &StackBy) -> Result<VirtualStackAnswer> {
        VIRTUAL_ALLOC.check(session, true)?;
        let rows: Vec<VirtualStackRow> = ask(session, &self.stacks_sql(by))?;
        let is_method = matches!(by, StackBy::Method(_));
        // Sums count all stacks, including hidden ones.
        let mut groups = grouped(
            rows,
            |row| row.process_key,
            Top::default(),
            |rows| total(rows, is_method),
        );
        let top = Top {
            count: Some(self.top_stacks.count),
            skip: self.top_stacks.skip,
        };
        groups.iter_mut().for_each(|group| top.cut(&mut group.rows));
        groups.retain(|group| !group.rows.is_empty());
        groups.sort_by(|a, b| a.total.sort_value.total_cmp(&b.total.sort_value));
        self.top.cut(&mut groups);
        Ok(groups)
    }
}

const VIRTUAL_ALLOC: Recorded = Recorded {
    sums: "virtual_alloc_process",
    rows: "virtual_alloc",
    single: "allocations",
    what: "virtual memory",
    how: "record with the kernel keywords VIRT_ALLOC+PROC_THREAD+LOADER, with `-stackwalk VirtualAlloc+VirtualFree` for \
          stacks: `wpr -start VirtualAllocation`",
};
