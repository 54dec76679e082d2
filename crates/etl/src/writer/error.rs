//! Limits of a trace that a writer can exceed.

use std::io;

/// The reason for which a trace or one of its records could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The sink refused the bytes.
    #[error("cannot write the trace: {0}")]
    Io(#[from] io::Error),
    /// The options contradict each other or the format.
    #[error("{option} of a session cannot be {value}; expected {expected}")]
    Options {
        /// Name of the option.
        option: &'static str,
        /// Its value.
        value: u64,
        /// The allowed values.
        expected: &'static str,
    },
    /// The length of a record is a 16-bit number.
    #[error("a record of {len} bytes is longer than 65535")]
    RecordTooLong {
        /// Bytes, header included.
        len: usize,
    },
    /// A record is larger than the room of a buffer; records never cross buffers.
    #[error("a record of {len} bytes does not fit into a buffer with room for {room}")]
    RecordLargerThanBuffer {
        /// Bytes, header and padding included.
        len: usize,
        /// Bytes that a buffer has after its own header.
        room: usize,
    },
    /// The number of counters is a 3-bit number.
    #[error("a kernel event cannot carry {count} performance counters, 7 at most")]
    TooManyCounters {
        /// Counters of the event.
        count: usize,
    },
    /// Without [`super::SessionOptions::processor_index`] a buffer names its processor in one byte.
    #[error("processor {cpu} does not fit into the 8 bits that old sessions have for it")]
    Processor {
        /// The processor.
        cpu: u16,
    },
}

/// Result of the writer.
pub type Result<T> = std::result::Result<T, WriteError>;
