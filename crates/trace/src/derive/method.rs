//! CPU, waiting and ready time by process and method.

use etwkit_base::intervals::SortedUnion;
use rustc_hash::FxHashMap;

use super::frames::{Expander, MethodId, Stacks};
use super::interval::Interval;
use super::percentiles::{Counts, Ranked, row as ready_row};
use super::plus;
use crate::mix::Mixer;
use crate::out::Out;
use crate::sink::{Sink, SinkError};
use crate::table::{CpuMethod, ReadyPercentile};

/// Samples and slices of a thread with the same stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct GroupKey {
    pub(super) process: Option<i32>,
    pub(super) thread: i32,
    /// [`NO_STACK`] if none was recorded.
    pub(super) stack: i32,
}

/// The stack ID of slices without a stack.
pub(super) const NO_STACK: i32 = -1;

/// Sums over the samples and slices with one key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    pub(super) samples: i64,
    pub(super) cpu_ns: i64,
    pub(super) switches: i64,
    run_ns: i64,
    pub(super) wait_ns: i64,
    pub(super) ready_ns: i64,
    ready_count: i64,
    pub(super) first_ns: i64,
    pub(super) last_ns: i64,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            samples: 0,
            cpu_ns: 0,
            switches: 0,
            run_ns: 0,
            wait_ns: 0,
            ready_ns: 0,
            ready_count: 0,
            first_ns: i64::MAX,
            last_ns: i64::MIN,
        }
    }
}

impl Group {
    #[inline]
    pub(super) fn sample(&mut self, ts: i64, weight: i64) {
        self.samples += 1;
        self.cpu_ns = self.cpu_ns.saturating_add(weight);
        self.saw(ts, ts);
    }

    #[inline]
    pub(super) fn switch(
        &mut self,
        in_ns: i64,
        last: i64,
        run: i64,
        wait: Option<i64>,
        ready: Option<i64>,
    ) {
        self.switches += 1;
        self.run_ns = self.run_ns.saturating_add(run);
        self.wait_ns = plus(self.wait_ns, wait);
        self.ready_ns = plus(self.ready_ns, ready);
        self.ready_count += i64::from(ready.is_some());
        self.saw(in_ns, last);
    }

    /// Adds a wait of a thread that came back after the range.
    pub(super) fn off(&mut self, out: i64, wait: Option<i64>, ready: Option<i64>) {
        self.wait_ns = plus(self.wait_ns, wait);
        self.ready_ns = plus(self.ready_ns, ready);
        self.saw(out, out);
    }

    fn saw(&mut self, first: i64, last: i64) {
        self.first_ns = self.first_ns.min(first);
        self.last_ns = self.last_ns.max(last);
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.switches += other.switches;
        self.run_ns = self.run_ns.saturating_add(other.run_ns);
        self.wait_ns = self.wait_ns.saturating_add(other.wait_ns);
        self.ready_ns = self.ready_ns.saturating_add(other.ready_ns);
        self.ready_count += other.ready_count;
        self.saw(other.first_ns, other.last_ns);
    }
}

/// Sums for a method of a process.
#[derive(Debug, Clone, Default)]
struct MethodSum {
    group: Group,
    exclusive_ns: i64,
    threads: i64,
    last_thread: Option<i32>,
    depths: f64,
    wait: SortedUnion,
    ready: SortedUnion,
    readies: Counts,
    /// A hash of the stacks that have ready times: methods of the same stacks have the same
    /// percentiles.
    stacks: u64,
}

/// CPU data of a process.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessCpuData<'a> {
    pub(super) process: Option<i32>,
    /// Sorted by thread.
    pub(super) groups: &'a [(GroupKey, Group)],
    /// Sorted by start, as are `readies`.
    pub(super) waits: &'a [Interval],
    pub(super) readies: &'a [Interval],
    pub(super) has_switches: bool,
}

/// Sums up the methods of processes.
pub(super) struct Methods<'s> {
    stacks: Expander<'s>,
    /// Position of the sum of each method, for those that the process has.
    places: Vec<u32>,
    sums: Sums,
    touched: Vec<MethodId>,
    /// Lengths and positions of the ready times of a process, the shortest first.
    by_length: Vec<(i64, u32)>,
    /// Percentiles of the process, then of the methods that were ready often enough.
    ranked: Vec<Ranked>,
    of_process: usize,
    /// Positions of the percentiles of a method in `ranked`, by kind. Of several methods that
    /// always occur together only the first one has any.
    ranks: Vec<[u32; 2]>,
    first_alike: Vec<MethodId>,
    mixer: Mixer,
}

/// Sums in chunks of one size: a growing vector would copy all of them each time.
#[derive(Default)]
struct Sums(Vec<Vec<MethodSum>>);

/// Minimum number of ready times for percentiles of a method; percentiles of fewer values mean
/// little.
const MIN_READIES: u32 = 51;

/// Sums in a piece of memory.
const PIECE: usize = 1 << 12;

/// Marks a missing position.
const NONE: u32 = u32::MAX;

impl Sums {
    fn get_mut(&mut self, place: u32) -> Option<&mut MethodSum> {
        let place = place as usize;
        // Indices come in ascending order, so one more piece is always enough.
        if place / PIECE >= self.0.len() && place != NONE as usize {
            self.0.push(vec![MethodSum::default(); PIECE]);
        }
        self.0.get_mut(place / PIECE)?.get_mut(place % PIECE)
    }
}

impl<'s> Methods<'s> {
    pub(super) fn new(stacks: &'s Stacks) -> Self {
        Self {
            places: vec![NONE; stacks.methods()],
            ranks: vec![[NONE; 2]; stacks.methods()],
            first_alike: vec![NONE; stacks.methods()],
            of_process: 0,
            mixer: Mixer::default(),
            stacks: Expander::new(stacks),
            sums: Sums::default(),
            touched: Vec::new(),
            by_length: Vec::new(),
            ranked: Vec::new(),
        }
    }

    /// Sums up the methods of a process, and writes the rows in the order of the methods.
    pub(super) fn process(
        &mut self,
        of: ProcessCpuData<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        for (key, group) in of.groups {
            let methods = self.stacks.expand(key.stack);
            let hash = if group.ready_count > 0 {
                self.hash(key.stack)
            } else {
                0
            };
            for (method, depth) in methods.iter() {
                let Some(place) = self.places.get_mut(*method as usize) else {
                    continue;
                };
                if *place == NONE {
                    *place = self.touched.len() as u32;
                    self.touched.push(*method);
                }
                if let Some(sum) = self.sums.get_mut(*place) {
                    sum.add(key.thread, group, *depth);
                    // A sum does not depend on the order, so equal sets of stacks have equal
                    // hashes.
                    sum.stacks = sum.stacks.wrapping_add(hash);
                }
            }
        }
        self.each(of.waits.iter(), |sum, wait| {
            sum.wait.add(wait.start, wait.end);
        });
        self.each(of.readies.iter(), |sum, ready| {
            sum.ready.add(ready.start, ready.end);
            if let Some(count) = ready
                .ready
                .number()
                .and_then(|kind| sum.readies.get_mut(kind))
            {
                *count += 1;
            }
        });
        // Ranking needs the number of values beforehand, which is why all of them are counted
        // first.
        self.rank(of.readies);
        self.rows(of, sink)
    }

    /// Calls `add` with each interval and the sum of each method of its stack.
    fn each<'i>(
        &mut self,
        intervals: impl Iterator<Item = &'i Interval>,
        mut add: impl FnMut(&mut MethodSum, &Interval),
    ) {
        for interval in intervals {
            let Some(stack) = interval.stack else {
                continue;
            };
            let methods = self.stacks.expand(stack);
            for (method, _) in methods.iter() {
                let place = self.places.get(*method as usize).copied().unwrap_or(NONE);
                if let Some(sum) = self.sums.get_mut(place) {
                    add(sum, interval);
                }
            }
        }
    }

    /// Ranks the ready times of the process, and of the methods that have enough of them. The
    /// number of each method is counted already.
    fn rank(&mut self, readies: &[Interval]) {
        let mut by_length = std::mem::take(&mut self.by_length);
        let counted = (0..)
            .zip(readies)
            .filter(|(_, ready)| ready.ready.number().is_some());
        by_length.extend(counted.map(|(position, ready)| (ready.end - ready.start, position)));
        // Sorted once for the process: `Ranked` takes ascending values, so no method has to keep
        // and sort its own.
        by_length.sort_unstable();
        let ascending = by_length
            .iter()
            .filter_map(|(_, position)| readies.get(*position as usize));
        self.rank_process(readies, ascending.clone());
        if self.choose_methods() {
            ascending.for_each(|ready| self.rank_methods(ready));
        }
        by_length.clear();
        self.by_length = by_length;
    }

    /// Ranks the ready times of the process: the first percentiles, of kinds that it has.
    fn rank_process<'i>(
        &mut self,
        readies: &[Interval],
        ascending: impl Iterator<Item = &'i Interval>,
    ) {
        let mut counts = Counts::default();
        for kind in readies.iter().filter_map(|ready| ready.ready.number()) {
            counts
                .get_mut(kind)
                .into_iter()
                .for_each(|count| *count += 1);
        }
        let [of_first, of_second] = counts;
        let mut ranked = [Ranked::new(0, of_first), Ranked::new(1, of_second)];
        for ready in ascending {
            let of_kind = ready.ready.number().and_then(|kind| ranked.get_mut(kind));
            of_kind
                .into_iter()
                .for_each(|ranked| ranked.push(ready.end - ready.start));
        }
        self.ranked.clear();
        self.ranked.extend(
            ranked
                .into_iter()
                .zip(counts)
                .filter(|(_, count)| *count > 0)
                .map(|(ranked, _)| ranked),
        );
        self.of_process = self.ranked.len();
    }

    /// A hash of a stack for sets of stacks.
    fn hash(&self, stack: i32) -> u64 {
        self.mixer.mix(self.mixer.mix(stack as u64, 1), 2)
    }

    /// Makes room for the percentiles of methods with enough values; returns whether there are any.
    fn choose_methods(&mut self) -> bool {
        let mut alike: FxHashMap<(u64, Counts), MethodId> = FxHashMap::default();
        for (place, method) in (0..).zip(&self.touched) {
            let index = *method as usize;
            let (Some(sum), Some(ranks)) = (self.sums.get_mut(place), self.ranks.get_mut(index))
            else {
                continue;
            };
            *ranks = [NONE; 2];
            if sum.readies.iter().all(|count| *count < MIN_READIES) {
                self.first_alike
                    .get_mut(index)
                    .into_iter()
                    .for_each(|first| *first = NONE);
                continue;
            }
            // Whole call chains share the same ready times, mostly the outer frames of a thread.
            // One of them is ranked, and the others take its percentiles.
            let first = *alike.entry((sum.stacks, sum.readies)).or_insert(*method);
            self.first_alike
                .get_mut(index)
                .into_iter()
                .for_each(|known| *known = first);
            if first != *method {
                continue;
            }
            for (kind, (rank, count)) in ranks.iter_mut().zip(sum.readies).enumerate() {
                if count >= MIN_READIES {
                    *rank = self.ranked.len() as u32;
                    self.ranked.push(Ranked::new(kind, count));
                }
            }
        }
        self.ranked.len() > self.of_process
    }

    fn rank_methods(&mut self, ready: &Interval) {
        let Some((kind, stack)) = ready.ready.number().zip(ready.stack) else {
            return;
        };
        let methods = self.stacks.expand(stack);
        for (method, _) in methods.iter() {
            let rank = self
                .ranks
                .get(*method as usize)
                .and_then(|ranks| ranks.get(kind));
            if let Some(ranked) = rank.and_then(|rank| self.ranked.get_mut(*rank as usize)) {
                ranked.push(ready.end - ready.start);
            }
        }
    }

    /// The percentiles of a method of the process.
    fn ranked_of(&self, method: MethodId) -> impl Iterator<Item = &Ranked> {
        let first = self.first_alike.get(method as usize);
        let ranks = first
            .and_then(|first| self.ranks.get(*first as usize))
            .into_iter()
            .flatten();
        ranks.filter_map(|rank| self.ranked.get(*rank as usize))
    }

    fn rows(&mut self, of: ProcessCpuData<'_>, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let mut touched = std::mem::take(&mut self.touched);
        // Methods were added in the order of stacks; rows are in the order of method IDs.
        touched.sort_unstable();
        let mut methods = Out::<CpuMethod>::default();
        let mut percentiles = Out::<ReadyPercentile>::default();
        for ranked in self.ranked.iter().take(self.of_process) {
            percentiles.push(&ready_row(of.process, None, ranked), sink)?;
        }
        for method in touched {
            let Some(place) = self.places.get_mut(method as usize) else {
                continue;
            };
            // Indices and sums are reset on the way, because the next process uses the same memory.
            let sum = self
                .sums
                .get_mut(std::mem::replace(place, NONE))
                .map(std::mem::take);
            let Some(sum) = sum else { continue };
            if let Some(row) = row(
                of.process,
                method,
                &sum,
                of.has_switches,
                self.stacks.stacks(),
            ) {
                methods.push(&row, sink)?;
                for ranked in self.ranked_of(method) {
                    percentiles.push(&ready_row(of.process, Some(&row), ranked), sink)?;
                }
            }
        }
        methods.flush(sink)?;
        percentiles.flush(sink)
    }
}

impl MethodSum {
    fn add(&mut self, thread: i32, group: &Group, depth: u32) {
        self.group.add(group);
        if depth == 0 {
            self.exclusive_ns = self.exclusive_ns.saturating_add(group.cpu_ns);
        }
        // Groups are sorted by thread, so a change of thread is a thread that was not counted yet.
        if self.last_thread != Some(thread) {
            self.last_thread = Some(thread);
            self.threads += 1;
        }
        self.depths += f64::from(depth) * (group.samples + group.switches) as f64;
    }
}

fn row(
    process_key: Option<i32>,
    method: MethodId,
    sum: &MethodSum,
    has_switches: bool,
    stacks: &Stacks,
) -> Option<CpuMethod> {
    let (path, module) = stacks.module(method);
    let switched = |value: i64| has_switches.then_some(value);
    let group = &sum.group;
    Some(CpuMethod {
        process_key,
        module: module.as_deref().map(str::to_owned),
        method: stacks.name(method)?,
        module_path: path.as_deref().map(str::to_owned),
        samples: group.samples,
        cpu_ns: group.cpu_ns,
        exclusive_ns: Some(sum.exclusive_ns),
        run_ns: switched(group.run_ns),
        wait_ns: switched(sum.wait.length()),
        ready_ns: switched(sum.ready.length()),
        wait_sum_ns: switched(group.wait_ns),
        ready_sum_ns: switched(group.ready_ns),
        switches: switched(group.switches),
        ready_count: switched(group.ready_count),
        threads: sum.threads,
        depth: sum.depths / (group.samples + group.switches).max(1) as f64,
        first_ns: group.first_ns,
        last_ns: group.last_ns,
    })
}
