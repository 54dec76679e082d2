//! Tests of the recorder.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    clippy::exit
)]

mod control;
mod each_run;
mod listen;
mod profiles;
mod recording;
mod rotate;
mod schema;
mod scripts;
mod stand_in;
mod wprp;
