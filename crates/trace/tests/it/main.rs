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
mod code_pages;
mod collections;
mod compiled;
mod counters;
mod derive;
mod derive_cores;
mod events;
mod faults;
mod files;
mod filters;
mod heaps;
mod identity;
mod il_maps;
mod import;
#[path = "../../../decode/src/eventinfo/made.rs"]
#[allow(dead_code, reason = "other crates that share this file use all of it")]
mod info_records;
mod io;
#[path = "../../../decode/tests/it/made.rs"]
mod made;
mod messages;
mod net;
mod objects;
mod other_programs;
mod pools;
mod priorities;
mod recording;
mod registry;
mod report;
mod rules;
mod scenarios;
mod schedule;
mod scheduling;
mod sessions;
mod starts;
mod system_scenarios;
mod tags;
mod win32k;
