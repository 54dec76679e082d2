//! Symbols: finding the symbol file of a module, and resolving addresses with it.
//!
//! A trace names modules with the [`Identity`] of their symbol file and addresses in them.
//! [`Symbols`] finds the file along a [`SearchPath`] (folders, symbol stores, symbol servers) and
//! caches its contents in a small file. A [`Module`] resolves addresses to functions, files, lines
//! and inlined functions. This crate is independent of traces and tables.
//!
//! - [`identity`]: name, GUID and age; names from a trace, reduced to plain file names
//! - [`image`]: images by time stamp and size, and the symbol files that they name
//! - [`search_path`]: `_NT_SYMBOL_PATH` and its shortcuts
//! - [`store`]: symbol stores: folders, downstream caches, servers, compressed files
//! - [`pdb`], [`breakpad`], [`portable`]: the file formats
//! - [`table`]: functions of one module, found by binary search; the cache on disk
//! - [`undecorate`]: names in the form that the Windows tools print
//!
//! No file content can cause a panic, and memory is bounded by the size of the file.

#![forbid(unsafe_code)]

pub mod breakpad;
mod error;
pub mod identity;
pub mod image;
mod load;
pub mod pdb;
pub mod portable;
mod progress;
pub mod search_path;
pub mod store;
mod symbol;
pub mod table;
pub mod undecorate;

pub use error::{Error, Result};
pub use identity::Identity;
pub use image::{ImageIdentity, NamedPdb};
pub use load::{ImageSearch, Module, Options, Outcome, Symbols};
pub use progress::{Cancel, Event, Progress};
pub use search_path::SearchPath;
pub use store::{Attempt, NOT_THERE};
pub use symbol::{Inlined, Symbol};
