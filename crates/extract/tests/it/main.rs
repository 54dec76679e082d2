#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    missing_docs
)]

mod atomic;
mod child;
mod elsewhere;
mod event_counts;
mod files;
mod hostile;
mod identity;
mod machine;
mod naming;
mod packed;
mod real;
mod round_trip;
mod rows;
mod seven_zip;
mod support;
mod symbols;
mod tags;
mod zip_archive;
