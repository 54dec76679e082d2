//! Sessions that stay open between questions. A single command keeps none; a console keeps the
//! sessions over its loaded files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use etwkit_base::lock::lock;
use etwkit_sql::{Options, Session};

use crate::Result;

/// Maximum number of extracts that stay open together. Each holds a file for every queried table,
/// and many systems let a program open a thousand.
const MAX_OPEN: usize = 24;

/// Extracts that stay open between questions. Each question gets its own session over the open
/// files: it has its own names, tags and switch, and shares the open files and the data read from
/// them.
#[derive(Debug, Default)]
pub struct SessionPool {
    /// Extracts that may stay open.
    wanted: Mutex<BTreeSet<PathBuf>>,
    kept: Mutex<Vec<Kept>>,
}

/// A set of extracts that was queried.
#[derive(Debug)]
struct Kept {
    paths: Vec<PathBuf>,
    /// The state of the extracts when they were opened.
    stamps: Vec<Stamp>,
    /// A session over them that no question uses directly.
    session: Arc<Session>,
}

/// Identity of an extract: sizes and times of the files that describe its contents.
type Stamp = Vec<Option<(u64, SystemTime)>>;

impl SessionPool {
    /// Sets the extracts that stay open after a question; others are closed.
    pub fn want(&self, extracts: impl IntoIterator<Item = PathBuf>) {
        let wanted: BTreeSet<PathBuf> = extracts.into_iter().collect();
        // In this order: an extract that a question opens in the meantime is either seen here, or
        // not kept by it.
        *lock(&self.wanted) = wanted.clone();
        lock(&self.kept).retain(|kept| kept.paths.iter().all(|path| wanted.contains(path)));
    }

    /// Returns the number of open extracts.
    #[must_use]
    pub fn open_count(&self) -> usize {
        lock(&self.kept).iter().map(|kept| kept.paths.len()).sum()
    }

    /// Returns a session over extracts for one question, with these options. The session that
    /// `open` creates stays open if that is wanted and there is room.
    pub(crate) fn session(
        &self,
        paths: &[PathBuf],
        options: &Options,
        open: impl FnOnce(&Options) -> Result<Session>,
    ) -> Result<Session> {
        if !self.is_wanted(paths) {
            return open(options);
        }
        if let Some(session) = self.found(paths) {
            return Ok(session.again(options)?);
        }
        // Before it is opened: later changes are noticed by the next question.
        let stamps = stamps(paths);
        // The kept session serves later questions, so it must not end with the switch of this one.
        let unasked = Options {
            cancel: etwkit_sql::Cancel::default(),
            ..options.clone()
        };
        let session = Arc::new(open(&unasked)?);
        let mut kept = lock(&self.kept);
        let open: usize = kept.iter().map(|kept| kept.paths.len()).sum();
        // Another question may have opened the same extracts in the meantime; one of both is
        // enough. Without room the session is used for this question and closed with it.
        let has_room = open.saturating_add(paths.len()) <= MAX_OPEN;
        // The extracts may have been unloaded in the meantime.
        if has_room && self.is_wanted(paths) && kept.iter().all(|kept| kept.paths != paths) {
            kept.push(Kept {
                paths: paths.to_owned(),
                stamps,
                session: session.clone(),
            });
        }
        drop(kept);
        Ok(session.again(options)?)
    }

    /// Returns `true` if an extract stays open after a question: if more are loaded than can stay,
    /// they are queried together each time instead.
    pub(crate) fn keeps(&self, path: &Path) -> bool {
        let wanted = lock(&self.wanted);
        wanted.len() <= MAX_OPEN && wanted.contains(path)
    }

    /// Returns `true` if extracts stay open after a question.
    fn is_wanted(&self, paths: &[PathBuf]) -> bool {
        let wanted = lock(&self.wanted);
        !paths.is_empty() && paths.iter().all(|path| wanted.contains(path))
    }

    /// Returns the session that is already open. Extracts that were written again since then are
    /// forgotten.
    fn found(&self, paths: &[PathBuf]) -> Option<Arc<Session>> {
        // Only requested extracts are checked: that costs a few system calls for each question.
        let mut all = lock(&self.kept);
        all.retain(|kept| kept.paths != paths || kept.stamps == stamps(paths));
        all.iter()
            .find(|kept| kept.paths == paths)
            .map(|kept| kept.session.clone())
    }
}

fn stamps(paths: &[PathBuf]) -> Vec<Stamp> {
    paths.iter().map(|path| stamp(path)).collect()
}

/// Returns the stamp of the manifests of an extract, or of a packed extract itself; for a run of a
/// lake, the stamp of the lake's log.
fn stamp(path: &Path) -> Stamp {
    if let Some((lake, _)) = etwkit_extract::lake::split(path) {
        return vec![etwkit_extract::lake::stamp(&lake)];
    }
    let parts = [
        path.to_owned(),
        path.join("manifest.json"),
        path.join("derived").join("manifest.json"),
    ];
    let of = |path: &PathBuf| {
        let metadata = std::fs::metadata(path)
            .ok()
            .filter(std::fs::Metadata::is_file)?;
        Some((metadata.len(), metadata.modified().ok()?))
    };
    parts.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use etwkit_sql::Source;

    use super::*;

    #[test]
    fn only_what_is_wanted_stays_and_only_until_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let extract = folder.path().join("a.etwx");
        std::fs::create_dir(&extract).unwrap();
        std::fs::write(extract.join("manifest.json"), "{}").unwrap();
        let (pool, paths, opened) = (SessionPool::default(), [extract.clone()], Cell::new(0));
        let ask = |options: &Options| {
            let open = |options: &Options| {
                opened.set(opened.get() + 1);
                Ok(Session::new(
                    vec![Source::batches("a", Vec::new())],
                    options,
                )?)
            };
            (pool.session(&paths, options, open).unwrap(), opened.get())
        };
        let options = Options::default();
        assert_eq!(
            (ask(&options).1, ask(&options).1),
            (1, 2),
            "nothing is wanted"
        );
        pool.want([extract.clone()]);
        assert_eq!((ask(&options).1, ask(&options).1), (3, 3));
        // The options of one question do not affect another one.
        let given_up = Options::default();
        let (session, _) = ask(&given_up);
        given_up.cancel.ask();
        assert!(session.sql("SELECT 1").is_err());
        assert!(ask(&Options::default()).0.sql("SELECT 1").is_ok());
        assert_eq!((ask(&options).1, pool.open_count()), (3, 1));
        std::fs::write(extract.join("manifest.json"), "{ }").unwrap();
        assert_eq!(ask(&options).1, 4, "it was written anew");
        pool.want([]);
        assert_eq!(pool.open_count(), 0);
    }

    #[test]
    fn there_is_room_for_so_many() {
        let pool = SessionPool::default();
        let paths: Vec<PathBuf> = (0..MAX_OPEN + 5)
            .map(|n| PathBuf::from(format!("{n}.etwx")))
            .collect();
        pool.want(paths.clone());
        for path in &paths {
            let open = |options: &Options| {
                Ok(Session::new(
                    vec![Source::batches("a", Vec::new())],
                    options,
                )?)
            };
            pool.session(std::slice::from_ref(path), &Options::default(), open)
                .unwrap();
        }
        assert_eq!(pool.open_count(), MAX_OPEN);
        assert!(
            !pool.keeps(&paths[0]),
            "more than can stay are asked together"
        );
    }
}
