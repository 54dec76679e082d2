//! Times what a page asks for, on the extract of a random machine.
//!
//! `cargo run --release -p etwkit-pyramid --example measure -- [MILLIONS] [EXTRACT]`: makes an extract of
//! that many million scheduling slices (or takes EXTRACT, if there is one) and its pages, and prints how long
//! that took, what the first picture of the whole takes, and the 50th and 95th percentile of all others.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a measurement stops where something fails"
)]
#![allow(dead_code, reason = "tests use more of the machine")]

#[path = "../tests/it/machine.rs"]
mod machine;

use std::path::PathBuf;
use std::time::Instant;

use etwkit_extract::Extract;
use etwkit_pyramid::{
    LaneKind, LanesRequest, Pyramid, Range, Selection, SeriesKind, SeriesRequest, TimelineRequest,
};

use machine::{Random, each_switch, extract};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let millions: usize = arguments.next().map_or(10, |text| text.parse().unwrap());
    let made;
    let named = arguments.next().map(PathBuf::from);
    let path = if let Some(path) = named.clone().filter(|path| path.exists()) {
        path
    } else {
        let begun = Instant::now();
        let end = each_switch(millions * 1_000_000, 16, 2_000, &mut drop);
        made = extract(end, 16, |tables| {
            let mut rows = Vec::new();
            each_switch(millions * 1_000_000, 16, 2_000, &mut |row| {
                rows.push(row);
                if rows.len() == 100_000 {
                    tables.write(rows.drain(..));
                }
            });
            tables.write(rows);
        });
        println!("extract: {:.1} s", begun.elapsed().as_secs_f64());
        named.map_or_else(
            || made.path(),
            |path| {
                std::fs::rename(made.path(), &path).unwrap();
                path
            },
        )
    };
    let extract = Extract::open(&path).unwrap();
    let begun = Instant::now();
    let pyramid = Pyramid::open(&extract, None, &mut |_| true).unwrap();
    println!(
        "pages: {:.1} s, {} MB",
        begun.elapsed().as_secs_f64(),
        bytes(&pyramid) >> 20
    );
    let begun = Instant::now();
    let pyramid = Pyramid::open(&extract, None, &mut |_| true).unwrap_or(pyramid);
    println!("open: {:.1} ms", begun.elapsed().as_secs_f64() * 1000.0);
    ask(&pyramid, "first", 1);
    let begun = Instant::now();
    pyramid.open_files(&|| true).unwrap();
    println!("all files: {:.1} s", begun.elapsed().as_secs_f64());
    ask(&pyramid, "then", 60);
    println!("{}", memory());
}

fn bytes(pyramid: &Pyramid) -> u64 {
    let files = std::fs::read_dir(pyramid.folder()).unwrap();
    files
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum()
}

/// Largest memory of the process so far, as Linux says.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap_or("memory not known")
        .to_owned()
}

fn ask(pyramid: &Pyramid, when: &str, count: u32) {
    let end = pyramid.bounds().to_ns;
    let lanes = |kind, range| {
        let request = LanesRequest {
            kind,
            selection: Selection::default(),
            range,
            limit: 40,
            offset: 0,
        };
        pyramid.lanes(&request).unwrap()
    };
    let whole = Range {
        from_ns: 0,
        to_ns: end,
    };
    let keys: Vec<i32> = lanes(LaneKind::Thread, whole)
        .lanes
        .iter()
        .map(|lane| lane.key)
        .collect();
    let timeline = |kind, keys: &[i32], range| {
        let (keys, selection) = (keys.to_vec(), Selection::default());
        let request = TimelineRequest {
            kind,
            keys,
            range,
            buckets: 1000,
            selection,
        };
        pyramid.timeline(&request).unwrap().source.rows_read
    };
    let cores: Vec<i32> = (0..16).collect();
    let processes: Vec<i32> = (1..6).collect();
    let series = |range| {
        let selection = Selection::default();
        let request = SeriesRequest {
            kind: SeriesKind::Cpu,
            range,
            buckets: 1000,
            top: 8,
            selection,
        };
        pyramid.series(&request).unwrap().source.rows_read
    };
    let kinds: [(&str, &dyn Fn(Range) -> u64); 6] = [
        ("threads", &|range| timeline(LaneKind::Thread, &keys, range)),
        ("processes", &|range| {
            timeline(LaneKind::Process, &processes, range)
        }),
        ("cores", &|range| timeline(LaneKind::Core, &cores, range)),
        ("cpu", &series),
        ("lanes of threads", &|range| {
            lanes(LaneKind::Thread, range).source.rows_read
        }),
        ("lanes of processes", &|range| {
            lanes(LaneKind::Process, range).source.rows_read
        }),
    ];
    for (name, question) in kinds {
        let mut random = Random(1);
        let mut times = Vec::new();
        let mut most = 0;
        for zoom in 0..count {
            let length = (end >> (zoom % 20)).max(1000);
            let from_ns = random.below(end - length + 1);
            let begun = Instant::now();
            most = most.max(question(Range {
                from_ns,
                to_ns: from_ns + length,
            }));
            times.push(begun.elapsed().as_secs_f64() * 1000.0);
        }
        times.sort_by(f64::total_cmp);
        let at = |percent: usize| times[times.len() * percent / 100];
        println!(
            "{when}, {name}: p50 {:.1} ms, p95 {:.1} ms, at most {most} rows",
            at(50),
            at(95)
        );
    }
}
