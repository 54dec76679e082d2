//! Regions of interest: the file, and instances in events that were made by hand.

use etwkit_analysis::region::{Manifest, RegionInstance, RegionRequest, RegionSort};
use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_question::{Error, ProcessQuery};
use etwkit_sql::Session;
use etwkit_trace::table::{GenericEvent, Mark, Process, Row, Thread};
use serde_json::json;

/// One millisecond in nanoseconds.
const MS: i64 = 1_000_000;

const APP: &str = "11111111-1111-1111-1111-111111111111";

/// A file of regions with one root.
fn file(regions: &str) -> String {
    format!(
        "<?xml version='1.0'?><?Copyright of somebody?>\n<InstrumentationManifest xmlns:x='y'><Instrumentation><Regions>\n\
         <RegionRoot Guid='{{ROOT}}' Name='Root'>{regions}</RegionRoot></Regions></Instrumentation></InstrumentationManifest>"
    )
}

/// A region that starts with event 1 and ends with event 2, with `more` inside.
fn simple(more: &str) -> String {
    file(&region("A", "Load", &event(1), &event(2), more))
}

fn event(id: u32) -> String {
    format!("<Event Provider='{{{APP}}}' Id='{id}' Version='0'/>")
}

fn region(guid: &str, name: &str, start: &str, stop: &str, more: &str) -> String {
    format!(
        "<Region Guid='{{{guid}}}' Name='{name}'><Start>{start}</Start><Stop>{stop}</Stop>{more}</Region>"
    )
}

/// An event of the program: milliseconds, id, thread, fields.
#[expect(
    clippy::needless_pass_by_value,
    reason = "values are written where they are used"
)]
fn at(ms: i64, id: i32, thread: i32, fields: serde_json::Value) -> GenericEvent {
    GenericEvent {
        ts_ns: ms * MS,
        process_key: Some(thread / 10),
        thread_key: Some(thread),
        provider_guid: APP.into(),
        provider: Some("App".into()),
        name: Some(format!("Event{id}").into()),
        event_id: id,
        fields: Some(fields.to_string()),
        ..GenericEvent::default()
    }
}

fn plain(events: &[(i64, i32)]) -> Vec<GenericEvent> {
    events
        .iter()
        .map(|(ms, id)| at(*ms, *id, 10, json!({})))
        .collect()
}

fn session(events: &[GenericEvent]) -> Session {
    let process = |process_key: i32, pid, name: &str| Process {
        process_key,
        pid,
        name: Some(name.into()),
        ..Process::default()
    };
    let thread = |thread_key: i32| Thread {
        thread_key,
        tid: thread_key + 1000,
        ..Thread::default()
    };
    Session::from_batches(vec![
        batch(&[process(1, 100, "app.exe"), process(2, 200, "other.exe")]),
        batch(&[thread(10), thread(11), thread(20)]),
        batch(&[Mark {
            ts_ns: 5 * MS,
            text: "a \"b\" \\c\n\u{1}".into(),
            ..Mark::default()
        }]),
        batch(events),
    ])
    .unwrap()
}

fn batch<R: Row>(
    rows: &[R],
) -> (
    &'static etwkit_trace::table::Table,
    Vec<etwkit_sql::arrow::array::RecordBatch>,
) {
    use etwkit_trace::table::Columns;
    let mut columns = R::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    (R::TABLE, vec![columns.take().unwrap()])
}

fn request(xml: &str) -> RegionRequest {
    let manifest = Manifest::parse("regions.xml", xml.as_bytes());
    let manifest = manifest.unwrap_or_else(|error| panic!("{error}\n{xml}"));
    RegionRequest {
        manifest: manifest.into(),
        sort: RegionSort::Time,
        ..RegionRequest::default()
    }
}

fn instances(xml: &str, events: &[GenericEvent]) -> Vec<RegionInstance> {
    request(xml).ask_instances(&session(events)).unwrap().rows
}

/// Start and end of all regions but the root, in milliseconds.
fn spans(xml: &str, events: &[GenericEvent]) -> Vec<(i64, i64)> {
    let rows = instances(xml, events);
    let rows = rows.iter().filter(|row| row.region != "Root");
    rows.map(|row| (row.start_ns / MS, row.stop_ns.unwrap() / MS))
        .collect()
}

/// The example of `docs/regions.md`.
#[test]
fn an_end_belongs_to_the_latest_open_start() {
    let events = plain(&[(1, 2), (10, 1), (20, 1), (30, 2), (40, 2), (50, 1)]);
    assert_eq!(spans(&simple(""), &events), [(10, 40), (20, 30)]);
    let answer = request(&simple("")).ask(&session(&events)).unwrap();
    let load = answer.rows.iter().find(|row| row.region == "Load").unwrap();
    assert_eq!(
        (
            load.count,
            load.duration_ns,
            load.open_starts,
            load.open_stops
        ),
        (2, 40 * MS, 1, 1)
    );
    assert_eq!(
        (load.min_duration_ns, load.max_duration_ns),
        (Some(10 * MS), Some(30 * MS))
    );
    assert_eq!(
        (load.first_start_ns, load.last_stop_ns, load.depth),
        (Some(10 * MS), Some(40 * MS), 1)
    );
    // The root lasts from the first start to the last end.
    let root = answer.rows.iter().find(|row| row.region == "Root").unwrap();
    assert_eq!((root.count, root.duration_ns, root.depth), (1, 30 * MS, 0));
    let open = RegionRequest {
        open: true,
        ..request(&simple(""))
    }
    .ask_instances(&session(&events))
    .unwrap();
    assert_eq!(
        open.rows.last().map(|row| (row.start_ns, row.stop_ns)),
        Some((50 * MS, None))
    );
}

#[test]
fn one_event_ends_an_instance_and_starts_the_next() {
    let frames = file(&region("A", "Frame", &event(1), &event(1), ""));
    assert_eq!(
        spans(&frames, &plain(&[(10, 1), (20, 1), (35, 1)])),
        [(10, 20), (20, 35)]
    );
}

#[test]
fn start_and_end_share_what_is_asked_for() {
    let events = [
        at(10, 1, 10, json!({"Name": "a"})),
        at(11, 1, 11, json!({"Name": "b"})),
        at(12, 1, 20, json!({"Name": "a"})),
        at(20, 2, 10, json!({"Client": "b"})),
        at(21, 2, 11, json!({"Client": "a"})),
        at(22, 2, 20, json!({"Client": "a"})),
    ];
    for (matching, want) in [
        ("", vec![(10, 22), (11, 21), (12, 20)]),
        ("<Event TID='true'/>", vec![(10, 20), (11, 21), (12, 22)]),
        ("<Event PID='true'/>", vec![(10, 21), (11, 20), (12, 22)]),
        ("<Event PID='false'/>", vec![(10, 22), (11, 21), (12, 20)]),
        (
            "<Event><Payload FieldName='Name' TargetFieldName='Client'/></Event>",
            vec![(10, 22), (11, 20), (12, 21)],
        ),
        (
            "<Event PID='true'><Payload FieldName='Name' TargetFieldName='Client'/></Event>",
            vec![(10, 21), (11, 20), (12, 22)],
        ),
        // The ends lack this field.
        ("<Event><Payload FieldName='Name'/></Event>", vec![]),
        // No event has an activity.
        ("<Event AID='true'/>", vec![]),
    ] {
        assert_eq!(
            spans(&simple(&format!("<Match>{matching}</Match>")), &events),
            want,
            "{matching}"
        );
    }
    let of = |activity: &str, event: GenericEvent| GenericEvent {
        activity_id: Some(activity.into()),
        ..event
    };
    let active = [
        of("x", at(1, 1, 10, json!({}))),
        of("y", at(2, 1, 10, json!({}))),
        of("x", at(3, 2, 20, json!({}))),
        of("y", at(4, 2, 20, json!({}))),
    ];
    let by_activity = simple("<Match><Event ActivityID='true'/></Match>");
    assert_eq!(spans(&by_activity, &active), [(1, 3), (2, 4)]);
}

#[test]
fn fields_distinguish_events() {
    let events = [
        at(
            10,
            1,
            10,
            json!({"Phase": "Begin", "Code": 8, "Key": "00000"}),
        ),
        at(
            20,
            1,
            10,
            json!({"Phase": "Going on", "Code": 9, "Key": "00000"}),
        ),
        at(30, 1, 10, json!({"Phase": "Finish", "Code": 20})),
    ];
    let of = |start: &str, stop: &str| {
        let start = format!("{}{start}", event(1));
        let stop = format!("{}{stop}", event(1));
        spans(&file(&region("A", "Phase", &start, &stop, "")), &events)
    };
    let is = |field: &str, value: &str| {
        format!("<PayloadIdentifier FieldName='{field}' FieldValue='{value}'/>")
    };
    let not = |field: &str, value: &str| {
        format!(
            "<PayloadIdentifier FieldName='{field}' FieldValue='{value}' FieldValueRelationship='DoesNotContain'/>"
        )
    };
    assert_eq!(
        of(&is("Phase", "Begin"), &is("Phase", "Finish")),
        [(10, 30)]
    );
    assert_eq!(of(&is("Code", "8"), &is("Code", "0x14")), [(10, 30)]);
    assert_eq!(
        of(
            &format!("{}{}", is("Key", "00000"), is("Code", "8")),
            &not("Code", "2")
        ),
        [(10, 20)]
    );
    // A field that is missing contains nothing.
    assert_eq!(of(&is("Code", "9"), &not("Key", "0")), [(20, 30)]);
    assert!(of(&is("phase", "Begin"), &is("Phase", "Finish")).is_empty());
    assert!(of(&is("Phase", "begin"), &is("Phase", "Finish")).is_empty());
}

#[test]
fn a_field_says_how_long_before_the_end_a_region_started() {
    let duration = |id: u32| {
        format!(
            "<Duration Provider='{{{APP}}}' Id='{id}' Version='0' Duration='TookMs' Multiplier='1000000'/>"
        )
    };
    let events = [
        at(100, 2, 10, json!({"TookMs": 40})),
        at(200, 2, 10, json!({"TookMs": "x"})),
        at(290, 3, 10, json!({"TookMs": 7})),
        at(300, 4, 10, json!({})),
        at(305, 3, 10, json!({"TookMs": 5})),
    ];
    let begins = file(&region("A", "Own", &duration(2), &event(2), ""));
    assert_eq!(spans(&begins, &events), [(60, 100)]);
    let ends = file(&region("A", "Own", &event(2), &duration(2), ""));
    assert_eq!(spans(&ends, &events), [(100, 140)]);
    // With a field of another event, the nearest one counts.
    let other = file(&region("A", "Other", &duration(3), &event(4), ""));
    assert_eq!(spans(&other, &events), [(295, 300)]);
    let unmatched = request(&begins).ask(&session(&events)).unwrap();
    assert_eq!(
        unmatched
            .rows
            .iter()
            .find(|row| row.region == "Own")
            .unwrap()
            .open_stops,
        1
    );
}

#[test]
fn regions_start_and_end_with_others() {
    let of = |guid: &str, more: &str| format!("<Region RegionGuid='{{{guid}}}' {more}/>");
    let first = region("A", "First", &event(1), &event(2), "");
    let second = region("B", "Second", &event(3), &event(4), "");
    let events = plain(&[(10, 1), (20, 2), (30, 3), (40, 4)]);
    let gap = |start: &str, stop: &str| {
        // Defined before the regions that it depends on.
        let between = region("C", "Between", &of("a", start), &of("B", stop), "");
        let rows = instances(&file(&format!("{between}{first}{second}")), &events);
        let row = rows
            .into_iter()
            .find(|row| row.region == "Between")
            .unwrap();
        (row.start_ns / MS, row.stop_ns.unwrap() / MS)
    };
    assert_eq!(gap("", ""), (20, 30));
    assert_eq!(gap("Endpoint='Start'", "Endpoint='Stop'"), (10, 40));
    assert_eq!(gap("Endpoint='Start'", ""), (10, 30));
    let circle = file(&format!(
        "{}{}",
        region("A", "One", &of("B", ""), &event(1), ""),
        region("B", "Two", &of("A", ""), &event(1), "")
    ));
    let error = Manifest::parse("r.xml", circle.as_bytes())
        .unwrap_err()
        .to_string();
    assert!(error.contains("in a circle of regions"), "{error}");
    // The others, and what only lies around a circle, are used.
    let rest = circle.replace(
        "</RegionRoot>",
        &format!(
            "{}</RegionRoot>",
            region("C", "Three", &event(1), &event(2), "")
        ),
    );
    assert_eq!(spans(&rest, &plain(&[(1, 1), (3, 2)])), [(1, 3)]);
    assert_eq!(warnings(&rest).len(), 2);
}

#[test]
fn a_parent_is_the_earliest_one_around() {
    let inner = |matching: &str| region("C", "Inner", &event(3), &event(4), matching);
    let outer = |matching: &str| {
        file(&region(
            "A",
            "Outer",
            &event(1),
            &event(2),
            &inner(matching),
        ))
    };
    let events = [
        at(10, 1, 10, json!({"Name": "x"})),
        at(20, 1, 20, json!({"Name": "y"})),
        at(30, 3, 20, json!({"Name": "y"})),
        at(40, 4, 20, json!({})),
        at(45, 3, 20, json!({})),
        at(50, 2, 20, json!({})),
        at(60, 2, 10, json!({})),
        at(70, 4, 20, json!({})),
    ];
    let parents = |xml: &str| {
        let rows = instances(xml, &events);
        let start = |id: Option<i64>| {
            rows.iter()
                .find(|row| Some(row.id) == id)
                .map(|row| row.start_ns / MS)
        };
        let inner = rows.iter().filter(|row| row.region == "Inner");
        inner
            .map(|row| (row.start_ns / MS, start(row.parent_id), row.depth))
            .collect::<Vec<_>>()
    };
    // The second one reaches beyond all of them.
    assert_eq!(parents(&outer("")), [(30, Some(10), 2), (45, None, 0)]);
    let of_thread = "<Match><Parent TID='true'/></Match>";
    assert_eq!(
        parents(&outer(of_thread)),
        [(30, Some(20), 2), (45, None, 0)]
    );
    let of_field = "<Match><Parent><Payload FieldName='Name'/></Parent></Match>";
    assert_eq!(parents(&outer(of_field))[0], (30, Some(20), 2));
}

#[test]
fn a_region_that_nests_in_itself_lies_in_the_one_that_started_last() {
    // As in the documentation: from 0 to 6, 2 to 5, 3 to 4; and one that only overlaps.
    let events = plain(&[
        (0, 1),
        (2, 1),
        (3, 1),
        (4, 2),
        (5, 2),
        (6, 2),
        (8, 1),
        (9, 2),
    ]);
    let rows = instances(&simple("<Match><SelfNest/></Match>"), &events);
    let start = |id: Option<i64>| {
        rows.iter()
            .find(|row| Some(row.id) == id)
            .map(|row| row.start_ns / MS)
    };
    let nested: Vec<_> = rows
        .iter()
        .filter(|row| row.region == "Load")
        .map(|row| {
            (
                row.start_ns / MS,
                row.stop_ns.unwrap() / MS,
                start(row.parent_id),
                row.depth,
            )
        })
        .collect();
    assert_eq!(
        nested,
        [
            (0, 6, Some(0), 1),
            (2, 5, Some(0), 2),
            (3, 4, Some(2), 3),
            (8, 9, Some(0), 1)
        ]
    );
    assert_eq!(rows[0].region, "Root");
}

#[test]
fn filters_keep_or_leave_out_by_what_happened() {
    let events = plain(&[
        (10, 1),
        (20, 2),
        (30, 9),
        (40, 1),
        (50, 2),
        (60, 9),
        (70, 1),
        (80, 2),
    ]);
    let all = [(10, 20), (40, 50), (70, 80)];
    for (kind, id, want) in [
        ("In", 9, &all[..]),
        ("In", 8, &[]),
        ("Out", 9, &[]),
        ("Out", 8, &all),
        ("InPost", 9, &all[1..]),
        ("OutPost", 9, &all[..1]),
        ("InPrev", 9, &all[..1]),
        ("OutPrev", 9, &all[1..]),
        ("InPost", 8, &[]),
        ("InPrev", 8, &[]),
        ("OutPrev", 8, &all),
    ] {
        let trigger =
            format!("<Filter><Event ProviderId='{{{APP}}}' Id='{id}' Type='{kind}'/></Filter>");
        assert_eq!(spans(&simple(&trigger), &events), want, "{kind} {id}");
    }
    let load = region(
        "A",
        "Load",
        &event(1),
        &event(2),
        "<Filter Type='InPost'><Region RegionGuid='B'/></Filter>",
    );
    let other = region("B", "Other", &event(9), &event(9), "");
    assert_eq!(
        spans(&file(&format!("{load}{other}")), &events),
        [(30, 60), (70, 80)]
    );
}

#[test]
fn instances_have_names() {
    let events = [
        at(10, 1, 10, json!({"Name": "start", "Pid": "0xc8"})),
        at(20, 2, 10, json!({"Name": "stop", "Only": {"Inner": 5}})),
    ];
    let name = |naming: &str| {
        let rows = instances(&simple(&format!("<Naming>{naming}</Naming>")), &events);
        rows.into_iter()
            .find(|row| row.region == "Load")
            .unwrap()
            .instance
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(name("<PayloadBased NameField='Name'/>"), text("start"));
    assert_eq!(
        name("<PayloadBased NameField='Name' InstanceEndpoint='Stop'/>"),
        text("stop")
    );
    assert_eq!(name("<PayloadBased NameField='Only.Inner'/>"), text("5"));
    assert_eq!(
        name("<PayloadBased NameField='Pid' Type='PID'/>"),
        text("other.exe")
    );
    assert_eq!(name("<PayloadBased NameField='Nowhere'/>"), None);
    let related = |guid: &str| {
        format!(
            "<RegionBased RegionGuid='{guid}' Relation='IsPresent' IfRelationTrue='Warm' IfRelationFalse='Cold'/>"
        )
    };
    assert_eq!(name(&related("root")), text("Warm"));
    let absent = format!(
        "{}{}",
        region(
            "A",
            "Load",
            &event(1),
            &event(2),
            &format!("<Naming>{}</Naming>", related("B"))
        ),
        region("B", "None", &event(7), &event(8), "")
    );
    assert_eq!(instances(&file(&absent), &events)[1].instance, text("Cold"));
}

#[test]
fn rows_carry_processes_fields_and_facts() {
    let more = "<Metadata><Owner> me &amp; you&#33; </Owner><Note><![CDATA[a]]></Note></Metadata>";
    let events = [
        at(10, 1, 10, json!({"a": 1})),
        at(20, 2, 20, json!({"b": 2})),
    ];
    let rows = instances(&simple(more), &events);
    let row = rows.iter().find(|row| row.region == "Load").unwrap();
    assert_eq!(
        (
            row.start_pid,
            row.start_tid,
            row.stop_pid,
            row.stop_process.as_deref()
        ),
        (Some(100), Some(1010), Some(200), Some("other.exe"))
    );
    assert_eq!(
        (row.start_event.as_deref(), row.stop_event.as_deref()),
        (Some("Event1"), Some("Event2"))
    );
    assert_eq!(
        (row.start_fields.as_deref(), row.stop_fields.as_deref()),
        (Some(r#"{"a":1}"#), Some(r#"{"b":2}"#))
    );
    assert_eq!(
        (row.metadata.as_deref(), row.provider.as_deref()),
        (Some("Owner=me & you!;Note=a"), Some("App"))
    );
}

#[test]
fn requests_choose_instances() {
    let events = [
        at(10, 1, 10, json!({"Name": "x"})),
        at(20, 2, 10, json!({})),
        at(30, 1, 20, json!({"Name": "y"})),
        at(50, 2, 20, json!({})),
    ];
    let xml = simple("<Naming><PayloadBased NameField='Name'/></Naming>");
    let base = || RegionRequest {
        region: Some("load".into()),
        ..request(&xml)
    };
    let ms = |min: i64, max: i64| Range {
        min: min * MS,
        max: max * MS,
    };
    let text = |text: &str| Some(text.to_owned());
    let process = ProcessQuery {
        process: text("other"),
        ..ProcessQuery::default()
    };
    for (request, want) in [
        (base(), vec![10, 30]),
        (
            RegionRequest {
                region: text("!load;!root"),
                ..base()
            },
            vec![],
        ),
        (
            RegionRequest {
                instance: text("y"),
                ..base()
            },
            vec![30],
        ),
        (
            RegionRequest {
                processes: process,
                ..base()
            },
            vec![30],
        ),
        (
            RegionRequest {
                time: ms(0, 15),
                ..base()
            },
            vec![10],
        ),
        (
            RegionRequest {
                time: ms(18, 29),
                ..base()
            },
            vec![10],
        ),
        (
            RegionRequest {
                duration: ms(15, 25),
                ..base()
            },
            vec![30],
        ),
        (
            RegionRequest {
                top: Top {
                    count: Some(1),
                    skip: 1,
                },
                ..base()
            },
            vec![10],
        ),
        (
            RegionRequest {
                sort: RegionSort::Duration,
                ..base()
            },
            vec![10, 30],
        ),
    ] {
        let rows = request.ask_instances(&session(&events)).unwrap().rows;
        let starts: Vec<i64> = rows.iter().map(|row| row.start_ns / MS).collect();
        assert_eq!(starts, want, "{request:?}");
    }
}

#[test]
fn marks_are_events_again() {
    let mark = |text: &str| {
        format!(
            "<Event Provider='ce1dbfb4-137e-4da6-87b0-3f59aa102cbc' OpCode='34'/>\
             <PayloadIdentifier FieldName='Message' FieldValue='{text}'/>"
        )
    };
    let xml = file(&region(
        "A",
        "Mark",
        &mark("a &quot;b&quot; \\c&#10;\u{fffd}"),
        &event(2),
        "",
    ));
    assert_eq!(spans(&xml, &plain(&[(9, 2)])), [(5, 9)]);
}

#[test]
fn a_file_may_name_marks_alone() {
    // With or without their text, next to other events of the extract: the planner gives up over an
    // ORDER BY of columns that are constants.
    let mark = "<Event Provider='ce1dbfb4-137e-4da6-87b0-3f59aa102cbc' OpCode='34'/>";
    let said = format!(
        "{mark}<PayloadIdentifier FieldName='Message' FieldValue='a &quot;b&quot; \\c&#10;\u{fffd}'/>"
    );
    for start in [mark, &said] {
        let xml = file(&region("A", "Mark", start, mark, ""));
        let mut open = request(&xml);
        open.open = true;
        let rows = open
            .ask_instances(&session(&plain(&[(9, 2), (1, 1)])))
            .unwrap()
            .rows;
        let marks: Vec<i64> = rows
            .iter()
            .filter(|row| row.region != "Root")
            .map(|row| row.start_ns)
            .collect();
        assert_eq!(marks, [5 * MS]);
    }
}

#[test]
fn events_without_an_id_have_names() {
    let named = |name: &str| format!("<Event Provider='{{{APP}}}' Name='{name}' Opcode='0'/>");
    let xml = file(&region("A", "Trace", &named("Event0"), &event(2), ""));
    assert_eq!(spans(&xml, &plain(&[(5, 0), (9, 2)])), [(5, 9)]);
    // Next to an id, a name is only for people.
    let both = format!("<Event Provider='{{{APP}}}' Name='Whatever' Id='1'/>");
    assert_eq!(
        spans(
            &file(&region("A", "Both", &both, &event(2), "")),
            &plain(&[(5, 1), (9, 2)])
        ),
        [(5, 9)]
    );
}

#[test]
fn what_an_extract_lacks_is_said() {
    let xml = file(&format!(
        "{}{}",
        region("A", "Here", &event(1), &event(2), ""),
        region("B", "Not here", &event(7), &event(2), "")
    ));
    let answer = request(&xml)
        .ask(&session(&plain(&[(1, 1), (2, 2)])))
        .unwrap();
    assert_eq!(answer.missing, [format!("{APP}, id 7, version 0")]);
    let error = request(&simple(""))
        .ask(&session(&plain(&[(1, 9)])))
        .unwrap_err();
    assert!(
        matches!(error, Error::NotThere { .. }) && error.is_nothing(),
        "{error}"
    );
    assert!(error.hint().unwrap().contains(APP), "{error:?}");
    let none = Session::from_batches(vec![batch::<GenericEvent>(&[]), batch::<Mark>(&[])]).unwrap();
    let error = request(&simple("")).ask(&none).unwrap_err();
    let hint = error.hint().unwrap();
    assert!(
        hint.contains(APP) && hint.contains("--detail full"),
        "{error:?}"
    );
}

/// What could not be followed in a file.
fn warnings(xml: &str) -> Vec<String> {
    let manifest = Manifest::parse("r.xml", xml.as_bytes());
    let manifest = manifest.unwrap_or_else(|error| panic!("{error}\n{xml}"));
    manifest.warnings().lines()
}

#[test]
fn what_cannot_be_followed_is_a_warning_and_the_rest_is_used() {
    let events = plain(&[(1, 1), (3, 2)]);
    // A second region has what cannot be followed; true if it is used all the same.
    for (more, is_used, expected) in [
        (
            "<Match><Event CPU='true'/></Match>",
            true,
            "CPU of <Event> is unknown and has no effect",
        ),
        (
            "<Match><Sibling/></Match>",
            true,
            "<Sibling> in <Match> is unknown and has no effect",
        ),
        (
            "<Unknown/>",
            true,
            "<Unknown> in <Region> is unknown and has no effect",
        ),
        (
            "<Start/>",
            true,
            "a second <Start> in <Region>: the first one is used",
        ),
        (
            "<Naming><PayloadBased NameField='a' Type='CLSID'/></Naming>",
            true,
            "Type \"CLSID\" of a name: traces do not have it",
        ),
        (
            "<Naming><RegionBased RegionGuid='A' Relation='IsNot' IfRelationTrue='' IfRelationFalse=''/></Naming>",
            true,
            "expected IsPresent as Relation, found \"IsNot\": its instances have no names",
        ),
        (
            "<Naming><RegionBased RegionGuid='Z' IfRelationTrue='' IfRelationFalse=''/></Naming>",
            true,
            "the instances of \"Other\" have no names",
        ),
        (
            "<Region Guid='A' Name='Twice'/>",
            true,
            "the region \"Twice\" is left out: an earlier one",
        ),
        (
            "<Region/>",
            true,
            "expected an attribute Guid, found <Region> without one: the region",
        ),
        (
            "<Region Guid='C' Name='Half'><Start/></Region>",
            true,
            "expected both <Start> and <Stop>",
        ),
        (
            "<Match><Event TID='maybe'/></Match>",
            false,
            "expected true or false as TID, found \"maybe\": the region \"Other\" is left out",
        ),
        (
            "<Filter><Region RegionGuid='A' Type='Around'/></Filter>",
            false,
            "expected In, InPost, InPrev, Out, OutPost or OutPrev as Type",
        ),
        (
            "<Filter><Region RegionGuid='Z' Type='In'/></Filter>",
            false,
            "the region \"Other\" is left out: it needs the region z, which the file does not have",
        ),
    ] {
        let other = region("B", "Other", &event(1), &event(2), more);
        let first = region("A", "Load", &event(1), &event(2), "");
        let xml = file(&format!("{first}{other}"));
        let told = warnings(&xml);
        assert!(
            told.len() == 1 && told[0].contains(expected),
            "{more}: {told:?}"
        );
        assert!(told[0].starts_with("r.xml:3:"), "{told:?}");
        let count = if is_used { 2 } else { 1 };
        assert_eq!(spans(&xml, &events).len(), count, "{more}");
    }
    // The answer tells it.
    let asked = request(&simple("<Unknown/>"));
    assert_eq!(
        asked
            .manifest
            .content
            .as_ref()
            .unwrap()
            .warnings()
            .lines()
            .len(),
        1
    );
}

#[test]
fn a_file_without_a_region_that_can_be_used_is_an_error() {
    let one = |start: &str, stop: &str| file(&region("A", "X", start, stop, ""));
    for (xml, expected) in [
        (
            one("<Event Provider='5' Id='1'/>", &event(1)),
            "a GUID as Provider",
        ),
        (
            one(&event(1), &format!("<Event Provider='{APP}'/>")),
            "an Id, a Name or an OpCode",
        ),
        (
            one(&event(1), &format!("{}{}", event(1), event(2))),
            "one <Event>, <Region> or <Duration>",
        ),
        (
            one(
                &format!(
                    "{}<PayloadIdentifier FieldName='a' FieldValue='b' FieldValueRelationship='Odd'/>",
                    event(1)
                ),
                &event(2),
            ),
            "IsEqual, IsNotEqual, Contains or DoesNotContain as FieldValueRelationship, found \"Odd\"",
        ),
        (
            one(
                &format!(
                    "{}<PayloadIdentifier FieldName='a' FieldValueRegEx='(?=a)'/>",
                    event(1)
                ),
                &event(2),
            ),
            "a regular expression as FieldValueRegEx, found \"(?=a)\" (look-around",
        ),
        (
            "<InstrumentationManifest/>".to_owned(),
            "with <Start> and <Stop>, found only <Instr",
        ),
        ("".to_owned(), "found the end"),
        ("<a".to_owned(), "the rest of the file is left out"),
        ("<a>".repeat(100), "64 in each other"),
        ("<a>".repeat(100_000), "64 in each other"),
    ] {
        let error = Manifest::parse("r.xml", xml.as_bytes())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(expected),
            "{}: {error}",
            xml.get(..200).unwrap_or(&xml)
        );
    }
    let binary = Manifest::parse("r.xml", &[0xC3, 0x28, 0]).unwrap_err();
    assert!(binary.to_string().contains("UTF-8 or UTF-16"), "{binary}");
}

#[test]
fn files_of_all_shapes_are_read() {
    let events = plain(&[(1, 1), (3, 2)]);
    let plain = simple("");
    let lower = plain
        .replace("Region", "region")
        .replace("Instrumentation", "INSTRUMENTATION")
        .replace("Start>", "start>")
        .replace("Provider", "provider");
    let bare = plain.replace(" Guid='{ROOT}'", "");
    for (xml, count) in [
        (lower, 0),
        (plain.replace("<Regions>", "<!-- c --><?p i?><Regions>"), 0),
        (
            plain
                .replace("<Region ", "<x:Region ")
                .replace("</Region>", "</x:Region>"),
            0,
        ),
        (bare, 1),
        (
            plain
                .replace("<RegionRoot", "<Odd><RegionRoot")
                .replace("</RegionRoot>", "</RegionRoot></Odd>")
                .replace("Odd>", "Regions>"),
            0,
        ),
        (
            plain.replace(
                "<?xml version='1.0'?>",
                "<?xml version='1.0' encoding='utf-16'?>",
            ),
            0,
        ),
        (
            plain.replace("<?xml version='1.0'?>", "<!DOCTYPE a [<!ENTITY b 'c'>]>"),
            1,
        ),
        (plain.replace("</RegionRoot>", ""), 1),
        (plain.split("</RegionRoot>").next().unwrap().to_owned(), 1),
    ] {
        assert_eq!(spans(&xml, &events), [(1, 3)], "{xml}");
        assert_eq!(warnings(&xml).len(), count, "{xml} {:?}", warnings(&xml));
    }
    let utf_16: Vec<u8> = plain.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [utf_16.clone(), [&[0xFF, 0xFE], utf_16.as_slice()].concat()] {
        assert!(
            Manifest::parse("r.xml", &bytes)
                .unwrap()
                .warnings()
                .is_empty()
        );
    }
}

#[test]
fn values_can_be_patterns_and_relations() {
    let events = [
        at(1, 1, 10, json!({"Name": "load-17", "Code": 404})),
        at(3, 2, 10, json!({})),
        at(5, 1, 10, json!({"Name": "save-2"})),
        at(7, 2, 10, json!({})),
    ];
    let of = |condition: &str| {
        let start = format!(
            "{}<PayloadIdentifier FieldName='Name' {condition}/>",
            event(1)
        );
        spans(&file(&region("A", "X", &start, &event(2), "")), &events)
    };
    assert_eq!(of("FieldValueRegEx='^load-[0-9]+$'"), [(1, 3)]);
    assert_eq!(of("FieldValueRegEx='-[0-9]'"), [(1, 3), (5, 7)]);
    assert_eq!(
        of("FieldValueRegex='^load' fieldvaluerelationship='DoesNotContain'"),
        [(5, 7)]
    );
    assert_eq!(
        of("FieldValue='load' FieldValueRelationship='contains'"),
        [(1, 3)]
    );
    assert_eq!(
        of("FieldValue='load-17' FieldValueRelationship='IsNotEqual'"),
        [(5, 7)]
    );
    let number = format!(
        "{}<PayloadIdentifier FieldName='Code' FieldValueRegEx='^4..$'/>",
        event(1)
    );
    assert_eq!(
        spans(&file(&region("A", "X", &number, &event(2), "")), &events),
        [(1, 3)]
    );
    // An expression that would take others forever takes no time.
    let events = [
        at(1, 1, 10, json!({"Name": "a".repeat(50_000)})),
        at(3, 2, 10, json!({})),
    ];
    let start = format!(
        "{}<PayloadIdentifier FieldName='Name' FieldValueRegEx='^(a+)+$'/>",
        event(1)
    );
    assert_eq!(
        spans(&file(&region("A", "X", &start, &event(2), "")), &events),
        [(1, 3)]
    );
    let large = format!(
        "{}<PayloadIdentifier FieldName='Name' FieldValueRegEx='(a{{1000}}){{1000}}'/>",
        event(1)
    );
    let error = Manifest::parse(
        "r.xml",
        file(&region("A", "X", &large, &event(2), "")).as_bytes(),
    );
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("it needs more than")
    );
}

#[test]
fn a_file_may_have_thousands_of_regions() {
    let many: String = (1..5000)
        .map(|n| {
            region(
                &format!("R{n}"),
                &format!("N{n}"),
                &event(n),
                &event(n + 1),
                "",
            )
        })
        .collect();
    assert_eq!(
        spans(&file(&many), &plain(&[(1, 4000), (3, 4001)])),
        [(1, 3)]
    );
    // Names instead of ids: the providers alone are a condition.
    let named = |n: u32| format!("<Event Provider='{APP}' Name='Event{n}'/>");
    let many: String = (0..500)
        .map(|n| {
            region(
                &format!("R{n}"),
                &format!("N{n}"),
                &named(n),
                &named(n + 1),
                "",
            )
        })
        .collect();
    assert_eq!(spans(&file(&many), &plain(&[(1, 400), (3, 401)])), [(1, 3)]);
    let beyond: String = "<Region/>".repeat(250_000);
    let told = warnings(&file(&format!(
        "{}{beyond}",
        region("A", "X", &event(1), &event(2), "")
    )));
    assert!(
        told.last()
            .is_some_and(|last| last.ends_with("more warnings like these"))
    );
}

#[test]
fn changed_files_are_read_or_refused() {
    let nested = file(&region(
        "A",
        "Load",
        &event(1),
        &event(2),
        &region(
            "B",
            "Inner",
            &event(3),
            &event(4),
            "<Naming><PayloadBased NameField='n'/></Naming>",
        ),
    ));
    etwkit_testkit::xml_noise::each(&[nested.as_bytes()], |bytes| {
        drop(Manifest::parse("own.xml", bytes));
    });
}
