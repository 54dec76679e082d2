//! Arguments of `etwkit dump wait`.

use std::sync::Arc;

use clap::Args;
use etwkit_analysis::chain::ChainRequest;
use etwkit_analysis::wait::{WaitBy, WaitRequest, WaitSort};
use etwkit_query::dump::Top;
use etwkit_query::range::Unit;
use etwkit_trace::tags::TagSet;

use super::args::{Common, OUTPUT, ProcessFilters, TopArgs, range, word};
use crate::tags::TagArgs;

/// Single waits that are listed if no number is given.
const LISTED: usize = 20;

/// What rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// Sums.
    Sums(WaitBy),
    /// Single waits.
    Single,
}

impl Default for Rows {
    fn default() -> Self {
        Self::Sums(WaitBy::Process)
    }
}

const ROWS: &[(&str, Rows)] = &[
    ("process", Rows::Sums(WaitBy::Process)),
    ("thread", Rows::Sums(WaitBy::Thread)),
    ("method", Rows::Sums(WaitBy::Method)),
    ("module", Rows::Sums(WaitBy::Module)),
    ("tag", Rows::Sums(WaitBy::Tag)),
    ("reason", Rows::Sums(WaitBy::Reason)),
    ("readying", Rows::Sums(WaitBy::Readying)),
    ("readying-thread", Rows::Sums(WaitBy::ReadyingThread)),
    ("wait", Rows::Single),
];

const SORTS: &[(&str, WaitSort)] = &[
    ("wait", WaitSort::Wait),
    ("wait-sum", WaitSort::WaitSum),
    ("max", WaitSort::WaitMax),
    ("mean", WaitSort::WaitMean),
    ("ready", WaitSort::Ready),
    ("ready-sum", WaitSort::ReadySum),
    ("ready-max", WaitSort::ReadyMax),
    ("count", WaitSort::Count),
    ("open", WaitSort::Open),
    ("time", WaitSort::Time),
];

#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    #[command(flatten)]
    pub(super) common: Common,
    #[command(flatten)]
    pub(super) processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// Only waits of the thread with this id
    #[arg(long, value_name = "TID")]
    thread: Option<i64>,
    /// Only waits for such reasons, by name or number (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    reason: Option<String>,
    /// Only waits with such a method in the stack: method, module!method or module+0x1a2b (*, ?, several with ;)
    #[arg(long, value_name = "NAMES")]
    method: Option<String>,
    /// Only waits in such stack tags, paths with \ between (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "TAGS")]
    tag: Option<String>,
    #[command(flatten)]
    tags: TagArgs,
    /// Rows: sums of each process by this, or single waits
    #[arg(long, value_name = "WHAT", value_parser = word(ROWS), default_value = "process")]
    pub(super) by: Rows,
    /// The longest waits, each with what ended it, and what that waited for, down to the root
    #[arg(long, conflicts_with = "by")]
    pub(super) chain: bool,
    /// With --chain: at each step the other waits, too, which explain less than the one that is followed
    #[arg(long, requires = "chain")]
    all_waits: bool,
    /// Order
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "wait")]
    sort_by: WaitSort,
    /// Only rows with such waiting time (unit without one: ms)
    #[arg(long, value_name = "A..B")]
    wait: Option<String>,
    /// Only rows with such time ready (ms)
    #[arg(long, value_name = "A..B")]
    ready: Option<String>,
    /// Only rows with so many waits
    #[arg(long, value_name = "A..B")]
    count: Option<String>,
    /// Only rows with such a longest wait (ms)
    #[arg(long, value_name = "A..B")]
    max: Option<String>,
    /// Only this part of the trace (s); intervals are clipped to it
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Show all frames of stacks
    #[arg(long, help_heading = OUTPUT)]
    pub(super) stacks: bool,
    /// Show sums over threads, times ready, preemptions and threads, too
    #[arg(long, help_heading = OUTPUT)]
    pub(super) details: bool,
}

impl WaitArgs {
    /// Whether files of stack tags are named.
    pub(super) const fn has_files(&self) -> bool {
        self.tags.are_given()
    }

    /// Sets of stack tags, none if they are only the built-in one.
    pub(super) fn sets(&self) -> anyhow::Result<Arc<[TagSet]>> {
        Ok(if self.has_files() { self.tags.sets()?.into() } else { Arc::new([]) })
    }

    pub(super) fn request(&self, sets: &[TagSet]) -> anyhow::Result<WaitRequest> {
        let mut top = self.top.top();
        if self.by == Rows::Single && !self.chain {
            top = Top { count: top.count.or(Some(LISTED)), ..top };
        }
        Ok(WaitRequest {
            processes: self.processes.query(),
            tid: self.thread,
            reason: self.reason.clone(),
            method: self.method.clone(),
            tag: self.tag.clone(),
            tag_sets: sets.iter().map(|set| set.name().to_owned()).collect(),
            by: match self.by {
                Rows::Sums(by) => by,
                Rows::Single => WaitBy::Process,
            },
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            wait: range("wait", self.wait.as_deref(), Unit::Milliseconds)?,
            ready: range("ready", self.ready.as_deref(), Unit::Milliseconds)?,
            count: range("count", self.count.as_deref(), Unit::Count)?,
            max: range("max", self.max.as_deref(), Unit::Milliseconds)?,
            sort: self.sort_by,
            top,
            ..WaitRequest::default()
        })
    }

    pub(super) fn chains(&self, sets: &[TagSet]) -> anyhow::Result<ChainRequest> {
        Ok(ChainRequest { waits: self.request(sets)?, all_waits: self.all_waits })
    }
}
