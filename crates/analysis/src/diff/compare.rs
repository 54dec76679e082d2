//! Turns the sums of both sides into rows of differences.

use std::collections::HashMap;

use super::rows::{Change, CounterChange};
use super::totals::{Sums, Totals, taken};

/// Ratio of durations above which one side is marked as longer; noise does not reach that far.
const MUCH_LONGER: f64 = 3.0;

/// Change of the cycles per instruction, in per cent, above which another activity interfered,
/// provided that the instructions differ by less than [`SAME_WORK_PERCENT`].
const INTERFERENCE_PERCENT: f64 = 10.0;
/// Difference in instructions, in per cent, below which both sides did the same work.
const SAME_WORK_PERCENT: f64 = 3.0;

/// The scale of differences.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Scale {
    /// Difference of wall times, B − A, if these are durations of the measured work.
    pub wall_ns: Option<i64>,
    /// Smaller differences are noise.
    pub noise_ns: i64,
    /// Differences below this share of the larger side, in per cent, are also noise.
    pub noise_percent: f64,
    /// The process whose lifetime the wall times are: its rows explain them, and are shown first.
    pub process: Option<String>,
    /// True if rows are processes; other rows belong to one.
    pub is_process: bool,
    /// True if rows are code, whose times include its callees: see [`Scale::worth`].
    pub is_code: bool,
}

/// Rows, ascending, and the number of other rows, whose differences are noise.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Compared<R> {
    pub rows: Vec<R>,
    pub hidden: usize,
}

impl Scale {
    /// Returns `true` if a difference is more than noise. A row of one side only is compared with
    /// 0.
    pub(super) fn is_real(&self, a: i64, b: i64) -> bool {
        let difference = b.saturating_sub(a).unsigned_abs();
        let larger = a.unsigned_abs().max(b.unsigned_abs());
        difference > 0
            && difference >= self.noise_ns.unsigned_abs()
            && difference as f64 * 100.0 >= self.noise_percent * larger as f64
    }

    /// Returns the weight of a difference for sorting. Differences in the direction of the
    /// wall-time difference come before all opposite ones; if the wall times do not differ, only
    /// the size counts. Existing code grows with all its callees: it weighs less by the share that
    /// both sides have, so that new code comes first.
    fn worth(&self, a: i64, b: i64) -> f64 {
        let difference = b.saturating_sub(a);
        let size = difference.unsigned_abs() as f64;
        let larger = a.unsigned_abs().max(b.unsigned_abs()).max(1) as f64;
        // Multiplied by the new share of the larger side: 1 for rows that the other side does not
        // have.
        let size = if self.is_code {
            size * (size / larger)
        } else {
            size
        };
        match self.wall_ns.filter(|wall| *wall != 0) {
            // Between -1 and 0: below all that agree with the wall times, and still ordered by size
            // among themselves.
            Some(wall) if (wall > 0) != (difference > 0) => -1.0 / (size + 1.0),
            _ => size,
        }
    }

    /// Returns `true` if a row is the measured process or belongs to it.
    fn is_measured(&self, row: &Change) -> bool {
        let name = if self.is_process {
            Some(row.name.as_str())
        } else {
            row.of.as_deref()
        };
        name.zip(self.process.as_deref())
            .is_some_and(|(name, process)| name.eq_ignore_ascii_case(process))
    }

    fn percent(&self, difference: i64) -> Option<f64> {
        let wall = self.wall_ns.filter(|wall| *wall != 0)?;
        Some(difference as f64 * 100.0 / wall as f64)
    }
}

/// Returns the differences between two sums.
pub(super) fn changes(a: Sums, b: Sums, scale: &Scale) -> Compared<Change> {
    let mut rows = Vec::new();
    let mut hidden = 0_usize;
    for (name, of, [a, b]) in paired(a, b) {
        let depth = [&a, &b]
            .into_iter()
            .flatten()
            .filter_map(|totals| totals.depth)
            .reduce(f64::min);
        match change(name, of, [&a, &b], scale) {
            Some(row) => rows.push((row, depth.unwrap_or(f64::MAX))),
            None if a != b => hidden = hidden.saturating_add(1),
            None => {}
        }
    }
    let key = |row: &Change| (row.name.clone(), row.of.clone());
    let is_measured = |row: &Change| scale.is_measured(row);
    // Ascending, like all tables: the row that explains most is the last one, and equal rows have
    // their names in descending order.
    rows.sort_by(|(x, _), (y, _)| {
        let order = is_measured(x)
            .cmp(&is_measured(y))
            .then(x.sort_value.total_cmp(&y.sort_value));
        order.then_with(|| key(y).cmp(&key(x)))
    });
    if scale.is_code {
        show_innermost(&mut rows);
    }
    Compared {
        rows: rows.into_iter().map(|(row, _)| row).collect(),
        hidden,
    }
}

/// Marks the rows to show: methods that only call each other have the same times, and the innermost
/// one is the most useful.
fn show_innermost(rows: &mut [(Change, f64)]) {
    let times = |row: &Change| (row.of.clone(), row.of_time.clone(), row.a_ns, row.b_ns);
    let mut innermost = HashMap::new();
    for (at, (row, depth)) in rows.iter().enumerate() {
        let best = innermost.entry(times(row)).or_insert((*depth, at));
        if *depth < best.0 {
            *best = (*depth, at);
        }
    }
    for (at, (row, _)) in rows.iter_mut().enumerate() {
        row.is_shown = innermost
            .get(&times(row))
            .is_none_or(|(_, best)| *best == at);
    }
}

/// Returns all names, each with the totals of both sides.
fn paired(a: Sums, mut b: Sums) -> Vec<(String, Option<String>, [Option<Totals>; 2])> {
    let mut all = Vec::new();
    for (key, (name, of, totals)) in a {
        let other = b.remove(&key).map(|(.., totals)| totals);
        all.push((name, of, [Some(totals), other]));
    }
    all.extend(
        b.into_values()
            .map(|(name, of, totals)| (name, of, [None, Some(totals)])),
    );
    all
}

/// The name of a time, and its value on both sides.
type Times = (&'static str, Option<i64>, Option<i64>);

fn change(
    name: String,
    of: Option<String>,
    [a, b]: [&Option<Totals>; 2],
    scale: &Scale,
) -> Option<Change> {
    let both =
        |get: fn(&Totals) -> Option<i64>| (a.as_ref().and_then(get), b.as_ref().and_then(get));
    let cpu = both(|t| t.cpu);
    let wait = both(|t| t.wait);
    let ready = both(|t| t.ready);
    let time = both(|t| t.time);
    let duration = both(|t| t.duration);
    let count = both(|t| t.count);
    let bytes = both(|t| t.bytes);
    let timeouts = both(|t| t.timeouts);
    // A process that only waits on both sides waits longer if more was recorded, which is
    // meaningless.
    let is_busy = [a, b].into_iter().flatten().any(|totals| totals.is_busy);
    let waits = if is_busy { wait } else { (None, None) };
    let times: [Times; 4] = [
        ("cpu", cpu.0, cpu.1),
        ("wait", waits.0, waits.1),
        ("ready", ready.0, ready.1),
        ("time", time.0, time.1),
    ];
    // A time that one side did not record is not a difference. A row of one side only is compared
    // with 0, in every known time.
    let is_of_one = a.is_none() || b.is_none();
    let known = times.into_iter().filter(|(_, a, b)| {
        (a.is_some() && b.is_some()) || (is_of_one && (a.is_some() || b.is_some()))
    });
    let size = |(_, a, b): &Times| taken(*b).saturating_sub(taken(*a)).unsigned_abs();
    // max_by_key returns the last of equals: in reverse that is the first, so CPU comes before
    // waiting.
    let (of_time, a_ns, b_ns) = known.rev().max_by_key(size)?;
    let taken_a = taken(a_ns);
    let taken_b = taken(b_ns);
    if !scale.is_real(taken_a, taken_b) {
        return None;
    }
    let difference_ns = taken_b.saturating_sub(taken_a);
    let duration_ratio = match duration {
        // A ratio to nothing is not a number.
        (Some(a), Some(b)) if a > 0 => Some(b as f64 / a as f64),
        _ => None,
    };
    let only_in = match (a, b) {
        (None, _) => Some("B".to_owned()),
        (_, None) => Some("A".to_owned()),
        _ => None,
    };
    Some(Change {
        name,
        of,
        only_in,
        of_time: of_time.to_owned(),
        a_ns,
        b_ns,
        difference_ns,
        explains_percent: scale.percent(difference_ns),
        cpu_a_ns: cpu.0,
        cpu_b_ns: cpu.1,
        wait_a_ns: wait.0,
        wait_b_ns: wait.1,
        ready_a_ns: ready.0,
        ready_b_ns: ready.1,
        duration_a_ns: duration.0,
        duration_b_ns: duration.1,
        duration_ratio,
        is_longer: is_longer(duration, duration_ratio, scale),
        count_a: count.0,
        count_b: count.1,
        bytes_a: bytes.0,
        bytes_b: bytes.1,
        timeouts_a: timeouts.0,
        timeouts_b: timeouts.1,
        is_shown: true,
        sort_value: scale.worth(taken_a, taken_b),
    })
}

/// Returns `true` if it lasts much longer on one side, and long enough on both for the ratio to be
/// meaningful.
fn is_longer((a, b): (Option<i64>, Option<i64>), ratio: Option<f64>, scale: &Scale) -> bool {
    let is_long = |ns: Option<i64>| ns.is_some_and(|ns| ns > scale.noise_ns);
    let is_much = ratio.is_some_and(|ratio| !(1.0 / MUCH_LONGER..=MUCH_LONGER).contains(&ratio));
    is_much && is_long(a) && is_long(b)
}

/// Returns changes of processor counters, for code that ran on both sides, ascending by the cycles
/// that the change of the cycles per instruction costs or saves.
pub(super) fn counters(a: Sums, b: Sums, noise_percent: f64) -> Compared<CounterChange> {
    let mut all = Compared {
        rows: Vec::new(),
        hidden: 0,
    };
    for (name, of, sides) in paired(a, b) {
        // Counters of only one side have no ratio to compare.
        let [Some(a), Some(b)] = sides else { continue };
        let change = |a: f64, b: f64| (a > 0.0).then(|| (b - a) * 100.0 / a);
        let cpi = a.cpi().zip(b.cpi()).and_then(|(a, b)| change(a, b));
        let work = a
            .instructions
            .zip(b.instructions)
            .and_then(|(a, b)| change(a as f64, b as f64));
        let is_over = |percent: Option<f64>, limit: f64| {
            percent.is_some_and(|percent| percent.abs() >= limit)
        };
        if !is_over(cpi, noise_percent) {
            all.hidden = all.hidden.saturating_add(usize::from(a != b));
            continue;
        }
        all.rows.push(CounterChange {
            name,
            of,
            instructions_a: a.instructions,
            instructions_b: b.instructions,
            cycles_a: a.cycles,
            cycles_b: b.cycles,
            cpi_a: a.cpi(),
            cpi_b: b.cpi(),
            cpi_change_percent: cpi,
            is_interference: is_over(cpi, INTERFERENCE_PERCENT)
                && work.is_some_and(|work| work.abs() < SAME_WORK_PERCENT),
            sort_value: cycles_more(&a, &b),
        });
    }
    all.rows.sort_by(|x, y| {
        x.sort_value
            .total_cmp(&y.sort_value)
            .then_with(|| y.name.cmp(&x.name))
    });
    all
}

/// Returns the cycles that B took for its instructions more or less than it would have with the
/// ratio of A.
fn cycles_more(a: &Totals, b: &Totals) -> f64 {
    let more = a.cpi().zip(b.cpi()).map_or(0.0, |(a, b)| (b - a).abs());
    b.instructions.map_or(0.0, |count| more * count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::totals::add;

    const SCALE: Scale = Scale {
        wall_ns: Some(1_000),
        noise_ns: 10,
        noise_percent: 5.0,
        process: None,
        is_process: true,
        is_code: false,
    };

    fn sums(all: &[(&str, i64, i64)]) -> Sums {
        let mut sums = Sums::new();
        for (name, cpu, wait) in all {
            let totals = Totals {
                cpu: Some(*cpu),
                wait: Some(*wait),
                is_busy: true,
                ..Totals::default()
            };
            add(&mut sums, (*name).to_owned(), None, totals);
        }
        sums
    }

    #[test]
    fn what_goes_with_the_wall_time_comes_last_and_noise_is_counted() {
        let a = sums(&[
            ("same", 5, 5),
            ("slower", 100, 200),
            ("faster", 900, 0),
            ("noise", 100, 0),
            ("gone", 50, 0),
        ]);
        let b = sums(&[
            ("SAME", 5, 5),
            ("slower", 120, 900),
            ("faster", 100, 0),
            ("noise", 104, 0),
            ("new", 60, 0),
        ]);
        let Compared { rows, hidden } = changes(a, b, &SCALE);
        let found: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row.name.as_str(),
                    row.of_time.as_str(),
                    row.difference_ns,
                    row.only_in.as_deref(),
                )
            })
            .collect();
        let expected = [
            ("gone", "cpu", -50, Some("A")),
            ("faster", "cpu", -800, None),
            ("new", "cpu", 60, Some("B")),
            ("slower", "wait", 700, None),
        ];
        assert_eq!((found.as_slice(), hidden), (expected.as_slice(), 1));
        assert_eq!(rows[3].explains_percent, Some(70.0));
        // Unless there is a measured one.
        let of_new = Scale {
            process: Some("New".to_owned()),
            ..SCALE
        };
        let rows = changes(sums(&[("old", 900, 0)]), sums(&[("new", 60, 0)]), &of_new).rows;
        assert_eq!(rows.last().map(|row| row.name.as_str()), Some("new"));
    }

    #[test]
    fn new_code_comes_first_and_of_a_chain_of_calls_the_innermost_method_is_shown() {
        let side = |all: &[(&str, i64, f64)]| {
            let mut sums = Sums::new();
            for (name, wait, depth) in all {
                let (wait, depth) = (Some(*wait), Some(*depth));
                let totals = Totals {
                    wait,
                    depth,
                    is_busy: true,
                    ..Totals::default()
                };
                add(&mut sums, (*name).to_owned(), None, totals);
            }
            sums
        };
        let a = side(&[("Main", 500, 9.0), ("Swap", 500, 0.0)]);
        let b = side(&[("Main", 900, 9.0), ("Swap", 900, 0.0), ("Scan", 300, 2.0)]);
        let shown = |is_code| {
            let rows = changes(a.clone(), b.clone(), &Scale { is_code, ..SCALE }).rows;
            let shown = rows.iter().rev().filter(|row| row.is_shown);
            shown.map(|row| row.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            shown(true),
            ["Scan", "Swap"],
            "300 of 300 are new, 400 of 900"
        );
        assert_eq!(shown(false), ["Main", "Swap", "Scan"]);
    }

    #[test]
    fn a_program_that_only_waits_explains_nothing() {
        let side = |wait| {
            let mut sums = Sums::new();
            let totals = Totals {
                cpu: Some(1),
                wait: Some(wait),
                ..Totals::default()
            };
            add(&mut sums, "idle".to_owned(), None, totals);
            sums
        };
        assert_eq!(
            changes(side(1_000), side(9_000), &SCALE),
            Compared {
                rows: Vec::new(),
                hidden: 1
            }
        );
    }

    #[test]
    fn more_cycles_for_the_same_instructions_are_interference() {
        let side = |instructions, cycles| {
            let mut sums = Sums::new();
            let counted = Totals {
                instructions: Some(instructions),
                cycles: Some(cycles),
                ..Totals::default()
            };
            add(&mut sums, "a.exe".to_owned(), None, counted);
            sums
        };
        let compared = |cycles, instructions| {
            let rows = counters(side(1_000, 1_000), side(instructions, cycles), 5.0).rows;
            rows.first()
                .map(|row| (row.cpi_change_percent, row.is_interference))
        };
        assert_eq!(compared(1_250, 1_000), Some((Some(25.0), true)));
        assert_eq!(
            compared(2_500, 2_000),
            Some((Some(25.0), false)),
            "it did more"
        );
        assert_eq!(compared(1_010, 1_000), None);
    }
}
