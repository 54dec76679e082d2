//! The pyramid of an extract: made once, asked by any number of threads.

use std::path::Path;

use etwkit_extract::Extract;

use crate::asked::{
    LanesAnswer, LanesRequest, Moment, MomentRequest, SeriesAnswer, SeriesRequest, Timeline,
    TimelineRequest,
};
use crate::error::Result;
use crate::make::Progress;
use crate::part::Dim;
use crate::store::Store;
use crate::tables::Rows;
use crate::{folder, moment, series, sums, timeline};

/// What part of time a pyramid covers, and from what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// First moment of which anything is known.
    pub from_ns: i64,
    /// Behind the last one.
    pub to_ns: i64,
    /// Processors.
    pub processors: i32,
    /// Whether running, ready and waiting come from context switches; else running comes from samples, and of
    /// the others nothing is known.
    pub has_switches: bool,
}

/// The pyramid of an extract. It keeps files open and their descriptions in memory, nothing else; asking
/// takes `&self` and may happen on any number of threads.
#[derive(Debug)]
pub struct Pyramid {
    bounds: Bounds,
    store: Store,
}

impl Pyramid {
    /// Opens the pages of an extract, after making them if they are not there or are those of another one.
    /// They lie in `derived/pages-N` of the extract if that is a folder that can be written to, else in
    /// `cache`/`FINGERPRINT.pages-N`. `on_progress` is asked now and then while they are made; it returns
    /// `false` to stop that.
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
        // Rows may begin in front of the trace (an access that was under way) or end behind it; the bounds
        // hold all of them, and at least the recording itself.
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

    /// Reads the descriptions of all files, which are otherwise read when they are first needed: seconds
    /// where pages are gigabytes. Meanwhile anything may be asked. `go_on` returns `false` to stop that.
    ///
    /// # Errors
    /// If a file is damaged.
    pub fn open_files(&self, go_on: &dyn Fn() -> bool) -> Result<()> {
        self.store.open_files(go_on)
    }

    /// What part of time a pyramid covers, and from what.
    #[must_use]
    pub const fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// States of lanes over time.
    ///
    /// # Errors
    /// If lanes times buckets are more than [`MAX_CELLS`](crate::MAX_CELLS), nothing was recorded that says
    /// what ran, or a file is damaged.
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

    /// Which lanes there are, with their sums.
    ///
    /// # Errors
    /// If nothing was recorded that says what ran, or a file is damaged.
    pub fn lanes(&self, request: &LanesRequest) -> Result<LanesAnswer> {
        self.needs_lanes()?;
        sums::answer(&self.store, request)
    }

    /// What a lane did at a moment.
    ///
    /// # Errors
    /// If there are no context switches, or a file is damaged.
    pub fn moment(&self, request: &MomentRequest) -> Result<Moment> {
        moment::answer(&self.store, request)
    }

    /// Where its pages lie.
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
