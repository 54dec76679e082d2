//! A lake as questions see it: its runs at one point in time, and the files with their rows.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use etwkit_base::lock::lock;

use crate::lake::log::Log;
use crate::lake::place::{SIGN, in_bucket};
use crate::lake::read::Key;
use crate::lake::run;
use crate::lake::{Error, Lake, Result, Run};
use crate::run_log::run_log;
use crate::{Slice, run_id};

/// Digits of the hash of a trace.
const DIGITS: usize = 16;

/// Time for which a lake in a bucket is not looked at again: a look is a request, and there is one for each
/// run that a question names.
const TRUSTED: Duration = Duration::from_secs(2);

/// The files of each table that was asked for, with the log that names them.
type FilesByTable = HashMap<String, (Log, Arc<[LakeFile]>)>;

/// The runs of a lake when it was opened.
#[derive(Debug)]
pub struct Snapshot {
    path: PathBuf,
    lake: Lake,
    log: Log,
    runs: Vec<Arc<Run>>,
    by_number: HashMap<i64, usize>,
    /// The time of the last look at its log.
    looked: Mutex<Instant>,
    /// Read by the first question that needs them.
    files: Mutex<FilesByTable>,
}

/// A run of a snapshot.
#[derive(Debug, Clone)]
pub struct LakeRun {
    /// The lake.
    pub lake: Arc<Snapshot>,
    /// The run.
    pub run: Arc<Run>,
}

/// A file with rows of several runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LakeFile {
    /// Its path.
    pub path: PathBuf,
    /// Its name in the lake.
    name: String,
    /// Bytes.
    pub size: u64,
    /// Rows; `None` if its writer did not say.
    pub rows: Option<u64>,
    /// The smallest and the largest `run_id`, if its writer said so.
    pub run_ids: Option<(i64, i64)>,
}

/// A lake after it was opened. Each has a lock of its own, since a look at a bucket is a request: nobody
/// waits for that of another lake.
type Slot = Arc<Mutex<Option<Arc<Snapshot>>>>;

/// Lakes that were opened, so that a question about thousands of runs reads the table of runs once.
static OPENED: Mutex<BTreeMap<PathBuf, Slot>> = Mutex::new(BTreeMap::new());

fn slot(path: &Path) -> Slot {
    // A panic of another question does not make the map wrong: entries are complete or absent.
    let mut opened = lock(&OPENED);
    opened.entry(path.to_owned()).or_default().clone()
}

impl Snapshot {
    /// Opens a lake. One that has not changed since it was opened is not read again.
    ///
    /// # Errors
    /// It is not a lake, or its runs cannot be read.
    pub fn open(path: &Path) -> Result<Arc<Self>> {
        let slot = slot(path);
        let mut opened = lock(&slot);
        // A look at one file name tells whether the lake has changed, instead of reading its log.
        if let Some(known) = &*opened
            && known.is_current()?
        {
            return Ok(known.clone());
        }
        let snapshot = Arc::new(Self::read(path)?);
        *opened = Some(snapshot.clone());
        Ok(snapshot)
    }

    fn read(path: &Path) -> Result<Self> {
        let looked = Instant::now();
        let lake = Lake::open(path)?;
        let log = lake.run_log()?;
        let runs = run::read(&lake.store, &log, |_| true)?;
        let numbers = runs.iter().enumerate();
        Ok(Self {
            path: path.to_owned(),
            // A question names thousands of runs one after the other, each by its number.
            by_number: numbers.map(|(at, run)| (run.run_id(), at)).collect(),
            lake,
            log,
            runs: runs.into_iter().map(Arc::new).collect(),
            looked: Mutex::new(looked),
            files: Mutex::default(),
        })
    }

    /// Returns `true` if the lake is still there, and no commit was added.
    fn is_current(&self) -> Result<bool> {
        let store = &self.lake.store;
        let mut looked = lock(&self.looked);
        if !store.is_folder() && looked.elapsed() < TRUSTED {
            return Ok(true);
        }
        if !is_lake(&self.path) || self.log.is_outdated(store)? {
            return Ok(false);
        }
        *looked = Instant::now();
        Ok(true)
    }

    /// The path, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its runs, sorted by `run_id`.
    #[must_use]
    pub fn runs(&self) -> &[Arc<Run>] {
        &self.runs
    }

    /// The paths of its runs, in their order.
    pub fn run_paths(&self) -> impl Iterator<Item = PathBuf> {
        self.runs.iter().map(|run| {
            let mut path = self.path.clone().into_os_string();
            path.push(format!("{SIGN}{}", run.digits()));
            PathBuf::from(path)
        })
    }

    /// Returns the run at a path of [`Snapshot::run_paths`]; `None` if it is the path of something
    /// else.
    ///
    /// # Errors
    /// The lake cannot be read, or has no such run.
    // A path with the sign may also be a file that is called that way, so that the lake has to
    // exist.
    pub fn run_at(path: &Path) -> Option<Result<LakeRun>> {
        let (lake, hash) = split(path)?;
        Some(Self::open(&lake).and_then(|lake| lake.run(&hash)))
    }

    fn run(self: Arc<Self>, hash: &str) -> Result<LakeRun> {
        let at = self.by_number.get(&run_id(hash));
        let run = at.and_then(|at| self.runs.get(*at));
        match run.cloned() {
            Some(run) => Ok(LakeRun { run, lake: self }),
            None => Err(Error::NoRun {
                path: self.path.clone(),
                run: hash.to_owned(),
            }),
        }
    }

    /// Returns the files with the rows of a table; none if it does not exist.
    ///
    /// # Errors
    /// The log of the table cannot be read; runs of this snapshot were dropped or replaced since it was
    /// opened, so that their rows may be gone.
    pub fn files(&self, table: &str) -> Result<Arc<[LakeFile]>> {
        let mut known = lock(&self.files);
        let store = &self.lake.store;
        // Compaction puts the rows into other files, and vacuum deletes the first ones.
        // Held together with its log: the files are right as long as no commit came after it.
        if let Some((log, files)) = known.get(table)
            && !log.is_outdated(store)?
        {
            return Ok(files.clone());
        }
        let log = Log::load(store, table)?;
        let files: Arc<[LakeFile]> = log
            .live()
            .into_iter()
            .map(|file| LakeFile {
                path: store.path(&file.name_in(table)),
                name: file.name_in(table),
                size: file.size,
                rows: file.rows,
                run_ids: file.run_ids,
            })
            .collect();
        // Checked after the log was read. Rows of this snapshot may be in files that are gone by
        // now.
        self.check_unchanged()?;
        known.insert(table.to_owned(), (log, files.clone()));
        Ok(files)
    }

    /// Returns `true` if its files are in a folder of this computer.
    #[must_use]
    pub const fn is_folder(&self) -> bool {
        self.lake.store.is_folder()
    }

    /// Opens one of the files of [`Snapshot::files`].
    ///
    /// # Errors
    /// It cannot be read.
    pub fn opened(&self, file: &LakeFile) -> Result<Slice> {
        self.lake.store.slice(&file.name)
    }

    /// Runs that are added later do not matter to a question; runs that are gone do.
    fn check_unchanged(&self) -> Result<()> {
        if !self.log.is_outdated(&self.lake.store)? {
            return Ok(());
        }
        // The table of runs changed, but perhaps only by runs that were added.
        let live = self.lake.live_keys()?;
        let mut keys = self.runs.iter().map(|run| run.key());
        if keys.all(|key: Key| live.contains(&key)) {
            return Ok(());
        }
        Err(Error::Changed {
            path: self.path.clone(),
        })
    }
}

impl Lake {
    /// Takes care that the next question sees a commit of this program to a lake that would be trusted.
    pub(crate) fn forget_snapshot(&self) {
        if !self.store.is_folder() {
            let mut opened = lock(&OPENED);
            // A question that is opening it keeps what it finds to itself.
            opened.remove(self.store.root());
        }
    }
}

/// Returns `true` if a path is the folder of a lake, or the address of a bucket, which has nothing else.
#[must_use]
pub fn is_lake(path: &Path) -> bool {
    in_bucket(path).is_some() || run_log(path).is_dir()
}

/// Returns two numbers that change with each run that is added to a lake or dropped from it; `None` if it
/// cannot be read.
#[must_use]
pub fn stamp(lake: &Path) -> Option<(u64, SystemTime)> {
    if in_bucket(lake).is_some() {
        let snapshot = Snapshot::open(lake).ok()?;
        return Some((snapshot.log.version()?, SystemTime::UNIX_EPOCH));
    }
    let log = run_log(lake).metadata().ok()?;
    Some((log.len(), log.modified().ok()?))
}

/// Returns the lake and the hash in the path of a run; `None` for other paths.
#[must_use]
pub fn split(path: &Path) -> Option<(PathBuf, String)> {
    let (lake, hash) = path.to_str()?.rsplit_once(SIGN)?;
    // Anything else with this sign is the name of a file.
    let is_hash = hash.len() == DIGITS && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
    let lake = PathBuf::from(lake);
    (is_hash && is_lake(&lake)).then(|| (lake, hash.to_owned()))
}
