//! Functions of one module, sorted by address: the form of every symbol file in memory and on disk.
//!
//! Layout, all numbers little-endian: a header of 64 bytes, functions of 24 bytes each, offsets of
//! strings, strings, and for each function its *rows*: variable-length numbers that give files,
//! lines and inlined functions from an offset on. Last come the *moves* of a module that was
//! rearranged after linking: pairs of addresses, from those of the image to those of the functions,
//! and the reverse. An address is found by binary search over the functions and a walk over the rows
//! of one; nothing else is read. A checksum over everything
//! reveals damage, and every access is checked, so that a forged file can do no harm.

mod layout;
mod moves;
mod reader;
mod writer;

pub(crate) use layout::{NamedAddress, lay_out};
pub(crate) use moves::Moves;
pub use reader::SymbolTable;
pub(crate) use writer::{Frame, Function, Writer};

pub(crate) const MAGIC: [u8; 8] = *b"etwksym\n";
/// Version of the format. It grows with each change that reads existing files differently, or
/// writes names differently.
pub const VERSION: u32 = 3;
pub(crate) const HEADER_LEN: usize = 64;
pub(crate) const FUNCTION_LEN: usize = 24;
/// Bytes of a move.
pub(crate) const MOVE_LEN: usize = 8;
/// Offset of the checksum. It covers the bytes after itself.
pub(crate) const CHECKSUM_AT: usize = 12;
/// Instead of an index or offset.
pub(crate) const NONE: u32 = u32::MAX;
/// Flag of a function: its name comes only from a public symbol, and it ends where the next name
/// starts.
pub(crate) const PUBLIC: u32 = 1;
/// Maximum number of frames of a row; more deeply inlined calls are omitted.
pub(crate) const MAX_DEPTH: usize = 64;
