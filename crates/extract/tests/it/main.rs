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
mod cabinet;
mod child;
mod diagnosed;
mod dotnet_lines;
mod elsewhere;
mod event_counts;
mod evidence;
mod files;
mod hostile;
mod identity;
mod json7z;
mod lake;
mod left_out;
mod machine;
mod naming;
mod packed;
mod packed_trace;
mod real;
mod round_trip;
mod rows;
mod seven_zip;
mod support;
mod symbols;
mod tags;
mod zip_archive;
