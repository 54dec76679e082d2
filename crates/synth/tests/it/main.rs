#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    reason = "tests fail by panicking"
)]

mod bytes;
mod cores;
mod kit;
mod programs;
mod readback;
mod scheduling;
mod symbols;
mod waits;
