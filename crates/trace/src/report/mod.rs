//! The properties and contents of a session as typed values: the code that shows them needs no
//! knowledge of events.
//!
//! - [`info`]: machine, recording, recorded topics, completeness, and CPU use
//! - [`events`]: single events with their decoded fields, and filters for them
//! - [`counts`]: number of events of each kind
//! - [`damage`]: damage in the files
//!
//! All of them are serializable. Skipped fields repeat another field in words.

pub mod counts;
pub mod damage;
pub mod events;
mod filter;
pub mod info;
mod row;
mod together;
