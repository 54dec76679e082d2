//! Lines below a row with `--details`: CPU by kind of core, then the ready times of its threads.

use crate::cores::kinds::{CoreKinds, KindUse};
use crate::cpu::CpuRequest;
use crate::ready::{Percentiles, ReadyTimes};
use etwkit_question::Format::{AmongMicroseconds, Fixed, Milliseconds, Seconds};
use etwkit_question::Line;

/// Indentation of each line.
const INDENT: &str = "      ";

/// Nouns of a number of cores.
const CORES: [&str; 2] = ["core", "cores"];

/// Returns the requested lines below a row.
pub(super) fn below(asked: &CpuRequest, kinds: &CoreKinds, ready: &ReadyTimes) -> Vec<Line> {
    let mut lines = Vec::new();
    if asked.details && !asked.no_frequency {
        lines.extend(kinds_lines(kinds, asked.normalize));
    }
    if asked.details && !asked.no_ready {
        for (title, times) in [
            ("after deep sleep", ready.deep_sleep()),
            ("other", ready.other()),
        ] {
            lines.extend(times.map(|times| percentiles(title, times)));
        }
    }
    lines
}

/// Returns one line for each kind of core on which the row has CPU, fastest first, and their sum at
/// nominal speed.
fn kinds_lines(kinds: &CoreKinds, normalize: bool) -> Vec<Line> {
    let uses = kinds.uses();
    let mut lines: Vec<Line> = uses.iter().map(|one| kind_line(one, normalize)).collect();
    lines.extend(kinds.class_other_cpu_ns.map(|ns| {
        Line::new(INDENT)
            .words("other classes: ")
            .value(Milliseconds, ns)
            .words(" ms")
    }));
    let sum = uses.iter().try_fold(0_i64, |sum, one| {
        Some(sum.saturating_add(one.normalized_ns?))
    });
    // The sum of a single line would repeat it, and CPU on other classes has no speed to normalize
    // by.
    if normalize && lines.len() > 1 && kinds.class_other_cpu_ns.is_none() {
        lines.extend(sum.map(|ns| {
            Line::new(INDENT)
                .words("normalized: ")
                .value(Milliseconds, ns)
                .words(" ms")
        }));
    }
    lines
}

/// Formats `class 1: 30 ms [15 ms normalized], 75 % of CPU on 2 of 4 cores, 1500 MHz (50 % of
/// nominal), 0.250 s from first to last`.
fn kind_line(of: &KindUse, normalize: bool) -> Line {
    let mut line = Line::new(INDENT)
        .words(format!("class {}: ", of.efficiency_class))
        .value(Milliseconds, of.cpu_ns)
        .words(" ms");
    if let Some(ns) = of.normalized_ns.filter(|_| normalize) {
        line = line
            .words(" [")
            .value(Milliseconds, ns)
            .words(" ms normalized]");
    }
    line = line
        .words(", ")
        .value(Fixed(0), of.cpu_percent)
        .words(" % of CPU on ");
    line = match of.enabled_cores {
        Some(all) => line
            .words(format!("{} of ", of.used_cores))
            .counted(all, CORES),
        None => line.counted(of.used_cores, CORES),
    };
    if let Some(mhz) = of.mean_mhz {
        line = line.words(", ").value(Fixed(0), mhz).words(" MHz");
        if let Some(percent) = of.frequency_percent {
            line = line
                .words(" (")
                .value(Fixed(0), percent)
                .words(" % of nominal)");
        }
    }
    line.words(", ")
        .value(Seconds(3), of.duration_ns)
        .words(" s from first to last")
}

/// Formats `ready other: min 1.2, 5% 1.5, … max 900 µs; longest 1%: 1,000 µs, all 12,000 µs, n 60`.
fn percentiles(title: &str, times: Percentiles) -> Line {
    let titles = ["min", "5%", "25%", "50%", "90%", "95%", "99%", "max"];
    let mut line = Line::new(INDENT).words(format!("ready {title}: "));
    for (index, (title, ns)) in titles.into_iter().zip(times.values).enumerate() {
        let comma = if index > 0 { ", " } else { "" };
        line = line.words(format!("{comma}{title} "));
        // Short times need a digit, long ones do not.
        line = if index < 4 {
            line.value(Fixed(1), ns as f64 / 1000.0)
        } else {
            line.value(etwkit_question::Format::WholeMicroseconds, ns)
        };
    }
    line.words(" µs; longest 1%: ")
        .value(AmongMicroseconds, times.longest_sum_ns)
        .words(", all ")
        .value(AmongMicroseconds, times.sum_ns)
        .words(", n ")
        .whole(times.count)
}
