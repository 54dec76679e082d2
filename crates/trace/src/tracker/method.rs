//! .NET methods: the method at an address of a process, at a given time.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::il_map::IlMap;

/// Code of one .NET method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// Start of its code.
    pub start: u64,
    /// Bytes of code.
    pub size: u32,
    /// Namespace and type.
    pub namespace: Arc<str>,
    /// Name.
    pub name: Arc<str>,
    /// Signature.
    pub signature: Arc<str>,
    /// ID of the method in its runtime.
    pub method_id: u64,
    /// ID of its module.
    pub module_id: u64,
    /// Metadata token in its module; 0 without metadata.
    pub token: u32,
    /// `MethodFlags`.
    pub flags: u32,
    /// Raw time from which its code exists; `i64::MIN` for a method described by a rundown.
    pub begin: i64,
    /// Raw time at which its code was freed.
    pub end: i64,
    /// Offsets in intermediate language, if the trace has them.
    pub il_map: Option<Arc<IlMap>>,
}

impl Method {
    fn is_there_at(&self, timestamp: i64) -> bool {
        (self.begin..=self.end).contains(&timestamp)
    }

    /// The raw times of the changes: the first one with its code, and the first one without it.
    fn change_times(&self) -> impl Iterator<Item = i64> {
        let begin = Some(self.begin).filter(|t| *t != i64::MIN);
        // The range includes its end.
        let end = Some(self.end).filter(|t| *t != i64::MAX).map(|t| t + 1);
        begin.into_iter().chain(end)
    }
}

/// All .NET methods of a session, by process ID.
#[derive(Debug, Default)]
pub struct MethodTracker {
    methods: FxHashMap<u32, Vec<Method>>,
    /// Process ID, start and ID of each .NET method, and the position of the latest one among the
    /// methods of its process ID, valid until they are sorted.
    known: FxHashMap<(u32, u64, u64), usize>,
    reach: FxHashMap<u32, Vec<u64>>,
}

impl MethodTracker {
    /// Takes a method that was loaded or is described by a rundown.
    pub fn add(&mut self, pid: u32, method: Method) {
        let methods = self.methods.entry(pid).or_default();
        let key = (pid, method.start, method.method_id);
        self.known.insert(key, methods.len());
        methods.push(method);
    }

    /// Takes a function of a script, which no count of .NET methods has.
    pub fn add_script(&mut self, pid: u32, method: Method) {
        self.methods.entry(pid).or_default().push(method);
    }

    /// True if code of that method at that address was seen before.
    #[must_use]
    pub fn is_known(&self, pid: u32, start: u64, method_id: u64) -> bool {
        self.known.contains_key(&(pid, start, method_id))
    }

    /// The code of a method at an address that was added last.
    pub(super) fn latest_mut(
        &mut self,
        pid: u32,
        start: u64,
        method_id: u64,
    ) -> Option<&mut Method> {
        let at = *self.known.get(&(pid, start, method_id))?;
        self.methods.get_mut(&pid)?.get_mut(at)
    }

    /// Takes the unload of the method whose code starts at `start`.
    pub fn unload(&mut self, pid: u32, start: u64, timestamp: i64) {
        // Newest first: code addresses are reused, and the unload belongs to the latest method
        // there.
        let methods = self.methods.get_mut(&pid).map(|m| m.iter_mut().rev());
        if let Some(method) =
            methods.and_then(|mut m| m.find(|m| m.start == start && m.end == i64::MAX))
        {
            method.end = timestamp;
        }
    }

    /// Sorts for [`MethodTracker::find`]; call it once after all events.
    pub fn finish(&mut self) {
        for (pid, methods) in &mut self.methods {
            // The largest end so far lets the backward search stop early, as in the index of
            // images: a long method can hold addresses far after the starts of later ones.
            methods.sort_by_key(|m| (m.start, m.begin));
            let mut reach = 0;
            let ends = methods.iter().map(|m| {
                reach = reach.max(m.start.saturating_add(m.size.into()));
                reach
            });
            self.reach.insert(*pid, ends.collect());
        }
    }

    /// The method at an address at a raw time; of several the latest one.
    #[must_use]
    pub fn find(&self, pid: u32, address: u64, timestamp: i64) -> Option<&Method> {
        self.methods
            .get(&pid)?
            .get(self.index_at(pid, address, timestamp)?)
    }

    /// As [`MethodTracker::find`]. If no method existed at that time, returns the last one ever
    /// seen at the address: the load of a method is logged after its compilation, and can be late
    /// or lost.
    #[must_use]
    pub fn find_known(&self, pid: u32, address: u64, timestamp: i64) -> Option<&Method> {
        let then = self.last_holding(pid, address, |m| m.is_there_at(timestamp));
        let index = then.or_else(|| self.last_holding(pid, address, |_| true))?;
        self.methods.get(&pid)?.get(index)
    }

    /// The method at a position among those of its process ID.
    #[must_use]
    pub fn get(&self, pid: u32, index: usize) -> Option<&Method> {
        self.methods.get(&pid)?.get(index)
    }

    /// Position of the method that [`MethodTracker::find`] finds among the methods of its process
    /// ID, in the order of [`MethodTracker::processes`].
    #[must_use]
    pub fn index_at(&self, pid: u32, address: u64, timestamp: i64) -> Option<usize> {
        self.last_holding(pid, address, |m| m.is_there_at(timestamp))
    }

    fn last_holding(
        &self,
        pid: u32,
        address: u64,
        is_meant: impl Fn(&Method) -> bool,
    ) -> Option<usize> {
        let methods = self.methods.get(&pid)?;
        let reach = self.reach.get(&pid)?;
        let behind = methods.partition_point(|m| m.start <= address);
        let candidates = methods
            .get(..behind)?
            .iter()
            .zip(reach.get(..behind)?)
            .enumerate()
            .rev();
        let mut best: Option<(usize, i64)> = None;
        for (index, (method, reach)) in candidates {
            if *reach <= address {
                break;
            }
            let holds = address - method.start < u64::from(method.size);
            if holds && is_meant(method) && best.is_none_or(|(_, begin)| method.begin > begin) {
                best = Some((index, method.begin));
            }
        }
        best.map(|(index, _)| index)
    }

    /// By process ID, the raw times at which [`MethodTracker::index_at`] can start to answer with
    /// another method: starts and ends.
    pub fn changes(&self) -> impl Iterator<Item = (u32, Vec<i64>)> + '_ {
        self.methods.iter().map(|(pid, methods)| {
            (
                *pid,
                methods.iter().flat_map(Method::change_times).collect(),
            )
        })
    }

    /// True if a rundown listed methods of the process ID that existed before the trace.
    #[must_use]
    pub fn has_rundown(&self, pid: u32) -> bool {
        let methods = self.methods.get(&pid);
        methods.is_some_and(|methods| methods.iter().any(|method| method.begin == i64::MIN))
    }

    /// Distinct methods of each process ID: one that was loaded again at its old place counts once.
    #[must_use]
    pub fn distinct(&self) -> BTreeMap<u32, u64> {
        let mut counts = BTreeMap::new();
        for (pid, ..) in self.known.keys() {
            *counts.entry(*pid).or_default() += 1;
        }
        counts
    }

    /// The methods of each process ID.
    pub fn processes(&self) -> impl Iterator<Item = (u32, &[Method])> + '_ {
        self.methods
            .iter()
            .map(|(pid, methods)| (*pid, methods.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(name: &str, start: u64, begin: i64) -> Method {
        let text = |t: &str| Arc::<str>::from(t);
        Method {
            start,
            size: 0x10,
            namespace: text("N"),
            name: text(name),
            signature: text(""),
            method_id: 0,
            module_id: 0,
            token: 0,
            flags: 0,
            begin,
            end: i64::MAX,
            il_map: None,
        }
    }

    #[test]
    fn reused_code_addresses_mean_the_method_of_their_time() {
        let mut tracker = MethodTracker::default();
        tracker.add(8, method("a", 0x100, 10));
        tracker.unload(8, 0x100, 20);
        tracker.add(8, method("b", 0x108, 30));
        tracker.add(8, method("b", 0x108, 40));
        assert_eq!(tracker.distinct(), BTreeMap::from([(8, 2)]));
        tracker.finish();
        let name = |address, time| tracker.find(8, address, time).map(|m| &*m.name);
        assert_eq!(
            [5, 10, 20, 25].map(|t| name(0x10f, t)),
            [None, Some("a"), Some("a"), None]
        );
        assert_eq!(
            [name(0x108, 30), name(0x107, 30), name(0x118, 30)],
            [Some("b"), None, None]
        );
        assert_eq!(tracker.find(9, 0x100, 15), None);
        let known = |address, time| tracker.find_known(8, address, time).map(|m| &*m.name);
        assert_eq!(
            [5, 20, 25, 30].map(|t| known(0x10f, t)),
            [Some("b"), Some("a"), Some("b"), Some("b")]
        );
        assert_eq!(
            [known(0x101, 5), known(0x101, 25), known(0x118, 30)],
            [Some("a"), Some("a"), None]
        );
    }
}
