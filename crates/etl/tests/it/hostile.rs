//! Damaged files are read to their end without a panic, without endless work, and without more
//! events than their bytes can hold.

use etwkit_etl::source::ByteSource;
use etwkit_etl::writer::{SessionOptions, StackOwner, StackPart, Style};
use etwkit_etl::{Order, Session};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::compression::recompress;
use super::kit::{Unmapped, event, small_buffers, trace};
use super::model::{Spec, spec};

/// A change to the bytes of a file.
#[derive(Debug, Clone)]
enum Change {
    Flip(Index, u8),
    Fill(Index, u8, u16),
    Word(Index, u32),
    Copy(Index, Index, u16),
    Cut(Index),
    Insert(Index, Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<Index>;
    let word = prop_oneof![
        Just(0),
        Just(u32::MAX),
        Just(0x48),
        Just(1 << 24),
        Just(0x7FFF_FFFF),
        any::<u32>()
    ];
    prop_oneof![
        5 => (at(), any::<u8>()).prop_map(|(at, mask)| Change::Flip(at, mask)),
        2 => (at(), prop_oneof![Just(0), Just(0xFF), any::<u8>()], any::<u16>())
            .prop_map(|(a, b, c)| Change::Fill(a, b, c)),
        4 => (at(), word).prop_map(|(at, word)| Change::Word(at, word)),
        1 => (at(), at(), any::<u16>()).prop_map(|(from, to, len)| Change::Copy(from, to, len)),
        1 => at().prop_map(Change::Cut),
        1 => (at(), vec(any::<u8>(), 0..100)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
    ]
}

impl Change {
    fn apply(&self, file: &mut Vec<u8>) {
        if file.is_empty() {
            return;
        }
        let len = file.len();
        match self {
            Self::Flip(at, mask) => file[at.index(len)] ^= mask,
            Self::Fill(at, byte, count) => {
                let at = at.index(len);
                file[at..(at + usize::from(*count)).min(len)].fill(*byte);
            }
            Self::Word(at, word) => {
                // Most important fields are at multiples of 4.
                let at = at.index(len) & !3;
                file.iter_mut()
                    .skip(at)
                    .zip(word.to_le_bytes())
                    .for_each(|(to, from)| *to = from);
            }
            Self::Copy(from, to, count) => {
                let (from, to) = (from.index(len), to.index(len));
                let count = usize::from(*count).min(len - from).min(len - to);
                file.copy_within(from..from + count, to);
            }
            Self::Cut(at) => file.truncate(at.index(len)),
            Self::Insert(at, bytes) => {
                let at = at.index(len);
                file.splice(at..at, bytes.iter().copied());
            }
        }
    }
}

/// Calls every accessor of an event.
fn read(file: &[u8], mapped: bool) -> Vec<u64> {
    let source: Box<dyn ByteSource> = if mapped {
        Box::new(file.to_vec())
    } else {
        Box::new(Unmapped(file.to_vec()))
    };
    let Ok(session) = Session::open(vec![source]) else {
        return Vec::new();
    };
    let counts = session.files()[0].buffer_counts();
    assert!(counts.total <= file.len() as u64 / 72 + 1);
    let mut events = Vec::new();
    for order in [Order::File, Order::Time] {
        let pass = session.for_each(order, |event| {
            assert!(event.record.len() >= event.kind.header_len());
            let _ = (
                event.identity(),
                event.descriptor(),
                event.hook_id(),
                event.provider(),
                event.level(),
            );
            let _ = (
                event.thread_id(),
                event.process_id(),
                event.activity_id(),
                event.pebs_index(),
            );
            let _ = (
                event.pmc_values().count(),
                event.extended().count(),
                event.payload().len(),
            );
            let _ = (
                session.clock().nanoseconds(event.timestamp),
                session.clock().filetime(event.timestamp),
            );
            std::ops::ControlFlow::Continue(())
        });
        events.push(pass.unwrap().events);
    }
    events
}

fn written(options: &SessionOptions, records: &[Spec], format: u16) -> Vec<u8> {
    let file = trace(options, |writer| {
        for (spec, time) in records.iter().zip(0..) {
            let cpu = time as u16 % 3;
            // Records that no buffer can hold are left out.
            let _ = spec.with_record(time, |record| writer.write(cpu, record));
            event(writer, cpu, time, 1);
            let owner = StackOwner {
                timestamp: time,
                process_id: 1,
                thread_id: 1,
            };
            writer
                .write_stack_key(cpu, time, owner, StackPart::User, &[time as u64; 9])
                .unwrap();
        }
    });
    if options.compressed && format != 3 {
        recompress(&file, format)
    } else {
        file
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn damage_of_any_kind_is_survived(
        records in vec(spec(), 1..40),
        merged in any::<bool>(),
        compressed in any::<bool>(),
        format in 2u16..5,
        unordered in any::<bool>(),
        changes in vec(change(), 0..30),
    ) {
        let mut options = SessionOptions { compressed, ..small_buffers() };
        options.style = if merged { Style::Merged } else { Style::Raw };
        options.header.log_file_mode |= if unordered { 0x1000_0000 } else { 0 };
        let mut file = written(&options, &records, format);
        // The first header stays intact in half of the cases: without it nothing else is read.
        let spared = file[..600].to_vec();
        changes.iter().for_each(|change| change.apply(&mut file));
        if merged && file.len() >= 600 {
            file[..600].copy_from_slice(&spared);
        }
        let events = read(&file, true);
        prop_assert_eq!(events.first(), events.last(), "both orders hand out the same events");
        prop_assert_eq!(&events, &read(&file, false));
    }

    #[test]
    fn arbitrary_bytes_are_survived(bytes in vec(any::<u8>(), 0..2000)) {
        read(&bytes, true);
        let mut file = written(&small_buffers(), &[], 3);
        file.extend(bytes);
        read(&file, true);
    }
}
