#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    missing_docs
)]

mod architecture;
mod cache;
mod chosen;
mod colors;
mod compat;
mod console;
mod cuts;
mod declared;
mod described;
mod diagnosis;
mod dump;
mod dump_small;
mod dump_window;
mod events;
mod evidence;
mod explain;
mod export;
mod extracts;
mod git_bash;
mod hostile;
mod house;
mod imports;
mod incomplete;
mod json7z;
mod left_out;
mod made;
mod named;
mod names;
mod not_recorded;
mod out_files;
mod output;
mod pe_cores;
mod screenshots;
mod sql;
mod support;
mod synth;
mod terminal;
mod together;
mod transcripts;
mod truth;
mod wide;
