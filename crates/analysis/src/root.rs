//! Ends of waits that no thread ended: a transfer, a timer, another DPC.
//!
//! Waits are collected first; then the tables of DPCs and transfers are read once, regardless of
//! the number of waits.

use etwkit_sql::Session;

use crate::Result;
use crate::root_rows::{Dpc, Transfer, each_dpc, each_transfer};
use crate::slice::{Slice, Slices};
use crate::stacks::StackText;
use crate::threads::Threads;

/// Maximum time between the completion of a transfer and the moment at which its thread was made
/// ready, in nanoseconds: one DPC does both.
const NEAR_NS: i64 = 100_000;

/// Maximum number of waits that one DPC or completion is compared with: more at one time are
/// damage.
const MOST_AT_ONCE: usize = 256;

/// Wait reasons of a thread that sleeps: `DelayExecution` and `WrDelayExecution`.
const SLEEPS: [i32; 2] = [4, 11];

/// Kernel functions whose stacks show that a timer made a thread ready.
const TIMERS: &[&str] = &[
    "KiTimerExpiration",
    "KiProcessExpiredTimerList",
    "KiTimerWaitTest",
    "KiExpireTimer2",
    "ExpTimerDpcRoutine",
];
/// Kernel functions that complete I/O.
const COMPLETIONS: &[&str] = &[
    "IopfCompleteRequest",
    "IofCompleteRequest",
    "IoCompleteRequest",
    "IopCompleteRequest",
    "IoCancelIrp",
];

/// The root of a wait chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RootKind {
    /// The thread that ended the last wait of the chain did not wait itself: it ran, or was ready
    /// and had no processor.
    ThreadRan,
    /// A disk transfer of the thread completed.
    DiskIo,
    /// Another I/O request completed.
    IoCompletion,
    /// A timer expired, or a sleep was over.
    Timer,
    /// A DPC or interrupt ended the wait for another reason.
    Dpc,
    /// The wait was still open when the trace ended.
    Open,
    /// No event identifies the end of the wait.
    #[default]
    NotRecorded,
    /// The chain came back to a wait that it already had: the extract is damaged.
    Cycle,
    /// The chain exceeds the maximum length.
    TooDeep,
}

impl RootKind {
    /// Returns its name in rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ThreadRan => "thread_ran",
            Self::DiskIo => "disk_io",
            Self::IoCompletion => "io_completion",
            Self::Timer => "timer",
            Self::Dpc => "dpc",
            Self::Open => "open",
            Self::NotRecorded => "not_recorded",
            Self::Cycle => "cycle",
            Self::TooDeep => "too_deep",
        }
    }
}

/// The end of a wait, with its known details.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ended {
    pub(crate) kind: RootKind,
    pub(crate) transfer: Option<Transfer>,
    pub(crate) dpc: Option<Dpc>,
}

/// A wait that a DPC ended.
#[derive(Debug, Clone, PartialEq)]
struct Pending {
    thread_key: i32,
    slice: Slice,
    from: i64,
    to: i64,
    /// Processor of the thread that the DPC interrupted; unknown if it interrupted the idle thread.
    cpu: Option<i32>,
    transfer: Option<Transfer>,
    /// DPCs and interrupts that ran when the thread was made ready, on all processors.
    dpcs: Vec<Dpc>,
}

/// Waits that DPCs ended, collected until their ends are looked up.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    pending: Vec<Pending>,
}

impl Roots {
    /// Adds the wait before a slice, which a DPC ended; returns its index in the answer of
    /// [`Self::describe`].
    pub(crate) fn add(
        &mut self,
        thread_key: i32,
        slice: &Slice,
        (from, to): (i64, i64),
        slices: &Slices,
        threads: &Threads,
    ) -> usize {
        // Slices of idle threads are not held: if one was interrupted, its processor is found by
        // elimination.
        let is_idle = threads.is_idle(slice.by);
        let cpu = if is_idle {
            None
        } else {
            slices.running(slice.by, to).and_then(Slice::cpu)
        };
        self.pending.push(Pending {
            thread_key,
            slice: *slice,
            from,
            to,
            cpu,
            transfer: None,
            dpcs: Vec::new(),
        });
        self.pending.len() - 1
    }

    /// Returns the end of each wait, in the order in which they were added.
    ///
    /// # Errors
    /// Reading the tables fails.
    pub(crate) fn describe(
        mut self,
        session: &Session,
        slices: &Slices,
        stacks: &StackText,
    ) -> Result<Vec<Ended>> {
        let mut order: Vec<usize> = (0..self.pending.len()).collect();
        let to = |number: &usize| self.pending.get(*number).map_or(0, |wait| wait.to);
        // By their ends, so that each row of the tables finds its waits by binary search.
        order.sort_by_key(to);
        let times: Vec<i64> = order.iter().map(to).collect();
        let (Some(first), Some(last)) = (times.first().copied(), times.last().copied()) else {
            return Ok(Vec::new());
        };
        let pending = &mut self.pending;
        let mut each = |from: i64, until: i64, take: &mut dyn FnMut(&mut Pending)| {
            let start = times.partition_point(|time| *time < from);
            let end = times.partition_point(|time| *time <= until);
            // A damaged row that ends before it starts gives a reversed range, which has nothing.
            for number in order.iter().take(end).skip(start).take(MOST_AT_ONCE) {
                pending.get_mut(*number).into_iter().for_each(&mut *take);
            }
        };
        // The thread was made ready while the DPC ran, so the DPC's start and end are exact limits.
        each_dpc(session, first, last, |dpc| {
            each(dpc.start_ns, dpc.end_ns, &mut |wait| {
                wait.dpcs.push(dpc.clone());
            });
        })?;
        // The time stamp of a transfer is taken elsewhere in the DPC, before or after the thread is
        // made ready.
        each_transfer(
            session,
            first.saturating_sub(NEAR_NS),
            last.saturating_add(NEAR_NS),
            |transfer| {
                let at = transfer.complete_ns;
                each(
                    at.saturating_sub(NEAR_NS),
                    at.saturating_add(NEAR_NS),
                    &mut |wait| wait.offer(&transfer),
                );
            },
        )?;
        Ok(self
            .pending
            .into_iter()
            .map(|wait| wait.ended(slices, stacks))
            .collect())
    }
}

impl Pending {
    /// Keeps a transfer of the thread that completed while it waited, if it is the one nearest to
    /// the end of the wait.
    fn offer(&mut self, transfer: &Transfer) {
        let is_own = transfer.thread_key == Some(self.thread_key.into());
        // A transfer that completed before the wait started, or was issued after it, cannot have
        // ended it.
        let is_in = transfer.complete_ns >= self.from && transfer.init_ns <= self.to;
        let distance = |transfer: &Transfer| self.to.abs_diff(transfer.complete_ns);
        let is_nearer = self
            .transfer
            .as_ref()
            .is_none_or(|known| distance(transfer) < distance(known));
        if is_own && is_in && is_nearer {
            self.transfer = Some(transfer.clone());
        }
    }

    fn ended(mut self, slices: &Slices, stacks: &StackText) -> Ended {
        let dpc = self.dpc(slices);
        let sleeps = self
            .slice
            .reason()
            .is_some_and(|reason| SLEEPS.contains(&reason));
        let is_timer = dpc.as_ref().is_some_and(|dpc| dpc.kind == "timer_dpc");
        let by = |names| stacks.has_method(self.slice.by_stack, names);
        // From the strongest evidence to the weakest: a transfer of the thread itself, the wait
        // reason, the kind of the DPC, and last the stack, which needs symbols. A sleep is ended by
        // a timer, even if another operation completes at that time.
        let kind = if self.transfer.is_some() && !sleeps {
            RootKind::DiskIo
        } else if sleeps || is_timer || by(TIMERS) {
            RootKind::Timer
        } else if by(COMPLETIONS) {
            RootKind::IoCompletion
        } else {
            RootKind::Dpc
        };
        Ended {
            kind,
            transfer: self.transfer.take().filter(|_| kind == RootKind::DiskIo),
            dpc,
        }
    }

    /// Returns the DPC in which the thread was made ready: the innermost one on the processor of
    /// the thread that it interrupted. If that was the idle thread, the DPC on a processor that was
    /// idle, if only one processor was.
    fn dpc(&mut self, slices: &Slices) -> Option<Dpc> {
        let dpcs = std::mem::take(&mut self.dpcs);
        let mut fitting: Vec<Dpc> = match self.cpu {
            Some(cpu) => dpcs
                .into_iter()
                .filter(|dpc| dpc.cpu == i64::from(cpu))
                .collect(),
            None if dpcs.is_empty() => dpcs,
            None => {
                // The DPC interrupted an idle thread, so processors with another thread on them are
                // ruled out.
                let busy = slices.busy_processors(self.to);
                dpcs.into_iter()
                    .filter(|dpc| !busy.iter().any(|cpu| dpc.cpu == i64::from(*cpu)))
                    .collect()
            }
        };
        let cpu = fitting.first()?.cpu;
        // If several processors remain, the right one is unknown: no answer is better than a guess.
        if fitting.iter().any(|dpc| dpc.cpu != cpu) {
            return None;
        }
        // An interrupt inside a DPC starts later than the DPC: the innermost is the last.
        fitting.sort_by_key(|dpc| (dpc.start_ns, std::cmp::Reverse(dpc.end_ns)));
        fitting.pop()
    }
}
