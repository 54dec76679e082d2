//! The critical path of a thread: its timeline, in which each wait that another thread ended is
//! replaced by the activity of that thread in that time.

mod creator;
mod follow;
mod question;
mod rows;
mod view;

use etwkit_question::ProcessQuery;
use etwkit_question::range::{Range, Unit};
use etwkit_question::{Among, group, option};
use etwkit_sql::Session;

use crate::Result;
use crate::root::Roots;
use crate::slice::Slices;
use crate::stacks::StackText;
use crate::threads::{Thread, Threads};
pub use crate::time_line::State;
use crate::trace_end::{TraceEnds, check};
use follow::{Follower, PathPiece};
pub use rows::{LeftOut, Node, ProcessShare, Segment, Share};
use rows::{Segments, Sums};

etwkit_question::declare! {
    /// Options of `critical-path`.
    #[derive(Eq)]
    pub request PathRequest {
        /// The process whose path it is: exactly one must fit
        processes: ProcessQuery = group(),
        /// The thread with this id [default: the first thread of a process that started in the
        /// trace, otherwise the thread that ran longest]
        tid: Option<i64> = option("TID").called("thread").of(Among::THREADS),
        /// Exactly this part of the trace (s) [default: from the first switch-in of the thread to
        /// its last switch-out]
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Show a tree instead of the segments, with each thread below the thread that waited for
        /// it
        tree: bool = option("").excludes(&["sums", "by-process"]).output(),
        /// Show only what the time went to, by process
        by_process: bool = option("").called("by-process").excludes(&["sums"]).output(),
        /// Show only what the time went to
        sums: bool = option("").output(),
        /// Only the N longest segments, in the order of time, or the N largest rows of other lists;
        /// 0: all, as JSON and CSV have by default
        top: Option<usize> = option("N").output(),
        /// Show all frames of stacks
        stacks: bool = option("").called("show-stack").also(&["stacks"]).output(),
    }
}

/// A critical path.
#[derive(Debug, Clone, PartialEq)]
pub struct CriticalPath {
    /// The thread that it follows.
    pub thread: Thread,
    /// The reason for choosing this thread among the matching ones.
    pub chosen: ThreadChoice,
    /// Number of other matching threads.
    pub others: usize,
    /// The other threads that ran longest, each with its run time, longest first.
    pub best_others: Vec<(Thread, i64)>,
    /// Start.
    pub from_ns: i64,
    /// End.
    pub to_ns: i64,
    /// Pieces in order of time: all of them, or the longest. All follow each other without gaps, and
    /// their durations add up to the length of the path.
    pub segments: Vec<Segment>,
    /// The pieces that are not in `segments`.
    pub left_out: LeftOut,
    /// The tree of waits, each node before the nodes that it waited for.
    pub tree: Vec<Node>,
    /// The time by thread, state and cause, largest first.
    pub shares: Vec<Share>,
    /// The time by process, largest first.
    pub processes: Vec<ProcessShare>,
    /// Start and reason of the wait in which the thread was when the trace ended.
    pub open_wait: Option<(i64, Option<String>)>,
}

/// The reason for choosing one of several threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadChoice {
    /// The first thread of a process that started in the trace.
    First,
    /// The thread that ran longest.
    Longest,
    /// The thread that ran longest of all processes, since none was named.
    LongestOfAll,
}

/// Maximum number of other threads that are reported.
const OTHERS: usize = 3;

/// The path, or the reason for which there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum PathAnswer {
    /// The path.
    Path(Box<CriticalPath>),
    /// Several processes match: their threads that ran longest, by process.
    Several(Vec<Thread>),
    /// No thread matches, or no matching one ran in that range of the trace.
    None,
}

/// A matching thread, with its run time and the time of its first and last event.
struct Candidate {
    thread: Thread,
    key: i32,
    run_ns: i64,
    from: i64,
    to: i64,
}

impl PathRequest {
    /// Finds the path of the requested thread, otherwise of the first thread of a process that
    /// started in the trace, otherwise of the thread that ran longest.
    ///
    /// # Errors
    /// Context switches or ready events were not recorded, or are not kept; there are too many; the
    /// query fails.
    pub fn ask(&self, session: &Session) -> Result<PathAnswer> {
        self.ask_keeping(session, usize::MAX)
    }

    /// Finds the path with its `most` longest segments. Sums and tree count all of them.
    ///
    /// # Errors
    /// The errors of [`PathRequest::ask`].
    pub fn ask_keeping(&self, session: &Session, most: usize) -> Result<PathAnswer> {
        check(session)?;
        let ends = TraceEnds::ask(session)?;
        // Outside the recording of the kernel logger, a path would be nothing but unknown time.
        let part = Range {
            min: self.time.min.max(ends.start_ns),
            max: self.time.max.min(ends.end_ns),
        };
        let slices = Slices::load(session, &[part])?;
        let mut fitting: Vec<Candidate> = Threads::chosen(session, &self.processes, self.tid)?
            .into_iter()
            .filter_map(|thread| candidate(thread, &slices, part, !self.time.is_unlimited()))
            .collect();
        // A path of several processes has no meaning. Without any name the thread that ran longest
        // is meant, in any process.
        let has_one = |fitting: &[Candidate]| {
            let first = fitting
                .first()
                .map(|candidate| candidate.thread.process_key);
            fitting
                .iter()
                .all(|candidate| Some(candidate.thread.process_key) == first)
        };
        let names_process = self.processes != ProcessQuery::default() || self.tid.is_some();
        if names_process && !has_one(&fitting) {
            return Ok(PathAnswer::Several(longest_of_each(fitting)));
        }
        let Some((position, chosen)) = chosen(&fitting, names_process) else {
            return Ok(PathAnswer::None);
        };
        let candidate = fitting.remove(position);
        let (from, to) = if self.time.is_unlimited() {
            (candidate.from, candidate.to)
        } else {
            (part.min, part.max)
        };
        let parts = Parts {
            slices,
            threads: Threads::load(session)?,
            stacks: StackText::new(session)?,
            ends,
        };
        Ok(PathAnswer::Path(Box::new(parts.path(
            session,
            candidate,
            (chosen, fitting),
            (from, to),
            most,
        )?)))
    }
}

/// Returns the thread of the path: the first one of a process that started in the trace, otherwise
/// the one that ran longest.
fn chosen(fitting: &[Candidate], of_process: bool) -> Option<(usize, ThreadChoice)> {
    // Both starts must be in the trace: a thread that starts in an older process is not its first
    // one.
    let began = |candidate: &Candidate| {
        candidate
            .thread
            .start_ns
            .zip(candidate.thread.process_start_ns)
    };
    let first = fitting
        .iter()
        .enumerate()
        .filter(|(_, candidate)| of_process && began(candidate).is_some());
    let first = first.min_by_key(|(_, candidate)| (candidate.thread.start_ns, candidate.key));
    let longest = || {
        fitting
            .iter()
            .enumerate()
            // The reversed key makes the smallest one win among equals, in any order of rows.
            .max_by_key(|(_, candidate)| (candidate.run_ns, std::cmp::Reverse(candidate.key)))
    };
    let first = first.map(|(position, _)| (position, ThreadChoice::First));
    let reason = if of_process {
        ThreadChoice::Longest
    } else {
        ThreadChoice::LongestOfAll
    };
    first.or_else(|| longest().map(|(position, _)| (position, reason)))
}

fn longest_of_each(fitting: Vec<Candidate>) -> Vec<Thread> {
    let mut longest: std::collections::BTreeMap<Option<i64>, Candidate> =
        std::collections::BTreeMap::new();
    for candidate in fitting {
        // Less than 0, so that a process whose threads only waited is also listed.
        let known = longest
            .get(&candidate.thread.process_key)
            .map_or(-1, |known| known.run_ns);
        if candidate.run_ns > known {
            longest.insert(candidate.thread.process_key, candidate);
        }
    }
    longest
        .into_values()
        .map(|candidate| candidate.thread)
        .collect()
}

/// Returns a thread with known states in the range, with its run time there, from its first
/// switch-in to its last switch-out. In a whole trace it must have run; in a chosen range it may
/// just wait, which is a common question.
fn candidate(thread: Thread, slices: &Slices, part: Range, is_chosen: bool) -> Option<Candidate> {
    let key = i32::try_from(thread.thread_key).ok()?;
    let mut run_ns = 0i64;
    let mut ran = None;
    for slice in slices.of(key) {
        let Some((begin, end)) = slice.begin().zip(slice.end()) else {
            continue;
        };
        let begin = begin.max(part.min);
        let end = end.min(part.max);
        if begin < end {
            run_ns = run_ns.saturating_add(end.saturating_sub(begin));
            ran = Some((ran.map_or(begin, |(from, _)| from), end));
        }
    }
    let waits = || is_chosen && slices.has_state(key, part.min, part.max);
    let (from, to) = ran.or_else(|| waits().then_some((part.min, part.max)))?;
    Some(Candidate {
        thread,
        key,
        run_ns,
        from,
        to,
    })
}

/// The data that paths are made of.
pub(crate) struct Parts {
    pub(crate) slices: Slices,
    pub(crate) threads: Threads,
    pub(crate) stacks: StackText,
    pub(crate) ends: TraceEnds,
}

impl Parts {
    fn path(
        &self,
        session: &Session,
        candidate: Candidate,
        (chosen, mut others): (ThreadChoice, Vec<Candidate>),
        (from, to): (i64, i64),
        most: usize,
    ) -> Result<CriticalPath> {
        let mut sums = Sums::default();
        let mut segments = Segments::new(most);
        let mut take = |pieces: &[PathPiece]| {
            let rows = self.segments(session, pieces)?;
            for (piece, segment) in pieces.iter().zip(&rows) {
                sums.add(piece, segment);
            }
            segments.add(rows)
        };
        let mut follower = Follower::new(self, candidate.key, &mut take);
        follower.follow(candidate.key, from, to)?;
        let nodes = follower.finish()?;
        let length = to.saturating_sub(from);
        let tree = self.tree(&sums, &nodes, length);
        let shares = sums.shares(length);
        let (segments, left_out) = segments.finish();
        let open = self
            .slices
            .of(candidate.key)
            .last()
            .filter(|slice| slice.is_open());
        let count = others.len();
        others.sort_by_key(|other| (std::cmp::Reverse(other.run_ns), other.key));
        let best = others
            .into_iter()
            .take(OTHERS)
            .map(|other| (other.thread, other.run_ns));
        Ok(CriticalPath {
            thread: candidate.thread,
            chosen,
            others: count,
            best_others: best.collect(),
            from_ns: from,
            to_ns: to,
            tree,
            processes: rows::by_process(&shares, length),
            shares,
            segments,
            left_out,
            open_wait: open
                .and_then(|slice| Some((slice.last_out()?, slice.reason().map(wait_reason)))),
        })
    }

    /// Returns the rows of pieces, with the ends of the waits that DPCs ended.
    fn segments(&self, session: &Session, pieces: &[PathPiece]) -> Result<Vec<Segment>> {
        let mut roots = Roots::default();
        // All waits are collected first, so that the tables are read only once for all of them.
        let numbers: Vec<Option<usize>> = pieces
            .iter()
            .map(|piece| piece.ended_by_dpc(self, &mut roots))
            .collect();
        let ended = roots.describe(session, &self.slices, &self.stacks)?;
        let rows = pieces.iter().zip(numbers).map(|(piece, number)| {
            self.segment(piece, number.and_then(|number| ended.get(number)))
        });
        Ok(rows.collect())
    }
}

fn wait_reason(reason: i32) -> String {
    etwkit_sql::functions::wait_reason_name(reason)
}
