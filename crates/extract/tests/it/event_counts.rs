//! Counts of events over time compared with the counts of `info`, on every available trace.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use etwkit_etl::Session;
use etwkit_testkit::{samples, trace_files};
use etwkit_trace::import::{Options, import};
use etwkit_trace::report::counts::{CountReport, Counting};
use etwkit_trace::report::events::EventFilter;
use etwkit_trace::table::{EventCount, Row, Table};

/// Identity of a kind: kernel group or GUID, ID, version, opcode.
type Kind = (String, i32, i32, i32);

/// The sums of rows of some kinds: events by kind, bytes, and stacks.
fn sums(
    batches: &[(&'static Table, RecordBatch)],
    has_kind: impl Fn(&Kind) -> bool,
) -> (BTreeMap<Kind, i64>, i64, i64) {
    let (mut kinds, mut bytes, mut stacks) = (BTreeMap::new(), 0, 0);
    for (_, batch) in batches
        .iter()
        .filter(|(table, _)| table.name == EventCount::TABLE.name)
    {
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let small = |name: &str| column(name).as_primitive::<Int32Type>().clone();
        let long = |name: &str| column(name).as_primitive::<Int64Type>().clone();
        let (group, guid) = (
            small("kernel_group"),
            column("provider_guid").as_string::<i32>().clone(),
        );
        let (id, opcode, version) = (small("event_id"), small("opcode"), small("version"));
        let (events, size, with_stack) = (long("events"), long("record_bytes"), long("stacks"));
        for row in 0..batch.num_rows() {
            let of = if guid.is_null(row) {
                group.value(row).to_string()
            } else {
                guid.value(row).to_owned()
            };
            let kind = (of, id.value(row), version.value(row), opcode.value(row));
            if !has_kind(&kind) {
                continue;
            }
            *kinds.entry(kind).or_default() += events.value(row);
            assert!(with_stack.value(row) <= events.value(row));
            bytes += size.value(row);
            stacks += with_stack.value(row);
        }
    }
    (kinds, bytes, stacks)
}

/// The counts of `info`.
fn counts_of_info(session: &Session) -> BTreeMap<Kind, i64> {
    let report = CountReport::read(session, &Counting::default(), &EventFilter::default()).unwrap();
    let kernel = report.counts.kernel.iter().map(|row| {
        let kind = (
            row.group.to_string(),
            0,
            i32::from(row.version),
            i32::from(row.opcode),
        );
        (kind, row.events as i64)
    });
    let provider = report.counts.provider.iter().map(|row| {
        let numbers = (
            i32::from(row.id),
            i32::from(row.version),
            i32::from(row.opcode),
        );
        (
            (row.provider.clone(), numbers.0, numbers.1, numbers.2),
            row.events as i64,
        )
    });
    kernel.chain(provider).collect()
}

#[test]
fn counts_by_second_add_up_to_those_of_info() {
    let mut all: Vec<Vec<PathBuf>> = trace_files().into_iter().map(|file| vec![file]).collect();
    all.extend(
        samples()
            .into_iter()
            .map(|sample| sample.files)
            .filter(|files| files.len() > 1),
    );
    all.extend(etwkit_testkit::traces().map(|folder| vec![folder.join("TraceLoggingTester.7z")]));
    assert!(all.len() > 30 || all.is_empty(), "{} traces", all.len());
    for files in all {
        let input = etwkit_extract::open(&files, &etwkit_extract::Options::default()).unwrap();
        let session = input.session();
        let mut rows: Vec<(&'static Table, RecordBatch)> = Vec::new();
        let go_on = &mut |_| ControlFlow::Continue(());
        let imported = import(session, &Options::default(), &mut rows, go_on).unwrap();
        let (kinds, bytes, _) = sums(&rows, |_| true);
        assert_eq!(kinds, counts_of_info(session), "{files:?}");
        assert_eq!(
            kinds.values().sum::<i64>(),
            imported.trace.events,
            "{files:?}"
        );
        assert_eq!(bytes, imported.trace.decompressed_bytes, "{files:?}");
    }
}

/// Samples with stacks, according to the reference of the traces that have one.
#[test]
fn samples_with_stacks_are_those_of_the_truth() {
    let mut compared = 0;
    for sample in samples() {
        let Some(expected) = sample.truth["cpu"]["stacks"]["samples_with_any_stack"].as_i64()
        else {
            continue;
        };
        let input =
            etwkit_extract::open(&sample.files, &etwkit_extract::Options::default()).unwrap();
        let mut rows: Vec<(&'static Table, RecordBatch)> = Vec::new();
        import(input.session(), &Options::default(), &mut rows, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
        let is_sample = |kind: &Kind| kind.0 == "15" && kind.3 == 46;
        assert_eq!(sums(&rows, is_sample).2, expected, "{}", sample.name);
        compared += usize::from(expected > 0);
    }
    assert!(compared > 1 || samples().is_empty());
}

/// The stretches of a tag contain all of its samples, and do not overlap.
#[test]
fn stretches_of_tags_add_up_to_the_tags() {
    let Some(folder) = etwkit_testkit::traces() else {
        return;
    };
    let work = etwkit_testkit::files::Folder::new();
    let file = folder.join("net.4.5.2.x64.etl");
    let input = etwkit_extract::open(&[file], &etwkit_extract::Options::default()).unwrap();
    let (target, go_on) = (work.path("net.etwx"), &mut |_| ControlFlow::Continue(()));
    etwkit_extract::convert(
        &input,
        &target,
        etwkit_extract::ConvertOptions::default(),
        go_on,
    )
    .unwrap();
    let extract = etwkit_extract::Extract::open(&target).unwrap();
    // Samples and CPU by process and tag.
    let sums = |table: &str| {
        let mut sums: BTreeMap<(i32, String), (i64, i64)> = BTreeMap::new();
        let file = extract.tables().find(|file| file.name == table).unwrap();
        for batch in file.batches(None).unwrap() {
            let batch = batch.unwrap();
            let long = |name: &str| {
                batch
                    .column_by_name(name)
                    .unwrap()
                    .as_primitive::<Int64Type>()
                    .clone()
            };
            let process = batch
                .column_by_name("process_key")
                .unwrap()
                .as_primitive::<Int32Type>();
            let tag = batch.column_by_name("tag").unwrap().as_string::<i32>();
            let (samples, cpu) = (long("samples"), long("cpu_ns"));
            for row in (0..batch.num_rows()).filter(|row| samples.value(*row) > 0) {
                let sum = sums
                    .entry((process.value(row), tag.value(row).to_owned()))
                    .or_default();
                *sum = (sum.0 + samples.value(row), sum.1 + cpu.value(row));
            }
        }
        sums
    };
    let mut of_tags = sums("cpu_tag");
    of_tags.retain(|(_, tag), _| tag != "Other");
    assert_eq!(sums("tag_interval"), of_tags);
    assert!(of_tags.len() > 10, "{}", of_tags.len());
}
