#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    missing_docs
)]

mod files;
mod real;
mod round_trip;
mod rows;
mod seven_zip;
mod support;
mod zip_archive;
