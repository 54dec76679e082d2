//! Stack tags and drivers of whole traces.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use etwkit_extract::manifest::Detail;
use etwkit_extract::{
    ConvertOptions, Extract, convert, convert_with_tags, derive_with_tags, is_current,
};
use etwkit_testkit::trace_files;
use etwkit_trace::drivers;
use etwkit_trace::tags::TagSet;

use crate::support::{Folder, open_one};

/// Kernel modules, by file extension.
const DRIVERS: &str =
    r#"<Tag Name=""><Tag Name="Driver"><Entrypoint Module="*.SYS" Method="*"/></Tag></Tag>"#;

fn go_on() -> impl FnMut(etwkit_trace::import::Progress) -> ControlFlow<()> {
    |_| ControlFlow::Continue(())
}

fn extracted(trace: &Path, target: &Path, sets: &[TagSet], detail: Detail) -> Extract {
    let options = ConvertOptions {
        detail,
        ..ConvertOptions::default()
    };
    let input = open_one(trace).unwrap();
    convert_with_tags(&input, target, options, sets, &mut go_on()).unwrap();
    Extract::open(target).unwrap()
}

fn batches(extract: &Extract, table: &str) -> Vec<RecordBatch> {
    let Some(file) = extract.table(table) else {
        return Vec::new();
    };
    file.batches(None)
        .unwrap()
        .map(|batch| batch.unwrap())
        .collect()
}

/// A column of a table: numbers, including missing ones.
fn ints(extract: &Extract, table: &str, column: &str) -> Vec<Option<i64>> {
    let mut values = Vec::new();
    for batch in batches(extract, table) {
        let array = batch.column_by_name(column).unwrap();
        match array.as_primitive_opt::<Int32Type>() {
            Some(small) => values.extend(small.iter().map(|value| value.map(i64::from))),
            None => values.extend(array.as_primitive::<Int64Type>()),
        }
    }
    values
}

fn texts(extract: &Extract, table: &str, column: &str) -> Vec<String> {
    let mut values = Vec::new();
    for batch in batches(extract, table) {
        let array = batch
            .column_by_name(column)
            .unwrap()
            .as_string::<i32>()
            .clone();
        values.extend((0..array.len()).map(|row| array.value(row).to_owned()));
    }
    values
}

/// Columns of `cpu_process` that equal the sums over the tags of a process.
const ADDITIVE: [&str; 5] = [
    "samples",
    "cpu_ns",
    "wait_sum_ns",
    "ready_sum_ns",
    "switches",
];

type Sums = BTreeMap<Option<i64>, [i64; ADDITIVE.len()]>;

/// Sums of a table by process; zero rows are left out, since a process need not have tags.
fn sums(extract: &Extract, table: &str, is_wanted: impl Fn(usize) -> bool) -> Sums {
    let mut sums = Sums::new();
    let columns = ADDITIVE.map(|column| ints(extract, table, column));
    for (row, process) in ints(extract, table, "process_key")
        .into_iter()
        .enumerate()
        .filter(|(row, _)| is_wanted(*row))
    {
        let sum = sums.entry(process).or_default();
        for (sum, column) in sum.iter_mut().zip(&columns) {
            *sum += column[row].unwrap_or_default();
        }
    }
    sums.retain(|_, sum| sum.iter().any(|value| *value != 0));
    sums
}

/// Sums of one set of tags; only of `tag`, if it is given.
fn tagged(extract: &Extract, set: &str, tag: Option<&str>) -> Sums {
    let (sets, tags) = (
        texts(extract, "cpu_tag", "tag_set"),
        texts(extract, "cpu_tag", "tag"),
    );
    sums(extract, "cpu_tag", |row| {
        sets[row] == set && tag.is_none_or(|tag| tags[row] == tag)
    })
}

#[test]
fn the_tags_of_every_process_add_up_to_it() {
    let (work, mut with_tags, mut names) = (Folder::new(), 0, BTreeSet::new());
    for trace in trace_files() {
        let target = work.path(&format!(
            "{}.etwx",
            trace.file_stem().unwrap().to_string_lossy()
        ));
        let sets = [
            TagSet::built_in(),
            TagSet::read("own", &[("own", DRIVERS.as_bytes())]).unwrap(),
        ];
        let extract = extracted(&trace, &target, &sets, Detail::Full);
        let processes = sums(&extract, "cpu_process", |_| true);
        assert_eq!(
            tagged(&extract, "default", None),
            processes,
            "{}",
            trace.display()
        );
        assert_eq!(
            tagged(&extract, "own", Some("Driver")),
            plainly(&extract),
            "{}",
            trace.display()
        );
        with_tags += usize::from(!processes.is_empty());
        names.extend(texts(&extract, "cpu_tag", "tag"));
        check_bounds(&extract, &trace);
        check_drivers(&extract, &trace);
        std::fs::remove_dir_all(&target).unwrap();
    }
    let is_small = trace_files().is_empty();
    assert!(
        is_small || with_tags > 20 && names.contains(".NET\\JIT") && names.len() > 10,
        "{with_tags} {names:?}"
    );
}

/// The sums of samples and slices with a driver in their stack, computed in the simplest way.
fn plainly(extract: &Extract) -> Sums {
    let is_driver: Vec<bool> = texts(extract, "module", "name")
        .iter()
        .map(|name| name.to_lowercase().ends_with(".sys"))
        .collect();
    let at = |flags: &[bool], id: Option<i64>| id.is_some_and(|id| flags[id as usize]);
    let frames: Vec<bool> = ints(extract, "frame", "module_id")
        .into_iter()
        .map(|module| at(&is_driver, module))
        .collect();
    let mut stacks: Vec<bool> = Vec::new();
    for (parent, frame) in ints(extract, "stack", "parent_id")
        .into_iter()
        .zip(ints(extract, "stack", "frame_id"))
    {
        stacks.push(at(&frames, frame) || at(&stacks, parent));
    }
    let idle = ints(extract, "process", "pid")
        .iter()
        .position(|pid| *pid == Some(0))
        .map(|row| row as i64);
    let mut sums = Sums::new();
    let is_idle: Vec<bool> = batches(extract, "cpu_sample")
        .iter()
        .flat_map(|batch| {
            batch
                .column_by_name("is_idle")
                .unwrap()
                .as_boolean()
                .iter()
                .flatten()
                .collect::<Vec<_>>()
        })
        .collect();
    let of_samples =
        ["process_key", "stack_id", "weight_ns"].map(|column| ints(extract, "cpu_sample", column));
    for (row, is_idle) in is_idle.into_iter().enumerate() {
        let [process, stack, weight] = of_samples.each_ref().map(|column| column[row]);
        if !is_idle && at(&stacks, stack) {
            let sum = sums.entry(process).or_default();
            sum[0] += 1;
            sum[1] += weight.unwrap();
        }
    }
    let of_slices = ["process_key", "stack_id", "wait_ns", "ready_ns", "in_ns"];
    let of_slices = of_slices.map(|column| ints(extract, "context_switch", column));
    for row in 0..of_slices[0].len() {
        let [process, stack, wait, ready, into] = of_slices.each_ref().map(|column| column[row]);
        if process.is_some() && process == idle || !at(&stacks, stack) {
            continue;
        }
        let sum = sums.entry(process).or_default();
        sum[2] += wait.unwrap_or_default();
        sum[3] += ready.unwrap_or_default();
        sum[4] += i64::from(into.is_some());
    }
    sums.retain(|_, sum| sum.iter().any(|value| *value != 0));
    sums
}

/// A union is at most as long as the sum, and a tag is within the lifetime of its process.
fn check_bounds(extract: &Extract, trace: &Path) {
    let column = |table: &str, column: &str| ints(extract, table, column);
    let times = |table: &str| {
        column(table, "first_ns")
            .into_iter()
            .zip(column(table, "last_ns"))
    };
    let of_process: BTreeMap<Option<i64>, _> = column("cpu_process", "process_key")
        .into_iter()
        .zip(times("cpu_process"))
        .collect();
    let unions = [("wait_ns", "wait_sum_ns"), ("ready_ns", "ready_sum_ns")];
    for (union, sum) in unions {
        for (union, sum) in column("cpu_tag", union)
            .into_iter()
            .zip(column("cpu_tag", sum))
        {
            assert!(
                union <= sum && union.is_some() == sum.is_some(),
                "{}",
                trace.display()
            );
        }
    }
    for (process, (first, last)) in column("cpu_tag", "process_key")
        .into_iter()
        .zip(times("cpu_tag"))
    {
        let of_process = of_process[&process];
        assert!(
            first <= last && first >= of_process.0 && last <= of_process.1,
            "{} {process:?}",
            trace.display()
        );
    }
}

fn check_drivers(extract: &Extract, trace: &Path) {
    let modules = texts(extract, "module", "name").into_iter().enumerate();
    let wanted: Vec<_> = modules
        .filter_map(|(id, name)| {
            drivers::category(&name).map(|driver| (Some(id as i64), driver.name.to_owned()))
        })
        .collect();
    let found: Vec<_> = ints(extract, "driver_category", "module_id")
        .into_iter()
        .zip(texts(extract, "driver_category", "driver"))
        .collect();
    assert_eq!(found, wanted, "{}", trace.display());
}

fn fixture(name: &str) -> PathBuf {
    etwkit_testkit::files::made().join(name)
}

#[test]
fn a_summary_has_the_same_tags() {
    let work = Folder::new();
    let extract = |detail, name: &str| {
        extracted(
            &fixture("sched-5.etl"),
            &work.path(name),
            &[TagSet::built_in()],
            detail,
        )
    };
    let (full, summary) = (
        extract(Detail::Full, "full.etwx"),
        extract(Detail::Summary, "summary.etwx"),
    );
    assert!(!batches(&full, "cpu_tag").is_empty());
    for table in ["cpu_tag", "driver_category"] {
        assert_eq!(batches(&full, table), batches(&summary, table), "{table}");
    }
}

#[test]
fn other_rules_make_other_tags_without_reading_the_trace_again() {
    let work = Folder::new();
    let target = work.path("run.etwx");
    convert(
        &open_one(&fixture("sched-5.etl")).unwrap(),
        &target,
        ConvertOptions::default(),
        &mut go_on(),
    )
    .unwrap();
    let before = Extract::open(&target).unwrap();
    assert!(is_current(before.derived().unwrap()));
    let own = TagSet::read("own", &[("own", DRIVERS.as_bytes())]).unwrap();
    derive_with_tags(&before, &[own]).unwrap();
    let after = Extract::open(&target).unwrap();
    let sets: BTreeSet<String> = texts(&after, "cpu_tag", "tag_set").into_iter().collect();
    assert_eq!(sets, BTreeSet::from(["own".to_owned()]));
    assert_eq!(
        sums(&after, "cpu_process", |_| true),
        sums(&before, "cpu_process", |_| true)
    );
    // The user's tags are kept when the built-in tags change.
    let mut derived = after.derived().unwrap().clone();
    assert!(is_current(&derived) && derived.depends_on["stack_tags"].starts_with("own="));
    derived
        .depends_on
        .insert("stack_tags".to_owned(), "default=0".to_owned());
    assert!(!is_current(&derived));
    let mut older = before.derived().unwrap().clone();
    older.derived_version -= 1;
    assert!(!is_current(&older));
}
