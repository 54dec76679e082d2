//! The cost of the page's requests does not grow with the size of the trace: a million context
//! switches against a tenth.

use etwkit_testkit::is_exhaustive;
use serde_json::{Value, json};

use super::support::Place;

/// Bytes of all answers for one frame.
const FRAME_BYTES: usize = 200_000;

/// Rows that may be read for a picture of states or sums over time.
const PICTURE_ROWS: u64 = 250_000;

/// Rows that may be read for the sums of lanes: a segment at each end, and the rows that reach into
/// it.
const LANES_ROWS: u64 = 150_000;

/// Rows of a table that lie between two places whose sums are known.
const SEGMENT_ROWS: u64 = 1 << 16;

/// Buckets of a picture, as the page asks for at its largest.
const BUCKETS: u32 = 720;

/// Lanes that are listed, and those in sight.
const LISTED: u32 = 64;
const SEEN: usize = 9;

/// A trace that is open.
struct Open {
    place: Place,
    end: i64,
}

/// Cost of a gesture's request.
struct Cost {
    name: String,
    rows: u64,
    bytes: usize,
}

impl Open {
    fn new(seconds: u32) -> Self {
        let place = Place::new();
        let trace = place.long_trace("office.etl", seconds);
        place.open(&trace);
        // The trace is not needed any more, and large.
        std::fs::remove_file(trace).unwrap();
        let info = place.get("info").json();
        let end = info["traces"][0]["opening"]["range"]["to_ns"]
            .as_i64()
            .unwrap();
        Self { place, end }
    }

    fn count(&self, sql: &str) -> i64 {
        let answer = self
            .place
            .answer("sql", &json!({"trace": 0, "sql": sql, "limit": 1}));
        answer["tables"][0]["rows"][0][0].as_i64().unwrap()
    }

    /// Sends a request and returns its answer with the cost. States over time are not JSON: their
    /// source is in the header.
    fn ask(&self, question: &str, request: &Value) -> (Value, u64, usize) {
        let reply = self.place.post(question, request);
        let bytes = reply.body.len();
        assert_eq!(
            reply.status,
            200,
            "{question} {request}: {}",
            String::from_utf8_lossy(&reply.body)
        );
        let answer = if question == "timeline" {
            let read =
                etwkit_sql::arrow::ipc::reader::StreamReader::try_new(reply.body.as_slice(), None);
            serde_json::from_str(&read.unwrap().schema().metadata()["header"]).unwrap()
        } else {
            reply.json()
        };
        let rows = answer["source"]["rows_read"].as_u64().unwrap_or_default();
        (answer, rows, bytes)
    }

    fn lanes(&self, kind: &str, selection: &Value) -> (Vec<i64>, u64, usize) {
        let request =
            json!({"trace": 0, "kind": kind, "selection": selection, "limit": LISTED, "offset": 0});
        let (answer, rows, bytes) = self.ask("lanes", &request);
        let lanes = answer["lanes"].as_array().unwrap();
        (
            lanes
                .iter()
                .map(|lane| lane["key"].as_i64().unwrap())
                .take(SEEN)
                .collect(),
            rows,
            bytes,
        )
    }

    /// All that the graphs of the page ask when they show a window, with the lanes of a selection.
    fn frame(&self, name: &str, (from, to): (i64, i64), selection: &Value) -> Vec<Cost> {
        let range = json!({"from_ns": from, "to_ns": to});
        let over_time = json!({"range": null, "chips": selection["chips"]});
        let mut costs = Vec::new();
        let mut add = |question: String, (rows, bytes): (u64, usize), most: u64| {
            assert!(rows <= most, "{name}, {question}: {rows} rows");
            costs.push(Cost {
                name: format!("{name}, {question}"),
                rows,
                bytes,
            });
        };
        for kind in ["core", "process", "thread"] {
            let (keys, rows, bytes) = self.lanes(kind, selection);
            add(format!("lanes of {kind}"), (rows, bytes), LANES_ROWS);
            let request = json!({"trace": 0, "kind": kind, "keys": keys, "range": range, "buckets": BUCKETS, "selection": over_time});
            let (_, rows, bytes) = self.ask("timeline", &request);
            add(format!("states of {kind}"), (rows, bytes), PICTURE_ROWS);
        }
        for kind in ["cpu", "disk", "events", "marks"] {
            let request = json!({"trace": 0, "kind": kind, "range": range, "buckets": BUCKETS, "top": 8, "selection": over_time});
            let (_, rows, bytes) = self.ask("series", &request);
            add(format!("sums of {kind}"), (rows, bytes), PICTURE_ROWS);
        }
        let bytes: usize = costs.iter().map(|cost| cost.bytes).sum();
        assert!(bytes <= FRAME_BYTES, "{name}: {bytes} bytes");
        costs
    }

    /// The whole trace, each half of it down to nanoseconds, a window next to it, a selection, a
    /// filter, a moment.
    fn gestures(&self) -> Vec<Cost> {
        let whole = json!({"range": null, "chips": []});
        let mut costs = self.frame("open", (0, self.end), &whole);
        let middle = 2_718_281_828;
        // Graphs ask for another window alone when they are zoomed; the lanes stay.
        let step = if is_exhaustive() { 1 } else { 3 };
        for power in (10..=32).rev().step_by(step) {
            let half = 1_i64 << (power - 1);
            costs.extend(self.frame(
                &format!("2^{power} ns"),
                (middle - half, middle + half),
                &whole,
            ));
        }
        costs.extend(self.frame("move", (middle + (1 << 28), middle + (1 << 29)), &whole));
        let selected =
            json!({"range": {"from_ns": 1_234_567_890, "to_ns": 5_678_901_234_i64}, "chips": []});
        costs.extend(self.frame("select", (0, self.end), &selected));
        let process = self.lanes("process", &whole).0[0].to_string();
        let chip = json!({"field": "process", "exclude": false, "values": [process]});
        let filtered = json!({"range": selected["range"], "chips": [chip]});
        costs.extend(self.frame("filter", (0, self.end), &filtered));
        let thread = self.lanes("thread", &whole).0[0];
        let request = json!({"trace": 0, "kind": "thread", "key": thread, "at_ns": middle, "within_ns": 1_000_000});
        let (_, rows, bytes) = self.ask("moment", &request);
        assert!(rows <= PICTURE_ROWS, "a moment: {rows} rows");
        costs.push(Cost {
            name: "moment".to_owned(),
            rows,
            bytes,
        });
        costs
    }
}

/// Gestures that are answered from sums: their reading is bounded, and does not grow with the
/// trace.
#[test]
fn gestures_in_a_million_switches_read_what_those_in_a_tenth_read() {
    let (small, large) = (Open::new(8), Open::new(75));
    let switches = "SELECT count(*) FROM context_switch";
    let (few, many) = (small.count(switches), large.count(switches));
    assert!(
        few > 100_000 && many > 1_000_000 && many > few * 9,
        "{few} {many}"
    );
    let mut grown = Vec::new();
    for (small, large) in small.gestures().into_iter().zip(large.gestures()) {
        assert_eq!(small.name, large.name);
        // The table of the disk is shorter than a segment in both traces; one is read at each end
        // and between.
        let least = if large.name.ends_with("sums of disk") {
            3 * SEGMENT_ROWS
        } else {
            25_000
        };
        if large.rows > small.rows * 2 + least {
            grown.push(format!(
                "{}: {} rows, of a tenth {}",
                large.name, large.rows, small.rows
            ));
        }
    }
    assert!(grown.is_empty(), "{grown:#?}");
    of_views(&large);
}

/// Views count rows, however many there are: their answers are bounded all the same.
fn of_views(open: &Open) {
    let selection = json!({"range": null, "chips": []});
    let measures =
        json!([{"function": "sum", "column": "wait_ns"}, {"function": "count", "column": ""}]);
    let sort = json!({"by": "0", "descending": true});
    let pivot = json!({
        "trace": 0, "table": "context_switch", "group_by": ["process"],
        "path": [], "measures": measures, "selection": selection, "sort": sort, "limit": 200,
    });
    let rows = json!({
        "trace": 0, "table": "context_switch", "columns": [], "selection": selection, "sort": null,
        "offset": 500_000, "limit": 200,
    });
    let search = json!({"trace": 0, "text": "e", "limit": 8});
    let views = [("pivot", pivot), ("rows", rows), ("search", search)];
    for (question, request) in views {
        let (_, _, bytes) = open.ask(question, &request);
        assert!(bytes <= FRAME_BYTES, "{question}: {bytes} bytes");
    }
}
