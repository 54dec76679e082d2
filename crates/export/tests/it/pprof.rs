//! Profiles of pprof: by a decoder of a few lines, and by `go tool pprof` where Go is installed.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::Command;

use etwkit_export::{ExportRequest, format};
use etwkit_question::ProcessQuery;
use etwkit_question::range::Range;
use etwkit_questions::cpu::Metric;
use flate2::read::GzDecoder;

use super::made_stacks::{WEIGHT, recorded, session};

/// Fields of a message by number: numbers, and the bytes of all other fields.
#[derive(Default)]
struct Fields(BTreeMap<u64, Vec<(u64, Vec<u8>)>>);

impl Fields {
    fn read(mut bytes: &[u8]) -> Self {
        let mut fields = Self::default();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let value = match key & 7 {
                1 => fixed(&mut bytes),
                _ => varint(&mut bytes),
            };
            let block = match key & 7 {
                0 | 1 => Vec::new(),
                2 => {
                    let (block, rest) = bytes.split_at(value as usize);
                    bytes = rest;
                    block.to_vec()
                }
                other => panic!("wire type {other}"),
            };
            fields.0.entry(key >> 3).or_default().push((value, block));
        }
        fields
    }

    fn number(&self, field: u64) -> u64 {
        self.0.get(&field).map_or(0, |values| values[0].0)
    }

    fn blocks(&self, field: u64) -> impl Iterator<Item = &[u8]> {
        self.0
            .get(&field)
            .into_iter()
            .flatten()
            .map(|(_, block)| block.as_slice())
    }

    fn messages(&self, field: u64) -> Vec<Self> {
        self.blocks(field).map(Self::read).collect()
    }

    fn packed(&self, field: u64) -> Vec<u64> {
        let mut numbers = Vec::new();
        for mut block in self.blocks(field) {
            while !block.is_empty() {
                numbers.push(varint(&mut block));
            }
        }
        numbers
    }
}

fn fixed(bytes: &mut &[u8]) -> u64 {
    let (first, rest) = bytes.split_first_chunk().unwrap();
    *bytes = rest;
    u64::from_le_bytes(*first)
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for place in 0.. {
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        number |= u64::from(first & 0x7F) << (7 * place);
        if first & 0x80 == 0 {
            break;
        }
    }
    number
}

/// A stack, outermost frame first, with its values and labels.
#[derive(Debug, PartialEq)]
pub(crate) struct Sample {
    stack: String,
    values: Vec<u64>,
    labels: Vec<String>,
}

pub(crate) struct Profile {
    pub(crate) samples: Vec<Sample>,
    pub(crate) strings: Vec<String>,
    /// File and build id.
    pub(crate) mappings: Vec<(String, String)>,
    types: Vec<String>,
    time_ns: u64,
    duration_ns: u64,
}

impl Profile {
    /// Reads a profile; all that it refers to has to be there.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut message = Vec::new();
        GzDecoder::new(bytes).read_to_end(&mut message).unwrap();
        let profile = Fields::read(&message);
        let strings: Vec<String> = profile
            .blocks(6)
            .map(|text| String::from_utf8(text.to_vec()).unwrap())
            .collect();
        assert_eq!(strings[0], "");
        let text = |number: u64| strings[number as usize].clone();
        let by_id = |field: u64| -> BTreeMap<u64, Fields> {
            profile
                .messages(field)
                .into_iter()
                .map(|message| (message.number(1), message))
                .collect()
        };
        let (mappings, locations, functions) = (by_id(3), by_id(4), by_id(5));
        assert!(
            [&mappings, &locations, &functions]
                .iter()
                .all(|by_id| !by_id.contains_key(&0))
        );
        let name = |location: u64| {
            let location = &locations[&location];
            let mapping = location.number(2);
            assert!(mapping == 0 || mappings.contains_key(&mapping));
            text(functions[&location.messages(4)[0].number(1)].number(2))
        };
        let sample = |sample: &Fields| {
            let stack: Vec<String> = sample.packed(1).into_iter().rev().map(name).collect();
            let label = |label: &Fields| {
                let value = if label.number(2) > 0 {
                    text(label.number(2))
                } else {
                    label.number(3).to_string()
                };
                format!("{}={value}", text(label.number(1)))
            };
            let labels = sample.messages(3).iter().map(label).collect();
            Sample {
                stack: stack.join(";"),
                values: sample.packed(2),
                labels,
            }
        };
        let types = profile
            .messages(1)
            .into_iter()
            .map(|t| format!("{}/{}", text(t.number(1)), text(t.number(2))));
        // In the order of the file, in which the first one is the program.
        let mapping = |mapping: &Fields| (text(mapping.number(5)), text(mapping.number(6)));
        Self {
            samples: profile.messages(2).iter().map(sample).collect(),
            types: types.collect(),
            mappings: profile.messages(3).iter().map(mapping).collect(),
            time_ns: profile.number(9),
            duration_ns: profile.number(10),
            strings,
        }
    }
}

fn written(request: &ExportRequest) -> Vec<u8> {
    let mut out = Vec::new();
    request
        .write(format("pprof").unwrap(), &session(), &mut out)
        .unwrap();
    out
}

#[test]
fn processes_are_labels_and_modules_mappings() {
    let request = ExportRequest {
        process_roots: true,
        ..ExportRequest::default()
    };
    let profile = Profile::read(&written(&request));
    assert_eq!(profile.types, ["cpu/nanoseconds", "samples/count"]);
    let samples: Vec<String> = profile
        .samples
        .iter()
        .map(|s| {
            format!(
                "{} {}x{} {}",
                s.stack,
                s.values[0] / WEIGHT as u64,
                s.values[1],
                s.labels.join(" ")
            )
        })
        .collect();
    assert_eq!(
        samples,
        [
            "shop.dll!main 1x1 pid=8 process=shop.exe",
            "shop.dll!main;shop.dll!a 1x1 pid=8 process=shop.exe",
            "shop.dll!main;shop.dll!b 2x2 pid=8 process=shop.exe",
            "shop.dll!main;shop.dll!b 1x1 pid=12 process=db.exe",
            "shop.dll+0x40 1x1 pid=12 process=db.exe",
        ]
    );
    assert_eq!(
        profile
            .samples
            .iter()
            .map(|sample| sample.values[0])
            .sum::<u64>(),
        6 * WEIGHT as u64
    );
    let identity = "B5D2EA6F6D5A4AB29E5A6A6D8F0E3C212";
    assert_eq!(
        profile.mappings,
        [("shop.dll".to_owned(), identity.to_owned())]
    );
}

#[test]
fn threads_are_labels_where_they_are_kept_apart() {
    let processes = ProcessQuery {
        process: Some("8".into()),
        ..ProcessQuery::default()
    };
    let request = ExportRequest {
        processes,
        thread_roots: true,
        ..ExportRequest::default()
    };
    let profile = Profile::read(&written(&request));
    let of_thread = |tid: &str| {
        let label = format!("tid={tid}");
        profile
            .samples
            .iter()
            .filter(|sample| sample.labels.contains(&label))
            .count()
    };
    assert_eq!(
        (of_thread("80"), of_thread("84"), profile.samples.len()),
        (2, 2, 4)
    );
}

#[test]
fn a_profile_of_nothing_is_a_profile() {
    let processes = ProcessQuery {
        process: Some("nobody".into()),
        ..ProcessQuery::default()
    };
    let profile = Profile::read(&written(&ExportRequest {
        processes,
        ..ExportRequest::default()
    }));
    assert_eq!(
        (
            profile.samples.len(),
            profile.mappings.len(),
            profile.duration_ns
        ),
        (0, 0, 0)
    );
    let metric = Metric::Wait;
    let request = ExportRequest {
        metric,
        ..ExportRequest::default()
    };
    let error = request
        .write(format("pprof").unwrap(), &session(), &mut Vec::new())
        .unwrap_err();
    assert!(error.is_nothing(), "{error}");
}

/// Returns start and length in a file of OpenTelemetry.
fn extent_of_otlp(bytes: &[u8]) -> (u64, u64) {
    let only = |message: &Fields, field| {
        let mut all = message.messages(field);
        assert_eq!(all.len(), 1);
        all.remove(0)
    };
    let resource = only(&Fields::read(bytes), 1);
    let scope = only(&resource, 2);
    let profile = only(&scope, 2);
    (profile.number(3), profile.number(4))
}

/// Formats that say when a profile begins and how long it is mean the exported range.
#[test]
fn the_profile_of_a_range_begins_with_it() {
    // A recording of 5 s that began at 1970-01-01 00:00:01.
    let session = recorded(116_444_736_010_000_000, 5_000_000_000);
    let whole = (i64::MIN, i64::MAX);
    let second = (1_000_000_000, 2_500_000_000);
    let last = (3_000_000_000, i64::MAX);
    for ((min, max), extent) in [
        (whole, (1_000_000_000, 5_000_000_000)),
        (second, (2_000_000_000, 1_500_000_000)),
        (last, (4_000_000_000, 2_000_000_000)),
    ] {
        let request = ExportRequest {
            time: Range { min, max },
            ..ExportRequest::default()
        };
        let [pprof, otlp] = ["pprof", "otlp"].map(|name| {
            let mut out = Vec::new();
            request
                .write(format(name).unwrap(), &session, &mut out)
                .unwrap();
            out
        });
        let pprof = Profile::read(&pprof);
        assert_eq!((pprof.time_ns, pprof.duration_ns), extent, "pprof");
        assert_eq!(extent_of_otlp(&otlp), extent, "otlp");
    }
}

/// The first run on a machine takes a minute or two, in which Go builds its reader.
#[test]
fn go_reads_a_profile() {
    let has_go = Command::new("go")
        .arg("version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !has_go {
        etwkit_testkit::skip("pprof::go_reads_a_profile: Go is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.pprof");
    std::fs::write(
        &file,
        written(&ExportRequest {
            process_roots: true,
            ..ExportRequest::default()
        }),
    )
    .unwrap();
    let ask = |options: &[&str]| {
        let output = Command::new("go")
            .args(["tool", "pprof"])
            .args(options)
            .arg(&file)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let raw = ask(&["-raw"]);
    let values: Vec<[i64; 2]> = raw
        .lines()
        .filter_map(|line| {
            let (values, _) = line.split_once(": ")?;
            let mut values = values.split_whitespace().map(str::parse);
            Some([values.next()?.ok()?, values.next()?.ok()?])
        })
        .collect();
    let sum = |at: usize| values.iter().map(|values| values[at]).sum::<i64>();
    assert_eq!((values.len(), sum(0), sum(1)), (5, 6 * WEIGHT, 6), "{raw}");
    assert!(raw.contains("cpu/nanoseconds[dflt] samples/count"), "{raw}");
    assert!(
        raw.contains("pid:[8] process:[shop.exe]") || raw.contains("process:[shop.exe]"),
        "{raw}"
    );
    assert!(
        raw.contains("shop.dll B5D2EA6F6D5A4AB29E5A6A6D8F0E3C212 [FN]"),
        "{raw}"
    );
    let top = ask(&[
        "-top",
        "-sample_index=samples",
        "-tagfocus=process=^db.exe$",
    ]);
    assert!(
        top.contains("of 6 total") && top.contains("shop.dll!b"),
        "{top}"
    );
}
