//! Identity over time: which process, thread, image, file name or stack an event means.
//!
//! Windows reuses process ids, thread ids, addresses, file keys and stack keys. Each tracker is fed with all
//! its events in time order (first pass) and then answers for any point in time (second pass), since much of
//! what names things is logged at the end of a recording.

pub mod file_name;
pub mod image;
pub mod method;
pub mod process;
pub mod registry_key;
pub mod runtime_module;
pub mod stack;
pub mod thread;
pub mod volume;
