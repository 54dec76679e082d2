//! Lakes in a bucket. Each test starts a store, and does its steps in a process with the variables that
//! name it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread;

use etwkit_extract::Extract;
use etwkit_extract::lake::{Error, Lake, Snapshot, stamp};
use etwkit_extract::manifest::Detail;
use etwkit_testkit::Random;

use super::remote::{DELAY, Fault, LAKE, Protocol, Remote, SLOW};
use super::support::{Farm, marks, one};
use super::{LONG, NOW};

/// Marks of a run whose file is too large for one read.
const MARKS: usize = 600;

/// Characters of each of them.
const CHARACTERS: usize = 12_000;

/// An address without a server.
const NOBODY: &str = "127.0.0.1:9";

/// The address of the lake; `None` outside of the process of a test.
fn place() -> Option<PathBuf> {
    std::env::var_os(LAKE).map(PathBuf::from)
}

#[test]
fn a_bucket_has_all_that_a_folder_has() {
    has_all_that_a_folder_has(Protocol::S3);
}

#[test]
fn a_container_of_azure_has_all_that_a_folder_has() {
    has_all_that_a_folder_has(Protocol::Azure);
}

#[test]
fn a_bucket_of_google_has_all_that_a_folder_has() {
    has_all_that_a_folder_has(Protocol::Google);
}

fn has_all_that_a_folder_has(protocol: Protocol) {
    let store = Remote::start(protocol, Fault::None);
    store.run("lake::bucket::all_steps");
    let kept = store.kept.lock().unwrap();
    let mut names = kept.files.keys();
    assert!(names.all(|name| name.starts_with("farm/lake/")));
    let requests = kept.requests.iter();
    let outside = |request: &&String| !request.contains(" /traces");
    assert_eq!(requests.clone().find(outside), None);
}

#[test]
fn all_steps() {
    let Some(path) = place() else { return };
    let error = Lake::open(&path).unwrap_err();
    assert!(matches!(error, Error::NotALake { .. }), "{error}");
    let farm = Farm::at(&path);
    let error = Lake::init(&path).unwrap_err();
    assert!(matches!(error, Error::Taken { .. }), "{error}");
    let added = farm.lake.add(&[one(&farm, 1), one(&farm, 2)]).unwrap();
    assert_eq!(added.new.len(), 2);
    let before = stamp(&path).unwrap();
    let summary = farm.extract("s", 7, Detail::Summary, &["a"]);
    farm.lake.add(&[summary]).unwrap();
    assert_ne!(stamp(&path), Some(before));
    let full = farm.extract("f", 7, Detail::Full, &["a", "b"]);
    assert_eq!(farm.lake.add(&[full]).unwrap().replaced, ["f"]);
    let again = farm.lake.add(&[one(&farm, 2)]).unwrap();
    assert_eq!((again.new.len(), again.known.len()), (0, 1));
    let checked = farm.lake.check().unwrap();
    assert_eq!((checked.problems, checked.dead_rows), (Vec::new(), 2));
    let all = BTreeMap::from([(1, 2), (2, 3), (7, 2)]);
    assert_eq!(marks(&farm), all);

    let runs = Lake::open(&path).unwrap().runs().unwrap();
    let first = runs.into_iter().filter(|run| run.run_id() == 1);
    let first: Vec<_> = first.collect();
    assert_eq!(farm.lake.drop_runs(&first).unwrap(), 1);
    let rest = BTreeMap::from([(2, 3), (7, 2)]);
    assert_eq!(marks(&farm), rest);
    let compacted = farm.lake.compact(NOW).unwrap();
    assert!(compacted.left_out > 0, "{compacted:?}");
    assert_eq!(farm.lake.vacuum(LONG).unwrap().files, 0);
    let vacuumed = farm.lake.vacuum(NOW).unwrap();
    assert!(vacuumed.files > 0, "{vacuumed:?}");
    assert_eq!(farm.lake.vacuum(NOW).unwrap().files, 0);
    let checked = farm.lake.check().unwrap();
    assert_eq!((checked.problems, checked.dead_rows), (Vec::new(), 0));
    assert_eq!(marks(&farm), rest);
}

#[test]
fn a_writer_that_was_too_late_commits_after_the_other() {
    commits_after_the_other(Protocol::S3);
}

#[test]
fn a_writer_to_azure_that_was_too_late_commits_after_the_other() {
    commits_after_the_other(Protocol::Azure);
}

#[test]
fn a_writer_to_google_that_was_too_late_commits_after_the_other() {
    commits_after_the_other(Protocol::Google);
}

fn commits_after_the_other(protocol: Protocol) {
    let store = Remote::start(protocol, Fault::OtherWriter);
    store.run("lake::bucket::a_run_is_added");
    let kept = store.kept.lock().unwrap();
    let commit = |number: u32| {
        let name = format!("farm/lake/run/_delta_log/{number:020}.json");
        kept.files.get(&name).map(Vec::as_slice)
    };
    assert_eq!(commit(1), Some(&b"{}\n"[..]), "it is the other's");
    assert!(commit(2).is_some());
}

#[test]
fn a_lost_answer_is_no_other_writer() {
    is_no_other_writer(Protocol::S3);
}

#[test]
fn a_lost_answer_of_azure_is_no_other_writer() {
    is_no_other_writer(Protocol::Azure);
}

#[test]
fn a_lost_answer_of_google_is_no_other_writer() {
    is_no_other_writer(Protocol::Google);
}

fn is_no_other_writer(protocol: Protocol) {
    let store = Remote::start(protocol, Fault::LostAnswer);
    store.run("lake::bucket::a_run_is_added");
    let kept = store.kept.lock().unwrap();
    let name = "farm/lake/run/_delta_log/00000000000000000002.json";
    assert!(!kept.files.contains_key(name), "the run was added twice");
}

#[test]
fn a_file_that_another_request_is_writing_is_tried_again() {
    Remote::start(Protocol::S3, Fault::Conflict).run("lake::bucket::a_run_is_added");
}

#[test]
fn an_empty_file_may_stand_for_the_folder() {
    let store = Remote::start(Protocol::S3, Fault::None);
    let folder = "farm/lake/".to_owned();
    store.kept.lock().unwrap().files.insert(folder, Vec::new());
    store.run("lake::bucket::a_run_is_added");
}

#[test]
fn a_run_is_added() {
    let Some(path) = place() else { return };
    let farm = Farm::at(&path);
    assert_eq!(farm.lake.add(&[one(&farm, 1)]).unwrap().new, ["1"]);
    assert_eq!(farm.lake.check().unwrap().problems, []);
    assert_eq!(marks(&farm), BTreeMap::from([(1, 2)]));
}

#[test]
fn a_store_that_replaces_files_is_refused() {
    refuses_a_store_that_replaces_files(Protocol::S3);
}

#[test]
fn a_store_like_google_that_replaces_files_is_refused() {
    refuses_a_store_that_replaces_files(Protocol::Google);
}

fn refuses_a_store_that_replaces_files(protocol: Protocol) {
    let store = Remote::start(protocol, Fault::Overwrites);
    store.run("lake::bucket::no_lake_is_made");
    let kept = store.kept.lock().unwrap();
    assert!(kept.files.is_empty(), "{:?}", kept.files.keys());
}

#[test]
fn no_lake_is_made() {
    let Some(path) = place() else { return };
    let error = Lake::init(&path).unwrap_err();
    assert!(matches!(error, Error::Overwrites { .. }), "{error}");
    for header in ["If-None-Match", "x-goog-if-generation-match"] {
        assert!(error.hint().unwrap().contains(header), "{header}");
    }
}

#[test]
fn a_short_answer_is_an_error() {
    Remote::start(Protocol::S3, Fault::ShortAnswer).run("lake::bucket::bytes_are_missing");
}

#[test]
fn bytes_are_missing() {
    let Some(path) = place() else { return };
    let farm = Farm::at(&path);
    farm.lake.add(&[noisy(&farm, 40)]).unwrap();
    let snapshot = Snapshot::open(&path).unwrap();
    let files = snapshot.files("mark").unwrap();
    let file = snapshot.opened(&files[0]).unwrap();
    let mut bytes = [0; 100];
    let error = file.read_at(0, &mut bytes).unwrap_err().to_string();
    assert!(error.contains("expected 100 bytes, found 99"), "{error}");
    // The fault happens once.
    assert_eq!(file.read_at(0, &mut bytes).unwrap(), 100);
}

#[test]
fn a_slow_bucket_delays_no_other_lake() {
    Remote::start(Protocol::S3, Fault::None).run("lake::bucket::a_slow_lake_and_a_folder");
}

#[test]
fn a_slow_lake_and_a_folder() {
    if place().is_none() {
        return;
    }
    let farm = Farm::new();
    let slow = PathBuf::from(format!("s3://traces/{SLOW}/lake"));
    thread::scope(|scope| {
        let opened = scope.spawn(|| Snapshot::open(&slow).unwrap_err());
        thread::sleep(DELAY / 4);
        Snapshot::open(farm.path()).unwrap();
        assert!(!opened.is_finished(), "the folder waited for the bucket");
        let error = opened.join().unwrap();
        assert!(matches!(error, Error::NotALake { .. }), "{error}");
    });
}

#[test]
fn writers_of_a_bucket_lose_nothing() {
    Remote::start(Protocol::S3, Fault::None).run("lake::bucket::two_writers_and_a_compactor");
}

#[test]
fn two_writers_and_a_compactor() {
    let Some(path) = place() else { return };
    let farm = Farm::at(&path);
    let work = [[2, 9, 3], [5, 9, 7]].map(|runs| runs.map(|run| one(&farm, run)));
    let added: usize = thread::scope(|scope| {
        let writers = work.map(|extracts| {
            let lake = farm.lake.clone();
            scope.spawn(move || {
                let added = extracts.map(|extract| lake.add(&[extract]).unwrap().new.len());
                added.iter().sum::<usize>()
            })
        });
        let lake = farm.lake.clone();
        scope.spawn(move || lake.compact(LONG).unwrap());
        writers.map(|writer| writer.join().unwrap()).iter().sum()
    });
    assert_eq!(added, 5, "one of both added run 9");
    assert_eq!(farm.lake.check().unwrap().problems, []);
    let runs: Vec<i64> = marks(&farm).into_keys().collect();
    assert_eq!(runs, [2, 3, 5, 7, 9]);
}

#[test]
fn only_columns_that_are_needed_are_read() {
    reads_only_columns_that_are_needed(Protocol::S3);
}

#[test]
fn only_columns_that_are_needed_are_read_from_azure() {
    reads_only_columns_that_are_needed(Protocol::Azure);
}

#[test]
fn only_columns_that_are_needed_are_read_from_google() {
    reads_only_columns_that_are_needed(Protocol::Google);
}

fn reads_only_columns_that_are_needed(protocol: Protocol) {
    let store = Remote::start(protocol, Fault::None);
    store.run("lake::bucket::a_large_run_is_added");
    let (size, before) = {
        let kept = store.kept.lock().unwrap();
        let sizes = kept.files.values().map(Vec::len);
        (sizes.max().unwrap(), kept.sent)
    };
    assert!(size > 5 << 20, "{size}");
    store.run("lake::bucket::a_large_run_is_checked");
    let read = store.kept.lock().unwrap().sent - before;
    assert!(read < size / 4, "read {read} of {size}");
    // Compaction reads all of it.
    store.run("lake::bucket::a_large_run_is_merged");
}

fn large(farm: &Farm) -> (String, Extract) {
    noisy(farm, MARKS)
}

/// An extract with marks that cannot be compressed.
fn noisy(farm: &Farm, marks: usize) -> (String, Extract) {
    let mut random = Random::new(1);
    let texts: Vec<String> = (0..marks).map(|_| noise(&mut random)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    farm.extract("large", 7, Detail::Full, &texts)
}

fn noise(random: &mut Random) -> String {
    let character = |_| char::from(b' ' + random.below(95) as u8);
    (0..CHARACTERS).map(character).collect()
}

#[test]
fn a_large_run_is_added() {
    let Some(path) = place() else { return };
    let farm = Farm::at(&path);
    farm.lake.add(&[large(&farm)]).unwrap();
    assert_eq!(marks(&farm), BTreeMap::from([(7, MARKS)]));
}

#[test]
fn a_large_run_is_checked() {
    let Some(path) = place() else { return };
    let checked = Lake::open(&path).unwrap().check().unwrap();
    assert_eq!((checked.runs, checked.problems), (1, Vec::new()));
}

#[test]
fn a_large_run_is_merged() {
    let Some(path) = place() else { return };
    let farm = Farm::of(Lake::open(&path).unwrap(), &path);
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    assert!(farm.lake.compact(NOW).unwrap().merged > 1);
    assert_eq!(farm.lake.check().unwrap().problems, []);
    assert_eq!(marks(&farm), BTreeMap::from([(1, 2), (7, MARKS)]));
}

#[test]
fn nothing_is_asked_without_credentials() {
    let store = Remote::start(Protocol::S3, Fault::None);
    store.run_with("lake::bucket::credentials_are_missing", &[]);
    store.run_with(
        "lake::bucket::credentials_are_missing",
        &[("AWS_ACCESS_KEY_ID", "key")],
    );
    assert_eq!(store.kept.lock().unwrap().requests, [""; 0]);
}

#[test]
fn credentials_are_missing() {
    let Some(path) = place() else { return };
    let error = Lake::open(&path).unwrap_err();
    assert!(matches!(error, Error::NoCredentials { .. }), "{error}");
    let error = Snapshot::open(&path).unwrap_err();
    assert!(error.hint().unwrap().contains("AWS_ACCESS_KEY_ID"));
    let error = Lake::init("s3:///lake".as_ref()).unwrap_err();
    assert!(error.to_string().ends_with("expected s3://BUCKET/FOLDER"));
}

#[test]
fn nothing_of_azure_is_asked_without_credentials() {
    let store = Remote::start(Protocol::Azure, Fault::None);
    let name = ("AZURE_STORAGE_ACCOUNT_NAME", "account");
    let key = ("AZURE_STORAGE_ACCOUNT_KEY", "a2V5");
    let client = ("AZURE_CLIENT_ID", "client");
    for variables in [&[][..], &[name], &[key], &[name, client]] {
        store.run_with("lake::bucket::credentials_of_azure_are_missing", variables);
    }
    assert_eq!(store.kept.lock().unwrap().requests, [""; 0]);
}

#[test]
fn credentials_of_azure_are_missing() {
    let Some(path) = place() else { return };
    let error = Lake::open(&path).unwrap_err();
    assert!(matches!(error, Error::NoCredentials { .. }), "{error}");
    assert!(error.hint().unwrap().contains("AZURE_STORAGE_ACCOUNT_KEY"));
    let error = Lake::init("az:///lake".as_ref()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("expected az://CONTAINER/FOLDER")
    );
}

#[test]
fn the_variables_of_the_program_az_are_credentials() {
    let variables = [
        ("AZURE_STORAGE_ACCOUNT", "account"),
        ("AZURE_STORAGE_KEY", "a2V5"),
    ];
    let store = Remote::start(Protocol::Azure, Fault::None);
    store.run_with("lake::bucket::a_run_is_added", &variables);
}

#[test]
fn nothing_of_google_is_asked_without_credentials() {
    let store = Remote::start(Protocol::Google, Fault::None);
    store.run_with("lake::bucket::credentials_of_google_are_missing", &[]);
    assert_eq!(store.kept.lock().unwrap().requests, [""; 0]);
}

#[test]
fn credentials_of_google_are_missing() {
    let Some(path) = place() else { return };
    let error = Lake::open(&path).unwrap_err();
    assert!(matches!(error, Error::NoCredentials { .. }), "{error}");
    let hint = error.hint().unwrap();
    assert!(hint.contains("GOOGLE_APPLICATION_CREDENTIALS"), "{hint}");
    let error = Lake::init("gs:///lake".as_ref()).unwrap_err();
    assert!(error.to_string().ends_with("expected gs://BUCKET/FOLDER"));
}

/// A client that looked for credentials would ask the metadata service, and nobody answers at its address.
#[test]
fn a_public_bucket_of_google_needs_no_other_server() {
    let store = Remote::start(Protocol::Google, Fault::None);
    store.kept.lock().unwrap().is_public = true;
    let variables = [
        ("GOOGLE_SKIP_SIGNATURE", "true"),
        ("GCE_METADATA_ROOT", NOBODY),
        ("GCE_METADATA_IP", NOBODY),
    ];
    store.run_with("lake::bucket::a_run_is_added", &variables);
}
