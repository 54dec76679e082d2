//! Extracts of ETWAnalyzer: JSON of a main file and its parts, or an archive of them → extract → all rows.
//!
//! Layout of an input: shape (1 byte). 0: the bytes of an archive. Else: the main file behind its length (2
//! bytes), then parts: number (1 byte), bytes behind their length (2 bytes). 255: the main file alone, as
//! long as the rest.

#![no_main]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use etwkit_extract::json7z::{JsonInput, import_json, is_json_archive, open_all_json};
use etwkit_extract::{Extract, Limits, Options, WriterOptions};
use etwkit_fuzz::input::Input;
use libfuzzer_sys::fuzz_target;

/// Names of the parts; the last one is of no part that is known.
const PARTS: [&str; 10] = [
    "FileIO",
    "Modules",
    "CPUExtended",
    "Handle",
    "HandleStacks",
    "VirtualAlloc",
    "VirtualAllocStacks",
    "TraceLogging",
    "TraceLogStacks",
    "Later",
];

fuzz_target!(|data: &[u8]| {
    let folder = tempfile::tempdir().expect("a folder");
    let mut input = Input(data);
    let write =
        |name: String, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("a file");
    let name = match input.u8() {
        0 => {
            write("x.7z".to_owned(), input.0);
            "x.7z"
        }
        255 => {
            write("x.json".to_owned(), input.0);
            "x.json"
        }
        _ => {
            write("x.json".to_owned(), input.block());
            while !input.is_empty() {
                let part = PARTS[usize::from(input.u8()) % PARTS.len()];
                write(format!("x_Derived_{part}.json"), input.block());
            }
            "x.json"
        }
    };
    let path = folder.path().join(name);
    let limits = Limits {
        total_bytes: 16 << 20,
        ratio_from_bytes: 1 << 20,
        members: 20,
        ..Limits::default()
    };
    let options = Options {
        temp_dir: Some(folder.path().to_owned()),
        limits,
        ..Options::default()
    };
    std::hint::black_box(is_json_archive(&path));
    let Ok(all) = open_all_json(&path, &options) else {
        return;
    };
    for (number, json) in all.iter().take(3).enumerate() {
        import(json, &folder.path().join(format!("{number}.etwx")));
    }
});

/// What is imported can be read; what is refused leaves nothing behind.
fn import(json: &JsonInput, target: &Path) {
    if import_json(json, target, WriterOptions::default(), BTreeMap::new()).is_err() {
        assert!(!target.exists(), "half an extract");
        return;
    }
    let extract = Extract::open(target).expect("an extract");
    for table in extract.tables() {
        let batches = table.batches(None).expect("a table");
        let rows: usize = batches.map(|batch| batch.expect("rows").num_rows()).sum();
        assert_eq!(rows as u64, table.rows, "{}", table.name);
    }
}
