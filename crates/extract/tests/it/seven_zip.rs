//! 7z archives, good and hostile.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use etwkit_etl::Order;
use etwkit_extract::{Limits, Options, open};
use etwkit_testkit::files::seven_zipped;
use sevenz_rust2::{ArchiveEntry, ArchiveWriter};

use crate::support::{Folder, assert_refused, labels, made, open_one, summary};

/// A 7z archive of these members, compressed together.
fn solid(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Cursor::new(Vec::new())).unwrap();
    let entries = members
        .iter()
        .map(|(name, _)| ArchiveEntry::new_file(name))
        .collect();
    let readers = members
        .iter()
        .map(|(_, bytes)| sevenz_rust2::SourceReader::new(*bytes))
        .collect();
    writer.push_archive_entries(entries, readers).unwrap();
    writer.finish().unwrap().into_inner()
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

#[test]
fn all_traces_of_an_archive_are_one_session_ordered_by_path() {
    let folder = Folder::new();
    let trace = made("power-5.etl");
    let members: [(&str, &[u8]); 3] = [
        ("z/b.etl", &trace),
        ("notes.txt", b"notes"),
        ("a/c.etl", &trace),
    ];
    for bytes in [seven_zipped(&members), solid(&members)] {
        let input = open_one(&folder.write("run.7z", &bytes)).unwrap();
        assert_eq!(labels(&input), ["run.7z: c.etl", "run.7z: b.etl"]);
        assert_eq!(summary(&input, Order::Time).events, 2 * 154);
    }
}

#[test]
fn the_error_of_an_archive_without_a_trace_lists_what_it_holds() {
    let folder = Folder::new();
    let path = folder.write("x.7z", &seven_zipped(&[("notes.txt", b"notes")]));
    assert_refused(
        open_one(&path),
        &["no .etl file in x.7z, which holds notes.txt"],
    );
}

#[test]
fn encrypted_archives_are_refused() {
    let parts = [
        "encrypted.7z is encrypted",
        "hint: unpack it with its password",
    ];
    assert_refused(open_one(&fixture("encrypted.7z")), &parts);
    assert_refused(
        open_one(&fixture("encrypted-names.7z")),
        &["encrypted-names.7z is encrypted"],
    );
}

#[test]
fn a_truncated_archive_is_damaged_as_a_whole() {
    let folder = Folder::new();
    let bytes = seven_zipped(&[("a.etl", &made("dns-5.etl"))]);
    for len in [10, bytes.len() / 2, bytes.len() - 1] {
        let size = format!("damaged archive a.7z ({len} bytes)");
        assert_refused(
            open_one(&folder.write("a.7z", &bytes[..len])),
            &[&size, "expected a 7z archive"],
        );
    }
}

#[test]
fn a_damaged_member_is_named() {
    let folder = Folder::new();
    let mut bytes = seven_zipped(&[("a.etl", &made("dns-5.etl"))]);
    bytes[2000] ^= 0xFF;
    assert_refused(
        open_one(&folder.write("a.7z", &bytes)),
        &["damaged archive a.7z, member a.etl, after "],
    );
}

#[test]
fn every_cut_and_every_changed_byte_gives_an_answer() {
    let folder = Folder::new();
    let bytes = seven_zipped(&[("a.etl", &made("power-5.etl"))]);
    for at in (0..bytes.len()).step_by(7) {
        let _ = open_one(&folder.write("cut.7z", &bytes[..at]));
        let mut changed = bytes.clone();
        changed[at] ^= 0x55;
        let _ = open_one(&folder.write("changed.7z", &changed));
    }
}

#[test]
fn what_lies_in_front_of_a_trace_counts_for_the_limit() {
    let folder = Folder::new();
    let zeros = vec![0; 1 << 20];
    let trace = made("power-5.etl");
    let path = folder.write("a.7z", &solid(&[("zeros.bin", &zeros), ("a.etl", &trace)]));
    assert!(open_one(&path).is_ok());
    let limits = Limits {
        total_bytes: 1 << 20,
        ..Limits::default()
    };
    let parts = ["a.7z: unpacking the whole of it needs 1054839 bytes"];
    assert_refused(
        open(
            &[path],
            &Options {
                limits,
                ..Options::default()
            },
        ),
        &parts,
    );
}

#[test]
fn a_bomb_is_refused_before_it_is_unpacked() {
    let folder = Folder::new();
    let path = folder.write("bomb.7z", &seven_zipped(&[("bomb.etl", &vec![0; 8 << 20])]));
    let limits = Limits {
        ratio: 1000,
        ratio_from_bytes: 1 << 20,
        ..Limits::default()
    };
    let parts = ["bomb.etl unpacks from ", "more than 1000 times"];
    assert_refused(
        open(
            &[path],
            &Options {
                limits,
                ..Options::default()
            },
        ),
        &parts,
    );
}

#[test]
fn an_archive_that_wants_gigabytes_to_be_unpacked_is_refused() {
    let folder = Folder::new();
    let mut bytes = seven_zipped(&[("a.etl", &made("power-5.etl"))]);
    let word = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
    };
    let (from, len) = (32 + word(&bytes, 12), word(&bytes, 20));
    let header = &mut bytes[from..from + len];
    // One coder: length of its ID and a flag for properties, the ID of LZMA2, one byte of
    // properties.
    let at = header
        .windows(3)
        .position(|found| found == [0x21, 0x21, 1])
        .unwrap();
    // 4 GiB.
    header[at + 3] = 40;
    let sum = crc(header);
    bytes[28..32].copy_from_slice(&sum);
    let sum = crc(&bytes[12..32]);
    bytes[8..12].copy_from_slice(&sum);
    let path = folder.write("a.7z", &bytes);
    let parts = [
        "a.7z is packed with a method that is not supported: a dictionary of 4096 MiB, and 512 MiB is the limit",
    ];
    assert_refused(open_one(&path), &parts);
}

/// The checksum of 7z archives.
fn crc(bytes: &[u8]) -> [u8; 4] {
    let step = |crc: u32, _| {
        if crc & 1 == 0 {
            crc >> 1
        } else {
            crc >> 1 ^ 0xEDB8_8320
        }
    };
    let crc = bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), step)
    });
    (!crc).to_le_bytes()
}
