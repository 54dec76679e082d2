//! Manifests of EventSource providers: XML, chunks of it in the order in which a trace has them, and payloads
//! of their events. The XML is read as a file that a user names, too.
//!
//! Layout of an input: shape (1 byte). Even: XML of a whole manifest, which is also cut into chunks. Odd,
//! again and again: kind (1 byte), thread (1 byte), number of chunks and of this chunk (1 byte each), XML or
//! payload behind its length (2 bytes).

#![no_main]

use etwkit_decode::eventsource::{self, CHUNK_ID};
use etwkit_etl::Guid;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::ManifestEvent;
use etwkit_fuzz::input::Input;
use etwkit_fuzz::{made, passes};
use libfuzzer_sys::fuzz_target;

const PROVIDER: Guid = Guid::from_bytes([9; 16]);

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let mut trace = made::writer(8);
    let mut now = 1;
    let mut event = |descriptor, thread_id, payload: &[u8]| {
        let timestamp = now;
        now += 1;
        let event = ManifestEvent {
            timestamp,
            provider: PROVIDER,
            descriptor,
            thread_id,
            payload,
            ..ManifestEvent::default()
        };
        made::add(&mut trace, 0, event);
    };
    if input.u8().is_multiple_of(2) {
        let text = String::from_utf8_lossy(input.0);
        std::hint::black_box(etwkit_decode::manifest::read(&text)).ok();
        let manifest = eventsource::parse(PROVIDER, &text);
        let parts: Vec<&[u8]> = input.0.chunks(700).take(60).collect();
        for (part, number) in parts.iter().zip(0..) {
            event(CHUNK, 0, &chunk(parts.len() as u8, number, part));
        }
        for described in manifest
            .iter()
            .flat_map(|manifest| &manifest.events)
            .take(20)
        {
            let descriptor = Descriptor {
                id: described.id,
                version: described.version,
                ..Descriptor::default()
            };
            event(descriptor, 0, input.0);
        }
    } else {
        for _ in 0..64 {
            if input.is_empty() {
                break;
            }
            let (kind, thread, total, number) = (input.u8(), input.u8(), input.u8(), input.u8());
            let bytes = input.block();
            if kind % 4 == 0 {
                let descriptor = Descriptor {
                    id: number.into(),
                    version: total,
                    ..Descriptor::default()
                };
                event(descriptor, thread.into(), bytes);
            } else {
                event(CHUNK, thread.into(), &chunk(total, number, bytes));
            }
        }
    }
    passes::decode(&made::session(trace));
});

const CHUNK: Descriptor = Descriptor {
    id: CHUNK_ID,
    version: 0,
    channel: 0,
    level: 0,
    opcode: 0xFE,
    task: 0,
    keyword: 0,
};

/// Format, version, magic byte, number of chunks and of this chunk.
fn chunk(total: u8, number: u8, xml: &[u8]) -> Vec<u8> {
    [&[1, 1, 0, 0x5B, total, 0, number, 0], xml].concat()
}
