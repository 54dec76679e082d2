//! Identity over time: the process, thread, image, file name or stack that an event refers to.
//!
//! Windows reuses process IDs, thread IDs, addresses, file keys and stack keys. Each tracker is fed
//! with all its events in order of time (first pass) and then answers for any point in time (second
//! pass), because many names are logged at the end of a recording.

pub mod file_name;
pub mod il_map;
pub mod image;
pub mod method;
pub mod process;
pub mod registry_key;
pub mod runtime_module;
pub mod stack;
pub mod thread;
pub mod volume;
pub(crate) mod witness;
