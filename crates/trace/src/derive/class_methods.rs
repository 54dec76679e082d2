//! CPU of methods by kind of core, for machines with several kinds.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::TableSource;
use super::cores::{CoreKindCpu, sampled, switched};
use super::frames::{Expander, MethodId, Stacks};
use super::speeds::{Cores, Speeds};
use crate::out::Out;
use crate::sink::{Sink, SinkError};
use crate::table::CpuMethodClass;

/// Process, kind of core and stack.
type StackClassKey = (Option<i32>, Option<i32>, i32);

/// Computes `cpu_method_class` from samples, or from the slices with a stack if there are no
/// samples.
pub(super) fn derive(
    source: &dyn TableSource,
    idle: Option<i32>,
    (cores, speeds): (&Cores, &Speeds),
    has_samples: bool,
    sink: &mut dyn Sink,
) -> Result<(), SinkError> {
    if cores.classes().len() < 2 {
        return Ok(());
    }
    let mut groups: FxHashMap<StackClassKey, CoreKindCpu> = FxHashMap::default();
    if has_samples {
        sampled(source, &mut |sample| {
            if let Some(stack) = sample.stack {
                let sum = groups
                    .entry((sample.process, cores.class(sample.cpu), stack))
                    .or_default();
                sum.add(
                    sample.cpu,
                    (sample.ts, sample.ts),
                    sample.weight,
                    cores,
                    speeds,
                );
            }
        })?;
    } else {
        switched(source, idle, &mut |slice| {
            if let Some(((start, end), stack)) = slice.run.zip(slice.stack) {
                let sum = groups
                    .entry((slice.process, cores.class(slice.cpu), stack))
                    .or_default();
                sum.add(
                    slice.cpu,
                    (start, end),
                    end.saturating_sub(start),
                    cores,
                    speeds,
                );
            }
        })?;
    }
    let mut groups: Vec<(StackClassKey, CoreKindCpu)> = groups.into_iter().collect();
    // By process, as they are taken below; it also makes the rows independent of the order of a
    // hash table.
    groups.sort_unstable_by_key(|(key, _)| *key);
    let stacks = Stacks::read(source)?;
    let mut expander = Expander::new(&stacks);
    let mut rows = Out::default();
    // One process at a time. Otherwise the sums of all methods of all processes would be in memory
    // at once.
    for groups in groups.chunk_by(|(a, _), (b, _)| a.0 == b.0) {
        let mut sums: BTreeMap<(MethodId, Option<i32>), CoreKindCpu> = BTreeMap::new();
        for ((_, class, stack), group) in groups {
            for (method, _) in expander.expand(*stack).iter() {
                sums.entry((*method, *class)).or_default().merge(group);
            }
        }
        let process = groups.first().and_then(|((process, ..), _)| *process);
        for ((method, class), sum) in sums {
            rows.push(&row(&stacks, method, &sum, process, class), sink)?;
        }
    }
    rows.flush(sink)
}

fn row(
    stacks: &Stacks,
    method: MethodId,
    sum: &CoreKindCpu,
    process: Option<i32>,
    class: Option<i32>,
) -> CpuMethodClass {
    let of = sum.row(process, class);
    let (module_path, module) = stacks.module(method);
    CpuMethodClass {
        process_key: of.process_key,
        module,
        method: stacks.text(method),
        module_path,
        efficiency_class: of.efficiency_class,
        cpu_ns: of.cpu_ns,
        normalized_ns: of.normalized_ns,
        mean_mhz: of.mean_mhz,
        nominal_mhz: of.nominal_mhz,
        measured_ns: of.measured_ns,
        cores: of.cores,
        core_count: of.core_count,
        first_ns: of.first_ns,
        last_ns: of.last_ns,
    }
}
