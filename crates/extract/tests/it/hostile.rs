//! Damaged and hostile extracts give errors.

use std::fs;
use std::path::{Path, PathBuf};

use etwkit_extract::{DerivedWriter, Extract, Writer, WriterOptions};
use etwkit_trace::table::{CpuProcess, CpuSample, Mark, Row};
use parquet::file::metadata::{ParquetMetaDataReader, ParquetMetaDataWriter};
use serde_json::{Value, json};

use crate::rows::{assert_refused, batch, extract, manifest, marks, samples, sums};
use crate::support::Folder;

fn target(folder: &Folder) -> PathBuf {
    let target = folder.path("run.etwx");
    extract(&target, 30, 1).unwrap();
    target
}

/// Opens and reads everything, in search of panics.
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

/// Removes the checksums, as in files of older versions: only there damage reaches the decoder.
fn without_checksums(target: &Path) {
    edit(target, |json| {
        for (_, table) in json["tables"].as_object_mut().unwrap() {
            assert!(table.as_object_mut().unwrap().remove("crc32").is_some());
        }
    });
}

#[test]
fn every_flipped_bit_of_a_table_is_an_error() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    let mut writer = Writer::create(&target, WriterOptions::default()).unwrap();
    // Numbers that do not compress.
    let noise = |n: i64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64.cast_signed()) >> 8;
    let samples = (0..100_000).map(|n| CpuSample {
        ts_ns: n,
        weight_ns: noise(n),
        ..CpuSample::default()
    });
    writer.write(CpuSample::TABLE, batch(samples)).unwrap();
    writer.write(Mark::TABLE, marks(&["one"])).unwrap();
    writer.finish(manifest("1")).unwrap();
    assert_eq!(read_all(&target), Ok(100_001));
    // One file is read as a whole when it is opened, the other one in parts.
    for (name, large, flips) in [
        ("mark.parquet", false, 300),
        ("cpu_sample.parquet", true, 200),
    ] {
        let file = target.join(name);
        let good = fs::read(&file).unwrap();
        assert_eq!(good.len() > 256 << 10, large, "{name}: {}", good.len());
        for flip in 0..flips {
            let bit = good.len() * 8 / flips * flip + flip % 8;
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            fs::write(&file, &bad).unwrap();
            let said = read_all(&target).unwrap_err();
            let block = bit / 8 / 65_536 * 65_536;
            let expected = format!(
                "damaged extract: {name} of {}: expected bytes {block} to ",
                target.display()
            );
            assert!(
                said.starts_with(&expected) && said.contains(" with the checksum "),
                "bit {bit}: {said}"
            );
        }
        fs::write(&file, &good).unwrap();
    }
    assert_eq!(read_all(&target), Ok(100_001));
    // In an archive a table can start at any offset.
    let zip = folder.path("run.etwx.zip");
    Extract::open(&target).unwrap().pack(&zip).unwrap();
    assert_eq!(read_all(&zip), Ok(100_001));
    let mut bytes = fs::read(&zip).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&zip, bytes).unwrap();
    assert!(read_all(&zip).unwrap_err().contains("cpu_sample.parquet"));
    edit(&target, |json| {
        json["tables"]["mark"]["crc32"] = json!("0011");
    });
    assert_refused(
        Extract::open(&target),
        &["expected a manifest (expected checksums of eight hexadecimal digits"],
    );
    edit(&target, |json| {
        json["tables"]["mark"]["crc32"] = json!("0011223344556677");
    });
    assert_refused(
        Extract::open(&target),
        &["mark.parquet of ", "checksums of ", "found another number"],
    );
}

#[test]
fn an_extract_that_is_replaced_while_it_is_read_says_so() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    extract(&target, 300_000, 1).unwrap();
    let before = Extract::open(&target).unwrap();
    let mut begun = before.table("cpu_sample").unwrap().batches(None).unwrap();
    begun.next().unwrap().unwrap();
    extract(&target, 200_000, 2).unwrap();
    let rows = before.table("cpu_sample").unwrap().batches(None);
    let read = rows.and_then(|mut rows| rows.try_for_each(|batch| batch.map(|_| ())));
    assert_refused(
        read,
        &["run.etwx was replaced while it was read", "hint: ask again"],
    );
    // An open extract stays unchanged on systems that keep files in use.
    if cfg!(unix) {
        assert_eq!(
            begun.map(|batch| batch.unwrap().num_rows()).sum::<usize>() + 1024,
            300_000
        );
    }
}

#[test]
fn what_an_answer_fails_over_is_found_afterwards() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    let mut writer = Writer::create(&target, WriterOptions::default()).unwrap();
    writer.write(CpuSample::TABLE, samples(30, 1)).unwrap();
    let strange = CpuSample {
        ts_ns: 5,
        weight_ns: i64::MAX - 3,
        ..CpuSample::default()
    };
    writer.write(CpuSample::TABLE, batch([strange])).unwrap();
    writer.finish(manifest("1")).unwrap();
    let opened = Extract::open(&target).unwrap();
    let table = opened.table("cpu_sample").unwrap();
    table.examine().unwrap();
    table.strange_number("ts_ns").unwrap();
    let parts = [
        "cpu_sample.parquet of ",
        "numbers of a recording in the column weight_ns, found 9223372036854775804",
    ];
    assert_refused(table.strange_number("weight_ns"), &parts);
    // Damaged pages: the error names the column.
    without_checksums(&target);
    let file = target.join("cpu_sample.parquet");
    let metadata = ParquetMetaDataReader::new()
        .parse_and_finish(&fs::File::open(&file).unwrap())
        .unwrap();
    let (start, length) = metadata.row_group(0).column(4).byte_range();
    let mut bytes = fs::read(&file).unwrap();
    bytes[start as usize..(start + length) as usize].fill(0xA5);
    fs::write(&file, bytes).unwrap();
    let opened = Extract::open(&target).unwrap();
    let column = metadata.row_group(0).column(4).column_path().string();
    let parts = [
        "damaged extract: cpu_sample.parquet of ",
        &format!("(column {column})"),
    ];
    assert_refused(opened.table("cpu_sample").unwrap().examine(), &parts);
}

#[test]
fn versions_are_judged_before_the_rest() {
    let folder = Folder::new();
    let target = target(&folder);
    edit(&target, |json| {
        json["from_the_future"] = json!({ "a": [1, 2] });
    });
    edit(&target, |json| json["format_version"] = json!("2.99"));
    assert_eq!(read_all(&target), Ok(31), "additions are no hindrance");
    let newer =
        |json: &mut Value| *json = json!({ "format": json["format"], "format_version": "3.0" });
    let older = |json: &mut Value| json["format_version"] = json!("1.4");
    let manifest = fs::read(target.join("manifest.json")).unwrap();
    edit(&target, newer);
    let parts = [
        "has format version 3.0, and this program reads up to 2.0",
        "hint: use a newer etwkit",
    ];
    assert_refused(Extract::open(&target), &parts);
    fs::write(target.join("manifest.json"), manifest).unwrap();
    edit(&target, older);
    let again = |line: &str| format!("; `etwkit extract {line}` makes it anew");
    let line = again(&format!("--out {} run.etl", target.display()));
    let parts = [
        "has the old format version 1.4",
        "reads from 2.0 on",
        &line,
        "hint: extract the trace again, by",
    ];
    assert_refused(Extract::open(&target), &parts);
    // A claim in a manifest must not lead to a shell command.
    edit(&target, |json| {
        json["detail"] = json!("summary");
        let names = ["run one.etl", "x; reboot.etl", "--force"];
        json["source"]["files"] = names
            .map(|name| json!({"name": name, "size_bytes": 1}))
            .into();
    });
    let end = again(&format!(
        "--detail summary --one-session --out {} \"run one.etl\" TRACE TRACE",
        target.display()
    ));
    assert_refused(Extract::open(&target), &[&end]);
    // It is an extract of any version, and a new one may replace it.
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
        (
            |json| json["format"] = json!("other"),
            "expected the format \"etwkit-extract\", found \"other\"",
        ),
        (
            |json| json["format_version"] = json!("one"),
            "expected a manifest (a version like 1.0, found \"one\"",
        ),
        (
            |json| json["tables"]["../../etc/passwd"] = json!({"rows": 1, "bytes": 1}),
            "letters, digits and _",
        ),
        (
            |json| json["tables"]["a/b"] = json!({"rows": 1, "bytes": 1}),
            "letters, digits and _",
        ),
        (
            |json| json["tables"]["mark"]["rows"] = json!(-1),
            "expected a manifest",
        ),
        (
            |json| json["tables"]["mark"]["rows"] = json!(u64::MAX),
            "mark.parquet of ",
        ),
        (
            |json| json["tables"]["mark"]["bytes"] = json!(u64::MAX),
            "expected 18446744073709551615 bytes, found",
        ),
        (
            |json| json["tables"]["disk_io"] = json!({"rows": 1, "bytes": 9}),
            "disk_io.parquet of ",
        ),
        (|json| *json = json!([1]), "manifest.json of "),
    ];
    for (change, part) in changes {
        fs::write(target.join("manifest.json"), &good).unwrap();
        edit(&target, change);
        assert_refused(
            Extract::open(&target),
            &["damaged extract: ", part, "hint: extract the trace again"],
        );
    }
    let deep = "[".repeat(100_000);
    for bytes in [&b""[..], b"\0\0", b"\xFF\xFE", deep.as_bytes()] {
        fs::write(target.join("manifest.json"), bytes).unwrap();
        assert_refused(
            Extract::open(&target),
            &[
                "damaged extract: manifest.json of ",
                "expected a manifest (",
            ],
        );
    }
    for length in (0..good.len()).filter(|length| length % 8 == 0 || length + 20 > good.len()) {
        fs::write(target.join("manifest.json"), &good[..length]).unwrap();
        // A manifest that lacks only its final line end is still whole.
        assert_eq!(
            read_all(&target).is_ok(),
            length == good.len() - 1,
            "{length}"
        );
    }
}

#[test]
fn table_files_that_are_cut_missing_or_replaced_are_named() {
    let folder = Folder::new();
    let target = target(&folder);
    let file = target.join("mark.parquet");
    without_checksums(&target);
    let good = fs::read(&file).unwrap();
    // Every cut in the footer, and some of the cuts before it.
    let cuts = (0..good.len()).filter(|length| length % 16 == 0 || length + 100 > good.len());
    for length in cuts {
        fs::write(&file, &good[..length]).unwrap();
        let parts = [
            "damaged extract: mark.parquet of ",
            "bytes, found ",
            "hint: extract the trace again",
        ];
        assert_refused(Extract::open(&target), &parts);
        // The right length, but the wrong content.
        let bytes = json!(length);
        edit(&target, |json| json["tables"]["mark"]["bytes"] = bytes);
        assert_refused(
            Extract::open(&target),
            &[
                "damaged extract: mark.parquet of ",
                "expected a Parquet file",
            ],
        );
        let bytes = json!(good.len());
        edit(&target, |json| json["tables"]["mark"]["bytes"] = bytes);
    }
    fs::remove_file(&file).unwrap();
    assert_refused(
        Extract::open(&target),
        &["mark.parquet", "bytes, it is missing"],
    );
    fs::create_dir(&file).unwrap();
    assert_refused(
        Extract::open(&target),
        &["mark.parquet", "bytes, it is missing"],
    );
}

/// The file with another number of rows in its footer, for its only row group and in total.
fn with_rows(file: &Path, rows: i64) -> Vec<u8> {
    let mut bytes = fs::read(file).unwrap();
    let metadata = ParquetMetaDataReader::new()
        .parse_and_finish(&fs::File::open(file).unwrap())
        .unwrap();
    let footer =
        u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap()) as usize;
    bytes.truncate(bytes.len() - 8 - footer);
    let group = metadata
        .row_group(0)
        .clone()
        .into_builder()
        .set_num_rows(rows)
        .build()
        .unwrap();
    let metadata = metadata.into_builder().set_row_groups(vec![group]).build();
    ParquetMetaDataWriter::new(&mut bytes, &metadata)
        .finish()
        .unwrap();
    bytes
}

/// The same, but 30 in total.
fn with_rows_in_group(file: &Path, rows: i64) -> Vec<u8> {
    let mut bytes = with_rows(file, rows);
    // A field of 64 bits after the previous one, and its number; the number of the file is before
    // the numbers of the groups.
    let field = [&[0x16][..], &varint(rows)].concat();
    let at = bytes
        .windows(field.len())
        .position(|found| found == field)
        .unwrap();
    bytes.splice(at..at + field.len(), [&[0x16][..], &varint(30)].concat());
    let end = bytes.len() - 8;
    let footer = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
    let footer = footer + 1 - varint(rows).len();
    bytes[end..end + 4].copy_from_slice(&(footer as u32).to_le_bytes());
    bytes
}

/// A number in Thrift's compact form.
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

/// A file of 30 rows without columns but for one, in groups in each other.
fn with_deep_schema(levels: u32) -> Vec<u8> {
    let count = levels + 1;
    let count = [
        count as u8 | 0x80,
        (count >> 7) as u8 | 0x80,
        (count >> 14) as u8,
    ];
    let group = [0x35, 0, 0x18, 1, b'x', 0x15, 2, 0];
    let column = [0x15, 2, 0x25, 0, 0x18, 1, b'x', 0];
    let mut metadata = [&[0x15, 2, 0x19, 0xFC][..], &count].concat();
    metadata.extend(group.repeat(levels as usize));
    metadata.extend(column);
    // The rows, and no row groups.
    metadata.extend([0x16, 60, 0x19, 0x0C, 0]);
    let length = (metadata.len() as u32).to_le_bytes();
    [&b"PAR1"[..], &metadata, &length, b"PAR1"].concat()
}

/// The decoder calls itself for each level, so such a file would end the process.
#[test]
fn deep_schemas_are_not_followed() {
    let folder = Folder::new();
    let target = target(&folder);
    let bytes = with_deep_schema(200_000);
    fs::write(target.join("mark.parquet"), &bytes).unwrap();
    edit(&target, |json| {
        json["tables"]["mark"] = json!({"rows": 30, "bytes": bytes.len()});
    });
    let said = read_all(&target).unwrap_err();
    assert!(said.contains("mark.parquet"), "{said}");
}

#[test]
fn endless_rows_are_not_begun() {
    let folder = Folder::new();
    let target = target(&folder);
    let file = target.join("mark.parquet");
    let whole = fs::read(&file).unwrap();
    for (bytes, rows, part) in [
        (with_rows(&file, 30), 30, None),
        (
            with_rows_in_group(&file, i64::MAX),
            30,
            Some("expected 30 rows in its row groups"),
        ),
        (with_rows_in_group(&file, -1), 30, Some("mark.parquet")),
        (
            with_rows(&file, i64::MAX),
            i64::MAX,
            Some("expected fewer rows for "),
        ),
    ] {
        fs::write(&file, &bytes).unwrap();
        edit(&target, |json| {
            json["tables"]["mark"] = json!({"rows": rows, "bytes": bytes.len()});
        });
        match part {
            None => assert_eq!(read_all(&target), Ok(31)),
            Some(part) => {
                assert_refused(
                    Extract::open(&target),
                    &["damaged extract: mark.parquet of ", part],
                );
            }
        }
        fs::write(&file, &whole).unwrap();
    }
}

#[test]
fn changed_bytes_of_a_table_give_an_error_or_other_rows_but_no_panic() {
    let folder = Folder::new();
    let target = target(&folder);
    let file = target.join("mark.parquet");
    without_checksums(&target);
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
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 56) as u8
        });
        let mut bad: Vec<u8> = noise.take(good.len()).collect();
        let end = bad.len() - 4;
        bad[..4].copy_from_slice(b"PAR1");
        bad[end..].copy_from_slice(b"PAR1");
        bad[end - 4..end].copy_from_slice(&(end as u32 / 2).to_le_bytes());
        fs::write(&file, &bad).unwrap();
        assert_refused(
            Extract::open(&target),
            &["mark.parquet of ", "expected a Parquet file of "],
        );
    }
}

#[test]
fn damaged_derived_tables_are_reported_and_can_be_written_again() {
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
    without_checksums(&target);
    let mut bytes = fs::read(&file).unwrap();
    // The first page header: field 1, the type of the page; field 2, its uncompressed size.
    assert_eq!((bytes[4], bytes[6]), (0x15, 0x15));
    let length = bytes[7..].iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    bytes.splice(7..7 + length, varint(i64::from(i32::MAX)));
    fs::write(&file, &bytes).unwrap();
    edit(&target, |json| {
        json["tables"]["mark"]["bytes"] = json!(bytes.len());
    });
    let extract = Extract::open(&target).unwrap();
    let read = extract.table("mark").unwrap().batches(None).map(|_| ());
    assert_refused(
        read,
        &[
            "damaged extract: mark.parquet of ",
            "the page at 4 claims 2147483647 bytes",
        ],
    );
}

#[test]
fn a_long_text_that_thousands_of_rows_name_is_not_written_out() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    let mut writer = Writer::create(&target, WriterOptions::default()).unwrap();
    let text = "x".repeat(1_000_000);
    // Each batch is small; in the file each one is a text and a number per row.
    let few = marks(&vec![text.as_str(); 100]);
    for _ in 0..12 {
        writer.write(Mark::TABLE, few.clone()).unwrap();
    }
    writer.finish(manifest("1")).unwrap();
    let file = target.join("mark.parquet");
    assert!(fs::metadata(&file).unwrap().len() < 100_000);
    let opened = Extract::open(&target).unwrap();
    let parts = [
        "damaged extract: mark.parquet of ",
        "has a dictionary whose texts would take 1",
    ];
    assert_refused(
        opened.table("mark").unwrap().batches(None).map(|_| ()),
        &parts,
    );
}
