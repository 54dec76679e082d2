//! Selection of events by process and provider.

use std::ops::ControlFlow;
use std::sync::Arc;

use etwkit_decode::kernel::{Hook, file_io, group, scheduler, stack};
use etwkit_decode::{Decoder, Plan, clr};
use etwkit_etl::{Guid, Identity, Order, RawEvent, Session};
use etwkit_trace::attribution::{Attributor, Ids};
use etwkit_trace::directory::{Directory, DirectoryBuilder};
use etwkit_trace::report::events::NameFilter;
use rustc_hash::{FxHashMap, FxHashSet};

/// The answer of the filters for one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is a requested one.
    Wanted,
    /// It is not, but it names processes and threads that requested events can refer to.
    Named,
    /// It is not.
    Other,
    /// Its process is unknown.
    Unknown,
}

/// The filters.
#[derive(Default)]
pub struct Choice {
    /// Names and IDs of processes.
    pub process: Option<NameFilter<'static>>,
    /// Names and GUIDs of providers.
    pub provider: Option<NameFilter<'static>>,
}

impl Choice {
    pub(crate) fn is_all(&self) -> bool {
        self.process.is_none() && self.provider.is_none()
    }
}

/// Idle and System: code of the kernel is theirs.
const KERNEL_PROCESSES: [u32; 2] = [0, 4];

/// Decides over events, which must come in order of time.
pub(crate) struct Chooser<'c> {
    choice: &'c Choice,
    facts: &'c Facts,
    attributor: Attributor,
    decoder: Decoder,
    /// Decisions already made for process instances and for providers.
    processes: FxHashMap<u32, bool>,
    providers: FxHashMap<(Guid, u8), bool>,
    /// Request packets of wanted operations.
    requests: FxHashSet<u64>,
    /// Raw times of wanted events, whose stacks are also wanted, if providers are chosen.
    times: FxHashSet<i64>,
}

/// Facts that the filters need.
pub(crate) struct Facts {
    directory: Directory,
}

impl Facts {
    pub(crate) fn read(session: &Session) -> etwkit_etl::Result<Self> {
        let mut builder = DirectoryBuilder::default();
        session.for_each(Order::Time, |event| {
            builder.observe(event);
            ControlFlow::Continue(())
        })?;
        Ok(Self {
            directory: builder.finish(session.pointer_size(), session.clock().frequency),
        })
    }
}

impl<'c> Chooser<'c> {
    pub(crate) fn new(choice: &'c Choice, facts: &'c Facts) -> Self {
        Self {
            choice,
            facts,
            attributor: Attributor::new(facts.directory.first_threads.clone()),
            decoder: Decoder::new(),
            processes: FxHashMap::default(),
            providers: FxHashMap::default(),
            requests: FxHashSet::default(),
            times: FxHashSet::default(),
        }
    }

    pub(crate) fn verdict(&mut self, event: &RawEvent<'_>) -> Verdict {
        let hook = Hook::of(event);
        // Only kernel events need the plan here, to find the provider by the class.
        let plan = hook.and_then(|_| self.decoder.plan(event));
        let verdict = self.of_process(hook, event, plan.as_ref());
        // Both filters have to agree. An event that the process filter rejects cannot come back
        // because of its provider.
        if verdict != Verdict::Wanted || self.choice.provider.is_none() {
            return verdict;
        }
        let owner = hook.filter(|hook| hook.group == group::STACK);
        let is_wanted = match owner.and_then(|_| stack::Owner::parse(event.payload())) {
            Some(owner) => self.times.contains(&owner.timestamp),
            None => self.is_provider(event, plan.as_deref()),
        };
        if !is_wanted {
            return Verdict::Named;
        }
        // Stacks follow their events and name them by time, so the times of all wanted events are
        // remembered.
        self.times.insert(event.timestamp);
        Verdict::Wanted
    }

    fn is_provider(&mut self, event: &RawEvent<'_>, plan: Option<&Plan>) -> bool {
        let Some(wanted) = &self.choice.provider else {
            return true;
        };
        let (guid, group) = match event.identity() {
            Identity::Kernel { group, .. } => (
                plan.map_or(Guid::ZERO, |plan| plan.schema().provider),
                group,
            ),
            Identity::Manifest { provider, .. } => (provider, 0),
            Identity::Classic { class, .. } => (class, 0),
            Identity::Message { guid, .. } => (guid, 0),
        };
        if let Some(known) = self.providers.get(&(guid, group)) {
            return *known;
        }
        // Descriptions of events lie in the trace, so that the decoder has to see all of them.
        self.decoder.observe(event);
        let name = plan.and_then(|plan| plan.schema().provider_name.as_deref().map(str::to_owned));
        let name = name.or_else(|| {
            self.decoder
                .provider_name(guid)
                .map(|name| name.to_string())
        });
        // A provider without a name is matched by its GUID.
        // The name and the GUID, as the user may have given either.
        let is_wanted = wanted(&[&name.unwrap_or_default(), &guid.to_string()]);
        self.providers.insert((guid, group), is_wanted);
        is_wanted
    }

    fn of_process(
        &mut self,
        hook: Option<Hook>,
        event: &RawEvent<'_>,
        plan: Option<&Arc<Plan>>,
    ) -> Verdict {
        if self.choice.process.is_none() {
            return Verdict::Wanted;
        }
        // Asked for each event, because it follows which thread runs where.
        let ids = self.attributor.ids(event, plan);
        let time = event.timestamp;
        let payload = event.payload();
        if let Some(verdict) = hook.and_then(|hook| self.of_kind(hook, event, &ids)) {
            return verdict;
        }
        let of_thread = || self.facts.directory.threads.process_of(ids.tid?, time);
        let Some(pid) = ids.pid.or_else(of_thread) else {
            return self.of_nobody(hook, event);
        };
        if !self.is_process(pid, time) {
            // Not wanted, but perhaps needed to understand what is.
            return if names(hook, event, pid) {
                Verdict::Named
            } else {
                Verdict::Other
            };
        }
        if let Some(hook) = hook.filter(|hook| hook.group == group::FILE)
            && file_io::name(hook.opcode).is_some()
            && let Some(read) =
                file_io::Operation::parse(payload, hook.opcode, hook.version, event.pointer_size())
        {
            // Remembered for the end of the operation, which names only the packet.
            self.requests.insert(read.irp);
        }
        Verdict::Wanted
    }

    /// The verdict on an event whose kind decides it; `None` if its process does.
    fn of_kind(&mut self, hook: Hook, event: &RawEvent<'_>, ids: &Ids) -> Option<Verdict> {
        let time = event.timestamp;
        let payload = event.payload();
        match (hook.group, hook.opcode) {
            // The description of the recording and of the machine belongs to every process.
            (group::EVENT_TRACE | group::CONFIG, _) => Some(Verdict::Wanted),
            (group::THREAD, scheduler::opcode::CONTEXT_SWITCH) => {
                let switch = scheduler::ContextSwitch::parse(payload);
                let tids = switch.map_or([None; 2], |switch| {
                    [Some(switch.new_tid), Some(switch.old_tid)]
                });
                // A switch ends the slice of one thread and starts another thread's. It is needed
                // if either thread is wanted.
                Some(self.any_thread(tids, time))
            }
            (group::THREAD, scheduler::opcode::READY_THREAD) => {
                let ready = scheduler::ReadyThread::parse(payload).map(|ready| ready.tid);
                // Both the thread that becomes ready and the one that makes it ready.
                Some(self.any_thread([ready, ids.tid], time))
            }
            (group::FILE, file_io::opcode::OPERATION_END) => {
                let end = file_io::OperationEnd::parse(payload, event.pointer_size());
                // The end of an operation names no thread and may be logged on any processor. Only
                // its request packet links it to a process.
                let is_wanted = end.is_some_and(|end| self.requests.remove(&end.irp));
                Some(if is_wanted {
                    Verdict::Wanted
                } else {
                    Verdict::Other
                })
            }
            // Keys of stacks belong to no process. They are kept if a kept event refers to them.
            (group::STACK, _) if ids.pid.is_none() && ids.tid.is_none() => Some(Verdict::Named),
            _ => None,
        }
    }

    /// An event that names no process, and whose process is unknown otherwise.
    fn of_nobody(&self, hook: Option<Hook>, event: &RawEvent<'_>) -> Verdict {
        if crate::describing::is_describing(hook, event) {
            Verdict::Named
        } else {
            Verdict::Unknown
        }
    }

    fn any_thread(&mut self, tids: [Option<u32>; 2], time: i64) -> Verdict {
        let pids = tids.map(|tid| {
            // Thread 0 is idle and belongs to no process that can be asked for.
            self.facts
                .directory
                .threads
                .process_of(tid.filter(|tid| *tid != 0)?, time)
        });
        if pids
            .into_iter()
            .flatten()
            .any(|pid| self.is_process(pid, time))
        {
            Verdict::Wanted
        } else {
            Verdict::Other
        }
    }

    fn is_process(&mut self, pid: u32, time: i64) -> bool {
        let Some(wanted) = &self.choice.process else {
            return true;
        };
        let processes = &self.facts.directory.processes;
        let Some(key) = processes.at(pid, time) else {
            return wanted(&["?", &pid.to_string()]);
        };
        *self.processes.entry(key.0).or_insert_with(|| {
            let name = processes
                .instance(key)
                .map_or("", |process| process.name.as_str());
            // With and without the ending, as in every option that takes a process.
            let bare = name.strip_suffix(".exe").unwrap_or(name);
            let printed =
                [name, bare].map(|name| [format!("{name} ({pid})"), format!("{name}({pid})")]);
            let [[a, b], [c, d]] = &printed;
            wanted(&[name, bare, &pid.to_string(), a, b, c, d])
        })
    }
}

/// True if an event of another process describes something that wanted events can refer to: the
/// process and thread that made a thread ready, and the code of the kernel. Modules that other
/// processes loaded are in no stack of a wanted process.
fn names(hook: Option<Hook>, event: &RawEvent<'_>, pid: u32) -> bool {
    match hook {
        Some(hook) if hook.group == group::IMAGE => KERNEL_PROCESSES.contains(&pid),
        Some(hook) => hook.group != group::OBJECT,
        None => !matches!(event.provider(), clr::RUNDOWN | clr::RUNTIME),
    }
}
