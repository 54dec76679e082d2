//! Damaged and hostile extracts give errors.

use std::fs;
use std::path::{Path, PathBuf};

use etwkit_extract::{DerivedWriter, Extract};
use etwkit_trace::table::{CpuProcess, Row};
use parquet::file::metadata::{ParquetMetaDataReader, ParquetMetaDataWriter};
use serde_json::{Value, json};

use crate::rows::{assert_told, extract, sums};
use crate::support::Folder;

fn target(folder: &Folder) -> PathBuf {
    let target = folder.path("run.etwx");
    extract(&target, 30, 1).unwrap();
    target
}

/// Opens and reads everything; panics are what this looks for.
fn read_all(target: &Path) -> Result<usize, String> {
    let extract = Extract::open(target).map_err(|e| e.to_string())?;
    let mut rows = 0;
    for table in extract.tables() {
        for batch in table.batches(None).map_err(|e| e.to_string())? {
            rows += batch.map_err(|e| e.to_string())?.num_rows();
        }
    }
    Ok(rows)
}

fn edit(target: &Path, change: impl FnOnce(&mut Value)) {
    let path = target.join("manifest.json");
    let mut json = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut json);
    fs::write(path, json.to_string()).unwrap();
}

#[test]
fn versions_are_judged_before_the_rest() {
    let folder = Folder::new();
    let target = target(&folder);
    edit(&target, |json| json["from_the_future"] = json!({ "a": [1, 2] }));
    edit(&target, |json| json["format_version"] = json!("1.99"));
    assert_eq!(read_all(&target), Ok(31), "additions are no hindrance");
    let newer = |json: &mut Value| *json = json!({ "format": json["format"], "format_version": "2.0" });
    let older = |json: &mut Value| json["format_version"] = json!("0.9");
    let manifest = fs::read(target.join("manifest.json")).unwrap();
    edit(&target, newer);
    let parts = ["has format version 2.0, and this program reads up to 1.4", "hint: use a newer etwkit"];
    assert_told(Extract::open(&target), &parts);
    fs::write(target.join("manifest.json"), manifest).unwrap();
    edit(&target, older);
    let parts = ["has the old format version 0.9", "reads from 1.0 on", "hint: extract the trace again"];
    assert_told(Extract::open(&target), &parts);
    // Whatever its version, it is an extract, and a new one may take its place.
    extract(&target, 1, 1).unwrap();
    assert_eq!(read_all(&target), Ok(2));
}

#[test]
fn manifests_that_make_no_sense_are_refused() {
    let folder = Folder::new();
    let target = target(&folder);
    let good = fs::read(target.join("manifest.json")).unwrap();
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 9] = [
        (|json| json["format"] = json!("other"), "expected the format \"etwkit-extract\", found \"other\""),
        (
            |json| json["format_version"] = json!("one"),
            "expected a manifest (a version like 1.0, found \"one\"",
        ),
        (|json| json["tables"]["../../etc/passwd"] = json!({"rows": 1, "bytes": 1}), "letters, digits and _"),
        (|json| json["tables"]["a/b"] = json!({"rows": 1, "bytes": 1}), "letters, digits and _"),
        (|json| json["tables"]["mark"]["rows"] = json!(-1), "expected a manifest"),
        (|json| json["tables"]["mark"]["rows"] = json!(u64::MAX), "mark.parquet of "),
        (
            |json| json["tables"]["mark"]["bytes"] = json!(u64::MAX),
            "expected 18446744073709551615 bytes, found",
        ),
        (|json| json["tables"]["disk_io"] = json!({"rows": 1, "bytes": 9}), "disk_io.parquet of "),
        (|json| *json = json!([1]), "manifest.json of "),
    ];
    for (change, part) in changes {
        fs::write(target.join("manifest.json"), &good).unwrap();
        edit(&target, change);
        assert_told(Extract::open(&target), &["damaged extract: ", part, "hint: extract the trace again"]);
    }
    let deep = "[".repeat(100_000);
    for bytes in [&b""[..], b"\0\0", b"\xFF\xFE", deep.as_bytes()] {
        fs::write(target.join("manifest.json"), bytes).unwrap();
        assert_told(Extract::open(&target), &["damaged extract: manifest.json of ", "expected a manifest ("]);
    }
    for length in (0..good.len()).filter(|length| length % 8 == 0 || length + 20 > good.len()) {
        fs::write(target.join("manifest.json"), &good[..length]).unwrap();
        // What is cut off at the end of the file is only its line end.
        assert_eq!(read_all(&target).is_ok(), length == good.len() - 1, "{length}");
    }
}

#[test]
fn table_files_that_are_cut_missing_or_replaced_are_named() {
    let folder = Folder::new();
    let target = target(&folder);
    let file = target.join("mark.parquet");
    let good = fs::read(&file).unwrap();
    // Every cut in what lies at the end, and some of those before.
    let cuts = (0..good.len()).filter(|length| length % 16 == 0 || length + 100 > good.len());
    for length in cuts {
        fs::write(&file, &good[..length]).unwrap();
        let parts = ["damaged extract: mark.parquet of ", "bytes, found ", "hint: extract the trace again"];
        assert_told(Extract::open(&target), &parts);
        // As long as it should be, but not what it should be.
        let bytes = json!(length);
        edit(&target, |json| json["tables"]["mark"]["bytes"] = bytes);
        assert_told(
            Extract::open(&target),
            &["damaged extract: mark.parquet of ", "expected a Parquet file"],
        );
        let bytes = json!(good.len());
        edit(&target, |json| json["tables"]["mark"]["bytes"] = bytes);
    }
    fs::remove_file(&file).unwrap();
    assert_told(Extract::open(&target), &["mark.parquet", "bytes, it is missing"]);
    fs::create_dir(&file).unwrap();
    assert_told(Extract::open(&target), &["mark.parquet", "bytes, it is missing"]);
}

/// The file with another number of rows at its end, for its only row group and in all.
fn with_rows(file: &Path, rows: i64) -> Vec<u8> {
    let mut bytes = fs::read(file).unwrap();
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&fs::File::open(file).unwrap()).unwrap();
    let footer = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap()) as usize;
    bytes.truncate(bytes.len() - 8 - footer);
    let group = metadata.row_group(0).clone().into_builder().set_num_rows(rows).build().unwrap();
    let metadata = metadata.into_builder().set_row_groups(vec![group]).build();
    ParquetMetaDataWriter::new(&mut bytes, &metadata).finish().unwrap();
    bytes
}

/// The same, but in all there are 30.
fn with_rows_in_group(file: &Path, rows: i64) -> Vec<u8> {
    let mut bytes = with_rows(file, rows);
    // A field of 64 bits behind the one before it, and its number; that of the file stands in front of those of the groups.
    let field = [&[0x16][..], &varint(rows)].concat();
    let at = bytes.windows(field.len()).position(|found| found == field).unwrap();
    bytes.splice(at..at + field.len(), [&[0x16][..], &varint(30)].concat());
    let end = bytes.len() - 8;
    let footer = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
    let footer = footer + 1 - varint(rows).len();
    bytes[end..end + 4].copy_from_slice(&(footer as u32).to_le_bytes());
    bytes
}

/// A number as Thrift has it in its compact form.
fn varint(number: i64) -> Vec<u8> {
    let mut rest = (number << 1 ^ number >> 63).cast_unsigned();
    let mut bytes = Vec::new();
    while rest > 0x7F {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

#[test]
fn endless_rows_are_not_begun() {
    let folder = Folder::new();
    let target = target(&folder);
    let file = target.join("mark.parquet");
    let whole = fs::read(&file).unwrap();
    for (bytes, rows, part) in [
        (with_rows(&file, 30), 30, None),
        (with_rows_in_group(&file, i64::MAX), 30, Some("expected 30 rows in its row groups")),
        (with_rows_in_group(&file, -1), 30, Some("mark.parquet")),
        (with_rows(&file, i64::MAX), i64::MAX, Some("expected fewer rows for ")),
    ] {
        fs::write(&file, &bytes).unwrap();
        edit(&target, |json| json["tables"]["mark"] = json!({"rows": rows, "bytes": bytes.len()}));
        match part {
            None => assert_eq!(read_all(&target), Ok(31)),
            Some(part) => assert_told(Extract::open(&target), &["damaged extract: mark.parquet of ", part]),
        }
        fs::write(&file, &whole).unwrap();
    }
}

#[test]
fn changed_bytes_of_a_table_give_an_error_or_other_rows_but_no_panic() {
    let folder = Folder::new();
    let target = target(&folder);
    let file = target.join("mark.parquet");
    let good = fs::read(&file).unwrap();
    let mut refused = 0;
    for at in 0..good.len() {
        let mut bad = good.clone();
        for value in [0xFF, bad[at] ^ 1] {
            bad[at] = value;
            fs::write(&file, &bad).unwrap();
            refused += u32::from(read_all(&target).is_err());
        }
    }
    assert!(refused > 100, "{refused}");
    let mut random = 1u64;
    for _ in 0..200 {
        let noise = std::iter::repeat_with(|| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 56) as u8
        });
        let mut bad: Vec<u8> = noise.take(good.len()).collect();
        let end = bad.len() - 4;
        bad[..4].copy_from_slice(b"PAR1");
        bad[end..].copy_from_slice(b"PAR1");
        bad[end - 4..end].copy_from_slice(&(end as u32 / 2).to_le_bytes());
        fs::write(&file, &bad).unwrap();
        assert_told(Extract::open(&target), &["mark.parquet of ", "expected a Parquet file of "]);
    }
}

#[test]
fn damaged_derived_tables_are_told_and_can_be_written_again() {
    let folder = Folder::new();
    let target = target(&folder);
    let write = || {
        let mut writer = DerivedWriter::create(&Extract::open(&target).unwrap()).unwrap();
        writer.write(CpuProcess::TABLE, sums(4)).unwrap();
        writer.finish(Default::default()).unwrap();
    };
    write();
    for (name, text) in [
        ("derived/cpu_process.parquet", "cpu_process.parquet of "),
        ("derived/manifest.json", "derived/manifest.json of "),
    ] {
        fs::write(target.join(name), b"x").unwrap();
        let extract = Extract::open(&target).unwrap();
        assert!(extract.derived().is_none() && extract.table("cpu_process").is_none());
        let problem = extract.derived_problem().unwrap().to_string();
        assert!(problem.contains(text), "{problem}");
        write();
        assert_eq!(read_all(&target), Ok(35));
    }
}

#[test]
fn pages_that_claim_gigabytes_take_no_memory() {
    let folder = Folder::new();
    let target = target(&folder);
    let file = target.join("mark.parquet");
    let mut bytes = fs::read(&file).unwrap();
    // The first page header: field 1, the type of the page; field 2, its uncompressed size.
    assert_eq!((bytes[4], bytes[6]), (0x15, 0x15));
    let length = bytes[7..].iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    bytes.splice(7..7 + length, varint(i64::from(i32::MAX)));
    fs::write(&file, &bytes).unwrap();
    edit(&target, |json| json["tables"]["mark"]["bytes"] = json!(bytes.len()));
    let extract = Extract::open(&target).unwrap();
    let read = extract.table("mark").unwrap().batches(None).map(|_| ());
    assert_told(read, &["damaged extract: mark.parquet of ", "the page at 4 claims 2147483647 bytes"]);
}
