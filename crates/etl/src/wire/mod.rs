//! The documented structures of an `.etl` file, one file each.

pub mod buffer;
pub mod event;
pub mod extended;
pub mod lz77;
pub mod lz77_compress;
pub mod lznt1;
pub mod message;
pub mod record;
pub mod trace_header;
pub mod xpress_huffman;
