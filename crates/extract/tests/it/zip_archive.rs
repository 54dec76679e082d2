//! Zip archives, good and hostile.

use std::io::Cursor;

use etwkit_etl::Order;
use etwkit_etl::damage::DamageKind;
use etwkit_extract::{Limits, Options, open};
use etwkit_testkit::files::{seven_zipped, zipped};

use crate::support::{Folder, assert_refused, labels, made, open_one, summary};

fn limited(limits: Limits) -> Options {
    Options {
        limits,
        ..Options::default()
    }
}

#[test]
fn all_traces_of_an_archive_are_one_session_ordered_by_path() {
    let folder = Folder::new();
    let trace = made("power-5.etl");
    let members: [(&str, &[u8]); 4] = [
        ("z/b.etl", &trace),
        ("metadata.xml", b"<x/>"),
        ("a/C.ETL", &trace),
        ("m.etl", &trace),
    ];
    let path = folder.write("run.diagsession", &zipped(&members));
    let input = open_one(&path).unwrap();
    assert_eq!(
        labels(&input),
        [
            "run.diagsession: C.ETL",
            "run.diagsession: m.etl",
            "run.diagsession: b.etl"
        ]
    );
    assert_eq!(summary(&input, Order::Time).events, 3 * 154);
}

/// A second of the office, of one seed.
fn office(seed: u64) -> Vec<u8> {
    let options = etwkit_synth::Options {
        seed,
        ..etwkit_synth::Options::default()
    };
    let scenario = etwkit_synth::find("office").unwrap();
    let (trace, _) = scenario.write(Cursor::new(Vec::new()), &options).unwrap();
    trace.into_inner()
}

#[test]
fn an_archive_with_several_recordings_is_refused_with_their_names() {
    let folder = Folder::new();
    // One logger at the same time, and two boots of one machine.
    let logger = [("slow.etl", office(1)), ("good.etl", office(2))];
    let boots = [
        ("slow.etl", made("sched-5.etl")),
        ("good.etl", made("power-5.etl")),
    ];
    for traces in [logger, boots] {
        let members: Vec<(&str, &[u8])> = traces
            .iter()
            .map(|(name, bytes)| (*name, bytes.as_slice()))
            .collect();
        for (name, bytes) in [
            ("two.zip", zipped(&members)),
            ("two.7z", seven_zipped(&members)),
        ] {
            let says = "holds traces that were not recorded together: good.etl, slow.etl";
            let parts = [name, says, "hint: unpack it into a folder"];
            assert_refused(open_one(&folder.write(name, &bytes)), &parts);
        }
    }
}

#[test]
fn a_zipped_trace_reads_like_the_plain_one_mapped_or_not() {
    let folder = Folder::new();
    let trace = made("dns-5.etl");
    let plain = open_one(&folder.write("dns.etl", &trace)).unwrap();
    let path = folder.write("dns.etl.zip", &zipped(&[("dns.etl", &trace)]));
    for mmap in [true, false] {
        let input = open(
            std::slice::from_ref(&path),
            &Options {
                mmap,
                ..Options::default()
            },
        )
        .unwrap();
        assert_eq!(summary(&input, Order::Time), summary(&plain, Order::Time));
    }
}

#[test]
fn an_archive_in_an_archive_is_opened_once() {
    let folder = Folder::new();
    let inner = zipped(&[("dns.etl", &made("dns-5.etl"))]);
    let outer = zipped(&[("readme.txt", b"hello"), ("dns.etl.zip", &inner)]);
    let input = open_one(&folder.write("outer.zip", &outer)).unwrap();
    assert_eq!(labels(&input), ["outer.zip: dns.etl"]);
    assert_eq!(summary(&input, Order::Time).events, 546);
    let too_deep = zipped(&[("outer.zip", &outer)]);
    assert_refused(
        open_one(&folder.write("deep.zip", &too_deep)),
        &["cannot read deep.zip: dns.etl.zip"],
    );
}

#[test]
fn members_are_never_written_by_name() {
    let folder = Folder::new();
    let trace = made("power-5.etl");
    let names = [
        "../../evil.etl",
        "/evil2.etl",
        "C:\\evil3.etl",
        "..\\evil4.etl",
        "NUL.etl",
    ];
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, trace.as_slice())).collect();
    let path = folder.write("evil.zip", &zipped(&members));
    std::fs::create_dir(folder.path("tmp")).unwrap();
    let options = Options {
        temp_dir: Some(folder.path("tmp")),
        ..Options::default()
    };
    let input = open(&[path], &options).unwrap();
    let shown: Vec<_> = input
        .parts()
        .iter()
        .map(|part| part.name.as_str())
        .collect();
    assert_eq!(
        shown,
        ["evil.etl", "evil4.etl", "evil2.etl", "evil3.etl", "NUL.etl"]
    );
    drop(input);
    assert_eq!(
        std::fs::read_dir(folder.path("tmp")).unwrap().count(),
        0,
        "nothing stays behind"
    );
    assert_eq!(
        std::fs::read_dir(folder.path("")).unwrap().count(),
        2,
        "nothing lies beside the archive"
    );
}

#[test]
fn the_error_of_an_archive_without_a_trace_lists_what_it_holds() {
    let folder = Folder::new();
    let many: Vec<String> = (0..10).map(|n| format!("logs/{n}.txt")).collect();
    let members: Vec<(&str, &[u8])> = many.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    let parts = [
        "no .etl file in logs.zip, which holds 0.txt, 1.txt",
        "7.txt and 2 more",
    ];
    assert_refused(
        open_one(&folder.write("logs.zip", &zipped(&members))),
        &parts,
    );
    assert_refused(
        open_one(&folder.write("empty.zip", &zipped(&[]))),
        &["which holds nothing"],
    );
}

#[test]
fn an_empty_member_is_named() {
    let folder = Folder::new();
    let path = folder.write("a.zip", &zipped(&[("x/empty.etl", b"")]));
    assert_refused(
        open_one(&path),
        &["found an empty file (0 bytes): a.zip: empty.etl"],
    );
}

#[test]
fn members_that_are_no_traces_are_left_out_next_to_traces() {
    let folder = Folder::new();
    let trace = made("power-5.etl");
    let members: [(&str, &[u8]); 4] = [
        ("a/notes.etl", b"no trace at all"),
        ("b.etl", &trace),
        ("c.etl", b""),
        ("d.etl", &trace),
    ];
    let path = folder.write("a.zip", &zipped(&members));
    let input = open_one(&path).unwrap();
    assert_eq!(labels(&input), ["a.zip: b.etl", "a.zip: d.etl"]);
    let counts: Vec<_> = input.session().damage().counts().collect();
    let [(kind, count)] = counts.as_slice() else {
        panic!("{counts:?}")
    };
    assert_eq!(
        (*kind, count.places, count.bytes),
        (DamageKind::UnreadableMember, 2, 15)
    );
    // A file that was named is never left out.
    let named = folder.write("named.etl", b"no trace at all");
    assert_refused(open(&[path, named], &Options::default()), &["named.etl"]);
    let none: [(&str, &[u8]); 2] = [("a.etl", b""), ("b.etl", b"no trace at all")];
    assert_refused(
        open_one(&folder.write("none.zip", &zipped(&none))),
        &["found an empty file (0 bytes): none.zip: a.etl"],
    );
}

/// macOS packs attributes of a file under its name with `._` before it.
#[test]
fn attributes_that_macos_packs_are_no_traces() {
    let folder = Folder::new();
    let trace = made("power-5.etl");
    let members: [(&str, &[u8]); 3] = [
        ("logs/power.etl", &trace),
        ("__MACOSX/logs/._power.etl", b"\0\x05\x16\x07attributes"),
        ("logs/.DS_Store", b"\0\0\0\x01Bud1"),
    ];
    let input = open_one(&folder.write("a.zip", &zipped(&members))).unwrap();
    assert_eq!(labels(&input), ["a.zip: power.etl"]);
    let inner = zipped(&members);
    let members: [(&str, &[u8]); 2] = [("in.zip", &inner), ("__MACOSX/._in.zip", b"attributes")];
    let input = open_one(&folder.write("b.zip", &zipped(&members))).unwrap();
    assert_eq!(labels(&input), ["b.zip: power.etl"]);
    let members: [(&str, &[u8]); 1] = [("__MACOSX/._power.etl", b"attributes")];
    assert_refused(
        open_one(&folder.write("c.zip", &zipped(&members))),
        &["no .etl file in c.zip, which holds ._power.etl"],
    );
}

/// 7-Zip can write zip archives with methods of other formats.
#[test]
fn a_method_that_is_not_unpacked_is_named() {
    const BZIP2: u8 = 12;
    let folder = Folder::new();
    let mut bytes = zipped(&[("a.etl", &made("power-5.etl"))]);
    let central = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    bytes[8] = BZIP2;
    bytes[central + 10] = BZIP2;
    assert_refused(
        open_one(&folder.write("a.zip", &bytes)),
        &[
            "zip method Bzip2",
            "hint: unpack it and name the .etl files",
        ],
    );
}

#[test]
fn an_encrypted_member_is_refused() {
    let folder = Folder::new();
    let mut bytes = zipped(&[("a.etl", &made("power-5.etl"))]);
    let central = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    bytes[6] |= 1;
    bytes[central + 8] |= 1;
    let parts = [
        "a.zip is encrypted (member a.etl)",
        "hint: unpack it with its password",
    ];
    assert_refused(open_one(&folder.write("a.zip", &bytes)), &parts);
}

#[test]
fn a_truncated_archive_is_damaged_as_a_whole() {
    let folder = Folder::new();
    let bytes = zipped(&[("a.etl", &made("dns-5.etl"))]);
    let half = bytes.len() / 2;
    let size = format!("damaged archive a.zip ({half} bytes)");
    let parts = [
        size.as_str(),
        "expected a zip archive with its directory at the end",
        "hint: copy or download",
    ];
    assert_refused(open_one(&folder.write("a.zip", &bytes[..half])), &parts);
}

#[test]
fn a_damaged_member_is_named_with_its_position() {
    let folder = Folder::new();
    let mut bytes = zipped(&[
        ("good.etl", &made("power-5.etl")),
        ("bad.etl", &made("dns-5.etl")),
    ]);
    let central = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    bytes[central - 50] ^= 0xFF;
    let parts = [
        "damaged archive a.zip, member bad.etl, after ",
        "expected 15817 intact bytes",
    ];
    assert_refused(open_one(&folder.write("a.zip", &bytes)), &parts);
}

#[test]
fn a_member_that_is_longer_than_declared_is_refused() {
    let folder = Folder::new();
    let mut bytes = zipped(&[("a.etl", &made("power-5.etl"))]);
    let central = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    for at in [22, central + 24] {
        bytes[at..at + 4].copy_from_slice(&100u32.to_le_bytes());
    }
    assert_refused(
        open_one(&folder.write("a.zip", &bytes)),
        &["member a.etl, after ", "File is larger than its declared"],
    );
}

#[test]
fn a_bomb_is_refused_before_it_is_unpacked() {
    let folder = Folder::new();
    let path = folder.write("bomb.zip", &zipped(&[("bomb.etl", &vec![0; 8 << 20])]));
    let limits = Limits {
        ratio: 100,
        ratio_from_bytes: 1 << 20,
        ..Limits::default()
    };
    let parts = [
        "bomb.etl unpacks from ",
        " to 8388608 bytes, more than 100 times",
    ];
    assert_refused(open(&[path], &limited(limits)), &parts);
}

#[test]
fn the_limit_counts_all_inputs() {
    let folder = Folder::new();
    let trace = made("power-5.etl");
    let paths = ["a.zip", "b.zip"].map(|name| folder.write(name, &zipped(&[("x.etl", &trace)])));
    let enough = Limits {
        total_bytes: 2 * 6263,
        ..Limits::default()
    };
    assert!(open(&paths, &limited(enough)).is_ok());
    let short = Limits {
        total_bytes: 2 * 6263 - 1,
        ..Limits::default()
    };
    let parts =
        ["b.zip: unpacking x.etl needs 6263 bytes, and 6262 of the limit of 12525 are left"];
    assert_refused(open(&paths, &limited(short)), &parts);
    let few = Limits {
        members: 1,
        ..Limits::default()
    };
    assert_refused(
        open(&paths, &limited(few)),
        &["b.zip holds 2 traces, and 1 is the limit"],
    );
}

#[test]
fn a_missing_temporary_folder_is_named() {
    let folder = Folder::new();
    let path = folder.write("a.zip", &zipped(&[("a.etl", &made("power-5.etl"))]));
    let options = Options {
        temp_dir: Some(folder.path("gone")),
        ..Options::default()
    };
    let parts = [
        "cannot write a temporary file in ",
        "gone",
        "hint: set ETWKIT_TMP",
    ];
    assert_refused(open(&[path], &options), &parts);
}

/// The directory may name a path twice, which most unpacking programs show as one file.
#[test]
fn two_traces_of_one_path_are_refused_and_other_doubles_are_not() {
    let folder = Folder::new();
    let trace = made("power-5.etl");
    let doubled = |first: &str, second: &str| {
        let mut bytes = zipped(&[
            ("a.etl", &trace),
            (first, &trace),
            ("x.txt", b"1"),
            (second, &trace),
        ]);
        // The writer refuses a second member of one path: it is renamed in both headers.
        let at: Vec<usize> = bytes
            .windows(second.len())
            .enumerate()
            .filter(|(_, w)| *w == second.as_bytes())
            .map(|(at, _)| at)
            .collect();
        for at in at {
            bytes[at..at + second.len()].copy_from_slice(first.as_bytes());
        }
        bytes
    };
    let parts = [
        "a.zip holds more than one file with the path x/b.etl",
        "hint: unpack the files one by one",
    ];
    assert_refused(
        open_one(&folder.write("a.zip", &doubled("x/b.etl", "x/c.etl"))),
        &parts,
    );
    let input = open_one(&folder.write("b.zip", &doubled("x/b.log", "x/c.log"))).unwrap();
    assert_eq!(labels(&input), ["b.zip: a.etl"]);
}
