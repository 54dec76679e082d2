//! Written traces read back unchanged, and damaged traces are read as far as possible.

// Tests may panic: that is how they fail.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

mod compression;
mod damage;
mod hostile;
mod kit;
mod limits;
mod model;
mod round_trip;
mod sessions;
mod stacks;
