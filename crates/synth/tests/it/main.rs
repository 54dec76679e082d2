#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    reason = "tests fail by panicking"
)]

mod acts;
mod bytes;
mod causes;
mod cores;
mod disturbed;
mod kit;
mod objects;
mod processors;
mod programs;
mod providers;
mod readback;
mod scheduling;
mod symbols;
mod waits;
mod windows;
