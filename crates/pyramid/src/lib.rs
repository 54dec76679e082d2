//! Sums of an extract over time, at every zoom: what a timeline draws without reading rows.
//!
//! [`Pyramid::open`] makes them once for each extract (or finds them made) and keeps them as Parquet files, a
//! folder of *pages*. What is asked then reads as many rows as the picture has buckets, whatever the size of
//! the trace. What the numbers mean is defined in `docs/numbers/timeline.md`.
//!
//! This crate knows tables and times. It knows no names, no SQL and none of its callers.

#![forbid(unsafe_code)]

mod about;
mod asked;
mod base;
mod error;
mod folder;
mod grid;
mod levels;
mod make;
mod moment;
mod page;
mod part;
mod pieces;
mod pyramid;
mod scan;
mod series;
mod spill;
mod store;
mod sums;
mod tables;
mod timeline;
mod waits;

pub use asked::{
    CORE_COLUMNS, Field, Lane, LaneKind, LanesAnswer, LanesRequest, MAX_CELLS, MAX_SERIES_BUCKETS,
    MAX_WITHIN_NS, Moment, MomentRequest, Range, Selection, Series, SeriesAnswer, SeriesKind,
    SeriesRequest, Slice, Source, State, THREAD_COLUMNS, Timeline, TimelineHeader, TimelineRequest,
    WAITS,
};
pub use error::{Error, Result};
pub use make::Progress;
pub use pyramid::{Bounds, Pyramid};
