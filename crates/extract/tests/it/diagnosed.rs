//! A diagnosis becomes a part of an extract, and goes where its names or rows change.

use std::fs;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use etwkit_extract::manifest::Detail;
use etwkit_extract::{Diagnosed, Diagnosing, Extract};
use etwkit_trace::table::{CpuSample, Feature, Finding, Frame, Row, RuleOutcome, Stack};
use etwkit_trace::tags::TagSet;

use crate::naming::{all, extract, load_symbols};
use crate::rows::{batch, marks};
use crate::support::Folder;

/// The stack that no sample has.
const STACK: i32 = 9;

fn diagnosis() -> Diagnosed {
    let finding = Finding {
        number: 1,
        rule: "spin".to_owned(),
        stack_id: Some(STACK),
        ..Finding::default()
    };
    let outcome = RuleOutcome {
        rule: "spin".to_owned(),
        state: "found".to_owned(),
        findings: 1,
        ..RuleOutcome::default()
    };
    let feature = Feature {
        kind: "method".to_owned(),
        ..Feature::default()
    };
    Diagnosed {
        rows: vec![
            (Feature::TABLE, batch([feature])),
            (Finding::TABLE, batch([finding])),
            (RuleOutcome::TABLE, batch([outcome])),
        ],
        rules: Some("0123456789abcdef".to_owned()),
        features: Some("fedcba9876543210".to_owned()),
    }
}

/// A diagnosed extract with that detail.
fn diagnosed(folder: &Folder, detail: Detail) -> std::path::PathBuf {
    let target = extract(folder, Detail::Full);
    let diagnosing = Diagnosing::begin(&target).unwrap();
    fs::rename(&target, diagnosing.folder()).unwrap();
    let done = diagnosing.finish((detail, &[TagSet::built_in()]), diagnosis());
    assert_eq!(done.unwrap().path, target);
    target
}

fn whole(batch: &RecordBatch, column: &str, row: usize) -> i32 {
    let column = batch.column_by_name(column).unwrap();
    column.as_primitive::<Int32Type>().value(row)
}

/// Offsets of the code of a stack, innermost first.
fn places(target: &Path, stack: i32) -> Vec<i64> {
    let (stacks, frames) = (all(target, Stack::TABLE), all(target, Frame::TABLE));
    let offsets = frames.column_by_name("rva").unwrap();
    let parents = stacks.column_by_name("parent_id").unwrap();
    let mut places = Vec::new();
    let mut next = Some(stack);
    while let Some(stack) = next {
        let row = usize::try_from(stack).unwrap();
        let frame = usize::try_from(whole(&stacks, "frame_id", row)).unwrap();
        places.push(offsets.as_primitive::<Int64Type>().value(frame));
        let is_called = arrow_array::Array::is_valid(parents, row);
        next = is_called.then(|| whole(&stacks, "parent_id", row));
    }
    places
}

#[test]
fn a_diagnosis_is_in_full_extracts_and_in_summaries_with_its_stacks() {
    for detail in [Detail::Full, Detail::Summary] {
        let folder = Folder::new();
        let target = diagnosed(&folder, detail);
        let opened = Extract::open(&target).unwrap();
        assert_eq!(
            (opened.manifest().detail, opened.manifest().rules.as_deref()),
            (detail, Some("0123456789abcdef"))
        );
        let version = opened.manifest().features.as_deref();
        assert_eq!(version, Some("fedcba9876543210"));
        assert_eq!(all(&target, Feature::TABLE).num_rows(), 1);
        let is_full = detail == Detail::Full;
        assert_eq!(opened.table(CpuSample::TABLE.name).is_some(), is_full);
        assert!(opened.derived().is_some());
        let findings = all(&target, Finding::TABLE);
        let stack = whole(&findings, "stack_id", 0);
        assert_eq!(places(&target, stack), [0x1005, 0x1020], "{detail:?}");
        assert_eq!(all(&target, RuleOutcome::TABLE).num_rows(), 1);
        assert_eq!(fs::read(target.join("symbols/other.pdb")).unwrap(), b"kept");
        // Nothing is left of the full extract.
        let names = fs::read_dir(folder.path("")).unwrap();
        assert_eq!(names.count(), 1);
    }
}

#[test]
fn a_diagnosis_that_is_not_finished_leaves_the_target_as_it_was() {
    let folder = Folder::new();
    let target = extract(&folder, Detail::Full);
    let before = fs::read(target.join("manifest.json")).unwrap();
    let diagnosing = Diagnosing::begin(&target).unwrap();
    // There is no extract to diagnose, as after a conversion that failed.
    let error = diagnosing.finish((Detail::Full, &[]), diagnosis());
    assert!(error.is_err());
    assert_eq!(fs::read(target.join("manifest.json")).unwrap(), before);
    let other = folder.write("other.etwx", b"a file of others");
    assert!(Diagnosing::begin(&other).is_err());
}

#[test]
fn new_names_drop_a_diagnosis_that_was_made_without_them() {
    let folder = Folder::new();
    let target = diagnosed(&folder, Detail::Full);
    load_symbols(&folder, &target);
    let opened = Extract::open(&target).unwrap();
    let manifest = opened.manifest();
    assert_eq!((&manifest.rules, &manifest.features), (&None, &None));
    for table in [Finding::TABLE, RuleOutcome::TABLE, Feature::TABLE] {
        assert!(opened.table(table.name).is_none(), "{}", table.name);
    }
    assert_eq!(
        opened.table("mark").unwrap().rows,
        marks(&["here"]).num_rows() as u64
    );
}
