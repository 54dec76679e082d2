//! Event Trace Log (`.etl`) files: a reader that turns bytes into ordered raw events, and a writer.
//!
//! This crate handles buffers, headers and clocks. It does not interpret providers or threads, and
//! does not open files: bytes come from a [`source::ByteSource`], and events go to a closure.
//!
//! - [`wire`]: the documented structures, one file each, and the compression of buffers
//! - [`clock`]: raw ticks to time
//! - [`session`]: one or several files read as one session, in file order or in global time order
//! - [`writer`]: writes the same format, for tests and generated traces
//! - [`damage`]: damage in a file; reading continues after it

#![forbid(unsafe_code)]

pub mod bytes;
pub mod clock;
pub mod damage;
mod error;
pub mod guid;
pub mod session;
pub mod source;
mod time_zone;
pub mod wire;
pub mod writer;

pub use error::{Error, Result};
pub use guid::Guid;
pub use session::{Order, Session};
pub use wire::event::{HeaderKind, Identity, RawEvent};
