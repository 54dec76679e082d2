//! Lakes: files of two tables and their logs → runs, a check, compaction, and what `vacuum` deletes.
//!
//! Layout of an input: files: which one (1 byte, by the list below), bytes behind their length (2 bytes).
//! Whatever the files say, nothing next to the lake changes.

#![no_main]

use std::fs;
use std::time::Duration;

use etwkit_extract::lake::Lake;
use etwkit_fuzz::input::Input;
use libfuzzer_sys::fuzz_target;

/// The files, in the order of their numbers.
const FILES: [&str; 9] = [
    "run/_delta_log/00000000000000000000.json",
    "run/_delta_log/00000000000000000001.json",
    "run/_delta_log/00000000000000000001.checkpoint.parquet",
    "run/run_month=2026-11/a.parquet",
    "process/_delta_log/00000000000000000000.json",
    "process/_delta_log/00000000000000000001.json",
    "process/_delta_log/00000000000000000001.checkpoint.parquet",
    "process/run_month=2026-11/a.parquet",
    "process/run_month=2026-11/b.parquet",
];

fuzz_target!(|data: &[u8]| {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lake");
    let beside = folder.path().join("beside.parquet");
    fs::write(&beside, "beside").expect("a file");
    fs::create_dir_all(path.join("run/_delta_log")).expect("a folder");
    let mut input = Input(data);
    while !input.is_empty() {
        let file = path.join(FILES[usize::from(input.u8()) % FILES.len()]);
        let parent = file.parent().expect("it is in a folder");
        fs::create_dir_all(parent).expect("a folder");
        fs::write(&file, input.block()).expect("a file");
    }
    let Ok(lake) = Lake::open(&path) else {
        return;
    };
    let runs = lake.runs();
    let checked = lake.check();
    // A check reads the runs, and more.
    assert!(runs.is_ok() || checked.is_err());
    if let Ok(runs) = &runs {
        for run in runs {
            assert_eq!(run.digits().len(), 16);
            std::hint::black_box((run.tables().count(), run.bytes()));
        }
    }
    let _ = lake.compact(Duration::ZERO);
    let _ = lake.vacuum(Duration::ZERO);
    let _ = lake.check();
    let left = fs::read(&beside).expect("the file beside the lake");
    assert_eq!(left, b"beside");
});
