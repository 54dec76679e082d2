//! Tests of cells.

use serde_json::{Value, json};

use super::*;

fn cell(of: Cell, file: &str, is_first: bool, values: &Value) -> String {
    cell_in("1234567.8", of, file, is_first, values)
}

fn cell_in(numbers: &str, cell: Cell, file: &str, is_first: bool, values: &Value) -> String {
    let trace = TraceInfo {
        file_name: file.to_owned(),
        extract_path: Some(format!("/runs/day 1/{file}")),
        baseline: Some("5.1".to_owned()),
        // Half past two of the second of January 2024.
        start_filetime: 133_486_794_000_000_000,
        ..TraceInfo::default()
    };
    let times = TimeWriter::new(TimeFormat::Seconds, 3, trace.clock());
    let values = TypedRow::of(values).unwrap();
    let numbers = Numbers::like(numbers).unwrap();
    cell.of(&Row {
        trace: &trace,
        values: &values,
        times,
        numbers,
        words: ["local", "utc"],
        line: "",
        is_first,
    })
}

#[test]
fn names_describe_tests() {
    let test = "Open_Case_3117msPC.20200717-124447.etl";
    for (of, file, expected) in [
        (Cell::TestCase, test, "Open_Case"),
        (Cell::TestTime, test, "3117"),
        (Cell::Date, test, "2020-07-17 12:44:47"),
        (Cell::FileName, test, "Open_Case_3117msPC.20200717-124447"),
        (Cell::FileName, "x.etwx/", "x"),
        (Cell::TestCase, "C:\\a\\my.trace.etl", "my.trace"),
        (Cell::TestCase, "Case_7msPC.json7z", "Case"),
        (Cell::Date, "Case_7msPC.json7z", "2024-01-02 14:30:00"),
        (Cell::Baseline, "x.etl", "5.1"),
        (Cell::TestTime, "x.etl", "0"),
        (Cell::Date, "x.etl", "2024-01-02 14:30:00"),
        (Cell::Source, "x.etl", "/runs/day 1/x.etl"),
        (Cell::Directory, "x.etl", "/runs/day 1"),
        // The recording has no name of the machine.
        (Cell::Machine, "Case_7msMY_PC.json7z", "MY_PC"),
        (Cell::Machine, "x.etl", ""),
    ] {
        assert_eq!(cell(of, file, true, &json!({})), expected, "{of:?}");
    }
}

#[test]
fn cells_are_written_as_they_were() {
    for (of, values, expected) in [
        (Cell::S("a"), json!({"a": 1_500_000_001}), "1.500000001"),
        (
            Cell::Between("a", "b"),
            json!({"a": 1_000_000_000, "b": 3_250_000_000_u64}),
            "2.25",
        ),
        (Cell::Between("a", "b"), json!({"a": null, "b": 1}), ""),
        (Cell::Mib("a"), json!({"a": (3 << 20) - 1}), "2"),
        (Cell::Mebi("a"), json!({"a": 1_572_864.0}), "1.500"),
        (Cell::Percent("a", "b"), json!({"a": 2, "b": 3}), "66"),
        (Cell::Percent("a", "b"), json!({"a": 2, "b": 0}), "0"),
        (Cell::OrZero("a"), json!({"a": null}), "0"),
        (Cell::Either("a", "b"), json!({"a": null, "b": "x"}), "x"),
        (Cell::Bool("a"), json!({"a": true}), "True"),
        (Cell::More("a", 1), json!({"a": 1}), "False"),
        (Cell::Equals("a", "client"), json!({"a": "client"}), "True"),
        (
            Cell::If("a", &Cell::Is("b")),
            json!({"a": false, "b": 1}),
            "",
        ),
        (
            Cell::Arguments("a"),
            json!({"a": "\"C:\\x y.EXE\" -a b.exe"}),
            "-a b.exe",
        ),
        (Cell::Arguments("a"), json!({"a": "x -a"}), "x -a"),
        (
            Cell::CallTime("a", 1),
            json!({"a": 1_500_000_000}),
            "2024-01-02 14:30:01.500",
        ),
        (
            Cell::CallTime("a", 2),
            json!({"a": 1_500_000_000}),
            "1.5000",
        ),
        (Cell::FileAtLevel("a"), json!({"a": "C:\\a\\b.txt"}), ""),
        (Cell::FolderAtLevel("a"), json!({"a": "C:\\a"}), "C:\\a"),
        (Cell::Rounded("a"), json!({"a": 2.5}), "3"),
        (Cell::ReturnCode("a"), json!({"a": 3}), "3"),
        (
            Cell::ReturnCode("a"),
            json!({"a": -1_073_741_819}),
            "ACCESS_VIOLATION",
        ),
        (
            Cell::Module("p"),
            json!({"p": "C:\\x\\a.dll", "file_version": "1.0", "description": "d"}),
            "1.0, Description: d, Directory: C:\\x",
        ),
        (Cell::FolderOf("a"), json!({"a": "C:\\a\\b.txt"}), "C:\\a"),
        (Cell::NameOf("a"), json!({"a": "C:\\a\\b.txt"}), "b.txt"),
        (
            Cell::Facts(&["video"], &["display_name"]),
            json!({"video.display_name": "Left", "video1.display_name": "Right"}),
            "Left~Right",
        ),
        (Cell::UsOfBoth("a", "b"), json!({"a": 1500, "b": 1500}), "3"),
        (Cell::Frames("a"), json!({"a": "f<T> < g"}), "f<T>\ng"),
        (
            Cell::References,
            json!({"event": "dereference", "count": 2}),
            "-2",
        ),
        (Cell::References, json!({"event": "map", "count": null}), ""),
        (
            Cell::Lifetime,
            json!({"lifetime_ns": null, "destroyed_ns": null}),
            "9999",
        ),
        (
            Cell::Lifetime,
            json!({"lifetime_ns": 500_000_000, "destroyed_ns": 1}),
            "0.5",
        ),
        (Cell::Setting("g"), json!({"g": "50 %"}), "50"),
        (Cell::Setting("g"), json!({"g": "on"}), "True"),
        (Cell::Setting("g"), json!({}), ""),
        (
            Cell::SchemeName("g"),
            json!({"g": "Custom 00000000-0001"}),
            "Custom",
        ),
        (
            Cell::SchemeGuid("g"),
            json!({"g": "Custom 00000000-0001"}),
            "00000000-0001",
        ),
        (
            Cell::SchemeGuid("g"),
            json!({"g": "Balanced"}),
            "381b4222-f694-41f0-9685-ff5bb260df2e",
        ),
    ] {
        assert_eq!(
            cell(of, "x.etl", true, &values),
            expected,
            "{of:?} {values}"
        );
    }
}

#[test]
fn lengths_follow_the_locale_and_moments_do_not() {
    for (of, values, expected) in [
        (Cell::S("a"), json!({"a": 1_234_500_000_000_u64}), "1234,5"),
        (Cell::Seconds("a"), json!({"a": 1_500_000_000}), "1,5000"),
        (Cell::Moment("a"), json!({"a": 1_500_000_000}), "1.5"),
        (Cell::Time("a"), json!({"a": 1_500_000_000}), "1.500"),
        (Cell::Mebi("a"), json!({"a": 1_572_864.0}), "1,500"),
        (Cell::Is("a"), json!({"a": 2.5}), "2,5"),
        (Cell::Is("a"), json!({"a": 1_234_567}), "1234567"),
        (Cell::Is("a"), json!({"a": "1.5.2"}), "1.5.2"),
        (
            Cell::Lifetime,
            json!({"lifetime_ns": 500_000_000, "destroyed_ns": 1}),
            "0,5",
        ),
        (
            Cell::Depth("a", "b"),
            json!({"a": 1_500_000, "b": 0.0}),
            "1,5",
        ),
    ] {
        assert_eq!(
            cell_in("1.234.567,8", of, "x.etl", true, &values),
            expected,
            "{of:?} {values}"
        );
    }
}

#[test]
fn what_stands_once_is_not_written_again() {
    let values = json!({"id": 7, "frames": "a < b", "sent": 5});
    for (is_first, stack, sent) in [(true, "StackId: 7 a\nb", "5"), (false, "StackId: 7", "0")] {
        assert_eq!(
            cell(Cell::Stack("id", "frames"), "x", is_first, &values),
            stack
        );
        assert_eq!(
            cell(Cell::Once(&Cell::Is("sent")), "x", is_first, &values),
            sent
        );
    }
    let none = json!({"id": null, "frames": null});
    assert_eq!(cell(Cell::Stack("id", "frames"), "x", true, &none), "");
}
