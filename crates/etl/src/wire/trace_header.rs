//! `TRACE_LOGFILE_HEADER`: the payload of the first event of a file.

use crate::bytes::Cursor;

/// Bits of `LogFileMode` that change how a file is read.
pub mod mode {
    /// Data buffers wrap around after the first one.
    pub const CIRCULAR: u32 = 0x2;
    /// The session goes on in a new file when one is full.
    pub const NEW_FILE: u32 = 0x8;
    /// A later session was appended.
    pub const APPEND: u32 = 0x4;
    /// The file was extended to its final size up front.
    pub const PREALLOCATE: u32 = 0x20;
    /// Events stay in memory until the session is flushed.
    pub const BUFFERING: u32 = 0x400;
    /// Written by the process that logs.
    pub const PRIVATE_LOGGER: u32 = 0x800;
    /// `MaximumFileSize` is in KB.
    pub const SIZE_IN_KB: u32 = 0x2000;
    /// Written by a merge or relog step.
    pub const RELOG: u32 = 0x1_0000;
    /// A private logger inside one process.
    pub const PRIVATE_IN_PROC: u32 = 0x2_0000;
    /// Compressed buffers.
    pub const COMPRESSED: u32 = 0x400_0000;
    /// All processors share one stream of buffers.
    pub const NO_PER_PROCESSOR_BUFFERING: u32 = 0x1000_0000;
}

/// The fields of the trace header. FILETIMEs are units of 100 ns since 1601 UTC, 0 if not written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TraceHeader {
    /// Buffer size of the session in bytes.
    pub buffer_size: u32,
    /// Windows major and minor version, then major and minor version of the file layout.
    pub version: [u8; 4],
    /// Windows build number.
    pub build: u32,
    /// Logical processors.
    pub cpu_count: u32,
    /// Stop of the session; 0 if it was never closed.
    pub end_time: i64,
    /// Clock interrupt period in units of 100 ns.
    pub timer_resolution: u32,
    /// Limit of the file size in MB (KB with [`mode::SIZE_IN_KB`]), 0 = none.
    pub max_file_size: u32,
    /// Bits of `LogFileMode`, see [`mode`].
    pub log_file_mode: u32,
    /// Buffers in the file, this one included; 0 if the session was never closed.
    pub buffers_written: u32,
    /// Header buffers.
    pub start_buffers: u32,
    /// 4 or 8: pointer size of the kernel that logged.
    pub pointer_size: u32,
    /// Events lost.
    pub events_lost: u32,
    /// Processor speed.
    pub cpu_mhz: u32,
    /// `LoggerName` and `LogFileName` words, which mean nothing in a file.
    pub pointers: [u64; 2],
    /// Time zone of the machine.
    pub time_zone: TimeZone,
    /// Boot time, UTC.
    pub boot_time: i64,
    /// Ticks of the performance counter per second.
    pub perf_freq: i64,
    /// Wall time of this header event.
    pub start_time: i64,
    /// Clock type, see [`crate::clock::ClockType::from_raw`].
    pub clock_type: u32,
    /// Buffers lost.
    pub buffers_lost: u32,
    /// Name of the session.
    pub session_name: String,
    /// Name of the file when it was created.
    pub log_file_name: String,
}

/// `TIME_ZONE_INFORMATION`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TimeZone {
    /// Minutes: UTC = local time + bias.
    pub bias: i32,
    /// Name of standard time.
    pub standard_name: String,
    /// Start of standard time (SYSTEMTIME).
    pub standard_date: [u8; 16],
    /// Added to the bias in standard time.
    pub standard_bias: i32,
    /// Name of daylight saving time.
    pub daylight_name: String,
    /// Start of daylight saving time (SYSTEMTIME).
    pub daylight_date: [u8; 16],
    /// Added to the bias in daylight saving time.
    pub daylight_bias: i32,
}

/// Longest session in units of 100 ns: a century. A longer one lacks its start.
const MAX_LENGTH: i64 = 100 * 366 * 86_400 * 10_000_000;

impl TraceHeader {
    /// Length of the session in units of 100 ns; `None` if the header does not state it.
    #[must_use]
    pub fn length(&self) -> Option<i64> {
        // Checked, since both are numbers of a file that may be damaged.
        let length = self.end_time.checked_sub(self.start_time)?;
        (self.end_time > 0 && (1..=MAX_LENGTH).contains(&length)).then_some(length)
    }

    /// Reads the payload of the header event, whose pointers have `pointer_size` bytes. `None` if
    /// the fixed part is not complete.
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let mut header = Self {
            buffer_size: c.u32()?,
            version: c.array()?,
            build: c.u32()?,
            cpu_count: c.u32()?,
            end_time: c.i64()?,
            timer_resolution: c.u32()?,
            max_file_size: c.u32()?,
            log_file_mode: c.u32()?,
            buffers_written: c.u32()?,
            start_buffers: c.u32()?,
            pointer_size: c.u32()?,
            events_lost: c.u32()?,
            cpu_mhz: c.u32()?,
            pointers: [c.pointer(pointer_size)?, c.pointer(pointer_size)?],
            time_zone: TimeZone::parse(&mut c)?,
            boot_time: c.i64()?,
            perf_freq: c.i64()?,
            start_time: c.i64()?,
            clock_type: c.u32()?,
            buffers_lost: c.u32()?,
            ..Self::default()
        };
        // The names follow the fixed part, and short headers have none.
        header.session_name = c.text();
        header.log_file_name = c.text();
        Some(header)
    }

    /// The payload with pointers of `pointer_size` bytes.
    #[must_use]
    pub fn to_bytes(&self, pointer_size: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(400);
        out.extend(self.buffer_size.to_le_bytes());
        out.extend(self.version);
        out.extend(self.build.to_le_bytes());
        out.extend(self.cpu_count.to_le_bytes());
        out.extend(self.end_time.to_le_bytes());
        for word in [
            self.timer_resolution,
            self.max_file_size,
            self.log_file_mode,
            self.buffers_written,
            self.start_buffers,
            self.pointer_size,
            self.events_lost,
            self.cpu_mhz,
        ] {
            out.extend(word.to_le_bytes());
        }
        for pointer in self.pointers {
            // Pointers of a file mean nothing, but they have a width.
            // The first bytes are the low half, which is a pointer of 32 bits.
            out.extend(pointer.to_le_bytes().iter().take(pointer_size));
        }
        self.time_zone.write(&mut out);
        for time in [self.boot_time, self.perf_freq, self.start_time] {
            out.extend(time.to_le_bytes());
        }
        out.extend(self.clock_type.to_le_bytes());
        out.extend(self.buffers_lost.to_le_bytes());
        for name in [&self.session_name, &self.log_file_name] {
            out.extend(name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
        }
        out
    }
}

/// Bytes of a time zone name.
const ZONE_NAME_LEN: usize = 64;

impl TimeZone {
    fn parse(c: &mut Cursor<'_>) -> Option<Self> {
        let zone = Self {
            bias: c.i32()?,
            standard_name: c.fixed_text(ZONE_NAME_LEN)?,
            standard_date: c.array()?,
            standard_bias: c.i32()?,
            daylight_name: c.fixed_text(ZONE_NAME_LEN)?,
            daylight_date: c.array()?,
            daylight_bias: c.i32()?,
        };
        c.take(4)?; // padding to 176 bytes
        Some(zone)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.bias.to_le_bytes());
        write_zone_name(&self.standard_name, out);
        out.extend(self.standard_date);
        out.extend(self.standard_bias.to_le_bytes());
        write_zone_name(&self.daylight_name, out);
        out.extend(self.daylight_date);
        out.extend(self.daylight_bias.to_le_bytes());
        out.extend([0; 4]);
    }
}

fn write_zone_name(name: &str, out: &mut Vec<u8>) {
    let units = name.encode_utf16().chain(std::iter::repeat(0));
    // A name without its end would take the whole field; the field is cut.
    out.extend(units.take(ZONE_NAME_LEN / 2).flat_map(u16::to_le_bytes));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_needs_both_times() {
        let length = |start_time, end_time| {
            TraceHeader {
                start_time,
                end_time,
                ..TraceHeader::default()
            }
            .length()
        };
        const START: i64 = 132_404_548_206_236_167;
        assert_eq!(length(START, START + 7), Some(7));
        assert_eq!(length(START, START), None);
        assert_eq!(length(START, 0), None);
        for start in [0, i64::MIN, i64::MAX] {
            assert_eq!(length(start, START), None, "{start}");
        }
    }

    #[test]
    fn header_reads_back_with_both_pointer_sizes() {
        let header = TraceHeader {
            buffer_size: 65536,
            version: [10, 0, 1, 5],
            build: 19045,
            cpu_count: 8,
            pointer_size: 8,
            pointers: [1, 2],
            time_zone: TimeZone {
                bias: -60,
                standard_name: "W. Europe".into(),
                ..TimeZone::default()
            },
            perf_freq: 10_000_000,
            clock_type: 1,
            session_name: "NT Kernel Logger".into(),
            log_file_name: "C:\\a.etl".into(),
            ..TraceHeader::default()
        };
        for (pointer_size, fixed) in [(4, 272), (8, 280)] {
            let bytes = header.to_bytes(pointer_size);
            assert_eq!(bytes.len(), fixed + 2 * (17 + 9));
            assert_eq!(
                TraceHeader::parse(&bytes, pointer_size).as_ref(),
                Some(&header)
            );
            assert_eq!(TraceHeader::parse(&bytes[..fixed - 1], pointer_size), None);
        }
    }
}
