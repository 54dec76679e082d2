//! The log of a table, as Delta has it: numbered files of JSON lines, each a commit, and checkpoints
//! with the state after one of them.

mod action;
mod checkpoint;
mod file;
mod name;
mod save;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;

use crate::lake::store::Store;
use crate::lake::unique::{is_older, time_of_millis};
use crate::lake::{Error, Result};
use action::{Protocol, READER, Remove, Transaction, WRITER};

pub(crate) use action::{Line, MetaData};
pub(crate) use file::{File, UncommittedFile};
pub(crate) use name::{FOLDER, LAST_CHECKPOINT};

/// Commits after which there is a new checkpoint.
const EVERY: u64 = 10;

/// Actions of a checkpoint for each commit after it. With more actions there are fewer checkpoints, so
/// that the bytes of all of them do not grow with the square of the commits.
const ACTIONS_A_COMMIT: u64 = 100;

/// Time for which checkpoints name removed files, as Delta has it by default.
const REMEMBERED: Duration = Duration::from_secs(7 * 86_400);

/// The state of a table after the last commit that was read.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    table: String,
    /// The last version; `None` if the table does not exist.
    version: Option<u64>,
    /// The version of the newest checkpoint that was read or written.
    checkpoint: Option<u64>,
    /// The reason for which a newer checkpoint was not read.
    damage: Option<String>,
    protocol: Option<Protocol>,
    metadata: Option<MetaData>,
    transactions: BTreeMap<String, Transaction>,
    live: BTreeMap<String, File>,
    removed: BTreeMap<String, Remove>,
    added: usize,
    /// The attempts whose rows compaction leaves out, as far as commits that were read name them.
    left_out: BTreeSet<i64>,
}

impl Log {
    /// Reads the log of a table, which need not exist.
    pub(crate) fn load(store: &Store, table: &str) -> Result<Self> {
        // Listed before the commits are read: other writers add some in the meantime.
        let names = store.names(&format!("{table}/{FOLDER}"))?;
        let mut log = Self::start(store, table, &names)?;
        log.refresh(store)?;
        let newest = names.iter().filter_map(|name| name::commit_version(name));
        if log.version < newest.max() {
            return Err(log.wrong(&format!("its commit {}, which is missing", log.next())));
        }
        Ok(log)
    }

    fn new(table: &str) -> Self {
        Self {
            table: table.to_owned(),
            version: None,
            checkpoint: None,
            damage: None,
            protocol: None,
            metadata: None,
            transactions: BTreeMap::new(),
            live: BTreeMap::new(),
            removed: BTreeMap::new(),
            added: 0,
            left_out: BTreeSet::new(),
        }
    }

    /// Returns the state at the newest checkpoint that can be read; without one, the state before the
    /// first commit. Other programs may delete the commits before a checkpoint.
    fn start(store: &Store, table: &str, names: &[String]) -> Result<Self> {
        let checkpoints = names
            .iter()
            .filter_map(|name| name::checkpoint_version(name));
        let mut checkpoints: Vec<u64> = checkpoints.collect();
        checkpoints.sort_unstable();
        let mut damage = None;
        for version in checkpoints.into_iter().rev() {
            match Self::at_checkpoint(store, table, version) {
                Ok(log) => return Ok(log.after(damage)),
                Err(error) => damage = damage.or(Some(error)),
            }
        }
        let log = Self::new(table);
        // Another writer may have created the table in the meantime.
        if names.is_empty() || store.size(&name::commit(table, 0))?.is_some() {
            return Ok(log.after(damage));
        }
        Err(damage.unwrap_or_else(|| log.wrong("its first commit, or a checkpoint in one file")))
    }

    fn at_checkpoint(store: &Store, table: &str, version: u64) -> Result<Self> {
        let mut log = Self::new(table);
        checkpoint::each(store, table, version, |line| log.apply(line))?;
        if log.metadata.is_none() {
            return Err(log.wrong("columns of the table in its checkpoint"));
        }
        log.version = Some(version);
        log.checkpoint = Some(version);
        Ok(log)
    }

    /// This state, with the reason for which a newer checkpoint was not read.
    fn after(self, damage: Option<Error>) -> Self {
        Self {
            damage: damage.map(|error| error.to_string()),
            ..self
        }
    }

    /// Reads the commits that were added since; `true` if there are any.
    pub(crate) fn refresh(&mut self, store: &Store) -> Result<bool> {
        let before = self.version;
        while let Some(commit) = store.read(&name::commit(&self.table, self.next()))? {
            let text = std::str::from_utf8(&commit).map_err(|_| self.wrong("texts in UTF-8"))?;
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                let parsed = serde_json::from_str(line);
                self.apply(parsed.map_err(|error| self.wrong(&format!("actions ({error})")))?)?;
                self.left_out.extend(action::left_out(line));
            }
            self.version = Some(self.next());
        }
        Ok(self.version != before)
    }

    fn apply(&mut self, line: Line) -> Result<()> {
        if let Some(protocol) = line.protocol {
            self.check(&protocol)?;
            self.protocol = Some(protocol);
        }
        if let Some(metadata) = line.meta_data {
            self.metadata = Some(metadata);
        }
        if let Some(transaction) = line.txn {
            let app = transaction.app_id.clone();
            self.transactions.insert(app, transaction);
        }
        if let Some(remove) = line.remove {
            let name = file::name_of(&remove.path).map_err(|expected| self.wrong(&expected))?;
            self.live.remove(&name);
            self.removed.insert(name, remove);
        }
        if let Some(add) = line.add {
            self.added += 1;
            let file = File::of(add, self.added).map_err(|expected| self.wrong(&expected))?;
            self.removed.remove(&file.name);
            self.live.insert(file.name.clone(), file);
        }
        Ok(())
    }

    fn check(&self, protocol: &Protocol) -> Result<()> {
        let (reader, writer) = (protocol.min_reader_version, protocol.min_writer_version);
        if reader <= READER && writer <= WRITER {
            return Ok(());
        }
        Err(self.wrong(&format!(
            "the protocol {READER} for readers and {WRITER} for writers, found {reader} and {writer}"
        )))
    }

    fn next(&self) -> u64 {
        self.version.map_or(0, |version| version.saturating_add(1))
    }

    /// The number of the last commit; `None` if the table does not exist.
    pub(crate) const fn version(&self) -> Option<u64> {
        self.version
    }

    /// Returns `true` if another commit was added since.
    pub(crate) fn is_outdated(&self, store: &Store) -> Result<bool> {
        let next = name::commit(&self.table, self.next());
        Ok(store.size(&next)?.is_some())
    }

    /// The columns of the table, if it exists.
    pub(crate) const fn metadata(&self) -> Option<&MetaData> {
        self.metadata.as_ref()
    }

    /// The live files, in the order in which they were added.
    pub(crate) fn live(&self) -> Vec<&File> {
        let mut all: Vec<&File> = self.live.values().collect();
        all.sort_by_key(|file| file.order);
        all
    }

    /// Returns `true` if a file is still live.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.live.contains_key(name)
    }

    /// The time at which a file was removed, in milliseconds since 1970; `None` if it was not.
    pub(crate) fn removed_at(&self, name: &str) -> Option<i64> {
        let removed = self.removed.get(name)?;
        Some(removed.deletion_timestamp.unwrap_or(i64::MAX))
    }

    /// Returns `true` for the name of a checkpoint that a newer one has replaced.
    pub(crate) fn is_old_checkpoint(&self, name: &str) -> bool {
        let of_log = name.strip_prefix(FOLDER);
        let file = of_log.and_then(|file| file.strip_prefix('/'));
        let version = file.and_then(name::checkpoint_version);
        version.is_some_and(|version| Some(version) < self.checkpoint)
    }

    /// The reason for which the newest checkpoint was not read, if it is damaged.
    pub(crate) fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Adds a commit after the last one that was read; `false` if another writer was faster, and then
    /// nothing is changed.
    pub(crate) fn commit(
        &mut self,
        store: &Store,
        operation: &str,
        lines: Vec<Line>,
    ) -> Result<bool> {
        self.commit_with(store, &Line::of_commit(operation, None), lines)
    }

    /// Adds a commit that names attempts whose rows are left out; `false` if another writer was faster.
    pub(crate) fn leave_out(&mut self, store: &Store, generations: &BTreeSet<i64>) -> Result<bool> {
        let info = Line::of_commit("LEAVE OUT", Some(generations));
        self.commit_with(store, &info, Vec::new())
    }

    /// Returns `true` if a commit names this attempt as one whose rows are left out.
    pub(crate) fn has_left_out(&self, generation: i64) -> bool {
        self.left_out.contains(&generation)
    }

    fn commit_with(&mut self, store: &Store, info: &Line, lines: Vec<Line>) -> Result<bool> {
        let mut text = String::new();
        for line in std::iter::once(info).chain(&lines) {
            let line = serde_json::to_string(line);
            text.push_str(&line.map_err(|error| self.wrong(&format!("actions ({error})")))?);
            text.push('\n');
        }
        let file = name::commit(&self.table, self.next());
        if !store.create(&file, Bytes::from(text))? {
            return Ok(false);
        }
        for line in lines {
            self.apply(line)?;
        }
        self.version = Some(self.next());
        if self.is_checkpoint_due() {
            // The commit counts without it, and the next one tries again.
            let _ = self.save(store);
        }
        Ok(true)
    }

    fn is_checkpoint_due(&self) -> bool {
        // Version 0 made the table: as in Delta, version 10 is the first one with a checkpoint.
        let before = self.checkpoint.map_or(1, |version| version + 1);
        let commits = self.next().saturating_sub(before);
        let actions = self.live.len() + self.removed.len();
        commits >= EVERY.max(actions as u64 / ACTIONS_A_COMMIT)
    }

    /// Writes a checkpoint with the state after the last commit, unless there is one.
    pub(crate) fn save(&mut self, store: &Store) -> Result<()> {
        let Some(version) = self.version.filter(|_| self.version != self.checkpoint) else {
            return Ok(());
        };
        save::write(store, &self.table, version, &self.actions())?;
        self.checkpoint = Some(version);
        Ok(())
    }

    /// The actions that lead to this state.
    fn actions(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        lines.extend(self.protocol.clone().map(Line::of_protocol));
        lines.extend(self.metadata.clone().map(Line::of_metadata));
        let transactions = self.transactions.values().cloned();
        lines.extend(transactions.map(Line::of_transaction));
        lines.extend(self.live().into_iter().map(File::kept));
        let remembered = self.removed.values().filter(|remove| is_remembered(remove));
        lines.extend(remembered.map(|remove| {
            Line::of_remove(Remove {
                data_change: false,
                ..remove.clone()
            })
        }));
        lines
    }

    fn wrong(&self, expected: &str) -> Error {
        Error::Log {
            table: self.table.clone(),
            expected: expected.to_owned(),
        }
    }
}

/// Returns `true` for a file that was removed lately: `vacuum` needs the time.
fn is_remembered(remove: &Remove) -> bool {
    let time = remove.deletion_timestamp.map(time_of_millis);
    time.is_none_or(|time| !is_older(time, REMEMBERED))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    const TABLE: &str = "mark";

    /// A table with a file for each commit but the first one; each third commit removes a file.
    fn grown(commits: u64) -> (TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let mut log = Log::load(&store, TABLE).unwrap();
        let mut lines = Vec::from(Line::created("id", "schema".to_owned()));
        let txn = r#"{"txn":{"appId":"other","version":7}}"#;
        lines.push(serde_json::from_str(txn).unwrap());
        assert!(log.commit(&store, "CREATE TABLE", lines).unwrap());
        for number in 1..commits {
            let file = UncommittedFile {
                name: format!("run_month=2026-11/{number} a.parquet"),
                part: "2026-11".to_owned(),
                size: number,
                rows: number * 2,
                run_ids: (-5, 5),
            };
            let mut lines = vec![Line::of_added(&file, true)];
            if number % 3 == 0 {
                lines.push(Line::of_removed(log.live()[0], true));
            }
            assert!(log.commit(&store, "WRITE", lines).unwrap());
        }
        (folder, store)
    }

    fn files_of_log(store: &Store) -> Vec<PathBuf> {
        let folder = store.path(&format!("{TABLE}/{FOLDER}"));
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    fn checkpoints(store: &Store) -> Vec<u64> {
        let names = store.names(&format!("{TABLE}/{FOLDER}")).unwrap();
        let versions = names
            .iter()
            .filter_map(|name| name::checkpoint_version(name));
        let mut versions: Vec<u64> = versions.collect();
        versions.sort_unstable();
        versions
    }

    /// All that a log knows, whatever it was read from.
    fn state(log: &Log) -> String {
        let files: Vec<_> = log
            .live()
            .into_iter()
            .map(|file| (file.name.as_str(), file.size, file.rows, file.run_ids))
            .collect();
        let removed: Vec<_> = log
            .removed
            .iter()
            .map(|(name, remove)| (name, remove.deletion_timestamp))
            .collect();
        let about = (log.version, &log.protocol, &log.metadata, &log.transactions);
        format!("{about:?} {files:?} {removed:?}")
    }

    fn loaded(store: &Store) -> Log {
        Log::load(store, TABLE).unwrap()
    }

    #[test]
    fn a_checkpoint_has_the_state_of_the_commits_before_it() {
        let (_folder, store) = grown(24);
        assert_eq!(checkpoints(&store), [10, 20]);
        let of_checkpoint = loaded(&store);
        assert_eq!(of_checkpoint.checkpoint, Some(20));
        // Nothing before it is read.
        for version in 0..=20 {
            std::fs::remove_file(store.path(&name::commit(TABLE, version))).unwrap();
        }
        assert_eq!(state(&loaded(&store)), state(&of_checkpoint));
        let (_folder, store) = grown(24);
        let with = state(&loaded(&store));
        for version in [10, 20] {
            std::fs::remove_file(store.path(&name::checkpoint(TABLE, version))).unwrap();
        }
        let of_commits = loaded(&store);
        assert_eq!(of_commits.checkpoint, None);
        assert_eq!(state(&of_commits), with);
        assert_eq!(of_commits.live().len(), 16);
    }

    #[test]
    fn a_writer_that_ended_before_it_named_its_checkpoint_leaves_a_whole_log() {
        let (_folder, store) = grown(12);
        let expected = state(&loaded(&store));
        let last = store.path(&format!("{TABLE}/{FOLDER}/{LAST_CHECKPOINT}"));
        let named = std::fs::read_to_string(&last).unwrap();
        assert_eq!(named, r#"{"version":10,"size":13}"#);
        std::fs::remove_file(&last).unwrap();
        assert_eq!(state(&loaded(&store)), expected);
        // The next one names its own.
        let mut log = loaded(&store);
        log.save(&store).unwrap();
        assert!(
            std::fs::read_to_string(&last)
                .unwrap()
                .starts_with(r#"{"version":11,"#)
        );
        let files = files_of_log(&store).len();
        log.save(&store).unwrap();
        assert_eq!(files_of_log(&store).len(), files, "it is there already");
    }

    #[test]
    fn commits_take_the_place_of_a_damaged_checkpoint() {
        let (_folder, store) = grown(12);
        let expected = state(&loaded(&store));
        let checkpoint = store.path(&name::checkpoint(TABLE, 10));
        std::fs::write(&checkpoint, "PAR1").unwrap();
        let mut log = loaded(&store);
        assert_eq!(state(&log), expected);
        let damage = log.damage().unwrap();
        assert!(
            damage.ends_with("expected a checkpoint of Delta"),
            "{damage}"
        );
        log.save(&store).unwrap();
        assert_eq!(
            (checkpoints(&store), loaded(&store).damage()),
            (vec![10, 11], None)
        );
    }

    #[test]
    fn large_states_are_written_more_rarely() {
        let mut log = Log::new(TABLE);
        let add = |number: u64| {
            let file = UncommittedFile {
                name: format!("run_month=2026-11/{number}.parquet"),
                part: "2026-11".to_owned(),
                size: 1,
                rows: 1,
                run_ids: (1, 1),
            };
            Line::of_added(&file, true)
        };
        for number in 0..2_000 {
            log.apply(add(number)).unwrap();
        }
        log.checkpoint = Some(100);
        for (version, is_due) in [(110, false), (119, false), (120, true)] {
            log.version = Some(version);
            assert_eq!(log.is_checkpoint_due(), is_due, "{version}");
        }
    }

    #[test]
    fn files_that_were_removed_long_ago_are_forgotten() {
        let (_folder, store) = grown(5);
        let mut log = loaded(&store);
        let times: Vec<Option<i64>> = log
            .removed
            .values()
            .map(|remove| remove.deletion_timestamp)
            .collect();
        assert!(times.len() == 1 && times[0].is_some(), "{times:?}");
        let rows = log.actions().len();
        for remove in log.removed.values_mut() {
            remove.deletion_timestamp = Some(1);
        }
        assert_eq!(log.actions().len(), rows - 1);
    }
}
