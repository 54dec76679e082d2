//! Wait chains: the thread that ended a wait, the wait of that thread before it could, and so on to
//! the root.

use std::collections::HashSet;

use etwkit_base::digits::grouped;
use etwkit_base::shell;
use etwkit_question::ask;
use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_sql::Session;
use etwkit_sql::filter::TextFilter;
use etwkit_sql::functions::wait_reason_name;

use crate::Result;
use crate::root::{Ended, RootKind, Roots};
use crate::slice::{NONE, Slice, Slices};
use crate::stacks::StackText;
use crate::threads::{Thread, Threads};
use crate::time_line::sums;
use crate::trace_end::TraceEnds;
use crate::wait::{WaitRequest, WaitRow, WaitSort};

/// Ratio limit for following a wait: its thread ran and was ready for at most this many times as
/// long in the same period. A readying thread that was busy nearly all the time is an explanation
/// by itself.
const LEAST_SHARE: i64 = 10;

/// Maximum number of links of a chain. Most chains have a handful of them; a long queue for a lock
/// can have more.
pub(crate) const MAX_LINKS: usize = 64;

/// Number of waits at the start of a long chain that a text shows.
const FIRST: usize = 3;

/// Default number of waits whose chains are shown.
const DEFAULT_CHAINS: usize = 3;

/// Returns the waits of a long chain that a text leaves out: those between the first ones and the
/// root, if they are more than one.
pub(crate) fn middle(waits: usize) -> Option<std::ops::Range<usize>> {
    (waits > FIRST + 1).then_some(FIRST..waits)
}

etwkit_question::declare! {
    /// A wait of a chain, or its root behind the last one. Rows of a chain follow each other.
    pub row ChainRow {
        chain: i64 = "Number of the chain, from 1.",
        link: i64 =
            "Number of the wait in its chain; 1 is the wait that the question names. The root has the number \
             after the last wait.",
        kind: String =
            "`wait`; `other_wait`, which has the number of the wait or root that explains more; or what \
             the root is, see [`RootKind`].",
        ..process = "Process that waited, or that ran at the root.",
        thread_key: Option<i64> = "Thread that waited, or that ran at the root.",
        tid: Option<i64> = "Its id.",
        start_ns: Option<i64> =
            "Start of the wait; for a root, start of the transfer or DPC, or of the part of the last wait \
             in which the thread is looked at.",
        readied_ns: Option<i64> =
            "When the thread was made ready; for a root, when the transfer was complete, the DPC over or \
             the last wait ended.",
        in_ns: Option<i64> = "When it was switched in.",
        wait_ns: Option<i64> =
            "Length of the wait; of an open one up to the last event of the kernel logger; for a root with \
             a thread, how long that thread waited.",
        ready_ns: Option<i64> =
            "How long it was ready after the wait; for a root with a thread, how long that thread was ready.",
        run_ns: Option<i64> = "How long the thread of the root ran.",
        wait_reason: Option<String> = "Wait reason.",
        is_readied_by_dpc: bool =
            "Whether a DPC ended the wait; the readying thread was only interrupted then.",
        readying_pid: Option<i64> = "Process id of the readying thread.",
        readying_process: Option<String> = "File name of its executable.",
        readying_tid: Option<i64> = "Id of the readying thread.",
        readying_run_ns: Option<i64> = "How long the readying thread ran during the wait.",
        readying_ready_ns: Option<i64> = "How long it was ready.",
        readying_wait_ns: Option<i64> = "How long it waited itself: the sum of all its waits in that time.",
        stack_id: Option<i64> = "Stack with which the thread was switched in.",
        readying_stack_id: Option<i64> = "Stack that made it ready.",
        operation: Option<String> = "Root: `read`, `write` or `flush` of a transfer; kind of a DPC.",
        object: Option<String> = "Root: file of a transfer, routine of a DPC.",
        size_bytes: Option<i64> = "Root: bytes of a transfer.",
        cpu: Option<i64> = "Root: processor of a DPC.",
    }
}

etwkit_question::declare! {
    /// The waits of a reason.
    row CountOfReason {
        wait_reason: Option<String> = "Wait reason.",
        waits: i64 = "Waits.",
    }
}

impl ChainRow {
    /// Returns the thread of the row: `a.exe(4) thread 8`, with `gap` between the name and the id.
    pub(crate) fn who(&self, gap: &str) -> String {
        named(self.process.as_deref(), self.pid, self.tid, gap)
    }

    /// Returns the thread that ended a wait, or a note that a DPC did.
    pub(crate) fn readying(&self, gap: &str) -> Option<String> {
        if self.is_readied_by_dpc {
            return Some("a DPC".into());
        }
        let tid = self.readying_tid?;
        Some(named(
            self.readying_process.as_deref(),
            self.readying_pid,
            Some(tid),
            gap,
        ))
    }
}

/// The start of a wait that began before the trace.
const TIME_ZERO: i64 = 0;

fn named(process: Option<&str>, pid: Option<i64>, tid: Option<i64>, gap: &str) -> String {
    let pid = pid.map_or_else(String::new, |pid| format!("{gap}({pid})"));
    let tid = tid.map_or_else(String::new, |tid| format!(" thread {tid}"));
    format!("{}{pid}{tid}", process.unwrap_or("(unknown)"))
}

/// A chain, with its waits and its root.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// Waits, the requested one first.
    pub links: Vec<ChainRow>,
    /// Waits that explain less than the one that was followed (or less than the activity of the
    /// root thread), each with the number of the link that it competes with.
    pub others: Vec<ChainRow>,
    /// The end of the last wait.
    pub root: ChainRow,
}

impl Chain {
    /// Returns the length of the requested wait, if it is known.
    #[must_use]
    pub fn total_wait_ns(&self) -> Option<i64> {
        self.links.first().and_then(|link| link.wait_ns)
    }

    /// Returns all rows: each wait followed by the others of its number, the root last.
    pub fn rows(&self) -> impl Iterator<Item = &ChainRow> {
        let links = self
            .links
            .iter()
            .flat_map(|link| std::iter::once(link).chain(self.others_of(link.link)));
        links
            .chain(self.others_of(self.root.link))
            .chain([&self.root])
    }

    /// Returns the waits that explain less than the wait or root of that number.
    pub fn others_of(&self, link: i64) -> impl Iterator<Item = &ChainRow> {
        self.others.iter().filter(move |other| other.link == link)
    }
}

/// Waits with these reasons start no chain unless they are requested: a thread sleeps because it
/// wants to, or waits for work that does not exist yet. A chain still reaches a sleep if another
/// thread waits for the sleeping one.
const NOBODY_WAITED: &str = "!DelayExecution;!WrDelayExecution;!WrQueue;!WrLpcReceive";

/// The reason for no chain where there is nothing to start from.
const NO_WAIT: &str = "no wait of a thread was recorded, and a chain starts from a wait";

/// Chains of the longest waits.
impl WaitRequest {
    /// Returns the SQL for the waits that the chains start from.
    #[must_use]
    pub fn chain_sql(&self) -> String {
        self.start_of_chains().list_sql()
    }

    /// Returns why there is no chain, if no wait was recorded, or if all waits that match start none
    /// by themselves.
    ///
    /// # Errors
    /// The query fails.
    pub(crate) fn why_no_chain(&self, session: &Session) -> Result<Option<String>> {
        if self.reason.is_some() {
            return Ok(None);
        }
        let counts = self.counts(session)?;
        if counts.is_empty() && self.chooses_none() {
            return Ok(Some(NO_WAIT.to_owned()));
        }
        let starting = TextFilter::parse(NOBODY_WAITED);
        let is_start = |count: &CountOfReason| starting.matches(count.wait_reason.as_deref());
        if self.all_waits || counts.is_empty() || counts.iter().any(is_start) {
            return Ok(None);
        }
        // Of many extracts only the first are searched.
        let is_counted = session.names().count() <= 1;
        let reasons: Vec<String> = counts.iter().map(|count| count.text(is_counted)).collect();
        let example = if is_counted && self.chooses_none() {
            self.example(session)?
        } else {
            String::new()
        };
        Ok(Some(format!(
            "all waits are sleeps or waits for work ({}), which start no chain; --all-waits shows their chains{example}",
            reasons.join(", ")
        )))
    }

    /// Returns `true` if no option chooses among waits.
    fn chooses_none(&self) -> bool {
        let all = Self {
            top: self.top,
            stack_tag_file: self.stack_tag_file.clone(),
            by: self.by,
            chain: self.chain,
            all_waits: self.all_waits,
            sort: self.sort,
            stacks: self.stacks,
            details: self.details,
            ..Self::default()
        };
        *self == all
    }

    /// Returns how to choose the process with the longest wait.
    fn example(&self, session: &Session) -> Result<String> {
        let longest = Self {
            chain: true,
            sort: WaitSort::Wait,
            top: Top {
                count: Some(1),
                skip: 0,
            },
            ..self.clone()
        };
        let waits = longest.list(session)?;
        let process = waits.first().and_then(|wait| wait.process.as_deref());
        Ok(process.map_or_else(String::new, |name| {
            let name = shell::quoted_pattern(name);
            format!(
                ", and --process {name} --all-waits the chains of the process with the longest wait"
            )
        }))
    }

    /// Returns the number of waits of each reason, sleeps and waits for work included, most first.
    fn counts(&self, session: &Session) -> Result<Vec<CountOfReason>> {
        let all = Self {
            chain: true,
            top: Top::default(),
            ..self.clone()
        };
        let sql = format!(
            "SELECT wait_reason, count(*) AS waits FROM (
{}
) GROUP BY wait_reason ORDER BY waits DESC, wait_reason",
            all.list_sql()
        );
        ask(session, &sql)
    }

    fn start_of_chains(&self) -> Self {
        // The table of waits is shared with the question that lists them, so that both choose the
        // same.
        // Chains are of waits; a preempted thread has none, even after a long ready time.
        let mut waits = Self {
            chain: true,
            ..self.clone()
        };
        // Chains are long to read, so that only a few are shown unless more are asked for.
        waits.top.count = waits.top.count.or(Some(DEFAULT_CHAINS));
        if !self.all_waits && waits.reason.is_none() {
            waits.reason = Some(NOBODY_WAITED.to_owned());
        }
        waits
    }

    /// Returns the chains in the order of [`WaitRequest::list`]: the chain of the wait that sorts
    /// highest is the last.
    ///
    /// # Errors
    /// The errors of [`WaitRequest::ask`]; the waits span too many context switches.
    pub fn chains(&self, session: &Session) -> Result<Vec<Chain>> {
        let waits = self.start_of_chains().list(session)?;
        if waits.is_empty() {
            return Ok(Vec::new());
        }
        self.follow(session, &waits, &ChainContext::load(session)?)
    }

    /// Returns the chains in an extract whose threads and stacks are already loaded, so that many
    /// requests read them only once.
    pub(crate) fn chains_of(&self, session: &Session, known: &ChainContext) -> Result<Vec<Chain>> {
        let waits = self.start_of_chains().list(session)?;
        if waits.is_empty() {
            Ok(Vec::new())
        } else {
            self.follow(session, &waits, known)
        }
    }

    fn follow(
        &self,
        session: &Session,
        waits: &[WaitRow],
        known: &ChainContext,
    ) -> Result<Vec<Chain>> {
        // Only the parts of the trace in which the waits are, as chains never lead out of them.
        let slices = Slices::load(session, &parts(waits, &known.ends))?;
        Walker {
            slices,
            known,
            all_waits: self.all_waits,
        }
        .chains(session, waits)
    }
}

impl CountOfReason {
    /// Returns `761 DelayExecution`, or the reason alone.
    fn text(&self, is_counted: bool) -> String {
        let reason = self.wait_reason.as_deref().unwrap_or("(unknown)");
        if is_counted {
            format!("{} {reason}", grouped(self.waits.unsigned_abs()))
        } else {
            reason.to_owned()
        }
    }
}

/// Returns the disjoint ranges of the trace that contain the waits.
fn parts(waits: &[WaitRow], ends: &TraceEnds) -> Vec<Range> {
    let mut all: Vec<Range> = waits
        .iter()
        .map(|wait| {
            // An open wait needs the switches up to the end of the trace: its root is searched for
            // there.
            let known = wait.readied_ns.or(wait.in_ns).unwrap_or(ends.end_ns);
            Range {
                min: wait.start_ns,
                max: known.max(wait.start_ns),
            }
        })
        .collect();
    // Overlapping ranges become one, so that no context switch is read and held twice.
    all.sort_unstable_by_key(|part| (part.min, part.max));
    all.dedup_by(|next, kept| {
        let touches = next.min <= kept.max;
        if touches {
            kept.max = kept.max.max(next.max);
        }
        touches
    });
    all
}

/// The end of a chain before the effect of DPCs is looked up.
enum End {
    Known(RootKind),
    /// A DPC, as its index among those that are looked up later.
    Dpc(usize),
    /// A thread that mostly ran or was ready from the first time to the second one.
    Ran {
        by: i32,
        from: i64,
        to: i64,
        stack: i32,
    },
}

/// The data of an extract that chains need, whatever their waits are.
pub(crate) struct ChainContext {
    pub(crate) threads: Threads,
    pub(crate) stacks: StackText,
    ends: TraceEnds,
}

impl ChainContext {
    /// Reads threads, stacks and the ends of the trace.
    pub(crate) fn load(session: &Session) -> Result<Self> {
        let threads = Threads::load(session)?;
        let stacks = StackText::new(session)?;
        Ok(Self {
            threads,
            stacks,
            ends: TraceEnds::ask(session)?,
        })
    }
}

struct Walker<'k> {
    slices: Slices,
    known: &'k ChainContext,
    all_waits: bool,
}

/// A wait of a thread that ended the wait of another one, with its place in a chain.
struct Other {
    link: i64,
    thread: i32,
    slice: Slice,
}

/// Waits of a chain, competing waits, and its end.
struct Walk {
    links: Vec<(i32, Slice)>,
    others: Vec<Other>,
    end: End,
}

impl Walker<'_> {
    fn chains(&self, session: &Session, waits: &[WaitRow]) -> Result<Vec<Chain>> {
        let mut roots = Roots::default();
        let mut walks = Vec::new();
        for (chain, wait) in (1..).zip(waits) {
            // The row is not among the slices only if the extract changed in between.
            let Some((thread, slice)) = self.find(wait) else {
                continue;
            };
            let Walk { links, others, end } = self.walk(thread, &slice, &mut roots);
            // Rows are complete except for the root: the effect of DPCs is read for all chains at
            // once, below.
            let row = |link, thread, slice: &Slice| ChainRow {
                chain,
                link,
                ..self.link(thread, slice)
            };
            let links: Vec<ChainRow> = (1..)
                .zip(links)
                .map(|(link, (thread, slice))| row(link, thread, &slice))
                .collect();
            let other = |o: Other| ChainRow {
                kind: "other_wait".to_owned(),
                ..row(o.link, o.thread, &o.slice)
            };
            walks.push((links, others.into_iter().map(other).collect(), end));
        }
        // Looked up once for all chains, because each look-up is a query.
        let ended = roots.describe(session, &self.slices, &self.known.stacks)?;
        let chain = |(links, others, end): (Vec<ChainRow>, Vec<ChainRow>, End)| {
            // The root counts as one more link, so that competing waits can be found by that
            // number.
            let (chain, link) = links
                .last()
                .map_or((0, 1), |last| (last.chain, last.link + 1));
            let root = match end {
                End::Known(kind) => ChainRow {
                    kind: kind.name().to_owned(),
                    ..ChainRow::default()
                },
                End::Dpc(number) => self.ended(ended.get(number)),
                End::Ran {
                    by,
                    from,
                    to,
                    stack,
                } => self.ran(by, from, to, stack),
            };
            Chain {
                links,
                others,
                root: ChainRow {
                    chain,
                    link,
                    ..root
                },
            }
        };
        Ok(walks.into_iter().map(chain).collect())
    }

    /// Finds the slice of a wait in the result of a question.
    fn find(&self, wait: &WaitRow) -> Option<(i32, Slice)> {
        let thread = i32::try_from(wait.thread_key).ok()?;
        // Both ends together name the row: two switches at one time stamp share one of them.
        let is_it = |slice: &&Slice| {
            slice.last_out() == Some(wait.start_ns) && slice.switch_in() == wait.in_ns
        };
        Some((thread, *self.slices.of(thread).iter().find(is_it)?))
    }

    /// Returns the waits of a chain, and its end.
    fn walk(&self, thread: i32, slice: &Slice, roots: &mut Roots) -> Walk {
        let mut links = Vec::new();
        let mut others = Vec::new();
        let mut seen = HashSet::new();
        let mut thread = thread;
        let mut slice = *slice;
        // The start is the beginning of the first wait, which the chain explains.
        let mut since = slice.last_out().unwrap_or(i64::MIN);
        let end = loop {
            links.push((thread, slice));
            seen.insert((thread, slice.last_out()));
            let Some((from, to)) = slice.wait() else {
                break End::Known(if slice.is_open() {
                    RootKind::Open
                } else {
                    RootKind::NotRecorded
                });
            };
            // Only time in which every thread of the chain so far was waiting counts: earlier
            // activity of the next thread delayed none of them.
            since = since.max(from);
            // The idle thread makes nothing ready by itself; a DPC that interrupted it did, even if
            // no flag marks it.
            if slice.is_by_dpc() || self.known.threads.is_idle(slice.by) {
                break End::Dpc(roots.add(
                    thread,
                    &slice,
                    (from, to),
                    &self.slices,
                    &self.known.threads,
                ));
            }
            // A thread ended the wait and was not recorded.
            if slice.by == NONE {
                break End::Known(RootKind::NotRecorded);
            }
            let longest = self.longest_wait(slice.by, since, to);
            if self.all_waits {
                // These waits compete with the next link, or with the root if there is none, and
                // get its number.
                let link = links.len() as i64 + 1;
                let not_followed = |wait: &&Slice| longest.is_none_or(|longest| longest != **wait);
                let waits = self.waits(slice.by, since, to).filter(not_followed);
                others.extend(waits.map(|wait| Other {
                    link,
                    thread: slice.by,
                    slice: *wait,
                }));
            }
            let Some(before) = longest else {
                break End::Ran {
                    by: slice.by,
                    from: since,
                    to,
                    stack: slice.by_stack,
                };
            };
            // Time goes backwards along a chain, so only damage leads to the same wait again.
            if seen.contains(&(slice.by, before.last_out())) {
                break End::Known(RootKind::Cycle);
            }
            if links.len() >= MAX_LINKS {
                break End::Known(RootKind::TooDeep);
            }
            (thread, slice) = (slice.by, before);
        };
        Walk { links, others, end }
    }

    /// Returns the wait of a thread that explains most of that time: the one with the longest part
    /// inside it, and the last among equals. `None` if the thread was busy for more than ten times
    /// as long: then the wait explains nothing.
    fn longest_wait(&self, thread: i32, since: i64, to: i64) -> Option<Slice> {
        let inside = |slice: &&Slice| {
            slice
                .wait()
                .map_or(0, |(from, end)| end.saturating_sub(from.max(since)))
        };
        // Waits of one thread follow each other, and of equal ones the later is nearer to the
        // readying; max_by_key returns the last.
        let longest = self.waits(thread, since, to).max_by_key(inside)?;
        let (run, ready, _) = sums(&self.slices, thread, (since, to), self.known.ends.end_ns);
        // Waits that explain little are not followed: the chain ends where work was done.
        // Multiplied rather than divided, which would round short times to nothing.
        (inside(&longest).saturating_mul(LEAST_SHARE) >= run.saturating_add(ready))
            .then_some(*longest)
    }

    /// Returns the waits of a thread that end after `since` and not after `to`.
    fn waits(&self, thread: i32, since: i64, to: i64) -> impl Iterator<Item = &Slice> {
        // A wait that ends after `to` cannot be the reason for activity at `to`.
        // Sorted by time, so that the search may stop.
        let in_time = self
            .slices
            .since(thread, since)
            .take_while(move |slice| slice.last_out().is_none_or(|out| out < to));
        in_time.filter(move |slice| {
            slice
                .wait()
                .is_some_and(|(_, end)| end > since && end <= to)
        })
    }

    fn link(&self, thread: i32, slice: &Slice) -> ChainRow {
        let readying = self.known.threads.get(slice.by);
        let stack = |id: i32| (id != NONE).then_some(i64::from(id));
        // A thread that a DPC only interrupted does its own work, which is not related to this
        // wait.
        let is_thread =
            slice.by != NONE && !slice.is_by_dpc() && !self.known.threads.is_idle(slice.by);
        // What the readying thread did in the meantime, unless it was interrupted.
        let meanwhile = slice.wait().filter(|_| is_thread);
        let meanwhile =
            meanwhile.map(|wait| sums(&self.slices, slice.by, wait, self.known.ends.end_ns));
        // An open wait lasts at least to the end of the trace.
        let open = || {
            slice.is_open().then(|| {
                self.known
                    .ends
                    .end_ns
                    .saturating_sub(slice.last_out().unwrap_or(TIME_ZERO))
            })
        };
        ChainRow {
            kind: "wait".to_owned(),
            start_ns: slice.last_out(),
            readied_ns: slice.readied(),
            in_ns: slice.switch_in(),
            wait_ns: slice
                .wait()
                .map(|(from, to)| to.saturating_sub(from))
                .or_else(open),
            ready_ns: slice
                .switch_in()
                .zip(slice.readied())
                .map(|(into, readied)| into.saturating_sub(readied)),
            wait_reason: slice.reason().map(wait_reason_name),
            is_readied_by_dpc: slice.is_by_dpc(),
            readying_pid: readying.and_then(|thread| thread.pid),
            readying_process: readying.and_then(|thread| thread.process.clone()),
            readying_tid: readying.map(|thread| thread.tid),
            readying_run_ns: meanwhile.map(|(run, ..)| run),
            readying_ready_ns: meanwhile.map(|(_, ready, _)| ready),
            readying_wait_ns: meanwhile.map(|(.., wait)| wait),
            stack_id: stack(slice.stack),
            readying_stack_id: stack(slice.by_stack),
            ..of_thread(thread, self.known.threads.get(thread))
        }
    }

    fn ended(&self, ended: Option<&Ended>) -> ChainRow {
        let Some(Ended {
            kind,
            transfer,
            dpc,
        }) = ended
        else {
            return ChainRow {
                kind: RootKind::NotRecorded.name().to_owned(),
                ..ChainRow::default()
            };
        };
        let row = ChainRow {
            kind: kind.name().to_owned(),
            ..ChainRow::default()
        };
        // A transfer explains the wait; the DPC that completed it is only the messenger.
        if let Some(transfer) = transfer {
            return ChainRow {
                start_ns: Some(transfer.init_ns),
                readied_ns: Some(transfer.complete_ns),
                operation: Some(transfer.kind.clone()),
                object: transfer.path.clone(),
                size_bytes: Some(transfer.size_bytes),
                ..row
            };
        }
        let Some(dpc) = dpc else { return row };
        // The routine that was called, as far as symbols name it.
        ChainRow {
            start_ns: Some(dpc.start_ns),
            readied_ns: Some(dpc.end_ns),
            operation: Some(dpc.kind.clone()),
            object: self.known.stacks.frame(dpc.frame_id),
            cpu: Some(dpc.cpu),
            ..row
        }
    }

    /// Returns a root that is a thread: the times that it ran, was ready and waited from `from` to
    /// `to`.
    fn ran(&self, by: i32, from: i64, to: i64, stack: i32) -> ChainRow {
        let (run, ready, wait) = sums(&self.slices, by, (from, to), self.known.ends.end_ns);
        // A thread cannot make another one ready without running: if it neither ran nor was ready,
        // its switches are missing.
        let kind = if run > 0 || ready > 0 {
            RootKind::ThreadRan
        } else {
            RootKind::NotRecorded
        };
        ChainRow {
            kind: kind.name().to_owned(),
            start_ns: Some(from),
            readied_ns: Some(to),
            run_ns: Some(run),
            ready_ns: Some(ready),
            wait_ns: Some(wait),
            readying_stack_id: (stack != NONE).then_some(i64::from(stack)),
            ..of_thread(by, self.known.threads.get(by))
        }
    }
}

fn of_thread(thread_key: i32, thread: Option<&Thread>) -> ChainRow {
    ChainRow {
        process_key: thread.and_then(|thread| thread.process_key),
        pid: thread.and_then(|thread| thread.pid),
        process: thread.and_then(|thread| thread.process.clone()),
        thread_key: Some(thread_key.into()),
        tid: thread.map(|thread| thread.tid),
        ..ChainRow::default()
    }
}
