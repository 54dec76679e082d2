//! Adding extracts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::SchemaRef;
use etwkit_trace::table::{RUN_ID, Table};

use crate::Extract;
use crate::lake::drop::without;
use crate::lake::layout::{self, GENERATION, RUN};
use crate::lake::log::{Line, Log, UncommittedFile};
use crate::lake::read::Key;
use crate::lake::run::{self, Run};
use crate::lake::verdict::{self, Verdict};
use crate::lake::write::{Writer, append, busy, columns, retried};
use crate::lake::{Error, Lake, Result, unique};

/// The result of adding extracts, by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Added {
    /// Runs of traces that the lake did not have.
    pub new: Vec<String>,
    /// Runs that replaced others of their traces.
    pub replaced: Vec<String>,
    /// Extracts whose runs the lake has.
    pub known: Vec<String>,
}

/// An extract that is added, and its run.
struct Chosen<'e> {
    extract: &'e Extract,
    run: Run,
}

impl Lake {
    /// Adds extracts, each with its name. Those that the lake has are skipped; a full one replaces a
    /// summary. Either all of them are there afterwards, or none.
    ///
    /// # Errors
    /// An extract cannot be read, or is of another trace with the number of one that the lake has; the
    /// lake cannot be written.
    pub fn add(&self, extracts: &[(String, Extract)]) -> Result<Added> {
        let mut added = Added::default();
        let log = self.run_log()?;
        let chosen = self.choose(&log, extracts, &mut added)?;
        // Nothing is written for runs that are known. Adding a folder again every night then costs
        // one look at the table of runs.
        if chosen.is_empty() {
            return Ok(added);
        }
        // Rows first and runs last: as long as the table of runs does not name an attempt, its rows
        // do not count, and an interruption leaves nothing that is half there.
        for table in layout::tables() {
            self.write_table(table, &chosen)?;
        }
        let runs: Vec<Run> = chosen.into_iter().map(|chosen| chosen.run).collect();
        self.commit_runs(log, &runs, &mut added)?;
        Ok(added)
    }

    /// Returns the extracts that the lake does not have, sorted by `run_id`.
    fn choose<'e>(
        &self,
        log: &Log,
        extracts: &'e [(String, Extract)],
        added: &mut Added,
    ) -> Result<Vec<Chosen<'e>>> {
        // A number of this attempt: rows of one that was interrupted belong to no run.
        // One number for all extracts of this call, so that a compaction can tell rows of an
        // attempt from those of a run.
        let generation = unique::generation();
        let all: Vec<Chosen<'e>> = extracts
            .iter()
            .map(|(name, extract)| Chosen {
                extract,
                run: Run::of_extract(extract, name, generation),
            })
            .collect();
        let ids: BTreeSet<i64> = all.iter().map(|one| one.run.run_id()).collect();
        let live = self.live_of(log, &ids)?;
        let mut chosen: BTreeMap<i64, Chosen<'e>> = BTreeMap::new();
        for one in all {
            let id = one.run.run_id();
            let known = chosen.get(&id).map(|other| &other.run);
            // The other extract of this call is the one to beat, before the run in the lake: two
            // extracts of one trace may be added at once.
            if verdict::of(&one.run, known.or_else(|| live.get(&id)))? == Verdict::Known {
                added.known.push(one.run.name().to_owned());
            } else if let Some(worse) = chosen.insert(id, one) {
                added.known.push(worse.run.name().to_owned());
            }
        }
        Ok(chosen.into_values().collect())
    }

    fn live_of(&self, log: &Log, ids: &BTreeSet<i64>) -> Result<BTreeMap<i64, Run>> {
        let runs = run::read(&self.store, log, |id| ids.contains(&id))?;
        Ok(runs.into_iter().map(|run| (run.run_id(), run)).collect())
    }

    /// Writes and commits the rows of a table. They do not count before the runs are committed.
    fn write_table(&self, table: &'static Table, chosen: &[Chosen<'_>]) -> Result<()> {
        let schema = layout::schema(table);
        // By month, because files lie in folders of one month each: questions about some nights
        // read few of them.
        let mut parts: BTreeMap<&str, Vec<&Chosen<'_>>> = BTreeMap::new();
        // A file without rows would be opened by each question for nothing.
        for one in chosen.iter().filter(|one| one.run.rows(table.name) > 0) {
            parts.entry(one.run.part()).or_default().push(one);
        }
        let mut written = Vec::new();
        for (part, of_part) in parts {
            let mut writer = Writer::new(&self.store, table.name, part, schema.clone());
            for one in of_part {
                let Some(file) = one.extract.table(table.name) else {
                    continue;
                };
                for batch in file.batches(None)? {
                    writer.write(&with_keys(table, &schema, one.run.key(), &batch?)?)?;
                }
            }
            written.extend(writer.finish()?);
        }
        // Tables that no run has rows of are not created.
        if written.is_empty() {
            return Ok(());
        }
        append(&self.store, table.name, &schema, &written)
    }

    /// Commits the runs, which makes their rows count.
    pub(crate) fn commit_runs(&self, mut log: Log, runs: &[Run], added: &mut Added) -> Result<()> {
        let ids: BTreeSet<i64> = runs.iter().map(Run::run_id).collect();
        let done = retried(&self.store, &mut log, |log| {
            // The log is read again in each attempt, since another writer may have been faster.
            // Another writer may have added the same runs in the meantime: theirs count, and the rows
            // that were written here belong to no run.
            let live = self.live_of(log, &ids)?;
            // A compaction has already dropped the rows of this attempt. Committing the run would
            // name rows that do not exist.
            if runs.iter().any(|run| log.has_left_out(run.generation())) {
                return Err(Error::Late);
            }
            let (mut kept, mut replaced, mut known) = (Vec::new(), BTreeSet::new(), Vec::new());
            for run in runs {
                let other = live.get(&run.run_id());
                match verdict::of(run, other)? {
                    Verdict::Known => known.push(run.name().to_owned()),
                    Verdict::New => kept.push(run.clone()),
                    Verdict::Better => {
                        replaced.extend(other.map(Run::key));
                        kept.push(run.clone());
                    }
                }
            }
            // The commit takes the place of the runs that it replaces, so that no reader sees a
            // trace twice or not at all.
            if !kept.is_empty() && !self.try_commit(log, &kept, &replaced)? {
                return Ok(None);
            }
            added.known.extend(known);
            for run in &kept {
                // Told apart by what was there before the commit: afterwards all of them are.
                let names = if live.contains_key(&run.run_id()) {
                    &mut added.replaced
                } else {
                    &mut added.new
                };
                names.push(run.name().to_owned());
            }
            Ok(Some(()))
        })?;
        self.forget_snapshot();
        done.ok_or_else(|| busy(RUN))
    }

    /// Commits runs in the place of others; `false` if another writer was faster.
    fn try_commit(&self, log: &mut Log, runs: &[Run], replaced: &BTreeSet<Key>) -> Result<bool> {
        let schema = run::schema()?;
        let mut lines = columns(log, RUN, &schema)?;
        // Files cannot be changed. Those with a run that is replaced are written again without it.
        let rest = without(&self.store, log, replaced)?;
        let mut written = rest.written;
        lines.extend(rest.lines);
        let new = self.write_runs(&schema, runs)?;
        lines.extend(new.iter().map(|file| Line::of_added(file, true)));
        written.extend(new);
        let is_done = log.commit(&self.store, "MERGE", lines)?;
        if !is_done {
            // The files of an attempt that lost are not named by any commit. They would only take
            // space.
            self.discard(RUN, &written);
        }
        Ok(is_done)
    }

    fn write_runs(&self, schema: &SchemaRef, runs: &[Run]) -> Result<Vec<UncommittedFile>> {
        let mut parts: BTreeMap<&str, Vec<Run>> = BTreeMap::new();
        for run in runs {
            parts.entry(run.part()).or_default().push(run.clone());
        }
        let mut written = Vec::new();
        for (part, of_part) in &parts {
            let mut writer = Writer::new(&self.store, RUN, part, schema.clone());
            writer.write(&run::batch(of_part)?)?;
            written.extend(writer.finish()?);
        }
        Ok(written)
    }

    /// Deletes files of a commit that did not take place. What cannot be deleted now is left to
    /// [`Lake::vacuum`].
    pub(crate) fn discard(&self, table: &str, written: &[UncommittedFile]) {
        for file in written {
            // An error here is none of the commit's: vacuum finds the file later.
            let _ = self.store.delete(&format!("{table}/{}", file.name));
        }
    }
}

/// Returns rows of an extract with the key of their run before their columns.
pub(crate) fn with_keys(
    table: &Table,
    schema: &SchemaRef,
    (run_id, generation): Key,
    rows: &RecordBatch,
) -> Result<RecordBatch> {
    // The keys are columns of each row and not of the file, since a file has rows of many runs.
    let count = rows.num_rows();
    let key = |value: i64| -> ArrayRef { Arc::new(Int64Array::from_value(value, count)) };
    layout::filled(table.name, schema, count, |name| {
        if name == RUN_ID.name {
            Some(key(run_id))
        } else if name == GENERATION.name {
            Some(key(generation))
        } else {
            // An extract of an older version may lack columns.
            rows.column_by_name(name).cloned()
        }
    })
}
