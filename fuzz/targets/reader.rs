//! The reader: the bytes of a file → session, events in the order of the file and of time.
//!
//! Both orders have the same events, whether the file is mapped or read by position.

#![no_main]

use std::io;

use etwkit_etl::source::ByteSource;
use etwkit_etl::{Order, Session};
use etwkit_fuzz::passes::{left_out_buffers, read};
use libfuzzer_sys::fuzz_target;

/// A file that is read by position.
struct ByPosition(Vec<u8>);

impl ByteSource for ByPosition {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(offset, buf)
    }
}

fuzz_target!(|data: &[u8]| {
    let mapped = Session::open(vec![Box::new(data.to_vec())]);
    let by_position = Session::open(vec![Box::new(ByPosition(data.to_vec()))]);
    assert_eq!(mapped.is_ok(), by_position.is_ok());
    let (Ok(mapped), Ok(by_position)) = (mapped, by_position) else {
        return;
    };
    let in_time = read(&mapped, Order::Time);
    let in_file = read(&by_position, Order::File);
    if !left_out_buffers(&in_time) {
        assert_eq!(in_time.events, in_file.events);
    }
});
