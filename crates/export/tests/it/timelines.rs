//! Timelines of rows that were made by hand, read back by others.

use etwkit_export::{Error, ExportRequest, TimelineSums, format};
use etwkit_question::ProcessQuery;
use etwkit_question::range::Range;
use etwkit_question::tag_query::TagQuery;
use etwkit_questions::cpu::Metric;
use etwkit_trace::tags::TagSet;
use serde_json::{Value, json};

use super::timeline_rows::{Names, PLAIN, TIMELINES, read, session, written};

fn of(process: Option<&str>) -> ExportRequest {
    let processes = ProcessQuery {
        process: process.map(str::to_owned),
        ..ProcessQuery::default()
    };
    ExportRequest {
        name: "shop".into(),
        processes,
        ..ExportRequest::default()
    }
}

#[test]
fn a_timeline_has_what_the_rows_have() {
    let folder = tempfile::tempdir().unwrap();
    let sums = TimelineSums {
        processes: 2,
        threads: 2,
        slices: 4,
        run_ns: 200 + 300 + 150 + 100,
        waits: 2,
        samples: 3,
        cpu_ns: 300,
        operations: 4,
        marks: 1,
    };
    for (_, written) in written(&of(None), &session(&PLAIN), folder.path()) {
        assert_eq!(written.timeline, Some(sums));
    }
}

#[test]
fn readers_find_what_the_rows_have() {
    let Some(found) = read(
        &of(None),
        &session(&PLAIN),
        "timelines::readers_find_what_the_rows_have",
    ) else {
        return;
    };
    let stacks = json!({"shop.dll!main;shop.dll!Shop::Pay": 200,
        "shop.dll!main;shop.dll!Shop::Pay;shop.dll+0x40": 100});
    for name in TIMELINES {
        let found = &found[name];
        assert_eq!(found["samples"], json!({"8": [3, 300]}), "{name}");
        assert_eq!(found["stacks"], stacks, "{name}");
        // Whole bytes, and the times from issuing to completion.
        let io = json!({"Disk read": [3, 3 * 4096, 90 + 250 + 10], "File create": [1, 0, 100]});
        assert_eq!(found["io"], io, "{name}");
        assert_eq!(found["paths"], json!([PLAIN.path]), "{name}");
        assert_eq!(found["marks"], json!([[500, "order 17"]]), "{name}");
        assert_eq!(found["threads"]["80"], "checkout", "{name}");
    }
    for (name, key) in [("perfetto", "8"), ("chrome", "8"), ("firefox", "8")] {
        assert_eq!(found[name]["processes"][key], "shop.exe", "{name}");
    }
    let (perfetto, firefox, chrome) = (&found["perfetto"], &found["firefox"], &found["chrome"]);
    // The idle threads of both processors have one id.
    assert_eq!(
        perfetto["run"],
        json!({"0": 100 + 300 + 150, "80": 500, "120": 250})
    );
    assert_eq!(chrome["run"], json!({"80": 500, "120": 250}));
    // From the first sample, at 150, to the last, at 650.
    assert_eq!(firefox["run"]["80"], 150 + 50);
    // The end of the last wait is not in the trace; Perfetto learns all the same that the thread
    // waits.
    assert_eq!(perfetto["waits"], json!({"6": 2}));
    assert_eq!(
        (&chrome["waits"], &firefox["waits"]),
        (&json!({"UserRequest": 2}), &json!({"UserRequest": 2}))
    );
    assert_eq!(
        perfetto["readied"],
        json!({"120 80": 1}),
        "nobody readies a thread that is preempted"
    );
}

#[test]
fn others_are_anonymous_on_processors() {
    let test = "timelines::others_are_anonymous_on_processors";
    let Some(found) = read(&of(Some("shop")), &session(&PLAIN), test) else {
        return;
    };
    for name in ["perfetto", "chrome"] {
        assert_eq!(found[name]["run"], json!({"80": 500}), "{name}");
    }
    assert_eq!(found["perfetto"]["processes"], json!({"8": "shop.exe"}));
    assert_eq!(
        found["perfetto"]["readied"],
        json!({"120 80": 1}),
        "who readied it is still named"
    );
    assert_eq!(
        found["firefox"]["marks"],
        json!([[500, "order 17"]]),
        "marks are about everything"
    );
    assert!(found["firefox"]["processes"].get("12").is_none());
}

#[test]
fn a_part_of_the_trace_cuts_what_reaches_out_of_it() {
    let request = ExportRequest {
        time: Range { min: 250, max: 650 },
        ..of(None)
    };
    let test = "timelines::a_part_of_the_trace_cuts_what_reaches_out_of_it";
    let Some(found) = read(&request, &session(&PLAIN), test) else {
        return;
    };
    assert_eq!(
        found["perfetto"]["run"],
        json!({"0": 300 + 100, "80": 50 + 50, "120": 150})
    );
    assert_eq!(found["chrome"]["run"], json!({"80": 100, "120": 150}));
    for name in TIMELINES {
        assert_eq!(
            found[name]["samples"],
            json!({"8": [2, 200]}),
            "{name}: both ends belong to it"
        );
        assert_eq!(
            found[name]["io"],
            json!({"Disk read": [2, 8192, 150 + 10]}),
            "{name}"
        );
    }
    assert_eq!(found["perfetto"]["waits"], json!({"6": 1}));
}

/// The samples of the made rows have the tag by this set; nothing else has a stack.
const TAGS: &str =
    r#"<Tag Name=""><Tag Name="Till"><Entrypoint Module="shop.dll" Method="Shop*"/></Tag></Tag>"#;

#[test]
fn tags_choose_what_has_such_a_stack() {
    let session = session(&PLAIN);
    session.use_tags(
        vec![TagSet::read("till", &[("till.stacktags", TAGS.as_bytes())]).unwrap()].into(),
    );
    let written_sums = |tags: &str| {
        let tags = TagQuery {
            tags: Some(tags.to_owned()),
            sets: vec!["till".to_owned()],
        };
        let folder = tempfile::tempdir().unwrap();
        let written_sums = written(&ExportRequest { tags, ..of(None) }, &session, folder.path());
        let sums = written_sums
            .into_iter()
            .map(|(_, written)| written.timeline.unwrap());
        let counts = |sums: TimelineSums| {
            (
                sums.samples,
                sums.cpu_ns,
                sums.slices,
                sums.waits,
                sums.operations,
            )
        };
        let counts: Vec<_> = sums.map(|sums| (counts(sums), sums.marks)).collect();
        assert!(counts.iter().all(|one| *one == counts[0]), "{counts:?}");
        counts[0]
    };
    assert_eq!(
        written_sums("Till"),
        ((3, 300, 0, 0, 0), 1),
        "marks are about everything"
    );
    assert_eq!(
        written_sums("!Till"),
        ((0, 0, 4, 2, 4), 1),
        "what has no stack has no tag, and is not excluded"
    );
    assert_eq!(written_sums("nosuch"), ((0, 0, 0, 0, 0), 1));
}

#[test]
fn no_name_ends_itself() {
    let hostile = Names {
        process: "a\";}],\"x\":[{\"\\..\\..\\evil.exe",
        thread: "t\u{0}\r\n\u{1b}[31m'<script>",
        path: "C:\\..\\../\u{202e}\u{fffd}\u{0}\"}",
        module: "m\"\n;\u{2028}.dll",
        method: "f<\"x\\\">;\u{7f}\t{}",
        mark: "\u{fffd}\"}\n]{\\u0022\u{0}",
    };
    let Some(found) = read(
        &of(None),
        &session(&hostile),
        "timelines::no_name_ends_itself",
    ) else {
        return;
    };
    let frame = |method: &str| format!("{}!{method}", hostile.module);
    let stack = format!("{};{}", frame("main"), frame(hostile.method));
    for name in TIMELINES {
        let found: &Value = &found[name];
        assert_eq!(found["processes"]["8"], hostile.process, "{name}");
        assert_eq!(found["threads"]["80"], hostile.thread, "{name}");
        assert_eq!(found["paths"], json!([hostile.path]), "{name}");
        assert_eq!(found["stacks"][&stack], 200, "{name}: {}", found["stacks"]);
        assert_eq!(found["marks"], json!([[500, hostile.mark]]), "{name}");
    }
}

#[test]
fn what_means_nothing_in_a_timeline_is_refused() {
    for name in TIMELINES {
        for (option, request) in [
            (
                "--metric",
                ExportRequest {
                    metric: Metric::Wait,
                    ..of(None)
                },
            ),
            (
                "--per-thread",
                ExportRequest {
                    thread_roots: true,
                    ..of(None)
                },
            ),
        ] {
            let error = request
                .write(format(name).unwrap(), &session(&PLAIN), &mut Vec::new())
                .unwrap_err();
            assert!(
                matches!(error, Error::NotOf { .. }) && error.hint().is_some(),
                "{error}"
            );
            assert!(error.to_string().starts_with(option), "{error}");
        }
    }
}

#[test]
fn the_same_rows_become_the_same_bytes() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let all = |folder: &tempfile::TempDir| -> Vec<Vec<u8>> {
        let files = written(&of(None), &session(&PLAIN), folder.path());
        files
            .iter()
            .map(|(path, _)| std::fs::read(path).unwrap())
            .collect()
    };
    assert!(all(&a) == all(&b));
}
