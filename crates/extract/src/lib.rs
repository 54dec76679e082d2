//! Opening of traces, and writing and reading of extracts.
//!
//! The paths given by the user become one [`etwkit_etl::Session`].
//!
//! An input is an `.etl` file, a packed one (`.etl.gz`, `.etlgz`, `.etl.zst`, `.etl.xz`, `.etl.bz2`,
//! `.etl.lz4`), or an archive (`.zip`, `.etl.zip`, `.diagsession`, `.7z`, `.cab`) with `.etl`
//! files. Its first bytes decide, not its name. Files are mapped into memory, or read by
//! position if a mapping would be unsafe or is not wanted. Members of archives are first spooled to
//! temporary files without a name.
//!
//! The decoded events are written as an extract: [`Writer`] takes rows of tables and creates a
//! folder of Parquet files with a [`manifest`], [`Extract`] opens it. The format is described in
//! `docs/FORMAT.md`.
//!
//! Readers of other file formats use [`open_files`] to open and unpack them, and [`import_rows`] to
//! turn their rows into an extract. [`json7z`] reads extracts of ETWAnalyzer. A [`lake`] keeps the rows of
//! many extracts.
//!
//! This crate also reads files that describe events, which the user names in addition to a trace
//! ([`Described`]).
//!
//! This crate knows files and archives; it does not know the meaning of events.

#![deny(unsafe_code)]

mod about;
mod archive;
mod checksum;
mod code_hash;
mod convert;
mod describe;
mod diagnosed;
mod error;
mod facts;
mod foreign;
mod hash;
pub mod json7z;
mod kind;
pub mod lake;
pub mod left_out;
pub mod manifest;
mod members;
mod names;
mod open;
mod options;
mod pack;
mod partial;
mod pictures;
mod precious;
pub mod quiet;
pub mod reader;
mod reopened;
mod run_log;
mod sealed;
mod source;
mod spool;
mod store_error;
mod symbols;
mod tag_sets;
pub mod writer;

pub use about::{extract_row, run_id, topic_rows};
pub use archive::MemberSelection;
pub use checksum::Checksums;
pub use convert::{
    ConvertError, ConvertOptions, Converted, FoundNames, convert, convert_with_tags,
    default_target, derive_again, derive_into, derive_with_tags, find_names, name_again,
};
pub use describe::{DescribeError, Described};
pub use diagnosed::{Diagnosed, Diagnosing};
pub use error::{AtLeast, Error, Result};
pub use foreign::{Foreign, FromForeign, ReadError, import_rows};
pub use hash::digest;
pub use manifest::{DerivedManifest, Manifest};
pub use members::{Opened, OpenedFile, files_hash, names_in_archive, open_files};
pub use names::{DotnetCode, NameFrom, NamedFile, Naming, OnSymbols, UnknownFile, attempts};
pub use open::{Input, SessionFile, open};
pub use options::{Limits, Options};
pub use pack::Packing;
pub use partial::Partial;
pub use precious::{precious, starts_like_a_trace};
pub use reader::{Extract, Ranges, Slice, TableFile, derived_in, manifest_of};
pub use store_error::{StoreError, StoreResult};
pub use symbols::KeptSymbol;
pub use tag_sets::{has_tags, is_current, own_tag_sets};
pub use writer::{DerivedWriter, WriteSummary, Writer, WriterOptions};
