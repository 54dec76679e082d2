//! One quantity, one value: whatever way it is asked for. What is asked is in [`quantities`], how in
//! [`ways`].

mod asked;
mod printed;
mod quantities;
mod ways;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;

use etwkit_testkit::{Sample, is_exhaustive, samples};

use self::asked::Trace;
use self::quantities::QUANTITIES;
use self::ways::{Quantity, Way};
use super::support::has_all;
use crate::support::run;

/// Traces that are asked unless tests are exhaustive: one of each scenario, and real ones.
const SOME: &[&str] = &[
    "dns-5",
    "dotnet-5",
    "files-5",
    "lost-5",
    "pmc-5",
    "reuse-5",
    "handles-5",
    "syscalls-5",
    "sched-5",
    "tcp-5",
    "waitchain-14",
    "clock32-5",
    "gcevents",
    "net.4.5.2.x64",
    "tx_Process",
];

/// Differences that are printed.
const PRINTED: usize = 200;

/// Values of a way, and how far rounding may put each from the exact one.
type Values = BTreeMap<String, (f64, f64)>;

/// Traces that show a quantity, unless tests are exhaustive: one may have only a single process.
const ENOUGH: usize = 2;

/// Places in [`SOME`] at which the search for traces begins, one after the other, so that each trace
/// is asked something.
const BEGINNINGS: usize = 3;

#[test]
fn a_quantity_is_the_same_whatever_way_it_is_asked_for() {
    let chosen = |sample: &Sample| is_exhaustive() || SOME.contains(&sample.name.as_str());
    let samples: Vec<Sample> = samples().into_iter().filter(chosen).collect();
    // A trace keeps all answers that it gave, so that many of them are not asked together.
    let together = if is_exhaustive() {
        1
    } else {
        samples.len().max(1)
    };
    let found = Mutex::new((Vec::new(), 0));
    for group in samples.chunks(together) {
        let traces: Vec<Trace> = group.iter().map(Trace::of).collect();
        let next = Mutex::new(QUANTITIES.iter().enumerate());
        let work = || {
            while let Some((at, quantity)) = { next.lock().unwrap().next() } {
                let (differences, compared) = compare_in_some(quantity, at, &traces);
                let mut found = found.lock().unwrap();
                found.0.extend(differences);
                found.1 += compared;
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism()
                .map_or(1, usize::from)
                .min(4)
            {
                scope.spawn(work);
            }
        });
    }
    let (mut differences, compared) = found.into_inner().unwrap();
    differences.sort();
    let mut text = String::new();
    differences
        .iter()
        .take(PRINTED)
        .for_each(|line| writeln!(text, "{line}").unwrap());
    assert!(
        differences.is_empty(),
        "{} differences:\n{text}",
        differences.len()
    );
    assert!(
        compared > 1500 || !has_all(),
        "{compared} values were compared"
    );
}

/// The differences of a quantity in as many traces as are enough, and how many values were compared.
fn compare_in_some(quantity: &Quantity, at: usize, traces: &[Trace]) -> (Vec<String>, usize) {
    let begin = at % BEGINNINGS * traces.len() / BEGINNINGS;
    let (mut differences, mut compared, mut having) = (Vec::new(), 0, 0);
    for trace in traces.iter().cycle().skip(begin).take(traces.len()) {
        if having == ENOUGH {
            break;
        }
        let of_trace = compare(quantity, trace);
        having += usize::from(of_trace.is_shown);
        differences.extend(of_trace.differences);
        compared += of_trace.compared;
    }
    (differences, compared)
}

/// A quantity of a trace, compared between the ways to ask for it.
#[derive(Default)]
struct Comparison {
    differences: Vec<String>,
    /// Number of values.
    compared: usize,
    /// Whether any value is more than zero.
    is_shown: bool,
}

/// Compares the ways to ask for a quantity.
fn compare(quantity: &Quantity, trace: &Trace) -> Comparison {
    let mut comparison = Comparison::default();
    if quantity.when.is_some_and(|when| trace.number(when) <= 0.0) {
        return comparison;
    }
    let values = |way: &Way| {
        let mut values = trace.values(way);
        quantity
            .without
            .iter()
            .for_each(|key| _ = values.remove(*key));
        values
    };
    let Some((first, others)) = quantity.ways.split_first() else {
        return comparison;
    };
    let expected = values(first);
    comparison.is_shown = expected.values().any(|(value, _)| *value > 0.0);
    for way in others {
        let found = values(way);
        let keys: std::collections::BTreeSet<&String> =
            expected.keys().chain(found.keys()).collect();
        for key in keys {
            let of = |values: &Values| values.get(key).copied().unwrap_or_default();
            let ((a, rounding_a), (b, rounding_b)) = (of(&expected), of(&found));
            comparison.compared += 1;
            // What rounds to nothing may be left out, and sums of numbers with a fraction are not exact.
            let least = if found.contains_key(key) {
                rounding_b
            } else {
                way.rounding
            };
            if (a - b).abs() > rounding_a + least + 1e-9 * a.abs() {
                comparison.differences.push(format!(
                    "{}, {}, {key:?}: {a} by {:?} {}, {b} by {:?} {}",
                    trace.name, quantity.name, first.from, first.value, way.from, way.value
                ));
            }
        }
    }
    comparison
}

/// A trace without samples has no CPU; what is shown instead has its own name in every form.
#[test]
fn cpu_without_samples_is_called_running() {
    let trace = crate::support::trace("syscalls-5.etl");
    let of = |args: &[&str]| run(&[&["dump", "cpu"], args, &[trace.as_str()]].concat()).out;
    for args in [
        &[][..],
        &["--range", "0..100"],
        &["--by", "thread"],
        &["--stacks"],
        &["--bottom-up"],
    ] {
        let text = of(args);
        assert!(
            text.contains("no CPU was sampled: running is time on processors"),
            "{args:?}: {text}"
        );
        assert!(!text.contains("CPU ms"), "{args:?}: {text}");
        let json = of(&[args, &["--json"]].concat());
        let rows: Vec<&str> = json.lines().skip(1).collect();
        assert!(
            !rows.is_empty()
                && rows
                    .iter()
                    .all(|row| row.contains(r#"source":"context_switches""#)),
            "{json}"
        );
    }
    let sums = of(&["--show-total", "total"]);
    let heading = sums.lines().next().unwrap_or_default();
    assert!(
        heading.contains("  Running ") && !heading.contains("CPU "),
        "{sums}"
    );
}

/// Two traces whose CPU is of different things are not compared or added up.
#[test]
fn cpu_of_different_sources_is_not_mixed() {
    let (sampled, switched) = (
        crate::support::trace("sched-5.etl"),
        crate::support::trace("syscalls-5.etl"),
    );
    for output in [&[][..], &["--json"]] {
        let merged = run(&[
            &["dump", "cpu", "--merge"],
            output,
            &[sampled.as_str(), switched.as_str()],
        ]
        .concat());
        assert_eq!(merged.exit, crate::support::Exit::Error, "{}", merged.out);
        assert!(
            merged
                .err
                .contains("sched-5.etl is sampled, CPU of syscalls-5.etl is time on processors"),
            "{}",
            merged.err
        );
        assert!(
            merged.err.contains("hint: ask each trace on its own"),
            "{}",
            merged.err
        );
    }
    let each = run(&["dump", "cpu", "--show-total", "file", &sampled, &switched]);
    let last = each.out.lines().last().unwrap_or_default();
    assert!(
        last.contains("not summed up") && last.contains("sampled in 1"),
        "{}",
        each.out
    );
    let one = run(&["dump", "cpu", "--merge", &switched, &switched]);
    assert!(
        one.exit == crate::support::Exit::Answered && one.out.contains("Running ms"),
        "{}{}",
        one.out,
        one.err
    );
}
