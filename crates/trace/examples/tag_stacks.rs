//! How long a million distinct stacks take to be tagged: `cargo run --release -p etwkit-trace --example
//! tag_stacks [STACKS]`.
//!
//! Names are those of the cases of the default tags and as many again that no rule knows. Stacks grow out of
//! each other as calls do: each one leaves another at a random depth and goes on for a few frames.

#![allow(clippy::print_stdout, clippy::indexing_slicing)]

use std::time::{Duration, Instant};

use etwkit_trace::tags::{Frames, TagSet, Tagged};

const CASES: &str = include_str!("../tests/data/default-stacktags.txt");

/// Methods that no rule knows, for each module.
const UNKNOWN_METHODS: usize = 100;
const DEPTH: usize = 40;
const RUNS: usize = 5;

struct Names {
    modules: Vec<String>,
    /// Module and method of each frame.
    frames: Vec<(usize, Option<String>)>,
}

impl Frames for Names {
    fn count(&self) -> usize {
        self.frames.len()
    }

    fn module(&self, frame: u32) -> Option<&str> {
        Some(&self.modules[self.frames[frame as usize].0])
    }

    fn method(&self, frame: u32) -> Option<&str> {
        self.frames[frame as usize].1.as_deref()
    }
}

fn names() -> Names {
    let mut names = Names {
        modules: Vec::new(),
        frames: Vec::new(),
    };
    for case in CASES.lines().filter_map(|line| line.split_once(" => ")) {
        for (module, method) in case
            .0
            .split(" < ")
            .filter_map(|frame| frame.split_once('!'))
        {
            let known = names.modules.iter().position(|known| known == module);
            let at = known.unwrap_or(names.modules.len());
            if at == names.modules.len() {
                names.modules.push(module.to_owned());
                let method = |n| {
                    format!(
                        "Company::Product::Part{}::Implementation::DoStep{n}",
                        n % 17
                    )
                };
                names
                    .frames
                    .extend((0..UNKNOWN_METHODS).map(|n| (at, Some(method(n)))));
            }
            names
                .frames
                .push((at, Some(method.to_owned()).filter(|method| method != "?")));
        }
    }
    names
}

/// A generator of numbers that look random, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Nodes of a tree with that many leaves.
fn tree(stacks: usize, frames: usize) -> Vec<(Option<u32>, u32)> {
    let mut numbers = Numbers(1);
    let (mut nodes, mut path): (Vec<(Option<u32>, u32)>, Vec<u32>) = (Vec::new(), Vec::new());
    for _ in 0..stacks {
        let depth = DEPTH / 2 + numbers.below(DEPTH / 2);
        // Most calls differ in their innermost frames.
        let common = depth - 1 - numbers.below(4).min(depth - 1);
        path.truncate(common);
        while path.len() < depth {
            nodes.push((path.last().copied(), numbers.below(frames) as u32));
            path.push(nodes.len() as u32 - 1);
        }
    }
    nodes
}

fn main() {
    let stacks = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(1_000_000);
    let (names, set) = (names(), TagSet::built_in());
    let nodes = tree(stacks, names.count());
    let mut times: Vec<Duration> = Vec::new();
    let mut tagged = Tagged::default();
    for _ in 0..RUNS {
        let start = Instant::now();
        tagged = Tagged::new(&set, &names, nodes.len(), |node| nodes[node as usize]);
        times.push(start.elapsed());
    }
    let (best, matching) = (times.iter().min().copied().unwrap_or_default(), {
        let start = Instant::now();
        let _ = Tagged::new(&set, &names, 0, |_| (None, 0));
        start.elapsed()
    });
    let others = (0..nodes.len() as i32)
        .filter(|node| tagged.tag(*node) == Some(0))
        .count();
    println!(
        "{stacks} stacks, {} nodes, {} frames of {} modules, {} rules: {:.0} ms ({:.0} ms to match the frames, {:.1} ns a node); {:.0} % of the nodes have a tag",
        nodes.len(),
        names.count(),
        names.modules.len(),
        set.tags().count(),
        best.as_secs_f64() * 1e3,
        matching.as_secs_f64() * 1e3,
        (best.saturating_sub(matching)).as_secs_f64() * 1e9 / nodes.len().max(1) as f64,
        100.0 - 100.0 * others as f64 / nodes.len().max(1) as f64,
    );
}
