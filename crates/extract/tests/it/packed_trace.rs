//! Packed traces (`.etl.gz` and the like), good and hostile.

use std::io::Write;
use std::path::{Path, PathBuf};

use etwkit_etl::Order;
use etwkit_etl::damage::DamageKind;
use etwkit_extract::{Input, Limits, Options, open, precious};
use etwkit_testkit::Random;
use etwkit_testkit::files::zipped;

use crate::support::{Folder, assert_refused, labels, made, open_one, refused, summary};

const ENDINGS: [&str; 5] = ["gz", "bz2", "xz", "zst", "lz4"];

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/packed")
        .join(name)
}

pub(crate) fn bytes_of(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).unwrap()
}

/// Packs a file with the library that unpacks it, for content that is made while a test runs.
fn pack(ending: &str, bytes: &[u8]) -> Vec<u8> {
    match ending {
        "gz" => {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            packer.write_all(bytes).unwrap();
            packer.finish().unwrap()
        }
        "bz2" => {
            let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
            packer.write_all(bytes).unwrap();
            packer.finish().unwrap()
        }
        "xz" => {
            let options = lzma_rust2::XzOptions::with_preset(0);
            let mut packer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
            packer.write_all(bytes).unwrap();
            packer.finish().unwrap()
        }
        "zst" => zstd::encode_all(bytes, 3).unwrap(),
        "lz4" => {
            let mut packer = lz4_flex::frame::FrameEncoder::new(Vec::new());
            packer.write_all(bytes).unwrap();
            packer.finish().unwrap()
        }
        other => panic!("{other} is not packed here"),
    }
}

fn damage(input: &Input) -> Vec<(DamageKind, u64)> {
    let counts = input.session().damage().counts();
    counts.map(|(kind, count)| (kind, count.bytes)).collect()
}

fn limited(limits: Limits) -> Options {
    Options {
        limits,
        ..Options::default()
    }
}

#[test]
fn a_packed_trace_reads_like_the_plain_one() {
    let plain = open_one(&fixture("small.etl")).unwrap();
    assert_eq!(summary(&plain, Order::Time).events, 40);
    for ending in ENDINGS {
        let name = format!("small.etl.{ending}");
        for mmap in [true, false] {
            let options = Options {
                mmap,
                ..Options::default()
            };
            let input = open(&[fixture(&name)], &options).unwrap();
            assert_eq!(labels(&input), [format!("{name}: small.etl")]);
            assert_eq!(
                summary(&input, Order::Time),
                summary(&plain, Order::Time),
                "{name}"
            );
            assert_eq!(input.source_hash().unwrap(), plain.source_hash().unwrap());
        }
    }
}

#[test]
fn parts_of_a_packed_file_are_read_on() {
    let plain = open_one(&fixture("small.etl")).unwrap();
    let folder = Folder::new();
    for ending in ENDINGS {
        let name = format!("halves.etl.{ending}");
        let halves = bytes_of(&name);
        let mut all = vec![
            (name.clone(), halves.clone()),
            // Tapes and xz fill the last block with zeros.
            (format!("zeros.{ending}"), [&halves[..], &[0; 512]].concat()),
        ];
        // Frames that hold something for other programs.
        if matches!(ending, "zst" | "lz4") {
            let skipped = b"\x5A\x2A\x4D\x18\x03\0\0\0abc";
            let between = [&halves[..], skipped, &halves, skipped].concat();
            let twice = [&halves[..], &halves].concat();
            all.push((format!("end.{ending}"), [&halves[..], skipped].concat()));
            let [between, twice] = [between, twice].map(|bytes| {
                let path = folder.write(&format!("twice.{ending}"), &bytes);
                summary(&open_one(&path).unwrap(), Order::Time)
            });
            assert_eq!(between, twice);
        }
        if ending == "zst" {
            let pzstd = b"\x50\x2A\x4D\x18\x04\0\0\0\x10\0\0\0";
            all.push(("pzstd.zst".to_owned(), [&pzstd[..], &halves].concat()));
        }
        for (name, bytes) in all {
            let input = open_one(&folder.write(&name, &bytes)).unwrap();
            assert_eq!(
                summary(&input, Order::Time),
                summary(&plain, Order::Time),
                "{name}"
            );
        }
    }
}

/// bgzip packs 64 KiB a part, pigz and pbzip2 a few hundred; the last part of bgzip is empty.
#[test]
fn many_small_parts_are_read() {
    let folder = Folder::new();
    let trace = made("dns-5.etl");
    let plain = open_one(&folder.write("dns.etl", &trace)).unwrap();
    for ending in ENDINGS {
        let mut parts: Vec<u8> = trace
            .chunks(500)
            .flat_map(|part| pack(ending, part))
            .collect();
        parts.extend(pack(ending, b""));
        let input = open_one(&folder.write(&format!("dns.etl.{ending}"), &parts)).unwrap();
        assert_eq!(
            summary(&input, Order::Time),
            summary(&plain, Order::Time),
            "{ending}"
        );
    }
}

#[test]
fn the_name_does_not_matter() {
    let folder = Folder::new();
    let packed = folder.write("a.etl", &bytes_of("small.etl.gz"));
    assert_eq!(labels(&open_one(&packed).unwrap()), ["a.etl: a.etl"]);
    let plain = folder.write("b.etl.gz", &bytes_of("small.etl"));
    assert_eq!(labels(&open_one(&plain).unwrap()), ["b.etl.gz"]);
    let one_drive = folder.write("Sync.etlgz", &bytes_of("small.etl.gz"));
    assert_eq!(
        labels(&open_one(&one_drive).unwrap()),
        ["Sync.etlgz: Sync.etl"]
    );
}

#[test]
fn several_packed_traces_are_one_session() {
    let paths = ["small.etl.gz", "small.etl.xz"].map(fixture);
    let input = open(&paths, &Options::default()).unwrap();
    assert_eq!(summary(&input, Order::Time).events, 80);
}

#[test]
fn bytes_behind_the_data_are_counted() {
    let folder = Folder::new();
    for ending in ENDINGS {
        let bytes = [&bytes_of(&format!("small.etl.{ending}"))[..], b"garbage"].concat();
        let input = open_one(&folder.write(&format!("a.etl.{ending}"), &bytes)).unwrap();
        assert_eq!(damage(&input), [(DamageKind::PackedRest, 7)], "{ending}");
        assert_eq!(summary(&input, Order::Time).events, 40);
    }
}

/// A copy that was cut short, at every place: what is there is read, or the error says that nothing is.
#[test]
fn a_truncated_file_is_read_as_far_as_it_goes() {
    let folder = Folder::new();
    let trace = made("dns-5.etl");
    let path = |ending: &str| folder.path(&format!("a.etl.{ending}"));
    for ending in ENDINGS {
        let parts: Vec<Vec<u8>> = trace.chunks(4000).map(|part| pack(ending, part)).collect();
        let whole = parts.concat();
        let (mut read, mut refusals) = (0, 0);
        for len in (20..whole.len()).step_by(whole.len() / 40) {
            std::fs::write(path(ending), &whole[..len]).unwrap();
            match open_one(&path(ending)) {
                Ok(input) => {
                    read += 1;
                    let ends: Vec<usize> = parts
                        .iter()
                        .scan(0, |end, part| {
                            *end += part.len();
                            Some(*end)
                        })
                        .collect();
                    let found = damage(&input);
                    let is_told = found.iter().any(|(kind, _)| *kind == DamageKind::PackedEnd);
                    // What ends behind a whole part is a whole file.
                    assert!(is_told != ends.contains(&len), "{ending} {len}: {found:?}");
                }
                refused => {
                    refusals += 1;
                    assert_refused(refused, &["damaged archive a.etl.", "member a.etl, after "]);
                }
            }
        }
        assert!(read > 20 && refusals > 0, "{ending}: {read} {refusals}");
    }
}

#[test]
fn a_wrong_checksum_is_damage() {
    let folder = Folder::new();
    let mut bytes = bytes_of("small.etl.gz");
    let at = bytes.len() - 8;
    bytes[at] ^= 1;
    let input = open_one(&folder.write("a.etl.gz", &bytes)).unwrap();
    assert_eq!(damage(&input), [(DamageKind::PackedEnd, 0)]);
    let place = &input.session().damage().first_places()[0];
    assert_eq!(place.offset, bytes_of("small.etl").len() as u64);
}

#[test]
fn content_that_is_no_trace_is_named() {
    let folder = Folder::new();
    for (ending, noun) in ENDINGS.iter().zip([
        "gzip file",
        "bzip2 file",
        "xz file",
        "zstd file",
        "lz4 file",
    ]) {
        let name = format!("notes.{ending}");
        let path = folder.write(&name, &pack(ending, &[b'x'; 1000]));
        let parts = [
            &format!(
                "{name}: the {noun} holds no trace | at offset 0x48: expected the trace header"
            ),
            "found 78 78 78",
            "hint: this is text, not a trace",
        ];
        assert_refused(open_one(&path), &parts);
        let empty = folder.write(&name, &pack(ending, b""));
        let text = format!("found an empty file (0 bytes): {name}: notes");
        assert_refused(open_one(&empty), &[&text]);
    }
    let mut tar = vec![0; 1024];
    tar[257..262].copy_from_slice(b"ustar");
    assert_refused(
        open_one(&folder.write("logs.tar.gz", &pack("gz", &tar))),
        &[
            "logs.tar.gz: expected a trace in the gzip file, found a tar archive (.tar)",
            "hint: unpack it (`tar -xf FILE`, also on Windows) and name the .etl files",
        ],
    );
    assert_refused(
        open_one(&folder.write("logs.tar", &tar)),
        &["found a tar archive (.tar): logs.tar", "hint: unpack it"],
    );
    let lzma = b"\x5D\0\0\x80\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0 and more";
    assert_refused(
        open_one(&folder.write("slow.etl.lzma", lzma)),
        &[
            "found an LZMA file (.lzma): slow.etl.lzma",
            "hint: unpack it (`xz -d FILE`, or 7-Zip)",
        ],
    );
}

#[test]
fn a_packed_file_in_an_archive_or_the_other_way_round_is_opened_once() {
    let folder = Folder::new();
    let packed = bytes_of("small.etl.gz");
    let outer = folder.write("outer.zip", &zipped(&[("x/small.etl.gz", &packed)]));
    assert_eq!(labels(&open_one(&outer).unwrap()), ["outer.zip: small.etl"]);
    let logs = zipped(&[("a.log.gz", b"x"), ("small.etl.gz", &packed)]);
    let input = open_one(&folder.write("logs.zip", &logs)).unwrap();
    assert_eq!(labels(&input), ["logs.zip: small.etl"]);
    let zip = zipped(&[("small.etl", &bytes_of("small.etl"))]);
    let outer = folder.write("small.zip.xz", &pack("xz", &zip));
    assert_eq!(
        labels(&open_one(&outer).unwrap()),
        ["small.zip.xz: small.etl"]
    );
    let twice = pack("zst", &packed);
    let outer = folder.write("small.etl.gz.zst", &twice);
    assert_eq!(
        labels(&open_one(&outer).unwrap()),
        ["small.etl.gz.zst: small.etl"]
    );
    let too_deep = folder.write("deep.gz", &pack("gz", &twice));
    assert_refused(
        open_one(&too_deep),
        &[
            "cannot read deep.gz: deep as an event trace",
            "hint: this is an archive inside others",
        ],
    );
}

/// A gibibyte of zeros is no trace, which its first bytes tell: a part of a mebibyte, a thousand times.
#[test]
fn a_bomb_of_zeros_is_refused_at_once() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("tmp")).unwrap();
    for ending in ENDINGS {
        let bomb = pack(ending, &vec![0; 1 << 20]).repeat(1 << 10);
        let path = folder.write(&format!("bomb.etl.{ending}"), &bomb);
        let options = Options {
            temp_dir: Some(folder.path("tmp")),
            // Less than this is ever unpacked.
            limits: Limits {
                total_bytes: 1 << 20,
                ..Limits::default()
            },
            ..Options::default()
        };
        assert_refused(open(&[path], &options), &["holds no trace"]);
    }
}

#[test]
fn limits_apply_to_what_was_unpacked_so_far() {
    let folder = Folder::new();
    let trace = [&bytes_of("small.etl")[..], &vec![0; 8 << 20]].concat();
    for ending in ENDINGS {
        let path = folder.write(&format!("a.etl.{ending}"), &pack(ending, &trace));
        let limits = Limits {
            ratio: 100,
            ratio_from_bytes: 1 << 20,
            ..Limits::default()
        };
        assert_refused(
            open(std::slice::from_ref(&path), &limited(limits)),
            &[
                &format!("a.etl.{ending}: a.etl unpacks from "),
                " to at least ",
                " bytes, more than 100 times",
            ],
        );
        let limits = Limits {
            total_bytes: 2 << 20,
            ..Limits::default()
        };
        assert_refused(
            open(&[path], &limited(limits)),
            &[
                &format!("a.etl.{ending}: unpacking a.etl needs at least 2"),
                "and 2097152 of the limit of 2097152 are left",
                "hint: raise the limit",
            ],
        );
    }
    let limits = Limits {
        members: 1,
        ..Limits::default()
    };
    let two = ["small.etl.gz", "small.etl.xz"].map(fixture);
    assert_refused(
        open(&two, &limited(limits)),
        &["small.etl.xz holds 2 traces, and 1 is the limit"],
    );
}

/// Names of windows and dictionaries that a few bytes ask for.
#[test]
fn a_large_dictionary_is_refused() {
    let folder = Folder::new();
    // A frame with a window of 2 GiB, and one of 256 MiB.
    for window in [0xA8, 0x90] {
        let frame = [0x28, 0xB5, 0x2F, 0xFD, 0x00, window, 0x01, 0, 0];
        let text = refused(open_one(&folder.write("a.etl.zst", &frame)));
        assert!(text.contains("too much memory"), "{text}");
    }
}

#[test]
fn packed_traces_are_not_overwritten_and_other_packed_files_are() {
    let folder = Folder::new();
    for ending in ENDINGS {
        let trace = fixture(&format!("small.etl.{ending}"));
        assert_eq!(precious(&trace), Some("a packed trace"), "{ending}");
        let other = folder.write("profile.pb.gz", &pack(ending, &[7; 1000]));
        assert_eq!(precious(&other), None, "{ending}");
    }
}

#[test]
fn any_damage_gets_an_answer() {
    let folder = Folder::new();
    let mut random = Random::new(1);
    let mut names: Vec<String> = ENDINGS.map(|ending| format!("halves.etl.{ending}")).into();
    names.extend(["mszip.cab", "stored.cab"].map(str::to_owned));
    for name in names {
        let whole = bytes_of(&name);
        let (mut read, mut refusals) = (0, 0);
        for _ in 0..300 {
            let mut bytes = whole.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                bytes[at] = random.below(256) as u8;
            }
            if random.below(4) == 0 {
                bytes.truncate(random.below(bytes.len()) + 1);
            }
            match open_one(&folder.write(&name, &bytes)) {
                Ok(input) => {
                    read += 1;
                    drop(summary(&input, Order::File));
                }
                Err(error) => {
                    refusals += 1;
                    assert!(!error.to_string().is_empty());
                }
            }
        }
        assert!(refusals > 0 && read > 0, "{name}: {read} {refusals}");
    }
}
