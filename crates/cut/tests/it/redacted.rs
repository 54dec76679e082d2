//! Redaction: no word of the texts remains, and the numbers stay the same.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use etwkit_cut::{Fate, Options, Redaction};
use etwkit_etl::wire::extended::kind;
use etwkit_etl::{Order, Session};
use etwkit_trace::import::Range;

use crate::support::{count, cut_bytes, made, opened, rows, session, sum};

/// Minimum length at which a run of letters is not a coincidence in binary data.
const WIDE: usize = 5;
const NARROW: usize = 7;

/// All runs of letters in some bytes, as UTF-16 and as 8-bit text.
fn words(bytes: &[u8], found: &mut BTreeSet<String>) {
    let narrow = bytes
        .split(|byte| !byte.is_ascii_alphabetic())
        .filter(|run| run.len() >= NARROW);
    found.extend(narrow.map(|run| String::from_utf8_lossy(run).to_lowercase()));
    for offset in [0, 1] {
        let units: Vec<[u8; 2]> = bytes[offset.min(bytes.len())..].as_chunks::<2>().0.to_vec();
        let runs = units.split(|unit| unit[1] != 0 || !unit[0].is_ascii_alphabetic());
        let runs = runs.filter(|run| run.len() >= WIDE);
        found.extend(runs.map(|run| {
            run.iter()
                .map(|unit| char::from(unit[0]).to_ascii_lowercase())
                .collect()
        }));
    }
}

/// The words in all records of a session, decompressed, and in descriptions of events.
fn all_words(session: &Session) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut all, mut describing) = (BTreeSet::new(), BTreeSet::new());
    session
        .for_each(Order::File, |event| {
            words(event.record, &mut all);
            for item in event
                .extended()
                .filter(|i| matches!(i.kind, kind::EVENT_SCHEMA_TL | kind::PROVIDER_TRAITS))
            {
                words(item.data, &mut describing);
            }
            let is_info = event.kind.is_classic()
                && event.provider().to_string() == "bbccf6c1-6cd1-48c4-80ff-839482e37671";
            if is_info || event.kind.is_manifest() && event.descriptor().id == 0xFFFE {
                words(event.payload(), &mut describing);
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    (all, describing)
}

fn redacted(whole: &Session) -> (etwkit_cut::Cut, Session) {
    let (cut, bytes) = cut_bytes(
        whole,
        &Options {
            redact: Some(Redaction::All),
            ..Options::default()
        },
    );
    (cut, session(bytes))
}

fn check(name: &str, whole: &Session, at_least: usize) {
    let (cut, part) = redacted(whole);
    let ((before, _), (after, describing)) = (all_words(whole), all_words(&part));
    assert!(
        before.len() >= at_least,
        "{name}: only {} words",
        before.len()
    );
    let left: Vec<&String> = before
        .intersection(&after)
        .filter(|word| !describing.contains(*word))
        .collect();
    // The name in the header of a cut trace.
    let left: Vec<_> = left.into_iter().filter(|word| *word != "etwkit").collect();
    assert!(left.is_empty(), "{name}: {left:?}");
    assert!(cut.texts.unwrap() > 0, "{name}");
    assert!(part.damage().losses().is_empty(), "{name}");
}

#[test]
fn no_word_of_a_made_trace_is_left() {
    for name in [
        "sched-5.etl",
        "files-5.etl",
        "dns-5.etl",
        "dotnet-5.etl",
        "tcp-5.etl",
        "handles-5.etl",
    ] {
        check(name, made(name).session(), 20);
    }
}

#[test]
fn no_word_of_a_real_trace_is_left() {
    let Some(root) = etwkit_testkit::traces() else {
        return;
    };
    for name in [
        "ShutdownPerfDiagLogger.etl",
        "tx_Process.etl",
        "gcrundownevents.etl",
        "diaghub/diaghub.etl",
    ] {
        check(name, opened(&[root.join(name)]).session(), 20);
    }
}

#[test]
fn numbers_stay_what_they_were() {
    for name in ["sched-5.etl", "files-5.etl"] {
        let input = made(name);
        let (cut, part) = redacted(input.session());
        assert_eq!(
            cut.events
                .get(&Fate::NotUnderstood)
                .copied()
                .unwrap_or_default(),
            0,
            "{name}"
        );
        let (a, b) = (
            rows(input.session(), Range::ALL).unwrap(),
            rows(&part, Range::ALL).unwrap(),
        );
        for (table, column) in [
            ("context_switch", "run_ns"),
            ("context_switch", "wait_ns"),
            ("disk_io", "io_ns"),
            ("file_io", "duration_ns"),
        ] {
            assert_eq!(
                sum(&a, table, column),
                sum(&b, table, column),
                "{name}: {table}.{column}"
            );
        }
        for table in ["process", "thread", "module", "stack", "cpu_sample"] {
            assert_eq!(count(&a, table), count(&b, table), "{name}: {table}");
        }
    }
}
