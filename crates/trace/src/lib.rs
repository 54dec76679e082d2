//! Identities, tables and summaries from the events of a trace.
//!
//! - [`tracker`]: the process, thread, image, file or stack that an event refers to, over time
//! - [`directory`]: the first pass, which feeds all trackers
//! - [`drivers`]: the kinds of known drivers
//! - [`events`]: events that the trace itself describes
//! - [`gaps`]: gaps in the events of a processor
//! - [`schedule`]: running, waiting and ready threads
//! - [`attribution`]: the process and thread of any event
//! - [`import`]: conversion of events into rows of tables
//! - [`mod@derive`]: tables that are computed from others
//! - [`table`]: the tables of an extract, declared once
//! - [`tags`]: stack tags, names for the activity in stacks
//! - [`sink`]: the receiver of rows
//! - [`counts`], [`summary`]: the contents of a trace
//! - [`xml`]: files of rules that people have
//! - [`report`]: the same as typed values, for printing and serializing
//!
//! This crate does not depend on files or SQL.

#![forbid(unsafe_code)]

pub use etwkit_decode::tables::names::known_providers;
pub use etwkit_decode::{Descriptions, describe, status};
pub use etwkit_etl::Error as ReadError;

/// Version of the meaning of rows. It rises when the import gives other rows or values for a trace that
/// could be imported before, so that extracts of the cache are made again.
pub const ROWS_VERSION: u32 = 3;

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
mod processors;
mod reach;
pub mod report;
pub mod schedule;
mod scripts;
pub mod sink;
pub mod summary;
mod system_config;
pub mod table;
pub mod tags;
pub mod topics;
pub mod tracker;
pub mod xml;
