//! Small traces in memory, made of records.

use std::io::Cursor;

use etwkit_etl::Session;
use etwkit_etl::writer::{Record, SessionOptions, TraceWriter};

/// A writer of traces whose records may have any length that the format allows.
#[must_use]
pub fn writer(pointer_size: u32) -> TraceWriter<Cursor<Vec<u8>>> {
    let mut options = SessionOptions {
        header_buffer_size: Some(1024),
        stack_keys: 16,
        ..SessionOptions::default()
    };
    options.header.buffer_size = 0x1_0100;
    options.header.pointer_size = pointer_size;
    options.header.start_time = 133_000_000_000_000_000;
    TraceWriter::new(Cursor::new(Vec::new()), &options).expect("these options are right")
}

/// Adds a record on processor 0; one that is too long is left out.
pub fn add<'a>(writer: &mut TraceWriter<Cursor<Vec<u8>>>, cpu: u16, record: impl Into<Record<'a>>) {
    let _ = writer.write(cpu, record);
}

/// The bytes of the trace.
#[must_use]
pub fn bytes(writer: TraceWriter<Cursor<Vec<u8>>>) -> Vec<u8> {
    writer
        .finish(133_000_000_010_000_000)
        .expect("memory does not fail")
        .into_inner()
}

/// The trace, opened.
#[must_use]
pub fn session(writer: TraceWriter<Cursor<Vec<u8>>>) -> Session {
    Session::open(vec![Box::new(bytes(writer))]).expect("what was written can be read")
}
