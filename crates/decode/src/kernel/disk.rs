//! Disk I/O (group 1): completions, stamped when they are done.

use etwkit_etl::bytes::Cursor;

/// Types of these events.
pub mod opcode {
    types! {
        DISK {
            /// A read is complete.
            READ = 10, "Read";
            /// A write is complete.
            WRITE = 11, "Write";
            /// A read is issued.
            READ_INIT = 12, "ReadInit";
            /// A write is issued.
            WRITE_INIT = 13, "WriteInit";
            /// A flush is complete.
            FLUSH = 14, "FlushBuffers";
            /// A flush is issued.
            FLUSH_INIT = 15, "FlushInit";
        }
    }
}

/// A completed read, write or flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiskIo {
    /// Disk number.
    pub disk: u32,
    /// Flags of the request packet; bits 17 to 19 are the I/O priority.
    pub irp_flags: u32,
    /// Bytes; 0 for a flush.
    pub bytes: u32,
    /// Offset on the disk.
    pub offset: u64,
    /// Key of the file, as in file-name events.
    pub file_key: u64,
    /// Request packet.
    pub irp: u64,
    /// Initiation to completion in ticks of the performance counter, independent of the session's
    /// clock.
    pub response_ticks: u64,
    /// Thread that issued the request (version 3 and later; before, only headers name it).
    pub tid: Option<u32>,
}

impl DiskIo {
    /// Reads a payload of type read, write or flush.
    #[must_use]
    pub fn parse(payload: &[u8], opcode: u8, version: u8, pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let mut io = Self {
            disk: c.u32()?,
            irp_flags: c.u32()?,
            ..Self::default()
        };
        if opcode == opcode::FLUSH {
            io.response_ticks = c.u64()?;
            io.irp = c.pointer(pointer_size)?;
        } else {
            io.bytes = c.u32()?;
            c.u32()?; // reserved, or the response time in ms
            io.offset = c.u64()?;
            io.file_key = c.pointer(pointer_size)?;
            if version >= 2 {
                io.irp = c.pointer(pointer_size)?;
            }
            if version >= 1 {
                io.response_ticks = c.u64()?;
            }
        }
        io.tid = if version >= 3 { c.u32() } else { None };
        Some(io)
    }
}

/// The start of a read, write or flush: request packet and, from version 3 on, the thread that
/// issues it.
#[must_use]
pub fn parse_init(payload: &[u8], version: u8, pointer_size: usize) -> Option<(u64, Option<u32>)> {
    let mut c = Cursor::new(payload);
    let irp = c.pointer(pointer_size)?;
    Some((irp, if version >= 3 { Some(c.u32()?) } else { None }))
}
