//! Sums of one side, by name and process.

use std::collections::BTreeMap;

/// Sums of something on one side. A missing sum is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Totals {
    pub cpu: Option<i64>,
    /// CPU from context switches alone, since `cpu` may be sampled.
    pub run: Option<i64>,
    pub wait: Option<i64>,
    pub ready: Option<i64>,
    /// Time that is neither CPU nor waiting: I/O, queries.
    pub time: Option<i64>,
    pub duration: Option<i64>,
    /// True if its duration belongs to one process that started and ended in the compared range.
    pub is_whole: bool,
    /// Number of frames between code and the innermost one.
    pub depth: Option<f64>,
    pub count: Option<i64>,
    pub bytes: Option<i64>,
    pub timeouts: Option<i64>,
    pub instructions: Option<i64>,
    pub cycles: Option<i64>,
    /// True if some part of it did more than wait from start to end.
    pub is_busy: bool,
}

/// The key by which both sides are matched: name and process, in lower case.
pub(super) type Key = (String, String);

/// Sums of one side, each with its name and process in their original spelling.
pub(super) type Sums = BTreeMap<Key, (String, Option<String>, Totals)>;

/// Returns the time of one side. A side without the row took none of it.
pub(super) fn taken(ns: Option<i64>) -> i64 {
    ns.unwrap_or(0)
}

/// Adds sums of something.
pub(super) fn add(sums: &mut Sums, name: String, of: Option<String>, more: Totals) {
    let key = (
        name.to_lowercase(),
        of.as_deref().unwrap_or("").to_lowercase(),
    );
    let (.., totals) = sums
        .entry(key)
        .or_insert_with(|| (name, of, Totals::default()));
    totals.add(more);
}

impl Totals {
    fn add(&mut self, more: Self) {
        let plus = |sum: &mut Option<i64>, more: Option<i64>| {
            *sum = match (*sum, more) {
                (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
                (one, other) => one.or(other),
            };
        };
        plus(&mut self.cpu, more.cpu);
        plus(&mut self.run, more.run);
        plus(&mut self.wait, more.wait);
        plus(&mut self.ready, more.ready);
        plus(&mut self.time, more.time);
        plus(&mut self.count, more.count);
        plus(&mut self.bytes, more.bytes);
        plus(&mut self.timeouts, more.timeouts);
        plus(&mut self.instructions, more.instructions);
        plus(&mut self.cycles, more.cycles);
        // Lifetimes of simultaneous processes do not add up: the longest counts.
        self.duration = self.duration.max(more.duration);
        self.is_busy |= more.is_busy;
        // The count already has the new one: a second process of the name ends this.
        self.is_whole = more.is_whole && self.count == Some(1);
        // The least, since a frame that is innermost even once does work itself.
        self.depth = [self.depth, more.depth]
            .into_iter()
            .flatten()
            .reduce(f64::min);
    }

    /// Cycles per instruction.
    pub(super) fn cpi(&self) -> Option<f64> {
        let cycles = self.cycles?;
        let instructions = self.instructions?;
        (instructions > 0).then(|| cycles as f64 / instructions as f64)
    }
}
