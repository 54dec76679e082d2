//! Broken traces: no panic, no hang, damage counted and named, the rest read. Small traces of every
//! kind are broken, and all of them if tests are exhaustive; the full sweep is `benches/hostile`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use etwkit_testkit::{KINDS, Random, corrupt, is_exhaustive, one_of_each_series, trace_files};

use crate::support::{Exit, made, run};

/// Any file must be answered or refused, and in a time that no reader takes for a hang.
fn check(bytes: &[u8], what: &str) -> Exit {
    let file = tempfile::Builder::new().suffix(".etl").tempfile().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let path = file.path().to_str().unwrap();
    let mut exits = Vec::new();
    // Printing every event of a large trace takes longer than reading it twenty times.
    let limit = if bytes.len() > 1_000_000 {
        "5000"
    } else {
        "1000000"
    };
    for args in [
        &["info", "--json"][..],
        &["events", "--json", "--limit", limit],
        &["events", "--count"],
    ] {
        let start = Instant::now();
        let answer = run(&[args, &[path]].concat());
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{what}: {args:?} hangs"
        );
        match answer.exit {
            Exit::Error => {
                assert!(
                    answer.err.contains("error: ") && answer.err.contains("hint: "),
                    "{what}: {}",
                    answer.err
                );
                let position =
                    answer.err.contains("offset") || answer.err.contains("an empty file");
                assert!(position, "{what}: no position in {}", answer.err);
            }
            _ => assert_eq!(answer.other_errors(), "", "{what}"),
        }
        exits.push(answer.exit);
    }
    assert!(
        exits.windows(2).all(|pair| pair[0] == pair[1]),
        "{what}: {exits:?}"
    );
    exits[0]
}

/// Bytes of the largest trace that is broken unless tests are exhaustive: time grows with them, and
/// every form of buffers, headers and events is in a smaller one.
const SMALL: u64 = 140_000;

/// The traces of the repository and the samples.
fn subjects() -> Vec<(String, Vec<u8>)> {
    let own = std::fs::read_dir(made())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = own
        .filter(|path| path.extension().is_some_and(|e| e == "etl"))
        .collect();
    paths.extend(trace_files());
    paths.sort();
    paths.dedup_by_key(|path| path.file_name().unwrap().to_owned());
    let mut paths = one_of_each_series(paths);
    paths.retain(|path| is_exhaustive() || path.metadata().unwrap().len() <= SMALL);
    assert!(paths.len() >= 5, "{paths:?}");
    paths
        .into_iter()
        .map(|path| (path.display().to_string(), std::fs::read(path).unwrap()))
        .collect()
}

/// Runs a check for every subject, on all processors.
fn for_each_subject(check: impl Fn(&str, &[u8]) + Sync) {
    let (subjects, next) = (subjects(), AtomicUsize::new(0));
    let work = || {
        while let Some((name, bytes)) = subjects.get(next.fetch_add(1, Ordering::Relaxed)) {
            check(name, bytes);
        }
    };
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        (0..workers).for_each(|_| drop(scope.spawn(work)));
    });
}

#[test]
fn cut_at_five_places() {
    for_each_subject(|name, bytes| {
        for part in 0..5 {
            let end = bytes.len() * part / 5 + part * 7;
            let exit = check(&bytes[..end], &format!("{name} cut at {end}"));
            // The header event is in the first 600 bytes; what has it can be read.
            assert_eq!(exit == Exit::Error, end < 376, "{name} cut at {end}");
        }
    });
}

#[test]
fn corrupted_in_all_ways() {
    for_each_subject(|name, bytes| {
        let mut random = Random::new(bytes.len() as u64);
        for round in 0..KINDS {
            let mut broken = bytes.to_vec();
            corrupt(&mut broken, &mut random, round);
            check(&broken, &format!("{name}, round {round}"));
        }
    });
}

#[test]
fn extracts_of_broken_traces_open() {
    for_each_subject(|name, bytes| {
        let mut random = Random::new(bytes.len() as u64 + 1);
        for round in (0..KINDS).step_by(3) {
            let mut broken = bytes.to_vec();
            corrupt(&mut broken, &mut random, round);
            check_extract(&broken, &format!("{name}, round {round}"));
        }
        check_extract(&bytes[..bytes.len() * 2 / 3], &format!("{name} cut"));
    });
}

fn check_extract(bytes: &[u8], what: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (trace, target) = (
        folder.path().join("broken.etl"),
        folder.path().join("broken.etwx"),
    );
    std::fs::write(&trace, bytes).unwrap();
    let start = Instant::now();
    let answer = run(&[
        "extract",
        trace.to_str().unwrap(),
        "--out",
        target.to_str().unwrap(),
    ]);
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{what}: extract hangs"
    );
    if answer.exit == Exit::Error {
        assert!(
            answer.err.contains("error: ") && answer.err.contains("hint: "),
            "{what}: {}",
            answer.err
        );
        assert!(!target.exists(), "{what}: half an extract");
        return;
    }
    let extract = etwkit_extract::Extract::open(&target).unwrap();
    for table in extract.tables() {
        let rows: usize = table
            .batches(None)
            .unwrap()
            .map(|batch| batch.unwrap().num_rows())
            .sum();
        assert_eq!(rows as u64, table.rows, "{what}: {}", table.name);
    }
}

#[test]
fn what_is_no_trace_is_refused_with_a_position_and_a_hint() {
    let zeros = vec![0; 5000];
    let mut random = Random::new(1);
    let noise: Vec<u8> = (0..5000).map(|_| random.below(256) as u8).collect();
    for (bytes, what) in [
        (&b""[..], "empty"),
        (b"x", "one byte"),
        (&zeros, "zeros"),
        (&noise, "noise"),
    ] {
        assert_eq!(check(bytes, what), Exit::Error, "{what}");
    }
}
