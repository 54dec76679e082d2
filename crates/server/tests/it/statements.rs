//! The statement of a panel gives the panel's numbers, for any selection.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use etwkit_engine::Asking;
use etwkit_sql::Session;
use etwkit_sql::arrow::array::{Array, ArrayRef, AsArray};
use etwkit_sql::arrow::datatypes::{DataType, Int32Type, Int64Type, UInt8Type};
use serde_json::{Map, Value, json};

use super::machine;
use super::numbers::Draw;
use super::support::Place;

/// Rows of a statement by the names of their columns.
fn rows(session: &Session, sql: &str) -> Vec<Map<String, Value>> {
    let cell = |column: &ArrayRef, row: usize| match column.data_type() {
        _ if column.is_null(row) => Value::Null,
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        other => panic!("{other}: {sql}"),
    };
    let mut all = Vec::new();
    for batch in session
        .sql(sql)
        .unwrap_or_else(|error| panic!("{error}: {sql}"))
    {
        let batch = batch.unwrap_or_else(|error| panic!("{error}: {sql}"));
        let schema = batch.schema();
        let names = schema.fields().iter().map(|field| field.name().clone());
        let names: Vec<String> = names.collect();
        all.extend((0..batch.num_rows()).map(|row| {
            names
                .iter()
                .cloned()
                .zip(batch.columns().iter().map(|column| cell(column, row)))
                .collect()
        }));
    }
    all
}

fn number(value: &Value) -> i64 {
    value
        .as_i64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn statement(answer: &Value) -> &str {
    let source = &answer["source"];
    let sql = source["sql"].as_str().unwrap();
    assert!(
        !sql.is_empty()
            && source["command"]
                .as_str()
                .unwrap()
                .starts_with("etwkit sql "),
        "{source}"
    );
    sql
}

/// A trace that is queried through the page and through SQL.
struct Asked {
    place: Place,
    session: Session,
    end: i64,
    processes: Vec<i64>,
    threads: Vec<i64>,
    draw: Draw,
    /// Kinds of statements that have returned anything.
    seen: BTreeSet<&'static str>,
}

impl Asked {
    fn new(place: Place, path: &Path) -> Self {
        place.open(path);
        let info = place.get("info").json();
        let range = &info["traces"][0]["opening"]["range"];
        assert!(!range.is_null(), "{info}");
        let session = place
            .engine
            .open(&Asking::default(), &[path.to_owned()], &mut Vec::new())
            .unwrap();
        let keys = |sql| {
            rows(&session, sql)
                .iter()
                .map(|row| number(&row["key"]))
                .collect::<Vec<_>>()
        };
        let (end, processes) = (
            number(&range["to_ns"]),
            keys("SELECT process_key AS key FROM process"),
        );
        let threads = keys("SELECT thread_key AS key FROM thread");
        Self {
            place,
            end,
            processes,
            threads,
            session,
            draw: Draw(11),
            seen: BTreeSet::new(),
        }
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.draw.below(of.len() as i64) as usize].clone()
    }

    fn is(&mut self) -> bool {
        self.draw.below(2) == 1
    }

    fn range(&mut self) -> Value {
        let (a, b) = (self.draw.below(self.end), self.draw.below(self.end));
        json!({"from_ns": a.min(b), "to_ns": a.max(b) + 1})
    }

    fn chip(&mut self) -> Value {
        let (processes, threads) = (self.processes.clone(), self.threads.clone());
        let two = |asked: &mut Self, of: &[i64]| {
            vec![asked.one(of).to_string(), asked.one(of).to_string()]
        };
        let (field, values) = match self.draw.below(9) {
            0 | 1 => ("process", two(self, &processes)),
            2 => ("process", vec!["-1".to_owned()]),
            3 => ("process_name", vec!["a*;s*".to_owned()]),
            4 | 5 => ("thread", two(self, &threads)),
            6 => ("core", two(self, &[0, 1, 2])),
            7 => ("core", Vec::new()),
            // Neither lanes nor series know it.
            _ => ("method", vec!["main".to_owned()]),
        };
        json!({"field": field, "values": values, "exclude": self.is()})
    }

    fn selection(&mut self) -> Value {
        let range = if self.draw.below(4) == 0 {
            Value::Null
        } else {
            self.range()
        };
        let chips: Vec<Value> = (0..self.draw.below(3)).map(|_| self.chip()).collect();
        json!({"range": range, "chips": chips})
    }

    fn rows(&self, sql: &str) -> Vec<Map<String, Value>> {
        rows(&self.session, sql)
    }

    /// Lanes, and the keys of some of them.
    fn lanes(&mut self, kind: &str, selection: &Value) -> Vec<Value> {
        let (limit, offset) = (1 + self.draw.below(30), self.draw.below(2));
        let request = json!({"trace": 0, "kind": kind, "selection": selection, "limit": limit, "offset": offset});
        let answer = self.place.answer("lanes", &request);
        let mut columns = vec!["key", "running_ns"];
        if kind != "core" {
            columns.extend(["ready_ns", "waiting_ns"]);
        }
        if kind == "thread" {
            columns.push("process_key");
        }
        let shown: Vec<Map<String, Value>> = list(&answer["lanes"])
            .iter()
            .map(|lane| {
                columns
                    .iter()
                    .map(|name| ((*name).to_owned(), lane[*name].clone()))
                    .collect()
            })
            .collect();
        assert_eq!(
            self.rows(statement(&answer)),
            shown,
            "{request}: {}",
            statement(&answer)
        );
        shown.iter().map(|lane| lane["key"].clone()).collect()
    }

    fn series(&mut self, kind: &'static str, selection: &Value) {
        let (range, top) = (self.range(), self.draw.below(4));
        let request = json!({
            "trace": 0, "kind": kind, "range": range, "buckets": 40, "top": top, "selection": selection,
        });
        let reply = self.place.post("series", &request);
        if reply.status == 422 {
            return;
        }
        let answer = reply.json();
        let total = |series: &Value| (series["key"].clone(), number(&series["total"]));
        let shown: Vec<_> = list(&answer["series"])
            .iter()
            .map(total)
            .filter(|(_, total)| *total != 0)
            .collect();
        let found = self.rows(statement(&answer));
        let found: Vec<_> = found
            .iter()
            .map(|row| (row["key"].clone(), number(&row["total"])))
            .collect();
        let found: Vec<_> = found.into_iter().filter(|(_, total)| *total != 0).collect();
        assert_eq!(found, shown, "{request}: {}", statement(&answer));
        if !shown.is_empty() {
            self.seen.insert(kind);
        }
    }

    fn moment(&mut self, kind: &'static str, key: &Value) {
        let (at_ns, within_ns) = (self.draw.below(self.end), self.one(&[0, 5_000, 3_000_000]));
        let request =
            json!({"trace": 0, "kind": kind, "key": key, "at_ns": at_ns, "within_ns": within_ns});
        let reply = self.place.post("moment", &request);
        if reply.status == 422 {
            return;
        }
        let answer = reply.json();
        let found = self.rows(statement(&answer));
        let slice = &answer["slice"];
        if slice.is_null() {
            assert!(found.is_empty(), "{request}: {found:?}");
            return;
        }
        let row = &found[0];
        assert_eq!(
            (&row["from_ns"], &row["to_ns"]),
            (&slice["range"]["from_ns"], &slice["range"]["to_ns"]),
            "{request}: {}",
            statement(&answer)
        );
        let process = row["process_key"].as_i64().unwrap_or(-1);
        assert_eq!(process, number(&slice["process_key"]));
        for name in [
            "state",
            "thread_key",
            "core",
            "wait_reason",
            "readying_thread_key",
            "ready_ns",
        ] {
            assert_eq!(row[name], slice[name], "{name} of {request}");
        }
        self.seen.insert(kind);
    }

    fn timeline(&mut self, kind: &str, keys: &[Value], selection: &Value) {
        let (range, buckets) = (self.range(), 1 + self.draw.below(60));
        let request = json!({
            "trace": 0, "kind": kind, "keys": keys, "range": range, "buckets": buckets,
            "selection": selection,
        });
        let reply = self.place.post("timeline", &request);
        let stream =
            etwkit_sql::arrow::ipc::reader::StreamReader::try_new(reply.body.as_slice(), None);
        let stream = stream.unwrap_or_else(|error| panic!("{error}: {request}"));
        let header: Value = serde_json::from_str(&stream.schema().metadata()["header"]).unwrap();
        let batch = stream.map(Result::unwrap).next().unwrap();
        let buckets = number(&header["buckets"]);
        let width =
            (number(&header["range"]["to_ns"]) - number(&header["range"]["from_ns"])) / buckets;
        let found = self.rows(statement(&header));
        let by_cell: BTreeMap<(i64, i64), &Map<String, Value>> = found
            .iter()
            .map(|row| ((number(&row["key"]), number(&row["bucket"])), row))
            .collect();
        assert_eq!(by_cell.len(), found.len());
        let share = |ns: i64| {
            if ns == 0 {
                0
            } else {
                ((ns * 255 + width / 2) / width).clamp(1, 255)
            }
        };
        let columns: &[&str] = if kind == "core" {
            &["running", "dpc"]
        } else {
            &["running", "ready", "waiting"]
        };
        let sql = statement(&header);
        for (lane, key) in keys.iter().enumerate() {
            for bucket in 0..buckets {
                let row = by_cell.get(&(number(key), bucket));
                let of_row = |name: &str| row.map_or(0, |row| number(&row[name]));
                let drawn = |name: &str| {
                    let column = batch
                        .column_by_name(name)
                        .unwrap()
                        .as_primitive::<UInt8Type>();
                    i64::from(column.value(lane * buckets as usize + bucket as usize))
                };
                for name in columns {
                    let ns = of_row(&format!("{name}_ns"));
                    assert_eq!(
                        share(ns),
                        drawn(name),
                        "{name} of {key} in {bucket} of {request}: {sql}"
                    );
                }
                assert_eq!(of_row("switches").min(255), drawn("switches"), "{request}");
            }
        }
        let switches: i64 = found.iter().map(|row| number(&row["switches"])).sum();
        assert_eq!(switches, number(&header["switches"]), "{request}");
    }

    fn flame(&mut self, selection: &Value, focus: &Value) -> Option<Vec<String>> {
        let weight = self.one(&["cpu", "wait", "ready", "disk_bytes"]);
        let (by_process, by_tag) = (self.is(), self.is());
        let request = json!({
            "trace": 0, "selection": selection, "weight": weight, "by_process": by_process, "by_tag": by_tag,
            "direction": self.one(&["top_down", "bottom_up"]), "focus": focus, "least_share": 0.0,
            "max_nodes": 20_000,
        });
        let reply = self.place.post("flame", &request);
        if reply.status == 422 {
            return None;
        }
        let answer = reply.json();
        let (nodes, names) = (list(&answer["nodes"]), list(&answer["names"]));
        let name = |node: &Value| {
            names[number(&node["name"]) as usize]
                .as_str()
                .unwrap()
                .to_owned()
        };
        let is_frame = |node: &Value| number(&node["kind"]) > 2;
        let has_processes = nodes.iter().any(|node| number(&node["kind"]) == 1);
        let (mut paths, mut shown): (Vec<Vec<String>>, BTreeMap<_, _>) =
            (vec![Vec::new()], BTreeMap::new());
        for node in nodes.iter().skip(1) {
            let parent = number(&node["parent"]) as usize;
            let path = [paths[parent].clone(), vec![name(node)]].concat();
            if is_frame(node) && (parent == 0 || !is_frame(&nodes[parent])) {
                shown.insert(
                    path.clone(),
                    (number(&node["total"]), number(&node["count"])),
                );
            }
            paths.push(path);
        }
        let (mut found, mut all) = (BTreeMap::new(), (0, 0));
        for row in self.rows(statement(&answer)) {
            let (weight, rows) = (number(&row["weight"]), number(&row["rows"]));
            all = (all.0 + weight, all.1 + rows);
            let levels = [("process", has_processes), ("tag", by_tag), ("frame", true)];
            let levels = levels
                .iter()
                .filter(|(_, is_level)| *is_level)
                .map(|(name, _)| &row[*name]);
            if !row["frame"].is_null() {
                let path = levels
                    .map(|level| level.as_str().unwrap().to_owned())
                    .collect::<Vec<_>>();
                let sum: &mut (i64, i64) = found.entry(path).or_default();
                *sum = (sum.0 + weight, sum.1 + rows);
            }
        }
        let sql = statement(&answer);
        assert_eq!(
            (number(&nodes[0]["total"]), number(&nodes[0]["count"])),
            all,
            "{request}: {sql}"
        );
        assert_eq!(found, shown, "{request}: {sql}");
        if !shown.is_empty() {
            self.seen
                .insert(if focus.is_null() { weight } else { "focus" });
        }
        Some(
            nodes
                .iter()
                .filter(|node| is_frame(node))
                .map(name)
                .collect(),
        )
    }

    fn turn(&mut self) {
        let selection = self.selection();
        for kind in ["core", "process", "thread"] {
            let keys = self.lanes(kind, &selection);
            let keys: Vec<Value> = keys.into_iter().take(6).collect();
            if !keys.is_empty() {
                self.timeline(kind, &keys, &selection);
                if kind != "process" {
                    let key = self.one(&keys);
                    self.moment(kind, &key);
                }
            }
        }
        for kind in ["cpu", "disk", "disk_busy", "file", "net", "events", "marks"] {
            self.series(kind, &selection);
        }
        let whole = json!({"range": null, "chips": []});
        let frames = self.flame(&selection, &Value::Null).unwrap_or_default();
        if !frames.is_empty() {
            let frame = self.one(&frames);
            self.flame(&whole, &json!(frame));
            let method = frame
                .split_once('!')
                .map_or(frame.as_str(), |(_, method)| method);
            self.flame(&selection, &json!(method));
        }
    }
}

#[test]
fn statements_of_a_simulated_trace_give_what_is_shown() {
    let place = Place::new();
    let trace = place.trace("office.etl");
    let mut asked = Asked::new(place, &trace);
    (0..6).for_each(|_| asked.turn());
    for kind in [
        "thread",
        "core",
        "cpu",
        "disk",
        "disk_busy",
        "file",
        "events",
        "focus",
    ] {
        assert!(asked.seen.contains(kind), "{kind} had nothing");
    }
}

#[test]
fn statements_of_rows_that_lack_something_give_what_is_shown() {
    for has_switches in [true, false] {
        let place = Place::new();
        let extract = place.folder.path().join("made.etwx");
        machine::write(&extract, has_switches);
        let mut asked = Asked::new(place, &extract);
        (0..8).for_each(|_| asked.turn());
        for kind in [
            "cpu",
            "disk",
            "disk_busy",
            "file",
            "net",
            "events",
            "marks",
            "focus",
        ] {
            assert!(asked.seen.contains(kind), "{kind} had nothing");
        }
    }
}
