//! Columns of tables over time, disks and modules have the numbers of SQL.

use etwkit_engine::Asking;
use etwkit_sql::Session;
use serde_json::{Value, json};

use super::numbers::numbers;
use super::support::Place;

fn opened() -> (Place, Session, i64) {
    let place = Place::with_trace();
    let info = place.get("info").json();
    let end = info["traces"][0]["opening"]["range"]["to_ns"]
        .as_i64()
        .unwrap();
    let trace = place.folder.path().join("office.etl");
    let session = place
        .engine
        .open(&Asking::default(), &[trace], &mut Vec::new())
        .unwrap();
    (place, session, end)
}

fn whole(cell: &Value) -> i64 {
    cell.as_i64().unwrap_or_default()
}

fn list(cells: &Value) -> Vec<i64> {
    cells.as_array().unwrap().iter().map(whole).collect()
}

/// The values of all series together, by bucket.
fn together(answer: &Value) -> Vec<i64> {
    let mut all: Vec<i64> = Vec::new();
    for series in answer["series"].as_array().unwrap() {
        let values = list(&series["values"]);
        all.resize(values.len(), 0);
        all.iter_mut()
            .zip(values)
            .for_each(|(sum, value)| *sum += value);
    }
    all
}

#[test]
fn groups_over_time_add_up_to_the_groups_of_the_table() {
    let (place, _, end) = opened();
    for (table, group, function, column) in [
        ("cpu_sample", "process", "sum", "weight_ns"),
        ("cpu_sample", "stack", "count", ""),
        ("disk_io", "path", "sum", "service_ns"),
        ("context_switch", "thread", "sum", "wait_ns"),
        ("context_switch", "thread", "sum", "run_ns"),
    ] {
        let measure = json!({"function": function, "column": column});
        let chips = json!([{"field": "process", "values": ["0"], "exclude": true}]);
        let request = json!({
            "trace": 0, "table": table, "group": group, "measure": measure, "buckets": 37, "top": 2,
            "range": {"from_ns": end / 7, "to_ns": end / 3}, "selection": {"range": null, "chips": chips},
        });
        let answer = place.answer("pivot_series", &request);
        let mut totals = 0;
        for series in answer["series"].as_array().unwrap() {
            let sum: i64 = list(&series["values"]).iter().sum();
            assert_eq!(
                sum,
                whole(&series["total"]),
                "{table} by {group}: {}",
                series["label"]
            );
            totals += sum;
        }
        assert!(
            answer["series"].as_array().unwrap().len() <= 3,
            "two and the others"
        );
        let selection = json!({"range": answer["range"], "chips": chips});
        let pivot = place.answer(
            "pivot",
            &json!({
                "trace": 0, "table": table, "group_by": [group], "path": [], "measures": [measure],
                "selection": selection, "sort": {"by": "0", "descending": true}, "limit": 2,
            }),
        );
        assert_eq!(
            totals,
            whole(&pivot["total"]["measures"][0]),
            "{table} by {group}"
        );
        assert!(totals > 0, "{table} has something to compare");
        let labels = |rows: &Value| -> Vec<Value> {
            rows.as_array()
                .unwrap()
                .iter()
                .take(2)
                .map(|row| row["label"].clone())
                .collect()
        };
        assert_eq!(
            labels(&answer["series"]),
            labels(&pivot["rows"]),
            "{table} by {group}"
        );
    }
}

#[test]
fn a_length_of_time_is_in_the_buckets_in_which_it_passed() {
    let (place, session, end) = opened();
    let request = json!({
        "trace": 0, "table": "context_switch", "group": "process", "buckets": 50, "top": 3,
        "measure": {"function": "sum", "column": "wait_ns"}, "range": {"from_ns": 0, "to_ns": end},
        "selection": {"range": null, "chips": []},
    });
    let answer = place.answer("pivot_series", &request);
    let all = together(&answer);
    let width = whole(&answer["range"]["to_ns"]) / all.len() as i64;
    for bucket in [0, 7, 23, 49] {
        let (a, b) = (bucket * width, (bucket + 1) * width);
        let sql = format!(
            "SELECT coalesce(sum(greatest(least(last_out_ns + wait_ns, {b}) - greatest(last_out_ns, \
             {a}), 0)), 0) \
             FROM context_switch WHERE last_out_ns IS NOT NULL AND wait_ns IS NOT NULL"
        );
        assert_eq!(
            all[bucket as usize],
            numbers(&session, &sql)[0][0],
            "bucket {bucket}"
        );
    }
    // The shown statement gives the drawn values: place, bucket, value.
    let rows = numbers(&session, answer["source"]["sql"].as_str().unwrap());
    let sum: i64 = rows.iter().map(|row| row[2]).sum();
    assert_eq!(sum, all.iter().sum::<i64>());
}

#[test]
fn extremes_and_counts_stand_at_the_moment_of_their_rows() {
    let (place, session, end) = opened();
    for (function, column, sql) in [("max", "io_ns", "max(io_ns)"), ("count", "", "count(*)")] {
        let request = json!({
            "trace": 0, "table": "disk_io", "group": "disk", "buckets": 20, "top": 12,
            "measure": {"function": function, "column": column}, "range": {"from_ns": 0, "to_ns": end},
            "selection": {"range": null, "chips": []},
        });
        let answer = place.answer("pivot_series", &request);
        assert_eq!(answer["adds_up"], function == "count");
        let (series, to) = (&answer["series"][0], whole(&answer["range"]["to_ns"]));
        let values = list(&series["values"]);
        let width = to / values.len() as i64;
        let expected = numbers(
            &session,
            &format!(
                "SELECT complete_ns / {width} AS bucket, {sql} FROM disk_io WHERE disk = {} GROUP BY bucket \
                 ORDER BY bucket",
                series["value"]
            ),
        );
        for row in &expected {
            assert_eq!(
                values[row[0] as usize], row[1],
                "{function} in bucket {}",
                row[0]
            );
        }
        assert_eq!(
            values.iter().filter(|value| **value != 0).count(),
            expected.len()
        );
    }
}

#[test]
fn series_of_tables_are_bounded_and_refused_where_rows_do_not_lie_in_time() {
    let (place, _, end) = opened();
    let request = |table: &str, column: &str, buckets: u32, top: u32| {
        json!({
            "trace": 0, "table": table, "group": column, "buckets": buckets, "top": top,
            "measure": {"function": "count", "column": ""}, "range": {"from_ns": 0, "to_ns": end},
            "selection": {"range": null, "chips": []},
        })
    };
    assert_eq!(
        place
            .post("pivot_series", &request("cpu_process", "process", 10, 5))
            .status,
        400
    );
    assert_eq!(
        place
            .post("pivot_series", &request("cpu_sample", "process", 601, 5))
            .status,
        400
    );
    assert_eq!(
        place
            .post("pivot_series", &request("cpu_sample", "process", 600, 13))
            .status,
        400
    );
    assert_eq!(
        place
            .post("pivot_series", &request("cpu_sample", "ts_ns", 600, 12))
            .status,
        400
    );
    let answer = place.answer(
        "pivot_series",
        &request("context_switch", "thread", 600, 12),
    );
    assert!(answer["series"].as_array().unwrap().len() <= 13);
    let schema = place.get("schema").json();
    let has_time = |name: &str| {
        let tables = schema["tables"].as_array().unwrap();
        tables.iter().find(|table| table["name"] == name).unwrap()["has_time"].clone()
    };
    assert_eq!(
        (has_time("cpu_sample"), has_time("cpu_process")),
        (json!(true), json!(false))
    );
}

#[test]
fn a_picture_of_a_disk_has_each_operation_once() {
    let (place, session, end) = opened();
    for (columns, rows, from, to) in [
        (100, 100, 0, end + 1),
        (13, 7, end / 5, end / 2),
        (1, 1, 0, end + 1),
    ] {
        let request = json!({
            "trace": 0, "disk": null, "range": {"from_ns": from, "to_ns": to}, "columns": columns,
            "rows": rows, "selection": {"range": null, "chips": []},
        });
        let reply = place.post("disk_map", &request);
        assert!(reply.body.len() <= 200_000, "{} bytes", reply.body.len());
        let map = reply.json();
        let (a, b) = (
            whole(&map["range"]["from_ns"]),
            whole(&map["range"]["to_ns"]),
        );
        let (low, high) = (whole(&map["offset_from"]), whole(&map["offset_to"]));
        let (columns, rows) = (whole(&map["columns"]), whole(&map["rows"]));
        let (wide, tall) = ((b - a) / columns, (high - low) / rows);
        let of_disk = format!(
            "FROM disk_io WHERE disk = {} AND complete_ns >= {a} AND complete_ns < {b}",
            map["disk"]
        );
        let kinds = "count(*) FILTER (WHERE kind = 'read'), count(*) FILTER (WHERE kind = 'write')";
        let sql = format!("SELECT {kinds}, count(*) FILTER (WHERE offset_bytes IS NULL) {of_disk}");
        let expected = numbers(&session, &sql);
        let (reads, writes) = (list(&map["reads"]), list(&map["writes"]));
        let sums: Vec<i64> = vec![
            reads.iter().sum(),
            writes.iter().sum(),
            whole(&map["without_offset"]),
        ];
        assert_eq!(sums, expected[0]);
        assert!(sums[0] > 0, "there is something to compare");
        for (at, cell) in list(&map["cells"]).iter().enumerate() {
            let (x, y) = (a + cell % columns * wide, low + cell / columns * tall);
            let selection = json!({"range": null, "chips": []});
            if at % 9 == 0 {
                let request = json!({
                    "trace": 0, "disk": map["disk"], "range": {"from_ns": x, "to_ns": x + wide},
                    "offset_from": y, "offset_to": y + tall, "selection": selection, "limit": 20,
                });
                let answer = place.answer("disk_cell", &request);
                assert_eq!(
                    (whole(&answer["reads"]), whole(&answer["writes"])),
                    (reads[at], writes[at])
                );
                one_cell(
                    &session,
                    &answer,
                    &map["disk"],
                    (x, x + wide),
                    (y, y + tall),
                );
            }
        }
    }
}

/// Checks the answer about a part of a disk.
fn one_cell(session: &Session, answer: &Value, disk: &Value, time: (i64, i64), place: (i64, i64)) {
    let steps = format!(
        "WITH w AS (SELECT *, abs(offset_bytes - lag(offset_bytes + size_bytes) \
         OVER (ORDER BY complete_ns, init_ns, offset_bytes)) AS distance FROM disk_io WHERE disk = {disk} \
         AND offset_bytes IS NOT NULL) SELECT coalesce(sum(size_bytes), 0), count(*) FILTER (WHERE \
         distance = 0), \
         count(*) FILTER (WHERE distance > 0) FROM w WHERE complete_ns >= {} AND complete_ns < {} \
         AND offset_bytes >= {} AND offset_bytes < {}",
        time.0, time.1, place.0, place.1
    );
    let expected = &numbers(session, &steps)[0];
    let bytes = whole(&answer["read_bytes"]) + whole(&answer["write_bytes"]);
    assert_eq!(
        &vec![
            bytes,
            whole(&answer["in_sequence"]),
            whole(&answer["seeks"])
        ],
        expected
    );
    let files = answer["files"].as_array().unwrap();
    assert_eq!(files.len() as i64, whole(&answer["total"]).min(20));
    let of_files: i64 = files.iter().map(|file| whole(&file["bytes"])).sum();
    assert!(
        of_files == bytes || (of_files < bytes && whole(&answer["total"]) > 20),
        "{of_files} of {bytes}"
    );
    assert!(files.iter().all(|file| file["process"].is_string()));
}

#[test]
fn a_picture_of_a_disk_is_bounded() {
    let (place, _, end) = opened();
    let request = |columns: u32, rows: u32, disk: Value| {
        json!({
            "trace": 0, "disk": disk, "range": {"from_ns": 0, "to_ns": end}, "columns": columns, "rows": rows,
            "selection": {"range": null, "chips": []},
        })
    };
    assert_eq!(
        place
            .post("disk_map", &request(101, 100, Value::Null))
            .status,
        400
    );
    assert_eq!(
        place
            .post("disk_map", &request(u32::MAX, u32::MAX, Value::Null))
            .status,
        400
    );
    assert_eq!(
        place.post("disk_map", &request(0, 10, Value::Null)).status,
        400
    );
    assert_eq!(
        place.post("disk_map", &request(10, 10, json!(99))).status,
        404
    );
}

#[test]
fn processes_unfold_to_their_modules() {
    let (place, session, _) = opened();
    let ask_with = |chips: Value, of: Value, find: &str, limit: u32| {
        let selection = json!({"range": null, "chips": chips});
        let request =
            json!({"trace": 0, "of": of, "find": find, "selection": selection, "limit": limit});
        place.answer("modules", &request)
    };
    let ask = |of: Value, find: &str, limit: u32| ask_with(json!([]), of, find, limit);
    let all = ask(Value::Null, "", 1000);
    let owners = all["owners"].as_array().unwrap();
    let expected = numbers(
        &session,
        "SELECT count(*), sum(CAST(size AS BIGINT)), count(DISTINCT coalesce(process_key, -1)), \
         count(function_count) \
         FROM module",
    );
    let sum = |name: &str| owners.iter().map(|owner| whole(&owner[name])).sum::<i64>();
    assert_eq!(
        vec![
            sum("modules"),
            sum("size_bytes"),
            whole(&all["total"]),
            sum("with_symbols")
        ],
        expected[0]
    );
    for owner in owners {
        let of = ask(json!({"process_key": owner["process_key"]}), "", 1000);
        assert_eq!(
            of["modules"].as_array().unwrap().len() as i64,
            whole(&owner["modules"]),
            "{owner}"
        );
        assert_eq!(of["total"], owner["modules"]);
    }
    let name =
        ask(json!({"process_key": owners[0]["process_key"]}), "", 1)["modules"][0]["name"].clone();
    let name = name.as_str().unwrap().to_uppercase();
    let found = ask(Value::Null, &name, 1000);
    let sql = format!(
        "SELECT count(*) FROM module WHERE lower(path) LIKE '%{}%'",
        name.to_lowercase().replace('_', "\\_")
    );
    let of_found: i64 = found["owners"]
        .as_array()
        .unwrap()
        .iter()
        .map(|owner| whole(&owner["modules"]))
        .sum();
    assert_eq!(of_found, numbers(&session, &sql)[0][0]);
    assert!(of_found > 0);
    assert_eq!(ask(Value::Null, "%", 1000)["total"], 0);
    let with = |exclude: bool| {
        let chips = json!([{"field": "module", "values": [name], "exclude": exclude}]);
        let found = ask_with(chips, Value::Null, "", 1000);
        assert_eq!(found["source"]["not_applied"], json!([]));
        found["owners"]
            .as_array()
            .unwrap()
            .iter()
            .map(|owner| whole(&owner["modules"]))
            .sum::<i64>()
    };
    assert_eq!(with(false) + with(true), expected[0][0]);
    assert!(with(false) > 0);
}

#[test]
fn a_flame_chart_has_the_samples_and_waits_of_its_thread() {
    let (place, session, end) = opened();
    let busiest = "SELECT CAST(thread_key AS BIGINT) AS thread FROM cpu_sample WHERE NOT is_idle \
                   GROUP BY thread_key ORDER BY count(*) DESC, thread_key LIMIT 1";
    let thread = numbers(&session, busiest)[0][0];
    for (from, to) in [(0, end), (end / 3, end / 2)] {
        let answer = chart(&place, thread, (from, to));
        let samples = format!(
            "SELECT count(*) FROM cpu_sample WHERE thread_key = {thread} AND NOT is_idle \
             AND ts_ns >= {from} AND ts_ns < {to}"
        );
        let samples = numbers(&session, &samples)[0][0];
        assert!(samples > 0, "the thread runs from {from} to {to}");
        assert_eq!(whole(&answer["all_samples"]), samples);
        // Each sample is in one box of the first level, since each has a stack.
        let levels = list(&answer["levels"]);
        let first: i64 = list(&answer["samples"])
            .iter()
            .take(levels[0] as usize)
            .sum();
        assert_eq!(first, samples);
        let boxes: i64 = levels.iter().sum();
        assert!(boxes <= 1_000 && levels.len() > 1, "{boxes} boxes");
        let mut times = list(&answer["from_ns"])
            .into_iter()
            .zip(list(&answer["to_ns"]));
        for level in levels {
            let mut last = from;
            for (begin, stop) in times.by_ref().take(level as usize) {
                assert!(last <= begin && begin <= stop && stop <= to);
                last = begin;
            }
        }
        // The shown statement has the rows that the picture is made of.
        let rows = numbers(&session, answer["source"]["sql"].as_str().unwrap());
        let expected = samples + whole(&answer["all_switches"]);
        assert_eq!(rows.len() as i64, expected);
    }
}

/// The stacks of a thread, as the page asks for them.
fn chart(place: &Place, thread: i64, (from_ns, to_ns): (i64, i64)) -> Value {
    let request = json!({
        "trace": 0, "thread": thread, "range": {"from_ns": from_ns, "to_ns": to_ns},
        "columns": 800, "max_boxes": 1_000,
    });
    place.answer("flame_chart", &request)
}

#[test]
fn a_flame_chart_is_bounded() {
    let (place, _, end) = opened();
    let status = |columns: u32, max_boxes: u32, to_ns: i64| {
        let request = json!({
            "trace": 0, "thread": 1, "range": {"from_ns": 0, "to_ns": to_ns},
            "columns": columns, "max_boxes": max_boxes,
        });
        place.post("flame_chart", &request).status
    };
    assert_eq!(status(800, 2_000, end), 200);
    for (columns, max_boxes, to_ns) in [
        (0, 2_000, end),
        (100_000, 2_000, end),
        (800, 10, end),
        (800, 1_000_000, end),
        (800, 2_000, 0),
    ] {
        assert_eq!(status(columns, max_boxes, to_ns), 400);
    }
    let none = chart(&place, 1_000_000, (0, end));
    assert_eq!(none["thread"], "unknown thread");
    assert_eq!(list(&none["levels"]), Vec::<i64>::new());
}
