//! Names of instances.

use std::collections::HashMap;

use etwkit_base::index::IndexVec;
use etwkit_question::ask;
use etwkit_sql::Session;

use super::definition::{Manifest, Naming, Region, Side};
use super::events::Events;
use super::find::Instance;
use crate::Result;

etwkit_question::declare! {
    /// A process.
    row ProcessName {
        pid: i64 = "Process id.",
        name: Option<String> = "Name.",
        start_ns: Option<i64> = "Start, if in the trace.",
        stop_ns: Option<i64> = "End, if in the trace.",
    }
}

/// Names instances.
pub(super) struct Names<'m> {
    manifest: &'m Manifest,
    /// Processes by their ids, if some name needs them.
    processes: HashMap<i64, Vec<ProcessName>>,
    /// For each region, whether it has instances.
    present: IndexVec<Region, bool>,
}

impl<'m> Names<'m> {
    pub(super) fn new(
        manifest: &'m Manifest,
        instances: &IndexVec<Instance>,
        session: &Session,
    ) -> Result<Self> {
        // Any instance counts, whenever it was: a name tells whether the other region happened
        // at all.
        let mut present = IndexVec::filled(false, &manifest.regions);
        for instance in instances {
            present[instance.region] = true;
        }
        let of_pids = |naming: &Naming| matches!(naming, Naming::Field { is_pid: true, .. });
        let mut processes: HashMap<i64, Vec<ProcessName>> = HashMap::new();
        // Reading all processes is only worth it if a name needs them.
        if manifest
            .regions
            .iter()
            .any(|region| region.naming.as_ref().is_some_and(of_pids))
        {
            let all: Vec<ProcessName> = ask(
                session,
                // In a fixed order, so that the guess below is the same each time.
                "SELECT pid, name, start_ns, stop_ns FROM process ORDER BY process_key",
            )?;
            for process in all {
                processes.entry(process.pid).or_default().push(process);
            }
        }
        Ok(Self {
            manifest,
            processes,
            present,
        })
    }

    /// Returns the name of an instance.
    pub(super) fn of(&self, instance: &Instance, events: &Events) -> Option<String> {
        match self.manifest.regions[instance.region].naming.as_ref()? {
            Naming::Field { name, side, is_pid } => {
                let start = || events.value(instance.start, name);
                let stop = || events.value(instance.stop, name);
                let value = match side {
                    // Without a side, the end only matters if the start lacks the field.
                    None => start().or_else(stop),
                    Some(Side::Start) => start(),
                    Some(Side::Stop) => stop(),
                }?;
                let process = || self.process(value, instance.start_ns);
                Some(if *is_pid {
                    // A wrong id is still more than no name.
                    process().unwrap_or_else(|| value.to_owned())
                } else {
                    value.to_owned()
                })
            }
            Naming::Region {
                guid,
                present,
                absent,
            } => {
                let place = self.manifest.place(guid)?;
                Some(if self.present[place] {
                    present.clone()
                } else {
                    absent.clone()
                })
            }
        }
    }

    /// Returns the name of the process that had an id at a time.
    fn process(&self, pid: &str, ts_ns: i64) -> Option<String> {
        // The field is text, in decimal or hexadecimal digits.
        let pid = i64::try_from(super::events::integer(pid)?).ok()?;
        let all = self.processes.get(&pid)?;
        let lives = |process: &&ProcessName| {
            // A process without a start was there before the trace.
            process.start_ns.is_none_or(|start| start <= ts_ns)
                && process.stop_ns.is_none_or(|stop| stop >= ts_ns)
        };
        // Windows reuses ids. If no process with the id lived at that time, as may happen at the
        // edges of a trace, the last one is the best guess.
        all.iter().find(lives).or(all.last())?.name.clone()
    }
}
