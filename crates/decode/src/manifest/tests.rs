use super::*;
use crate::Plan;
use crate::render::{Limits, Renderer};

fn document(template: &str, rest: &str) -> String {
    format!(
        r#"<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
<instrumentation xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><events>
<provider name="First" guid="{{00000000-0000-0000-0000-000000000001}}">
<tasks><task name="Work" value="1"><opcodes><opcode name="Rest" value="12"/></opcodes></task></tasks>
<maps><valueMap name="M"><map value="1" message="$(string.one)"/></valueMap></maps>
<events><event value="1" task="Work" opcode="Rest" template="T" message="$(string.text)"/></events>
<templates><template tid="T">{template}</template></templates>
</provider>
<provider name="Second" guid="{{00000000-0000-0000-0000-000000000002}}">
<events><event value="1" template="T"/></events>
<templates><template tid="T"><data name="other" inType="win:UInt8"/></template></templates>
</provider>{rest}
</events></instrumentation>
<localization><resources culture="en-US"><stringTable><string id="text" value="It is %1%n"/>
<string id="one" value="One "/></stringTable></resources>
<resources culture="de-DE"><stringTable><string id="text" value="Es ist %1"/></stringTable></resources></localization>
</instrumentationManifest>"#
    )
}

fn values(template: &str, payload: &[u8]) -> String {
    let all = read(&document(template, "")).unwrap();
    let plan = Plan::new(all[0].1.events[0].schema.clone(), 8);
    let (fields, complete) = Renderer {
        clock: None,
        limits: Limits::NONE,
    }
    .object(&plan, payload);
    format!(
        "{}{}",
        serde_json::Value::Object(fields),
        if complete { "" } else { " cut" }
    )
}

#[test]
fn providers_of_one_file_keep_their_names_apart() {
    let all = read(&document(
        r#"<data name="m" inType="win:UInt32" map="M"/>"#,
        "",
    ))
    .unwrap();
    let of = |at: usize| {
        (
            all[at].0.to_string(),
            all[at].1.name.as_deref().unwrap().to_owned(),
        )
    };
    assert_eq!(
        of(0),
        (
            "00000000-0000-0000-0000-000000000001".into(),
            "First".into()
        )
    );
    assert_eq!(
        of(1),
        (
            "00000000-0000-0000-0000-000000000002".into(),
            "Second".into()
        )
    );
    let event = &all[0].1.events[0];
    assert_eq!(
        (&*event.schema.name, event.schema.source),
        ("Work/Rest", Source::Manifest)
    );
    assert_eq!(
        event.message.as_deref(),
        Some("It is %1%n"),
        "in the first language"
    );
    assert_eq!(
        &*all[1].1.events[0].schema.fields[0].name, "other",
        "templates of one name"
    );
    assert_eq!(
        values(
            r#"<data name="m" inType="win:UInt32" map="M"/>"#,
            &[1, 0, 0, 0]
        ),
        r#"{"m":"One"}"#
    );
}

/// Arrays of a fixed count take their bytes, whatever their elements are, and the fields after them
/// are found.
#[test]
fn arrays_of_a_fixed_count_end_where_the_next_field_begins() {
    let template = r#"<data name="a" inType="win:UInt8"/>
        <data name="words" inType="win:UInt16" count="3"/>
        <struct name="pairs" count="2"><data name="k" inType="win:UInt8"/><data name="v" inType="win:UInt32" count="2"/></struct>
        <data name="texts" inType="win:UnicodeString" count="2"/>
        <data name="fixed" inType="win:AnsiString" length="2" count="2"/>
        <data name="bytes" inType="win:Binary" length="3" count="2"/>
        <data name="flags" inType="win:Boolean" count="1"/>
        <data name="end" inType="win:HexInt32"/>"#;
    let mut payload = vec![7, 1, 0, 2, 0, 3, 0];
    for key in [8u8, 9] {
        payload.push(key);
        payload.extend(
            [u32::from(key) + 1, u32::from(key) + 2]
                .map(u32::to_le_bytes)
                .concat(),
        );
    }
    payload.extend(b"x\0\0\0yz"[..4].iter().chain(b"y\0\0\0"));
    payload.extend(b"abcd\x01\x02\x03\x04\x05\x06\x01\0\0\0\xEF\xBE\0\0");
    assert_eq!(
        values(template, &payload),
        r#"{"a":7,"words":[1,2,3],"pairs":[{"k":8,"v":[9,10]},{"k":9,"v":[10,11]}],"texts":["x","y"],"fixed":["ab","cd"],"bytes":["010203","040506"],"flags":[true],"end":"0xbeef"}"#
    );
}

#[test]
fn claimed_counts_and_lengths_end_with_the_payload() {
    let count = r#"<data name="n" inType="win:UInt32"/>"#;
    let of = |data: &str| values(&format!("{count}{data}"), &[0xFF; 12]);
    let expected = r#"{"n":4294967295} cut"#;
    assert_eq!(
        of(r#"<data name="d" inType="win:UInt8" count="n"/>"#),
        expected
    );
    assert_eq!(
        of(r#"<data name="d" inType="win:Binary" length="n"/>"#),
        expected
    );
    assert_eq!(
        of(r#"<data name="d" inType="win:UnicodeString" length="n"/>"#),
        expected
    );
    assert_eq!(
        of(r#"<data name="d" inType="win:UInt64" count="4294967295"/>"#),
        expected
    );
    let nested = r#"<struct name="a" count="n"><struct name="b" count="n"><struct name="c" count="n"/></struct></struct>"#;
    assert!(of(nested).starts_with(r#"{"n":4294967295"#));
}

#[test]
fn errors_say_where_and_what() {
    let good = document(r#"<data name="d" inType="win:UInt8"/>"#, "");
    for (from, to, expected) in [
        (
            "000000000002}\"",
            "x}\"",
            r#"line 9: expected a <provider> with a guid, found "{00000000-0000-0000-0000-x}""#,
        ),
        (
            r#"value="1" task"#,
            r#"value="x" task"#,
            r#"line 6: expected an event with a value from 0 to 65535, found "x""#,
        ),
        (
            r#"value="1" task"#,
            r#"value="1" version="256" task"#,
            r#"line 6: expected an event with a version from 0 to 255, found "256""#,
        ),
        (
            "template=\"T\" message",
            "template=\"U\" message",
            r#"line 6: expected an event with a template that is there, found "U""#,
        ),
        (
            "win:UInt8\"/></template></templates>\n</provider>\n<provider name=\"Second",
            "win:Strange\"/></template></templates>\n</provider>\n<provider name=\"Second",
            r#"line 6: expected a template whose types exist, and whose lengths and counts refer to fields before them, found "T""#,
        ),
        (
            "</instrumentationManifest>",
            "",
            "line 17: expected </instrumentationManifest>, found the end of the file",
        ),
        (
            "<instrumentationManifest",
            "<!DOCTYPE x><instrumentationManifest",
            "line 1: expected a manifest without <!DOCTYPE>, found one",
        ),
        (
            "<provider",
            "<other",
            "line 1: expected an element <provider>, found none",
        ),
    ] {
        let text = good.replace(from, to).replace(
            if from == "<provider" {
                "</provider"
            } else {
                "\0"
            },
            "</other",
        );
        assert_ne!(text, good, "{from}");
        let wrong = read(&text).unwrap_err();
        assert_eq!(wrong.to_string(), expected);
        assert!(wrong.hint().contains(".man"));
    }
    let wrong = read(&good.replace("</tasks>", "</task>")).unwrap_err();
    assert_eq!((wrong.line, &*wrong.expected), (4, "XML"), "{wrong}");
}

#[test]
fn every_cut_and_every_flipped_byte_is_survived() {
    let good = document(r#"<data name="d" inType="win:UInt8" count="3"/>"#, "");
    for at in 0..good.len() {
        let _ = good.get(..at).map(read);
        let mut changed = good.as_bytes().to_vec();
        changed[at] ^= 0x15;
        let _ = read(&String::from_utf8_lossy(&changed));
    }
}
