//! Lakes of small extracts: what is there after each step, and after a step that did not take place.

#[cfg(feature = "object-store")]
mod azure;
#[cfg(feature = "object-store")]
mod bucket;
mod crash;
mod hostile;
mod log;
#[cfg(feature = "object-store")]
mod remote;
mod support;
mod writers;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use etwkit_extract::lake::{Error, Lake, Snapshot};
use etwkit_extract::manifest::Detail;

use support::{Farm, answering, diagnosed, marks, one};

/// Everything is old enough.
const NOW: Duration = Duration::ZERO;

/// A time that nothing in a test is old enough for.
const LONG: Duration = Duration::from_secs(3600);

#[test]
fn extracts_are_added_once() {
    let farm = Farm::new();
    let first = farm.lake.add(&[one(&farm, 1), one(&farm, 2)]).unwrap();
    assert_eq!((first.new.len(), first.known.len()), (2, 0));
    let again = farm.lake.add(&[one(&farm, 2), one(&farm, 3)]).unwrap();
    assert_eq!(
        (again.new, again.known),
        (vec!["3".to_owned()], vec!["2".to_owned()])
    );
    let checked = farm.lake.check().unwrap();
    assert_eq!(checked.problems, []);
    assert_eq!((checked.runs, checked.dead_rows), (3, 0));
    let expected = BTreeMap::from([(1, 2), (2, 3), (3, 4)]);
    assert_eq!(marks(&farm), expected);
    // One batch is one file of each table.
    assert_eq!(
        Snapshot::open(farm.path())
            .unwrap()
            .files("mark")
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn a_full_extract_replaces_a_summary_and_not_the_other_way() {
    let farm = Farm::new();
    let summary = farm.extract("s", 7, Detail::Summary, &["a"]);
    let full = farm.extract("f", 7, Detail::Full, &["a", "b"]);
    farm.lake.add(std::slice::from_ref(&summary)).unwrap();
    let replaced = farm.lake.add(std::slice::from_ref(&full)).unwrap().replaced;
    assert_eq!(replaced, ["f"]);
    assert_eq!(farm.lake.add(&[summary]).unwrap().known, ["s"]);
    let runs = farm.lake.runs().unwrap();
    assert_eq!((runs.len(), runs[0].name()), (1, "f"));
    let checked = farm.lake.check().unwrap();
    // The rows of the summary are still in a file, and count no more.
    assert_eq!((checked.problems, checked.dead_rows), (Vec::new(), 2));
    assert_eq!(marks(&farm), BTreeMap::from([(7, 2)]));
}

#[test]
fn a_diagnosis_replaces_a_run_and_is_not_lost_to_an_extract_without_one() {
    let farm = Farm::new();
    let add = |extract: (String, _)| farm.lake.add(&[extract]).unwrap();
    assert_eq!(add(one(&farm, 1)).new, ["1"]);
    assert_eq!(add(diagnosed(one(&farm, 1), "a")).replaced, ["1"]);
    assert_eq!(add(diagnosed(one(&farm, 1), "a")).known, ["1"]);
    assert_eq!(add(one(&farm, 1)).known, ["1"]);
    // Other rules find other things.
    assert_eq!(add(diagnosed(one(&farm, 1), "b")).replaced, ["1"]);
    let runs = farm.lake.runs().unwrap();
    assert_eq!(runs[0].manifest().rules.as_deref(), Some("b"));
}

#[test]
fn features_are_added_to_a_run_and_do_not_cost_it_its_diagnosis() {
    let farm = Farm::new();
    let add = |extract: (String, _)| farm.lake.add(&[extract]).unwrap();
    let features = |extract, version| answering(extract, ("features", version));
    assert_eq!(add(one(&farm, 1)).new, ["1"]);
    assert_eq!(add(features(one(&farm, 1), "a")).replaced, ["1"]);
    assert_eq!(add(features(one(&farm, 1), "a")).known, ["1"]);
    assert_eq!(add(one(&farm, 1)).known, ["1"]);
    let both = || features(diagnosed(one(&farm, 1), "r"), "a");
    assert_eq!(add(both()).replaced, ["1"]);
    // Each of these lacks what the run has, even if it has something else.
    assert_eq!(add(features(one(&farm, 1), "b")).known, ["1"]);
    assert_eq!(add(diagnosed(one(&farm, 1), "s")).known, ["1"]);
    assert_eq!(add(both()).known, ["1"]);
    let runs = farm.lake.runs().unwrap();
    let manifest = runs[0].manifest();
    let versions = (manifest.rules.as_deref(), manifest.features.as_deref());
    assert_eq!(versions, (Some("r"), Some("a")));
}

#[test]
fn both_in_one_batch_are_the_full_one() {
    for order in [[0, 1], [1, 0]] {
        let farm = Farm::new();
        let both = [
            farm.extract("s", 7, Detail::Summary, &["a"]),
            farm.extract("f", 7, Detail::Full, &["a", "b"]),
        ];
        let [first, second] = order.map(|at| {
            let (name, extract) = &both[at];
            (
                name.clone(),
                etwkit_extract::Extract::open(extract.path()).unwrap(),
            )
        });
        let added = farm.lake.add(&[first, second]).unwrap();
        assert_eq!(
            (added.new, added.known),
            (vec!["f".to_owned()], vec!["s".to_owned()])
        );
        assert_eq!(marks(&farm), BTreeMap::from([(7, 2)]));
    }
}

#[test]
fn another_trace_with_the_number_of_a_run_is_refused() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    let other = farm.extract_of_size("other", 1, 999);
    let error = farm.lake.add(&[other]).unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
    assert!(
        error.to_string().ends_with("in the sizes of its files"),
        "{error}"
    );
    assert_eq!(farm.lake.runs().unwrap().len(), 1);
}

#[test]
fn compaction_keeps_rows_and_leaves_out_those_of_no_run() {
    let farm = Farm::new();
    for run in 1..=4 {
        farm.lake.add(&[one(&farm, run)]).unwrap();
    }
    let before = marks(&farm);
    let done = farm.lake.compact(NOW).unwrap();
    // The tables are mark, process and run.
    assert_eq!(
        (done.tables, done.merged, done.written, done.left_out),
        (3, 12, 3, 0)
    );
    assert_eq!(marks(&farm), before);
    assert_eq!(
        Snapshot::open(farm.path())
            .unwrap()
            .files("mark")
            .unwrap()
            .len(),
        1
    );
    assert_eq!(farm.lake.check().unwrap().problems, []);
    assert_eq!(
        farm.lake.compact(NOW).unwrap().tables,
        0,
        "nothing is left to do"
    );

    let runs = farm.lake.runs().unwrap();
    assert_eq!(farm.lake.drop_runs(&runs[1..3]).unwrap(), 2);
    assert_eq!(farm.lake.drop_runs(&runs[1..3]).unwrap(), 0);
    let left = BTreeMap::from([(1, 2), (4, 5)]);
    assert_eq!(marks(&farm), left);
    assert_eq!(farm.lake.check().unwrap().dead_rows, 3 + 4 + 2);
    // Rows of no run that are new may belong to a command that is running.
    assert_eq!(farm.lake.compact(LONG).unwrap().left_out, 0);
    assert_eq!(farm.lake.compact(NOW).unwrap().left_out, 3 + 4 + 2);
    let checked = farm.lake.check().unwrap();
    assert_eq!((checked.problems, checked.dead_rows), (Vec::new(), 0));
    assert_eq!(marks(&farm), left);
}

#[test]
fn vacuum_deletes_files_that_no_table_has() {
    let farm = Farm::new();
    for run in 1..=3 {
        farm.lake.add(&[one(&farm, run)]).unwrap();
    }
    farm.lake.compact(NOW).unwrap();
    let kept = farm.lake.vacuum(LONG).unwrap();
    assert_eq!((kept.files, kept.kept), (0, 9));
    let done = farm.lake.vacuum(NOW).unwrap();
    assert_eq!((done.files, done.kept), (9, 0));
    assert!(done.bytes > 0);
    assert_eq!(farm.lake.check().unwrap().problems, []);
    assert_eq!(marks(&farm).len(), 3);
}

#[test]
fn vacuum_deletes_what_ended_writers_left() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    let table = farm.path().join("mark");
    let left = [
        "run_month=2026-11/part-00000-0.zstd.parquet#1",
        "_delta_log/1.json#2",
    ];
    let others = ["run_month=2026-11/a.parquet#x", "notes#1"];
    for file in left.iter().chain(&others) {
        std::fs::write(table.join(file), "left").unwrap();
    }
    let kept = farm.lake.vacuum(LONG).unwrap();
    assert_eq!((kept.files, kept.kept), (0, 2));
    let done = farm.lake.vacuum(NOW).unwrap();
    assert_eq!((done.files, done.bytes), (2, 8));
    assert!(left.iter().all(|file| !table.join(file).exists()));
    assert!(others.iter().all(|file| table.join(file).exists()));
}

#[test]
fn vacuum_deletes_checkpoints_that_newer_ones_replaced() {
    let farm = Farm::new();
    for run in 1..=2 {
        farm.lake.add(&[one(&farm, run)]).unwrap();
        farm.lake.compact(NOW).unwrap();
    }
    let log = farm.path().join("mark/_delta_log");
    let has = |version: u64| {
        log.join(format!("{version:020}.checkpoint.parquet"))
            .exists()
    };
    assert!(has(0) && has(2));
    farm.lake.vacuum(LONG).unwrap();
    assert!(has(0));
    farm.lake.vacuum(NOW).unwrap();
    assert!(!has(0) && has(2));
    assert_eq!(farm.lake.check().unwrap().problems, []);
}

#[test]
fn a_damaged_checkpoint_is_a_problem_that_compaction_solves() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    farm.lake.compact(NOW).unwrap();
    let log = farm.path().join("mark/_delta_log");
    std::fs::write(log.join(format!("{:020}.checkpoint.parquet", 0)), "PAR1").unwrap();
    let problems = farm.lake.check().unwrap().problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].what.ends_with("expected a checkpoint of Delta"),
        "{problems:?}"
    );
    assert_eq!(marks(&farm), BTreeMap::from([(1, 2)]));
    farm.lake.compact(NOW).unwrap();
    assert_eq!(farm.lake.check().unwrap().problems, []);
}

#[test]
fn a_checkpoint_that_cannot_be_written_does_not_end_compaction() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    farm.lake.add(&[one(&farm, 2)]).unwrap();
    // A folder cannot be replaced by the checkpoint of that name. The table `mark` comes first.
    let log = farm.path().join("mark/_delta_log");
    std::fs::create_dir(log.join(format!("{:020}.checkpoint.parquet", 2))).unwrap();
    let done = farm.lake.compact(NOW).unwrap();
    assert_eq!((done.tables, done.merged, done.written), (3, 6, 3));
    assert_eq!(done.without_checkpoint.len(), 1);
    let reason = done.without_checkpoint[0].to_string();
    assert!(reason.contains("mark/_delta_log"), "{reason}");
    assert_eq!(marks(&farm), BTreeMap::from([(1, 2), (2, 3)]));
}

#[cfg(unix)]
#[test]
fn vacuum_deletes_nothing_behind_a_link() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    let outside = farm.folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let file = outside.join("own.parquet");
    std::fs::write(&file, "").unwrap();
    std::os::unix::fs::symlink(&outside, farm.path().join("mark/link")).unwrap();
    assert_eq!(farm.lake.vacuum(NOW).unwrap().files, 0);
    assert!(file.exists());
}

#[test]
fn a_question_notices_that_its_runs_are_gone() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1), one(&farm, 2)]).unwrap();
    let snapshot = Snapshot::open(farm.path()).unwrap();
    farm.lake.add(&[one(&farm, 3)]).unwrap();
    // What was added later does not matter to it.
    snapshot.files("mark").unwrap();
    let runs = farm.lake.runs().unwrap();
    farm.lake.drop_runs(&runs[..1]).unwrap();
    let error = snapshot.files("process").unwrap_err();
    assert!(matches!(error, Error::Changed { .. }), "{error}");
    assert_eq!(Snapshot::open(farm.path()).unwrap().runs().len(), 2);
}

#[test]
fn files_are_those_after_compaction_and_vacuum() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    farm.lake.add(&[one(&farm, 2)]).unwrap();
    let snapshot = Snapshot::open(farm.path()).unwrap();
    assert_eq!(snapshot.files("mark").unwrap().len(), 2);
    farm.lake.compact(NOW).unwrap();
    farm.lake.vacuum(NOW).unwrap();
    let files = snapshot.files("mark").unwrap();
    assert!(files.len() == 1 && files[0].path.exists(), "{files:?}");
}

#[test]
fn runs_have_paths() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    let snapshot = Snapshot::open(farm.path()).unwrap();
    let path = snapshot.run_paths().next().unwrap();
    assert!(
        path.to_str().unwrap().ends_with("#0000000000000001"),
        "{}",
        path.display()
    );
    let run = Snapshot::run_at(&path).unwrap().unwrap();
    assert_eq!((run.run.name(), run.run.rows("mark")), ("1", 2));
    let other = farm.path().to_str().unwrap().to_owned() + "#00000000000000ff";
    let error = Snapshot::run_at(other.as_ref()).unwrap().unwrap_err();
    assert!(matches!(error, Error::NoRun { .. }), "{error}");
    assert!(Snapshot::run_at("a#b.etl".as_ref()).is_none());
    assert!(Snapshot::run_at("none#0000000000000001".as_ref()).is_none());
}

#[test]
fn no_hash_leads_out_of_the_lake() {
    let farm = Farm::new();
    farm.lake
        .add(&[farm.extract_of_hash("odd", "/../../x")])
        .unwrap();
    let snapshot = Snapshot::open(farm.path()).unwrap();
    let path = snapshot.run_paths().next().unwrap();
    assert!(!path.to_str().unwrap().contains(".."), "{}", path.display());
    assert_eq!(Snapshot::run_at(&path).unwrap().unwrap().run.name(), "odd");
}

#[test]
fn only_an_empty_folder_becomes_a_lake() {
    let farm = Farm::new();
    let error = Lake::init(farm.path()).unwrap_err();
    assert!(
        error.to_string().ends_with("it is a lake already"),
        "{error}"
    );
    let error = Lake::init(farm.folder.path()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("it is a folder with other files"),
        "{error}"
    );
    let error = Lake::open(farm.folder.path()).unwrap_err();
    assert!(matches!(error, Error::NotALake { .. }), "{error}");
    assert!(error.hint().unwrap().contains("lake init"));
    // A run has the address of its lake in its own.
    let run = farm.path().with_file_name("lake#0123456789abcdef");
    let error = Lake::open(&run).unwrap_err();
    assert!(error.hint().unwrap().contains("without a run"));
}

#[test]
fn damage_is_found() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    let file = Snapshot::open(farm.path()).unwrap().files("mark").unwrap()[0].clone();
    let bytes = std::fs::read(&file.path).unwrap();
    let problems = || {
        let checked = farm.lake.check().unwrap();
        checked
            .problems
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    std::fs::write(&file.path, &bytes[..bytes.len() - 1]).unwrap();
    assert!(
        problems()[0].contains(&format!("has {} bytes, found", file.size)),
        "{:?}",
        problems()
    );
    assert!(
        problems()[1].ends_with("rows of the run 1: expected 2, found 0"),
        "{:?}",
        problems()
    );
    let mut changed = bytes.clone();
    let end = changed.len() - 20;
    changed[end..].fill(0xff);
    std::fs::write(&file.path, &changed).unwrap();
    assert!(
        problems()[0].contains("damaged file of the lake"),
        "{:?}",
        problems()
    );
    std::fs::remove_file(&file.path).unwrap();
    assert!(problems()[0].ends_with("it is missing"), "{:?}", problems());
    std::fs::write(&file.path, &bytes).unwrap();
    assert_eq!(problems(), [""; 0]);
}

#[test]
fn an_address_of_another_kind_is_no_folder() {
    for address in [
        "gcs://traces/lake",
        "abfs://traces/lake",
        "http://traces/lake",
    ] {
        let path = address.as_ref();
        for error in [
            Lake::init(path).unwrap_err(),
            Lake::open(path).unwrap_err(),
            Snapshot::open(path).unwrap_err(),
        ] {
            let error = error.to_string();
            let expected = format!(
                "cannot open {address}: expected a folder, s3://BUCKET/FOLDER, \
                 az://CONTAINER/FOLDER or gs://BUCKET/FOLDER"
            );
            assert_eq!(error, expected);
        }
        let (scheme, _) = address.split_once('/').unwrap();
        assert!(!Path::new(scheme).exists(), "{scheme}");
    }
}

#[cfg(not(feature = "object-store"))]
#[test]
fn a_bucket_is_refused_by_a_build_without_object_stores() {
    for path in ["s3://traces/lake", "az://traces/lake", "gs://traces/lake"] {
        let path = path.as_ref();
        for error in [
            Lake::init(path).unwrap_err(),
            Lake::open(path).unwrap_err(),
            Snapshot::open(path).unwrap_err(),
        ] {
            assert!(matches!(error, Error::NoObjectStores { .. }), "{error}");
            assert!(error.hint().unwrap().contains("--features object-store"));
        }
    }
}
