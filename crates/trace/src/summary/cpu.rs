//! Section `cpu`: samples by process, thread, processor and module, with their stacks.

use std::collections::{BTreeMap, VecDeque};

use etwkit_decode::kernel::sample::{self, Interval, Sample};
use etwkit_decode::kernel::stack::{self, Owner, is_kernel_address};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use etwkit_etl::clock::Clock;
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::modules::{ModuleId, Modules};
use super::{process_name, process_text};
use crate::directory::Directory;
use crate::dotnet_summary::ManagedSamples;
use crate::early::Early;
use crate::tracker::method::MethodTracker;
use crate::tracker::process::ProcessKey;
use crate::tracker::stack::{StackId, StackPart};

/// Seconds of trace time for which a sample waits for its stacks. The user half is logged when the
/// thread returns to user mode; in the available traces that is after 0.4 s at the latest.
const STACK_PATIENCE_S: i64 = 60;

/// Rows of the list `top_leaf`.
const TOP_LEAVES: usize = 30;

/// A sample whose stacks may still come: the user half is logged when the thread returns to user
/// mode.
#[derive(Debug)]
struct Pending {
    process: Option<ProcessKey>,
    busy: bool,
    kernel_stack: bool,
    user_stack: bool,
    any_stack: bool,
    /// Modules for which its address and stacks were counted, so that each counts once.
    modules: Vec<ModuleId>,
}

/// Frames of a stack. Frames given by a key stay in the directory, where many references share
/// them.
#[derive(Debug)]
enum Frames {
    Inline(Vec<u64>),
    Key(StackId),
}

/// A row of a list by CPU samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopRow {
    /// `name (pid)` of a process, or the path of a module; `?` if unknown.
    pub name: String,
    /// Busy samples.
    pub samples: u64,
    /// Number of sampling intervals that they cover.
    pub weight: u64,
}

/// All CPU samples of a session.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CpuTotals {
    /// Samples, including samples of idle processors.
    pub samples: u64,
    /// Samples of processors that had work.
    pub busy: u64,
}

/// Busy samples and the number of intervals that they cover.
#[derive(Debug, Default, Clone, Copy)]
struct Busy {
    samples: u64,
    weight: u64,
}

impl Busy {
    fn add(&mut self, count: u16) {
        self.samples += 1;
        self.weight += u64::from(count);
    }
}

type Count = FxHashMap<(Option<ProcessKey>, ModuleId), u64>;

pub(super) struct CpuSummary<'d> {
    directory: &'d Directory,
    methods: &'d MethodTracker,
    managed: ManagedSamples,
    /// Busy samples in code that .NET compiled at run time: it is in no image.
    jitted: Busy,
    modules: Modules,
    interval: Option<u32>,
    /// Interval at the end, for traces that lack the one at the start.
    end_interval: Option<u32>,
    samples: u64,
    idle: u64,
    dpc_isr: u64,
    weight: u64,
    by_process: FxHashMap<Option<ProcessKey>, u64>,
    by_thread: FxHashMap<(Option<ProcessKey>, u32), u64>,
    by_core: BTreeMap<u16, u64>,
    busy_by_core: BTreeMap<u16, u64>,
    leaves: FxHashMap<(ModuleId, u64), u64>,
    exclusive: FxHashMap<(Option<ProcessKey>, ModuleId), Busy>,
    inclusive: Count,
    pending: FxHashMap<(i64, u32), Vec<Pending>>,
    /// Stacks that were logged before the sample they may belong to.
    early: Early<u32, (Owner, Frames)>,
    /// The keys of `pending` in order of time, so that old ones can be dropped.
    order: VecDeque<(i64, u32)>,
    /// Raw ticks for which a sample waits for its stacks.
    patience: i64,
    stacks: StackCounts,
}

#[derive(Debug, Default)]
struct StackCounts {
    inline: u64,
    references: u64,
    unresolved: u64,
    attached: u64,
    frames: u64,
    with_any: u64,
    with_kernel: u64,
    with_user: u64,
}

impl<'d> CpuSummary<'d> {
    pub(super) fn new(directory: &'d Directory, methods: &'d MethodTracker, clock: &Clock) -> Self {
        Self {
            directory,
            methods,
            managed: ManagedSamples::default(),
            jitted: Busy::default(),
            modules: Modules::new(directory),
            interval: None,
            end_interval: None,
            samples: 0,
            idle: 0,
            dpc_isr: 0,
            weight: 0,
            by_process: FxHashMap::default(),
            by_thread: FxHashMap::default(),
            by_core: BTreeMap::new(),
            busy_by_core: BTreeMap::new(),
            leaves: FxHashMap::default(),
            exclusive: FxHashMap::default(),
            inclusive: Count::default(),
            pending: FxHashMap::default(),
            early: Early::default(),
            order: VecDeque::new(),
            patience: STACK_PATIENCE_S.saturating_mul(clock.frequency),
            stacks: StackCounts::default(),
        }
    }

    pub(super) fn add(&mut self, hook: Hook, event: &RawEvent<'_>) {
        match (hook.group, hook.opcode) {
            (group::PERFINFO, sample::opcode::SAMPLE) => {
                if let Some(sample) = Sample::parse(event.payload(), event.pointer_size()) {
                    self.sample(sample, event);
                }
            }
            (
                group::PERFINFO,
                op @ (sample::opcode::INTERVAL_START | sample::opcode::INTERVAL_END),
            ) => {
                // Source 0 is the timer; others are performance counters, whose intervals count
                // events and not time.
                if let Some(interval) = Interval::parse(event.payload()).filter(|i| i.source == 0) {
                    let start = op == sample::opcode::INTERVAL_START;
                    (if start {
                        &mut self.interval
                    } else {
                        &mut self.end_interval
                    })
                    .get_or_insert(interval.new);
                }
            }
            (group::STACK, stack::opcode::STACK) => {
                self.stacks.inline += 1;
                let payload = event.payload();
                let pointer_size = event.pointer_size();
                let Some(owner) = Owner::parse(payload) else {
                    return;
                };
                let frames = stack::frames(payload, Owner::LEN, pointer_size).collect();
                self.stack(owner, event.timestamp, Frames::Inline(frames));
            }
            (group::STACK, stack::opcode::REFERENCE_KERNEL | stack::opcode::REFERENCE_USER) => {
                self.stacks.references += 1;
                self.reference(event);
            }
            _ => {}
        }
    }

    fn reference(&mut self, event: &RawEvent<'_>) {
        let payload = event.payload();
        let owner =
            Owner::parse(payload).zip(stack::key(payload, Owner::LEN, event.pointer_size()));
        let Some((owner, key)) = owner else { return };
        let is_kernel = event.opcode() == stack::opcode::REFERENCE_KERNEL;
        let part = if is_kernel {
            StackPart::Kernel
        } else {
            StackPart::User
        };
        match self
            .directory
            .stack_keys
            .resolve(event.timestamp, key, part)
        {
            Some(id) => self.stack(owner, event.timestamp, Frames::Key(id)),
            None => self.stacks.unresolved += 1,
        }
    }

    fn sample(&mut self, sample: Sample, event: &RawEvent<'_>) {
        let process = self
            .directory
            .process_of_thread(sample.tid, event.timestamp);
        let busy = !sample.is_idle();
        self.samples += 1;
        self.weight += u64::from(sample.count);
        self.idle += u64::from(!busy);
        self.dpc_isr += u64::from(sample.is_dpc_isr());
        *self.by_process.entry(process).or_default() += 1;
        *self.by_thread.entry((process, sample.tid)).or_default() += 1;
        *self.by_core.entry(event.cpu).or_default() += 1;
        let key = (event.timestamp, sample.tid);
        let index = self.expect_stacks(key, process, busy);
        if busy {
            *self.busy_by_core.entry(event.cpu).or_default() += 1;
            let (module, rva) =
                self.modules
                    .of_address(self.directory, process, sample.ip, event.timestamp);
            *self.leaves.entry((module, rva)).or_default() += 1;
            let exclusive = self.exclusive.entry((process, module)).or_default();
            exclusive.add(sample.count);
            // The address of the sample counts as a frame of its own: a sample without a stack is
            // still in a module.
            self.count_inclusive(key, index, module);
            let pid = process
                .and_then(|key| self.directory.processes.instance(key))
                .map(|p| p.pid);
            if let Some(method) =
                pid.and_then(|pid| self.methods.find_known(pid, sample.ip, event.timestamp))
            {
                self.managed
                    .add(process_text(self.directory, process), method);
                if module == Modules::UNKNOWN {
                    self.jitted.add(sample.count);
                }
            }
        }
        for (owner, frames) in self.early.take(&key) {
            self.attach(owner, frames);
        }
    }

    /// Number of samples.
    pub(super) const fn totals(&self) -> CpuTotals {
        CpuTotals {
            samples: self.samples,
            busy: self.samples - self.idle,
        }
    }

    /// Samples in code of .NET methods.
    pub(super) const fn managed(&self) -> &ManagedSamples {
        &self.managed
    }

    /// Keeps a sample until its stacks have arrived. Memory holds the samples of the last minute.
    fn expect_stacks(&mut self, key: (i64, u32), process: Option<ProcessKey>, busy: bool) -> usize {
        while let Some(old) = self
            .order
            .front()
            .filter(|old| key.0.saturating_sub(old.0) > self.patience)
        {
            self.pending.remove(old);
            self.order.pop_front();
        }
        self.order.push_back(key);
        let same = self.pending.entry(key).or_default();
        same.push(Pending {
            process,
            busy,
            kernel_stack: false,
            user_stack: false,
            any_stack: false,
            modules: Vec::new(),
        });
        same.len() - 1
    }

    fn count_inclusive(&mut self, key: (i64, u32), index: usize, module: ModuleId) {
        let Some(pending) = self
            .pending
            .get_mut(&key)
            .and_then(|same| same.get_mut(index))
        else {
            return;
        };
        if !pending.modules.contains(&module) {
            pending.modules.push(module);
            *self.inclusive.entry((pending.process, module)).or_default() += 1;
        }
    }

    /// Attaches a stack that was logged at that raw time, or keeps it until its sample arrives.
    fn stack(&mut self, owner: Owner, logged: i64, frames: Frames) {
        let key = (owner.timestamp, owner.tid);
        if self.pending.contains_key(&key) {
            self.attach(owner, frames);
        } else if owner.timestamp >= logged {
            if self.early.is_full() {
                // Stacks of earlier times belong to events other than samples: no sample will come
                // for them.
                self.early.forget_before(logged);
            }
            // At equal time stamps the stack can be in an earlier buffer than its sample.
            self.early.keep(key, (owner, frames));
        }
    }

    fn attach(&mut self, owner: Owner, frames: Frames) {
        let frames: Vec<u64> = match frames {
            Frames::Inline(frames) => frames,
            Frames::Key(id) => self.directory.stacks.frames(id).collect(),
        };
        let key = (owner.timestamp, owner.tid);
        // Two samples of one thread cannot have one time; for idle threads the first one is as good
        // as any.
        let Some(pending) = self.pending.get_mut(&key).and_then(|same| same.first_mut()) else {
            return;
        };
        let kernel = |address: &u64| is_kernel_address(*address, self.directory.pointer_size());
        let first =
            |seen: &mut bool, now: bool| u64::from(now && !std::mem::replace(seen, *seen || now));
        self.stacks.with_any += first(&mut pending.any_stack, !frames.is_empty());
        self.stacks.with_kernel += first(&mut pending.kernel_stack, frames.iter().any(kernel));
        self.stacks.with_user += first(&mut pending.user_stack, !frames.iter().all(kernel));
        let process = pending.process;
        let busy = pending.busy;
        self.stacks.attached += 1;
        self.stacks.frames += frames.len() as u64;
        if busy {
            for address in frames {
                let (module, _) =
                    self.modules
                        .of_address(self.directory, process, address, owner.timestamp);
                self.count_inclusive(key, 0, module);
            }
        }
    }

    pub(super) fn section(&self) -> Value {
        json!({
            "profile_interval_100ns": self.profile_interval_100ns(),
            "samples": self.samples,
            "idle_samples": self.idle,
            "busy_samples": self.samples - self.idle,
            "dpc_isr_samples": self.dpc_isr,
            "weight": self.weight,
            "by_process": self.texts(&self.by_process, |key| process_text(self.directory, *key)),
            "by_thread": self.texts(&self.by_thread, |(key, tid)| format!("{}/{tid}", process_text(self.directory, *key))),
            "by_core": cores(&self.by_core),
            "busy_by_core": cores(&self.busy_by_core),
            "top_leaf": self.top_leaves(),
            "exclusive_by_module": self.by_module(self.exclusive.iter().map(|(key, busy)| (*key, busy.samples))),
            "inclusive_by_module": self.by_module(self.inclusive.iter().map(|(key, n)| (*key, *n))),
            "stacks": {
                "samples_with_kernel_stack": self.stacks.with_kernel,
                "samples_with_user_stack": self.stacks.with_user,
                "samples_with_any_stack": self.stacks.with_any,
                "frames": self.stacks.frames,
                "inline_stack_events": self.stacks.inline,
                "key_references": self.stacks.references,
                "key_definitions": self.directory.stack_keys.len(),
                "key_references_unresolved": self.stacks.unresolved,
                "attached_to_samples": self.stacks.attached,
            },
        })
    }

    fn texts<K>(
        &self,
        counts: &FxHashMap<K, u64>,
        text: impl Fn(&K) -> String,
    ) -> BTreeMap<String, u64> {
        counts.iter().map(|(key, n)| (text(key), *n)).collect()
    }

    fn top_leaves(&self) -> Value {
        let mut rows: Vec<(&str, u64, u64)> = self
            .leaves
            .iter()
            .map(|((module, rva), n)| (self.modules.path(*module), *rva, *n))
            .collect();
        rows.sort_unstable_by(|a, b| b.2.cmp(&a.2).then_with(|| (a.0, a.1).cmp(&(b.0, b.1))));
        let row = |(module, rva, n): &(&str, u64, u64)| json!({ "module": module, "rva": format!("{rva:#x}"), "samples": n });
        rows.iter().take(TOP_LEAVES).map(row).collect()
    }

    /// Processes by busy samples.
    pub(super) fn top_processes(&self) -> Vec<TopRow> {
        let name = |key: &Option<ProcessKey>| process_name(self.directory, *key);
        self.top(|(process, _)| process, name)
    }

    /// Modules by busy samples in them.
    pub(super) fn top_modules(&self) -> Vec<TopRow> {
        let mut rows = self.top(
            |(_, module)| module,
            |module| self.modules.path(*module).to_owned(),
        );
        if let Some(unknown) = rows
            .iter_mut()
            .find(|row| row.name == "?")
            .filter(|_| self.jitted.samples > 0)
        {
            // Code that .NET compiled at run time was counted under the unknown module, from which
            // it is taken out here.
            unknown.samples -= self.jitted.samples;
            unknown.weight -= self.jitted.weight;
            let samples = self.jitted.samples;
            let weight = self.jitted.weight;
            rows.push(TopRow {
                name: ".NET code compiled at run time".to_owned(),
                samples,
                weight,
            });
        }
        rows.retain(|row| row.samples > 0);
        sort(&mut rows);
        rows
    }

    /// Interval of the samples in units of 100 ns.
    pub(super) fn profile_interval_100ns(&self) -> Option<u32> {
        self.interval.or(self.end_interval)
    }

    fn top<K: Ord>(
        &self,
        key: impl Fn((Option<ProcessKey>, ModuleId)) -> K,
        name: impl Fn(&K) -> String,
    ) -> Vec<TopRow> {
        let mut sums: BTreeMap<K, Busy> = BTreeMap::new();
        for (pair, busy) in &self.exclusive {
            let sum = sums.entry(key(*pair)).or_default();
            sum.samples += busy.samples;
            sum.weight += busy.weight;
        }
        let row = |(key, busy): (K, Busy)| TopRow {
            name: name(&key),
            samples: busy.samples,
            weight: busy.weight,
        };
        let mut rows: Vec<TopRow> = sums.into_iter().map(row).collect();
        sort(&mut rows);
        rows
    }

    fn by_module(
        &self,
        counts: impl Iterator<Item = ((Option<ProcessKey>, ModuleId), u64)>,
    ) -> Value {
        let mut table: BTreeMap<String, BTreeMap<&str, u64>> = BTreeMap::new();
        for ((process, module), n) in counts {
            let process = table
                .entry(process_text(self.directory, process))
                .or_default();
            // Images of one path at several bases are one module.
            *process.entry(self.modules.path(module)).or_default() += n;
        }
        json!(table)
    }
}

fn sort(rows: &mut [TopRow]) {
    rows.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.name.cmp(&b.name)));
}

fn cores(counts: &BTreeMap<u16, u64>) -> Map<String, Value> {
    counts
        .iter()
        .map(|(cpu, n)| (cpu.to_string(), Value::from(*n)))
        .collect()
}
