//! Questions without a terminal: the interface of a command line, a page, a service or a notebook
//! to traces and extracts.
//!
//! An [`Engine`] opens traces, archives and extracts, keeps extracts of traces in a cache, pools
//! sessions, and queries one or many extracts. It is cheap to clone and can be used by any number
//! of threads at once. The settings of one question travel with it, as an [`Asking`]: names of
//! processes, descriptions of events, stack tags, the listener for its progress, and the switch
//! that gives it up. So no question affects another one.
//!
//! Any declared question ([`questions`]) is run by its name and the values of its options, in the
//! form of JSON:
//!
//! ```no_run
//! use std::path::PathBuf;
//!
//! use etwkit_engine::{Asking, Engine, question};
//! # type Error = Box<dyn std::error::Error>;
//! # fn main() -> Result<(), Error> {
//! let values = serde_json::from_str(r#"{"process": "cmd", "top": 5}"#)?;
//! let mut request = question("cpu").ok_or("no such question")?.read(&values)?;
//! let extracts = [PathBuf::from("slow.etl")];
//! Engine::default().ask(&Asking::default(), &extracts, &mut *request, |_, one| {
//!     let (trace, answer) = one.answer?;
//!     println!("{}: {} rows", trace.file_name, answer?.len());
//!     Ok::<_, Error>(())
//! })?;
//! # Ok(())
//! # }
//! ```
//!
//! Nothing here knows arguments, printers or terminals.

#![forbid(unsafe_code)]

mod all_gaps;
mod ask;
mod ask_all;
mod asking;
mod cache;
mod choose;
mod diagnosis;
mod engine;
mod error;
mod gaps;
mod has_something;
mod input;
mod lakes;
mod library;
mod listing;
mod named;
mod one_recording;
mod open;
mod pool;
mod questions;
mod recordings;
mod rules;
mod same_trace;
mod settings;
mod stored;
pub mod symbols;
mod tags;

pub use all_gaps::AllGaps;
pub use ask::{ExtractAnswer, Naming};
pub use asking::{Asking, Extracting, Progress, Resources};
pub use choose::{Choice, choose};
pub use diagnosis::{KeptAnswers, diagnosis_of};
pub use engine::Engine;
pub use error::{Error, Result};
pub use gaps::{Gaps, of_paths};
pub use has_something::{can_answer, data_tables, did_not_happen, has_something};
pub use input::{DEFAULT_MAX_UNPACKED_GIB, input_options};
pub use lakes::{refuse_address, refuse_lakes};
pub use library::{library, library_question};
pub use listing::{Head, ListedRecording, Listing};
pub use named::{InputKind, each_once, named, places};
pub use one_recording::OneRecording;
pub use open::is_trace;
pub use pool::SessionPool;
pub use questions::{described, question, questions};
pub use recordings::{ask_names, is_folder, recordings};
pub use rules::{DiskFiles, read_rules};
pub use same_trace::SameTrace;
pub use settings::Settings;
pub use stored::{CacheEntry, Cleared, StoredKind, StoredQuery};
pub use tags::{tag_sets, tag_warnings};
