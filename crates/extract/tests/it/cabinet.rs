//! Cabinets, good and hostile.

use etwkit_etl::Order;
use etwkit_extract::{Limits, Options, names_in_archive, open};
use etwkit_testkit::files::zipped;

use crate::packed_trace::{bytes_of, fixture};
use crate::support::{Folder, assert_refused, labels, open_one, summary};

#[test]
fn the_traces_of_a_cabinet_are_one_session_ordered_by_path() {
    let input = open_one(&fixture("mszip.cab")).unwrap();
    assert_eq!(labels(&input), ["mszip.cab: a.etl", "mszip.cab: b.etl"]);
    assert_eq!(summary(&input, Order::Time).events, 80);
    let plain = open_one(&fixture("small.etl")).unwrap();
    let stored = open_one(&fixture("stored.cab")).unwrap();
    assert_eq!(labels(&stored), ["stored.cab: small.etl"]);
    assert_eq!(summary(&stored, Order::Time), summary(&plain, Order::Time));
    assert_eq!(
        names_in_archive(&fixture("mszip.cab")).unwrap(),
        ["readme.txt", "logs\\b.etl", "a.etl"]
    );
}

#[test]
fn a_cabinet_in_an_archive_is_opened() {
    let folder = Folder::new();
    let outer = zipped(&[("Diag.CAB", &bytes_of("stored.cab"))]);
    let input = open_one(&folder.write("outer.zip", &outer)).unwrap();
    assert_eq!(labels(&input), ["outer.zip: small.etl"]);
}

/// Changes bytes of a fixture at the first place of `from`.
fn changed(name: &str, from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = bytes_of(name);
    let at = bytes.windows(from.len()).position(|w| w == from).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to);
    bytes
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = Folder::new();
    let refuse = |bytes: &[u8], parts: &[&str]| {
        assert_refused(open_one(&folder.write("x.cab", bytes)), parts);
    };
    refuse(
        &changed("stored.cab", b"small.etl", b"small.txt"),
        &["no .etl file in x.cab, which holds readme.txt, small.txt"],
    );
    let with = |at: usize, value: u8| {
        let mut bytes = bytes_of("mszip.cab");
        bytes[at] = value;
        bytes
    };
    // The method of the folder.
    let mut quantum = with(42, 0x72);
    quantum[43] = 0x14;
    refuse(
        &quantum,
        &["x.cab is packed with a method that is not supported: Quantum"],
    );
    // The flag for a next cabinet, and a member that goes on there.
    let mut part = with(30, 2);
    part[44 + 8] = 0xFE;
    part[44 + 9] = 0xFF;
    refuse(
        &part,
        &["not supported: a cabinet that is continued in another file"],
    );
    refuse(
        &bytes_of("mszip.cab")[..60],
        &["damaged archive x.cab (60 bytes): expected a cabinet with its directory"],
    );
    refuse(
        &changed("mszip.cab", b"CK", b"CX"),
        &["damaged archive x.cab, member b.etl, after 0 unpacked bytes"],
    );
}

#[test]
fn two_traces_of_one_path_are_refused() {
    let folder = Folder::new();
    // The readme gets the path of a trace, which is as long.
    let mut bytes = bytes_of("mszip.cab");
    let readme = bytes.windows(10).position(|w| w == b"readme.txt").unwrap();
    bytes[readme..readme + 10].copy_from_slice(b"logs\\b.etl");
    assert_refused(
        open_one(&folder.write("x.cab", &bytes)),
        &["x.cab holds more than one file with the path logs\\b.etl"],
    );
}

#[test]
fn limits_are_those_of_other_archives() {
    let limits = Limits {
        total_bytes: 5000,
        ..Limits::default()
    };
    let options = Options {
        limits,
        ..Options::default()
    };
    assert_refused(
        open(&[fixture("mszip.cab")], &options),
        &["mszip.cab: unpacking ", " of the limit of 5000 are left"],
    );
}
