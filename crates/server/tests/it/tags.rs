//! Stack tags that the page chooses: own rules, and a file in place of the built-in ones.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::support::Place;

/// All stacks with a frame of the kernel get one tag. The second line has an entry that cannot be
/// used.
const KERNEL: &str = "<Tag Name=\"\"><Tag Name=\"Team\"><Tag Name=\"Kernel\">\n  <Entrypoint/>\n  \
                      <Entrypoint Module=\"ntoskrnl.exe\"/>\n</Tag></Tag></Tag>";
const TAG: &str = r"Team\Kernel";

/// CPU time by tag, as the flame graph has it.
fn flame(place: &Place) -> (BTreeMap<String, i64>, Value) {
    let request = json!({
        "trace": 0, "selection": {"range": null, "chips": []}, "weight": "cpu",
        "direction": "top_down", "by_process": false, "by_tag": true, "focus": null,
        "least_share": 0.0, "max_nodes": 20_000,
    });
    let answer = place.answer("flame", &request);
    let name = |node: &Value| {
        let at = usize::try_from(node["name"].as_u64().unwrap()).unwrap();
        answer["names"][at].as_str().unwrap().to_owned()
    };
    let nodes = answer["nodes"].as_array().unwrap().iter();
    let tags = nodes.filter(|node| node["kind"] == 2);
    let sums = tags.map(|node| (name(node), node["total"].as_i64().unwrap()));
    (sums.collect(), answer["source"].clone())
}

/// CPU time of this tag, or of each, as groups of a table have it.
fn groups(place: &Place, tag: Option<&str>) -> BTreeMap<String, i64> {
    // Flame graphs leave out the time in which nothing ran, and no other time of this process is
    // part of the tag.
    let idle = json!({"field": "process_name", "values": ["Idle"], "exclude": true});
    let mut chips = vec![idle];
    chips.extend(tag.map(chip));
    let request = json!({
        "trace": 0, "table": "cpu_sample", "group_by": ["tag"], "path": [], "limit": 1000,
        "measures": [{"function": "sum", "column": "weight_ns"}],
        "selection": {"range": null, "chips": chips}, "sort": {"by": "0", "descending": true},
    });
    let answer = place.answer("pivot", &request);
    let rows = answer["rows"].as_array().unwrap().iter();
    rows.map(|row| {
        let label = row["label"].as_str().unwrap().to_owned();
        (label, row["measures"][0].as_i64().unwrap())
    })
    .collect()
}

fn chip(tag: &str) -> Value {
    json!({"field": "tag", "values": [tag], "exclude": false})
}

fn use_own(place: &Place, text: &str) -> Value {
    let base = place.answer("tags", &json!({}))["own_version"].clone();
    place.answer("tags/own", &json!({"text": text, "base": base}))
}

#[test]
fn own_rules_are_in_every_view_at_once() {
    let place = Place::with_trace();
    let first = place.answer("tags", &json!({}));
    assert_eq!((&first["file"], &first["own"]), (&Value::Null, &json!("")));
    let (before, source) = flame(&place);
    assert!(!before.contains_key(TAG));
    assert!(!source["command"].as_str().unwrap().contains("stack-tag"));

    let answer = use_own(&place, KERNEL);
    assert_eq!(
        (&answer["own"], &answer["tags"][0]),
        (&json!(KERNEL), &json!(TAG))
    );
    let note = answer["notes"][0].as_str().unwrap();
    assert!(note.starts_with("own.stacktags:2:3: "), "{note}");

    let (after, source) = flame(&place);
    let of_kernel = after[TAG];
    assert!(of_kernel > 0);
    // Every stack still has exactly one tag.
    assert_eq!(before.values().sum::<i64>(), after.values().sum::<i64>());
    let command = source["command"].as_str().unwrap();
    assert!(
        command.starts_with("etwkit sql --stack-tag-file own.stacktags "),
        "{command}"
    );
    assert_eq!(groups(&place, None)[TAG], of_kernel);
    let only = BTreeMap::from([(TAG.to_owned(), of_kernel)]);
    assert_eq!(groups(&place, Some(TAG)), only);
    let found = place.answer(
        "search",
        &json!({"trace": 0, "text": "team\\k", "limit": 5}),
    );
    assert_eq!(found["hits"][0]["chip"], chip(TAG));

    use_own(&place, "");
    assert_eq!(flame(&place).0, before);
}

#[test]
fn questions_keep_the_tags_of_the_extract() {
    let place = Place::with_trace();
    let overhead = || {
        let options = json!({"by": "tag"});
        let request = json!({"trace": 0, "question": "overhead", "options": options});
        let answer = place.answer("ask", &request);
        (answer["tables"].clone(), answer["lines"].clone())
    };
    let before = overhead();
    use_own(&place, KERNEL);
    assert_eq!(overhead(), before);
}

#[test]
fn a_file_replaces_the_built_in_rules() {
    let place = Place::with_trace();
    let file = |name: &str, text: &str| {
        let name = name.replace('/', "%2F");
        place.send(&format!("tags/file?name={name}"), text.as_bytes())
    };
    let answer = file("team.stacktags", KERNEL).json();
    assert_eq!(answer["file"], "team.stacktags");
    let (tags, source) = flame(&place);
    let names: Vec<&str> = tags.keys().map(String::as_str).collect();
    assert_eq!(names, ["Other", TAG]);
    assert!(source["sql"].as_str().unwrap().contains("'team.stacktags'"));
    for name in ["default", "own.stacktags", "", "a/b.stacktags"] {
        assert_eq!(file(name, KERNEL).status, 400, "{name}");
    }
    file("-x.stacktags", KERNEL).json();
    let (_, source) = flame(&place);
    let command = source["command"].as_str().unwrap();
    assert!(
        command.starts_with("etwkit sql --stack-tag-file ./-x.stacktags "),
        "{command}"
    );
    let built_in = place.answer("tags/built_in", &json!({}));
    assert_eq!(built_in["file"], Value::Null);
    assert!(flame(&place).0.contains_key(r"File System\Disk Driver"));
}

#[test]
fn a_text_that_cannot_be_read_changes_nothing_and_names_the_line() {
    let place = Place::new();
    use_own(&place, KERNEL);
    let reply = place.post(
        "tags/own",
        &json!({
            "text": "<Tag Name=\"\">\n<Entrypoint/></Tag>",
            "base": place.answer("tags", &json!({}))["own_version"],
        }),
    );
    let failure = reply.json();
    assert_eq!(reply.status, 400, "{failure}");
    let message = failure["message"].as_str().unwrap();
    assert!(message.contains("own.stacktags:2:1"), "{message}");
    assert!(failure["hint"].is_string());
    assert_eq!(place.answer("tags", &json!({}))["own"], KERNEL);
}

#[test]
fn a_second_tab_does_not_undo_the_change_of_the_first() {
    let place = Place::new();
    let seen = place.answer("tags", &json!({}))["own_version"].clone();
    use_own(&place, KERNEL);
    let reply = place.post("tags/own", &json!({"text": "", "base": seen}));
    let failure = reply.json();
    assert_eq!(
        (reply.status, &failure["code"]),
        (409, &json!("conflict")),
        "{failure}"
    );
    assert!(failure["hint"].as_str().unwrap().contains("try again"));
    assert_eq!(place.answer("tags", &json!({}))["own"], KERNEL);
}

#[test]
fn a_file_is_read_in_the_encodings_of_editors() {
    let place = Place::new();
    let text = KERNEL.replace("Kernel", "K\u{e9}rnel");
    let narrow = text.chars().map(|letter| u8::try_from(letter).unwrap());
    let little = text.encode_utf16().flat_map(u16::to_le_bytes);
    let big = text.encode_utf16().flat_map(u16::to_be_bytes);
    let utf_8 = text.as_bytes().to_vec();
    for bytes in [utf_8, narrow.collect(), little.collect(), big.collect()] {
        let used = place.send("tags/file?name=team.xml", &bytes).json();
        assert_eq!(used["tags"][0], "Team\\K\u{e9}rnel");
        assert_eq!(place.send("tags/text", &bytes).json()["text"], text);
    }
    let reply = place.send("tags/text", b"<Tag \xff\0\0>");
    assert_eq!(reply.status, 400, "{}", reply.json());
}
