#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

mod at_once;
mod dashboard;
mod diff;
mod library;
mod memory;
mod named;
mod questions;
mod support;
