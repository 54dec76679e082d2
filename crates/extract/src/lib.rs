//! Opening traces: what the user names becomes one [`etwkit_etl::Session`].
//!
//! An input is an `.etl` file, or an archive (`.zip`, `.etl.zip`, `.diagsession`, `.7z`) that holds some; its
//! first bytes decide which, not its name. Files are mapped into memory, or read by position where a
//! mapping would be unsafe or is not wanted. Members of archives are spooled to temporary files without
//! a name first.
//!
//! This crate knows files and archives; it does not know what the events mean.

#![deny(unsafe_code)]

mod archive;
mod error;
mod kind;
mod open;
mod options;
mod source;
mod spool;

pub use error::{Error, Result};
pub use open::{Input, Part, open};
pub use options::{Limits, Options};
