//! Tests of recording, of test runs, and of the small program: its commands when Ctrl-C is pressed,
//! and all of it on Windows as Wine has it.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    clippy::exit
)]

mod cmd;
mod control;
mod each_run;
#[cfg(unix)]
mod interrupted;
mod listen;
mod profiles;
mod recording;
mod rotate;
mod schema;
mod scripts;
mod stand_in;
#[cfg(unix)]
mod test_runs;
mod transcript;
mod windows;
mod wprp;
