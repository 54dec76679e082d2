//! The pyramid of an extract: built once, queried by any number of threads.

use std::path::Path;

use etwkit_extract::Extract;

use crate::error::Result;
use crate::make::Progress;
use crate::part::Dim;
use crate::requests::{
    LanesAnswer, LanesRequest, Moment, MomentRequest, SeriesAnswer, SeriesRequest, Timeline,
    TimelineRequest,
};
use crate::store::Store;
use crate::tables::Rows;
use crate::{folder, moment, series, sums, timeline};

/// The time range of a pyramid, and its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The first known moment.
    pub from_ns: i64,
    /// The end, exclusive.
    pub to_ns: i64,
    /// Processors.
    pub processors: i32,
    /// True if running, ready and waiting times come from context switches. Otherwise running times
    /// come from samples, and the others are unknown.
    pub has_switches: bool,
}

/// The pyramid of an extract. It keeps only open files and their metadata in memory. Queries take
/// `&self` and may run on any number of threads.
#[derive(Debug)]
pub struct Pyramid {
    bounds: Bounds,
    store: Store,
}

impl Pyramid {
    /// Opens the pages of an extract, after building them if they are missing or belong to another
    /// extract. They are in `derived/pages-N` of the extract if that folder can be written to,
    /// otherwise in `cache`/`FINGERPRINT.pages-N`. `on_progress` is called now and then during the
    /// build; it returns `false` to stop.
    ///
    /// # Errors
    /// If a table cannot be read, or there is no place to write the pages.
    pub fn open(
        extract: &Extract,
        cache: Option<&Path>,
        on_progress: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Self> {
        let (folder, about) = folder::find_or_make(extract, cache, on_progress)?;
        let store = Store::open(extract, folder, about)?;
        let facts = &store.facts;
        // Rows may start before the trace (an access that was in progress) or end after it. The
        // bounds hold all of them, and at least the recording itself.
        let from = store
            .tables
            .iter()
            .map(|table| table.about.from)
            .fold(0, i64::min);
        let to = store
            .tables
            .iter()
            .map(|table| table.about.to)
            .fold(facts.duration, i64::max);
        let bounds = Bounds {
            from_ns: from,
            to_ns: to,
            processors: facts.processors,
            has_switches: store
                .tables
                .iter()
                .any(|table| table.rows == Rows::Switches),
        };
        Ok(Self { bounds, store })
    }

    /// Reads the metadata of all files, which is otherwise read when a file is first needed:
    /// seconds if the pages have gigabytes. Queries may run at the same time. `go_on` returns
    /// `false` to stop.
    ///
    /// # Errors
    /// If a file is damaged.
    pub fn open_files(&self, go_on: &dyn Fn() -> bool) -> Result<()> {
        self.store.open_files(go_on)
    }

    /// The time range of the pyramid, and its source.
    #[must_use]
    pub const fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// States of lanes over time.
    ///
    /// # Errors
    /// If lanes times buckets are more than [`MAX_CELLS`](crate::MAX_CELLS), if neither context
    /// switches nor samples were recorded, or if a file is damaged.
    pub fn timeline(&self, request: &TimelineRequest) -> Result<Timeline> {
        self.needs_lanes()?;
        timeline::answer(&self.store, request)
    }

    /// Sums over time.
    ///
    /// # Errors
    /// If there are too many buckets, nothing of that was recorded, or a file is damaged.
    pub fn series(&self, request: &SeriesRequest) -> Result<SeriesAnswer> {
        series::answer(&self.store, request)
    }

    /// The lanes of a kind, with their sums.
    ///
    /// # Errors
    /// If neither context switches nor samples were recorded, or a file is damaged.
    pub fn lanes(&self, request: &LanesRequest) -> Result<LanesAnswer> {
        self.needs_lanes()?;
        sums::answer(&self.store, request)
    }

    /// The activity of a lane at a moment.
    ///
    /// # Errors
    /// If there are no context switches, or a file is damaged.
    pub fn moment(&self, request: &MomentRequest) -> Result<Moment> {
        moment::answer(&self.store, request)
    }

    /// Folder of the pages.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.store.folder()
    }

    fn needs_lanes(&self) -> Result<()> {
        match self.store.table(Dim::Thread) {
            Some(_) => Ok(()),
            None => Err(self.store.not_recorded("context switches or CPU samples")),
        }
    }
}
