//! Active times of stack tags: stretches of time with CPU samples of a tag.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::TableSource;
use super::columns::{Get, boolean, int32, int64, whole_int64};
use super::tag::Tags;
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{CpuSample, Row, TagInterval, Trace};
use crate::tags::OTHER;

/// A stretch ends after this time without a sample of its tag, or after a fraction of the trace if
/// that is longer. This bounds the rows: at most a hundred for a tag of a process, and at most one
/// per second.
const GAP_NS: i64 = 1_000_000_000;
const GAPS: i64 = 100;

/// Process, number of the set, number of the tag in it.
type TagKey = (Option<i32>, usize, u32);

/// Samples of a tag that are close together.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    start: i64,
    end: i64,
    samples: i64,
    cpu: i64,
}

/// Computes `tag_interval`. Samples come in order of time.
pub(super) fn derive(
    source: &dyn TableSource,
    tags: &Tags<'_>,
    sink: &mut dyn Sink,
) -> Result<(), SinkError> {
    // Tags of a recording of hours come and go thousands of times. Gaps grow with its length, so
    // that the number of rows does not.
    let gap = (duration(source)? / GAPS).max(GAP_NS);
    let mut all = Stretches {
        gap,
        open: FxHashMap::default(),
        done: Vec::new(),
    };
    let columns = ["ts_ns", "process_key", "weight_ns", "stack_id", "is_idle"];
    source.scan(CpuSample::TABLE, &columns, &mut |batch| {
        let ts = int64(batch, "ts_ns")?;
        let process = int32(batch, "process_key")?;
        let weight = int64(batch, "weight_ns")?;
        let stack = int32(batch, "stack_id")?;
        let is_idle = boolean(batch, "is_idle")?;
        for row in (0..batch.num_rows()).filter(|row| is_idle.get(*row) != Some(true)) {
            let (Some(ts), Some(stack)) = (ts.get(row), stack.get(row)) else {
                continue;
            };
            for (set, (_, tagged)) in tags.sets().iter().enumerate() {
                if let Some(tag) = tagged.tag(stack) {
                    all.sample((process.get(row), set, tag), ts, weight.amount(row));
                }
            }
        }
        Ok(())
    })?;
    write_all(all.rows(tags), sink)
}

/// Length of the recording.
fn duration(source: &dyn TableSource) -> Result<i64, SinkError> {
    let mut duration = 0;
    source.scan(Trace::TABLE, &["duration_ns"], &mut |batch| {
        if let Some(of_trace) = whole_int64(batch, "duration_ns")?.first() {
            duration = *of_trace;
        }
        Ok(())
    })?;
    Ok(duration)
}

/// Stretches of all tags.
struct Stretches {
    gap: i64,
    open: FxHashMap<TagKey, Stretch>,
    done: Vec<(TagKey, Stretch)>,
}

impl Stretches {
    fn sample(&mut self, key: TagKey, ts: i64, cpu: i64) {
        let new = Stretch {
            start: ts,
            end: ts,
            samples: 1,
            cpu,
        };
        // An empty stretch; the sample is added below as to any other.
        let open = self.open.entry(key).or_insert(Stretch {
            samples: 0,
            cpu: 0,
            ..new
        });
        if ts.saturating_sub(open.end) > self.gap {
            self.done.push((key, std::mem::replace(open, new)));
            return;
        }
        open.end = open.end.max(ts);
        open.samples += 1;
        open.cpu = open.cpu.saturating_add(cpu);
    }

    /// The rows in their order. Tags for unmatched stacks are omitted. Several rules may produce
    /// one tag.
    fn rows(self, tags: &Tags<'_>) -> Vec<TagInterval> {
        let mut by_name: BTreeMap<(Option<i32>, &str, &str), Vec<Stretch>> = BTreeMap::new();
        for ((process, set, tag), stretch) in self.done.into_iter().chain(self.open) {
            let Some((set, tagged)) = tags.sets().get(set) else {
                continue;
            };
            if let Some(name) = tagged.name(tag).filter(|name| *name != OTHER) {
                by_name
                    .entry((process, set.name(), name))
                    .or_default()
                    .push(stretch);
            }
        }
        let mut rows = Vec::new();
        for ((process_key, tag_set, tag), stretches) in by_name {
            let row = |stretch: Stretch| TagInterval {
                process_key,
                tag_set: tag_set.to_owned(),
                tag: tag.to_owned(),
                start_ns: stretch.start,
                end_ns: stretch.end,
                samples: stretch.samples,
                cpu_ns: stretch.cpu,
            };
            rows.extend(joined(stretches, self.gap).into_iter().map(row));
        }
        rows
    }
}

/// Merges stretches of rules that produce the same tag.
fn joined(mut stretches: Vec<Stretch>, gap: i64) -> Vec<Stretch> {
    stretches.sort_unstable_by_key(|stretch| (stretch.start, stretch.end));
    let mut all: Vec<Stretch> = Vec::new();
    for stretch in stretches {
        match all
            .last_mut()
            .filter(|last| stretch.start.saturating_sub(last.end) <= gap)
        {
            Some(last) => {
                last.end = last.end.max(stretch.end);
                last.samples += stretch.samples;
                last.cpu = last.cpu.saturating_add(stretch.cpu);
            }
            None => all.push(stretch),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// The example of `docs/numbers/tags.md`.
    #[test]
    fn a_stretch_ends_where_a_tag_was_silent_for_long() {
        let mut all = Stretches {
            gap: GAP_NS,
            open: FxHashMap::default(),
            done: Vec::new(),
        };
        let key = (Some(1), 0, 0);
        for ms in [100, 400, 1400, 2401, 2500] {
            all.sample(key, ms * MS, MS);
        }
        let shown = |(_, s): &(TagKey, Stretch)| (s.start / MS, s.end / MS, s.samples, s.cpu / MS);
        assert_eq!(
            all.done.iter().map(shown).collect::<Vec<_>>(),
            [(100, 1400, 3, 3)]
        );
        assert_eq!(
            all.open
                .into_iter()
                .map(|open| shown(&open))
                .collect::<Vec<_>>(),
            [(2401, 2500, 2, 2)]
        );
    }

    #[test]
    fn stretches_of_rules_with_one_name_are_put_together() {
        let stretch = |start: i64, end: i64| Stretch {
            start: start * MS,
            end: end * MS,
            samples: 1,
            cpu: MS,
        };
        let all = joined(
            vec![stretch(3000, 3500), stretch(0, 900), stretch(500, 1000)],
            GAP_NS,
        );
        let shown: Vec<_> = all
            .iter()
            .map(|s| (s.start / MS, s.end / MS, s.samples))
            .collect();
        assert_eq!(shown, [(0, 1000, 2), (3000, 3500, 1)]);
    }
}
