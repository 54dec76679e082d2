#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

mod batch;
mod dump;
mod extracts;
mod functions;
mod library;
mod limits;
mod named_files;
mod names;
mod nothing;
mod parameters;
mod session;
mod stacks;
mod strace;
mod support;
