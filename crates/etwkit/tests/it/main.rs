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
mod cut;
mod cuts;
mod declared;
mod described;
mod diagnosis;
mod dialect;
mod dump;
mod dump_boot;
mod dump_service;
mod dump_small;
mod dump_timer;
mod dump_window;
mod events;
mod evidence;
mod explain;
mod export;
mod export_packets;
mod extracts;
mod features;
mod fleet;
mod git_bash;
mod hostile;
mod house;
mod imports;
mod incomplete;
mod json7z;
mod lab;
mod lake;
mod left_out;
mod libraries;
mod made;
mod mcp;
mod named;
mod names;
mod not_recorded;
mod other_cards;
mod out_files;
mod output;
mod pe_cores;
mod python;
mod real_diagnosis;
mod redacted_cards;
mod reports;
mod run;
mod screenshots;
mod sql;
mod stored;
mod support;
mod synth;
mod terminal;
mod together;
mod transcripts;
mod truth;
mod view;
mod wide;
