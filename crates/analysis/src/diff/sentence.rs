//! A comparison in one sentence, made only of rows that are below it.

use etwkit_query::time_format::seconds;

use super::rows::Change;
use super::side::{Sides, Wall};

/// Minimum share of the growth of a process for which a module is named.
const MOST_OF_IT: f64 = 0.5;

/// Minimum ratio of the times of a named module on both sides: code that is in every stack grows
/// with everything, and explains nothing.
const NEW_RATIO: f64 = 2.0;

/// Returns the sentence. Rows are ascending: the last one explains most.
pub(super) fn sentence(
    both: &Sides,
    processes: &[Change],
    modules: &[Change],
    is_same: bool,
) -> String {
    if is_same {
        return "Nothing differs between A and B".to_owned();
    }
    let wall = wall(both);
    // The measured process goes first, if there is one.
    let of_wall = |row: &&Change| match &both.wall {
        Wall::Process(name) => row.name.eq_ignore_ascii_case(name),
        _ => true,
    };
    match processes.iter().rev().find(of_wall).or(processes.last()) {
        Some(top) => format!("{wall}; {}", process(top, modules)),
        None => wall,
    }
}

/// Formats `B takes 4.200 s longer (11.800 s against 7.600 s between "Start" and "End")`.
fn wall(both: &Sides) -> String {
    let [a, b] = &both.sides;
    let (of_a, of_b) = (seconds(a.wall_ns, 3), seconds(b.wall_ns, 3));
    let what = match &both.wall {
        Wall::Marks(from, to) => format!(" between {from:?} and {to:?}"),
        Wall::Process(name) => format!(" from start to end of {name}"),
        Wall::Range => " of the parts that were chosen".to_owned(),
        Wall::Recording => {
            return format!("A is a recording of {of_a} s, B one of {of_b} s");
        }
    };
    let difference = b.wall_ns.saturating_sub(a.wall_ns);
    match difference {
        // A difference that would be printed as 0.000 s does not count.
        -499_999..=499_999 => format!("B takes as long as A ({of_a} s{what})"),
        _ => {
            let word = if difference > 0 { "longer" } else { "less" };
            format!(
                "B takes {} s {word} ({of_b} s against {of_a} s{what})",
                seconds(difference.saturating_abs(), 3)
            )
        }
    }
}

/// Formats `FileWriter.exe waits 3.900 s longer, with nwshield.sys in its stacks`.
fn process(top: &Change, modules: &[Change]) -> String {
    let Change {
        name,
        difference_ns,
        of_time,
        only_in,
        ..
    } = top;
    let length = seconds(difference_ns.saturating_abs(), 3);
    let more = *difference_ns > 0;
    if let Some(side) = only_in {
        let does = match of_time.as_str() {
            "cpu" => "has a CPU time of",
            "ready" => "is ready for",
            _ => "waits for",
        };
        return format!("{name} runs in {side} alone and {does} {length} s");
    }
    let does = match (of_time.as_str(), more) {
        ("cpu", true) => format!("{name} needs {length} s more CPU"),
        ("cpu", false) => format!("{name} needs {length} s less CPU"),
        ("ready", true) => format!("{name} is ready {length} s longer without a processor"),
        ("ready", false) => format!("{name} is ready {length} s less without a processor"),
        (_, true) => format!("{name} waits {length} s longer"),
        (_, false) => format!("{name} waits {length} s less"),
    };
    match module(top, modules) {
        Some((module, of_it)) => {
            format!(
                "{does}, {} s of it with {module} in the stacks",
                seconds(of_it.saturating_abs(), 3)
            )
        }
        None => does,
    }
}

/// Returns the module with most of the difference, and its part of it, if there is one that the
/// other side hardly uses.
fn module<'r>(top: &Change, modules: &'r [Change]) -> Option<(&'r str, i64)> {
    let times = |row: &Change| match top.of_time.as_str() {
        "cpu" => row
            .cpu_a_ns
            .zip(row.cpu_b_ns)
            .or(one(row.cpu_a_ns, row.cpu_b_ns)),
        "ready" => row
            .ready_a_ns
            .zip(row.ready_b_ns)
            .or(one(row.ready_a_ns, row.ready_b_ns)),
        _ => row
            .wait_a_ns
            .zip(row.wait_b_ns)
            .or(one(row.wait_a_ns, row.wait_b_ns)),
    };
    let ratio = |(a, b): (i64, i64)| {
        let (smaller, larger) = if top.difference_ns > 0 {
            (a, b)
        } else {
            (b, a)
        };
        // A thousandth is added to both, so that a time of 0 on one side does not give an infinite
        // ratio.
        let least = top.difference_ns.unsigned_abs() as f64 / 1000.0;
        (larger as f64 + least) / (smaller as f64 + least)
    };
    let is_same = |row: &&Change| {
        row.of
            .as_deref()
            .is_some_and(|of| of.eq_ignore_ascii_case(&top.name))
    };
    let all = modules
        .iter()
        .filter(is_same)
        .filter_map(|row| Some((row, times(row)?)));
    let most = all.filter(|(_, (a, b))| {
        let share = b.saturating_sub(*a) as f64 / top.difference_ns as f64;
        // A share above 1 means that something else compensated for the growth: the sentence would
        // name more than the whole difference.
        (MOST_OF_IT..=1.0).contains(&share)
    });
    let best = most.max_by(|(x, of_x), (y, of_y)| {
        ratio(*of_x)
            .total_cmp(&ratio(*of_y))
            .then_with(|| y.name.cmp(&x.name))
    });
    let (row, (a, b)) = best.filter(|(_, times)| ratio(*times) >= NEW_RATIO)?;
    Some((&row.name, b.saturating_sub(a)))
}

/// Returns both values of a time that one side may lack, with 0 for the missing one.
fn one(a: Option<i64>, b: Option<i64>) -> Option<(i64, i64)> {
    (a.is_some() || b.is_some()).then(|| (a.unwrap_or(0), b.unwrap_or(0)))
}
