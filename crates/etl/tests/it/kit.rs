//! Traces in memory, made by the writer and read as a session.

use std::io::{self, Cursor};
use std::ops::ControlFlow;

use etwkit_etl::bytes::u64_at;
use etwkit_etl::damage::{Count, Damage, DamageKind};
use etwkit_etl::session::Pass;
use etwkit_etl::source::ByteSource;
use etwkit_etl::wire::buffer::{BufferHeader, HEADER_LEN};
use etwkit_etl::wire::trace_header::TraceHeader;
use etwkit_etl::writer::{KernelEvent, SessionOptions, TraceWriter};
use etwkit_etl::{HeaderKind, Order, RawEvent, Session};

pub type Writer = TraceWriter<Cursor<Vec<u8>>>;

/// Wall time of the stop of every trace made here.
pub const END_TIME: i64 = 133_000_000_000_000_000;

/// Small buffers, so that a short trace has many.
pub fn small_buffers() -> SessionOptions {
    let header = TraceHeader {
        buffer_size: 4096,
        ..SessionOptions::default().header
    };
    SessionOptions {
        header,
        ..SessionOptions::default()
    }
}

pub fn trace(options: &SessionOptions, events: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), options).unwrap();
    events(&mut writer);
    writer.finish(END_TIME).unwrap().into_inner()
}

/// A kernel event with a unique number; 64 bytes in the file.
pub fn event(writer: &mut Writer, cpu: u16, timestamp: i64, number: u64) {
    // Noise, so that the compressor has work to do.
    let mut payload = number.to_le_bytes().to_vec();
    payload
        .extend((0..40u64).map(|i| (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (i % 50)) as u8));
    let event = KernelEvent {
        timestamp,
        group: 0xF,
        opcode: 46,
        payload: &payload,
        ..KernelEvent::default()
    };
    writer.write(cpu, event).unwrap();
}

/// A trace of `count` events, one per tick from 1, distributed over `cpus` processors in turn.
pub fn numbered(options: &SessionOptions, count: u64, cpus: u64) -> Vec<u8> {
    trace(options, |writer| {
        for number in 1..=count {
            event(writer, (number % cpus) as u16, number as i64, number);
        }
    })
}

/// A file that cannot be mapped.
pub struct Unmapped(pub Vec<u8>);

impl ByteSource for Unmapped {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(offset, buf)
    }
}

pub fn open(files: &[Vec<u8>]) -> Session {
    Session::open(
        files
            .iter()
            .map(|file| Box::new(file.clone()) as Box<dyn ByteSource>)
            .collect(),
    )
    .unwrap()
}

pub fn visit(session: &Session, order: Order, mut each: impl FnMut(&RawEvent<'_>)) -> Pass {
    let pass = session.for_each(order, |event| {
        each(event);
        ControlFlow::Continue(())
    });
    pass.unwrap()
}

/// The result of reading: the numbers of [`event`] in order, and all damage.
#[derive(Debug, PartialEq, Eq)]
pub struct Read {
    pub numbers: Vec<u64>,
    pub damage: Vec<(DamageKind, Count)>,
}

impl Read {
    pub fn count(&self, kind: DamageKind) -> Count {
        self.damage
            .iter()
            .find(|(k, _)| *k == kind)
            .map_or(Count::default(), |(_, count)| *count)
    }
}

/// Reads the files as one session; a file that cannot be mapped must read the same.
pub fn read(files: &[Vec<u8>], order: Order) -> Read {
    let unmapped = files
        .iter()
        .map(|file| Box::new(Unmapped(file.clone())) as Box<dyn ByteSource>);
    let other = numbers(&Session::open(unmapped.collect()).unwrap(), order);
    let read = numbers(&open(files), order);
    assert_eq!(read, other, "mapped and unmapped");
    read
}

fn numbers(session: &Session, order: Order) -> Read {
    let mut numbers = Vec::new();
    let pass = visit(session, order, |event| {
        if matches!(event.kind, HeaderKind::Perfinfo32 | HeaderKind::Perfinfo64) {
            numbers.push(u64_at(event.payload(), 0).unwrap());
        }
    });
    let mut damage = Damage::default();
    damage.merge(session.damage());
    damage.merge(&pass.damage);
    Read {
        numbers,
        damage: damage.counts().collect(),
    }
}

/// Offset and header of every buffer of a sound file.
pub fn buffers(file: &[u8]) -> Vec<(usize, BufferHeader)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < file.len() {
        let header = BufferHeader::parse(&file[at..]).unwrap();
        found.push((at, header));
        at += header.buffer_size as usize;
    }
    found
}

/// Changes the header of the buffer at `at`.
pub fn edit_header(file: &mut [u8], at: usize, edit: impl FnOnce(&mut BufferHeader)) {
    let mut header = BufferHeader::parse(&file[at..]).unwrap();
    edit(&mut header);
    file[at..at + HEADER_LEN].copy_from_slice(&header.to_bytes());
}
