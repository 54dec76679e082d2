//! Tests of the small program: its commands when Ctrl-C is pressed, and all of it on Windows as
//! Wine has it.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::exit,
    reason = "a test fails by panicking"
)]

#[cfg(unix)]
mod interrupted;
mod transcript;
mod windows;
