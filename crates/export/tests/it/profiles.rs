//! Profiles of rows that were made by hand, in each format.

use etwkit_export::{ExportRequest, FORMATS, WrittenProfile, format};
use etwkit_question::ProcessQuery;
use etwkit_question::tag_query::TagQuery;
use etwkit_questions::cpu::source::CpuSource;
use etwkit_sql::Session;
use etwkit_trace::tags::TagSet;
use serde_json::{Value, json};

use super::made_stacks::{WEIGHT, session};

/// Returns the profile and its report.
fn written(request: &ExportRequest) -> (Value, WrittenProfile) {
    let mut out = Vec::new();
    let written = request
        .write(format("speedscope").unwrap(), &session(), &mut out)
        .unwrap();
    (serde_json::from_slice(&out).unwrap(), written)
}

/// Samples as `outer;inner weight`.
fn samples(file: &Value) -> Vec<String> {
    let profile = &file["profiles"][0];
    let name = |frame: &Value| {
        file["shared"]["frames"][frame.as_u64().unwrap() as usize]["name"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let stack = |stack: &Value| {
        stack
            .as_array()
            .unwrap()
            .iter()
            .map(name)
            .collect::<Vec<_>>()
            .join(";")
    };
    let weights = profile["weights"].as_array().unwrap();
    let stacks = profile["samples"].as_array().unwrap();
    assert_eq!(stacks.len(), weights.len());
    stacks
        .iter()
        .zip(weights)
        .map(|(one, weight)| format!("{} {weight}", stack(one)))
        .collect()
}

fn of(process: Option<&str>) -> ExportRequest {
    let processes = ProcessQuery {
        process: process.map(str::to_owned),
        ..ProcessQuery::default()
    };
    ExportRequest {
        name: "shop_8".into(),
        processes,
        ..ExportRequest::default()
    }
}

#[test]
fn equal_stacks_are_one_sample_and_stand_by_name() {
    let (file, written) = written(&of(Some("8")));
    assert_eq!(
        samples(&file),
        [
            "shop.dll!main 1.0001",
            "shop.dll!main;shop.dll!a 1.0001",
            "shop.dll!main;shop.dll!b 2.0002"
        ]
    );
    assert_eq!(
        written,
        WrittenProfile {
            stacks: 3,
            frames: 3,
            total_ns: 4 * WEIGHT,
            source: Some(CpuSource::Samples),
            ..WrittenProfile::default()
        }
    );
    let profile = &file["profiles"][0];
    assert_eq!(profile["endValue"], json!(4.0004));
    assert_eq!(
        (&profile["type"], &profile["unit"]),
        (&json!("sampled"), &json!("milliseconds"))
    );
    assert_eq!(
        (&profile["name"], &profile["startValue"]),
        (&json!("shop_8"), &json!(0))
    );
    assert_eq!(
        file["$schema"],
        "https://www.speedscope.app/file-format-schema.json"
    );
}

#[test]
fn folded_stacks_are_lines_of_frames() {
    let text = |request: &ExportRequest| {
        let mut out = Vec::new();
        let written = request
            .write(format("folded").unwrap(), &session(), &mut out)
            .unwrap();
        (String::from_utf8(out).unwrap(), written)
    };
    let (lines, sums) = text(&of(Some("8")));
    assert_eq!(
        lines,
        "shop.dll!main 1000100\nshop.dll!main;shop.dll!a 1000100\nshop.dll!main;shop.dll!b 2000200\n"
    );
    assert_eq!(
        sums,
        written(&of(Some("8"))).1,
        "both formats have the same sums"
    );
    let roots = text(&ExportRequest {
        process_roots: true,
        thread_roots: true,
        ..of(Some("12"))
    })
    .0;
    let of_db = "db.exe (12);Thread  120 - Process 12";
    assert_eq!(
        roots,
        format!("{of_db};shop.dll!main;shop.dll!b 1000100\n{of_db};shop.dll+0x40 1000100\n")
    );
    assert_eq!(text(&of(Some("nobody"))).0, "");
}

/// Stacks of a V8 CPU profile as `outer;inner microseconds`: the same whether a time between two
/// samples belongs to the first one or to the second one.
fn read_cpu_profile(bytes: &[u8]) -> Vec<String> {
    let file: Value = serde_json::from_slice(bytes).unwrap();
    let nodes = file["nodes"].as_array().unwrap();
    let id = |node: &Value| node["id"].as_u64().unwrap();
    let mut stacks = std::collections::HashMap::from([(id(&nodes[0]), Vec::new())]);
    for node in nodes {
        for child in node["children"].as_array().unwrap() {
            let child = nodes.iter().find(|node| node["id"] == *child).unwrap();
            let mut stack: Vec<&str> = stacks[&id(node)].clone();
            stack.push(child["callFrame"]["functionName"].as_str().unwrap());
            assert!(
                stacks.insert(id(child), stack).is_none(),
                "a node has one parent"
            );
        }
    }
    assert_eq!(stacks.len(), nodes.len());
    let (samples, deltas) = (
        file["samples"].as_array().unwrap(),
        file["timeDeltas"].as_array().unwrap(),
    );
    assert_eq!(samples.len(), deltas.len());
    let length: f64 = deltas.iter().map(|delta| delta.as_f64().unwrap()).sum();
    assert!((length - file["endTime"].as_f64().unwrap()).abs() < 1e-6 && file["startTime"] == 0);
    let hits: u64 = nodes
        .iter()
        .map(|node| node["hitCount"].as_u64().unwrap())
        .sum();
    assert_eq!(hits as usize, samples.len());
    let times: Vec<(u64, f64)> = samples
        .iter()
        .map(|at| at.as_u64().unwrap())
        .zip(deltas.iter().map(|delta| delta.as_f64().unwrap()))
        .collect();
    let until_next: Vec<(u64, f64)> = times
        .windows(2)
        .map(|pair| (pair[0].0, pair[1].1))
        .filter(|(_, us)| *us > 0.0)
        .collect();
    let since_last: Vec<(u64, f64)> = times.into_iter().filter(|(_, us)| *us > 0.0).collect();
    assert_eq!(until_next, since_last);
    since_last
        .iter()
        .map(|(at, us)| format!("{} {us}", stacks[at].join(";")))
        .collect()
}

#[test]
fn a_cpu_profile_of_v8_has_the_weights_between_its_samples() {
    let text = |request: &ExportRequest| {
        let mut out = Vec::new();
        let written = request
            .write(format("cpuprofile").unwrap(), &session(), &mut out)
            .unwrap();
        (read_cpu_profile(&out), written)
    };
    let (stacks, reported) = text(&of(Some("8")));
    assert_eq!(
        stacks,
        [
            "shop.dll!main 1000.1",
            "shop.dll!main;shop.dll!a 1000.1",
            "shop.dll!main;shop.dll!b 2000.2"
        ]
    );
    assert_eq!(
        reported,
        written(&of(Some("8"))).1,
        "all formats have the same sums"
    );
    let roots = text(&ExportRequest {
        process_roots: true,
        thread_roots: true,
        ..of(Some("12"))
    })
    .0;
    let of_db = "db.exe (12);Thread  120 - Process 12";
    assert_eq!(
        roots,
        [
            format!("{of_db};shop.dll!main;shop.dll!b 1000.1"),
            format!("{of_db};shop.dll+0x40 1000.1")
        ]
    );
    assert_eq!(text(&of(Some("nobody"))).0, [""; 0]);
}

#[test]
fn tags_choose_stacks() {
    const TAGS: &str =
        r#"<Tag Name=""><Tag Name="B"><Entrypoint Module="shop.dll" Method="b"/></Tag></Tag>"#;
    let session = session();
    session.use_tags(vec![TagSet::read("b", &[("b.stacktags", TAGS.as_bytes())]).unwrap()].into());
    let lines = |tags: &str| {
        let tags = TagQuery {
            tags: Some(tags.to_owned()),
            sets: vec!["b".to_owned()],
        };
        let mut out = Vec::new();
        let request = ExportRequest {
            tags,
            ..of(Some("8"))
        };
        let written = request
            .write(format("folded").unwrap(), &session, &mut out)
            .unwrap();
        (String::from_utf8(out).unwrap(), written.total_ns)
    };
    assert_eq!(
        lines("B"),
        ("shop.dll!main;shop.dll!b 2000200\n".to_owned(), 2 * WEIGHT)
    );
    let others = "shop.dll!main 1000100\nshop.dll!main;shop.dll!a 1000100\n".to_owned();
    assert_eq!(lines("!B"), (others, 2 * WEIGHT));
    assert_eq!(lines("nosuch"), (String::new(), 0));
}

#[test]
fn formats_are_found_by_name() {
    for one in FORMATS {
        assert_eq!(format(one.name()).unwrap().sentence(), one.sentence());
        assert!(!one.sentence().ends_with('.'), "{}", one.name());
    }
    assert!(format("nosuch").is_none());
}

#[test]
fn stacks_begin_with_process_and_thread() {
    let request = ExportRequest {
        process_roots: true,
        thread_roots: true,
        ..of(None)
    };
    assert_eq!(
        samples(&written(&request).0),
        [
            "shop.exe (8);Thread  80 - Process 8;shop.dll!main 1.0001",
            "shop.exe (8);Thread  80 - Process 8;shop.dll!main;shop.dll!b 1.0001",
            "shop.exe (8);Thread  84 - Process 8;shop.dll!main;shop.dll!a 1.0001",
            "shop.exe (8);Thread  84 - Process 8;shop.dll!main;shop.dll!b 1.0001",
            "db.exe (12);Thread  120 - Process 12;shop.dll!main;shop.dll!b 1.0001",
            "db.exe (12);Thread  120 - Process 12;shop.dll+0x40 1.0001",
        ]
    );
    let merged = written(&of(None)).0;
    assert_eq!(
        samples(&merged),
        [
            "shop.dll!main 1.0001",
            "shop.dll!main;shop.dll!a 1.0001",
            "shop.dll!main;shop.dll!b 3.0003",
            "shop.dll+0x40 1.0001"
        ],
        "without roots everything is one tree"
    );
}

#[test]
fn nothing_is_a_profile_without_samples() {
    let (file, written) = written(&of(Some("nobody")));
    assert_eq!(
        (samples(&file), written),
        (Vec::new(), WrittenProfile::default())
    );
    assert_eq!(file["shared"]["frames"], json!([]));
}

#[test]
fn without_cpu_there_is_nothing_to_export() {
    let session = Session::from_batches(Vec::new()).unwrap();
    let error = of(None)
        .write(FORMATS[0], &session, &mut Vec::new())
        .unwrap_err();
    assert!(error.is_nothing() && error.hint().is_some(), "{error}");
}
