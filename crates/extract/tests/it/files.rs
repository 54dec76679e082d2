//! Plain files.

use etwkit_etl::Order;
use etwkit_extract::{Options, open};

use crate::support::{Folder, assert_refused, labels, made, open_one, refused, summary};

#[test]
fn a_file_opens_by_content_whatever_its_name() {
    let folder = Folder::new();
    let input = open_one(&folder.write("trace.bin", &made("power-5.etl"))).unwrap();
    assert_eq!(labels(&input), ["trace.bin"]);
    assert_eq!(
        (input.parts()[0].size, input.session().files().len()),
        (6263, 1)
    );
    assert_eq!(summary(&input, Order::Time).events, 154);
}

#[test]
fn maps_and_positions_read_the_same() {
    let folder = Folder::new();
    for name in ["power-5.etl", "dns-5.etl", "tcp-5.etl"] {
        let path = folder.write(name, &made(name));
        let mapped = open_one(&path).unwrap();
        let positions = open(
            &[path],
            &Options {
                mmap: false,
                ..Options::default()
            },
        )
        .unwrap();
        for order in [Order::Time, Order::File] {
            assert_eq!(
                summary(&mapped, order),
                summary(&positions, order),
                "{name}"
            );
        }
    }
}

#[test]
fn files_keep_the_order_in_which_they_are_named() {
    let folder = Folder::new();
    let b = folder.write("b.etl", &made("power-5.etl"));
    let a = folder.write("a.etl", &made("power-5.etl"));
    let input = open(&[b, a], &Options::default()).unwrap();
    assert_eq!(labels(&input), ["b.etl", "a.etl"]);
    assert_eq!(summary(&input, Order::Time).events, 308);
}

#[test]
fn nothing_named_is_an_error() {
    assert_refused(
        open(&[], &Options::default()),
        &["no trace was named", "hint: name one .etl file"],
    );
}

#[test]
fn a_missing_file_is_named() {
    let path = Folder::new().path("gone.etl");
    assert_refused(
        open_one(&path),
        &["cannot open ", "gone.etl", "hint: check the name"],
    );
}

#[test]
fn an_empty_file_is_refused() {
    let folder = Folder::new();
    assert_refused(
        open_one(&folder.write("empty.etl", b"")),
        &["found an empty file (0 bytes): empty.etl"],
    );
}

#[test]
fn a_folder_is_refused_and_its_traces_counted() {
    let folder = Folder::new();
    folder.write("a.etl", b"x");
    folder.write("b.ETL", b"x");
    folder.write("c.txt", b"x");
    assert_refused(
        open_one(&folder.path("")),
        &[
            "found a folder with 2 .etl files",
            "hint: name the .etl files",
        ],
    );
}

#[test]
fn an_extract_in_place_of_a_trace_is_named() {
    let folder = Folder::new();
    folder.write("manifest.json", b"{}");
    assert_refused(
        open_one(&folder.path("")),
        &["hint: this is an extract: `etwkit dump overview`"],
    );
}

#[test]
fn a_lake_in_place_of_a_trace_is_named() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("run").join("_delta_log")).unwrap();
    assert_refused(
        open_one(&folder.path("")),
        &["hint: this is a lake: `etwkit lake list`"],
    );
}

#[test]
fn the_same_file_twice_is_refused() {
    let folder = Folder::new();
    let path = folder.write("a.etl", &made("power-5.etl"));
    let detour = folder.path(".").join("a.etl");
    assert_refused(
        open(&[path, detour], &Options::default()),
        &["named twice: "],
    );
}

#[test]
fn a_file_that_is_no_trace_is_named_with_what_was_expected() {
    let folder = Folder::new();
    let good = folder.write("good.etl", &made("power-5.etl"));
    let text = folder.write("notes.etl", &[b'x'; 4096]);
    let parts = [
        "cannot read notes.etl as an event trace",
        "at offset 0x48: expected the trace header event",
    ];
    assert_refused(open(&[good, text], &Options::default()), &parts);
}

#[test]
fn a_file_of_another_session_is_named() {
    let folder = Folder::new();
    let first = folder.write("a.etl", &made("power-5.etl"));
    // The ticks per second of the performance counter are at offset 252 of the payload of the
    // header event.
    let mut other = made("power-5.etl");
    let frequency = 3_579_545u64.to_le_bytes();
    let at = other.windows(8).position(|w| w == frequency).unwrap();
    other[at] ^= 1;
    let second = folder.write("b.etl", &other);
    let parts = [
        "cannot read b.etl",
        "file 2 does not belong",
        "hint: name only files that were recorded together",
    ];
    assert_refused(open(&[first, second], &Options::default()), &parts);
}

#[test]
fn archives_of_other_kinds_are_distinguished() {
    let folder = Folder::new();
    for (magic, kind) in [
        (&b"MSWIM\0\0\0"[..], "a Windows image (.wim)"),
        (b"\x02\x21\x4C\x18", "an old lz4 file"),
        (b"Rar!\x1A\x07\0", "a RAR archive (.rar)"),
    ] {
        let text = refused(open_one(&folder.write("x.etl", magic)));
        assert!(
            text.contains(kind) && text.contains("hint: unpack it"),
            "{text}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_without_waiting_for_its_writer() {
    let folder = Folder::new();
    let path = folder.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no mkfifo here");
        return;
    }
    assert_refused(
        open_one(&path),
        &[
            "found a pipe or device",
            "hint: save the trace to a file first",
        ],
    );
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let path = folder.write("secret.etl", &made("power-5.etl"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&path).is_ok() {
        eprintln!("skipped: this user reads every file");
        return;
    }
    assert_refused(
        open_one(&path),
        &["cannot open ", "secret.etl", "hint: make the file readable"],
    );
}
