//! Extracts that leave out some tables.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use etwkit_extract::left_out::{Names, left_out};
use etwkit_extract::manifest::Detail;
use etwkit_extract::{
    ConvertError, ConvertOptions, Extract, NameFrom, convert, derive_again, name_again,
};
use etwkit_symbols::{Options, SearchPath};
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::support::{Folder, open_one};

fn trace(folder: &Folder) -> PathBuf {
    let scenario = etwkit_synth::find("git-bash").unwrap();
    let (trace, _) = scenario
        .write(Cursor::new(Vec::new()), &etwkit_synth::Options::default())
        .unwrap();
    folder.write("run.etl", trace.get_ref())
}

fn made(trace: &Path, target: &Path, detail: Detail, left_out: Option<&Names>) -> Extract {
    let options = ConvertOptions {
        detail,
        left_out,
        ..ConvertOptions::default()
    };
    convert(&open_one(trace).unwrap(), target, options, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    Extract::open(target).unwrap()
}

/// Row counts of all non-empty tables.
fn rows(extract: &Extract) -> BTreeMap<String, u64> {
    extract
        .tables()
        .map(|table| (table.name.clone(), table.rows))
        .collect()
}

#[test]
fn tables_that_are_left_out_have_no_rows_and_the_others_are_the_same() {
    let folder = Folder::new();
    let trace = trace(&folder);
    let whole = made(&trace, &folder.path("whole.etwx"), Detail::Full, None);
    assert!(whole.manifest().left_out.is_empty() && whole.manifest().has_all_rows());
    let out = left_out(Detail::Full, |table| {
        !["context_switch", "cpu_method", "stack_hash"].contains(&table)
    });
    let target = folder.path("part.etwx");
    let part = made(&trace, &target, Detail::Full, Some(&out));
    let said: Vec<&String> = part.manifest().left_out.iter().collect();
    assert_eq!(
        said,
        ["context_switch", "cpu_method"],
        "numbers of stacks are always left out"
    );
    let mut expected = rows(&whole);
    // Tables about the extract count the tables that exist.
    for table in ["context_switch", "cpu_method"] {
        assert!(expected.remove(table).unwrap() > 0, "{table}");
    }
    assert_eq!(rows(&part), expected, "sums of what is left out are kept");
    // Patterns over many extracts still find a file.
    for file in ["context_switch.parquet", "derived/cpu_method.parquet"] {
        let file =
            SerializedFileReader::new(std::fs::File::open(target.join(file)).unwrap()).unwrap();
        assert_eq!(file.metadata().file_metadata().num_rows(), 0);
    }
    // Sums by other names would have no input.
    assert!(!part.manifest().has_all_rows());
    let search = SearchPath::default();
    let from = NameFrom {
        path: search,
        options: Options::default(),
        on_symbols: &|_, _| {},
    };
    let again = name_again(&part, &from).unwrap_err();
    assert!(
        matches!(again, ConvertError::WithoutRows { .. }) && again.hint().is_some(),
        "{again}"
    );
}

#[test]
fn sums_that_are_left_out_stay_so_when_they_are_computed_again() {
    let folder = Folder::new();
    let out = left_out(Detail::Full, |table| {
        !["cpu_method", "stack_hash"].contains(&table)
    });
    let target = folder.path("part.etwx");
    let part = made(&trace(&folder), &target, Detail::Full, Some(&out));
    assert!(part.manifest().has_all_rows());
    let before = rows(&part);
    assert!(!before.contains_key("stack_hash") && before.contains_key("cpu_tag"));
    derive_again(&part).unwrap();
    assert_eq!(rows(&Extract::open(&target).unwrap()), before);
}

#[test]
fn a_summary_has_the_numbers_of_its_stacks_if_they_are_asked_for() {
    let folder = Folder::new();
    let trace = trace(&folder);
    let usual = made(&trace, &folder.path("usual.etwx"), Detail::Summary, None);
    let all = made(
        &trace,
        &folder.path("all.etwx"),
        Detail::Summary,
        Some(&Names::new()),
    );
    let (usual, mut all) = (rows(&usual), rows(&all));
    let stacks = all.get("cpu_stack").copied().unwrap();
    assert!(
        all.remove("stack_hash")
            .is_some_and(|rows| rows > 0 && rows <= stacks * 2),
        "{stacks}"
    );
    assert_eq!(usual, all);
    // No table contains stacks, so the stack tables are empty.
    let out = left_out(Detail::Summary, |table| table == "volume");
    let small = made(
        &trace,
        &folder.path("small.etwx"),
        Detail::Summary,
        Some(&out),
    );
    let small = rows(&small);
    assert!(
        !small.contains_key("stack") && !small.contains_key("cpu_stack"),
        "{small:?}"
    );
    assert!(
        small.contains_key("process") && small.contains_key("thread"),
        "{small:?}"
    );
}

#[test]
fn an_extract_that_does_without_tables_is_no_other_one() {
    let folder = Folder::new();
    let (trace, target) = (trace(&folder), folder.path("part.etwx"));
    let out = left_out(Detail::Full, |table| table != "syscall");
    let part = made(&trace, &target, Detail::Full, Some(&out));
    assert!(part.table("stack_hash").is_some());
    derive_again(&part).unwrap();
    assert!(
        Extract::open(&target)
            .unwrap()
            .table("stack_hash")
            .is_some(),
        "they stay if they are there"
    );
    let hash = &part.manifest().source.hash;
    let is_there = |out: &Names| {
        Extract::same_source_without(&target, hash, Detail::Full, None, out).is_some()
    };
    assert!(is_there(&out) && !is_there(&Names::new()));
    assert!(
        Extract::same_source(&target, hash, Detail::Full).is_none(),
        "questions want all"
    );
    let command = part.manifest().command(&target);
    assert!(
        command.starts_with("etwkit extract --out ") && command.ends_with(" run.etl"),
        "{command}"
    );
}
