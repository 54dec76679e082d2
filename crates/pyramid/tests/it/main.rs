//! Pyramids of synthetic traces, compared with sums over their rows.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    missing_docs
)]

mod example;
mod folders;
mod hostile;
mod lanes;
mod machine;
mod moments;
mod naive;
mod series;
mod timelines;
