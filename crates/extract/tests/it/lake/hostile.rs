//! Lakes with damaged files: each is an error, a problem or other rows.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use etwkit_testkit::{Random, is_exhaustive};

use super::support::{Farm, one};

/// Longest time that a check of a small lake may take, on a machine that does other work.
const PATIENCE: Duration = Duration::from_secs(10);

/// Values in place of others in a log.
const VALUES: [&str; 10] = [
    "null",
    "0",
    "-1",
    "18446744073709551615",
    "9223372036854775807",
    "1e400",
    "\"\"",
    "\"../../x\"",
    "[[[[]]]]",
    "{\"a\":null}",
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The bytes of a file with some of them changed.
fn damaged(good: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = good.to_vec();
    match random.below(4) {
        0 => {
            for _ in 0..=random.below(8) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
        }
        1 => bytes.truncate(random.below(bytes.len())),
        2 => {
            let at = random.below(bytes.len());
            let copy = bytes[at..].to_vec();
            bytes.extend(copy.repeat(1 + random.below(20)));
        }
        _ => {
            // A value of JSON begins after a colon.
            let colons = bytes.iter().enumerate().filter(|(_, byte)| **byte == b':');
            let colons: Vec<usize> = colons.map(|(at, _)| at).collect();
            let from = colons
                .get(random.below(colons.len()))
                .map_or(0, |at| at + 1);
            let rest = bytes[from..].iter();
            let end = rest.take_while(|byte| !b",}\n".contains(byte)).count();
            let value = VALUES[random.below(VALUES.len())];
            bytes.splice(from..from + end, value.bytes());
        }
    }
    bytes
}

#[test]
fn damaged_lakes_are_refused_or_read() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1), one(&farm, 2)]).unwrap();
    let mut all = Vec::new();
    files(farm.path(), &mut all);
    all.sort();
    let rounds = if is_exhaustive() { 5000 } else { 100 };
    let mut wrong = 0;
    for round in 0..rounds {
        let mut random = Random::new(round);
        let file = &all[random.below(all.len())];
        let good = fs::read(file).unwrap();
        fs::write(file, damaged(&good, &mut random)).unwrap();
        let start = Instant::now();
        let checked = farm.lake.check();
        let took = start.elapsed();
        assert!(took < PATIENCE, "round {round} took {took:?}");
        let is_good = checked.is_ok_and(|checked| checked.problems.is_empty());
        wrong += u64::from(!is_good);
        fs::write(file, good).unwrap();
    }
    // Other changes do not matter, as in a time that is not used.
    assert!(wrong > rounds / 3, "{wrong} of {rounds}");
    assert_eq!(farm.lake.check().unwrap().problems, []);
}
