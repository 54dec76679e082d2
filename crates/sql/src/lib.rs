//! Queries extracts in SQL: the DataFusion session, its functions and the SQL library.
//!
//! [`Session`] is made from extracts (or from batches of rows, for tests) and answers SQL with
//! batches of rows. Every declared table can be named, whether the extract holds it or not. Nothing
//! is opened before a question names it.
//!
//! The interface is blocking: the engine runs on threads of its own, with stacks that are large
//! enough for planning.

#![forbid(unsafe_code)]

mod answer;
mod batch;
mod cancel;
mod catalog;
pub mod choice;
pub mod dialect;
mod empty;
mod error;
mod export;
mod files;
pub mod filter;
pub mod frames;
pub mod functions;
mod hints;
mod lakes;
pub mod library;
mod limits;
pub mod literal;
pub mod nt_status;
mod once;
mod one_row;
mod parameters;
mod plan;
mod provider;
pub mod reference;
pub mod rename;
mod renamed;
mod runtime;
mod session;
mod source;
mod spill;
mod stacks;
mod start;
mod statement;
mod stop;
pub mod time_format;
mod trace_keys;
mod using;
mod views;
pub mod win32_error;
pub mod xml;

pub use answer::{Answer, KeptBytes};
pub use batch::KnownQuestions;
pub use cancel::Cancel;
pub use datafusion::arrow;
pub use error::{Error, Result};
pub use etwkit_extract::digest;
pub use etwkit_extract::manifest::DERIVED_VERSION;
pub use etwkit_trace::tags::{DEFAULT_SET as DEFAULT_TAG_SET, OTHER as NO_TAG, TagSet, Tagged};
pub use hints::{nearest, similar, similar_file};
pub use parameters::Parameter;
pub use session::{Options, Session};
pub use source::Source;
pub use views::tables;
