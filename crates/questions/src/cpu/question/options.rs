//! Options of `dump cpu`.

use crate::cpu::{CpuLimits, CpuRequest, CpuSort};
use crate::method;
use crate::method::MethodRequest;
use crate::stack::call_tree::Fold;
use crate::stack::tree::{Metric, Shape, StackTreeRequest, TreeBy};
use etwkit_question::ProcessQuery;
use etwkit_question::cut::Cut;
use etwkit_question::declare;
use etwkit_question::first_last::FirstLast;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::tag_query::TagQuery;
use etwkit_question::zero::ZeroTime;
use etwkit_question::{Among, Tagging, Words, group, option};
use etwkit_sql::time_format::TimeFormat;

/// Heading of the options of call trees.
const CALL_TREES: &str = "Call trees";

/// Parts of the trace in CPU over time.
const MAX_PARTS: i64 = 10_000;

const METHODS: Among = Among::Texts(
    "method",
    "methods",
    "SELECT method AS text FROM cpu_method UNION SELECT concat(module, '!', method) FROM cpu_method",
);

declare! {
    /// Options of `dump cpu`.
    pub request CpuQuestion {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of processes or trees, largest first
        top: Top = group(),
        /// Zero point of times
        zero: ZeroTime = group(),
        /// Show these methods (with --by modules or threads) instead of sums of processes (*, ?,
        /// several with ;, ! excludes)
        methods: Option<String> = option("NAMES").of(METHODS),
        /// Show these stack tags, paths with \ between; with --methods both
        stack_tags: Option<String> = option("TAGS").called("stack-tags").of(Among::TAGS),
        /// Also tag stacks by the rules of this file (.stacktags of Windows Performance Analyzer);
        /// can be repeated
        stack_tag_file: Vec<String> = option("FILE").called("stack-tag-file").shape(),
        /// Show a call tree of each process, from the outermost frames to their callees
        stacks: bool = option("").shape().below(CALL_TREES),
        /// Show trees from the innermost frames to their callers
        bottom_up: bool = option("").called("bottom-up").excludes(&["butterfly"]).shape().below(CALL_TREES),
        /// Show callers and callees of these methods, with or without module (*, ?, several with ;,
        /// ! excludes)
        butterfly: Option<String> = option("METHODS").below(CALL_TREES),
        /// Weight of the trees: sampled CPU, waits or ready times, summed over threads
        metric: Metric = option("WHAT").shape().below(CALL_TREES),
        /// Fold nodes with a smaller share of their tree, in percent
        min_percent: f64 = option("PERCENT").called("min-percent").shape().below(CALL_TREES) => 1.0,
        /// Fold what is deeper than N levels
        max_depth: Option<usize> = option("N").called("max-depth").shape().below(CALL_TREES),
        /// Fold all but the N heaviest children of a node
        top_children: Option<usize> = option("N").called("top-children").shape().below(CALL_TREES),
        /// CPU over time instead of sums: of N equal parts of the trace how busy each was, and who
        /// had the most
        over_time: Option<usize> = option("N").called("over-time").alone("20").between(1, MAX_PARTS)
            .excludes(&["methods", "stack-tags", "stacks", "bottom-up", "butterfly", "by", "merge"]).shape(),
        /// Group rows or trees by this property
        by: By = option("WHAT").shape(),
        /// Show only the N largest methods (modules, threads, tags) of each process
        top_methods: Option<usize> = option("N").called("top-methods").shape(),
        /// Leave the N largest methods of each process out first
        skip_methods: usize = option("N").called("skip-methods").shape(),
        /// With --methods or --stack-tags: also the idle process, which has the interrupts and DPCs
        /// of idle processors
        idle: bool = option("").shape(),
        /// Names of methods start with their module: ntdll.dll!NtReadFile
        include_dll: bool = option("").called("include-dll").output(),
        /// Show only a part of the names of methods: A..B characters A to B, -N the last N ones
        cut_method: Option<Cut> = option("A..B").called("cut-method").output(),
        /// Order [default: exclusive CPU of methods and modules, CPU of other rows]
        sort_by: CpuSort = option("ORDER").called("sort-by").shape() => CpuSort::Usual,
        /// Limits of rows
        limits: CpuLimits = group(),
        /// Only this part of the trace (s); intervals are clipped to it
        range: Range = option("A..B").unit(Unit::Moment),
        /// Sums: total, only sums of files; process, of files and processes; method or file, also
        /// rows; none
        show_total: Option<String> = option("WHAT").called("show-total").among(&["none", "total", "process", "method", "file"]).output(),
        /// Show terminal sessions, threads, switch-ins, mean ready times and their percentiles, CPU
        /// by kind of core
        details: bool = option("").output(),
        /// With --details: also CPU by kind of core as it would be at nominal speed
        normalize: bool = option("").requires("details").excludes(&["no-frequency"]).output(),
        /// Leave CPU by kind of core out
        no_frequency: bool = option("").called("no-frequency").output(),
        /// Show which processors a process ran on instead of how many
        show_core_number: bool = option("").called("show-core-number").output(),
        /// Leave processors out
        no_core_usage: bool = option("").called("no-core-usage").output(),
        /// Leave priorities out
        no_priority: bool = option("").called("no-priority").output(),
        /// Omit ready times
        no_ready: bool = option("").called("no-ready").output(),
        /// Show when a row is first and last seen, and the time between; =none only the time
        /// between, =s the first time in that format, =s;utc both
        first_last: Option<FirstLast> = option("FORMAT;FORMAT").called("first-last").alone("").output(),
        /// Show the number of threads
        thread_count: bool = option("").called("thread-count").output(),
        /// Show the process in the line of each method instead of a heading
        show_on_method: bool = option("").called("show-on-method").output(),
        /// Show path, version and company of modules; =driver only well-known drivers, with their
        /// vendors; =TEXT only where one of these matches (*, ?, several with ;, ! excludes)
        show_module: Option<String> = option("TEXT").called("show-module").alone(""),
        /// One list over all extracts, which names the trace of each row; of call trees one of all
        /// processes
        is_merged: bool = option("").called("merge").shape(),
    }

    /// Grouping of the rows.
    pub words By {
        "process" => Process = "Processes.",
        "method" => Method = "Methods of processes.",
        "module" => Module = "Modules of processes.",
        "thread" => Thread = "Threads of processes.",
    }
}

impl Words for Metric {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("cpu", Self::Cpu),
        ("wait", Self::Wait),
        ("ready", Self::Ready),
    ];
}

impl Words for CpuSort {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("default", Self::Usual),
        ("cpu", Self::Cpu),
        ("exclusive", Self::Exclusive),
        ("wait", Self::Wait),
        ("ready", Self::Ready),
        ("cpu-wait", Self::CpuWait),
        ("cpu-wait-ready", Self::CpuWaitReady),
        ("ready-avg", Self::ReadyAvg),
        ("switches", Self::Switches),
        ("stack-depth", Self::StackDepth),
        ("first", Self::First),
        ("last", Self::Last),
        ("priority", Self::Priority),
        ("start-time", Self::StartTime),
    ];
}

impl CpuQuestion {
    /// Returns `true` if call trees are requested.
    pub(super) const fn asks_trees(&self) -> bool {
        self.stacks || self.bottom_up || self.butterfly.is_some()
    }

    /// Returns `true` if methods, modules, threads or stack tags are requested instead of
    /// processes.
    pub(super) fn asks_methods(&self) -> bool {
        self.asks_names() || self.stack_tags.is_some()
    }

    fn asks_names(&self) -> bool {
        // --top-methods alone requests methods; with --stack-tags it limits the stack tags.
        let top = self.top_methods.is_some() && self.stack_tags.is_none();
        self.methods.is_some() || top || self.by != By::Process
    }

    /// Returns `true` if the times of rows contain those of others: a method has the time of the
    /// methods that it calls, and so has a module.
    pub(super) fn has_nested_rows(&self) -> bool {
        self.asks_names() && self.by != By::Thread
    }

    /// Returns `true` if rows are sorted by exclusive CPU.
    pub(super) fn is_by_exclusive(&self) -> bool {
        let is_usual = self.sort_by == CpuSort::Usual && self.by != By::Thread && self.asks_names();
        is_usual || self.sort_by == CpuSort::Exclusive
    }

    /// Returns `true` if rows are in order of time.
    pub(super) fn is_by_time(&self) -> bool {
        matches!(
            self.sort_by,
            CpuSort::First | CpuSort::Last | CpuSort::StartTime
        )
    }

    /// Returns `true` if the question is about waiting, which needs context switches.
    pub(super) fn asks_waits(&self) -> bool {
        let sorts = matches!(
            self.sort_by,
            CpuSort::Wait | CpuSort::Ready | CpuSort::ReadyAvg | CpuSort::Switches
        );
        let CpuLimits {
            wait,
            ready,
            ready_avg,
            switches,
            ..
        } = self.limits;
        let limits = [wait, ready, ready_avg, switches];
        sorts || limits.iter().any(|limit| !limit.is_unlimited())
    }

    /// Returns `true` if any sums are shown.
    pub(super) fn shows_sums(&self) -> bool {
        self.show_total
            .as_deref()
            .is_some_and(|what| what != "none")
    }

    /// Returns the formats of the first and the last time. `None` hides a time; `Some(None)` uses
    /// the format of all other times.
    pub(super) fn first_last_formats(
        &self,
    ) -> (Option<Option<TimeFormat>>, Option<Option<TimeFormat>>) {
        self.first_last.map_or((None, None), FirstLast::formats)
    }

    /// Returns the filter on modules, if there is one.
    fn modules(&self) -> Option<String> {
        self.show_module
            .clone()
            .filter(|text| !text.is_empty() && !self.only_drivers())
    }

    /// Returns `true` if only well-known drivers are requested.
    pub(super) fn only_drivers(&self) -> bool {
        self.show_module
            .as_deref()
            .is_some_and(|text| text.eq_ignore_ascii_case("driver"))
    }

    /// Returns the request for processes.
    pub(super) fn process_request(&self) -> CpuRequest {
        CpuRequest {
            processes: self.processes.clone(),
            limits: self.limits,
            time: self.range,
            modules: self.modules(),
            zero: self.zero.clone(),
            sort: self.sort_by,
            top: self.top,
        }
    }

    /// Returns the request for methods, modules, threads and stack tags.
    pub(super) fn method_request(&self) -> MethodRequest {
        let process = self.process_request();
        MethodRequest {
            processes: process.processes,
            by: match self.by {
                By::Module => method::By::Module,
                By::Thread => method::By::Thread,
                By::Process | By::Method => method::By::Method,
            },
            with_idle: self.idle,
            methods: self.methods.clone(),
            stack_tags: self.stack_tags.clone(),
            tag_sets: Tagging::names(&self.stack_tag_file),
            only_tags: !self.asks_names(),
            modules: process.modules,
            only_drivers: self.only_drivers(),
            time: process.time,
            zero: process.zero,
            include_dll: self.include_dll,
            limits: self.limits,
            sort: self.sort_by,
            top: self.top,
            top_methods: Top {
                count: self.top_methods,
                skip: self.skip_methods,
            },
        }
    }

    /// Returns the request for call trees.
    pub(super) fn tree_request(&self) -> StackTreeRequest {
        StackTreeRequest {
            tags: TagQuery::default(),
            processes: self.processes.clone(),
            metric: self.metric,
            shape: match &self.butterfly {
                Some(methods) => Shape::Butterfly(methods.clone()),
                None if self.bottom_up => Shape::BottomUp,
                None => Shape::TopDown,
            },
            by: match self.by {
                _ if self.is_merged => TreeBy::All,
                By::Thread => TreeBy::Thread,
                By::Process | By::Method | By::Module => TreeBy::Process,
            },
            by_module: self.by == By::Module,
            time: self.range,
            fold: Fold {
                min_percent: self.min_percent,
                levels: self.max_depth,
                children: self.top_children,
            },
            top: self.top,
        }
    }
}
