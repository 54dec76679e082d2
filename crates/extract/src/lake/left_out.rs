//! The attempts whose rows compaction leaves out.
//!
//! The log of `run` names them before their rows go. An attempt that is named there commits no run any
//! more, so the order of commits decides, and not the clocks of two machines.

use std::collections::BTreeSet;

use crate::lake::layout::RUN;
use crate::lake::log::Log;
use crate::lake::read::Key;
use crate::lake::write::{busy, retried};
use crate::lake::{Lake, Result};

/// The attempts that a compaction has named.
pub(crate) struct LeftOut {
    run_log: Log,
    named: BTreeSet<i64>,
    /// The keys of the rows that counted when attempts were named last. An attempt commits all of its
    /// runs at once, so those of a named one do not change.
    live: BTreeSet<Key>,
}

impl LeftOut {
    pub(crate) fn new(lake: &Lake) -> Result<Self> {
        let run_log = lake.run_log()?;
        Ok(Self {
            live: lake.keys_of(&run_log)?,
            run_log,
            named: BTreeSet::new(),
        })
    }

    /// The keys of the rows that count.
    pub(crate) const fn live(&self) -> &BTreeSet<Key> {
        &self.live
    }

    /// Names the attempts of rows that belong to no run; `false` if some of them belong to a run that
    /// was committed in the meantime, and then they have to stay.
    pub(crate) fn name(&mut self, lake: &Lake, dead: &BTreeSet<Key>) -> Result<bool> {
        let attempts = dead.iter().map(|(_, generation)| *generation);
        let new: BTreeSet<i64> = attempts
            .filter(|generation| !self.named.contains(generation))
            .collect();
        // Named already by an earlier table. What was live then is live now, unless somebody
        // committed it.
        if new.is_empty() {
            return Ok(self.live.is_disjoint(dead));
        }
        let live = retried(&lake.store, &mut self.run_log, |log| {
            let live = lake.keys_of(log)?;
            // If one of them is live by now nothing is named, and the rows stay.
            if !live.is_disjoint(dead) || log.leave_out(&lake.store, &new)? {
                return Ok(Some(live));
            }
            Ok(None)
        })?;
        let live = live.ok_or_else(|| busy(RUN))?;
        let is_named = live.is_disjoint(dead);
        if is_named {
            self.named.extend(new);
            self.live = live;
        }
        Ok(is_named)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    use etwkit_trace::table::{Mark, Row};

    use crate::Manifest;
    use crate::lake::add::with_keys;
    use crate::lake::write::{Writer, append};
    use crate::lake::{Added, Error, Run, layout, unique};
    use crate::manifest::{Clock, Detail, Machine, SourceFile, TraceSource};

    use super::*;

    const RUN_ID: i64 = 7;

    /// A lake with two rows of an attempt that has not committed its run yet.
    struct Half {
        _folder: tempfile::TempDir,
        lake: Lake,
        /// As the attempt read it first.
        log: Log,
        run: Run,
    }

    impl Half {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let lake = Lake::init(&folder.path().join("lake")).unwrap();
            let log = lake.run_log().unwrap();
            let key = (RUN_ID, unique::generation());
            let (table, schema) = (Mark::TABLE, layout::schema(Mark::TABLE));
            let ts_ns: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
            let rows = RecordBatch::try_from_iter([("ts_ns", ts_ns)]).unwrap();
            let mut writer = Writer::new(&lake.store, table.name, "2026-11", schema.clone());
            let rows = with_keys(table, &schema, key, &rows).unwrap();
            writer.write(&rows).unwrap();
            let written = writer.finish().unwrap();
            append(&lake.store, table.name, &schema, &written).unwrap();
            let manifest = serde_json::to_string(&manifest()).unwrap();
            Self {
                _folder: folder,
                lake,
                log,
                run: Run::of_row(key, ("half", manifest.as_str(), None)).unwrap(),
            }
        }

        fn commit(&self) -> Result<()> {
            let runs = [self.run.clone()];
            let log = self.log.clone();
            self.lake.commit_runs(log, &runs, &mut Added::default())
        }
    }

    fn manifest() -> Manifest {
        let source = TraceSource {
            files: vec![SourceFile {
                name: "half.etl".to_owned(),
                archive: None,
                size_bytes: 100,
            }],
            hash: format!("{RUN_ID:016x}"),
        };
        let clock = Clock {
            kind: "qpc".to_owned(),
            frequency: 10_000_000,
            start_utc: "2026-11-01T10:00:00Z".to_owned(),
            start_filetime: 134_379_648_000_000_000,
        };
        Manifest::new(Detail::Full, source, clock, Machine::default())
    }

    #[test]
    fn a_run_whose_rows_were_left_out_is_not_committed() {
        let half = Half::new();
        // By the clock of the compaction, the rows are old.
        assert_eq!(half.lake.compact(Duration::ZERO).unwrap().left_out, 2);
        let error = half.commit().unwrap_err();
        assert!(matches!(error, Error::Late), "{error}");
        assert!(half.lake.runs().unwrap().is_empty());
    }

    #[test]
    fn rows_of_a_run_that_was_committed_in_the_meantime_stay() {
        let half = Half::new();
        let mut left_out = LeftOut::new(&half.lake).unwrap();
        let dead = BTreeSet::from([half.run.key()]);
        assert!(left_out.live().is_empty());
        half.commit().unwrap();
        assert!(!left_out.name(&half.lake, &dead).unwrap());
        assert_eq!(half.lake.compact(Duration::ZERO).unwrap().left_out, 0);
        // Rows of the same attempt whose run another one had committed are of no run.
        let other = BTreeSet::from([(RUN_ID + 1, half.run.generation())]);
        assert!(left_out.name(&half.lake, &other).unwrap());
        assert!(!left_out.name(&half.lake, &dead).unwrap());
    }
}
