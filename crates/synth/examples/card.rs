//! Writes a trace with planted causes, its truth and its symbols: `card FILE.etl NAME[+NAME] SEED PERCENT
//! [healthy]`.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a tool for those who write rules"
)]

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use etwkit_synth::cards::{Case, find};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, names, seed, percent, rest @ ..] = args.as_slice() else {
        println!("card FILE.etl NAME[+NAME] SEED PERCENT [healthy]");
        return;
    };
    let cards = names
        .split('+')
        .map(|name| find(name).expect("a card"))
        .collect();
    let case = Case {
        strength_percent: percent.parse().expect("a number"),
        is_healthy: rest.iter().any(|word| word == "healthy"),
        ..Case::new(cards, seed.parse().expect("a number"))
    };
    let path = Path::new(file);
    let (_, truth) = case
        .write(BufWriter::new(File::create(path).expect("a file")))
        .expect("a trace");
    fs::write(
        path.with_extension("truth.json"),
        serde_json::to_string_pretty(&truth).expect("JSON"),
    )
    .expect("a file");
    for symbols in case.symbols() {
        let to = path.with_extension("symbols").join(&symbols.path);
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        fs::write(to, symbols.text).expect("a file");
    }
    println!("{} events", truth.counts.total);
    println!(
        "{}",
        serde_json::to_string_pretty(&truth.causes).expect("JSON")
    );
}
