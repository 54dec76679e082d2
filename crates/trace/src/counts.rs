//! Number of events of each kind in a trace.

use std::collections::BTreeMap;

use etwkit_decode::kernel::group_mask::{GroupMask, opcode};
use etwkit_etl::{HeaderKind, Identity, RawEvent, Session};
use rustc_hash::FxHashMap;

/// Counts by header kind, processor and identity, and the time between the first and the last
/// event.
#[derive(Debug)]
pub struct Counts {
    total: u64,
    /// Counts indexed by the byte of the header kind.
    by_header: [u64; 32],
    by_cpu: Vec<u64>,
    /// Kernel events by hook ID and version, as far as the version is below [`DIRECT_VERSIONS`]:
    /// nearly all events of a large trace are of these.
    direct: Vec<u64>,
    by_identity: FxHashMap<Identity, u64>,
    /// Kernel events that were enabled in any file.
    enabled: GroupMask,
    /// Raw times of the first and the last event of each file, headers excluded.
    by_file: Vec<Option<(i64, i64)>>,
    first_time: i64,
    last_time: i64,
}

/// Versions of kernel events that are counted without a hash table.
const DIRECT_VERSIONS: usize = 8;

impl Default for Counts {
    fn default() -> Self {
        Self {
            total: 0,
            by_header: [0; 32],
            by_cpu: Vec::new(),
            // One number for each of 65536 hook IDs and 8 versions: 4 MiB, which is cheaper than
            // hashing the identity of every event.
            direct: vec![0; DIRECT_VERSIONS << 16],
            by_identity: FxHashMap::default(),
            enabled: GroupMask::default(),
            by_file: Vec::new(),
            first_time: i64::MAX,
            last_time: i64::MIN,
        }
    }
}

impl Counts {
    /// Takes one event. Returns whether it is the first one of its kind.
    #[inline]
    pub fn add(&mut self, event: &RawEvent<'_>) -> bool {
        self.total += 1;
        if let Some(count) = self.by_header.get_mut(event.kind as usize) {
            *count += 1;
        }
        match self.by_cpu.get_mut(usize::from(event.cpu)) {
            Some(count) => *count += 1,
            None => self.first_of_cpu(event.cpu),
        }
        self.first_time = self.first_time.min(event.timestamp);
        self.last_time = self.last_time.max(event.timestamp);
        self.reach(event);
        let version = usize::from(event.version());
        // Versions come from the file, so the table covers only those that exist and a hash table
        // takes the rest.
        let direct = event.hook_id().filter(|_| version < DIRECT_VERSIONS);
        match direct.and_then(|hook| {
            self.direct
                .get_mut(usize::from(hook) * DIRECT_VERSIONS + version)
        }) {
            Some(count) => {
                *count += 1;
                *count == 1
            }
            None => self.other(event),
        }
    }

    /// Extends the times of the event's file.
    #[inline]
    fn reach(&mut self, event: &RawEvent<'_>) {
        // Every file has a header event, however late its other events come.
        if let Some(hook) = event.hook_id().filter(|hook| *hook < 0x100) {
            self.described(hook, event);
            return;
        }
        let file = usize::from(event.file);
        if self.by_file.len() <= file {
            self.by_file.resize(file + 1, None);
        }
        if let Some(times) = self.by_file.get_mut(file) {
            let time = event.timestamp;
            let (first, last) = times.unwrap_or((time, time));
            *times = Some((first.min(time), last.max(time)));
        }
    }

    /// Takes an event about the recording: the kernel events that it enables.
    #[cold]
    fn described(&mut self, hook: u16, event: &RawEvent<'_>) {
        let is_mask = [opcode::EXTENSION, opcode::END_EXTENSION].contains(&(hook as u8));
        if let Some(mask) = GroupMask::parse(event.payload()).filter(|_| is_mask) {
            self.enabled.add(mask);
        }
    }

    #[cold]
    fn first_of_cpu(&mut self, cpu: u16) {
        self.by_cpu.resize(usize::from(cpu), 0);
        self.by_cpu.push(1);
    }

    #[inline(never)]
    fn other(&mut self, event: &RawEvent<'_>) -> bool {
        let count = self.by_identity.entry(event.identity()).or_default();
        *count += 1;
        *count == 1
    }

    /// All events, the header event included.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Kernel events that were enabled at any time.
    #[must_use]
    pub const fn enabled(&self) -> GroupMask {
        self.enabled
    }

    /// Smallest and largest raw time stamp.
    #[must_use]
    pub fn times(&self) -> Option<(i64, i64)> {
        (self.total > 0).then_some((self.first_time, self.last_time))
    }

    /// Raw times of the first and the last event of a file, its header excluded; `None` if it has
    /// none.
    #[must_use]
    pub fn times_of_file(&self, file: usize) -> Option<(i64, i64)> {
        self.by_file.get(file).copied().flatten()
    }

    /// Number of the highest processor with events, plus 1.
    #[must_use]
    pub fn processors(&self) -> usize {
        self.by_cpu.len()
    }

    /// Events of each kind, in no order.
    pub fn identities(&self) -> impl Iterator<Item = (Identity, u64)> {
        let direct = self
            .direct
            .iter()
            .enumerate()
            .filter(|(_, n)| **n > 0)
            .map(|(index, n)| {
                let [opcode, group] = ((index / DIRECT_VERSIONS) as u16).to_le_bytes();
                (
                    Identity::Kernel {
                        group,
                        opcode,
                        version: (index % DIRECT_VERSIONS) as u8,
                    },
                    *n,
                )
            });
        direct.chain(self.by_identity.iter().map(|(identity, n)| (*identity, *n)))
    }

    /// Group, opcode, version of kernel events, ordered.
    #[must_use]
    pub fn kernel(&self) -> BTreeMap<(u8, u8, u8), u64> {
        let kernel = |(identity, count)| match identity {
            Identity::Kernel {
                group,
                opcode,
                version,
            } => Some(((group, opcode, version), count)),
            _ => None,
        };
        self.identities().filter_map(kernel).collect()
    }

    /// Provider, ID, version and opcode of the other events, ordered by the text of the provider.
    /// Classic events have no ID, messages neither version nor opcode.
    #[must_use]
    pub fn provider(&self) -> BTreeMap<(String, u16, u16, u8), u64> {
        let mut out = BTreeMap::new();
        for (identity, count) in &self.by_identity {
            let Some(key) = provider_key(*identity) else {
                continue;
            };
            // A class and a provider may share a GUID.
            *out.entry(key).or_default() += count;
        }
        out
    }

    /// Counts by header kind, ordered.
    #[must_use]
    pub fn headers(&self) -> BTreeMap<HeaderKind, u64> {
        let count = |kind: HeaderKind| self.by_header.get(kind as usize).map_or(0, |count| *count);
        HeaderKind::ALL
            .into_iter()
            .map(|kind| (kind, count(kind)))
            .filter(|(_, n)| *n > 0)
            .collect()
    }

    /// Counts by processor of the buffer, ordered.
    #[must_use]
    pub fn cpus(&self) -> BTreeMap<u16, u64> {
        // A broken header can name processor 65535, after which an open range would overflow.
        self.by_cpu
            .iter()
            .zip(0..=u16::MAX)
            .filter(|(n, _)| **n > 0)
            .map(|(n, cpu)| (cpu, *n))
            .collect()
    }
}

/// The key of [`Counts::provider`]; `None` for kernel events.
pub(crate) fn provider_key(identity: Identity) -> Option<(String, u16, u16, u8)> {
    Some(match identity {
        Identity::Kernel { .. } => return None,
        Identity::Classic {
            class,
            opcode,
            version,
        } => (class.to_string(), 0, version, opcode),
        Identity::Manifest {
            provider,
            id,
            version,
            opcode,
        } => (provider.to_string(), id, u16::from(version), opcode),
        Identity::Message { guid, number } => (guid.to_string(), number, 0, 0),
    })
}

/// The end of the trace in raw ticks: the end of the recording if all files state it, otherwise the
/// later of the last event and the stated ends. Events after the cut of a file were recorded but
/// are unknown, so a cut trace also ends with its last event.
pub(crate) fn end_of(session: &Session, counts: &Counts) -> i64 {
    let last = counts.times().map_or(session.clock().t0, |(_, last)| last);
    let (ends, is_closed) = session.ends();
    let end = match ends {
        Some(end) if is_closed => end,
        Some(end) => end.max(last),
        None => last,
    };
    if session.is_cut() { end.min(last) } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_processor_and_unknown_versions_are_counted() {
        let mut counts = Counts::default();
        for (cpu, version) in [(0, 2), (u16::MAX, 2), (u16::MAX, 200)] {
            let mut record = vec![version, 0, 0x11, 0xC0, 16, 0, 46, 15];
            record.extend([0; 8]);
            counts.add(&RawEvent {
                kind: HeaderKind::Perfinfo64,
                timestamp: 0,
                cpu,
                file: 0,
                buffer: 0,
                position: 0x48,
                record: &record,
            });
        }
        assert_eq!(
            counts.cpus().into_iter().collect::<Vec<_>>(),
            [(0, 1), (u16::MAX, 2)]
        );
        assert_eq!(
            counts.kernel().into_iter().collect::<Vec<_>>(),
            [((15, 46, 2), 2), ((15, 46, 200), 1)]
        );
    }
}
