//! The workloads as commands.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::process::{Command, Output};

fn lab(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_etwkit-lab-data"))
        .args(args)
        .output()
        .unwrap()
}

/// The rows of the CSV file that a workload writes, without the names of columns.
fn rows(args: &[&str]) -> (Vec<String>, Vec<Vec<String>>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.csv");
    let output = lab(&[args, &["--csv", file.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{output:?}");
    let advice = String::from_utf8(output.stderr).unwrap();
    let wanted = format!(
        "note: To see it on Windows: etwkit run {} --record ",
        args[0]
    );
    assert!(advice.starts_with(&wanted), "{advice}");
    let text = fs::read_to_string(file).unwrap();
    let split = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    (
        split(text.lines().next().unwrap()),
        text.lines().skip(1).map(split).collect(),
    )
}

#[test]
fn every_row_is_imported_and_nothing_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let (names, rows) = rows(&["import", path, path, "--rows", "2500", "--batch", "1000"]);
    assert_eq!(
        names.join(" "),
        "folder sync journal rows seconds rows_per_second bytes"
    );
    let syncs: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
    assert_eq!(syncs, ["full", "normal", "off"].repeat(2));
    for row in &rows {
        assert_eq!(
            (row[0].as_str(), row[2].as_str(), row[3].as_str()),
            (path, "delete", "2500")
        );
        let [seconds, rate, bytes] = [4, 5, 6].map(|at| row[at].parse::<f64>().unwrap());
        assert!(
            (rate * seconds - 2500.0).abs() < 0.05 * 2500.0 + rate * 0.0005,
            "{row:?}"
        );
        assert!(bytes > 2500.0 * 20.0, "{row:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let output = lab(&["import", "/no/such/folder"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.starts_with("error: cannot make a folder in /no/such/folder\n"),
        "{said}"
    );
}

#[test]
fn every_format_is_measured_above_the_floor() {
    let (names, rows) = rows(&["serializers", "--objects", "1,2000", "--runs", "3"]);
    assert_eq!(
        names.join(" "),
        "format objects write_ms read_ms bytes first_call_ms"
    );
    assert_eq!(rows.len(), 2 * 6);
    let of = |format: &str, objects: &str, at: usize| -> f64 {
        let row = rows
            .iter()
            .find(|row| row[0] == format && row[1] == objects)
            .unwrap();
        row[at].parse().unwrap()
    };
    for format in ["bitcode", "postcard", "rmp-serde", "ciborium", "serde_json"] {
        assert!(
            of(format, "2000", 2) > 0.0 && of(format, "2000", 3) > 0.0 && of(format, "1", 5) > 0.0
        );
        // Title, number and ten bytes of each book are in it.
        assert!(of(format, "2000", 4) > 2000.0 * 10.0, "{rows:?}");
    }
    assert!(
        of("serde_json", "2000", 4) > 2.0 * of("postcard", "2000", 4),
        "{rows:?}"
    );
    let output = lab(&["serializers", "--format", "grobuf"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    let hint = "hint: there are bitcode, postcard, rmp-serde, ciborium, serde_json\n";
    assert_eq!(
        said,
        format!("error: no format is called \"grobuf\"\n{hint}")
    );
}
