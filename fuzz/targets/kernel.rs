//! Kernel events: every class, type, version and pointer size over any payload, alone and as a trace.
//!
//! Layout of an input: pointer size, and what is done with the trace (1 byte). Then again and again: kind (1
//! byte), ticks since the event before (2 bytes), processor (1 byte), row of the built-in tables (2 bytes) or
//! type and group (1 byte each), version (1 byte), payload behind its length (2 bytes).

#![no_main]

use std::sync::OnceLock;

use etwkit_decode::Tables;
use etwkit_decode::schema::Source;
use etwkit_decode::tables::KnownEvent;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::{ClassicEvent, KernelContext, KernelEvent, ManifestEvent, Record, Width};
use etwkit_fuzz::input::Input;
use etwkit_fuzz::{made, passes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let shape = input.u8();
    let mut trace = made::writer(if shape.is_multiple_of(2) { 8 } else { 4 });
    let mut now = 0;
    for _ in 0..200 {
        if input.is_empty() {
            break;
        }
        let (kind, later, cpu) = (input.u8(), input.u16(), u16::from(input.u8() % 4));
        now += i64::from(later);
        let (which, version) = (input.u16(), input.u8());
        made::add(
            &mut trace,
            cpu,
            record(kind, now, which, version, input.block()),
        );
    }
    let session = made::session(trace);
    // One thing at a time is three times as fast.
    match shape >> 1 & 3 {
        0 => passes::decode(&session),
        1 => passes::summary(&session),
        _ => drop(passes::tables(&session)),
    }
});

/// The kind's bits: 32-bit pointers, no row of the tables, classic header for kernel events, then which
/// header they have.
fn record(kind: u8, timestamp: i64, which: u16, version: u8, payload: &[u8]) -> Record<'_> {
    static KNOWN: OnceLock<Vec<KnownEvent>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| Tables::new().rows());
    let width = if kind & 1 == 0 {
        Width::Bits64
    } else {
        Width::Bits32
    };
    let kernel = |group, opcode, version| {
        let context = match kind >> 3 & 3 {
            0 => KernelContext::None,
            1 => KernelContext::Ids {
                thread_id: 4,
                process_id: 8,
            },
            _ => KernelContext::ids(u32::from(kind >> 5), 8),
        };
        KernelEvent {
            width,
            context,
            timestamp,
            group,
            opcode,
            version,
            payload,
            ..KernelEvent::default()
        }
    };
    let Some(row) = known
        .get(usize::from(which) % known.len())
        .filter(|_| kind & 2 == 0)
    else {
        let [opcode, group] = which.to_le_bytes();
        return kernel(group, opcode, version).into();
    };
    let version = row.version.unwrap_or(version);
    if row.source == Source::Template {
        let descriptor = Descriptor {
            id: row.id,
            version,
            ..Descriptor::default()
        };
        let ids = ManifestEvent {
            thread_id: 4,
            process_id: 8,
            ..ManifestEvent::default()
        };
        return ManifestEvent {
            width,
            timestamp,
            provider: row.guid,
            descriptor,
            payload,
            ..ids
        }
        .into();
    }
    let (opcode, class) = (row.id as u8, row.guid);
    match row.group.filter(|_| kind & 4 == 0) {
        Some(group) => kernel(group, opcode, version).into(),
        None => {
            let version = version.into();
            ClassicEvent {
                width,
                timestamp,
                class,
                opcode,
                version,
                payload,
                ..ClassicEvent::default()
            }
            .into()
        }
    }
}
