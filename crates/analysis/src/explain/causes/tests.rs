use etwkit_sql::filter::TextFilter;

use super::super::feature::{FeatureKind, Matrix, Measure, Name};
use super::*;

/// Pseudo-random numbers, the same each time.
struct Chance(u64);

impl Chance {
    /// Returns a number from 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

struct Made {
    matrix: Matrix,
    chance: Chance,
}

impl Made {
    fn new(runs: usize, seed: u64) -> Self {
        Self {
            matrix: Matrix::new(runs),
            chance: Chance(seed),
        }
    }

    /// Returns a number for each run.
    fn column(&mut self, of: impl Fn(f64) -> f64) -> Vec<f64> {
        (0..self.matrix.runs)
            .map(|_| of(self.chance.next()))
            .collect()
    }

    fn add(&mut self, kind: FeatureKind, measure: Measure, what: &str, depth: f64, values: &[f64]) {
        for (run, value) in values.iter().enumerate() {
            let process = Some("Test.exe".to_owned());
            let name = Name {
                kind,
                measure,
                what: what.to_owned(),
                process,
            };
            self.matrix.add(run, name, depth, *value);
        }
    }

    fn noise(&mut self, features: usize) {
        for number in 0..features {
            let values = self.column(|chance| 40.0 * chance);
            self.add(
                FeatureKind::Method,
                Measure::Cpu,
                &format!("noise.dll!F{number}"),
                2.0,
                &values,
            );
        }
    }
}

fn sum(columns: &[&[f64]]) -> Vec<f64> {
    (0..columns[0].len())
        .map(|run| columns.iter().map(|column| column[run]).sum())
        .collect()
}

fn effect(metric: &[f64], values: &[f64]) -> f64 {
    let (slow, fast) = Halves::of(metric).means(values);
    slow - fast
}

/// Returns three unrelated causes, each with several names, and all of them in their callers.
fn three(runs: usize, seed: u64) -> (Made, Vec<f64>, [Vec<f64>; 3]) {
    let mut made = Made::new(runs, seed);
    let often =
        |share: f64, most: f64| move |chance: f64| (chance - 1.0 + share).max(0.0) / share * most;
    let faults = made.column(often(0.6, 150.0));
    let scans = made.column(often(0.8, 120.0));
    let names = made.column(often(0.3, 200.0));
    let own = made.column(|chance| 250.0 + 10.0 * chance);
    for (method, values) in [
        ("nt!MiIssueHardFault", &faults),
        ("av.sys!PreCreate", &scans),
        ("dns.dll!Query", &names),
    ] {
        made.add(FeatureKind::Method, Measure::Wait, method, 1.0, values);
        made.add(
            FeatureKind::Method,
            Measure::Wait,
            &format!("{method}Caller"),
            3.0,
            values,
        );
    }
    made.add(FeatureKind::HardFault, Measure::Time, "", 0.0, &faults);
    let bytes: Vec<f64> = faults.iter().map(|ms| 4096.0 * ms).collect();
    made.add(FeatureKind::HardFault, Measure::Bytes, "", 0.0, &bytes);
    made.add(FeatureKind::Tag, Measure::Wait, "Antivirus\\X", 0.0, &scans);
    let both = sum(&[&faults, &scans]);
    made.add(
        FeatureKind::Method,
        Measure::Wait,
        "test.exe!Load",
        5.0,
        &both,
    );
    let waits = sum(&[&faults, &scans, &names]);
    made.add(FeatureKind::Process, Measure::Wait, "", 0.0, &waits);
    let metric = sum(&[&waits, &own]);
    made.add(
        FeatureKind::Method,
        Measure::Wait,
        "other.exe!Idle",
        0.0,
        &metric,
    );
    made.add(
        FeatureKind::Method,
        Measure::Cpu,
        "test.exe!Compute",
        0.0,
        &own,
    );
    made.noise(60);
    made.matrix.finish();
    (made, metric, [faults, scans, names])
}

#[test]
fn half_of_the_runs_are_above_the_line_of_a_cause() {
    // Without 2 ms for each unit: 10, 11 and 18 ms.
    let line = base(&[12.0, 15.0, 24.0], &[1.0, 2.0, 3.0], 2.0);
    assert!((line - 11.0).abs() < 1e-9, "{line}");
}

#[test]
fn a_cause_slows_the_runs_to_which_it_adds_time() {
    let mut made = Made::new(40, 1);
    let own = made.column(|chance| 250.0 + 10.0 * chance);
    // All runs look up names, and one in four waits for it.
    let lookups: Vec<f64> = (0..40)
        .map(|run| if run % 4 == 0 { 101.0 } else { 1.0 })
        .collect();
    made.add(
        FeatureKind::Method,
        Measure::Wait,
        "dns.dll!Query",
        1.0,
        &lookups,
    );
    made.noise(10);
    made.matrix.finish();
    let found = Causes::find(&made.matrix, &sum(&[&own, &lookups]));
    let causes: Vec<(&str, usize)> = found
        .causes
        .iter()
        .map(|cause| (cause.name.what.as_str(), cause.runs))
        .collect();
    assert_eq!(causes, [("dns.dll!Query", 10)]);
    // 5% of 60 ms.
    assert_eq!(slowed(&[-3.0, 0.0, 2.9, 3.0, 50.0], 60.0), 2);
}

#[test]
fn three_causes_come_out_one_by_one_with_their_effects() {
    for seed in 1..=6 {
        let (made, metric, causes) = three(200, seed);
        let found = Causes::find(&made.matrix, &metric);
        let mut planted: Vec<(f64, &str)> = causes
            .iter()
            .zip(["nt!MiIssueHardFault", "av.sys!PreCreate", "dns.dll!Query"])
            .map(|(values, name)| (effect(&metric, values), name))
            .collect();
        planted.sort_by(|a, b| b.0.total_cmp(&a.0));
        let names: Vec<&str> = found
            .causes
            .iter()
            .map(|cause| cause.name.what.as_str())
            .collect();
        assert_eq!(names.len(), 3, "{seed}: {names:?}");
        for (cause, (effect, name)) in found.causes.iter().zip(planted) {
            assert_eq!(cause.name.what, name, "{seed}");
            assert!(
                (cause.effect - effect).abs() <= 0.1 * effect,
                "{seed} {name}: {} {effect}",
                cause.effect
            );
            assert!(cause.p.unwrap() < 0.01 && cause.slope == 1.0, "{cause:?}");
        }
        let faults = found
            .causes
            .iter()
            .find(|cause| cause.name.what.starts_with("nt!"))
            .unwrap();
        let others: Vec<String> = faults.others.iter().map(Name::text).collect();
        assert!(
            others.contains(&"hard faults [Test.exe]".to_owned()),
            "{others:?}"
        );
        assert!(
            others.contains(&"hard faults (bytes) [Test.exe]".to_owned()),
            "{others:?}"
        );
        // The rest of each run is its own work, which is nearly the same in all.
        let left: Vec<f64> = (0..200)
            .map(|run| {
                metric[run]
                    - found
                        .causes
                        .iter()
                        .map(|cause| cause.effects[run])
                        .sum::<f64>()
            })
            .collect();
        assert!(super::super::numbers::spread(&left) < 5.0);
    }
}

#[test]
fn few_runs_have_causes_without_probabilities() {
    let (made, metric, _) = three(7, 3);
    let found = Causes::find(&made.matrix, &metric);
    assert!(found.causes.iter().all(|cause| cause.p.is_none()));
    let (made, metric, _) = three(3, 3);
    assert!(Causes::find(&made.matrix, &metric).causes.is_empty());
}

/// Of a dozen runs no correlation is strong enough, and of some dozens it may be misleading. Times
/// that add up to the metric are causes.
#[test]
fn three_causes_come_out_of_a_dozen_runs() {
    for runs in [12, 16, 24, 30, 40, 60] {
        for seed in 1..=10 {
            let (made, metric, causes) = three(runs, seed);
            let found = Causes::find(&made.matrix, &metric);
            let mut names: Vec<&str> = found
                .causes
                .iter()
                .map(|cause| cause.name.what.as_str())
                .collect();
            names.sort_unstable();
            let planted = [
                ("av.sys!PreCreate", &causes[1]),
                ("dns.dll!Query", &causes[2]),
                ("nt!MiIssueHardFault", &causes[0]),
            ];
            // What slow runs have no more of than fast ones is a cause if it is large in some runs.
            let expected: Vec<&str> = planted
                .iter()
                .filter(|(_, values)| {
                    effect(&metric, values) >= LEAST_SHARE * found.difference()
                        || effect(values, values) >= LEAST_OWN_SHARE * found.difference()
                })
                .map(|(name, _)| *name)
                .collect();
            assert_eq!(names, expected, "{runs} runs, seed {seed}");
            assert!(found.causes.iter().all(|cause| cause.p.unwrap() <= 0.05));
        }
    }
}

/// A time-out of a second in every fifth run has nearly all of the variance. What every second run has is
/// no part of the sum, and a sixth of the difference.
#[test]
fn a_small_cause_is_named_next_to_one_with_all_of_the_variance() {
    let runs = MANY_RUNS;
    let every = |step: usize, ms: f64| -> Vec<f64> {
        let of = |run: usize| if run.is_multiple_of(step) { ms } else { 0.0 };
        (0..runs).map(of).collect()
    };
    let mut made = Made::new(runs, 5);
    let (names, flushes) = (every(5, 1000.0), every(2, 120.0));
    let wait = |made: &mut Made, what: &str, values: &[f64]| {
        made.add(FeatureKind::Method, Measure::Wait, what, 1.0, values);
    };
    wait(&mut made, "dns.dll!Query", &names);
    wait(&mut made, "nt!NtFlushBuffersFile", &flushes);
    let own = made.column(|chance| 250.0 + 5.0 * chance);
    let metric = sum(&[&names, &flushes, &own]);
    made.noise(60);
    made.matrix.finish();
    let found = Causes::find(&made.matrix, &metric);
    let [first, second] = &found.causes[..] else {
        panic!("{:?}", found.causes)
    };
    for (cause, name, values) in [
        (first, "dns.dll!Query", &names),
        (second, "nt!NtFlushBuffersFile", &flushes),
    ] {
        let expected = effect(&metric, values);
        assert_eq!(cause.name.what, name);
        assert!((cause.effect - expected).abs() < 1.0, "{cause:?}");
    }
    assert!(first.is_p_of_all && !second.is_p_of_all);
}

/// Among hundreds of features some add up to anything, but rarely better than to a metric in random
/// order.
#[test]
fn a_dozen_runs_without_a_cause_have_none() {
    let found = (1..=20).filter(|seed| {
        let mut made = Made::new(12, *seed);
        made.noise(400);
        let metric = made.column(|chance| 300.0 + 60.0 * chance);
        made.matrix.finish();
        !Causes::find(&made.matrix, &metric).causes.is_empty()
    });
    assert!(found.count() <= 2, "5 % are expected");
}

/// The runs differ, and no recorded feature explains it.
#[test]
fn without_a_cause_there_is_none() {
    for seed in 1..=10 {
        let mut made = Made::new(200, seed);
        made.noise(400);
        let metric = made.column(|chance| 300.0 + 200.0 * chance);
        made.matrix.finish();
        let found = Causes::find(&made.matrix, &metric);
        assert!(
            found.causes.is_empty() && !found.is_even,
            "{seed}: {:?}",
            found.causes
        );
    }
}

/// Runs that take the same time need no cause, even if some work correlates with their small
/// differences.
#[test]
fn runs_that_are_the_same_have_none() {
    let mut made = Made::new(100, 5);
    let own = made.column(|chance| 500.0 + 10.0 * chance);
    made.add(
        FeatureKind::Method,
        Measure::Cpu,
        "test.exe!Compute",
        0.0,
        &own,
    );
    made.matrix.finish();
    let found = Causes::find(&made.matrix, &own);
    assert!(found.is_even && found.causes.is_empty());
}

/// A program that does one thing is slow when that is slow, even though it is all of the run.
#[test]
fn the_whole_of_a_run_is_a_cause_if_there_is_no_other() {
    let mut made = Made::new(60, 5);
    let own = made.column(|chance| 500.0 + 300.0 * chance);
    made.add(
        FeatureKind::Method,
        Measure::Cpu,
        "test.exe!Compute",
        0.0,
        &own,
    );
    made.add(
        FeatureKind::Method,
        Measure::Cpu,
        "test.exe!main",
        4.0,
        &own,
    );
    made.noise(20);
    made.matrix.finish();
    let found = Causes::find(&made.matrix, &own);
    let names: Vec<&str> = found
        .causes
        .iter()
        .map(|cause| cause.name.what.as_str())
        .collect();
    assert_eq!(names, ["test.exe!Compute"]);
    assert!((found.explained() - found.difference()).abs() < 1e-6);
}

/// A setting has no milliseconds of its own: its effect is the effect of the runs that have it.
#[test]
fn a_setting_that_slow_runs_have() {
    let mut made = Made::new(80, 7);
    let off = made.column(|chance| if chance < 0.4 { 1.0 } else { 0.0 });
    let noise = made.column(|chance| 20.0 * chance);
    let metric: Vec<f64> = off
        .iter()
        .zip(&noise)
        .map(|(off, noise)| 400.0 + 90.0 * off + noise)
        .collect();
    made.add(
        FeatureKind::Setting,
        Measure::Present,
        "write cache of disk 0: off",
        0.0,
        &off,
    );
    made.noise(50);
    made.matrix.finish();
    let found = Causes::find(&made.matrix, &metric);
    let first = &found.causes[0];
    assert_eq!(first.name.what, "write cache of disk 0: off");
    assert!((first.slope - 90.0).abs() < 5.0, "{first:?}");
    assert!((first.effect - 90.0 * effect(&metric, &off)).abs() < 0.1 * first.effect);
}

/// A method and the reason of its wait are one cause. The method names it, however the correlation
/// of the reason with itself is rounded.
#[test]
fn rounding_does_not_choose_the_name() {
    for seed in 1..=30 {
        let mut made = Made::new(12, seed);
        let waits = made.column(|chance| 300.0 * chance);
        let most: Vec<f64> = waits.iter().map(|ms| 0.999 * ms).collect();
        let metric: Vec<f64> = waits.iter().map(|ms| 400.0 + ms).collect();
        made.add(
            FeatureKind::Method,
            Measure::Wait,
            "ntfs.sys!Flush",
            1.0,
            &most,
        );
        made.add(FeatureKind::Reason, Measure::Wait, "Executive", 0.0, &waits);
        made.matrix.finish();
        let found = Causes::find(&made.matrix, &metric);
        assert_eq!(found.causes[0].name.what, "ntfs.sys!Flush", "{seed}");
    }
}

/// An idle thread of another program waits longer in longer recordings. It takes most of the
/// variance away, but the times of the measured process are the causes.
#[test]
fn an_idle_thread_of_another_program_is_no_part_of_a_sum() {
    for seed in 1..=5 {
        let mut made = Made::new(16, seed);
        let often = |most: f64| move |chance: f64| if chance < 0.5 { 0.0 } else { most * chance };
        let clock = made.column(often(500.0));
        let flushes = made.column(often(450.0));
        let own = made.column(|chance| 900.0 + 20.0 * chance);
        let metric = sum(&[&clock, &flushes, &own]);
        made.add(
            FeatureKind::Method,
            Measure::Cpu,
            "test.exe!Parse",
            0.0,
            &clock,
        );
        made.add(
            FeatureKind::Method,
            Measure::Wait,
            "ntfs.sys!Flush",
            0.0,
            &flushes,
        );
        for (run, ms) in metric.iter().enumerate() {
            let name = Name {
                kind: FeatureKind::Method,
                measure: Measure::Wait,
                what: "agent.exe!Loop".to_owned(),
                process: Some("agent.exe".to_owned()),
            };
            made.matrix.add(run, name, 0.0, 0.55 * ms);
        }
        made.matrix.finish();
        made.matrix.measure(&TextFilter::parse("Test.exe"));
        let found = Causes::find(&made.matrix, &metric);
        let names: Vec<&str> = found
            .causes
            .iter()
            .map(|cause| cause.name.what.as_str())
            .collect();
        assert!(!names.contains(&"agent.exe!Loop"), "{seed}: {names:?}");
    }
}

/// A thread that wakes up a hundred times a second is ready longer in longer runs. Its fraction of a
/// millisecond is no cause of hundreds of them.
#[test]
fn a_millisecond_does_not_take_thousands() {
    let mut made = Made::new(16, 3);
    let metric = made.column(|chance| 2_000.0 + 1_000.0 * chance);
    let ready: Vec<f64> = metric.iter().map(|ms| ms / 4_000.0).collect();
    made.add(
        FeatureKind::Method,
        Measure::Ready,
        "dwm.exe!Loop",
        0.0,
        &ready,
    );
    made.matrix.finish();
    assert!(Causes::find(&made.matrix, &metric).causes.is_empty());
    // The unit of another metric is not known.
    let of_number = Causes::find_of(&made.matrix, &metric, false);
    assert_eq!(of_number.causes[0].name.what, "dwm.exe!Loop");
}

/// On a slow processor the main thread and its workers both take longer. The cause has the time of
/// both, and comes once.
#[test]
fn parts_that_move_together_are_one_cause() {
    let mut made = Made::new(16, 4);
    let share = made.column(|chance| if chance < 0.5 { 0.0 } else { 1.0 });
    let noise = made.column(|chance| 30.0 * chance);
    let scans = made.column(|chance| 300.0 * chance);
    let parse: Vec<f64> = share
        .iter()
        .zip(&noise)
        .map(|(on, ms)| 300.0 * on + ms)
        .collect();
    let join: Vec<f64> = share
        .iter()
        .zip(&noise)
        .map(|(on, ms)| 180.0 * on - ms + 30.0)
        .collect();
    let own = made.column(|chance| 900.0 + 5.0 * chance);
    let metric = sum(&[&parse, &join, &scans, &own]);
    made.add(
        FeatureKind::Method,
        Measure::Cpu,
        "test.exe!Parse",
        0.0,
        &parse,
    );
    made.add(
        FeatureKind::Method,
        Measure::Wait,
        "test.exe!Join",
        0.0,
        &join,
    );
    made.add(
        FeatureKind::Method,
        Measure::Wait,
        "av.sys!Scan",
        0.0,
        &scans,
    );
    let waits = sum(&[&join, &scans]);
    made.add(FeatureKind::Process, Measure::Wait, "", 0.0, &waits);
    made.matrix.finish();
    let found = Causes::find(&made.matrix, &metric);
    let of_processor: Vec<&Cause> = found
        .causes
        .iter()
        .filter(|cause| cause.name.what.starts_with("test.exe!"))
        .collect();
    assert_eq!(of_processor.len(), 1);
    let expected = effect(&metric, &sum(&[&parse, &join]));
    assert!((of_processor[0].effect - expected).abs() < 0.1 * expected);
}

/// Many times go with a cause. The library that only those runs have is named before them.
#[test]
fn a_module_is_among_the_names_of_a_cause() {
    let mut made = Made::new(24, 2);
    let has = made.column(|chance| if chance < 0.5 { 0.0 } else { 1.0 });
    let own = made.column(|chance| 900.0 + 5.0 * chance);
    let time: Vec<f64> = has.iter().map(|has| 300.0 * has).collect();
    let metric = sum(&[&time, &own]);
    for kind in [
        FeatureKind::Method,
        FeatureKind::Driver,
        FeatureKind::HardFault,
        FeatureKind::Tag,
        FeatureKind::Disk,
        FeatureKind::File,
        FeatureKind::Folder,
        FeatureKind::Path,
        FeatureKind::Reason,
        FeatureKind::Process,
    ] {
        made.add(kind, Measure::Time, "x", 0.0, &time);
    }
    made.add(
        FeatureKind::Module,
        Measure::Present,
        "x.dll 2.0",
        0.0,
        &has,
    );
    made.matrix.finish();
    let found = Causes::find(&made.matrix, &metric);
    assert_eq!(found.causes[0].others[0].what, "x.dll 2.0");
}

/// A scanner takes as much of the slow runs as of the fast ones: it is not why the slow half is
/// slow, but the runs that have it would be faster without.
#[test]
fn a_cause_of_slow_and_fast_runs_alike_is_named() {
    let scans = [
        0.0, 300.0, 310.0, 0.0, 300.0, 0.0, 0.0, 305.0, 0.0, 320.0, 0.0, 300.0,
    ];
    let names = [
        0.0, 0.0, 10.0, 0.0, 0.0, 5.0, 950.0, 960.0, 940.0, 955.0, 950.0, 970.0,
    ];
    let mut made = Made::new(12, 9);
    let own = made.column(|chance| 900.0 + 5.0 * chance);
    let metric = sum(&[&scans, &names, &own]);
    made.add(
        FeatureKind::Method,
        Measure::Wait,
        "av.sys!Scan",
        0.0,
        &scans,
    );
    made.add(
        FeatureKind::Method,
        Measure::Wait,
        "dns.dll!Query",
        0.0,
        &names,
    );
    made.matrix.finish();
    let found = Causes::find(&made.matrix, &metric);
    let of = |cause: &Cause| cause.name.what.clone();
    let slow: Vec<String> = found.of_difference().map(of).collect();
    let both: Vec<String> = found.of_both_halves().map(of).collect();
    assert_eq!(
        (slow, both),
        (
            vec!["dns.dll!Query".to_owned()],
            vec!["av.sys!Scan".to_owned()]
        )
    );
}

/// The scanner runs only where no name was looked up, so fast runs have more of it.
#[test]
fn a_cause_that_fast_runs_have_is_told_apart() {
    let names = [
        0.0, 0.0, 10.0, 0.0, 0.0, 5.0, 950.0, 960.0, 940.0, 955.0, 950.0, 970.0,
    ];
    let scans = [
        300.0, 310.0, 305.0, 0.0, 0.0, 300.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    ];
    let mut made = Made::new(12, 9);
    let own = made.column(|chance| 900.0 + 5.0 * chance);
    let metric = sum(&[&scans, &names, &own]);
    made.add(
        FeatureKind::Method,
        Measure::Wait,
        "av.sys!Scan",
        0.0,
        &scans,
    );
    made.add(
        FeatureKind::Method,
        Measure::Wait,
        "dns.dll!Query",
        0.0,
        &names,
    );
    made.matrix.finish();
    let found = Causes::find(&made.matrix, &metric);
    let of_fast: Vec<&str> = found
        .of_both_halves()
        .filter(|cause| found.has_more_in_fast_runs(cause))
        .map(|cause| cause.name.what.as_str())
        .collect();
    assert_eq!(of_fast, ["av.sys!Scan"]);
}
