#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    missing_docs
)]

mod architecture;
mod chosen;
mod compat;
mod dump;
mod dump_small;
mod evidence;
mod extracts;
mod git_bash;
mod hostile;
mod made;
mod output;
mod pe_cores;
mod sql;
mod support;
mod synth;
mod terminal;
mod transcripts;
mod truth;
mod typed;
