//! One TCP connection: the sums that its events add up to.

use std::collections::{HashMap, VecDeque};

use etwkit_decode::tcpip::Summary;

use crate::table::{TcpConnection, TcpRetransmit};

/// A burst ends if nothing is sent for a longer time.
const BURST_GAP_NS: i64 = 350_000_000;

/// Received data whose sequence number repeats later than this was not sent again: the sequence
/// numbers have wrapped around.
const CLIENT_RETRANSMIT_NS: i64 = 3_000_000_000;

/// Data of up to this many bytes does not count as a retransmission: with one byte that was
/// acknowledged before, the system checks if the other side is still reachable.
const PROBE_BYTES: u32 = 1;

/// Maximum number of distinct sequence numbers for each direction: more than any window holds.
const MAX_SEQUENCES: usize = 1 << 16;

/// Time and bytes of each sequence number seen. The oldest ones are forgotten.
#[derive(Debug, Default)]
pub(super) struct Sequences {
    seen: HashMap<u32, (i64, u32)>,
    order: VecDeque<(u32, i64)>,
}

impl Sequences {
    pub(super) fn get(&self, sequence: u32) -> Option<(i64, u32)> {
        self.seen.get(&sequence).copied()
    }

    /// Stores a sequence number, replacing an earlier entry.
    pub(super) fn put(&mut self, sequence: u32, ns: i64, bytes: u32) {
        self.seen.insert(sequence, (ns, bytes));
        self.order.push_back((sequence, ns));
        // Positions that were replaced stay in the order until they are at its front, so the order
        // bounds both.
        if self.order.len() > MAX_SEQUENCES {
            self.forget_first();
        }
    }

    /// Forgets sequence numbers seen before a time.
    fn forget_before(&mut self, ns: i64) {
        while self.order.front().is_some_and(|(_, seen)| *seen < ns) {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        let Some((sequence, ns)) = self.order.pop_front() else {
            return;
        };
        // A number that was seen again has a later position in the order and stays.
        // Both the number and its time must be those at the front.
        if self
            .seen
            .get(&sequence)
            .is_some_and(|(seen, _)| *seen == ns)
        {
            self.seen.remove(&sequence);
        }
    }
}

/// One direction of a connection.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub(super) packets: i64,
    pub(super) bytes: i64,
    pub(super) last_ns: Option<i64>,
    pub(super) max_gap_ns: Option<i64>,
    burst_start_ns: i64,
    burst_packets: u64,
    burst_bytes: i64,
    /// Sum over bursts of their rates times their bytes, and of their bytes.
    weighted: f64,
    weight: f64,
    pub(super) sequences: Sequences,
}

impl Flow {
    pub(super) fn add(&mut self, ns: i64, bytes: u32) {
        let gap = self.last_ns.map(|last| ns.saturating_sub(last));
        // The longest silence so far; none with a single packet.
        self.max_gap_ns = self.max_gap_ns.max(gap);
        // A silence ends a burst. Otherwise idle time would count in the rate of a connection that
        // transfers now and then.
        if gap.is_some_and(|gap| gap > BURST_GAP_NS) {
            self.end_burst();
        }
        if self.burst_packets == 0 {
            self.burst_start_ns = ns;
        }
        self.burst_packets += 1;
        self.burst_bytes = self.burst_bytes.saturating_add(bytes.into());
        self.packets += 1;
        self.bytes = self.bytes.saturating_add(bytes.into());
        self.last_ns = Some(ns);
    }

    fn end_burst(&mut self) {
        let length = self
            // From the first to the last packet of the burst, and not to the present one, which is
            // after the silence.
            .last_ns
            .map_or(0, |last| last.saturating_sub(self.burst_start_ns));
        // One packet has no duration and no rate. Weighting by bytes keeps many small bursts from
        // hiding the rate of the large ones.
        if self.burst_packets > 1 && length > 0 && self.burst_bytes > 0 {
            let bytes = self.burst_bytes as f64;
            self.weighted += bytes * 1e9 / length as f64 * bytes;
            self.weight += bytes;
        }
        (self.burst_packets, self.burst_bytes) = (0, 0);
    }

    /// Bytes per second in its bursts. Ends the last burst, so no packet may follow.
    pub(super) fn rate(&mut self) -> Option<f64> {
        self.end_burst();
        (self.weight > 0.0).then(|| self.weighted / self.weight)
    }
}

/// A connection whose control block was not reused so far.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) row: TcpConnection,
    /// True if some of it is in the range.
    pub(super) is_in_range: bool,
    pub(super) is_closed: bool,
    pub(super) send: Flow,
    pub(super) receive: Flow,
    last_retransmitted: Option<u32>,
}

impl Live {
    pub(super) fn new(connection_id: i32, kind: &'static str, tcb: u64, first_ns: i64) -> Self {
        Self {
            row: TcpConnection {
                connection_id,
                kind,
                tcb: tcb as i64,
                first_ns,
                ..TcpConnection::default()
            },
            is_in_range: false,
            is_closed: false,
            send: Flow::default(),
            receive: Flow::default(),
            last_retransmitted: None,
        }
    }

    pub(super) fn sent(&mut self, ns: i64, sequence: u32, bytes: u32) {
        self.send.add(ns, bytes);
        self.send.sequences.put(sequence, ns, bytes);
    }

    /// Counts received data. Returns a row if the same data was received before.
    pub(super) fn received(&mut self, ns: i64, sequence: u32, bytes: u32) -> Option<TcpRetransmit> {
        self.receive.add(ns, bytes);
        let sequences = &mut self.receive.sequences;
        // Only data within the last seconds can be a repetition. Older numbers would be found again
        // after the sequence numbers wrapped around.
        sequences.forget_before(ns.saturating_sub(CLIENT_RETRANSMIT_NS).saturating_add(1));
        if bytes <= PROBE_BYTES {
            return None;
        }
        // The first occurrence stays in the map, so that the delay of a third one also counts from
        // the first.
        let Some((first_ns, _)) = sequences.get(sequence) else {
            sequences.put(sequence, ns, bytes);
            return None;
        };
        Some(TcpRetransmit {
            ts_ns: ns,
            connection_id: self.row.connection_id,
            kind: "client",
            first_ns,
            delay_ns: ns.saturating_sub(first_ns),
            size_bytes: bytes.into(),
            sequence: sequence.into(),
        })
    }

    /// Takes a retransmission of the data last sent with this sequence number. Returns no row if
    /// the first transmission was not seen.
    pub(super) fn retransmitted(
        &mut self,
        kind: &'static str,
        ns: i64,
        sequence: u32,
    ) -> Option<TcpRetransmit> {
        // Remembered even if the first transmission was not seen: the time of the last send depends
        // on it.
        self.last_retransmitted = Some(sequence);
        let (first_ns, bytes) = self.send.sequences.get(sequence)?;
        Some(TcpRetransmit {
            ts_ns: ns,
            connection_id: self.row.connection_id,
            kind,
            first_ns,
            delay_ns: ns.saturating_sub(first_ns),
            size_bytes: bytes.into(),
            sequence: sequence.into(),
        })
    }

    /// Takes the counts of a summary. Those of a closed connection exclude segments without data.
    pub(super) fn counted(&mut self, summary: &Summary) {
        let number = |n: u64| Some(i64::try_from(n).unwrap_or(i64::MAX));
        let row = &mut self.row;
        (row.stat_in_bytes, row.stat_out_bytes) = (
            number(summary.data_bytes_in),
            number(summary.data_bytes_out),
        );
        // Summaries of an open connection have no separate count of segments with data.
        let (packets_in, packets_out) = if self.is_closed {
            (summary.data_segments_in, summary.data_segments_out)
        } else {
            (summary.segments_in, summary.segments_out)
        };
        (row.stat_in_packets, row.stat_out_packets) = (number(packets_in), number(packets_out));
        if let Some((last, min, max)) = summary.rtt_us {
            // All bits set mean that nothing was measured.
            let ns = |us: u32| (us != u32::MAX).then(|| i64::from(us) * 1000);
            (row.rtt_ns, row.min_rtt_ns, row.max_rtt_ns) = (ns(last), ns(min), ns(max));
        }
    }

    /// The row, after the last event.
    pub(super) fn finished(mut self) -> TcpConnection {
        // After a timeout the connection made no progress since the data that was repeated, so its
        // last send is the first transmission of that data.
        let last_send_ns = match (self.row.retransmit_timeout_ns, self.last_retransmitted) {
            (Some(_), Some(sequence)) => self.send.sequences.get(sequence).map(|(ns, _)| ns),
            _ => None,
        };
        TcpConnection {
            sends: self.send.packets,
            send_bytes: self.send.bytes,
            receives: self.receive.packets,
            receive_bytes: self.receive.bytes,
            last_send_ns: last_send_ns.or(self.send.last_ns),
            last_receive_ns: self.receive.last_ns,
            max_send_gap_ns: self.send.max_gap_ns,
            max_receive_gap_ns: self.receive.max_gap_ns,
            send_bytes_per_s: self.send.rate(),
            receive_bytes_per_s: self.receive.rate(),
            ..self.row
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn rates_are_those_of_bursts_weighted_by_bytes() {
        let mut flow = Flow::default();
        // 3000 bytes in 100 ms, 1000 bytes in 50 ms, one packet alone.
        for (ms, bytes) in [(0, 1000), (100, 2000), (451, 400), (501, 600), (1000, 9999)] {
            flow.add(ms * MS, bytes);
        }
        assert_eq!(
            (flow.packets, flow.bytes, flow.max_gap_ns),
            (5, 13_999, Some(499 * MS))
        );
        // (30,000 B/s · 3000 B + 20,000 B/s · 1000 B) / 4000 B
        assert_eq!(flow.rate(), Some(27_500.0));
        assert_eq!(Flow::default().rate(), None);
    }

    #[test]
    fn a_gap_of_350_ms_belongs_to_its_burst() {
        let mut flow = Flow::default();
        flow.add(0, 100);
        flow.add(350 * MS, 250);
        assert_eq!(flow.rate(), Some(1000.0));
    }

    #[test]
    fn received_data_came_again_within_three_seconds() {
        let mut live = Live::new(0, "connect", 1, 0);
        let mut delay = |ms: i64, bytes| live.received(ms * MS, 7, bytes).map(|r| r.delay_ns / MS);
        assert_eq!([delay(0, 1), delay(1, 1)], [None, None], "probes");
        assert_eq!(
            [delay(10, 100), delay(210, 100), delay(3009, 100)],
            [None, Some(200), Some(2999)]
        );
        assert_eq!([delay(3010, 100), delay(3011, 100)], [None, Some(1)]);
    }

    #[test]
    fn what_is_sent_again_was_last_sent_then() {
        let mut live = Live::new(3, "connect", 1, 0);
        assert_eq!(live.retransmitted("retransmit", 0, 7), None);
        live.sent(10, 7, 100);
        live.sent(20, 107, 50);
        let sent_again = |live: &mut Live, ns| {
            let row = live.retransmitted("retransmit", ns, 7).unwrap();
            (
                row.connection_id,
                row.first_ns,
                row.delay_ns,
                row.size_bytes,
            )
        };
        assert_eq!(sent_again(&mut live, 50), (3, 10, 40, 100));
        live.sent(51, 7, 80);
        assert_eq!(sent_again(&mut live, 100), (3, 51, 49, 80));
    }

    #[test]
    fn only_the_last_sequence_numbers_are_remembered() {
        let mut sequences = Sequences::default();
        (0..=MAX_SEQUENCES as u32).for_each(|n| sequences.put(n, n.into(), 1));
        assert_eq!((sequences.get(0), sequences.get(1)), (None, Some((1, 1))));
        assert_eq!(sequences.order.len(), MAX_SEQUENCES);
    }
}
