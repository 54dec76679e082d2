//! Chips as lists of keys for a pyramid, and the same conditions as SQL.

use etwkit_pyramid as pyramid;
use etwkit_sql::Session;

use super::UNKNOWN;
use crate::cells;
use crate::problem::{Problem, Result};
use crate::select::{keys, processes};
use crate::wire::{Field, LaneKind, Selection};

/// A selection, resolved for a pyramid.
#[derive(Debug, Default)]
pub(super) struct ResolvedSelection {
    pub(super) keys: pyramid::Selection,
    /// Fields of chips that a pyramid does not have.
    pub(super) not_applied: Vec<Field>,
    processes: Vec<Condition>,
    threads: Vec<Condition>,
}

/// One chip: only rows with one of these keys, or only others.
#[derive(Debug)]
struct Condition {
    keys: Vec<i32>,
    exclude: bool,
}

impl Condition {
    fn sql(&self, value: &str) -> String {
        match (self.keys.is_empty(), self.exclude) {
            // `IN ()` is not valid SQL: an empty list lets nothing through, or everything if it is
            // excluded.
            (true, exclude) => exclude.to_string(),
            (false, false) => is_one_of(value, &self.keys),
            (false, true) => format!("NOT {}", is_one_of(value, &self.keys)),
        }
    }
}

/// Returns the condition that a value is one of these keys.
pub(super) fn is_one_of(value: &str, keys: &[i32]) -> String {
    let keys: Vec<String> = keys.iter().map(i32::to_string).collect();
    if keys.is_empty() {
        "false".to_owned()
    } else {
        format!("{value} IN ({})", keys.join(", "))
    }
}

/// Resolves the chips of a selection for a pyramid.
pub(super) fn chosen(session: &Session, selection: &Selection) -> Result<ResolvedSelection> {
    let mut chosen = ResolvedSelection::default();
    for chip in &selection.chips {
        let (list, of, named) = match chip.field {
            Field::Process => (
                &mut chosen.keys.processes,
                LaneKind::Process,
                keys(&chip.values)?,
            ),
            Field::ProcessName => (
                &mut chosen.keys.processes,
                LaneKind::Process,
                processes(session, &chip.values)?,
            ),
            Field::Thread => (
                &mut chosen.keys.threads,
                LaneKind::Thread,
                keys(&chip.values)?,
            ),
            Field::Core => (&mut chosen.keys.cores, LaneKind::Core, keys(&chip.values)?),
            other => {
                if !chosen.not_applied.contains(&other) {
                    chosen.not_applied.push(other);
                }
                continue;
            }
        };
        // A pyramid takes only lists of included keys, so an exclusion becomes the list of all
        // other keys.
        let taken = if chip.exclude {
            all(session, of)?
                .into_iter()
                .filter(|key| !named.contains(key))
                .collect()
        } else {
            named.clone()
        };
        // All chips have to hold, so only the keys that each of them lets through remain.
        *list = Some(match list.take() {
            Some(before) => before
                .into_iter()
                .filter(|key| taken.contains(key))
                .collect(),
            None => taken,
        });
        let condition = Condition {
            keys: named,
            exclude: chip.exclude,
        };
        match of {
            LaneKind::Process => chosen.processes.push(condition),
            LaneKind::Thread => chosen.threads.push(condition),
            LaneKind::Core => {}
        }
    }
    Ok(chosen)
}

impl ResolvedSelection {
    /// Returns the conditions on processes, for the given key column.
    pub(super) fn of_process(&self, key: &str) -> Vec<String> {
        self.processes
            .iter()
            .map(|condition| condition.sql(key))
            .collect()
    }

    /// Returns the conditions of threads.
    pub(super) fn of_thread(&self, key: &str) -> Vec<String> {
        self.threads
            .iter()
            .map(|condition| condition.sql(key))
            .collect()
    }

    /// Returns the condition of processors, if there is one.
    pub(super) fn of_core(&self, key: &str) -> Option<String> {
        self.keys.cores.as_ref().map(|cores| is_one_of(key, cores))
    }
}

/// Returns the keys of all processors, processes or threads. The keys of processes include the key
/// of the unknown process: the exclusion of one process keeps everything else.
fn all(session: &Session, of: LaneKind) -> Result<Vec<i32>> {
    let keys = |sql| cells::keys(session, sql, 1_000_000).map_err(Problem::from);
    match of {
        LaneKind::Core => {
            let count = keys("SELECT processors FROM trace")?
                .first()
                .copied()
                .ok_or_else(|| Problem::lacking("the number of processors"))?;
            Ok((0..count).collect())
        }
        LaneKind::Process => {
            let mut known = keys("SELECT process_key FROM process")?;
            known.push(UNKNOWN);
            Ok(known)
        }
        LaneKind::Thread => keys("SELECT thread_key FROM thread"),
    }
}
