//! The tools of ETWAnalyzer under their names.

use serde_json::{Value, json};

use super::{answer, call, driven, error, sentences};
use crate::support::{run, trace};

/// Bytes that the list of tools may take an agent.
const MOST: u64 = 60_000;

#[test]
fn lists_of_tools_are_small_and_those_of_etwanalyzer_have_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let list = json!([{"tools": true}]);
    let Some(own) = driven("lists_of_tools", folder.path(), &["mcp"], &list) else {
        return;
    };
    let Some(all) = driven("lists_of_tools", folder.path(), &["-mcp"], &list) else {
        return;
    };
    let names =
        |reply: &Value| -> Vec<String> { serde_json::from_value(reply["names"].clone()).unwrap() };
    assert_eq!(names(&own[0]).len(), 12);
    let theirs: Vec<String> = names(&all[0])
        .into_iter()
        .filter(|name| name.starts_with("etw_"))
        .collect();
    assert_eq!((theirs.len(), names(&all[0]).len()), (24, 36));
    for name in [
        "etw_load",
        "etw_dump_cpu",
        "etw_dump_marker",
        "etw_extract_timerange",
        "etw_help",
    ] {
        assert!(theirs.iter().any(|known| known == name), "{name}");
    }
    assert!(
        own[0]["bytes"].as_u64().unwrap() < MOST / 2,
        "{}",
        own[0]["bytes"]
    );
    assert!(
        all[0]["bytes"].as_u64().unwrap() < MOST,
        "{}",
        all[0]["bytes"]
    );
}

#[test]
fn a_tool_of_etwanalyzer_answers_as_its_command_line_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace("sched-5.etl");
    let steps = json!([
        call("etw_dump_cpu", json!({})),
        call("etw_load", json!({"filePaths": path})),
        call("etw_list", json!({})),
        call("etw_dump_cpu", json!({"arguments": "-topn 3"})),
        call("etw_dump_dns", json!({})),
        call("etw_dump_cpu", json!({"arguments": "-csv x.csv"})),
        call("etw_dump_cpu", json!({"arguments": "-nosuch"})),
        call("etw_help", json!({"command": "cpu"})),
        call("etw_help", json!({"command": "cup"})),
        call("etw_unload", json!({})),
        call("etw_load", json!({"filePaths": "/no/such/*.etl"})),
    ]);
    let Some(replies) = driven(
        "a_tool_of_etwanalyzer",
        folder.path(),
        &["mcp", "--etwanalyzer"],
        &steps,
    ) else {
        return;
    };
    assert_eq!(
        error(&replies[0]),
        ("no file is loaded", "`etw_load` loads traces and extracts")
    );
    assert_eq!(answer(&replies[2])["loaded"], json!([path]));
    let cpu = answer(&replies[3]);
    let line = run(&["-dump", "cpu", "-topn", "3", "-fd", &path, "-nocolor"]);
    assert_eq!(cpu["text"], line.out.as_str());
    assert!(
        sentences(cpu, "does_not_prove").contains("a method without samples did not run"),
        "{cpu:#}"
    );
    let dns = answer(&replies[4]);
    assert_eq!(dns["found"], false);
    assert!(
        sentences(dns, "does_not_prove").contains("dns_query"),
        "{dns:#}"
    );
    assert!(
        error(&replies[5])
            .0
            .starts_with("-csv has no place in a tool")
    );
    assert!(error(&replies[6]).0.contains("-nosuch"));
    assert!(
        answer(&replies[7])["text"]
            .as_str()
            .unwrap()
            .contains("-topn")
    );
    assert!(
        error(&replies[8])
            .0
            .starts_with("there is no -dump cup; there are: cpu, disk")
    );
    assert_eq!(answer(&replies[9])["loaded"], json!([]));
    assert!(error(&replies[10]).0.contains("/no/such/*.etl"));
}
