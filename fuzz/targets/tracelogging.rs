//! TraceLogging: metadata and traits of events → schema → fields of their payloads.
//!
//! Layout of an input, again and again: metadata, traits and payload, each behind its length (2 bytes).

#![no_main]

use etwkit_etl::Guid;
use etwkit_etl::wire::extended::kind;
use etwkit_etl::writer::ManifestEvent;
use etwkit_fuzz::input::Input;
use etwkit_fuzz::{made, passes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let mut trace = made::writer(8);
    let mut now = 1;
    while !input.is_empty() && now < 64 {
        let (metadata, traits, payload) = (input.block(), input.block(), input.block());
        let provider = Guid::from_bytes([metadata.len() as u8 % 4; 16]);
        let items = [
            (kind::EVENT_SCHEMA_TL, metadata),
            (kind::PROVIDER_TRAITS, traits),
        ];
        let event = ManifestEvent {
            timestamp: now,
            provider,
            extended: &items,
            payload,
            ..ManifestEvent::default()
        };
        made::add(&mut trace, 0, event);
        now += 1;
    }
    passes::decode(&made::session(trace));
});
