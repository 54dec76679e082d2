//! The events that traces describe themselves, compared with the reference.

use std::ops::ControlFlow;

use etwkit_decode::Decoder;
use etwkit_etl::clock::{Clock, ClockType};
use etwkit_etl::wire::extended::kind;
use etwkit_etl::{Order, Session};
use etwkit_testkit::{Comparison, Sample, samples};
use etwkit_trace::events::EventsSummary;
use serde_json::{Value, json};

use crate::made::{PROVIDER, Record, metadata, traits};

fn open(sample: &Sample) -> Session {
    let bytes = sample.files.iter().map(|file| std::fs::read(file).unwrap());
    let sources = bytes
        .map(|bytes| Box::new(bytes) as Box<dyn etwkit_etl::source::ByteSource>)
        .collect();
    Session::open(sources).unwrap()
}

fn section(session: &Session) -> (Value, Decoder) {
    let mut decoder = Decoder::new();
    session
        .for_each(Order::File, |event| {
            decoder.observe(event);
            ControlFlow::Continue(())
        })
        .unwrap();
    decoder.finish_observing();
    let mut summary = EventsSummary::new();
    session
        .for_each(Order::Time, |event| {
            summary.event(event, &decoder, session.clock());
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(summary.left_out(), 0);
    (summary.to_json(), decoder)
}

#[test]
fn every_sample_agrees_with_the_truth() {
    let (mut traces, mut compared) = (0, 0);
    // Another crate opens archives; the whole command is compared there.
    for sample in samples().iter().filter(|s| {
        s.files
            .iter()
            .all(|f| f.extension().is_some_and(|e| e == "etl"))
    }) {
        let truth = &sample.truth["events"];
        let (ours, decoder) = section(&open(sample));
        let comparison = Comparison::of(&sample.name, truth, &ours);
        comparison.assert_equal();
        // The comparison ignores keys that only our output has, but here they would be additional
        // events.
        assert_eq!(
            ours.as_object().unwrap().len(),
            truth.as_object().unwrap().len(),
            "{}",
            sample.name
        );
        let problems: Vec<_> = decoder.problems().counts().collect();
        eprintln!(
            "{}: {} values agree {problems:?}",
            sample.name, comparison.compared
        );
        traces += 1;
        compared += comparison.compared;
    }
    eprintln!("{traces} traces, {compared} values");
}

/// The section of the events made here, including the first pass over them.
fn made(records: &[Record]) -> Value {
    let clock = Clock {
        kind: ClockType::Qpc,
        frequency: 10,
        t0: 0,
        start: 0,
        counter_frequency: 10,
    };
    let mut decoder = Decoder::new();
    records
        .iter()
        .for_each(|record| decoder.observe(&record.raw()));
    decoder.finish_observing();
    let mut summary = EventsSummary::new();
    records
        .iter()
        .for_each(|record| summary.event(&record.raw(), &decoder, &clock));
    summary.to_json()
}

fn self_described(time: i64, name: &str, fields: &[u8], payload: &[u8]) -> Record {
    let (blob, traits) = (metadata(name, fields), traits("Made"));
    let items = [
        (kind::PROVIDER_TRAITS, &traits[..]),
        (kind::EVENT_SCHEMA_TL, &blob[..]),
    ];
    Record::extended(time, (3, 1, 2), &items, payload)
}

#[test]
fn layouts_of_one_name_are_distinguished() {
    let ours = made(&[
        self_described(10, "E", b"a\0\x04", &[1]),
        self_described(20, "E", b"a\0\x06", &[2]),
        self_described(30, "E", b"a\0\x04", &[3]),
        self_described(40, "E", b"a\0\x06", &[4, 0]),
    ]);
    let (one, two) = (
        &ours[format!("{PROVIDER}/E")],
        &ours[format!("{PROVIDER}/E#2")],
    );
    assert_eq!(one["fields"], json!([{"name": "a", "type": "uint8"}]));
    assert_eq!(
        one["first"][1],
        json!({"time_s": 3.0, "pid": 1, "tid": 2, "values": {"a": 3}})
    );
    assert_eq!(
        (&two["count"], &two["first"][0]["values"]),
        (&json!(2), &Value::Null),
        "too short"
    );
    assert_eq!(
        (&two["provider"], &two["id"], &two["keyword"]),
        (&json!("Made"), &json!(3), &json!("0x0"))
    );
    assert_eq!(ours.as_object().unwrap().len(), 2);
}

#[test]
fn a_name_with_endless_layouts_is_listed_a_thousand_times() {
    let records: Vec<_> = (0..5000)
        .map(|n| self_described(n, "E", format!("f{n}\0\x04").as_bytes(), &[1]))
        // The name of the seventh layout of E.
        .chain([self_described(5000, "E#7", b"a\0\x04", &[1])])
        .collect();
    let kinds = made(&records);
    assert_eq!(kinds.as_object().unwrap().len(), 1001);
    assert_eq!(kinds[format!("{PROVIDER}/E#7")]["fields"][0]["name"], "f6");
    assert_eq!(kinds[format!("{PROVIDER}/E#7#2")]["fields"][0]["name"], "a");
}

#[test]
fn ports_and_addresses_are_numbers_and_only_three_events_are_kept() {
    let fields = b"port\0\x86\x07s\0\x98\x01ip\0\x88\x08";
    let records: Vec<_> = (0..5)
        .map(|time| self_described(time, "E", fields, &[1, 2, 10, 0, 0, 1]))
        .collect();
    let ours = &made(&records)[format!("{PROVIDER}/E")];
    assert_eq!(
        (
            ours["count"].as_u64(),
            ours["first"].as_array().unwrap().len()
        ),
        (Some(5), 3)
    );
    assert_eq!(
        ours["first"][0]["values"],
        json!({"port": 0x201, "s": {"ip": 0x0100_000A}})
    );
    assert_eq!(
        ours["fields"][1]["fields"],
        json!([{"name": "ip", "type": "uint32"}])
    );
}

#[test]
fn a_layout_with_ports_is_one_whatever_else_its_metadata_says() {
    // The second one has a tag on its field, which is not part of the layout.
    let ours = made(&[
        self_described(1, "E", b"port\0\x86\x07", &[1, 2]),
        self_described(2, "E", b"port\0\x86\x87\x01", &[1, 2]),
    ]);
    assert_eq!(ours[format!("{PROVIDER}/E")]["count"], 2);
}

#[test]
fn events_are_cut_and_chunks_of_manifests_are_not_listed() {
    let xml = br#"<provider name="M"><events><event value="1" opcode="win:Start" task="T" template="A"/></events>
        <templates><template tid="A"><data name="t" inType="win:UnicodeString"/></template></templates></provider>"#;
    let chunk = [&[1, 1, 0, 0x5B, 1, 0, 0, 0][..], xml].concat();
    let text: Vec<u8> = "x"
        .repeat(600)
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let ours = made(&[
        Record::event(1, (1, 0, 1), &text),
        Record::event(2, (1, 0, 9), &text),
        Record::event(3, (2, 0, 1), &[]),
        Record::event(4, (0xFFFE, 1, 0xFE), &chunk),
    ]);
    let keys: Vec<_> = ours.as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        keys,
        [format!("{PROVIDER}/1/0/1"), format!("{PROVIDER}/1/0/9")]
    );
    let first = &ours[&keys[0]];
    assert_eq!(
        (&first["name"], &first["source"]),
        (&json!("T/Start"), &json!("eventsource"))
    );
    assert_eq!(
        first["first"][0]["values"]["t"].as_str().unwrap().len(),
        512
    );
}
