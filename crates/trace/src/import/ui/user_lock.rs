//! The global lock of the window manager: acquisitions and their releases.
//!
//! A thread has the lock at most once, so a release ends the acquisition of its thread. Tokens
//! cannot match them: the token of a release is the number after its acquisition's, or another one.

use etwkit_decode::win32k::{Acquired, Released};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use crate::import::pipeline::actor::start;
use crate::import::pipeline::{Actor, Context, Seq, key, waiting};
use crate::table::UserLock;

/// Maximum number of owners of the lock. A trace with more of them is malicious.
const MAX_OPEN: usize = 1 << 20;

/// IDs of events that report only slow acquisitions.
const SLOW: [u16; 4] = [164, 166, 416, 417];

/// An acquisition without its release so far.
#[derive(Debug)]
struct OpenAcquisition {
    row: UserLock,
    start: Option<Seq>,
    /// The event that reported it first.
    id: u16,
}

/// Pairs acquisitions with releases.
#[derive(Debug)]
pub(super) struct UserLocks {
    /// Open acquisitions by thread ID.
    open: FxHashMap<u32, OpenAcquisition>,
    /// Ticks of the performance counter in a second.
    frequency: Option<i64>,
    dropped: u64,
}

impl UserLocks {
    pub(super) fn new(frequency: Option<i64>) -> Self {
        Self {
            open: FxHashMap::default(),
            frequency,
            dropped: 0,
        }
    }

    /// Takes an acquisition. Returns whether a row shows it.
    pub(super) fn acquired(
        &mut self,
        read: Acquired,
        event: &RawEvent<'_>,
        actor: Actor,
        context: &mut Context<'_>,
    ) -> bool {
        let Some(tid) = actor.tid else { return false };
        // Computed before the open acquisition is looked for: the second event of a pair may be the
        // one with the exact time.
        let wait_ns = self.wait_ns(&read);
        let token = Some(read.token.cast_signed());
        let is_slow = SLOW.contains(&read.id);
        if let Some(open) = self.open.get_mut(&tid)
            // The ID must differ: the same event with the same token again is another acquisition.
            // Two events report one acquisition, one of them only if it was slow. They have the
            // same token and different IDs.
            && open.row.token == token
            && open.id != read.id
        {
            open.row.is_slow |= is_slow;
            // One of the two may have no time, or a time in whole milliseconds.
            open.row.wait_ns = open.row.wait_ns.max(wait_ns);
            return true;
        }
        // A thread has the lock once, so the release of an earlier acquisition was lost.
        if let Some(lost) = self.open.remove(&tid) {
            write(lost, event.timestamp, context);
        }
        if self.open.len() >= MAX_OPEN {
            // Reported as not followed. The event itself counts as shown, since another event of
            // the same kind would be.
            self.dropped += 1;
            return true;
        }
        let row = UserLock {
            process_key: key(actor.process),
            thread_key: actor.thread_key,
            mode: Some(read.mode.name()),
            acquire_ns: Some(context.ns(event.timestamp)),
            wait_ns,
            is_slow,
            token,
            ..UserLock::default()
        };
        let start = start(event, actor, context);
        self.open.insert(
            tid,
            OpenAcquisition {
                row,
                start,
                id: read.id,
            },
        );
        true
    }

    /// Takes a release. Returns whether a row shows it.
    pub(super) fn released(
        &mut self,
        read: Released,
        event: &RawEvent<'_>,
        actor: Actor,
        context: &mut Context<'_>,
    ) -> bool {
        let Some(tid) = actor.tid else { return false };
        let ns = context.ns(event.timestamp);
        // A release without an acquisition: the lock was taken before the trace. Its hold time is
        // unknown, but Windows reports one.
        let mut open = self.open.remove(&tid).unwrap_or_else(|| {
            let row = UserLock {
                process_key: key(actor.process),
                thread_key: actor.thread_key,
                ..UserLock::default()
            };
            OpenAcquisition {
                row,
                start: None,
                id: 0,
            }
        });
        open.row.release_ns = Some(ns);
        open.row.hold_ns = open
            .row
            .acquire_ns
            .map(|acquire| ns.saturating_sub(acquire));
        // The event reports the hold time in ticks. It is kept beside the measured one, which is
        // missing if the acquisition was lost.
        open.row.told_hold_ns = self
            .frequency
            .map(|frequency| nanoseconds(read.hold_qpc, frequency));
        write(open, event.timestamp, context);
        true
    }

    /// Wait time of a thread.
    fn wait_ns(&self, read: &Acquired) -> Option<i64> {
        // Ticks of the counter are finer than microseconds, but need the frequency. Without it, 0
        // microseconds next to some ticks mean nothing.
        match (read.wait_qpc, self.frequency) {
            (1.., Some(frequency)) => Some(nanoseconds(read.wait_qpc, frequency)),
            (1.., None) if read.wait_us == 0 => None,
            _ => i64::try_from(read.wait_us).ok()?.checked_mul(1000),
        }
    }

    /// Writes the acquisitions without a release, in the order of their times. Returns how many
    /// were not followed.
    pub(super) fn finish(self, end: i64, context: &mut Context<'_>) -> u64 {
        let mut open: Vec<(u32, OpenAcquisition)> = self.open.into_iter().collect();
        // Thread IDs make the order of two acquisitions at one time the same in every run.
        open.sort_unstable_by_key(|(tid, open)| (open.row.acquire_ns, *tid));
        open.into_iter()
            .for_each(|(_, open)| write(open, end, context));
        self.dropped
    }
}

/// Passes a row on if it belongs to the range.
fn write(open: OpenAcquisition, time: i64, context: &mut Context<'_>) {
    let OpenAcquisition { row, start, .. } = open;
    // A lock belongs to the range in which it was taken; without that, to the one of its release.
    if row
        .acquire_ns
        .or(row.release_ns)
        .is_some_and(|ns| context.range.contains(ns))
    {
        let row = waiting::row(row, move |row, stacks| row.stack_id = stacks.of(start));
        context.wait(time, None, None, row);
        return;
    }
    start.into_iter().for_each(|start| context.forget(start));
}

fn nanoseconds(ticks: u64, frequency: i64) -> i64 {
    // In 128 bits: ticks of a day times a thousand million do not fit into 64.
    let ns = i128::from(ticks) * 1_000_000_000 / i128::from(frequency.max(1));
    i64::try_from(ns).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use etwkit_decode::win32k::Mode;

    use super::*;

    #[test]
    fn ticks_of_the_performance_counter_are_more_exact_than_the_time_beside_them() {
        let wait = |frequency, wait_qpc, wait_us| {
            let read = Acquired {
                id: 163,
                mode: Mode::Exclusive,
                wait_qpc,
                wait_us,
                token: 1,
            };
            UserLocks::new(frequency).wait_ns(&read)
        };
        assert_eq!(
            wait(Some(10_000_000), 19_914_700, 1_991_470),
            Some(1_991_470_000)
        );
        assert_eq!(wait(Some(2_593_750), 5, 1), Some(1927));
        assert_eq!(wait(Some(10_000_000), 0, 864_000), Some(864_000_000));
        // A clock of cycles may not say how fast the performance counter is.
        assert_eq!(
            (wait(None, 500, 50), wait(None, 500, 0), wait(None, 0, 0)),
            (Some(50_000), None, Some(0))
        );
        assert_eq!(wait(Some(1), u64::MAX, 0), Some(i64::MAX));
    }
}
