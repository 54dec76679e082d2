//! What is written reads back, and what is damaged is read as far as it goes.

// Tests stop at the first thing that is not as expected.
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
