//! Extracts that stay open between questions. A single command keeps none; the console keeps those that are loaded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use etwkit_extract::Described;
use etwkit_query::rename::RenameRules;
use etwkit_query::{Cancel, Options, Session};

/// Extracts that stay open together. Each holds a file for every table that was asked, and many systems let a program open a thousand.
const MAX_OPEN: usize = 24;

/// Sessions that were asked before, and what gives their questions up.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    cancel: Cancel,
    /// What the command that runs calls processes.
    process_names: Mutex<Names>,
    /// What describes the events of traces that the command extracts.
    described: Mutex<Described>,
    /// Extracts that may stay open.
    wanted: Mutex<BTreeSet<PathBuf>>,
    kept: Mutex<Vec<Kept>>,
}

/// What one set of extracts was asked with.
#[derive(Debug)]
struct Kept {
    paths: Vec<PathBuf>,
    /// What the extracts were like when they were opened.
    stamps: Vec<Stamp>,
    /// By memory and parts that a session may use, and by what it calls processes; they share what they read.
    sessions: Vec<(Share, Arc<Session>)>,
}

/// Rules for names of processes, if there are any.
type Names = Option<Arc<RenameRules>>;

/// What tells sessions over the same extracts apart.
type Share = (usize, usize, Names);

/// Tells whether an extract is still the one that was opened: sizes and times of what says what is in it.
type Stamp = Vec<Option<(u64, SystemTime)>>;

impl Shelf {
    /// What gives up the questions of all sessions.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// From now on sessions call processes as these rules do.
    pub(crate) fn name_processes(&self, rules: Names) {
        *lock(&self.process_names) = rules;
    }

    /// What sessions call processes.
    pub(crate) fn process_names(&self) -> Names {
        lock(&self.process_names).clone()
    }

    /// From now on events of traces that are extracted are described by these files.
    pub(crate) fn describe_events(&self, described: Described) {
        *lock(&self.described) = described;
    }

    /// What describes the events of traces that are extracted.
    pub(crate) fn described(&self) -> Described {
        lock(&self.described).clone()
    }

    /// From now on these stay open once they were asked, and no others.
    pub(crate) fn want(&self, extracts: impl IntoIterator<Item = PathBuf>) {
        let wanted: BTreeSet<PathBuf> = extracts.into_iter().collect();
        lock(&self.kept).retain(|kept| kept.paths.iter().all(|path| wanted.contains(path)));
        *lock(&self.wanted) = wanted;
    }

    /// How many extracts are open.
    pub(crate) fn open_count(&self) -> usize {
        lock(&self.kept).iter().map(|kept| kept.paths.len()).sum()
    }

    /// A session over extracts: one that is there, else one that `open` makes, which stays if that is wanted and there is room.
    pub(crate) fn session(
        &self,
        paths: &[PathBuf],
        options: &Options,
        open: impl FnOnce() -> anyhow::Result<Session>,
    ) -> anyhow::Result<Arc<Session>> {
        if !self.is_wanted(paths) {
            return Ok(Arc::new(open()?));
        }
        if let Some(session) = self.found(paths, options)? {
            return Ok(session);
        }
        // Before it is opened: what changes meanwhile is noticed by the next question.
        let stamps = stamps(paths);
        let session = Arc::new(open()?);
        let mut kept = lock(&self.kept);
        let open: usize = kept.iter().map(|kept| kept.paths.len()).sum();
        if open + paths.len() <= MAX_OPEN && kept.iter().all(|kept| kept.paths != paths) {
            let sessions = vec![(share(options), session.clone())];
            kept.push(Kept { paths: paths.to_owned(), stamps, sessions });
        }
        Ok(session)
    }

    /// Whether an extract stays open once it was asked: where more are loaded than can stay, they are rather asked together each time.
    pub(crate) fn keeps(&self, path: &Path) -> bool {
        let wanted = lock(&self.wanted);
        wanted.len() <= MAX_OPEN && wanted.contains(path)
    }

    /// Whether extracts stay open once they were asked.
    fn is_wanted(&self, paths: &[PathBuf]) -> bool {
        let wanted = lock(&self.wanted);
        !paths.is_empty() && paths.iter().all(|path| wanted.contains(path))
    }

    /// The session that is there. Extracts that were written anew meanwhile are forgotten.
    fn found(&self, paths: &[PathBuf], options: &Options) -> anyhow::Result<Option<Arc<Session>>> {
        let mut all = lock(&self.kept);
        all.retain(|kept| kept.paths != paths || kept.stamps == stamps(paths));
        let Some(kept) = all.iter_mut().find(|kept| kept.paths == paths) else { return Ok(None) };
        if let Some((_, session)) = kept.sessions.iter().find(|(of, _)| *of == share(options)) {
            return Ok(Some(session.clone()));
        }
        let Some((_, first)) = kept.sessions.first() else { return Ok(None) };
        let session = Arc::new(first.again(options)?);
        kept.sessions.push((share(options), session.clone()));
        Ok(Some(session))
    }
}

fn share(options: &Options) -> Share {
    (options.memory_bytes, options.partitions, options.process_names.clone())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn stamps(paths: &[PathBuf]) -> Vec<Stamp> {
    paths.iter().map(|path| stamp(path)).collect()
}

/// Of the manifests, or of a packed extract itself.
fn stamp(path: &Path) -> Stamp {
    let parts = [path.to_owned(), path.join("manifest.json"), path.join("derived").join("manifest.json")];
    let of = |path: &PathBuf| {
        let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        Some((metadata.len(), metadata.modified().ok()?))
    };
    parts.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use etwkit_query::Source;

    fn session() -> anyhow::Result<Session> {
        Ok(Session::new(vec![Source::batches("a", Vec::new())], &Options::default())?)
    }

    #[test]
    fn only_what_is_wanted_stays_and_only_until_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let extract = folder.path().join("a.etwx");
        std::fs::create_dir(&extract).unwrap();
        std::fs::write(extract.join("manifest.json"), "{}").unwrap();
        let (shelf, options, paths) = (Shelf::default(), Options::default(), [extract.clone()]);
        let ask = |options: &Options| shelf.session(&paths, options, session).unwrap();
        assert!(!Arc::ptr_eq(&ask(&options), &ask(&options)), "nothing is wanted");
        shelf.want([extract.clone()]);
        let first = ask(&options);
        assert!(Arc::ptr_eq(&first, &ask(&options)));
        let smaller = Options { partitions: options.partitions + 1, ..options.clone() };
        assert!(!Arc::ptr_eq(&first, &ask(&smaller)), "another share is another session");
        assert!(Arc::ptr_eq(&ask(&smaller), &ask(&smaller)));
        let named = Options { process_names: Some(Arc::new(RenameRules::supplied())), ..options.clone() };
        assert!(!Arc::ptr_eq(&first, &ask(&named)), "so are other names");
        let same = Options { process_names: Some(Arc::new(RenameRules::supplied())), ..options.clone() };
        assert!(Arc::ptr_eq(&ask(&same), &ask(&named)), "whoever read the rules");
        assert!(Arc::ptr_eq(&first, &ask(&options)));
        assert_eq!(shelf.open_count(), 1, "over the same files");
        std::fs::write(extract.join("manifest.json"), "{ }").unwrap();
        assert!(!Arc::ptr_eq(&first, &ask(&options)), "it was written anew");
        shelf.want([]);
        assert_eq!(shelf.open_count(), 0);
    }

    #[test]
    fn there_is_room_for_so_many() {
        let shelf = Shelf::default();
        let paths: Vec<PathBuf> = (0..MAX_OPEN + 5).map(|n| PathBuf::from(format!("{n}.etwx"))).collect();
        shelf.want(paths.clone());
        for path in &paths {
            shelf.session(std::slice::from_ref(path), &Options::default(), session).unwrap();
        }
        assert_eq!(shelf.open_count(), MAX_OPEN);
        assert!(!shelf.keeps(&paths[0]), "more than can stay are asked together");
    }
}
