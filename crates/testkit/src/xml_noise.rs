//! Changed XML files: what editors, exporters and attackers make of files that people write.
//!
//! A change works on pieces of a file (tags, texts, values of attributes), so that most results are
//! still XML and reach the code behind the parser.

use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::Random;

/// Changed files of a usual run. Each run makes the same ones.
const USUAL_ROUNDS: u64 = 100;

/// Longest time that the reader of a changed file may take, on a machine that does other work.
const PATIENCE: Duration = Duration::from_secs(10);

/// Largest changed file.
const MAX_BYTES: usize = 1 << 20;

/// Values that readers have to expect in place of any other.
const VALUES: [&str; 24] = [
    "",
    " ",
    "*",
    "0",
    "-1",
    "1",
    "65536",
    "4294967296",
    "18446744073709551616",
    "-9223372036854775808",
    "0x",
    "0xFFFFFFFFFFFFFFFF",
    "1e400",
    "NaN",
    "true",
    "{00000000-0000-0000-0000-000000000000}",
    "{not-a-guid}",
    "(a+)+$",
    "((((((((((((((((a{1,999}){1,999}",
    "[",
    "\\",
    "&#0;&#x110000;&lt;&quot;&unknown;",
    "é\u{202e}\u{0}\u{FFFF}",
    "%s%n{0}{1}$1",
];

/// Gives changed copies of `seeds` to a reader, which has to return in time and must not panic.
/// `ETWKIT_NOISE_SECONDS` is the time of a longer run.
///
/// # Panics
/// The reader takes too long.
pub fn each(seeds: &[&[u8]], read: impl Fn(&[u8])) {
    let seconds = std::env::var("ETWKIT_NOISE_SECONDS")
        .ok()
        .and_then(|seconds| seconds.parse().ok());
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let is_going_on = |round: u64| end.map_or(round < USUAL_ROUNDS, |end| Instant::now() < end);
    let mut round = 0;
    while is_going_on(round) {
        let mut random = Random::new(round);
        let seed = seeds[random.below(seeds.len())];
        let changed = changed(&String::from_utf8_lossy(seed), &mut random);
        let start = Instant::now();
        read(&changed);
        let took = start.elapsed();
        assert!(took < PATIENCE, "round {round} took {took:?}");
        round += 1;
    }
    if end.is_some() {
        let _ = writeln!(std::io::stderr(), "{round} changed files");
    }
}

/// A file with some changes, in one of the encodings of Windows.
fn changed(seed: &str, random: &mut Random) -> Vec<u8> {
    let mut pieces = pieces(seed);
    for _ in 0..=random.below(6) {
        change(&mut pieces, random);
        if pieces.iter().map(String::len).sum::<usize>() > MAX_BYTES {
            break;
        }
    }
    let mut text = pieces.concat();
    text.truncate(text.floor_char_boundary(MAX_BYTES));
    let mut bytes = encoded(&text, random.below(8));
    // Bytes that are no text, rarely.
    if random.below(10) == 0 {
        for _ in 0..=random.below(8) {
            let at = random.below(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.below(256) as u8;
            }
        }
    }
    if random.below(10) == 0 {
        bytes.truncate(random.below(bytes.len()));
    }
    bytes
}

/// The pieces of a file: tags without their values, values, and texts between tags.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut quote = None;
    for c in text.chars() {
        let ends = match quote {
            Some(mark) => c == mark,
            None => matches!(c, '<' | '>' | '"' | '\''),
        };
        if ends && matches!(c, '"' | '\'') {
            quote = if quote.is_some() { None } else { Some(c) };
        }
        if ends {
            pieces.push(String::new());
        }
        if let Some(last) = pieces.last_mut() {
            last.push(c);
        }
    }
    pieces
}

/// Changes some pieces.
fn change(pieces: &mut Vec<String>, random: &mut Random) {
    let at = random.below(pieces.len());
    let len = (1 + random.below(12)).min(pieces.len() - at);
    match random.below(7) {
        // Another value or text; the mark in front of it stays.
        0 | 1 => {
            let mark: String = pieces[at].chars().take(1).collect();
            pieces[at] = mark + VALUES[random.below(VALUES.len())];
        }
        2 => drop(pieces.drain(at..at + len)),
        // Many of the same.
        3 => {
            let copy: Vec<String> = pieces[at..at + len].to_vec();
            let times = 1 << random.below(12);
            let copies: Vec<String> = std::iter::repeat_n(copy, times).flatten().collect();
            pieces.splice(at..at, copies);
        }
        4 => {
            let other = random.below(pieces.len());
            pieces.swap(at, other);
        }
        // Elements in elements.
        5 => {
            let depth = 1 << random.below(14);
            let name = ["Tag", "Region", "x", "Preset", "Profile"][random.below(5)];
            pieces.insert(at, format!("<{name}>").repeat(depth));
            if random.below(2) == 0 {
                pieces.insert(at + 1, format!("</{name}>").repeat(depth));
            }
        }
        _ => pieces[at].insert_str(
            0,
            [
                "<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;&b;\">]>&c;",
                "<!-- ",
                "<![CDATA[",
                "<?xml version=\"1.0\" encoding=\"utf-16\"?>",
                "]]>",
                "\u{FEFF}",
            ][random.below(6)],
        ),
    }
    if pieces.is_empty() {
        pieces.push(String::new());
    }
}

/// A text in an encoding, with or without a byte order mark.
fn encoded(text: &str, encoding: usize) -> Vec<u8> {
    match encoding {
        0 => [&[0xFF, 0xFE][..], &wide(text, u16::to_le_bytes)].concat(),
        1 => [&[0xFE, 0xFF][..], &wide(text, u16::to_be_bytes)].concat(),
        2 => wide(text, u16::to_le_bytes),
        3 => [&[0xEF, 0xBB, 0xBF][..], text.as_bytes()].concat(),
        _ => text.as_bytes().to_vec(),
    }
}

fn wide(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}
