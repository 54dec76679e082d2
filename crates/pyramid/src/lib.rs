//! Sums of an extract over time, at every zoom level: the data of a timeline without reading rows.
//!
//! [`Pyramid::open`] builds them once for each extract (or finds them) and keeps them as Parquet
//! files, a folder of *pages*. A query then reads as many rows as the picture has buckets, whatever
//! the size of the trace. The meaning of the numbers is defined in `docs/numbers/timeline.md`.
//!
//! This crate works with tables and times. It does not use names or SQL, and does not depend on its
//! callers. Only the server needs it. It is a crate of its own since it is optimized in every profile
//! and does not wait for the query engine when it is built.

#![forbid(unsafe_code)]

mod about;
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
mod requests;
mod scan;
mod series;
mod spill;
mod store;
mod sums;
mod tables;
mod timeline;
mod waits;

pub use error::{Error, Result};
pub use make::Progress;
pub use pyramid::{Bounds, Pyramid};
pub use requests::{
    CORE_COLUMNS, Field, Lane, LaneKind, LanesAnswer, LanesRequest, MAX_CELLS, MAX_SERIES_BUCKETS,
    MAX_WITHIN_NS, Moment, MomentRequest, Range, Selection, Series, SeriesAnswer, SeriesKind,
    SeriesRequest, Slice, Source, State, THREAD_COLUMNS, Timeline, TimelineHeader, TimelineRequest,
    WAITS,
};
