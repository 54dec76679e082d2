//! Traces that are asked without being extracted first: what the cache answers from, and what it makes anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::extracts::Extract;
use crate::support::{Exit, run, trace};

/// A question to a trace with a cache of its own: the answer, and the notes.
fn ask(folder: &Path, trace: &Path) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_etwkit"))
        .args(["sql", "--format", "csv"])
        .arg(trace)
        .arg("SELECT events FROM trace")
        .env("ETWKIT_CACHE", folder.join("cache"))
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{err}");
    (out, err)
}

fn extracts(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("cache"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|it| it == "etwx"))
        .collect()
}

/// The source of an answer is what was named: the trace, and not its extract in the cache.
#[test]
fn the_source_is_the_file_that_was_named() {
    let trace = trace("dns-5.etl");
    let extract = Extract::of(&[&trace], &[]);
    for named in [&trace, &extract.path] {
        let answer = run(&["dump", "stats", "--properties", "Source", named]);
        assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
        let source = format!("  Source  {named}\n");
        assert!(answer.out.ends_with(&source), "{}", answer.out);
    }
}

#[test]
fn a_damaged_extract_of_the_cache_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let trace = trace("dns-5.etl");
    let (answer, notes) = ask(folder.path(), trace.as_ref());
    assert!(notes.contains("note: extracted "), "{notes}");
    assert_eq!(
        ask(folder.path(), trace.as_ref()),
        (answer.clone(), String::new())
    );
    let [extract] = &extracts(folder.path())[..] else {
        panic!("one extract")
    };
    let manifest = extract.join("manifest.json");
    let whole = fs::read(&manifest).unwrap();
    for damaged in [&whole[..whole.len() / 2], b"{}", b""] {
        fs::write(&manifest, damaged).unwrap();
        let (again, notes) = ask(folder.path(), trace.as_ref());
        assert_eq!(again, answer);
        assert!(
            notes.contains("could not be used and is made again: "),
            "{notes}"
        );
        assert_eq!(
            ask(folder.path(), trace.as_ref()),
            (answer.clone(), String::new())
        );
    }
    // A file or a folder without a manifest in its place, and a table that is gone.
    fs::remove_file(extract.join("trace.parquet")).unwrap();
    assert_eq!(ask(folder.path(), trace.as_ref()).0, answer);
    fs::remove_file(&manifest).unwrap();
    assert_eq!(ask(folder.path(), trace.as_ref()).0, answer);
    fs::remove_dir_all(extract).unwrap();
    fs::write(extract, "no folder").unwrap();
    assert_eq!(ask(folder.path(), trace.as_ref()).0, answer);
    assert_eq!(extracts(folder.path()).len(), 1);
}

/// A copy may have its size and both ends before its middle: what was answered meanwhile is not the answer to
/// the whole.
#[test]
fn a_trace_that_changed_is_extracted_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.etl");
    fs::copy(trace("dns-5.etl"), &path).unwrap();
    let first = ask(folder.path(), &path);
    assert!(first.1.contains("note: extracted "), "{}", first.1);
    assert_eq!(ask(folder.path(), &path).1, "");
    // Written again with the same bytes: size and both ends are the same. The time of modification is set
    // back, as copying programs do.
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(50));
    fs::write(&path, fs::read(&path).unwrap()).unwrap();
    if cfg!(unix) {
        fs::File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(modified)
            .unwrap();
    }
    let second = ask(folder.path(), &path);
    assert!(second.1.contains("note: extracted "), "{}", second.1);
    assert_eq!((second.0, extracts(folder.path()).len()), (first.0, 2));
}

#[test]
fn symbols_that_came_after_the_extract_are_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let trace = path("bash.etl");
    let answer = run(&[
        "synth",
        "write",
        "git-bash",
        "--out",
        trace.to_str().unwrap(),
    ]);
    assert_eq!(answer.exit, Exit::Answered, "{answer:?}");
    fs::rename(path("bash.symbols"), path("elsewhere")).unwrap();
    let notes = || ask(folder.path(), &trace).1;
    let first = notes();
    assert!(first.contains("note: extracted "), "{first}");
    assert_eq!(notes(), "");
    // An empty folder has no names.
    fs::create_dir(path("bash.symbols")).unwrap();
    assert_eq!(notes(), "");
    for entry in fs::read_dir(path("elsewhere")).unwrap() {
        let entry = entry.unwrap();
        fs::rename(entry.path(), path("bash.symbols").join(entry.file_name())).unwrap();
    }
    let note = notes();
    assert!(
        note.contains("loaded the names of ") && note.contains("which is newer than the extract"),
        "{note}"
    );
    assert_eq!(notes(), "");
    let names = Command::new(env!("CARGO_BIN_EXE_etwkit"))
        .args(["dump", "wait", "--method", "FltSendMessage", "--json"])
        .arg(&trace)
        .env("ETWKIT_CACHE", folder.path().join("cache"))
        .output()
        .unwrap();
    assert!(names.status.success(), "{names:?}");
}
