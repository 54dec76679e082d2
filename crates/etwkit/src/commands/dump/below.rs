//! Lines below a row of `etwkit dump cpu --details`.

use etwkit_query::dump::core_kinds::{CoreKinds, KindUse};
use etwkit_query::dump::ready::{Percentiles, ReadyTimes};

use super::cpu_args::CpuArgs;
use super::output::Lines;
use super::text::{Text, rounded};

/// Prints them, if they are asked for: kinds of cores, then how long threads of the row were ready.
pub(super) fn below(
    args: &CpuArgs,
    text: &Text,
    kinds: &CoreKinds,
    ready: &ReadyTimes,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    if args.details && !args.no_frequency {
        kinds_lines(text, kinds, args.normalize)
            .iter()
            .try_for_each(|line| lines.line(&format!("      {line}")))?;
    }
    if args.details && !args.no_ready {
        percentiles(text, ready, lines)?;
    }
    Ok(())
}

/// A line for each kind of core on which the row has CPU, the fastest one first; what they have together at nominal speed.
fn kinds_lines(text: &Text, kinds: &CoreKinds, normalize: bool) -> Vec<String> {
    let uses = kinds.uses();
    let mut lines: Vec<String> = uses.iter().map(|one| kind_text(text, one, normalize)).collect();
    lines.extend(kinds.class_other_cpu_ns.map(|ns| format!("other classes: {} ms", text.ms(ns))));
    let sum = uses.iter().try_fold(0_i64, |sum, one| Some(sum.saturating_add(one.normalized_ns?)));
    if normalize && lines.len() > 1 && kinds.class_other_cpu_ns.is_none() {
        lines.extend(sum.map(|ns| format!("normalized: {} ms", text.ms(ns))));
    }
    lines
}

/// `class 1: 30 ms [15 ms normalized], 75 % of CPU on 2 of 4 cores, 1500 MHz (50 % of nominal), 0.250 s from first to last`.
fn kind_text(text: &Text, of: &KindUse, normalize: bool) -> String {
    let normalized = of.normalized_ns.filter(|_| normalize);
    let normalized = normalized.map(|ns| format!(" [{} ms normalized]", text.ms(ns))).unwrap_or_default();
    let cores = match of.enabled_cores {
        Some(all) => format!("{} of {all} cores", of.used_cores),
        None => format!("{} cores", of.used_cores),
    };
    let percent = of
        .frequency_percent
        .map(|percent| format!(" ({} % of nominal)", text.fixed(percent, 0)))
        .unwrap_or_default();
    let speed = of.mean_mhz.map(|mhz| format!(", {} MHz{percent}", text.fixed(mhz, 0))).unwrap_or_default();
    format!(
        "class {}: {} ms{normalized}, {} % of CPU on {cores}{speed}, {} s from first to last",
        of.efficiency_class,
        text.ms(of.cpu_ns),
        text.fixed(of.cpu_percent, 0),
        text.s(of.duration_ns, 3)
    )
}

/// How long threads were ready before they were switched in.
fn percentiles(text: &Text, ready: &ReadyTimes, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    for (title, times) in [("after deep sleep", ready.deep_sleep()), ("other", ready.other())] {
        if let Some(times) = times {
            lines.line(&format!("      ready {title}: {}", percentiles_text(text, times)))?;
        }
    }
    Ok(())
}

/// `min 1.2, 5% 1.5, … max 900 us; longest 1%: 0.001000 s, all 0.012000 s, n 60`.
fn percentiles_text(text: &Text, times: Percentiles) -> String {
    let titles = ["min", "5%", "25%", "50%", "90%", "95%", "99%", "max"];
    let us = |(index, (title, ns)): (usize, (&str, i64))| {
        // Short times need a digit, long ones do not.
        let value = if index < 4 { text.fixed(ns as f64 / 1000.0, 1) } else { text.int(rounded(ns, 1000)) };
        format!("{title} {value}")
    };
    let values: Vec<String> = titles.into_iter().zip(times.values).enumerate().map(us).collect();
    format!(
        "{} us; longest 1%: {} s, all {} s, n {}",
        values.join(", "),
        text.s(times.longest_sum_ns, 6),
        text.s(times.sum_ns, 6),
        text.int(times.count)
    )
}
