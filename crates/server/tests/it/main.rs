#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

mod explain;
mod findings;
mod folder;
mod frames;
mod load;
mod machine;
mod mcp;
mod numbers;
mod opening;
mod over_time;
mod questions;
mod recording;
mod security;
mod size;
mod statements;
mod support;
mod symbols;
mod tags;
