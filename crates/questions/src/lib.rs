//! The declared questions, one folder or file each: a request becomes SQL, and its answer typed
//! rows, with sums and shares.
//!
//! Command line, HTTP and MCP fill the same requests and print the same rows, so that a number that
//! is shown in several places is computed in one. Rows come in ascending order: the largest one is
//! the last. A request queries one extract; front ends merge answers of several extracts.

#![forbid(unsafe_code)]

mod all;
pub mod alpc;
pub mod boot;
pub mod cores;
pub mod cpu;
pub mod disk;
pub mod dns;
pub mod dpc;
pub mod events;
pub mod exception;
pub mod file;
pub mod focus;
pub mod gc;
pub mod gdi_user;
pub mod hard_fault;
pub mod heap;
pub mod jit;
pub mod lbr;
pub mod logger;
pub mod mark;
pub mod memory;
pub mod method;
pub mod metrics;
pub mod mini_filter;
mod module_text;
pub mod net;
pub mod object_ref;
pub mod overview;
pub mod page_fault;
pub mod pmc;
pub mod pool;
pub mod power;
pub mod process;
pub mod providers;
pub mod ready;
pub mod registry;
pub mod screenshot;
pub mod service;
pub mod stack;
pub mod standby;
pub mod start;
pub mod stats;
pub mod strace;
pub mod syscall;
pub mod tcp;
pub mod test_run;
pub mod thread_pool;
pub mod time;
pub mod timer;
pub mod trace_log;
pub mod trace_stats;
pub mod ui_delay;
pub mod user_lock;
pub mod version;
pub mod virtual_alloc;

pub use all::QUESTIONS;
