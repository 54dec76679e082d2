//! Trace message format files, and messages that are shown by them.
//!
//! Layout of an input: payload of all messages behind its length (2 bytes), then the file.

#![no_main]

use std::hint::black_box;

use etwkit_decode::bounds::Budget;
use etwkit_decode::render::{Limits, Renderer};
use etwkit_decode::{Plan, Spans, wpp};
use etwkit_etl::wire::message::message_flag;
use etwkit_etl::{HeaderKind, RawEvent};
use etwkit_fuzz::input::Input;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let payload = input.block();
    let text = String::from_utf8_lossy(input.0);
    let Ok(messages) = wpp::read(&text, &mut Budget::new(16 << 20)) else {
        return;
    };
    for message in messages.iter().take(50) {
        let flags = message_flag::GUID.to_le_bytes();
        let number = message.number.to_le_bytes();
        let mut record = vec![0, 0, 0, 0x90, number[0], number[1], flags[0], flags[1]];
        record.extend(message.guid.to_bytes());
        record.extend(payload);
        let kind = HeaderKind::Message;
        let event = RawEvent {
            kind,
            timestamp: 1,
            cpu: 0,
            file: 0,
            buffer: 0,
            position: 0,
            record: &record,
        };
        for pointer_size in [4, 8] {
            let plan = Plan::new(message.schema.clone(), pointer_size);
            black_box(message.text.of(&event, &plan, &mut Spans::default()));
            black_box(
                Renderer {
                    clock: None,
                    limits: Limits::NONE,
                }
                .object(&plan, payload),
            );
        }
    }
});
