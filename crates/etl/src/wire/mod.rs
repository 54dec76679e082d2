//! The documented structures of an `.etl` file, one file each.

pub mod buffer;
pub mod event;
pub mod extended;
pub mod lz77;
pub mod message;
pub mod record;
pub mod trace_header;
