//! Number of concurrent requests of a disk.
//!
//! Starts of requests do not name their disk, and a request that is open when another one completes
//! may complete long after it. So the first pass collects the start and end of each disk's
//! requests.

use etwkit_decode::kernel::{Hook, disk};
use etwkit_etl::RawEvent;
use etwkit_etl::clock::Clock;
use rustc_hash::FxHashMap;

/// Maximum number of requests, 16 bytes each. A trace with more of them gets no depths: depths from
/// a part of the requests would be wrong.
const MAX_REQUESTS: usize = 1 << 24;

/// Collects requests.
#[derive(Debug, Default)]
pub(crate) struct DiskQueues {
    disks: FxHashMap<u32, Requests>,
    count: usize,
}

/// Requests of a disk.
#[derive(Debug, Default)]
struct Requests {
    begins: Vec<i64>,
    ends: Vec<i64>,
}

impl DiskQueues {
    /// Takes an event of a disk, in any order.
    pub(crate) fn observe(&mut self, hook: Hook, event: &RawEvent<'_>, clock: &Clock) {
        if !matches!(
            hook.opcode,
            disk::opcode::READ | disk::opcode::WRITE | disk::opcode::FLUSH
        ) {
            return;
        }
        let io = disk::DiskIo::parse(
            event.payload(),
            hook.opcode,
            hook.version,
            event.pointer_size(),
        );
        let Some(io) = io else { return };
        let end = clock.nanoseconds(event.timestamp);
        self.add(
            io.disk,
            clock
                .nanoseconds_before(event.timestamp, io.response_ticks)
                .min(end),
            end,
        );
    }

    fn add(&mut self, disk: u32, begin: i64, end: i64) {
        self.count = self.count.saturating_add(1);
        if self.count > MAX_REQUESTS {
            self.disks.clear();
            return;
        }
        let requests = self.disks.entry(disk).or_default();
        requests.begins.push(begin);
        requests.ends.push(end);
    }

    /// Sorts the requests by time, after all were added.
    pub(crate) fn sort(&mut self) {
        for requests in self.disks.values_mut() {
            requests.begins.sort_unstable();
            requests.ends.sort_unstable();
        }
    }

    /// Number of open requests when a request started and when it ended, itself included.
    pub(crate) fn depths(&self, disk: u32, begin_ns: i64, end_ns: i64) -> Option<(usize, usize)> {
        let Requests { begins, ends } = self
            .disks
            .get(&disk)
            .filter(|_| self.count <= MAX_REQUESTS)?;
        let begun = |time: i64| begins.partition_point(|begin| *begin <= time);
        let at_begin = begun(begin_ns).saturating_sub(ends.partition_point(|end| *end <= begin_ns));
        // An end at exactly this time still counts here, but not at the start: it is the end of the
        // request itself.
        let at_end = begun(end_ns).saturating_sub(ends.partition_point(|end| *end < end_ns));
        // A request counts itself even if it started and ended at the same time.
        Some((at_begin.max(1), at_end.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_for_requests_is_bounded() {
        let mut queues = DiskQueues {
            count: MAX_REQUESTS - 1,
            ..DiskQueues::default()
        };
        queues.add(0, 10, 20);
        assert_eq!(queues.depths(0, 10, 20), Some((1, 1)));
        queues.add(0, 15, 30);
        queues.add(0, 40, 50);
        assert_eq!((queues.depths(0, 40, 50), queues.disks.len()), (None, 0));
    }
}
