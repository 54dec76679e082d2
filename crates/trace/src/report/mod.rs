//! What a session is and holds, as typed values: whoever shows them needs to know nothing of events.
//!
//! - [`info`]: the machine, the recording, what was recorded, whether it is whole, who used the CPU
//! - [`events`]: single events with their decoded fields, and which of them are wanted
//! - [`counts`]: how many events of which kind
//! - [`damage`]: what is wrong with the files
//!
//! All of them are serialisable. Fields that are skipped repeat in words what another field says.

pub mod counts;
pub mod damage;
pub mod events;
mod filter;
pub mod info;
mod row;
mod together;
