//! Writes a scenario into a file and says how fast: `write FILE SCALE [SCENARIO [compressed]]`.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a measurement, not a part of the program"
)]

use std::fs::File;
use std::io::{BufWriter, Seek};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (path, scale) = (args.first().expect("a path"), args.get(1).expect("a scale"));
    let scale = scale.parse().expect("a number");
    let options = etwkit_synth::Options {
        scale,
        compressed: args.len() > 3,
        ..Default::default()
    };
    let sink = BufWriter::with_capacity(1 << 20, File::create(path).expect("a file"));
    let start = Instant::now();
    let scenario =
        etwkit_synth::find(args.get(2).map_or("office", String::as_str)).expect("a scenario");
    let (mut sink, truth) = scenario.write(sink, &options).expect("a trace");
    let bytes = sink.stream_position().expect("a position");
    let (events, seconds) = (truth.counts.total, start.elapsed().as_secs_f64());
    println!(
        "{events} events, {:.1} bytes each, {:.0} events/s",
        bytes as f64 / events as f64,
        events as f64 / seconds
    );
    println!("{}", serde_json::to_string_pretty(&truth).expect("JSON"));
}
