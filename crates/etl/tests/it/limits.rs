//! Limits of the format: the largest accepted values, and the rejection of larger ones.

use std::io::{Cursor, Seek, SeekFrom, Write};

use etwkit_etl::wire::buffer::HEADER_LEN;
use etwkit_etl::writer::{KernelEvent, ManifestEvent, SessionOptions, TraceWriter, WriteError};
use etwkit_etl::{Order, Session};

use super::kit::{END_TIME, buffers, open, small_buffers, trace, visit};

/// Room for records in a small buffer.
const ROOM: usize = 4096 - HEADER_LEN;

fn payloads(file: &[u8]) -> Vec<usize> {
    let mut lens = Vec::new();
    visit(&open(&[file.to_vec()]), Order::File, |event| {
        if event.buffer > 0 {
            lens.push(event.payload().len());
        }
    });
    lens
}

#[test]
fn a_buffer_is_filled_to_its_last_byte() {
    let payload = [7; ROOM];
    let with = |len: usize| KernelEvent {
        payload: &payload[..len - 16],
        ..KernelEvent::default()
    };
    let file = trace(&small_buffers(), |writer| {
        writer.write(0, with(1000)).unwrap();
        writer.write(0, with(ROOM - 1000)).unwrap();
        writer.write(0, with(ROOM)).unwrap();
        writer.write(0, with(ROOM - 7)).unwrap();
        let refused = writer.write(0, with(ROOM + 1)).unwrap_err();
        assert!(
            matches!(refused, WriteError::RecordLargerThanBuffer { len, room: ROOM } if len == ROOM + 8)
        );
    });
    assert_eq!(
        payloads(&file),
        [1000 - 16, ROOM - 1000 - 16, ROOM - 16, ROOM - 23]
    );
    let ends: Vec<u32> = buffers(&file)
        .iter()
        .skip(1)
        .map(|(_, header)| header.offset)
        .collect();
    assert_eq!(ends, [4096; 3]);
}

#[test]
fn a_record_has_no_more_than_65535_bytes_and_7_counters() {
    let mut options = SessionOptions::default();
    options.header.buffer_size = 1 << 17;
    let payload = [1; 65_535];
    let kernel = |len: usize| KernelEvent {
        payload: &payload[..len - 16],
        ..KernelEvent::default()
    };
    let file = trace(&options, |writer| {
        writer.write(0, kernel(65_535)).unwrap();
        assert!(matches!(
            writer.write(0, kernel(65_536)),
            Err(WriteError::RecordTooLong { len: 65_536 })
        ));
        let extended: &[(u16, &[u8])] = &[(1, &payload[..65_430]), (2, &payload[..100])];
        let event = ManifestEvent {
            extended,
            ..ManifestEvent::default()
        };
        assert!(matches!(
            writer.write(0, event),
            Err(WriteError::RecordTooLong { .. })
        ));
        let event = KernelEvent {
            pmc_values: &[0; 8],
            ..KernelEvent::default()
        };
        assert!(matches!(
            writer.write(0, event),
            Err(WriteError::TooManyCounters { count: 8 })
        ));
    });
    assert_eq!(payloads(&file), [65_535 - 16]);
}

#[test]
fn records_can_be_added_to_the_header_buffer() {
    for compressed in [false, true] {
        let options = SessionOptions {
            compressed,
            ..small_buffers()
        };
        let masks = KernelEvent {
            opcode: 5,
            version: 2,
            payload: &[9; 36],
            ..KernelEvent::default()
        };
        let mut added = 0;
        let file = trace(&options, |writer| {
            writer
                .write(
                    0,
                    KernelEvent {
                        group: 3,
                        ..KernelEvent::default()
                    },
                )
                .unwrap();
            while writer.write_header_record(masks).is_ok() {
                added += 1;
            }
            let full = writer.write_header_record(masks);
            assert!(matches!(
                full,
                Err(WriteError::RecordLargerThanBuffer {
                    len: 56,
                    room: 0..56
                })
            ));
        });
        assert!(added > 5);
        let mut hooks = Vec::new();
        visit(&open(std::slice::from_ref(&file)), Order::File, |event| {
            hooks.push(event.hook_id().unwrap());
        });
        assert_eq!(hooks, [vec![0], vec![5; added], vec![0x300]].concat());
        assert_eq!(
            buffers(&file)[0].1.buffer_size,
            if compressed { 1024 } else { 4096 }
        );
    }
}

#[test]
fn options_that_no_trace_can_have_are_refused() {
    let refused = |change: fn(&mut SessionOptions)| {
        let mut options = SessionOptions::default();
        change(&mut options);
        TraceWriter::new(Cursor::new(Vec::new()), &options)
            .err()
            .map(|error| error.to_string())
    };
    let size =
        "buffer size of a session cannot be 4100; expected a multiple of 8 bytes from 80 to 16 MiB";
    assert_eq!(
        refused(|o| o.header.buffer_size = 4100).as_deref(),
        Some(size)
    );
    assert!(refused(|o| o.header_buffer_size = Some(72)).is_some());
    assert!(refused(|o| o.header.buffer_size = (16 << 20) + 8).is_some());
    assert!(refused(|o| o.header.pointer_size = 2).is_some());
    assert!(refused(|o| o.stack_keys = 0).is_some());
    let small = "a record of 320 bytes does not fit into a buffer with room for 128";
    assert_eq!(
        refused(|o| o.header_buffer_size = Some(200)).as_deref(),
        Some(small)
    );
    assert_eq!(refused(|_| ()), None);
}

/// A writer that discards its bytes and counts them.
struct Count(u64);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for Count {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        if let SeekFrom::Start(to) = to {
            self.0 = to;
        }
        Ok(self.0)
    }
}

#[test]
fn buffers_are_written_as_soon_as_they_are_full() {
    let mut writer = TraceWriter::new(Count(0), &small_buffers()).unwrap();
    for timestamp in 0..100_000 {
        writer
            .write(
                0,
                KernelEvent {
                    timestamp,
                    ..KernelEvent::default()
                },
            )
            .unwrap();
    }
    let buffers = 1 + 100_000 / (ROOM as u64 / 16);
    assert_eq!(writer.abandon().0, buffers * 4096);
}

#[test]
fn a_trace_may_start_anywhere_in_its_sink() {
    let mut sink = Cursor::new(b"something else".to_vec());
    sink.seek(SeekFrom::End(0)).unwrap();
    let mut writer = TraceWriter::new(sink, &small_buffers()).unwrap();
    writer.write(0, KernelEvent::default()).unwrap();
    let sink = writer.finish(END_TIME).unwrap();
    assert_eq!(sink.position(), sink.get_ref().len() as u64);
    let bytes = sink.into_inner();
    assert!(bytes.starts_with(b"something else"));
    let session = Session::open(vec![Box::new(bytes[14..].to_vec())]).unwrap();
    assert_eq!(session.files()[0].header().end_time, END_TIME);
}
