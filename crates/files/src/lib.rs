//! Output files of commands: each is either complete or absent, and none replaces a recording.
//!
//! [`out_file`] gives a file its name at the end; [`etwkit_terminal::interrupt`] removes unfinished
//! files when a signal ends the process.

pub mod copies;
pub mod out_file;
