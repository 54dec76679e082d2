//! Sums of series, as SQL.

use super::selection::ResolvedSelection;
use super::states::{OWNER, Origin};
use super::{UNKNOWN, bounds};
use crate::wire::{Range, SeriesKind};

/// Length of the intervals by which events are counted, in nanoseconds.
const SECOND: i64 = 1_000_000_000;

/// Parameters of a statement about series.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sums<'c> {
    pub(super) origin: Origin,
    pub(super) chosen: &'c ResolvedSelection,
    pub(super) range: Range,
    /// Series with a key of their own.
    pub(super) named: usize,
    /// Transfers are in `net_io`; otherwise only in `tcp_event`.
    pub(super) has_net_io: bool,
}

impl Sums<'_> {
    /// Returns SQL for the sum of each series, in the order of the answer; an empty series has no
    /// row.
    pub(super) fn sql(self, kind: SeriesKind) -> String {
        let Range {
            from_ns: a,
            to_ns: b,
        } = bounds(self.range);
        let rows = match kind {
            SeriesKind::Cpu => {
                return self.banded(&format!("{}, r AS (\n  {CPU})", self.cpu_parts()));
            }
            SeriesKind::Events => {
                return format!(
                    // Events are counted by whole seconds of the trace, so a part gets the events
                    // of all seconds that it touches.
                    "SELECT CAST(NULL AS INT) AS key, coalesce(sum(events), 0) AS total FROM event_count \
                     WHERE second BETWEEN {} AND {}",
                    a.div_euclid(SECOND),
                    b.saturating_sub(1).div_euclid(SECOND)
                );
            }
            SeriesKind::DiskBusy => format!(
                "SELECT s.disk AS owner,
    greatest(least(s.complete_ns, {b}) - greatest(s.complete_ns - s.service_ns, {a}), 0) AS amount
  FROM disk_io s
  WHERE s.service_ns > 0"
            ),
            SeriesKind::Disk => self.at(
                OWNER,
                "s.size_bytes",
                "disk_io s",
                "s.complete_ns",
                " AND s.size_bytes > 0",
            ),
            SeriesKind::File => {
                let only = " AND s.kind IN ('read', 'write') AND s.result_bytes > 0";
                self.at(OWNER, "s.result_bytes", "file_io s", "s.end_ns", only)
            }
            SeriesKind::Net if self.has_net_io => {
                self.at(OWNER, "s.size_bytes", "net_io s", "s.ts_ns", TRANSFERS)
            }
            SeriesKind::Net => {
                let table =
                    "tcp_event s LEFT JOIN tcp_connection c ON c.connection_id = s.connection_id";
                self.at(
                    "coalesce(c.process_key, -1)",
                    "s.size_bytes",
                    table,
                    "s.ts_ns",
                    TRANSFERS,
                )
            }
            SeriesKind::Marks => {
                let marks = self.at(OWNER, "1", "mark s", "s.ts_ns", "");
                format!("SELECT {UNKNOWN} AS owner, amount FROM ({marks})")
            }
        };
        self.banded(&format!("WITH r AS (\n  {rows})"))
    }

    /// Returns SQL for the amounts of rows at a moment, with the process of each; `only` has more
    /// conditions, with `AND`.
    fn at(self, owner: &str, amount: &str, table: &str, time: &str, only: &str) -> String {
        let Range {
            from_ns: a,
            to_ns: b,
        } = bounds(self.range);
        let mut all = vec![format!("{time} >= {a} AND {time} < {b}{only}")];
        all.extend(self.chosen.of_process(owner));
        format!(
            "SELECT {owner} AS owner, {amount} AS amount\n  FROM {table}\n  WHERE {}",
            all.join(" AND ")
        )
    }

    /// Returns the running time inside the range. A condition on threads replaces one on
    /// processors, as in the pyramid's answer, which has sums by one of the two.
    fn cpu_parts(self) -> String {
        let mut conditions = self.chosen.of_process(OWNER);
        if self.chosen.keys.threads.is_some() {
            conditions.extend(self.chosen.of_thread("s.thread_key"));
        } else {
            conditions.extend(self.chosen.of_core("s.cpu"));
        }
        self.origin.parts(&conditions, self.range)
    }

    /// Returns SQL for the largest sums under their keys, and the others together.
    fn banded(self, with: &str) -> String {
        format!(
            // The unknown process has no name for a series: it is ranked last, and counts with the
            // others.
            "{with}, ranked AS (
  SELECT owner, sum(amount) AS total,
    row_number() OVER (ORDER BY owner = {UNKNOWN}, sum(amount) DESC, owner) AS place
  FROM r GROUP BY owner HAVING sum(amount) <> 0), band AS (
  SELECT CASE WHEN owner <> {UNKNOWN} AND place <= {} THEN owner END AS key, total FROM ranked)
SELECT key, sum(total) AS total
FROM band
GROUP BY key
ORDER BY key IS NULL, total DESC, key",
            self.named
        )
    }
}

/// Running time of processes.
const CPU: &str = "SELECT owner, running_ns AS amount FROM part";

/// Rows that moved bytes over the network.
const TRANSFERS: &str = " AND s.kind IN ('send', 'receive') AND s.size_bytes > 0";
