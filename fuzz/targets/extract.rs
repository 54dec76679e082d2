//! Extracts: archive in place, or manifests and Parquet files of a folder → open → all rows.
//!
//! Layout of an input: shape (1 byte). 0: the bytes of an archive. 1: manifest behind its length (2 bytes),
//! then tables: number (1 byte), bytes behind their length (2 bytes). Else: rows (2 bytes), then the Parquet
//! file of one table, whose manifest is right.

#![no_main]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::Path;
use std::process::abort;
use std::sync::Once;

use etwkit_extract::{DerivedWriter, Extract};
use etwkit_fuzz::input::Input;
use etwkit_trace::table::DERIVED;
use etwkit_trace::topics::TABLES;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    static QUIET: Once = Once::new();
    // The Parquet decoder panics over some damaged pages, which the reader of extracts turns into errors:
    // only panics that get here are bugs.
    QUIET.call_once(|| set_hook(Box::new(|_| ())));
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(data))) {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        eprintln!("panic: {}", text.unwrap_or_default());
        abort();
    }
});

fn run(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut input = Input(data);
    let shape = input.u8();
    match shape % 3 {
        0 => {
            let file = folder.path().join("x.etwx.zip");
            fs::write(&file, input.0).expect("a file");
            read_all(&file);
        }
        1 => {
            fs::write(folder.path().join("manifest.json"), input.block()).expect("a file");
            while !input.is_empty() {
                let name = table_name(input.u8());
                fs::write(folder.path().join(format!("{name}.parquet")), input.block())
                    .expect("a file");
            }
            read_all(folder.path());
        }
        _ => {
            let (name, rows) = (table_name(shape / 3), input.u16());
            let manifest = serde_json::json!({
                "format": "etwkit-extract", "format_version": "2.0", "etwkit_version": "0.1.0", "detail": "full",
                "source": {"files": [{"name": "x.etl", "size_bytes": 1}], "hash": "0123456789abcdef"},
                "clock": {"kind": "qpc", "frequency": 1, "start_utc": "2024-05-01T10:00:00Z", "start_filetime": 0},
                "machine": {"processors": 1},
                "tables": {name: {"rows": rows, "bytes": input.0.len()}},
            });
            fs::write(folder.path().join("manifest.json"), manifest.to_string()).expect("a file");
            fs::write(folder.path().join(format!("{name}.parquet")), input.0).expect("a file");
            read_all(folder.path());
        }
    }
}

fn table_name(number: u8) -> &'static str {
    let all = TABLES.len() + DERIVED.len();
    TABLES
        .iter()
        .chain(DERIVED)
        .nth(usize::from(number) % all)
        .map_or("mark", |table| table.name)
}

fn read_all(path: &Path) {
    let Ok(extract) = Extract::open(path) else {
        return;
    };
    for table in extract.tables() {
        for columns in [None, Some(&["stack_id", "ts_ns"][..])] {
            let Ok(batches) = table.batches(columns) else {
                continue;
            };
            for batch in batches {
                let Ok(batch) = batch else { break };
                std::hint::black_box(batch.num_rows());
            }
        }
    }
    if !extract.is_archive() && extract.tables().count() == 1 {
        let _ = DerivedWriter::create(&extract).map(drop);
        let _ = etwkit_extract::derive_again(&extract);
    }
}
