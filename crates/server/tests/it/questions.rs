//! Each question is answered from a trace.

use std::collections::HashSet;
use std::ops::ControlFlow;

use etwkit_extract::{ConvertOptions, convert};
use etwkit_trace::import::Range;
use serde_json::{Value, json};

use super::support::Place;

fn whole() -> Value {
    json!({"range": null, "chips": []})
}

#[test]
fn the_schema_names_tables_and_questions() {
    let place = Place::new();
    let schema = place.get("schema").json();
    let tables = schema["tables"].as_array().unwrap();
    let samples = tables
        .iter()
        .find(|table| table["name"] == "cpu_sample")
        .unwrap();
    let column = |name: &str| {
        samples["columns"]
            .as_array()
            .unwrap()
            .iter()
            .find(|column| column["name"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(
        (
            column("ts_ns")["unit"].clone(),
            column("weight_ns")["unit"].clone()
        ),
        (json!("time"), json!("ns"))
    );
    assert_eq!(column("process")["unit"], "text");
    let modules = tables.iter().find(|table| table["name"] == "module");
    let columns = modules.unwrap()["columns"].as_array().unwrap();
    let size = columns.iter().find(|column| column["name"] == "size");
    assert_eq!(size.unwrap()["unit"], "bytes");
    assert!(
        schema["questions"]
            .as_array()
            .unwrap()
            .iter()
            .any(|question| question["name"] == "wait")
    );
}

#[test]
fn the_schema_is_packed_for_who_takes_it_so() {
    let place = Place::new();
    let plain = place.get("schema");
    assert_eq!(plain.header("content-encoding"), None);
    let [host, origin, token] = place.lines();
    let lines = [
        host.as_str(),
        origin.as_str(),
        token.as_str(),
        "Accept-Encoding: gzip, br, zstd",
    ];
    let packed = place.raw("GET /api/v1/schema", &lines, b"");
    assert_eq!(
        (packed.status, packed.header("content-encoding")),
        (200, Some("zstd"))
    );
    assert!(
        packed.body.len() * 6 < plain.body.len(),
        "{} {}",
        packed.body.len(),
        plain.body.len()
    );
    assert_eq!(
        zstd::bulk::decompress(&packed.body, plain.body.len()).unwrap(),
        plain.body
    );
    assert_eq!(
        place.raw("GET /api/v1/schema", &lines[..2], b"").status,
        401
    );
}

#[test]
fn every_question_that_has_something_is_answered() {
    let place = Place::with_trace();
    let info = place.get("info").json();
    let questions = info["traces"][0]["opening"]["questions"].clone();
    for question in questions.as_array().unwrap() {
        let reply = place.post(
            "ask",
            &json!({"trace": 0, "question": question, "options": {}}),
        );
        let body = reply.json();
        let is_understood = reply.status == 200 || matches!(reply.status, 400 | 422);
        assert!(
            is_understood && !body.to_string().contains("defect"),
            "{question}: {body}"
        );
        for table in body["tables"].as_array().into_iter().flatten() {
            let columns = table["columns"].as_array().unwrap();
            let titles: HashSet<&str> = columns
                .iter()
                .map(|column| column["title"].as_str().unwrap())
                .collect();
            assert_eq!(titles.len(), columns.len(), "{question}: {columns:?}");
        }
    }
    let answer = place.answer(
        "ask",
        &json!({"trace": 0, "question": "cpu", "options": {"top": 3}}),
    );
    let table = &answer["tables"][0];
    assert_eq!(table["rows"].as_array().unwrap().len(), 3, "{answer}");
    let columns = table["columns"].as_array().unwrap();
    assert!(
        columns.iter().any(|column| column["unit"] == "ns"),
        "{columns:?}"
    );
    assert!(
        answer["source"]["command"]
            .as_str()
            .unwrap()
            .starts_with("etwkit dump cpu --top 3 ")
    );
    assert_eq!(
        place
            .post("ask", &json!({"trace": 0, "question": "x", "options": {}}))
            .status,
        404
    );
}

#[test]
fn rows_of_questions_come_with_the_lines_below_them() {
    let place = Place::with_trace();
    let tables = |options: Value| {
        let request = json!({"trace": 0, "question": "cpu", "options": options});
        place.answer("ask", &request)["tables"].clone()
    };
    let plain = tables(json!({"top": 2}));
    assert_eq!(plain[0]["below"], json!([]));
    let detailed = tables(json!({"top": 2, "details": true}));
    let below = detailed[0]["below"].as_array().unwrap();
    assert_eq!(below.len(), 2, "{below:?}");
    let first = below[0][0].as_str().unwrap();
    assert!(first.trim_start().starts_with("ready "), "{first}");
}

#[test]
fn rows_come_with_names_and_in_order() {
    let place = Place::with_trace();
    let request = json!({
        "trace": 0, "table": "cpu_sample", "columns": ["ts_ns", "process", "thread", "tag", "weight_ns"],
        "selection": whole(), "sort": {"by": "ts_ns", "descending": true}, "offset": 1, "limit": 20,
    });
    let answer = place.answer("rows", &request);
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 20);
    assert!(
        rows.windows(2)
            .all(|two| two[0][0].as_i64() >= two[1][0].as_i64())
    );
    assert!(
        rows.iter()
            .any(|row| row[1].as_str().is_some_and(|name| name.ends_with(')')))
    );
    // In double quotes, which cmd, PowerShell and sh read.
    let command = answer["source"]["command"].as_str().unwrap();
    assert!(
        command.contains(r#" "SELECT "#) && command.ends_with(r#" LIMIT 20 OFFSET 1""#),
        "{command}"
    );
    for (name, value) in [
        ("table", json!("x; DROP")),
        ("columns", json!(["ts_ns\" FROM process --"])),
    ] {
        let mut bad = request.clone();
        bad[name] = value;
        assert!(matches!(place.post("rows", &bad).status, 400 | 404));
    }
}

#[test]
fn filters_of_a_column_hold_for_rows_groups_and_their_series() {
    let place = Place::with_trace();
    let of = |question: &str, filters: Value, more: Value| {
        let mut request = json!({
            "trace": 0, "table": "cpu_sample", "selection": whole(), "filters": filters,
        });
        let more = more.as_object().unwrap().clone();
        request.as_object_mut().unwrap().extend(more);
        place.answer(question, &request)
    };
    let rows = |filters: Value| {
        let page = json!({"columns": ["cpu"], "sort": null, "offset": 0, "limit": 5});
        of("rows", filters, page)["total"].as_u64().unwrap()
    };
    let filter = |exclude: bool| json!([{"column": "cpu", "values": [0], "exclude": exclude}]);
    let (all, first, others) = (rows(json!([])), rows(filter(false)), rows(filter(true)));
    assert!(first > 0 && others > 0, "{first} and {others} of {all}");
    assert_eq!(first + others, all);
    let missing = json!([{"column": "cpu", "values": [null], "exclude": false}]);
    assert_eq!(rows(missing), 0, "each sample has a processor");

    let count = json!({"function": "count", "column": ""});
    let groups = json!({
        "group_by": ["process"], "path": [], "measures": [count], "limit": 5,
        "sort": {"by": "0", "descending": true},
    });
    let groups = of("pivot", filter(false), groups);
    assert_eq!(groups["total"]["measures"], json!([first]));
    let window = place.get("info").json()["traces"][0]["opening"]["range"].clone();
    let series = json!({
        "group": "process", "measure": count, "range": window, "buckets": 10, "top": 3,
    });
    let series = of("pivot_series", filter(false), series);
    let totals = series["series"].as_array().unwrap().iter();
    let drawn: u64 = totals.map(|one| one["total"].as_u64().unwrap()).sum();
    assert_eq!(drawn, first, "{series}");
}

#[test]
fn searches_find_names_and_nothing_is_a_pattern() {
    let place = Place::with_trace();
    let find = |text: &str| place.answer("search", &json!({"trace": 0, "text": text, "limit": 5}));
    let sql = "SELECT name FROM process WHERE length(name) > 4 LIMIT 1";
    let name = place.answer("sql", &json!({"trace": 0, "sql": sql, "limit": 1}));
    let name = name["tables"][0]["rows"][0][0]
        .as_str()
        .unwrap()
        .to_uppercase();
    let hits = find(&name)["hits"].clone();
    assert!(
        hits.as_array()
            .unwrap()
            .iter()
            .any(|hit| hit["kind"] == "process"),
        "{hits}"
    );
    for nothing in ["%%%", "____", "' OR ''='", r"\"] {
        let hits = find(nothing)["hits"].clone();
        let processes = hits
            .as_array()
            .unwrap()
            .iter()
            .filter(|hit| hit["kind"] == "process");
        assert!(
            nothing == r"\" || processes.count() == 0,
            "{nothing}: {hits}"
        );
    }
}

/// Searches: the text and the trace; the kind of the first hit, its label and its detail.
const FOUND: [(&str, &str, &str, &str, &str); 4] = [
    (
        "dns-5.etl",
        "FILES.corp",
        "dns",
        "files.corp.example",
        "queries: 17",
    ),
    (
        "tcp-5.etl",
        "10.1.1.188",
        "remote",
        "10.1.1.188",
        "TCP connections: 1",
    ),
    (
        "dotnet-5.etl",
        "argumentexc",
        "exception",
        "System.ArgumentException",
        "thrown: 10",
    ),
    (
        "calls.etl",
        r"software\classes",
        "registry",
        r"\REGISTRY\MACHINE\SOFTWARE\Classes",
        "operations: 226",
    ),
];

#[test]
fn properties_name_the_trace_and_not_its_extract() {
    let place = Place::with_trace();
    let stats = json!({"trace": 0, "question": "stats", "options": {"properties": "Source"}});
    let answer = place.answer("ask", &stats);
    let trace = place.folder.path().join("office.etl");
    assert_eq!(
        answer["tables"][0]["rows"],
        json!([["Source", trace]]),
        "{answer}"
    );
}

#[test]
fn the_health_of_a_trace_is_rows_or_a_sentence() {
    let place = Place::with_trace();
    let overview = json!({"trace": 0, "question": "overview", "options": {}});
    let answer = place.answer("ask", &overview);
    let tables = answer["tables"].as_array().unwrap();
    let health = tables
        .iter()
        .find(|table| table["name"] == "health")
        .unwrap();
    let has_rows = !health["rows"].as_array().unwrap().is_empty();
    let sentence = health["instead"].as_str().unwrap();
    assert_eq!(has_rows, !sentence.contains("nothing was lost"), "{health}");
    let lines = answer["lines"].to_string();
    assert!(!lines.contains("nothing was lost"), "said twice: {lines}");
}

#[test]
fn a_table_of_a_report_has_its_heading() {
    let place = Place::with_trace();
    let overview = json!({"trace": 0, "question": "overview", "options": {}});
    let answer = place.answer("ask", &overview);
    let tables = answer["tables"].as_array().unwrap();
    let next = tables.iter().find(|table| table["name"] == "next").unwrap();
    assert_eq!(next["title"], "What to ask next");
}

/// A part without events of a topic that the trace recorded.
#[test]
fn a_part_lists_what_was_recorded_and_did_not_happen() {
    let place = Place::new();
    let made = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/made");
    let trace = made.join("files-5.etl");
    let input = etwkit_extract::open(&[trace], &etwkit_extract::Options::default()).unwrap();
    let part = place.folder.path().join("part.etwx");
    let options = ConvertOptions {
        range: Range {
            start_ns: 1_000,
            end_ns: 2_000,
        },
        ..ConvertOptions::default()
    };
    convert(&input, &part, options, &mut |_| ControlFlow::Continue(())).unwrap();
    place.open(&part);
    let opening = place.get("info").json()["traces"][0]["opening"].clone();
    let silent = opening["did_not_happen"].as_array().unwrap();
    for name in ["hard_fault", "hard-fault", "disk_io", "disk"] {
        assert!(silent.contains(&json!(name)), "{name}: {silent:?}");
    }
    for name in ["context_switch", "registry", "process"] {
        assert!(!silent.contains(&json!(name)), "{name}: {silent:?}");
    }
}

#[test]
fn searches_find_hosts_keys_of_the_registry_and_exceptions() {
    let place = Place::new();
    let made = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/made");
    let calls = place.folder.path().join("calls.etl");
    let scenario = etwkit_synth::find("system-calls").unwrap();
    scenario
        .write(
            std::fs::File::create(&calls).unwrap(),
            &etwkit_synth::Options::default(),
        )
        .unwrap();
    for (trace, (name, text, kind, label, detail)) in FOUND.into_iter().enumerate() {
        let path = if name == "calls.etl" {
            calls.clone()
        } else {
            made.join(name)
        };
        place.open(&path);
        let hits =
            place.answer("search", &json!({"trace": trace, "text": text, "limit": 5}))["hits"]
                .clone();
        let hit = hits
            .as_array()
            .unwrap()
            .iter()
            .find(|hit| hit["kind"] == kind);
        let hit = hit.unwrap_or_else(|| panic!("{text} in {name}: {hits}"));
        assert_eq!(
            (&hit["label"], &hit["detail"]),
            (&json!(label), &json!(detail)),
            "{name}"
        );
        // No table is narrowed by it: a hit leads to the moment at which it is first seen.
        assert!(
            hit["chip"].is_null() && hit["at_ns"].as_i64().unwrap() > 0,
            "{hit}"
        );
        let nothing = json!({"trace": trace, "text": "nobody is called so", "limit": 5});
        assert_eq!(
            place.answer("search", &nothing)["hits"],
            json!([]),
            "{name}"
        );
    }
}

#[test]
fn lanes_of_cores_say_their_kind_where_there_are_several() {
    let place = Place::with_trace();
    let hybrid = place.folder.path().join("hybrid.etl");
    etwkit_synth::find("pe-cores")
        .unwrap()
        .write(
            std::fs::File::create(&hybrid).unwrap(),
            &etwkit_synth::Options::default(),
        )
        .unwrap();
    place.open(&hybrid);
    let kinds = |trace: usize| -> std::collections::BTreeSet<String> {
        let request =
            json!({"trace": trace, "kind": "core", "selection": whole(), "limit": 64, "offset": 0});
        let lanes = place.answer("lanes", &request);
        let labels = lanes["lanes"].as_array().unwrap().iter();
        let label = |lane: &Value| lane["label"].as_str().unwrap().to_owned();
        labels
            .map(label)
            .map(|label| {
                label
                    .trim_start_matches("CPU ")
                    .trim_start_matches(char::is_numeric)
                    .to_owned()
            })
            .collect()
    };
    assert_eq!(
        kinds(1),
        [" (E-core)", " (P-core)"].map(str::to_owned).into()
    );
    assert_eq!(kinds(0), [String::new()].into());
}

#[test]
fn timelines_are_arrow_and_moments_have_stacks() {
    let place = Place::with_trace();
    let range = place.get("info").json()["traces"][0]["opening"]["range"].clone();
    let request = json!({"trace": 0, "kind": "thread", "selection": {"range": range, "chips": []}, "limit": 5, "offset": 0});
    let lanes = place.answer("lanes", &request);
    let keys: Vec<i64> = lanes["lanes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|lane| lane["key"].as_i64().unwrap())
        .collect();
    assert!(
        !keys.is_empty()
            && lanes["lanes"][0]["label"]
                .as_str()
                .unwrap()
                .contains(" thread "),
        "{lanes}"
    );
    let request = json!({"trace": 0, "kind": "thread", "keys": keys, "range": range, "buckets": 100, "selection": whole()});
    let reply = place.post("timeline", &request);
    assert_eq!(
        (reply.status, reply.header("content-type")),
        (200, Some("application/vnd.apache.arrow.stream"))
    );
    let reader =
        etwkit_sql::arrow::ipc::reader::StreamReader::try_new(reply.body.as_slice(), None).unwrap();
    let header: Value = serde_json::from_str(&reader.schema().metadata()["header"]).unwrap();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    assert_eq!(batches.len(), 1);
    assert_eq!(
        batches[0].num_rows() as u64,
        header["buckets"].as_u64().unwrap() * keys.len() as u64
    );
    let kinds = ["cpu", "disk", "events"];
    for kind in kinds {
        let request = json!({"trace": 0, "kind": kind, "range": range, "buckets": 50, "top": 3, "selection": whole()});
        let reply = place.post("series", &request);
        assert!(
            matches!(reply.status, 200 | 422),
            "{kind}: {}",
            String::from_utf8_lossy(&reply.body)
        );
    }
    let sql = "SELECT thread_key, in_ns + 1 FROM context_switch WHERE in_ns IS NOT NULL AND run_ns > 10 LIMIT 1";
    let found = place.answer("sql", &json!({"trace": 0, "sql": sql, "limit": 1}));
    let (thread, at) = (
        &found["tables"][0]["rows"][0][0],
        &found["tables"][0]["rows"][0][1],
    );
    let request = json!({"trace": 0, "kind": "thread", "key": thread, "at_ns": at, "within_ns": 0});
    let moment = place.answer("moment", &request);
    assert_eq!(
        (&moment["slice"]["thread_key"], &moment["slice"]["state"]),
        (thread, &json!("running")),
        "{moment}"
    );
}
