//! Files that commands write: complete or not there, and never over something that was recorded.
//!
//! [`out_file`] gives a file its name at the end; [`etwkit_terminal::interrupt`] removes what is unfinished
//! when a signal ends the process.

pub mod copies;
pub mod out_file;
