//! Functions of one module, sorted by address: what a symbol file is turned into, in memory and on disk.
//!
//! Layout, all numbers little-endian: a header of 64 bytes, functions of 24 bytes each, offsets of strings,
//! strings, and for each function its *rows*, variable numbers that say from which offset on which files,
//! lines and inlined functions hold. An address is found by binary search over the functions and a walk over
//! the rows of one; nothing else is read. A checksum over everything reveals damage, and every access is
//! checked, so that a made-up file cannot hurt.

mod layout;
mod reader;
mod writer;

pub(crate) use layout::{Named, lay_out};
pub use reader::Table;
pub(crate) use writer::{Frame, Function, Writer};

pub(crate) const MAGIC: [u8; 8] = *b"etwksym\n";
/// Grows whenever files that exist would be read differently, or names are written differently.
pub const VERSION: u32 = 1;
pub(crate) const HEADER_LEN: usize = 64;
pub(crate) const FUNCTION_LEN: usize = 24;
/// Where the checksum lies; what it sums up begins behind it.
pub(crate) const CHECKSUM_AT: usize = 12;
/// Instead of an index or offset.
pub(crate) const NONE: u32 = u32::MAX;
/// Flag of a function: only a public symbol has its name, its end is that of what follows.
pub(crate) const PUBLIC: u32 = 1;
/// Frames of a row; what is inlined deeper is left out.
pub(crate) const MAX_DEPTH: usize = 64;
