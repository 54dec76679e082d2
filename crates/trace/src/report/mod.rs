//! The properties and contents of a session as typed values: the code that shows them needs no
//! knowledge of events.
//!
//! - [`info`]: the machine, the recording, what was recorded, whether it is whole, who used the CPU
//! - [`events`]: single events with their decoded fields, and which of them are wanted
//! - [`counts`]: how many events of which kind
//! - [`damage`]: what is wrong with the files
//!
//! All of them are serializable. Skipped fields repeat another field in words.

pub mod counts;
pub mod damage;
pub mod events;
mod filter;
pub mod info;
mod row;
mod together;
