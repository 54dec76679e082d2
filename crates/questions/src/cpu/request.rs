//! The request for CPU, waiting and ready time: its options, and which rows they ask for.

use etwkit_question::ProcessQuery;
use etwkit_question::cut::Cut;
use etwkit_question::declare;
use etwkit_question::first_last::FirstLast;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::Conditions;
use etwkit_question::tag_query::TagQuery;
use etwkit_question::zero::ZeroTime;
use etwkit_question::{Among, Tagging, group, option};
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
    /// A query for processes, for their methods, modules, threads and stack tags, for call trees, or
    /// for CPU over time: filters, grouping and order.
    pub request CpuRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of processes or trees, largest first
        top: Top = group(),
        /// Zero point of times
        zero: ZeroTime = group(),
        /// Show these methods (with --by modules or threads) instead of sums of processes (*, ?,
        /// several with ;, ! excludes)
        methods: Option<String> = option("NAMES").of(METHODS),
        /// Show these stack tags, paths with \ between; with --methods both; call trees have only
        /// stacks with them
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
        sort: CpuSort = option("ORDER").called("sort-by").shape(),
        /// Limits of rows
        limits: CpuLimits = group(),
        /// Only this part of the trace (s); intervals are clipped to it
        time: Range = option("A..B").called("range").unit(Unit::Moment),
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

    /// Orders of rows with CPU times.
    pub words CpuSort {
        "default" => Usual = "CPU of the method or module itself; CPU of other rows.",
        "cpu" => Cpu = "CPU.",
        "exclusive" => Exclusive = "CPU of the method or module itself; only for methods and modules.",
        "wait" => Wait = "Waiting.",
        "ready" => Ready = "Ready.",
        "cpu-wait" => CpuWait = "CPU and waiting.",
        "cpu-wait-ready" => CpuWaitReady = "CPU, waiting and ready.",
        "ready-avg" => ReadyAvg = "Mean ready time; only for methods.",
        "switches" => Switches = "Switch-ins.",
        "stack-depth" => StackDepth = "CPU, less for methods far from the innermost frame; only for methods.",
        "first" => First = "First sample or switch-in.",
        "last" => Last = "Last sample or switch-out.",
        "priority" => Priority = "Priority; only for processes.",
        "start-time" => StartTime = "Start of the process.",
    }

    /// Weight of a stack.
    pub words Metric {
        "cpu" => Cpu = "Sampled CPU; without any samples in the trace, CPU from context switches.",
        "wait" => Wait = "Waits that ended with the stack.",
        "ready" => Ready = "Ready times before the stack was switched in.",
    }
}

declare! {
    /// Limits of rows with CPU times.
    #[derive(Copy, Eq)]
    pub request CpuLimits {
        /// Only rows with this CPU (unit without one: ms)
        cpu: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only rows with this waiting time (ms)
        wait: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only rows with this ready time (ms)
        ready: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only methods with this mean ready time (us)
        ready_avg: Range = option("A..B").called("ready-avg").unit(Unit::Microseconds),
        /// Only rows with so many switch-ins
        switches: Range = option("A..B").unit(Unit::Count),
        /// Only rows that are first seen in this part of the trace (s)
        first: Range = option("A..B").unit(Unit::Moment),
        /// Only rows that are last seen in this part of the trace (s)
        last: Range = option("A..B").unit(Unit::Moment),
        /// Only rows with so much time from first to last (s)
        duration: Range = option("A..B").unit(Unit::Seconds),
    }
}

impl CpuLimits {
    /// Returns the conditions on rows, given the SQL of their time from first to last.
    pub(crate) fn conditions(self, duration: &str) -> Conditions {
        Conditions::new().ranges([
            ("cpu_ns", self.cpu),
            ("wait_ns", self.wait),
            ("ready_ns", self.ready),
            ("switches", self.switches),
            ("first_ns", self.first),
            ("last_ns", self.last),
            (duration, self.duration),
        ])
    }
}

impl CpuRequest {
    /// Returns `true` if call trees are requested.
    pub(super) const fn asks_trees(&self) -> bool {
        self.stacks || self.bottom_up || self.butterfly.is_some()
    }

    /// Returns the filter on the stacks of call trees.
    pub(crate) fn tags_of_trees(&self) -> TagQuery {
        TagQuery {
            tags: self.stack_tags.clone(),
            sets: Tagging::names(&self.stack_tag_file),
        }
    }

    /// Returns `true` if methods, modules, threads or stack tags are requested instead of
    /// processes.
    pub(super) fn asks_methods(&self) -> bool {
        self.asks_names() || self.stack_tags.is_some()
    }

    /// Returns `true` if methods, modules or threads are requested, alone or with stack tags.
    pub(super) fn asks_names(&self) -> bool {
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
        let is_usual = self.sort == CpuSort::Usual && self.by != By::Thread && self.asks_names();
        is_usual || self.sort == CpuSort::Exclusive
    }

    /// Returns `true` if rows are in order of time.
    pub(super) fn is_by_time(&self) -> bool {
        matches!(
            self.sort,
            CpuSort::First | CpuSort::Last | CpuSort::StartTime
        )
    }

    /// Returns `true` if the question is about waiting, which needs context switches.
    pub(super) fn asks_waits(&self) -> bool {
        let sorts = matches!(
            self.sort,
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
    pub(crate) fn modules(&self) -> Option<&str> {
        self.show_module
            .as_deref()
            .filter(|text| !text.is_empty() && !self.only_drivers())
    }

    /// Returns `true` if only well-known drivers are requested.
    pub(crate) fn only_drivers(&self) -> bool {
        self.show_module
            .as_deref()
            .is_some_and(|text| text.eq_ignore_ascii_case("driver"))
    }
}
