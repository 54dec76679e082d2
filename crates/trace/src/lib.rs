//! Events → identity and summaries.
//!
//! - [`tracker`]: which process, thread, image, file or stack an event means, over time
//! - [`directory`]: the first pass, which feeds all trackers
//!
//! This crate knows no files and no SQL.

#![forbid(unsafe_code)]

pub mod counts;
pub mod directory;
pub mod summary;
pub mod tracker;
