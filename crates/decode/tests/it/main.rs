#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    missing_docs
)]

mod described;
mod hostile;
mod made;
mod names;
mod net;
mod observing;
mod traces;
mod typed;
