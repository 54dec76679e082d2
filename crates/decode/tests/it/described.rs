//! Events that the trace describes, compared with the output of independent decoders for the sample
//! traces.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use etwkit_decode::bounds::{Budget, MAX_SCHEMA_BYTES};
use etwkit_decode::render::{Limits, Renderer, hex_digits};
use etwkit_decode::{Decoder, Descriptions, Plan, wpp};
use etwkit_etl::clock::utc_text;
use etwkit_etl::source::ByteSource;
use etwkit_etl::{Identity, Order, RawEvent, Session};
use serde_json::Value;

/// Reads a trace with a decoder that has observed it, and with these descriptions.
fn each(
    trace: &Path,
    given: Descriptions,
    mut visit: impl FnMut(&RawEvent<'_>, &mut Decoder, &Session),
) {
    let bytes = fs::read(trace).unwrap();
    let session = Session::open(vec![Box::new(bytes) as Box<dyn ByteSource>]).unwrap();
    let mut decoder = Decoder::with(Arc::new(given));
    let pass = session.for_each(Order::File, |event| {
        decoder.observe(event);
        ControlFlow::Continue(())
    });
    pass.unwrap();
    decoder.finish_observing();
    let pass = session.for_each(Order::Time, |event| {
        visit(event, &mut decoder, &session);
        ControlFlow::Continue(())
    });
    pass.unwrap();
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn fields(event: &RawEvent<'_>, plan: &Plan) -> serde_json::Map<String, Value> {
    let (fields, complete) = Renderer {
        clock: None,
        limits: Limits::NONE,
    }
    .object(plan, event.payload());
    assert!(complete);
    fields
}

/// True if a field has the value of the reference, which has numbers in place of names, hexadecimal
/// digits or times.
fn is_same(ours: &Value, truth: &Value, field: &etwkit_decode::Field) -> bool {
    let (Value::String(ours), Some(number)) = (ours, truth.as_i64()) else {
        return ours == truth;
    };
    let map = field
        .map
        .as_ref()
        .and_then(|map| map.name(number.cast_unsigned()));
    let forms = [map, Some(format!("{number:#x}")), utc_text(number)];
    forms.into_iter().flatten().any(|form| form == *ours)
}

fn formats(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root.join("tmf"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .map(|path| fs::read_to_string(path).unwrap())
        .collect()
}

#[test]
fn messages_have_the_texts_of_the_truth() {
    let Some(root) = etwkit_testkit::traces() else {
        return;
    };
    let formats = formats(&root);
    let all: Vec<wpp::Message> = formats
        .iter()
        .flat_map(|text| wpp::read(text, &mut Budget::new(MAX_SCHEMA_BYTES)).unwrap())
        .collect();
    let mut compared = 0;
    for name in ["wppemitter", "wppstr", "wpptypes", "wppenum", "wpptime"] {
        let truth = json(&root.join(format!("truth/{name}-sample.wpp.json")));
        let mut expected = truth["messages"].as_array().unwrap().iter();
        let mut given = Descriptions::default();
        formats
            .iter()
            .for_each(|text| assert!(given.add_tmf(text).unwrap() > 0));
        each(
            &root.join(format!("{name}-sample.etl")),
            given,
            |event, decoder, session| {
                let Identity::Message { guid, number } = event.identity() else {
                    return;
                };
                let truth = expected.next().unwrap();
                assert_eq!(
                    (truth["guid"].as_str(), truth["number"].as_u64()),
                    (Some(&*guid.to_string()), Some(number.into()))
                );
                let ids = (
                    event.process_id().map(u64::from),
                    event.thread_id().map(u64::from),
                );
                assert_eq!(ids, (truth["pid"].as_u64(), truth["tid"].as_u64()));
                assert_eq!(Some(u64::from(event.cpu)), truth["cpu"].as_u64());
                assert!(
                    (session.clock().seconds(event.timestamp) - truth["time_s"].as_f64().unwrap())
                        .abs()
                        < 1e-6
                );
                assert_eq!(
                    Some(&*hex_digits(event.payload())),
                    truth["payload"].as_str()
                );
                let plan = decoder.plan(event).unwrap();
                assert_eq!(plan.schema().source.name(), "tmf");
                let fields = fields(event, &plan);
                let values = truth["values"].as_object().unwrap();
                assert_eq!(fields.len(), values.len());
                for ((ours, field), truth) in fields
                    .values()
                    .zip(&plan.schema().fields)
                    .zip(values.values())
                {
                    assert!(is_same(ours, truth, field), "{name}: {ours} is not {truth}");
                }
                assert_eq!(
                    decoder.text(event, &plan, &fields).as_deref(),
                    truth["text"].as_str()
                );
                let message = all
                    .iter()
                    .find(|message| (message.guid, message.number) == (guid, number))
                    .unwrap();
                for (ours, key) in [
                    (&*message.text.component, "component"),
                    (&*message.text.source, "source"),
                    (&*message.text.function, "function"),
                    (&*message.text.level, "level"),
                ] {
                    assert_eq!(Some(ours), truth[key].as_str());
                }
                compared += 1;
            },
        );
        assert!(expected.next().is_none());
    }
    assert_eq!(compared, 45 + 4 + 5 + 2 + 2);
}

#[test]
fn without_their_formats_messages_stay_bytes() {
    let Some(root) = etwkit_testkit::traces() else {
        return;
    };
    let mut met = 0;
    each(
        &root.join("wppstr-sample.etl"),
        Descriptions::default(),
        |event, decoder, _| {
            if matches!(event.identity(), Identity::Message { .. }) {
                assert!(decoder.plan(event).is_none());
                met += 1;
            }
        },
    );
    assert_eq!(met, 4);
}

#[test]
fn a_manifest_file_decodes_the_events_of_its_provider() {
    let Some(root) = etwkit_testkit::traces() else {
        return;
    };
    let truth = json(&root.join("truth/beats_sample.man.json"));
    let of_windows = json(&root.join("truth/beats_sample.golden.json"));
    let mut expected = truth["events"]
        .as_array()
        .unwrap()
        .iter()
        .zip(of_windows.as_array().unwrap());
    let mut given = Descriptions::default();
    assert_eq!(
        given.add_manifest(&fs::read_to_string(root.join("beats_sample.man")).unwrap()),
        Ok(2)
    );
    each(
        &root.join("beats_sample.etl"),
        given,
        |event, decoder, _| {
            if !event.kind.is_manifest() {
                return;
            }
            let (truth, golden) = expected.next().unwrap();
            let plan = decoder.plan(event).unwrap();
            let (schema, fields) = (plan.schema(), fields(event, &plan));
            assert_eq!(schema.source.name(), "manifest");
            assert_eq!(schema.provider_name.as_deref(), truth["provider"].as_str());
            assert_eq!(Some(&*schema.name), truth["name"].as_str());
            assert_eq!(Value::Object(fields.clone()), truth["values"]);
            let text = decoder.text(event, &plan, &fields).unwrap();
            assert_eq!(
                (Some(&*text), Some(&*text)),
                (truth["message"].as_str(), golden["EventMessage"].as_str())
            );
            let names: Vec<&str> = truth["keywords"]
                .as_array()
                .unwrap()
                .iter()
                .map(|k| k.as_str().unwrap())
                .collect();
            let mut ours = decoder
                .keywords(event.provider())
                .unwrap()
                .name(event.descriptor().keyword)
                .unwrap();
            // One keyword is the keyword of the channel.
            ours = ours
                .split('|')
                .filter(|name| !name.starts_with("0x"))
                .collect::<Vec<_>>()
                .join("|");
            let mut sorted = ours.split('|').collect::<Vec<_>>();
            sorted.sort_unstable();
            assert_eq!(sorted, names);
            let properties = golden["Properties"].as_array().unwrap();
            assert_eq!(properties.len(), fields.len());
            for ((name, ours), golden) in fields.iter().zip(properties) {
                assert_eq!(Some(&**name), golden["Name"].as_str());
                assert!(
                    is_as_windows_has_it(ours, &golden["Value"]),
                    "{name}: {ours} is not {golden}"
                );
            }
        },
    );
    assert!(expected.next().is_none());
}

/// Windows prints the same values in other forms.
fn is_as_windows_has_it(ours: &Value, golden: &Value) -> bool {
    match (ours, golden) {
        (Value::Array(ours), Value::Array(golden)) => {
            ours.len() == golden.len()
                && ours
                    .iter()
                    .zip(golden)
                    .all(|(o, g)| is_as_windows_has_it(o, g))
        }
        (Value::Object(ours), Value::Object(golden)) => ours
            .iter()
            .all(|(k, v)| is_as_windows_has_it(v, &golden[k])),
        (ours, Value::String(golden)) => {
            let text = ours
                .as_str()
                .map_or_else(|| ours.to_string(), str::to_lowercase);
            let golden = golden.to_lowercase();
            let bare = golden
                .trim_matches(['{', '}'])
                .trim_end_matches("00z")
                .trim_end_matches('z');
            let number = golden.parse::<f64>().ok().zip(ours.as_f64());
            let code = golden
                .rsplit_once(": 0x")
                .and_then(|(_, digits)| i64::from_str_radix(digits, 16).ok());
            text.trim_end_matches('z') == bare
                || format!("0x{text}") == golden
                || number.is_some_and(|(a, b)| (a - b).abs() <= 1e-6)
                || code.is_some() && code == ours.as_i64()
        }
        _ => false,
    }
}

#[test]
fn packets_have_the_fields_of_the_truth() {
    let Some(root) = etwkit_testkit::traces() else {
        return;
    };
    let truth = json(&root.join("truth/demikernel_PktMon.packets.json"));
    let mut expected = truth["packets"].as_array().unwrap().iter();
    let mut named = 0;
    each(
        &root.join("demikernel_PktMon.etl"),
        Descriptions::default(),
        |event, decoder, session| {
            let Some(plan) = decoder.plan(event).filter(|plan| {
                plan.schema().provider_name.as_deref() == Some("Microsoft-Windows-PktMon")
            }) else {
                return;
            };
            let fields = fields(event, &plan);
            for (field, value) in plan.schema().fields.iter().zip(fields.values()) {
                // Each value of the trace that its map knows is shown by its name.
                if let Some(map) = &field.map {
                    named += usize::from(
                        map.entries
                            .iter()
                            .any(|(_, name)| value.as_str() == Some(name)),
                    );
                    assert!(
                        value
                            .as_u64()
                            .is_none_or(|number| map.name(number).is_none()),
                        "{}: {value}",
                        field.name
                    );
                }
            }
            if event.descriptor().id != 160 {
                return;
            }
            let truth = expected.next().unwrap();
            assert!(
                (session.clock().seconds(event.timestamp) - truth["time_s"].as_f64().unwrap())
                    .abs()
                    < 1e-6
            );
            assert_eq!(Some(u64::from(event.cpu)), truth["cpu"].as_u64());
            for (field, ours) in plan.schema().fields.iter().zip(fields.values()) {
                let key = if &*field.name == "Payload" {
                    "payload"
                } else {
                    &field.name
                };
                assert!(
                    is_same(ours, &truth[key], field),
                    "{key}: {ours} is not {}",
                    truth[key]
                );
            }
        },
    );
    assert!(expected.next().is_none());
    assert!(named > 114, "{named} values with a name");
}

/// The descriptions in the trace are used by every front end: [`Decoder::plan`] takes them before
/// the built-in tables.
#[test]
fn descriptions_of_the_trace_win_over_built_in_layouts() {
    let Some(root) = etwkit_testkit::traces() else {
        return;
    };
    let (mut own, mut spans) = (0, etwkit_decode::Spans::default());
    each(
        &root.join("net.4.5.2.x64.etl"),
        Descriptions::default(),
        |event, decoder, _| {
            let Some(described) = decoder.own_plan(event).cloned() else {
                return;
            };
            if described.locate(event.payload(), &mut spans) {
                assert!(
                    Arc::ptr_eq(&described, &decoder.plan(event).unwrap()),
                    "{}",
                    described.schema().name
                );
                own += 1;
            }
        },
    );
    assert!(own > 50_000, "{own}");
}
