//! Packets of whole traces as pcapng, against SQL, the truth, and another reader.

use std::fs::File;
use std::path::Path;

use etwkit_etl::Guid;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::{ManifestEvent, SessionOptions, TraceWriter};
use serde_json::{Value, json};

use crate::support::{Exit, run, trace};

const NDIS: Guid = Guid::literal("2ed6006e-4729-4609-b423-3ee7bcd678ef");

/// Bytes of all packets, and how many there are, as SQL has them: fields are text.
const SQL: &str =
    "SELECT count(*) AS packets, CAST(sum(length(field)) / 2 AS BIGINT) AS bytes FROM (
    SELECT regexp_replace(fields, '^.*\"(Payload|Fragment)\":\"([0-9a-f]*)\".*$', '\\2') AS field
    FROM generic_event WHERE event_id IN (160, 1001))";

/// What was said of an export, as JSON.
#[track_caller]
fn exported(input: &str, out: &Path, more: &[&str]) -> Value {
    let mut args = vec![
        "export",
        "--format",
        "pcapng",
        "--json",
        "--force",
        "--out",
        out.to_str().unwrap(),
    ];
    args.extend(more);
    args.push(input);
    let answer = run(&args);
    assert_eq!(answer.exit, Exit::Answered, "{}{}", answer.out, answer.err);
    serde_json::from_str(answer.out.lines().last().unwrap()).unwrap()
}

/// What python-pcapng reads; nothing without Python.
fn read(file: &Path, test: &str) -> Option<Value> {
    let mut python = etwkit_testkit::python(&format!("export_packets::{test}"))?;
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../export/tests/it/read_packets.py"
    );
    let printed = etwkit_testkit::output_of(python.arg(script).arg(file));
    Some(serde_json::from_str(&printed).unwrap())
}

fn sql(input: &str) -> Value {
    let answer = run(&["sql", "--format", "json", input, SQL]);
    serde_json::from_str(
        answer
            .out
            .lines()
            .nth(1)
            .unwrap_or_else(|| panic!("{}", answer.err)),
    )
    .unwrap()
}

#[test]
fn packets_of_a_real_trace_are_those_of_the_truth() {
    let Some(traces) = etwkit_testkit::traces() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let input = traces.join("demikernel_PktMon.etl");
    let input = input.to_str().unwrap();
    let file = folder.path().join("x.pcapng");
    let written = exported(input, &file, &[]);
    let counted = sql(input);
    assert_eq!(
        (&written["packets"], &written["bytes"]),
        (&counted["packets"], &counted["bytes"])
    );
    assert_eq!(
        (&written["packets"], &written["left_out"]),
        (&json!(114), &json!(0))
    );
    let part = exported(input, &folder.path().join("part"), &["--range", "7.5..8"]);
    assert_eq!(part["packets"], 6, "the first ping and its answer");
    let Some(read) = read(&file, "packets_of_a_real_trace_are_those_of_the_truth") else {
        return;
    };
    assert_eq!(
        Some(read["interfaces"].as_array().unwrap().len() as u64),
        written["interfaces"].as_u64()
    );
    let truth = etwkit_testkit::read_json(&traces.join("truth/demikernel_PktMon.packets.json"));
    let (truth, read_packets) = (
        truth["packets"].as_array().unwrap(),
        read["packets"].as_array().unwrap(),
    );
    assert_eq!(truth.len(), read_packets.len());
    for (truth, ours) in truth.iter().zip(read_packets) {
        assert_eq!(
            (&truth["payload"], &truth["OriginalPayloadSize"]),
            (&ours["data"], &ours["original"])
        );
        let unix_ns = (truth["utc_100ns"].as_i64().unwrap() - 116_444_736_000_000_000) * 100;
        assert!(
            (ours["unix_ns"].as_i64().unwrap() - unix_ns).abs() <= 100,
            "{ours} at {unix_ns}"
        );
        let interface = &read["interfaces"][ours["interface"].as_u64().unwrap() as usize];
        let name = format!("pktmon:{}:{}", truth["ComponentId"], truth["EdgeId"]);
        assert_eq!(
            (interface["name"].as_str(), interface["link"].as_u64()),
            (Some(&*name), Some(1))
        );
        assert_eq!(
            ours["direction"],
            if truth["DirTag"] == 3 { 1 } else { 2 },
            "{truth}"
        );
    }
}

/// A trace as `netsh trace` of older versions of Windows makes it: no sample trace has these events, whose
/// layout is that of the manifest. Packets come in one part or several.
fn ndis_trace(path: &Path) {
    let start = 1_000_000;
    let options = SessionOptions {
        t0: start,
        ..SessionOptions::default()
    };
    let mut writer = TraceWriter::new(File::create(path).unwrap(), &options).unwrap();
    let (first, last, send, receive) = (0x4000_0000_u64, 0x8000_0000_u64, 1_u64 << 32, 1_u64 << 33);
    let long: Vec<u8> = (0..=255).collect();
    for (ticks, keyword, fragment) in [
        (10, first | last | send, &long[..60]),
        (20, first | receive, &long[..100]),
        (30, receive, &long[100..200]),
        (40, last | receive, &long[200..]),
    ] {
        let numbers = [12_u32, 12, fragment.len() as u32];
        let payload: Vec<u8> = numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .chain(fragment.iter().copied())
            .collect();
        let event = ManifestEvent {
            timestamp: start + ticks * 1000,
            provider: NDIS,
            descriptor: Descriptor {
                id: 1001,
                level: 4,
                keyword,
                ..Descriptor::default()
            },
            thread_id: 80,
            process_id: 8,
            payload: &payload,
            ..ManifestEvent::default()
        };
        writer.write(0, event).unwrap();
    }
    writer.finish(133_625_243_079_225_833).unwrap();
}

#[test]
fn parts_of_an_ndis_capture_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("ndis.etl");
    ndis_trace(&input);
    let input = input.to_str().unwrap();
    let file = folder.path().join("x.pcapng");
    let written = exported(input, &file, &[]);
    let counted = sql(input);
    // Three of the four events are parts of one packet.
    assert_eq!(
        (&written["packets"], &counted["packets"]),
        (&json!(2), &json!(4))
    );
    assert_eq!(
        (&written["bytes"], &written["bytes"]),
        (&counted["bytes"], &json!(316))
    );
    let Some(read) = read(&file, "parts_of_an_ndis_capture_are_joined") else {
        return;
    };
    let long: String = (0..=255).map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        (
            &read["packets"][1]["data"],
            &read["packets"][1]["direction"]
        ),
        (&json!(long), &json!(1))
    );
    assert_eq!(
        (
            &read["packets"][0]["original"],
            &read["packets"][0]["direction"]
        ),
        (&json!(60), &json!(2))
    );
    assert_eq!(read["interfaces"][0]["name"], "ndis:12");
}

#[test]
fn what_packets_do_not_have_is_refused_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("ndis.etl");
    ndis_trace(&input);
    let input = input.to_str().unwrap();
    for options in [&["--per-thread"][..], &["--metric", "wait"]] {
        let answer = run(&[&["export", "--format", "pcapng"], options, &[input]].concat());
        assert_eq!(answer.exit, Exit::Error, "{}{}", answer.out, answer.err);
        assert!(
            answer
                .err
                .contains(&format!("{} does not go with --format pcapng", options[0])),
            "{}",
            answer.err
        );
    }
    let text = run(&["export", "--format", "pcapng", input]);
    assert!(
        text.out
            .contains("ndis_packets.pcapng\n  2 packets, 316 bytes, 1 interface\n"),
        "{}",
        text.out
    );
    let none = run(&["export", "--format", "pcapng", &trace("sched-5.etl")]);
    assert_eq!(none.exit, Exit::Nothing, "{}{}", none.out, none.err);
    assert!(
        none.out.contains("recorded no packets") && none.out.contains("hint: record with"),
        "{}",
        none.out
    );
}
