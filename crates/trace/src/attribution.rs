//! Attribution of any event to a process and a thread.
//!
//! Many kernel events have no IDs in their header: the thread is in their payload, or it is the
//! thread that happened to run on the processor.

use std::sync::Arc;

use etwkit_decode::kernel::{Hook, group, scheduler, thread};
use etwkit_decode::{Plan, Spans};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

/// Process ID and thread ID, if known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ids {
    /// Process ID.
    pub pid: Option<u32>,
    /// Thread ID.
    pub tid: Option<u32>,
}

/// Fields that name the thread or the process an event is about, in the tables of kernel events.
const THREAD_FIELDS: [&str; 8] = [
    "TThreadId",
    "TTID",
    "ThreadId",
    "ThreadID",
    "IssuingThreadId",
    "StackThread",
    "NewThreadId",
    "TThreadID",
];
const PROCESS_FIELDS: [&str; 6] = [
    "ProcessId",
    "PID",
    "ProcessID",
    "StackProcess",
    "Pid",
    "HRPid",
];

/// A plan and the positions of its thread and process field.
type IdFields = (Arc<Plan>, Option<usize>, Option<usize>);

/// Follows the running thread of each processor. Events must come in order of time.
#[derive(Debug, Default)]
pub struct Attributor {
    running: FxHashMap<u16, u32>,
    /// Positions of the thread and process field of each plan, by its address. The plan is kept
    /// alive, so that an address cannot be reused for another one.
    fields: FxHashMap<usize, IdFields>,
    spans: Spans,
}

impl Attributor {
    /// Starts with the thread that runs on each processor before its first context switch, see
    /// [`crate::directory::Directory::first_threads`].
    #[must_use]
    pub fn new(first_threads: FxHashMap<u16, u32>) -> Self {
        Self {
            running: first_threads,
            ..Self::default()
        }
    }

    /// The IDs of an event, given the plan that decodes it.
    ///
    /// For kernel events, the IDs in the payload, because the header of process and thread events
    /// names the creator; otherwise the IDs in the header; otherwise the thread that runs on the
    /// processor.
    pub fn ids(&mut self, event: &RawEvent<'_>, plan: Option<&Arc<Plan>>) -> Ids {
        let header = Ids {
            pid: event.process_id(),
            tid: event.thread_id(),
        };
        let Some(hook) = Hook::of(event) else {
            return header;
        };
        if (hook.group, hook.opcode) == (group::THREAD, scheduler::opcode::CONTEXT_SWITCH) {
            // A switch belongs to the thread that it switches in. Its payload has thread IDs only,
            // so the process stays unknown here.
            let tid = thread::switch(event.payload()).map(|(new, _)| new);
            self.running.extend(tid.map(|tid| (event.cpu, tid)));
            return Ids { pid: None, tid };
        }
        // Scheduler events name the affected thread; the acting thread is the one that runs on the
        // processor.
        let own = hook.group != group::THREAD || thread::is_lifetime(hook.opcode);
        // Payload before header: the start of a process or thread is logged by its creator, whose
        // IDs the header has.
        let payload = plan
            .filter(|_| own)
            .map(|plan| self.payload_ids(event, plan));
        if let Some(payload) = payload.filter(|ids| ids.pid.is_some() || ids.tid.is_some()) {
            return payload;
        }
        if header.tid.is_some() {
            return header;
        }
        Ids {
            pid: None,
            tid: self.running.get(&event.cpu).copied(),
        }
    }

    fn payload_ids(&mut self, event: &RawEvent<'_>, plan: &Arc<Plan>) -> Ids {
        let (_, thread, process) = self
            .fields
            .entry(Arc::as_ptr(plan) as usize)
            .or_insert_with(|| {
                let first = |names: &[&str]| names.iter().find_map(|name| plan.field(name));
                (
                    Arc::clone(plan),
                    first(&THREAD_FIELDS),
                    first(&PROCESS_FIELDS),
                )
            });
        let thread = *thread;
        let process = *process;
        if thread.is_none() && process.is_none() {
            return Ids::default();
        }
        let payload = event.payload();
        plan.locate(payload, &mut self.spans);
        let id = |field: Option<usize>| {
            let value = self.spans.unsigned(payload, field?)?;
            // Some fields are wider than an ID, and all bits set is how events say that there is
            // none.
            u32::try_from(value).ok().filter(|id| *id != u32::MAX)
        };
        Ids {
            pid: id(process),
            tid: id(thread),
        }
    }
}
