//! Tests of waits, chains and paths on rows that were made by hand.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

mod amsi_scan;
mod chain;
mod diagnose;
mod diff;
mod overhead;
mod page;
mod path;
mod proxy_search;
mod recorded;
mod region;
mod slow_server;
mod start_loop;
mod stored;
mod support;
mod wait;
mod windows;
