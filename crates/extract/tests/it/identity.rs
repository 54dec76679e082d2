//! Fingerprints and hashes, which distinguish extracts and code for every program that reads them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, RecordBatch};
use etwkit_extract::left_out::Names;
use etwkit_extract::manifest::{Detail, Topic};
use etwkit_extract::{ConvertOptions, Extract, Writer, WriterOptions, convert, derive_again};
use etwkit_trace::table::{ABOUT, CpuProcess, CpuSample, DERIVED, DiskIo, Mark, Row, Table};
use etwkit_trace::topics::TABLES;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::rows::{manifest, marks, samples, sums};
use crate::support::{Folder, open_one};

/// All content of a file, read as another program would.
fn read(file: &Path) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap();
    reader
        .build()
        .unwrap()
        .map(|batch| batch.unwrap())
        .collect()
}

fn columns(file: &Path) -> Vec<String> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap();
    reader
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect()
}

fn file_of(target: &Path, table: &Table) -> PathBuf {
    let folder = if DERIVED.iter().any(|derived| derived.name == table.name) {
        "derived"
    } else {
        ""
    };
    target.join(folder).join(format!("{}.parquet", table.name))
}

#[test]
fn every_table_has_a_file_whose_rows_begin_with_the_number_of_the_trace() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    let options = WriterOptions {
        run_id: -16,
        ..WriterOptions::default()
    };
    let mut writer = Writer::create(&target, options).unwrap();
    writer.write(CpuSample::TABLE, samples(70_000, 0)).unwrap();
    writer.write(Mark::TABLE, marks(&["a", "b"])).unwrap();
    writer.write(CpuProcess::TABLE, sums(3)).unwrap();
    writer.finish(manifest("fffffffffffffff0")).unwrap();
    let rows = BTreeMap::from([
        ("cpu_sample", 70_000),
        ("mark", 2),
        ("cpu_process", 3),
        ("extract", 1),
    ]);
    for table in TABLES.iter().chain(DERIVED).chain(ABOUT) {
        let file = file_of(&target, table);
        let declared = table.columns.iter().map(|column| column.name);
        assert!(
            std::iter::once("run_id").chain(declared).eq(columns(&file)),
            "{}",
            table.name
        );
        let batches = read(&file);
        let found: usize = batches.iter().map(RecordBatch::num_rows).sum();
        assert_eq!(
            found,
            rows.get(table.name).copied().unwrap_or_default(),
            "{}",
            table.name
        );
        for batch in batches {
            assert!(
                batch
                    .column(0)
                    .as_primitive::<Int64Type>()
                    .values()
                    .iter()
                    .all(|run| *run == -16)
            );
        }
    }
    let opened = Extract::open(&target).unwrap();
    let names: Vec<&str> = opened.tables().map(|table| table.name.as_str()).collect();
    assert_eq!(
        names,
        ["cpu_process", "cpu_sample", "mark"],
        "files without rows are not opened"
    );
    // Recomputed tables belong to the same trace.
    derive_again(&opened).unwrap();
    assert_eq!(columns(&file_of(&target, DiskIo::TABLE))[0], "run_id");
    for table in DERIVED {
        assert!(file_of(&target, table).is_file(), "{}", table.name);
    }
    let computed = read(&file_of(&target, CpuProcess::TABLE));
    assert!(
        computed
            .iter()
            .all(|batch| batch.column(0).as_primitive::<Int64Type>().value(0) == -16)
    );
}

#[test]
fn files_say_what_the_manifest_says() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    let mut writer = Writer::create(&target, WriterOptions::default()).unwrap();
    let disk = DiskIo {
        kind: "read",
        ..DiskIo::default()
    };
    writer
        .write(DiskIo::TABLE, crate::rows::batch([disk.clone(), disk]))
        .unwrap();
    let mut wanted = manifest("9f2c5b0e41d7a386");
    let topic = |topic: &str, events, hint: Option<&str>| Topic {
        topic: topic.to_owned(),
        recorded: hint.is_none(),
        events,
        hint: hint.map(str::to_owned),
    };
    wanted.topics = vec![
        topic("disk I/O", Some(4), None),
        topic("marks", None, Some("MARK")),
    ];
    wanted.labels = BTreeMap::from(
        [("build", "77"), ("lab", "west")].map(|(a, b)| (a.to_owned(), b.to_owned())),
    );
    writer.finish(wanted).unwrap();
    let [row] = &read(&target.join("extract.parquet"))[..] else {
        panic!("one row")
    };
    let text = |name: &str| {
        let column = row.column_by_name(name).unwrap().as_string::<i32>();
        if column.is_valid(0) {
            column.value(0).to_owned()
        } else {
            "-".to_owned()
        }
    };
    for (name, value) in [
        ("computer", "PC-1"),
        ("source_name", "run.etl"),
        ("source_hash", "9f2c5b0e41d7a386"),
        ("detail", "full"),
        ("imported_from", "-"),
        ("format_version", "2.0"),
        ("etwkit_version", env!("CARGO_PKG_VERSION")),
        ("labels", "build=77;lab=west"),
    ] {
        assert_eq!(text(name), value, "{name}");
    }
    let start = row
        .column_by_name("start_utc")
        .unwrap()
        .as_primitive::<TimestampMicrosecondType>();
    assert_eq!(
        (start.value(0), start.timezone()),
        (1_714_557_600_123_456, Some("UTC"))
    );
    let [rows] = &read(&target.join("topic.parquet"))[..] else {
        panic!("two rows")
    };
    let text = |name: &str, row| {
        rows.column_by_name(name)
            .unwrap()
            .as_string::<i32>()
            .value(row)
            .to_owned()
    };
    assert_eq!(
        [text("topic", 0), text("topic", 1), text("recorded_by", 1)],
        ["disk I/O", "marks", "MARK"]
    );
    let tables = text("tables", 0);
    assert!(
        tables.split(';').any(|table| table == "disk_io"),
        "{tables}"
    );
    assert_eq!(
        rows.column_by_name("rows")
            .unwrap()
            .as_primitive::<Int64Type>()
            .values()[..],
        [2, 0]
    );
    let events = rows
        .column_by_name("events")
        .unwrap()
        .as_primitive::<Int64Type>();
    assert_eq!((events.value(0), events.is_valid(1)), (4, false));
}

/// FNV-1a, implemented independently.
pub(crate) fn fnv(bytes: &[u8]) -> i64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(1_099_511_628_211);
    }
    hash.cast_signed()
}

/// Names and numbers of the code of an extract.
struct Code {
    /// Texts of methods, and their hashes.
    methods: Vec<(String, Option<i64>)>,
    /// Texts of stacks, from the outermost frame on, and their hashes.
    stacks: Vec<(String, Option<i64>)>,
    /// Methods of frames, and stacks of samples.
    used: (BTreeSet<usize>, BTreeSet<usize>),
}

fn code(target: &Path) -> Code {
    let table = |name: &str| read(&target.join(format!("{name}.parquet")));
    let ints = |name: &str, column: &str| -> Vec<Option<i64>> {
        let mut all = Vec::new();
        for batch in table(name) {
            let values = batch.column_by_name(column).unwrap();
            match values.as_primitive_opt::<Int32Type>() {
                Some(small) => all.extend(small.iter().map(|value| value.map(i64::from))),
                None => all.extend(values.as_primitive::<Int64Type>()),
            }
        }
        all
    };
    let texts = |name: &str| -> Vec<String> {
        let batches = table(name);
        let columns = batches
            .iter()
            .map(|batch| batch.column_by_name("name").unwrap().as_string::<i32>());
        columns
            .flat_map(|column| (0..column.len()).map(|row| column.value(row).to_owned()))
            .collect()
    };
    let modules = texts("module");
    let module = |id: Option<i64>| {
        id.map_or(String::new(), |id| {
            modules[id as usize].to_ascii_lowercase()
        })
    };
    let methods: Vec<String> = texts("method")
        .into_iter()
        .zip(ints("method", "module_id"))
        .map(|(name, id)| format!("{}!{name}", module(id)))
        .collect();
    let frames: Vec<String> = ints("frame", "method_id")
        .into_iter()
        .zip(
            ints("frame", "module_id")
                .into_iter()
                .zip(ints("frame", "rva")),
        )
        .map(|(method, (of, rva))| match (method, of.zip(rva)) {
            (Some(method), _) => methods[method as usize].clone(),
            (None, Some((of, rva))) => format!("{}!+{rva:#x}", module(Some(of))),
            (None, None) => "?".to_owned(),
        })
        .collect();
    let mut stacks: Vec<String> = Vec::new();
    for (parent, frame) in ints("stack", "parent_id")
        .into_iter()
        .zip(ints("stack", "frame_id"))
    {
        let caller = parent.map_or(String::new(), |parent| stacks[parent as usize].clone());
        stacks.push(format!("{caller}\n{}", frames[frame.unwrap() as usize]));
    }
    let of_stacks: HashMap<i64, i64> = ints("derived/stack_hash", "stack_id")
        .into_iter()
        .zip(ints("derived/stack_hash", "stack_hash"))
        .filter_map(|(id, hash)| id.zip(hash))
        .collect();
    let hash_of = |id: usize| of_stacks.get(&(id as i64)).copied();
    let used = |table: &str, column: &str| {
        ints(table, column)
            .into_iter()
            .flatten()
            .map(|id| id as usize)
            .collect()
    };
    Code {
        methods: methods
            .into_iter()
            .zip(ints("method", "method_hash"))
            .collect(),
        stacks: stacks
            .into_iter()
            .enumerate()
            .map(|(id, text)| (text, hash_of(id)))
            .collect(),
        used: (
            used("frame", "method_id"),
            used("derived/cpu_stack", "stack_id"),
        ),
    }
}

/// Extracts a trace of a machine with the same work and other random timing.
fn made(folder: &Folder, seed: u64, detail: Detail) -> PathBuf {
    let options = etwkit_synth::Options {
        seed,
        ..Default::default()
    };
    let scenario = etwkit_synth::find("git-bash").unwrap();
    let (trace, _) = scenario.write(Cursor::new(Vec::new()), &options).unwrap();
    let trace = folder.write(&format!("{seed}.etl"), trace.get_ref());
    let target = folder.path(&format!("{seed}.etwx"));
    // A summary has stack hashes only on request.
    let left_out = Names::new();
    let options = ConvertOptions {
        detail,
        left_out: Some(&left_out),
        ..ConvertOptions::default()
    };
    convert(&open_one(&trace).unwrap(), &target, options, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    target
}

#[test]
fn equal_code_has_equal_numbers_in_every_trace() {
    let folder = Folder::new();
    let traces = [
        made(&folder, 1, Detail::Full),
        made(&folder, 2, Detail::Full),
        made(&folder, 3, Detail::Summary),
    ];
    let all: Vec<Code> = traces.iter().map(|target| code(target)).collect();
    // The example of the page, computed by hand.
    for code in &all {
        for (id, (text, hash)) in code.methods.iter().enumerate() {
            assert_eq!(
                *hash,
                code.used.0.contains(&id).then(|| fnv(text.as_bytes())),
                "{text}"
            );
        }
        for (id, (text, hash)) in code.stacks.iter().enumerate() {
            assert!(hash.is_some() || !code.used.1.contains(&id), "{text}");
            let Some(hash) = hash else { continue };
            let of_stack = |caller: i64, frame: &str| {
                fnv(&[caller.to_le_bytes(), fnv(frame.as_bytes()).to_le_bytes()].concat())
            };
            assert_eq!(*hash, text.split('\n').skip(1).fold(0, of_stack), "{text}");
        }
        assert!(!code.used.1.is_empty() && code.stacks.iter().any(|(_, hash)| hash.is_none()));
    }
    // Other traces, with other stack IDs, and many common stacks.
    let by_hash = |code: &Code| -> HashMap<i64, String> {
        code.stacks
            .iter()
            .filter_map(|(text, hash)| Some(((*hash)?, text.clone())))
            .collect()
    };
    let [one, two] = [by_hash(&all[0]), by_hash(&all[1])];
    let common = one
        .iter()
        .filter(|(hash, text)| two.get(hash) == Some(text))
        .count();
    assert!(common * 2 > one.len(), "{common} of {}", one.len());
    let hash = |target: &Path| {
        Extract::open(target)
            .unwrap()
            .manifest()
            .source
            .hash
            .clone()
    };
    assert_ne!(hash(&traces[0]), hash(&traces[1]));
}
