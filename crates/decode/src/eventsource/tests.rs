use super::*;
use crate::schema::{Count, Field, Length, Type};

/// A manifest with the given events, templates, maps and strings.
fn document(events: &str, templates: &str, maps: &str, strings: &str) -> String {
    format!(
        r#"<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><events>
 <provider name="Made" guid="{{00000000-0000-0000-0000-000000000000}}">
  <tasks><task name="Work" value="1"/></tasks>
  <opcodes><opcode name="Pause" value="11"/><opcode name="Nothing" value="0"/></opcodes>
  <keywords><keyword name="Slow" mask="0x2"/><keyword name="Fast" mask="1"/></keywords>
  <maps>{maps}</maps><events>{events}</events><templates>{templates}</templates>
 </provider></events></instrumentation>
 <localization><resources><stringTable>{strings}</stringTable></resources></localization>
</instrumentationManifest>"#
    )
}

fn read(text: &str) -> Option<Manifest> {
    parse(Guid::from_bytes([7; 16]), text)
}

fn one_template(data: &str) -> Option<Vec<Field>> {
    let text = document(
        r#"<event value="1" template="T"/>"#,
        &format!(r#"<template tid="T">{data}</template>"#),
        "",
        "",
    );
    let manifest = read(&text)?;
    assert_eq!(manifest.events.len() + manifest.broken_events.len(), 1);
    Some(manifest.events.into_iter().next()?.schema.fields)
}

#[test]
fn events_are_named_by_task_and_opcode() {
    let events = r#"<event value="1" version="2" task="Work" opcode="win:Start"/>
        <event value="2" task="Work" opcode="Pause"/><event value="3" task="Work" opcode="win:Info"/>
        <event value="4" task="Work" opcode="Nothing"/><event value="0x5" opcode="Pause"/>
        <event value="6" task="win:None"/>"#;
    let manifest = read(&document(events, "", "", "")).unwrap();
    let names: Vec<_> = manifest
        .events
        .iter()
        .map(|e| (e.id, e.version, &*e.schema.name))
        .collect();
    let expected = [
        (1, 2, "Work/Start"),
        (2, 0, "Work/Pause"),
        (3, 0, "Work"),
        (4, 0, "Work"),
        (5, 0, "EventID(5)"),
        (6, 0, "EventID(6)"),
    ];
    assert_eq!(names, expected);
    assert_eq!(manifest.name.as_deref(), Some("Made"));
    assert_eq!(manifest.keywords.name(3).as_deref(), Some("Slow|Fast"));
    assert_eq!(
        manifest.events[0].schema.provider,
        Guid::from_bytes([7; 16]),
        "not that of the XML"
    );
}

#[test]
fn lengths_and_counts_refer_to_fields_or_are_numbers() {
    let fields = one_template(
        r#"<data name="DataSize" inType="win:UInt32"/><data name="Data" inType="win:Binary" length="DataSize"/>
           <data name="Text" inType="win:UnicodeString" length="4"/>
           <data name="List" inType="win:UInt16" count="DataSize"/><data name="Pair" inType="win:GUID" count="2"/>
           <struct name="S" count="DataSize"><data name="a" inType="win:Pointer"/></struct>
           <data name="Port" inType="win:UInt16" outType="win:Port"/>"#,
    )
    .unwrap();
    assert_eq!(
        (fields[0].slot, fields[1].length),
        (Some(0), Length::Slot(0))
    );
    assert_eq!(fields[2].length, Length::Fixed(4));
    assert_eq!(
        (fields[3].count, fields[4].count),
        (Count::Slot(0), Count::Fixed(2))
    );
    assert_eq!(
        (fields[5].ty, fields[5].count, fields[5].members.len()),
        (Type::Struct, Count::Slot(0), 1)
    );
    assert_eq!(fields[6].ty, Type::Port);
}

#[test]
fn maps_and_messages_take_their_text_from_the_strings() {
    let text = document(
        r#"<event value="1" template="T" message="$(string.event_A)"/>"#,
        r#"<template tid="T"><data name="c" inType="win:UInt32" map="M"/></template>"#,
        r#"<valueMap name="M"><map value="0x1" message="$(string.one)"/><map value="2" message="two"/></valueMap>"#,
        r#"<string id="one" value="&lt;one&gt; "/><string id="event_A" value="Colour %1"/>"#,
    );
    let event = &read(&text).unwrap().events[0];
    assert_eq!(event.message.as_deref(), Some("Colour %1"));
    let map = event.schema.fields[0].map.as_ref().unwrap();
    assert_eq!(
        (map.name(1).as_deref(), map.name(2).as_deref()),
        (Some("<one>"), Some("two"))
    );
}

#[test]
fn events_that_refer_to_nothing_are_left_out() {
    for data in [
        r#"<data name="d" inType="win:Binary" length="Lost"/>"#,
        r#"<data name="d" inType="win:Binary" length="n"/><data name="n" inType="win:UInt32"/>"#,
        r#"<data name="d" inType="win:Strange"/>"#,
        r#"<data name="d"/>"#,
        r#"<data name="d" inType="win:UInt8" count="99999999999"/>"#,
    ] {
        assert!(one_template(data).is_none(), "{data}");
    }
    let events = r#"<event value="1" template="Lost"/><event value="70000"/><event/><event value="2"/>
        <event value="3" version="256"/>"#;
    let manifest = read(&document(events, "", "", "")).unwrap();
    assert_eq!(
        (manifest.events.len(), manifest.broken_events.len()),
        (1, 4)
    );
    let many = r#"<data name="d" inType="win:UInt8"/>"#.repeat(crate::bounds::MAX_FIELDS + 1);
    assert!(one_template(&many).is_none());
}

#[test]
fn broken_xml_is_no_manifest() {
    let good = document(r#"<event value="1"/>"#, "", "", "");
    assert!(read(&good).is_some());
    assert!(read(&format!("\u{FEFF}{good}")).is_some());
    for text in [
        "",
        "no XML",
        "<a/>",
        "<provider",
        "<provider name='x'></other>",
        "<provider name=x/>",
    ] {
        assert!(read(text).is_none(), "{text}");
    }
    for cut in 0..good.len() - 30 {
        if let Some(manifest) = good.get(..cut).and_then(read) {
            assert!(manifest.events.len() <= 1);
        }
    }
    assert!(read(&good.replace("Made", "&unknown;")).is_none());
    let deep = "<struct>".repeat(100_000);
    assert!(
        read(&document(
            "",
            &format!(r#"<template tid="T">{deep}"#),
            "",
            ""
        ))
        .is_none()
    );
}

#[test]
fn entities_do_not_expand() {
    let mut declarations = r#"<!ENTITY a0 "aaaaaaaaaa">"#.to_owned();
    for n in 1..30 {
        declarations += &format!(r#"<!ENTITY a{n} "&a{0};&a{0};&a{0};&a{0};">"#, n - 1);
    }
    let text = format!(r#"<!DOCTYPE x [{declarations}]><provider name="&a29;"/>"#);
    assert!(read(&text).is_none());
}

#[test]
fn inserts_of_a_message_shared_by_many_events_are_counted() {
    let events = r#"<event value="1" message="$(string.m)"/>"#.repeat(200);
    let string = |text: &str| format!(r#"<string id="m" value="{}"/>"#, text.repeat(100_000));
    assert!(read(&document(&events, "", "", &string("ab"))).is_some());
    assert!(read(&document(&events, "", "", &string("%1"))).is_none());
}

#[test]
fn a_template_shared_by_very_many_events_is_refused() {
    let data = r#"<data name="d" inType="win:UInt8"/>"#.repeat(1000);
    let events = r#"<event value="1" template="T"/>"#.repeat(2000);
    let text = document(
        &events,
        &format!(r#"<template tid="T">{data}</template>"#),
        "",
        "",
    );
    assert!(read(&text).is_none());
}
