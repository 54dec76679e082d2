//! `dump wait`: the reasons and ends of waits: sums, single waits, wait chains.

mod chains;
mod single;
mod sums;

use etwkit_question::ProcessQuery;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::{Among, Example, Form, Question, Tagging, Words, fields, group, option};
use etwkit_sql::{DEFAULT_TAG_SET, Session};

use crate::chain::{ChainRequest, ChainRow};
use crate::stacks::StackText;
use crate::wait::{WaitBy, WaitRequest, WaitRow, WaitSort, WaitSum};

/// Default number of single waits that are listed.
const LISTED: usize = 20;

etwkit_question::declare! {
    /// Options of `dump wait`.
    pub request WaitQuestion {
        /// Processes that waited
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Only waits of the thread with this id
        thread: Option<i64> = option("TID").of(Among::THREADS),
        /// Only waits for these reasons, by name or number (*, ?, several with ;, ! excludes)
        reason: Option<String> = option("REASONS"),
        /// Only waits with this method in the stack: method, module!method or module+0x1a2b (*, ?,
        /// several with ;)
        method: Option<String> = option("NAMES"),
        /// Only waits with these stack tags, paths separated by \ (*, ?, several with ;, !
        /// excludes)
        tag: Option<String> = option("TAGS").of(Among::TAGS),
        /// Also tag stacks by the rules of this file (.stacktags of Windows Performance Analyzer);
        /// can be repeated
        stack_tag_file: Vec<String> = option("FILE").called("stack-tag-file").shape(),
        /// Rows: sums of each process by this, or single waits
        by: Rows = option("WHAT").shape(),
        /// The longest waits, each with the thread that ended it and the wait of that thread, down
        /// to the root
        chain: bool = option("").excludes(&["by"]).shape(),
        /// With --chain: also start from sleeps and waits of idle pools, and show at each step the
        /// other waits, which explain less than the one that is followed
        all_waits: bool = option("").called("all-waits").requires("chain").shape(),
        /// Order
        sort: WaitSort = option("ORDER").called("sort-by").shape(),
        /// Only rows with this waiting time (ms without a unit)
        wait: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only rows with this ready time (ms)
        ready: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only rows with this number of waits
        count: Range = option("A..B").unit(Unit::Count),
        /// Only rows whose longest wait is this long (ms)
        max: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only this part of the trace (s); intervals are clipped to it
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Show all frames of stacks
        stacks: bool = option("").called("show-stack").also(&["stacks"]).output(),
        /// Also show sums over threads, ready times, preemptions and the number of threads
        details: bool = option("").output(),
    }
}

/// The kind of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
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

impl Words for Rows {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("process", Self::Sums(WaitBy::Process)),
        ("thread", Self::Sums(WaitBy::Thread)),
        ("method", Self::Sums(WaitBy::Method)),
        ("module", Self::Sums(WaitBy::Module)),
        ("tag", Self::Sums(WaitBy::Tag)),
        ("reason", Self::Sums(WaitBy::Reason)),
        ("readying", Self::Sums(WaitBy::Readying)),
        ("readying-thread", Self::Sums(WaitBy::ReadyingThread)),
        ("wait", Self::Single),
    ];
}

impl Words for WaitSort {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("wait", Self::Wait),
        ("wait-sum", Self::WaitSum),
        ("max", Self::WaitMax),
        ("mean", Self::WaitMean),
        ("ready", Self::Ready),
        ("ready-sum", Self::ReadySum),
        ("ready-max", Self::ReadyMax),
        ("count", Self::Count),
        ("open", Self::Open),
        ("time", Self::Time),
    ];
}

impl WaitQuestion {
    fn by(&self) -> WaitBy {
        match self.by {
            Rows::Sums(by) => by,
            Rows::Single => WaitBy::Process,
        }
    }

    fn is_single(&self) -> bool {
        self.by == Rows::Single && !self.chain
    }

    /// Returns the request for the selected waits.
    fn request(&self) -> WaitRequest {
        let mut top = self.top;
        if self.is_single() {
            top.count = top.count.or(Some(LISTED));
        }
        WaitRequest {
            processes: self.processes.clone(),
            tid: self.thread,
            reason: self.reason.clone(),
            method: self.method.clone(),
            tag: self.tag.clone(),
            tag_sets: self.sets(),
            by: self.by(),
            time: self.time,
            wait: self.wait,
            ready: self.ready,
            count: self.count,
            max: self.max,
            sort: self.sort,
            top,
            ..WaitRequest::default()
        }
    }

    /// Returns the names of the sets of stack tags; empty if there is only the built-in one.
    fn sets(&self) -> Vec<String> {
        if self.stack_tag_file.is_empty() {
            return Vec::new();
        }
        let own = Tagging::names(&self.stack_tag_file);
        std::iter::once(DEFAULT_TAG_SET.to_owned())
            .chain(own)
            .collect()
    }

    fn chains(&self) -> ChainRequest {
        ChainRequest {
            waits: self.request(),
            all_waits: self.all_waits,
        }
    }
}

etwkit_question::declare! {
    /// The stacks of a wait as text.
    pub row Stacks {
        stack: Option<String> =
            "Frames of the stack with which the thread was switched in, innermost first, separated by ` < `.",
        readying_stack: Option<String> = "Frames of the stack that made it ready, likewise.",
    }
}

impl Stacks {
    /// Formats the stack of the switch-in and the one that made the thread ready: all frames, or
    /// the meaningful ones.
    #[must_use]
    pub fn of(text: &StackText, all: bool, (stack, readying): (Option<i64>, Option<i64>)) -> Self {
        let frames = |id: Option<i64>| {
            id.map(|id| text.shown(id, all).join(" < "))
                .filter(|frames| !frames.is_empty())
        };
        Self {
            stack: frames(stack),
            readying_stack: frames(readying),
        }
    }
}

impl Question for WaitQuestion {
    const NAME: &'static str = "wait";
    const SENTENCE: &'static str =
        "What threads waited for, and who ended it: sums, single waits, chains of waits";
    const USUAL: &'static [&'static str] = &[
        "thread",
        "reason",
        "method",
        "tag",
        "chain",
        "all-waits",
        "wait",
        "count",
    ];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "what threads waited for",
        },
        Example {
            words: "--process explorer --chain slow.etl",
            answer: "its longest waits with their causes",
        },
        Example {
            words: "--by readying --process explorer slow.etl",
            answer: "who ended the waits",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = match self.by {
            // The SQL finds the waits that chains start from; their links are followed from row to
            // row.
            _ if self.chain => Form::made::<ChainRow>(self.chains().sql(), chains::answer)
                .with_fields(fields::<Stacks>()),
            Rows::Single => Form::made::<WaitRow>(self.request().list_sql(), single::answer)
                .shows_as(&single::WAITS, single::Wait::without_stacks)
                .with_fields(fields::<Stacks>()),
            Rows::Sums(_) => {
                Form::made::<WaitSum>(self.request().sql(), sums::answer).describing(sums::describe)
            }
        };
        form.top(self.top)
    }

    fn why_nothing(&self, session: &Session) -> etwkit_question::Result<Option<String>> {
        if self.chain {
            self.chains().why_none(session)
        } else {
            Ok(None)
        }
    }

    fn tagging(&self) -> Tagging<'_> {
        match self.stack_tag_file.as_slice() {
            [] => Tagging::None,
            files => Tagging::Function(files),
        }
    }
}

/// Returns the end of a wait.
fn ended_by(
    kind: Option<&str>,
    process: Option<&str>,
    pid: Option<i64>,
    tid: Option<i64>,
) -> String {
    match kind {
        Some("thread") => {
            let thread = tid.map_or_else(String::new, |tid| format!(" thread {tid}"));
            let pid = pid.map_or_else(String::new, |pid| format!("({pid})"));
            format!("{}{pid}{thread}", process.unwrap_or("(unknown)"))
        }
        Some("dpc") => "(DPC)".into(),
        Some("open") => "(still open)".into(),
        Some(_) => "(not recorded)".into(),
        None => "(preempted)".into(),
    }
}
