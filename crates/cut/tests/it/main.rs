#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    missing_docs
)]

mod choices;
mod merged;
mod parts;
mod planted;
mod redacted;
mod support;
