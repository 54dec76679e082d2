//! Event descriptions of the merge step: `TRACE_EVENT_INFO` and `EVENT_MAP_INFO` records, and payloads of
//! what they describe.
//!
//! Layout of an input, again and again: kind (1 byte: description, map, payload), the blob behind its length
//! (2 bytes).

#![no_main]

use etwkit_decode::eventinfo::{self, Decoding};
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::{ClassicEvent, ManifestEvent};
use etwkit_fuzz::input::Input;
use etwkit_fuzz::{made, passes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let mut trace = made::writer(8);
    let mut latest = None;
    let mut now = 1;
    while !input.is_empty() && now < 64 {
        let (kind, payload) = (input.u8() % 3, input.block());
        let opcode = if kind == 0 {
            eventinfo::OPCODE_EVENT
        } else {
            eventinfo::OPCODE_MAP
        };
        if kind < 2 {
            let event = ClassicEvent {
                timestamp: now,
                class: eventinfo::CLASS,
                opcode,
                payload,
                ..ClassicEvent::default()
            };
            made::add(&mut trace, 0, event);
        }
        if kind == 0 {
            latest = eventinfo::head(payload).or(latest);
        }
        if let Some(head) = latest.filter(|_| kind == 2) {
            if head.decoding == Decoding::Mof {
                let (class, opcode, version) = (head.class, head.opcode, u16::from(head.version));
                let event = ClassicEvent {
                    timestamp: now,
                    class,
                    opcode,
                    version,
                    payload,
                    ..ClassicEvent::default()
                };
                made::add(&mut trace, 0, event);
            } else {
                let descriptor = Descriptor {
                    id: head.id,
                    version: head.version,
                    opcode: head.opcode,
                    ..Descriptor::default()
                };
                let (timestamp, provider) = (now, head.provider);
                made::add(
                    &mut trace,
                    0,
                    ManifestEvent {
                        timestamp,
                        provider,
                        descriptor,
                        payload,
                        ..ManifestEvent::default()
                    },
                );
            }
        }
        now += 1;
    }
    passes::decode(&made::session(trace));
});
