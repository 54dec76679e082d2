//! Events → identity and summaries.
//!
//! - [`tracker`]: which process, thread, image, file or stack an event means, over time
//! - [`directory`]: the first pass, which feeds all trackers
//! - [`drivers`]: which kind a known driver is
//! - [`events`]: the events that the trace describes itself
//! - [`gaps`]: where events of a processor are missing
//! - [`schedule`]: who ran, waited and was ready
//! - [`attribution`]: the process and thread of any event
//! - [`import`]: events → rows of tables
//! - [`mod@derive`]: tables that are computed from others
//! - [`table`]: the tables of an extract, declared once
//! - [`tags`]: stack tags, the names of what stacks do
//! - [`sink`]: where rows go
//! - [`counts`], [`summary`]: what a trace contains
//! - [`report`]: the same as typed values, for whoever prints or serialises them
//!
//! This crate knows no files and no SQL.

#![forbid(unsafe_code)]

pub use etwkit_decode::{Descriptions, describe, status};
pub use etwkit_etl::Error as ReadError;

pub mod attribution;
pub mod code_hash;
pub mod counts;
mod declared;
pub mod derive;
pub mod directory;
mod dotnet_summary;
pub mod drivers;
mod early;
pub mod events;
mod first_pass;
pub mod gaps;
pub mod health;
pub mod import;
mod interner;
mod issuer;
mod mentions;
mod mix;
mod out;
pub mod report;
pub mod schedule;
pub mod sink;
pub mod summary;
mod system_config;
pub mod table;
pub mod tags;
pub mod topics;
pub mod tracker;
