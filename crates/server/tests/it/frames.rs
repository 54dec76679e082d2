//! Groups that unfold frame by frame: each row is in exactly one of them, and the groups agree with
//! the flame graph.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::numbers::numbers;
use super::support::Place;

/// A request with the measure of the flame graph and the number of rows.
fn request(table: &str, (groups, path): (&[&str], &[Value]), measure: &str) -> Value {
    json!({
        "trace": 0, "table": table, "group_by": groups, "path": path, "limit": 1000,
        "measures": [{"function": "sum", "column": measure}, {"function": "count", "column": ""}],
        "selection": part(), "sort": {"by": "0", "descending": true},
    })
}

/// A process whose stacks are not too many for a flame graph to have all of them.
fn chips() -> Value {
    json!([{"field": "process_name", "values": ["docservice.exe"], "exclude": false}])
}

/// A part of the trace.
fn part() -> Value {
    json!({"range": {"from_ns": 100_000_000, "to_ns": 102_000_000}, "chips": []})
}

fn measures(row: &Value) -> [i64; 2] {
    [0, 1].map(|at| row["measures"][at].as_i64().unwrap_or_default())
}

/// Names from the root with their sums, as in the flame graph; rows without a stack are left out.
fn flame(place: &Place, weight: &str) -> BTreeMap<Vec<String>, i64> {
    let request = json!({
        "trace": 0, "selection": {"range": part()["range"], "chips": chips()}, "weight": weight,
        "direction": "top_down",
        "by_process": false, "by_tag": false, "focus": null, "least_share": 0.0, "max_nodes": 20_000,
    });
    let answer = place.answer("flame", &request);
    assert_eq!(
        answer["left_out"],
        0,
        "{}",
        answer["nodes"].as_array().unwrap().len()
    );
    let (mut paths, mut sums) = (vec![Vec::new()], BTreeMap::new());
    for node in answer["nodes"].as_array().unwrap().iter().skip(1) {
        let mut path = paths[node["parent"].as_u64().unwrap() as usize].clone();
        path.push(
            answer["names"][node["name"].as_u64().unwrap() as usize]
                .as_str()
                .unwrap()
                .to_owned(),
        );
        sums.insert(path.clone(), node["total"].as_i64().unwrap());
        paths.push(path);
    }
    sums
}

#[test]
fn frames_unfold_as_the_flame_graph_has_them() {
    let place = Place::with_trace();
    let mut expected = flame(&place, "wait");
    let deepest = expected.keys().map(Vec::len).max().unwrap();
    assert!(
        deepest > 2 && expected.len() > 10,
        "there is something to unfold: {expected:?}"
    );
    let (mut found, mut next) = (BTreeMap::new(), vec![(Vec::new(), None, [0, 0])]);
    let (mut all, mut ends) = ([0, 0], [0, 0]);
    while let Some((names, outer, above)) = next.pop() {
        let path: Vec<Value> = Option::iter(&outer).cloned().collect();
        let groups: &[&str] = if outer.is_some() {
            &["frames", "frames"]
        } else {
            &["frames"]
        };
        let mut request = request("context_switch", (groups, &path), "wait_ns");
        request["selection"]["chips"] = chips();
        let answer = place.answer("pivot", &request);
        let rows = answer["rows"].as_array().unwrap();
        let mut sum = [0, 0];
        for row in rows {
            let of_row = measures(row);
            sum = [sum[0] + of_row[0], sum[1] + of_row[1]];
            if row["value"].is_null() {
                assert_eq!(
                    (row["label"].as_str(), names.len()),
                    (Some("(no stack)"), 0)
                );
                ends = [ends[0] + of_row[0], ends[1] + of_row[1]];
            } else if Some(&row["value"]) == outer.as_ref() {
                assert_eq!(row["label"], "(itself)");
                ends = [ends[0] + of_row[0], ends[1] + of_row[1]];
            } else {
                let mut names: Vec<String> = names.clone();
                names.push(row["label"].as_str().unwrap().to_owned());
                assert_eq!(
                    found.insert(names.clone(), of_row[0]),
                    None,
                    "{names:?} is there once"
                );
                next.push((names, Some(row["value"].clone()), of_row));
            }
        }
        assert_eq!(
            sum,
            measures(&answer["total"]),
            "each row is in one group below {names:?}"
        );
        all = if outer.is_none() { sum } else { all };
        assert!(
            outer.is_none() || sum == above,
            "what is in {names:?} is below it"
        );
    }
    found.retain(|_, sum| *sum > 0);
    expected.retain(|_, sum| *sum > 0);
    assert_eq!(found, expected);
    assert_eq!(all, ends, "each row ends somewhere, once");
}

#[test]
fn where_stacks_end_the_next_column_begins() {
    let place = Place::with_trace();
    let trace = place.folder.path().join("office.etl");
    let session = place
        .engine
        .open(&etwkit_engine::Asking::default(), &[trace], &mut Vec::new())
        .unwrap();
    let sql = "SELECT CAST(process_key AS BIGINT) AS process, CAST(stack_id AS BIGINT) AS stack, \
               count(*) AS rows, \
               sum(weight_ns) AS weight FROM cpu_sample WHERE process_key IS NOT NULL \
               AND ts_ns >= 100000000 AND ts_ns < 102000000 GROUP BY 1, 2 \
               ORDER BY 3 DESC, 2 LIMIT 1";
    let most = numbers(&session, sql)[0].clone();
    let end = numbers(
        &session,
        &format!("SELECT CAST(stack_root({}, 100000) AS BIGINT)", most[1]),
    )[0][0];
    let groups = ["process", "frames", "frames", "thread"];
    let path = [json!(most[0]), json!(end), json!(end)];
    let answer = place.answer(
        "pivot",
        &request("cpu_sample", (&groups, &path), "weight_ns"),
    );
    let sql = format!(
        "SELECT sum(weight_ns), count(*) FROM cpu_sample WHERE process_key = {} \
         AND stack_root(stack_id, 100000) = {end} \
         AND ts_ns >= 100000000 AND ts_ns < 102000000 GROUP BY thread_key ORDER BY 1 DESC, thread_key",
        most[0]
    );
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(
        rows.iter()
            .map(|row| measures(row).to_vec())
            .collect::<Vec<_>>(),
        numbers(&session, &sql)
    );
    assert!(
        !rows.is_empty()
            && rows
                .iter()
                .all(|row| row["label"].as_str().unwrap().contains(" ("))
    );
    // Shown groups can be selected elsewhere.
    let shown = numbers(&session, answer["source"]["sql"].as_str().unwrap());
    assert_eq!(shown, numbers(&session, &sql));
}

#[test]
fn frames_are_no_numbers_and_ways_are_there() {
    let place = Place::with_trace();
    let status = |groups: &[&str], path: &[Value]| {
        place
            .post("pivot", &request("cpu_sample", (groups, path), "weight_ns"))
            .status
    };
    for wrong in [
        json!(-1),
        json!(1 << 30),
        json!("x"),
        json!("1) OR (true"),
        json!(0.5),
    ] {
        assert_eq!(
            status(&["frames", "frames"], std::slice::from_ref(&wrong)),
            400,
            "{wrong}"
        );
    }
    assert_eq!(status(&["frames", "process"], &[Value::Null]), 200);
    let mut distinct = request("cpu_sample", (&["process"], &[]), "weight_ns");
    distinct["measures"] = json!([{"function": "distinct", "column": "frames"}]);
    assert_eq!(place.post("pivot", &distinct).status, 400);
    let of_readying = request("context_switch", (&["readying_frames"], &[]), "wait_ns");
    let answer = place.answer("pivot", &of_readying);
    assert!(
        answer["source"]["sql"]
            .as_str()
            .unwrap()
            .contains("stack_root(t.readying_stack_id, 1)")
    );
    // Over time it is the outermost frame.
    let series = json!({
        "trace": 0, "table": "cpu_sample", "group": "frames", "buckets": 10, "top": 3,
        "measure": {"function": "count", "column": ""}, "range": {"from_ns": 0, "to_ns": 1_000_000_000},
        "selection": {"range": null, "chips": []},
    });
    let answer = place.answer("pivot_series", &series);
    assert!(
        answer["series"][0]["label"].as_str().unwrap().contains('+'),
        "{answer}"
    );
}
