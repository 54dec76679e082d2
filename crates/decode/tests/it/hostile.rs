//! Malicious descriptions: they refer to bytes outside, to themselves, or without end.

use std::time::{Duration, Instant};

use etwkit_decode::eventinfo::{schema, value_map};
use etwkit_decode::render::{Limits, Renderer};
use etwkit_decode::{Plan, Schema, Spans, tracelogging};
use etwkit_etl::Guid;

use crate::made::metadata;

/// `TRACE_EVENT_INFO` with these properties: flags, name, type, output type, map, count, length.
fn info(top: u32, properties: &[[u32; 7]]) -> Vec<u8> {
    let mut info = vec![0; 112];
    info[100..104].copy_from_slice(&(properties.len() as u32).to_le_bytes());
    info[104..108].copy_from_slice(&top.to_le_bytes());
    for [flags, name, kind, out, map, count, length] in properties {
        info.extend([*flags, *name].map(u32::to_le_bytes).concat());
        info.extend([*kind as u16, *out as u16].map(u16::to_le_bytes).concat());
        info.extend(map.to_le_bytes());
        info.extend(
            [*count as u16, *length as u16, 0, 0]
                .map(u16::to_le_bytes)
                .concat(),
        );
    }
    info
}

fn read(info: &[u8]) -> Option<Schema> {
    schema(info, None, &|_| None)
}

/// Decodes a payload in both ways; neither may take long.
fn decode(schema: Schema, payload: &[u8]) -> bool {
    let start = Instant::now();
    let plan = Plan::new(schema, 8);
    let (_, complete) = Renderer {
        clock: None,
        limits: Limits::INFO,
    }
    .object(&plan, payload);
    assert_eq!(plan.locate(payload, &mut Spans::default()), complete);
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
    complete
}

#[test]
fn offsets_outside_of_a_record_give_nothing() {
    for offset in [112 + 24, 112 + 25, 0xFFFF, u32::MAX - 1, u32::MAX] {
        assert!(
            read(&info(1, &[[0, offset, 8, 0, 0, 1, 0]]))
                .is_none_or(|s| s.fields[0].name.is_empty()),
            "{offset}"
        );
        let map = info(1, &[[0, 0, 8, 0, offset, 1, 0]]);
        assert!(
            read(&map).is_none_or(|s| s.fields[0].map.is_none()),
            "{offset}"
        );
        for at in [52, 68, 72, 76, 92] {
            let mut info = info(0, &[]);
            info[at..at + 4].copy_from_slice(&offset.to_le_bytes());
            let _ = (read(&info), etwkit_decode::eventinfo::message(&info));
        }
    }
    // An odd offset cuts characters in two; an offset into the head reads numbers as text. Both
    // stay inside.
    for offset in 1..136 {
        let _ = read(&info(1, &[[0, offset, 8, 0, offset, 1, 0]]));
    }
}

#[test]
fn counts_of_a_record_are_bounded_by_its_size() {
    let mut many = info(0, &[]);
    many[100..104].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(read(&many).is_none());
    assert!(
        read(&info(2, &[[0, 0, 8, 0, 0, 1, 0]])).is_none(),
        "fewer properties than named"
    );
    assert!(
        read(&info(1, &[[4, 0, 8, 0, 0, 9, 0]])).is_none(),
        "count in a property that is not there"
    );
    assert!(
        read(&info(1, &[[2, 0, 14, 0, 0, 1, 9]])).is_none(),
        "length in a property that is not there"
    );
    for count in [0u32, 1, 2, 0xFFFF, u32::MAX / 8, u32::MAX] {
        let words = [16, 1, count, 0];
        let bytes: Vec<u8> = words
            .iter()
            .flat_map(|word: &u32| word.to_le_bytes())
            .collect();
        assert!(
            value_map(&bytes).is_none_or(|(_, map)| map.entries.is_empty()),
            "{count}"
        );
    }
}

#[test]
fn structs_that_contain_each_other_are_refused() {
    // Flags 1: a struct, whose members start at `type`; `output type` is their number.
    assert!(read(&info(1, &[[1, 0, 0, 1, 0, 1, 0]])).is_none(), "itself");
    assert!(
        read(&info(1, &[[1, 0, 1, 1, 0, 1, 0], [1, 0, 0, 1, 0, 1, 0]])).is_none(),
        "each other"
    );
    let all_of_all: Vec<[u32; 7]> = (0..40).map(|_| [1, 0, 0, 40, 0, 1, 0]).collect();
    let start = Instant::now();
    assert!(read(&info(40, &all_of_all)).is_none(), "all contain all");
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn arrays_of_arrays_of_nothing_end() {
    // Sixteen nested structs, each an array of 65535, around a field without bytes or with one
    // byte.
    for (kind, payload) in [(0, vec![0; 64]), (4, vec![1; 60_000])] {
        let mut properties: Vec<[u32; 7]> =
            (1..=15).map(|at| [0x21, 0, at, 1, 0, 0xFFFF, 0]).collect();
        properties.push([0x20, 0, kind, 0, 0, 0xFFFF, 0]);
        if let Some(schema) = read(&info(1, &properties)) {
            assert!(!decode(schema, &payload) || kind == 0);
        }
    }
    // A count that is in the array's own elements is 0 at the time of reading.
    let own = info(1, &[[4, 0, 8, 0, 0, 0, 0]]);
    assert!(read(&own).is_none_or(|schema| {
        decode(schema, &[0xFF; 64]);
        true
    }));
}

#[test]
fn metadata_of_events_ends_where_it_says() {
    let schema = |fields: &[u8]| tracelogging::schema(Guid::ZERO, None, &metadata("e", fields));
    // Tags without end, names without end, a type without its output type.
    for fields in [
        &[0x81; 5000][..],
        b"name",
        b"a\0\x88",
        b"a\0\x88\x80\xFF\xFF",
        b"a\0\x2F\xFF",
    ] {
        assert!(schema(fields).is_none());
    }
    for size in [0u16, 1, 2, 3, 0x7FFF, 0xFFFF] {
        let mut block = metadata("e", b"a\0\x08");
        block[..2].copy_from_slice(&size.to_le_bytes());
        assert!(
            tracelogging::schema(Guid::ZERO, None, &block).is_none(),
            "{size}"
        );
    }
    // Arrays of structs of arrays: counts in the payload are not trusted.
    let nested = schema(b"s\0\xD8\x01t\0\xD8\x01u\0\xD8\x01v\0\x40").unwrap();
    assert!(!decode(nested.clone(), &[0xFF; 60_000]));
    decode(nested, &[]);
    let fixed = schema(b"s\0\xB8\x01\xFF\xFFt\0\xB8\x01\xFF\xFFu\0\xB8\x01\xFF\xFFv\0\x24\xFF\xFF")
        .unwrap();
    assert!(!decode(fixed, &[0; 60_000]));
}
