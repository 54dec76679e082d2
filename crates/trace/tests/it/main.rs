#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    missing_docs
)]

mod attribution;
mod calls;
mod collections;
mod counters;
mod derive;
mod derive_cores;
mod events;
mod files;
mod import;
mod io;
#[path = "../../../decode/tests/it/made.rs"]
mod made;
mod net;
mod objects;
mod other_programs;
mod registry;
mod priorities;
mod report;
mod rules;
mod schedule;
mod scheduling;
mod sessions;
mod tags;
mod win32k;
