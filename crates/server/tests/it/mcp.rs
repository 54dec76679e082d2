//! The size of the tool list in an agent's context, and its content. The answers of the tools are
//! tested through the program with a third-party client, in `crates/etwkit/tests/it/mcp`.

use etwkit_server::mcp::tools_as_json;
use serde_json::Value;

/// Bytes that the list of tools may take.
const MOST: usize = 60_000;

#[test]
fn the_list_of_tools_is_small() {
    let (own, all) = (
        tools_as_json(false).to_string().len(),
        tools_as_json(true).to_string().len(),
    );
    assert!(own < MOST / 2, "{own} bytes");
    assert!(all < MOST, "{all} bytes");
}

#[test]
fn every_tool_says_what_it_takes() {
    let Value::Array(tools) = tools_as_json(true) else {
        panic!("no list")
    };
    assert_eq!(tools.len(), 36);
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        assert!(tool["description"].as_str().unwrap().len() > 10, "{name}");
        let schema = &tool["inputSchema"];
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&"object".into(), &false.into()),
            "{name}"
        );
        for required in schema["required"].as_array().unwrap() {
            assert!(
                schema["properties"][required.as_str().unwrap()].is_object(),
                "{name}: {required}"
            );
        }
        for (argument, of) in schema["properties"].as_object().unwrap() {
            assert!(of["type"].is_string(), "{name}: {argument}");
        }
        let writes = name.starts_with("etw_extract");
        assert_eq!(tool["annotations"]["readOnlyHint"], !writes, "{name}");
    }
}

#[test]
fn schemas_of_tools_are_those_of_their_questions() {
    let tools = tools_as_json(false);
    let of = |name: &str| {
        let found = tools
            .as_array()
            .unwrap()
            .iter()
            .find(|tool| tool["name"] == name);
        found.unwrap()["inputSchema"]["properties"].clone()
    };
    for (tool, question, there, decided) in [
        ("wait_chain", "wait", "reason", "chain"),
        (
            "critical_path",
            "critical-path",
            "by-process",
            "rows_of_paths",
        ),
        ("diagnose", "diagnose", "rule", "table"),
        ("diff", "diff", "noise-percent", "details"),
    ] {
        let declared = etwkit_question::request_schema(etwkit_engine::question(question).unwrap());
        let properties = of(tool);
        assert_eq!(properties[there], declared["properties"][there], "{tool}");
        assert!(
            properties[there].is_object() && properties.get(decided).is_none(),
            "{tool}"
        );
    }
}
