//! The bytes themselves: the same each time, as many as the scale asks for, and never kept.

use std::io::{self, Cursor, Seek, SeekFrom, Write};

use etwkit_synth::{Error, MAX_SCALE, Options, SCENARIOS, Truth, find};

use super::kit::{SCRIPTED, office, seeded, written};

#[test]
fn the_same_arguments_give_the_same_bytes() {
    for compressed in [false, true] {
        let options = seeded(5, compressed);
        assert!(office(&options) == office(&options));
        assert!(office(&options).0 != office(&seeded(6, compressed)).0);
    }
}

#[test]
fn scripts_too_give_the_same_bytes_and_other_seeds_other_ones() {
    for scenario in SCRIPTED {
        let (bytes, truth) = written(scenario, &seeded(5, true));
        assert!(
            (bytes.clone(), truth) == written(scenario, &seeded(5, true)),
            "{scenario}"
        );
        assert!(bytes != written(scenario, &seeded(6, true)).0, "{scenario}");
    }
}

#[test]
fn scripts_too_grow_with_the_scale() {
    for scenario in SCRIPTED {
        let of = |scale| {
            written(
                scenario,
                &Options {
                    scale,
                    ..Options::default()
                },
            )
            .1
        };
        let (one, three) = (of(1), of(3));
        let seconds = |truth: &Truth| (truth.header.duration_ns + 500_000_000) / 1_000_000_000;
        assert_eq!(seconds(&three), 3 * seconds(&one), "{scenario}");
        let growth = three.counts.total as f64 / one.counts.total as f64;
        assert!((2.3..3.7).contains(&growth), "{scenario}: {growth}");
        let calls = three.calls.len() as f64 / (one.calls.len().max(1)) as f64;
        assert!(
            one.calls.is_empty() || (2.0..4.0).contains(&calls),
            "{scenario}: {calls}"
        );
    }
}

#[test]
fn compression_changes_nothing_but_the_size() {
    let (plain, mut truth) = office(&seeded(3, false));
    let (packed, packed_truth) = office(&seeded(3, true));
    assert!(
        packed.len() * 3 < plain.len() * 2,
        "{} of {}",
        packed.len(),
        plain.len()
    );
    truth.made.compressed = true;
    assert_eq!(truth, packed_truth);
}

#[test]
fn events_grow_with_the_scale() {
    let of = |scale| {
        office(&Options {
            scale,
            ..Options::default()
        })
    };
    let (one, four) = (of(1), of(4));
    let events = [&one, &four].map(|(_, truth)| truth.counts.total as f64);
    assert!((50_000.0..100_000.0).contains(&events[0]), "{events:?}");
    assert!((3.5..4.5).contains(&(events[1] / events[0])), "{events:?}");
    let size = four.0.len() as f64 / events[1];
    assert!((70.0..110.0).contains(&size), "{size} bytes each");
    let duration = four.1.header.duration_ns;
    assert!(
        (4_000_000_000..4_001_000_000).contains(&duration),
        "{duration}"
    );
}

/// Discards written bytes; only the first and the largest single write are known.
#[derive(Default)]
struct Drain {
    position: u64,
    largest: usize,
}

impl Write for Drain {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.position += bytes.len() as u64;
        self.largest = self.largest.max(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Drain {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Start(at) => self.position = at,
            SeekFrom::Current(by) => self.position = self.position.checked_add_signed(by).unwrap(),
            SeekFrom::End(_) => return Err(io::ErrorKind::Unsupported.into()),
        }
        Ok(self.position)
    }
}

#[test]
fn a_trace_streams_buffer_by_buffer() {
    let scenario = find("office").unwrap();
    let (drain, truth) = scenario
        .write(
            Drain::default(),
            &Options {
                scale: 3,
                ..Options::default()
            },
        )
        .unwrap();
    assert_eq!(drain.largest, 65_536);
    assert!(drain.position > 60 * truth.counts.total);
}

#[test]
fn the_truth_does_not_grow_with_the_trace() {
    let text = |scale| {
        let (_, truth) = office(&Options {
            scale,
            ..Options::default()
        });
        serde_json::to_string(&truth).unwrap().len()
    };
    let (short, long) = (text(1), text(6));
    assert!(long < short + short / 5, "{short} {long}");
}

#[test]
fn a_scale_out_of_range_is_refused() {
    assert_eq!(find("office").unwrap().max_scale, MAX_SCALE);
    for scenario in &SCENARIOS {
        for scale in [0, scenario.max_scale + 1] {
            let options = Options {
                scale,
                ..Options::default()
            };
            let refused = scenario
                .write(Cursor::new(Vec::new()), &options)
                .map(|_| ());
            assert!(matches!(refused, Err(Error::Scale { scale: s, .. }) if s == scale));
        }
        for cpus in [0, 65] {
            let options = Options {
                cpus: Some(cpus),
                ..Options::default()
            };
            assert!(
                matches!(scenario.symbols(&options), Err(Error::Cpus { cpus: c }) if c == cpus)
            );
        }
    }
    assert!(find("nothing").is_none());
}
