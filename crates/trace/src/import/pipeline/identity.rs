//! Keys of processes and threads, and the tables that describe them.

use etwkit_base::path::file_name;
use etwkit_etl::clock::Clock;
use rustc_hash::FxHashMap;

use crate::directory::Directory;
use crate::import::dotnet::assemblies::Assemblies;
use crate::table::{Method, Module, Process, Thread};
use crate::tracker::image::ImageInstance;
use crate::tracker::method::MethodTracker;
use crate::tracker::process::{ProcessInstance, ProcessKey};
use crate::tracker::thread::ThreadInstance;

/// Gives threads their keys. A thread that no event described gets one when its ID is first met.
pub(crate) struct Identity<'d> {
    directory: &'d Directory,
    clock: &'d Clock,
    unseen: FxHashMap<u32, i32>,
    /// Times of the first ready and the first switch-in of threads that started in the trace, by
    /// their keys.
    first_runs: FxHashMap<i32, FirstRun>,
    /// The ideal processors of threads, by their keys.
    ideal_cpus: FxHashMap<i32, u8>,
    /// Entry times of the system calls that started processes.
    create_calls: FxHashMap<ProcessKey, i64>,
}

/// The first time that a thread was switched in.
#[derive(Debug, Clone, Copy)]
struct FirstRun {
    readied: Option<i64>,
    switch_in: i64,
    /// Raw time after which no event was missing.
    known_since: i64,
}

/// The row of a thread, and the start of its program's own code, to be looked up.
pub(crate) struct DescribedThread {
    pub(crate) row: Thread,
    pub(crate) begins: Option<Begin>,
}

/// An address of a process at a raw time at which its module is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begin {
    pub(crate) process: Option<ProcessKey>,
    pub(crate) time: i64,
    pub(crate) address: u64,
}

/// Process and thread of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Who {
    pub process: Option<ProcessKey>,
    pub thread_key: i32,
}

impl Who {
    pub(crate) fn process_key(self) -> Option<i32> {
        key(self.process)
    }
}

/// Value of the column `process_key`.
pub(crate) fn key(process: Option<ProcessKey>) -> Option<i32> {
    process.map(|process| process.0 as i32)
}

impl<'d> Identity<'d> {
    pub(crate) fn new(directory: &'d Directory, clock: &'d Clock) -> Self {
        Self {
            directory,
            clock,
            unseen: FxHashMap::default(),
            first_runs: FxHashMap::default(),
            ideal_cpus: FxHashMap::default(),
            create_calls: FxHashMap::default(),
        }
    }

    /// Takes the first switch-in of a thread, and the time of its first ready event. It is really
    /// the first one only for threads that started after `known_since`; others may have run before.
    pub(crate) fn first_run(
        &mut self,
        tid: u32,
        readied: Option<i64>,
        switch_in: i64,
        known_since: i64,
    ) {
        let Some(thread) = self.directory.threads.at(tid, switch_in) else {
            return;
        };
        let instance = self.directory.threads.instances().get(thread.0 as usize);
        let start = instance.and_then(|thread| thread.start);
        // A thread that started while events were missing may have run unseen, so its first
        // switch-in proves nothing.
        if let Some(start) = start.filter(|start| *start >= known_since && *start <= switch_in) {
            // A ready event from before the start is one of an earlier thread with this ID.
            let readied = readied.filter(|readied| *readied >= start);
            let first = FirstRun {
                readied,
                switch_in,
                known_since,
            };
            // The first one counts; a later one can only come from a damaged order of events.
            self.first_runs.entry(thread.0 as i32).or_insert(first);
        }
    }

    /// Takes the time at which the system call was entered in which a process started.
    pub(crate) fn create_call(&mut self, process: ProcessKey, enter_ns: i64) {
        self.create_calls.insert(process, enter_ns);
    }

    /// Takes the ideal processor of a thread, as its first switch-out has it.
    pub(crate) fn ideal_cpu(&mut self, thread_key: i32, cpu: u8) {
        // The scheduler can change the ideal processor; the first one is the one that the thread
        // started with.
        self.ideal_cpus.entry(thread_key).or_insert(cpu);
    }

    /// The thread that had an ID at a raw time, with its process.
    // Asked for nearly every row, so that both lookups are made at once.
    #[inline]
    pub(crate) fn of_thread(&mut self, tid: u32, time: i64) -> Who {
        Who {
            process: self.directory.process_of_thread(tid, time),
            thread_key: self.thread_key(tid, time),
        }
    }

    fn thread_key(&mut self, tid: u32, time: i64) -> i32 {
        if let Some(known) = self.directory.threads.at(tid, time) {
            return known.0 as i32;
        }
        // Threads without events get the keys after the described ones. Without events, reuse of
        // the ID cannot be detected, so each ID has one key.
        // The keys of described threads are known before the second pass starts, so that these can
        // follow them without a hole.
        let next = self.directory.threads.instances().len() + self.unseen.len();
        *self.unseen.entry(tid).or_insert(next as i32)
    }

    /// The rows of `module`.
    pub(crate) fn modules(&self, assemblies: &Assemblies) -> impl Iterator<Item = Module> {
        let images = self.directory.images.images();
        let images = images
            .iter()
            .zip(0..)
            .map(move |(image, id)| self.module(id, image));
        images.chain(assemblies.added().iter().cloned())
    }

    fn ns(&self, time: Option<i64>) -> Option<i64> {
        time.map(|time| self.clock.nanoseconds(time))
    }

    /// The rows of `process`.
    pub(crate) fn processes(&mut self) -> Vec<Process> {
        // Computed once for all processes: a search for each would be a square of their number.
        let first_threads = self.first_threads();
        let instances = self.directory.processes.instances();
        let rows = instances.iter().zip(0..).zip(first_threads);
        rows.map(|((process, key), first)| self.process(key, process, first))
            .collect()
    }

    /// For each process that started in the trace, its first thread.
    fn first_threads(&self) -> Vec<Option<i32>> {
        let processes = self.directory.processes.instances();
        let mut first: Vec<Option<(i64, i32)>> = vec![None; processes.len()];
        for (thread, key) in self.directory.threads.instances().iter().zip(0..) {
            let Some(start) = thread.start else { continue };
            // By the time of the start, since the process ID may have had another owner before.
            let Some(process) = self.directory.process_at(thread.pid, start) else {
                continue;
            };
            let at = process.0 as usize;
            let began = processes.get(at).and_then(|process| process.start);
            // Without the start of the process, its first threads may have started before the
            // trace.
            if began.is_some_and(|began| began <= start)
                && let Some(slot) = first.get_mut(at)
                && slot.is_none_or(|(earliest, _)| start < earliest)
            {
                *slot = Some((start, key));
            }
        }
        first
            .into_iter()
            .map(|first| first.map(|(_, key)| key))
            .collect()
    }

    /// From the creator's call, or otherwise from the start of a process, to the first switch-in of
    /// its first thread.
    fn start_cost(
        &self,
        start: Option<i64>,
        call_ns: Option<i64>,
        first: Option<i32>,
    ) -> Option<i64> {
        // A process without a start was there before, and its start cost nothing in this trace.
        let start = start?;
        let first = self.first_runs.get(&first?)?;
        // Events may be missing before `known_since`, and the first switch-in may be among them.
        let start_ns = (first.known_since <= start).then(|| self.clock.nanoseconds(start))?;
        Some(
            self.clock
                .nanoseconds(first.switch_in)
                // The call of the creator is entered before the start is logged, so it is the
                // better beginning. Without system calls there is only the start.
                .saturating_sub(call_ns.unwrap_or(start_ns)),
        )
    }

    /// Key of the thread that logged the start of a process or thread.
    fn creator(&mut self, tid: Option<u32>, start: Option<i64>) -> Option<i32> {
        Some(self.thread_key(tid?, start?))
    }

    fn process(
        &mut self,
        process_key: i32,
        p: &ProcessInstance,
        first_thread: Option<i32>,
    ) -> Process {
        // Empty texts mean that no event had them; a column has null for that.
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        // The idle process has no image and therefore no name. Tools of Windows call it this way.
        let name = if p.pid == 0 && p.name.is_empty() {
            "Idle"
        } else {
            &p.name
        };
        // IDs are reused: the parent is the process that had the ID when the child started. A
        // process that started later only has the same ID.
        let born = p.start.unwrap_or(i64::MIN);
        let parent = p
            .parent_pid
            .and_then(|pid| self.directory.process_at(pid, born))
            .filter(|parent| {
                let began = self
                    .directory
                    .processes
                    .instance(*parent)
                    .and_then(|parent| parent.start);
                // A process is not its own parent: its ID may be that of its parent, which ended
                // before.
                parent.0 as i32 != process_key && began.is_none_or(|began| began <= born)
            });
        let create_call_ns = self
            .create_calls
            .get(&ProcessKey(process_key as u32))
            .copied();
        Process {
            process_key,
            pid: p.pid as i32,
            parent_pid: p.parent_pid.map(|pid| pid as i32),
            parent_process_key: key(parent),
            name: text(name),
            command_line: text(&p.command_line),
            session_id: p.session_id,
            sid: p.sid.clone(),
            creator_thread_key: self.creator(p.creator_tid, p.start),
            start_ns: self.ns(p.start),
            create_call_ns,
            first_thread_key: first_thread,
            start_cost_ns: self.start_cost(p.start, create_call_ns, first_thread),
            terminate_ns: self.ns(p.terminate),
            stop_ns: self.ns(p.stop),
            exit_duration_ns: self
                .ns(p.stop)
                .zip(self.ns(p.terminate))
                .map(|(a, b)| a.saturating_sub(b)),
            exit_code: p.exit_code.map(|code| code as i32),
            package: text(&p.package),
            is_defunct: p.defunct,
            is_wow64: p.is_wow64(),
            is_protected: p.is_protected(),
            object_address: p.object_address().map(u64::cast_signed),
        }
    }

    /// The rows of `thread`; `end` is the raw time of the end of the trace.
    pub(crate) fn threads(&mut self, end: i64) -> Vec<DescribedThread> {
        let known = self.directory.threads.instances().iter().zip(0..);
        let described = |(thread, key)| {
            let begins = self.begin(thread, end);
            DescribedThread {
                row: self.thread(key, thread),
                begins,
            }
        };
        let mut rows: Vec<DescribedThread> = known.map(described).collect();
        // Threads without events belong to no process that is known, but their rows were given
        // keys.
        let mut unseen: Vec<(i32, u32)> =
            self.unseen.iter().map(|(tid, key)| (*key, *tid)).collect();
        // The hash map has no order; keys were given in the order of rows.
        unseen.sort_unstable();
        for (thread_key, tid) in unseen {
            // Idle threads belong to process 0 without any event.
            let process = if tid == 0 {
                self.directory.process_of_thread(0, 0)
            } else {
                None
            };
            let ideal_cpu = self.ideal_cpus.get(&thread_key).copied().map(i32::from);
            let tid = tid as i32;
            let process_key = key(process);
            let row = Thread {
                thread_key,
                tid,
                process_key,
                ideal_cpu,
                ..Thread::default()
            };
            rows.push(DescribedThread { row, begins: None });
        }
        rows
    }

    /// The start address of a thread, at a time at which the module is known: the image of a
    /// program is reported only after the start of its first thread.
    fn begin(&self, thread: &ThreadInstance, end: i64) -> Option<Begin> {
        let address = thread
            .traits
            .as_deref()?
            .start_address
            .filter(|address| *address != 0)?;
        let process = self.directory.process_at(thread.pid, thread.first_seen);
        // The address is looked up at the start first, because modules can be unloaded later.
        let times = [thread.first_seen, thread.stop.unwrap_or(end)];
        // In the kernel there is no process to look into; its modules are found from every process.
        let is_known = |time: &i64| self.directory.image_at(process, address, *time).is_some();
        let time = times.into_iter().find(is_known)?;
        Some(Begin {
            process,
            time,
            address,
        })
    }

    fn thread(&mut self, thread_key: i32, t: &ThreadInstance) -> Thread {
        let traits = t.traits.as_deref();
        let first = self.first_runs.get(&thread_key).copied();
        Thread {
            thread_key,
            tid: t.tid as i32,
            // By the first event, as the start may be unknown.
            process_key: key(self.directory.process_at(t.pid, t.first_seen)),
            creator_thread_key: self.creator(t.creator_tid, t.start),
            start_ns: self.ns(t.start),
            first_readied_ns: self.ns(first.and_then(|first| first.readied)),
            first_in_ns: self.ns(first.map(|first| first.switch_in)),
            stop_ns: self.ns(t.stop),
            name: traits
                .map(|traits| traits.name.clone())
                .filter(|name| !name.is_empty()),
            base_priority: traits
                .and_then(|traits| traits.base_priority)
                .map(i32::from),
            affinity: traits
                .and_then(|traits| traits.affinity)
                .map(|mask| mask as i64),
            start_address: traits
                .and_then(|traits| traits.start_address)
                .map(|address| address as i64),
            start_frame_id: None,
            ideal_cpu: self.ideal_cpus.get(&thread_key).copied().map(i32::from),
        }
    }

    fn module(&self, module_id: i32, image: &ImageInstance) -> Module {
        // Paths of events begin with the device. Users know drive letters.
        let path = self.directory.paths.dos_path(&image.path);
        // Process 0 means the kernel and its drivers, which are mapped into all processes.
        // Images of process 0 are those of the kernel, not of the idle process.
        let owner = if image.pid == 0 {
            None
        } else {
            self.directory.process_at(image.pid, image.first_seen)
        };
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let version = image.version.as_deref();
        Module {
            module_id,
            process_key: key(owner),
            name: file_name(&path).to_owned(),
            path: path.to_string(),
            base: image.base as i64,
            size: image.size as i64,
            load_ns: self.ns(image.load),
            unload_ns: self.ns(image.unload),
            pdb_guid: image.pdb.as_ref().map(|pdb| pdb.guid.to_string()),
            pdb_age: image.pdb.as_ref().map(|pdb| pdb.age as i32),
            pdb_name: image.pdb.as_ref().map(|pdb| pdb.name.clone()),
            file_version: version.and_then(|v| text(&v.binary_version)),
            product_version: version.and_then(|v| text(&v.product_version)),
            product_name: version.and_then(|v| text(&v.product_name)),
            company: version.and_then(|v| text(&v.company_name)),
            description: version.and_then(|v| text(&v.description)),
            time_date_stamp: image.time_date_stamp as i32,
            checksum: image.checksum as i32,
            load_reason: image.reason.map(|(reason, _)| reason.cast_signed()),
            parent_module_id: image
                .reason
                .and_then(|(_, parent)| parent)
                .map(u32::cast_signed),
            // Known when symbols are read.
            // The count comes from the symbol file, which is read much later.
            function_count: None,
        }
    }

    /// The rows of `method`.
    pub(crate) fn methods(
        &self,
        tracker: &MethodTracker,
        assemblies: &Assemblies,
    ) -> impl Iterator<Item = Method> {
        // Numbers have to be the same as those that frames got in the second pass.
        let ids = first_methods(tracker);
        let mut rows = Vec::new();
        for (pid, methods) in tracker.processes() {
            let Some(first) = ids.get(&pid) else {
                continue;
            };
            for (method, id) in methods.iter().zip(*first..) {
                // A method without a time was compiled before the trace.
                let time = Some(method.begin).filter(|t| *t != i64::MIN);
                let process = self.directory.process_at(pid, time.unwrap_or(i64::MIN));
                let module =
                    self.directory
                        .image_at(process, method.start, time.unwrap_or(self.clock.t0));
                rows.push(Method {
                    method_id: id as i32,
                    module_id: module
                        .map(|(id, _)| id)
                        .or_else(|| assemblies.of_method(id))
                        .map(|id| id as i32),
                    name: full_name(&method.namespace, &method.name),
                    signature: Some(method.signature.to_string()).filter(|s| !s.is_empty()),
                    process_key: key(process),
                    address: Some(method.start as i64),
                    size_bytes: Some(method.size.into()),
                    ..Method::default()
                });
            }
        }
        // Processes come in any order here, and rows have to be in that of their keys.
        rows.sort_unstable_by_key(|row| row.method_id);
        rows.into_iter()
    }
}

/// Position of the first method of each process ID among all methods, processes in the order of
/// their IDs.
pub(crate) fn first_methods(tracker: &MethodTracker) -> FxHashMap<u32, u32> {
    let mut counts: Vec<(u32, usize)> =
        tracker.processes().map(|(pid, m)| (pid, m.len())).collect();
    // The tracker has no order. Sorting by process ID gives the same numbers in every run.
    counts.sort_unstable();
    let mut next = 0;
    let position = |(pid, count): (u32, usize)| {
        let first = next;
        next += count as u32;
        (pid, first)
    };
    counts.into_iter().map(position).collect()
}

/// `Namespace.Type.Method`.
pub(crate) fn full_name(namespace: &str, name: &str) -> String {
    if namespace.is_empty() {
        name.to_string()
    } else {
        format!("{namespace}.{name}")
    }
}
