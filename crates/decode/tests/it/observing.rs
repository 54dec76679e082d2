//! The precedence of the descriptions of an event, and the treatment of broken ones.

use etwkit_decode::{Decoder, Source};
use etwkit_etl::wire::extended::kind;
use etwkit_etl::{Guid, HeaderKind, RawEvent};

use crate::made::{PROVIDER, Record, metadata, traits};

const CHUNK: (u16, u8, u8) = (0xFFFE, 1, 0xFE);

fn observe(records: &[&Record]) -> Decoder {
    let mut decoder = Decoder::new();
    for record in records {
        decoder.observe(&record.raw());
    }
    decoder.finish_observing();
    decoder
}

fn chunk(total: u16, number: u16, bytes: &str) -> Vec<u8> {
    let head = [
        &[1, 1, 0, 0x5B][..],
        &total.to_le_bytes(),
        &number.to_le_bytes(),
    ]
    .concat();
    [&head, bytes.as_bytes()].concat()
}

/// A manifest with event 1 of task `task`.
fn manifest(task: &str) -> String {
    format!(r#"<provider name="Made"><events><event value="1" task="{task}"/></events></provider>"#)
}

/// A class record with a `TRACE_EVENT_INFO` without fields.
fn info(
    decoding: u32,
    guid: [u8; 16],
    (id, version, opcode): (u16, u8, u8),
    task: &str,
) -> Vec<u8> {
    let mut info = vec![0; 112];
    info[..32].copy_from_slice(&[guid, guid].concat());
    info[32..34].copy_from_slice(&id.to_le_bytes());
    (info[34], info[37]) = (version, opcode);
    info[48] = decoding as u8;
    info[68] = 112;
    info.extend(task.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
    info
}

/// A classic record.
fn classic(class: Guid, opcode: u8, version: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 48];
    bytes[4] = opcode;
    bytes[6..8].copy_from_slice(&version.to_le_bytes());
    bytes[24..40].copy_from_slice(&class.to_bytes());
    bytes.extend(payload);
    bytes
}

fn classic_event(record: &[u8]) -> RawEvent<'_> {
    let kind = HeaderKind::Full64;
    RawEvent {
        kind,
        timestamp: 5,
        cpu: 0,
        file: 0,
        buffer: 0,
        position: 0,
        record,
    }
}

fn name(decoder: &mut Decoder, record: &Record) -> Option<String> {
    decoder
        .plan(&record.raw())
        .map(|plan| plan.schema().name.to_string())
}

#[test]
fn an_event_that_describes_itself_needs_no_other_description() {
    let blob = metadata("Self", b"a\0\x08");
    let names = traits("Made.Provider");
    let items = [
        (kind::PROVIDER_TRAITS, &names[..]),
        (kind::EVENT_SCHEMA_TL, &blob[..]),
    ];
    let bare = Record::extended(1, (1, 0, 0), &items[1..], &[1, 0, 0, 0]);
    let named = Record::extended(2, (1, 0, 0), &items, &[1, 0, 0, 0]);
    let manifest = Record::event(3, CHUNK, &chunk(1, 0, &manifest("Other")));
    let mut decoder = observe(&[&bare, &named, &manifest]);
    let plan = decoder.plan(&bare.raw()).unwrap();
    assert_eq!(
        (&*plan.schema().name, plan.schema().source),
        ("Self", Source::TraceLogging)
    );
    assert_eq!(
        plan.schema().provider_name.as_deref(),
        Some("Made.Provider"),
        "from the other event"
    );
    assert_eq!(plan.pointer_size(), 8);
    assert_eq!(
        name(&mut decoder, &Record::event(4, (1, 0, 0), &[])).as_deref(),
        Some("Other")
    );
    assert_eq!(
        decoder.described_events()[0],
        (Source::TraceLogging, 1),
        "read once"
    );
}

#[test]
fn broken_metadata_leaves_its_events_raw() {
    let items = [(kind::EVENT_SCHEMA_TL, &b"\xff\0\0x\0"[..])];
    let record = Record::extended(1, (1, 0, 0), &items, &[]);
    let manifest = Record::event(3, CHUNK, &chunk(1, 0, &manifest("Other")));
    let mut decoder = observe(&[&record, &record, &manifest]);
    assert!(decoder.plan(&record.raw()).is_none() && decoder.own_plan(&record.raw()).is_none());
    assert_eq!(
        decoder.problems().counts().collect::<Vec<_>>(),
        [("tracelogging_metadata", 1)]
    );
}

#[test]
fn the_latest_manifest_wins_in_whatever_order_they_are_seen() {
    let old = Record::event(10, CHUNK, &chunk(1, 0, &manifest("Old")));
    let new = Record::event(20, CHUNK, &chunk(1, 0, &manifest("New")));
    let again = Record::event(30, CHUNK, &chunk(1, 0, &manifest("Old")));
    let event = Record::event(1, (1, 0, 0), &[]);
    assert_eq!(
        name(&mut observe(&[&new, &old]), &event).as_deref(),
        Some("New")
    );
    assert_eq!(
        name(&mut observe(&[&old, &new]), &event).as_deref(),
        Some("New")
    );
    assert_eq!(
        name(&mut observe(&[&again, &new, &old]), &event).as_deref(),
        Some("Old")
    );
}

#[test]
fn broken_manifests_are_counted() {
    let text = manifest("Lost");
    let (a, b) = text.split_at(40);
    let records = [
        Record::event(1, CHUNK, &chunk(1, 0, "<no")),
        Record::event(2, CHUNK, &chunk(2, 2, a)),
        Record::event(3, CHUNK, &chunk(3, 0, a)),
        Record::event(4, CHUNK, &chunk(3, 1, b)),
        Record::event(5, CHUNK, b"\x01\x01\0\x5B\x01"),
        Record::event(6, (0xFFFE, 0, 0), b"other"),
    ];
    let decoder = observe(&records.iter().collect::<Vec<_>>());
    let expected = [
        ("manifest_chunks", 1),
        ("incomplete_manifests", 1),
        ("manifests", 1),
    ];
    assert_eq!(decoder.problems().counts().collect::<Vec<_>>(), expected);
    assert!(decoder.own_plan(&records[0].raw()).is_none());
}

#[test]
fn manifests_of_the_provider_win_over_event_info() {
    let class = etwkit_decode::eventinfo::CLASS;
    let described = classic(
        class,
        32,
        0,
        &info(0, PROVIDER.to_bytes(), (1, 0, 0), "FromInfo"),
    );
    let event = Record::event(1, (1, 0, 7), &[]);
    let manifest = Record::event(3, CHUNK, &chunk(1, 0, &manifest("FromManifest")));
    let mut decoder = Decoder::new();
    decoder.observe(&classic_event(&described));
    decoder.finish_observing();
    assert_eq!(name(&mut decoder, &event).as_deref(), Some("FromInfo"));
    assert_eq!(
        name(&mut decoder, &Record::event(1, (1, 1, 7), &[])),
        None,
        "another version"
    );
    decoder.observe(&manifest.raw());
    decoder.finish_observing();
    assert_eq!(name(&mut decoder, &event).as_deref(), Some("FromManifest"));
    assert_eq!(decoder.provider_name(PROVIDER).as_deref(), Some("Made"));
}

/// One rule for all front ends: the descriptions in the trace come first. They give way only if the
/// payload is too short for them.
#[test]
fn event_info_wins_over_built_in_tables_where_it_fits() {
    let runtime = Guid::literal("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");
    let class = etwkit_decode::eventinfo::CLASS;
    // One property, an array of 30 numbers of 4 bytes.
    let mut described = info(0, runtime.to_bytes(), (4, 0, 0), "");
    described.truncate(112);
    described[68] = 0;
    described[100] = 1;
    described[104] = 1;
    described.extend([0x20u32, 0].map(u32::to_le_bytes).concat());
    described.extend([8u16, 0, 0, 0, 30, 0, 0, 0].map(u16::to_le_bytes).concat());
    let record = classic(class, 32, 0, &described);
    let mut decoder = Decoder::new();
    decoder.observe(&classic_event(&record));
    decoder.finish_observing();
    let mut source = |payload: usize| {
        let mut event = Record::event(1, (4, 0, 0), &vec![0; payload]);
        event.set_provider(runtime);
        decoder.plan(&event.raw()).map(|plan| plan.schema().source)
    };
    assert_eq!(source(120), Some(Source::EventInfo));
    assert_eq!(
        source(92),
        Some(Source::Template),
        "the payload of GCHeapStats"
    );
    assert_eq!(source(10), Some(Source::EventInfo), "neither fits");
}

/// Windows 7 writes a pointer in place of the 4 bytes of the manifest; Windows 10 writes 4 bytes.
#[test]
fn the_size_of_the_payload_shows_how_long_a_connection_id_is() {
    let network = Guid::literal("7dd42a49-5329-4832-8dfd-43d979153a88");
    for (id, short) in [(10, 36), (11, 28), (15, 44), (27, 52), (42, 28), (58, 52)] {
        for size in [short, short + 4] {
            let mut event = Record::event(1, (id, 0, 0), &vec![7; size]);
            event.set_provider(network);
            let plan = Decoder::new().plan(&event.raw()).unwrap();
            let mut spans = etwkit_decode::Spans::default();
            assert!(
                plan.locate(event.raw().payload(), &mut spans),
                "event {id} of {size} bytes"
            );
            assert_eq!(spans.end(), size, "event {id}");
        }
    }
}

#[test]
fn classes_of_the_repository_are_found_by_opcode() {
    let (class, made) = (etwkit_decode::eventinfo::CLASS, Guid::from_bytes([9; 16]));
    let mut decoder = Decoder::new();
    decoder.observe(&classic_event(&classic(
        class,
        32,
        0,
        &info(1, [9; 16], (0, 2, 11), "Made"),
    )));
    decoder.observe(&classic_event(&classic(class, 32, 0, &[1, 2, 3])));
    decoder.observe(&classic_event(&classic(class, 33, 0, &[1, 2, 3])));
    decoder.finish_observing();
    let mut plan = |opcode, version| {
        let record = classic(made, opcode, version, &[]);
        decoder
            .own_plan(&classic_event(&record))
            .is_none()
            .then_some(())?;
        decoder.plan(&classic_event(&record))
    };
    assert_eq!(plan(11, 2).unwrap().schema().provider, made);
    assert!(plan(12, 2).is_none() && plan(11, 3).is_none());
    assert_eq!(
        decoder.problems().counts().collect::<Vec<_>>(),
        [("event_infos", 1), ("value_maps", 1)]
    );
}
