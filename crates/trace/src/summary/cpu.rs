//! Section `cpu`: samples by process, thread, processor and module, with their stacks.

use std::collections::BTreeMap;

use etwkit_decode::kernel::sample::{self, Interval, Sample};
use etwkit_decode::kernel::stack::{self, Owner, is_kernel_address};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value, json};

use super::dotnet::ManagedSamples;
use super::modules::{ModuleId, Modules};
use super::process_text;
use crate::directory::Directory;
use crate::tracker::method::MethodTracker;
use crate::tracker::process::ProcessKey;
use crate::tracker::stack::StackId;

/// Rows of the list `top_leaf`.
const TOP_LEAVES: usize = 30;

/// A sample whose stacks may still come: the user half is logged when the thread returns to user mode.
#[derive(Debug)]
struct Pending {
    process: Option<ProcessKey>,
    busy: bool,
    kernel_stack: bool,
    user_stack: bool,
    any_stack: bool,
}

/// Frames of a stack. Those of a key stay in the directory, where many references share them.
#[derive(Debug)]
enum Frames {
    Inline(Vec<u64>),
    Key(StackId),
}

/// A row of a list by CPU samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopRow {
    /// `name (pid)` of a process, or the path of a module; `?` where it is unknown.
    pub name: String,
    /// Busy samples.
    pub samples: u64,
    /// Sampling intervals that they stand for.
    pub weight: u64,
}

/// Busy samples and the intervals that they stand for.
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
    /// Busy samples in code that .NET compiled at run time: it lies in no image.
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
    /// Stacks that came before the sample they may belong to.
    early: FxHashMap<(i64, u32), Vec<(Owner, Frames)>>,
    /// Modules that a sample's stack was counted for, so that each counts once.
    counted: FxHashSet<(i64, u32, u32, ModuleId)>,
    stacks: StackCounts,
}

#[derive(Debug, Default)]
struct StackCounts {
    inline: u64,
    references: u64,
    unresolved: u64,
    attached: u64,
    frames: u64,
}

impl<'d> CpuSummary<'d> {
    pub(super) fn new(directory: &'d Directory, methods: &'d MethodTracker) -> Self {
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
            early: FxHashMap::default(),
            counted: FxHashSet::default(),
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
            (group::PERFINFO, op @ (sample::opcode::INTERVAL_START | sample::opcode::INTERVAL_END)) => {
                if let Some(interval) = Interval::parse(event.payload()).filter(|i| i.source == 0) {
                    let start = op == sample::opcode::INTERVAL_START;
                    (if start { &mut self.interval } else { &mut self.end_interval })
                        .get_or_insert(interval.new);
                }
            }
            (group::STACK, stack::opcode::STACK) => {
                self.stacks.inline += 1;
                let (payload, pointer_size) = (event.payload(), event.pointer_size());
                let Some(owner) = Owner::parse(payload) else { return };
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
        let owner = Owner::parse(payload).zip(stack::key(payload, Owner::LEN, event.pointer_size()));
        let Some((owner, key)) = owner else { return };
        match self.directory.stack_keys.resolve(event.timestamp, key) {
            Some(id) => self.stack(owner, event.timestamp, Frames::Key(id)),
            None => self.stacks.unresolved += 1,
        }
    }

    fn sample(&mut self, sample: Sample, event: &RawEvent<'_>) {
        let process = self.directory.process_of_thread(sample.tid, event.timestamp);
        let busy = !sample.is_idle();
        self.samples += 1;
        self.weight += u64::from(sample.count);
        self.idle += u64::from(!busy);
        self.dpc_isr += u64::from(sample.is_dpc_isr());
        *self.by_process.entry(process).or_default() += 1;
        *self.by_thread.entry((process, sample.tid)).or_default() += 1;
        *self.by_core.entry(event.cpu).or_default() += 1;
        let key = (event.timestamp, sample.tid);
        let pending = self.pending.entry(key).or_default();
        let index = pending.len() as u32;
        pending.push(Pending { process, busy, kernel_stack: false, user_stack: false, any_stack: false });
        if busy {
            *self.busy_by_core.entry(event.cpu).or_default() += 1;
            let (module, rva) = self.modules.of_address(self.directory, process, sample.ip, event.timestamp);
            *self.leaves.entry((module, rva)).or_default() += 1;
            let exclusive = self.exclusive.entry((process, module)).or_default();
            exclusive.add(sample.count);
            self.count_inclusive(key, index, process, module);
            let pid = process.and_then(|key| self.directory.processes.instance(key)).map(|p| p.pid);
            if let Some(method) = pid.and_then(|pid| self.methods.find_known(pid, sample.ip, event.timestamp))
            {
                self.managed.add(process_text(self.directory, process), method);
                if module == Modules::UNKNOWN {
                    self.jitted.add(sample.count);
                }
            }
        }
        for (owner, frames) in self.early.remove(&key).unwrap_or_default() {
            self.attach(owner, frames);
        }
    }

    /// Samples in code of .NET methods.
    pub(super) const fn managed(&self) -> &ManagedSamples {
        &self.managed
    }

    fn count_inclusive(
        &mut self,
        key: (i64, u32),
        index: u32,
        process: Option<ProcessKey>,
        module: ModuleId,
    ) {
        if self.counted.insert((key.0, key.1, index, module)) {
            *self.inclusive.entry((process, module)).or_default() += 1;
        }
    }

    /// Attaches a stack that was logged at that raw time, or keeps it until its sample comes.
    fn stack(&mut self, owner: Owner, logged: i64, frames: Frames) {
        let key = (owner.timestamp, owner.tid);
        if self.pending.contains_key(&key) {
            self.attach(owner, frames);
        } else if owner.timestamp >= logged {
            // At equal time stamps the stack can lie in an earlier buffer than its sample.
            self.early.entry(key).or_default().push((owner, frames));
        }
    }

    fn attach(&mut self, owner: Owner, frames: Frames) {
        let frames: Vec<u64> = match frames {
            Frames::Inline(frames) => frames,
            Frames::Key(id) => self.directory.stacks.frames(id).collect(),
        };
        let key = (owner.timestamp, owner.tid);
        // Two samples of one thread cannot have one time; for idle threads the first one is as good as any.
        let Some(pending) = self.pending.get_mut(&key).and_then(|list| list.first_mut()) else { return };
        let kernel = |address: &u64| is_kernel_address(*address, self.directory.pointer_size());
        pending.any_stack |= !frames.is_empty();
        pending.kernel_stack |= frames.iter().any(kernel);
        pending.user_stack |= !frames.iter().all(kernel);
        let (process, busy) = (pending.process, pending.busy);
        self.stacks.attached += 1;
        self.stacks.frames += frames.len() as u64;
        if busy {
            for address in frames {
                let (module, _) = self.modules.of_address(self.directory, process, address, owner.timestamp);
                self.count_inclusive(key, 0, process, module);
            }
        }
    }

    pub(super) fn section(&self) -> Value {
        let all = || self.pending.values().flatten();
        let with = |has: fn(&Pending) -> bool| all().filter(|p| has(p)).count();
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
                "samples_with_kernel_stack": with(|p| p.kernel_stack),
                "samples_with_user_stack": with(|p| p.user_stack),
                "samples_with_any_stack": with(|p| p.any_stack),
                "frames": self.stacks.frames,
                "inline_stack_events": self.stacks.inline,
                "key_references": self.stacks.references,
                "key_definitions": self.directory.stack_keys.len(),
                "key_references_unresolved": self.stacks.unresolved,
                "attached_to_samples": self.stacks.attached,
            },
        })
    }

    fn texts<K>(&self, counts: &FxHashMap<K, u64>, text: impl Fn(&K) -> String) -> BTreeMap<String, u64> {
        counts.iter().map(|(key, n)| (text(key), *n)).collect()
    }

    fn top_leaves(&self) -> Value {
        let mut rows: Vec<(&str, u64, u64)> =
            self.leaves.iter().map(|((module, rva), n)| (self.modules.path(*module), *rva, *n)).collect();
        rows.sort_unstable_by(|a, b| b.2.cmp(&a.2).then_with(|| (a.0, a.1).cmp(&(b.0, b.1))));
        let row = |(module, rva, n): &(&str, u64, u64)| json!({ "module": module, "rva": format!("{rva:#x}"), "samples": n });
        rows.iter().take(TOP_LEAVES).map(row).collect()
    }

    /// Processes by busy samples.
    pub(super) fn top_processes(&self) -> Vec<TopRow> {
        let name = |key: &Option<ProcessKey>| match key.and_then(|key| self.directory.processes.instance(key))
        {
            Some(p) if p.pid == 0 => "Idle (DPCs and interrupts)".to_owned(),
            Some(p) if p.name.is_empty() => format!("? ({})", p.key_text()),
            Some(p) => format!("{} ({})", p.name, p.key_text()),
            None => "?".to_owned(),
        };
        self.top(|(process, _)| process, name)
    }

    /// Modules by busy samples in them.
    pub(super) fn top_modules(&self) -> Vec<TopRow> {
        let mut rows = self.top(|(_, module)| module, |module| self.modules.path(*module).to_owned());
        if let Some(unknown) = rows.iter_mut().find(|row| row.name == "?").filter(|_| self.jitted.samples > 0)
        {
            unknown.samples -= self.jitted.samples;
            unknown.weight -= self.jitted.weight;
            let (samples, weight) = (self.jitted.samples, self.jitted.weight);
            rows.push(TopRow { name: ".NET code compiled at run time".to_owned(), samples, weight });
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
        let row =
            |(key, busy): (K, Busy)| TopRow { name: name(&key), samples: busy.samples, weight: busy.weight };
        let mut rows: Vec<TopRow> = sums.into_iter().map(row).collect();
        sort(&mut rows);
        rows
    }

    fn by_module(&self, counts: impl Iterator<Item = ((Option<ProcessKey>, ModuleId), u64)>) -> Value {
        let mut table: BTreeMap<String, BTreeMap<&str, u64>> = BTreeMap::new();
        for ((process, module), n) in counts {
            let process = table.entry(process_text(self.directory, process)).or_default();
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
    counts.iter().map(|(cpu, n)| (cpu.to_string(), Value::from(*n))).collect()
}
