//! .NET modules: which assembly an ID in a runtime means.

use std::sync::Arc;

use etwkit_decode::kernel::merge::Pdb;
use rustc_hash::FxHashMap;

/// Maximum number of events of one module: it is loaded once and listed by at most two rundowns, in
/// two forms.
const MAX_EVENTS: usize = 8;

/// The data of an event about a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeModule {
    /// Raw time of the event.
    pub time: i64,
    /// Path of the assembly; its name if it has no file.
    pub path: Arc<str>,
    /// Its symbol file.
    pub pdb: Option<Arc<Pdb>>,
}

/// All .NET modules of a session, by process ID and module ID. Windows reuses process IDs, and
/// runtimes place modules at the same addresses, so one pair can refer to several modules.
#[derive(Debug, Default)]
pub struct RuntimeModuleTracker(FxHashMap<(u32, u64), Vec<RuntimeModule>>);

impl RuntimeModuleTracker {
    /// Takes an event. One without a path names nothing.
    pub fn add(&mut self, pid: u32, module_id: u64, module: RuntimeModule) {
        let events = self.0.entry((pid, module_id)).or_default();
        if !module.path.is_empty() && events.len() < MAX_EVENTS {
            events.push(module);
        }
    }

    /// The module with an ID in the process that `is_of` selects by the time of its events. If no
    /// event is from that process, the module that all events agree on: a rundown can be written by
    /// a process that seems to have ended.
    #[must_use]
    pub fn find(
        &self,
        pid: u32,
        module_id: u64,
        is_of: impl Fn(i64) -> bool,
    ) -> Option<&RuntimeModule> {
        let events = self.0.get(&(pid, module_id))?;
        let own = events.iter().filter(|event| is_of(event.time));
        // The event with the symbol file is the most complete one.
        let mut with_pdb = own.clone().filter(|event| event.pdb.is_some());
        let mut any = own;
        with_pdb.next().or_else(|| any.next()).or_else(|| {
            let first = events.first()?;
            events
                .iter()
                .all(|event| event.path == first.path)
                .then_some(first)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tracker(events: &[(i64, &str)]) -> RuntimeModuleTracker {
        let mut tracker = RuntimeModuleTracker::default();
        for (time, path) in events {
            tracker.add(
                7,
                0x10,
                RuntimeModule {
                    time: *time,
                    path: Arc::from(*path),
                    pdb: None,
                },
            );
        }
        tracker
    }

    fn path_at(tracker: &RuntimeModuleTracker, times: std::ops::Range<i64>) -> Option<&str> {
        tracker
            .find(7, 0x10, |time| times.contains(&time))
            .map(|module| &*module.path)
    }

    #[test]
    fn a_reused_process_id_means_another_module() {
        let both = tracker(&[(5, "a.dll"), (25, "b.dll")]);
        assert_eq!(
            (path_at(&both, 0..10), path_at(&both, 20..30)),
            (Some("a.dll"), Some("b.dll"))
        );
        assert_eq!(path_at(&both, 40..50), None, "either could be meant");
        assert_eq!(
            path_at(&tracker(&[(5, "a.dll"), (6, "a.dll")]), 40..50),
            Some("a.dll")
        );
        assert_eq!(path_at(&tracker(&[(5, "")]), 0..10), None);
        assert!(tracker(&[]).find(7, 0x10, |_| true).is_none());
    }
}
