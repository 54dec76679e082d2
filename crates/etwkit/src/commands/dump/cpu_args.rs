//! Arguments of `etwkit dump cpu`.

use clap::Args;
use etwkit_query::dump::Top;
use etwkit_query::dump::cpu::{CpuRequest, CpuSort};
use etwkit_query::dump::method::{self, MethodRequest};
use etwkit_query::range::Unit;
use etwkit_query::time_format::TimeFormat;

use super::args::{Common, ProcessFilters, TopArgs, ZeroArgs, range, word};
use super::cut::Cut;
use super::first_last::FirstLast;
use crate::tags::TagArgs;

pub(super) const SORTS: &[(&str, CpuSort)] = &[
    ("cpu", CpuSort::Cpu),
    ("wait", CpuSort::Wait),
    ("ready", CpuSort::Ready),
    ("cpu-wait", CpuSort::CpuWait),
    ("cpu-wait-ready", CpuSort::CpuWaitReady),
    ("ready-avg", CpuSort::ReadyAvg),
    ("switches", CpuSort::Switches),
    ("stack-depth", CpuSort::StackDepth),
    ("first", CpuSort::First),
    ("last", CpuSort::Last),
    ("priority", CpuSort::Priority),
    ("start-time", CpuSort::StartTime),
];

/// What rows are of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum By {
    /// Processes.
    #[default]
    Process,
    /// Methods of processes.
    Method,
    /// Modules of processes.
    Module,
    /// Threads of processes.
    Thread,
}

const BYS: &[(&str, By)] =
    &[("process", By::Process), ("method", By::Method), ("module", By::Module), ("thread", By::Thread)];

#[derive(Debug, Args)]
pub(crate) struct CpuArgs {
    #[command(flatten)]
    pub(super) common: Common,
    #[command(flatten)]
    pub(super) processes: ProcessFilters,
    #[command(flatten)]
    pub(super) top: TopArgs,
    #[command(flatten)]
    pub(super) zero: ZeroArgs,
    /// Show these methods (with --by modules or threads) instead of sums of processes (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    methods: Option<String>,
    /// Show these stack tags, paths with \ between; with --methods both
    #[arg(long, value_name = "TAGS", conflicts_with = "range")]
    stack_tags: Option<String>,
    #[command(flatten)]
    pub(super) tags: TagArgs,
    #[command(flatten)]
    pub(super) stacks: super::stacks::StackArgs,
    /// What rows or trees are of
    #[arg(long, value_name = "WHAT", value_parser = word(BYS), default_value = "process")]
    pub(super) by: By,
    /// Show only the N largest methods (modules, threads, tags) of each process
    #[arg(long, value_name = "N")]
    top_methods: Option<usize>,
    /// Leave the N largest methods of each process out first
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip_methods: usize,
    /// With --methods or --stack-tags: the idle process, too, which has what interrupts and DPCs did on idle
    /// processors
    #[arg(long)]
    idle: bool,
    /// Names of methods begin with their module: ntdll.dll!NtReadFile
    #[arg(long)]
    include_dll: bool,
    /// Show only a part of the names of methods: A..B characters A to B, -N the last N ones
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    pub(super) cut_method: Option<Cut>,
    /// Order
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "cpu")]
    pub(super) sort_by: CpuSort,
    /// Only rows with such CPU (unit without one: ms)
    #[arg(long, value_name = "A..B")]
    cpu: Option<String>,
    /// Only rows with such waiting time (ms)
    #[arg(long, value_name = "A..B")]
    wait: Option<String>,
    /// Only rows with such time ready (ms)
    #[arg(long, value_name = "A..B")]
    ready: Option<String>,
    /// Only methods with such a mean time ready (us)
    #[arg(long, value_name = "A..B")]
    ready_avg: Option<String>,
    /// Only rows with so many switch-ins
    #[arg(long, value_name = "A..B")]
    switches: Option<String>,
    /// Only rows that are first seen then (s)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    first: Option<String>,
    /// Only rows that are last seen then (s)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    last: Option<String>,
    /// Only rows with so much time from first to last (s)
    #[arg(long, value_name = "A..B")]
    duration: Option<String>,
    /// Only this part of the trace (s); intervals are clipped to it
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    pub(super) range: Option<String>,
    /// Sums: total, only those of files; process, of files and processes; method or file, with rows, too; none
    #[arg(long, value_name = "WHAT", value_parser = ["none", "total", "process", "method", "file"])]
    pub(super) show_total: Option<String>,
    /// One list over all extracts, for sums of processes; one tree of all processes
    #[arg(long, conflicts_with_all = ["methods", "top_methods", "stack_tags"])]
    pub(super) merge: bool,
    /// Show terminal sessions, threads, switch-ins, mean times ready and their percentiles, CPU by kind of core
    #[arg(long)]
    pub(super) details: bool,
    /// With --details: CPU by kind of core as it would be at nominal speed, too
    #[arg(long, requires = "details", conflicts_with = "no_frequency")]
    pub(super) normalize: bool,
    /// Leave CPU by kind of core out
    #[arg(long)]
    pub(super) no_frequency: bool,
    /// Show which processors a process ran on instead of how many
    #[arg(long)]
    pub(super) show_core_number: bool,
    /// Leave processors out
    #[arg(long)]
    pub(super) no_core_usage: bool,
    /// Leave priorities out
    #[arg(long)]
    pub(super) no_priority: bool,
    /// Leave times ready out
    #[arg(long)]
    pub(super) no_ready: bool,
    /// Show when a row is first and last seen, and the time between; =none only the time between, =s the first time in that format, =s;utc
    /// both
    #[arg(long, value_name = "FORMAT;FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(super) first_last: Option<FirstLast>,
    /// Show the number of threads
    #[arg(long)]
    pub(super) thread_count: bool,
    /// Show the process in the line of each method instead of a heading
    #[arg(long)]
    pub(super) show_on_method: bool,
    /// Show path, version and company of modules; =driver only well-known drivers, with their vendors; =TEXT only where one of these
    /// fits (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "TEXT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(super) show_module: Option<String>,
}

impl CpuArgs {
    /// Whether methods, modules, threads or stack tags are asked for instead of processes.
    pub(super) fn asks_methods(&self) -> bool {
        self.asks_names() || self.stack_tags.is_some()
    }

    fn asks_names(&self) -> bool {
        // The N largest alone are those of what is asked for, which may be stack tags.
        let top = self.top_methods.is_some() && self.stack_tags.is_none();
        self.methods.is_some() || top || self.by != By::Process
    }

    /// How the first and the last time are written; `None` if they are not shown.
    pub(super) fn first_last_formats(&self) -> (Option<TimeFormat>, Option<TimeFormat>) {
        self.first_last.map_or((None, None), |times| times.formats(self.common.time_format))
    }

    pub(super) fn request(&self) -> anyhow::Result<CpuRequest> {
        if self.only_drivers() && !self.asks_methods() {
            anyhow::bail!(
                "--show-module=driver: drivers are modules of methods: add --methods or --by module"
            );
        }
        Ok(CpuRequest {
            processes: self.processes.query(),
            cpu: range("cpu", self.cpu.as_deref(), Unit::Milliseconds)?,
            wait: range("wait", self.wait.as_deref(), Unit::Milliseconds)?,
            ready: range("ready", self.ready.as_deref(), Unit::Milliseconds)?,
            switches: range("switches", self.switches.as_deref(), Unit::Count)?,
            first: range("first", self.first.as_deref(), Unit::Seconds)?,
            last: range("last", self.last.as_deref(), Unit::Seconds)?,
            duration: range("duration", self.duration.as_deref(), Unit::Seconds)?,
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            modules: self.modules(),
            zero: self.zero.zero(),
            sort: self.sort_by,
            top: self.top.top(),
        })
    }

    /// The filter on modules, if there is one.
    fn modules(&self) -> Option<String> {
        self.show_module.clone().filter(|text| !text.is_empty() && !self.only_drivers())
    }

    /// Whether only well-known drivers are asked for.
    pub(super) fn only_drivers(&self) -> bool {
        self.show_module.as_deref().is_some_and(|text| text.eq_ignore_ascii_case("driver"))
    }

    pub(super) fn method_request(&self) -> anyhow::Result<MethodRequest> {
        let process = self.request()?;
        Ok(MethodRequest {
            processes: process.processes,
            by: match self.by {
                By::Module => method::By::Module,
                By::Thread => method::By::Thread,
                By::Process | By::Method => method::By::Method,
            },
            with_idle: self.idle,
            methods: self.methods.clone(),
            stack_tags: self.stack_tags.clone(),
            only_tags: !self.asks_names(),
            modules: process.modules,
            only_drivers: self.only_drivers(),
            time: process.time,
            zero: process.zero,
            include_dll: self.include_dll,
            cpu: process.cpu,
            wait: process.wait,
            ready: process.ready,
            ready_avg: range("ready-avg", self.ready_avg.as_deref(), Unit::Microseconds)?,
            switches: process.switches,
            first: process.first,
            last: process.last,
            duration: process.duration,
            sort: self.sort_by,
            top: self.top.top(),
            top_methods: Top { count: self.top_methods, skip: self.skip_methods },
        })
    }

    /// Whether the question is about waiting, which needs context switches.
    pub(super) fn asks_waits(&self) -> bool {
        let sorts =
            matches!(self.sort_by, CpuSort::Wait | CpuSort::Ready | CpuSort::ReadyAvg | CpuSort::Switches);
        sorts || [&self.wait, &self.ready, &self.ready_avg, &self.switches].into_iter().any(Option::is_some)
    }

    /// Whether rows are shown, and whether sums of processes are.
    pub(super) fn shows(&self) -> (bool, bool) {
        match self.show_total.as_deref() {
            Some("total") => (false, false),
            Some("process") => (false, true),
            _ => (true, true),
        }
    }

    /// Whether any sums are shown.
    pub(super) fn shows_sums(&self) -> bool {
        self.show_total.as_deref().is_some_and(|what| what != "none")
    }
}
