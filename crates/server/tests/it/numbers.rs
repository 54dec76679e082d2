//! The page's numbers are equal to `etwkit sql` on the same part of the trace.

use etwkit_engine::Asking;
use etwkit_sql::Session;
use etwkit_sql::arrow::array::{Array, AsArray};
use etwkit_sql::arrow::datatypes::Int64Type;
use serde_json::{Value, json};

use super::support::Place;

/// Numbers that look random and are the same each time.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, most: i64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as i64) % most.max(1)
    }
}

/// The whole numbers of the rows of a statement.
pub(crate) fn numbers(session: &Session, sql: &str) -> Vec<Vec<i64>> {
    let mut all = Vec::new();
    for batch in session
        .sql(sql)
        .unwrap_or_else(|error| panic!("{error}: {sql}"))
    {
        let batch = batch.unwrap();
        for row in 0..batch.num_rows() {
            let number = |column: &etwkit_sql::arrow::array::ArrayRef| {
                let column = column.as_primitive_opt::<Int64Type>()?;
                Some(if column.is_null(row) {
                    0
                } else {
                    column.value(row)
                })
            };
            all.push(batch.columns().iter().filter_map(number).collect());
        }
    }
    all
}

fn sum(cells: &Value) -> i64 {
    cells.as_i64().unwrap_or_default()
}

#[test]
fn twenty_selections_have_the_numbers_of_sql() {
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
    let processes = numbers(
        &session,
        "SELECT CAST(process_key AS BIGINT) AS key FROM process ORDER BY process_key",
    );
    let mut draw = Draw(7);
    for turn in 0..20 {
        let (a, b) = (draw.below(end), draw.below(end));
        let (a, b) = (a.min(b), a.max(b) + 1);
        let process = processes[draw.below(processes.len() as i64) as usize][0];
        let (chips, only) = match turn % 3 {
            0 => (json!([]), String::new()),
            1 => (
                json!([{"field": "process", "values": [process.to_string()], "exclude": true}]),
                format!(" AND (process_key IS NULL OR process_key <> {process})"),
            ),
            _ => (
                json!([{"field": "process", "values": [process.to_string()], "exclude": false}]),
                format!(" AND process_key = {process}"),
            ),
        };
        let selection = json!({"range": {"from_ns": a, "to_ns": b}, "chips": chips});
        samples(
            &place,
            &session,
            &selection,
            &format!("ts_ns >= {a} AND ts_ns < {b}{only}"),
        );
        waits(&place, &session, &selection, (a, b), &only);
    }
}

/// Groups of samples, and their stacks.
fn samples(place: &Place, session: &Session, selection: &Value, only: &str) {
    let request = json!({
        "trace": 0, "table": "cpu_sample", "group_by": ["process"], "path": [], "selection": selection, "limit": 3,
        "measures": [{"function": "count", "column": ""}, {"function": "sum", "column": "weight_ns"}],
        "sort": {"by": "1", "descending": true},
    });
    let pivot = place.answer("pivot", &request);
    let expected = numbers(
        session,
        &format!("SELECT count(*), sum(weight_ns) FROM cpu_sample WHERE {only}"),
    );
    for measure in 0..2 {
        let mut all: i64 = pivot["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| sum(&row["measures"][measure]))
            .sum();
        all += sum(&pivot["others"]["measures"][measure]);
        assert_eq!(all, expected[0][measure], "{only}");
        assert_eq!(
            sum(&pivot["total"]["measures"][measure]),
            expected[0][measure],
            "{only}"
        );
    }
    // The statement that the panel shows gives the rows that it shows.
    let shown = numbers(session, pivot["source"]["sql"].as_str().unwrap());
    let rows = pivot["rows"].as_array().unwrap();
    let rows: Vec<Vec<i64>> = rows
        .iter()
        .map(|row| {
            row["measures"]
                .as_array()
                .unwrap()
                .iter()
                .map(sum)
                .collect()
        })
        .collect();
    assert_eq!(shown, rows);
    let busy = numbers(
        session,
        &format!("SELECT sum(weight_ns) FROM cpu_sample WHERE NOT is_idle AND {only}"),
    );
    for (direction, by_tag) in [
        ("top_down", false),
        ("top_down", true),
        ("bottom_up", false),
    ] {
        let request = json!({
            "trace": 0, "selection": selection, "weight": "cpu", "direction": direction, "by_process": true,
            "by_tag": by_tag, "focus": null, "least_share": 0.001, "max_nodes": 2000,
        });
        let flame = place.answer("flame", &request);
        assert_eq!(sum(&flame["nodes"][0]["total"]), busy[0][0], "{only}");
        let of_sql: i64 = numbers(session, flame["source"]["sql"].as_str().unwrap())
            .iter()
            .map(|row| row[0])
            .sum();
        assert_eq!(of_sql, busy[0][0]);
    }
}

/// Lanes, and groups of waits, clipped to the part.
fn waits(place: &Place, session: &Session, selection: &Value, (a, b): (i64, i64), only: &str) {
    let clipped = |from: &str, length: &str| {
        format!(
            "coalesce(sum(greatest(least({from} + {length}, {b}) - greatest({from}, {a}), 0)) \
             FILTER (WHERE {from} + {length} IS NOT NULL), 0)"
        )
    };
    let sql = format!(
        "SELECT {}, {} FROM context_switch WHERE true{only}",
        clipped("coalesce(in_ns, out_ns - run_ns)", "run_ns"),
        clipped("last_out_ns", "wait_ns"),
    );
    let expected = numbers(session, &sql);
    let request = json!({
        "trace": 0, "table": "context_switch", "group_by": ["thread"], "path": [], "selection": selection,
        "measures": [{"function": "sum", "column": "run_ns"}, {"function": "sum", "column": "wait_ns"}],
        "sort": {"by": "0", "descending": true}, "limit": 1000,
    });
    let pivot = place.answer("pivot", &request);
    assert_eq!(sum(&pivot["total"]["measures"][0]), expected[0][0], "{sql}");
    assert_eq!(sum(&pivot["total"]["measures"][1]), expected[0][1], "{sql}");
    let request =
        json!({"trace": 0, "kind": "thread", "selection": selection, "limit": 1000, "offset": 0});
    let lanes = place.answer("lanes", &request);
    let of = |name: &str| {
        lanes["lanes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|lane| sum(&lane[name]))
            .sum::<i64>()
    };
    // Lanes leave the process Idle out.
    let busy = format!(
        "{sql} AND coalesce(process_key NOT IN (SELECT process_key FROM process WHERE pid = 0), true)"
    );
    let expected = numbers(session, &busy);
    assert_eq!(
        of("running_ns"),
        expected[0][0],
        "running of lanes in {a}..{b}{only}"
    );
}

#[test]
fn what_no_thread_did_has_no_name() {
    let place = Place::with_trace();
    let request = json!({
        "trace": 0, "table": "context_switch", "group_by": ["readying_thread"], "path": [],
        "selection": {"range": null, "chips": []}, "limit": 1000,
        "measures": [{"function": "count", "column": ""}], "sort": {"by": "0", "descending": true},
    });
    let pivot = place.answer("pivot", &request);
    let rows = pivot["rows"].as_array().unwrap();
    let missing: Vec<&Value> = rows.iter().filter(|row| row["value"].is_null()).collect();
    assert_eq!(missing.len(), 1, "{pivot}");
    assert_eq!(missing[0]["label"], "");
    assert!(
        rows.iter().all(
            |row| row["value"].is_null() || row["label"].as_str().unwrap().contains(" thread ")
        )
    );
}

/// A range that ends with a sample: tables leave it out and questions count it, each as its printed line.
#[test]
fn printed_lines_have_the_numbers_of_their_answers_at_the_end_of_a_range() {
    let place = Place::with_trace();
    let trace = place.folder.path().join("office.etl");
    let session = place
        .engine
        .open(&Asking::default(), &[trace], &mut Vec::new())
        .unwrap();
    let busy = "cpu_sample s JOIN process p ON p.process_key = s.process_key WHERE NOT s.is_idle AND p.pid <> 0";
    let times = numbers(
        &session,
        &format!("SELECT DISTINCT s.ts_ns FROM {busy} ORDER BY s.ts_ns LIMIT 20"),
    );
    let (a, b) = (times[0][0], times[19][0]);

    let table = place.answer(
        "rows",
        &json!({
            "trace": 0, "table": "cpu_sample", "columns": ["ts_ns"], "sort": null, "offset": 0, "limit": 1000,
            "selection": {"range": {"from_ns": a, "to_ns": b}, "chips": []},
        }),
    );
    let shown = table["rows"].as_array().unwrap().len();
    let sql = table["source"]["sql"].as_str().unwrap();
    assert_eq!(numbers(&session, sql).len(), shown);
    let samples = |end: &str| {
        let sql = format!("SELECT count(*) FROM cpu_sample WHERE ts_ns >= {a} AND ts_ns {end} {b}");
        numbers(&session, &sql)[0][0]
    };
    assert_eq!(shown as i64, samples("<"));
    assert!(samples("<") < samples("<="));

    let seconds = |ns: i64| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    let range = format!("{}..{}", seconds(a), seconds(b));
    let question = json!({"trace": 0, "question": "cpu", "options": {"range": range}});
    let answer = place.answer("ask", &question);
    let command = answer["source"]["command"].as_str().unwrap();
    assert!(command.contains(&range), "{command}");
    let columns = answer["tables"][0]["columns"].as_array().unwrap();
    let at = columns.iter().position(|column| column["name"] == "Cpu");
    let rows = answer["tables"][0]["rows"].as_array().unwrap();
    let cpu: i64 = rows.iter().map(|row| sum(&row[at.unwrap()])).sum();
    let weights = format!("SELECT sum(s.weight_ns) FROM {busy} AND s.ts_ns BETWEEN {a} AND {b}");
    assert_eq!(cpu, numbers(&session, &weights)[0][0]);
}
