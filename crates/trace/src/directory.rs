//! The first pass: all events that describe other events.
//!
//! Many of them are logged at the end of a recording (rundown, image identities, stack keys,
//! volumes), so nothing can be attributed before all of it is read.

use etwkit_base::path;
use etwkit_decode::cut_mark::CutMark;
use etwkit_decode::kernel::image::{self, Image, NewDll};
use etwkit_decode::kernel::merge::{self, FileVersion, ImageInfo, config_ex, image_id};
use etwkit_decode::kernel::process::{self, Process};
use etwkit_decode::kernel::provider::{self, KERNEL_PROCESS};
use etwkit_decode::kernel::registry;
use etwkit_decode::kernel::stack;
use etwkit_decode::kernel::thread::{self, Thread, Traits};
use etwkit_decode::kernel::{Hook, file_name, group};
use etwkit_etl::damage::Damage;
use etwkit_etl::{RawEvent, Session};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::declared::Events;
use crate::gaps::{self, BufferTimes, Gap};
use crate::mentions::{Mentions, Times};
use crate::tracker::file_name::FileNameTracker;
use crate::tracker::image::{ImageIndex, ImageInstance, ImageTracker};
use crate::tracker::process::{ProcessKey, ProcessTracker};
use crate::tracker::registry_key::RegistryKeyTracker;
use crate::tracker::stack::{StackKeys, StackPart, StackTree};
use crate::tracker::thread::ThreadTracker;
use crate::tracker::volume::PathMapper;

/// Kernel events that trackers follow.
pub(crate) const LEARNS: &[Events] = &[
    Events::Kernel(group::PROCESS, process::LIFETIME),
    Events::Kernel(group::PROCESS, &[process::opcode::TERMINATE]),
    Events::Kernel(group::THREAD, thread::LIFETIME),
    Events::Kernel(group::IMAGE, image::LIFETIME),
    Events::Kernel(group::IMAGE, &[image::opcode::NEW_DLL]),
    Events::Kernel(group::FILE, file_name::NAMES),
    Events::Kernel(group::REGISTRY, registry::BLOCKS),
    Events::Kernel(
        group::STACK,
        &[stack::opcode::KEY_DELETE, stack::opcode::KEY_RUNDOWN],
    ),
];

/// The events that described processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessSource {
    /// The kernel logger.
    KernelLogger,
    /// The provider Microsoft-Windows-Kernel-Process.
    KernelProcess,
}

/// All trackers of a session, ready to answer.
#[derive(Debug)]
pub struct Directory {
    /// Processes.
    pub processes: ProcessTracker,
    /// Threads.
    pub threads: ThreadTracker,
    /// Images.
    pub images: ImageTracker,
    /// File names.
    pub file_names: FileNameTracker,
    /// Keys of the registry, by control block.
    pub registry_keys: RegistryKeyTracker,
    /// NT paths to DOS paths.
    pub paths: PathMapper,
    /// Frames of stack keys.
    pub stacks: StackTree,
    /// Stack keys.
    pub stack_keys: StackKeys,
    /// Definitions of stack keys that were not kept, because there were too many.
    pub dropped_definitions: u64,
    /// The thread that each processor ran up to its first context switch.
    pub first_threads: FxHashMap<u16, u32>,
    /// Raw time of the first event of each processor, session headers excluded. In a circular file
    /// that is long after the start.
    pub first_events: FxHashMap<u16, i64>,
    /// Raw times of the first and the last event of the kernel logger; `None` if it wrote none.
    /// User-mode sessions may have started earlier and ended later.
    pub kernel_times: Option<(i64, i64)>,
    /// Gaps in the events of processors, sorted by start; see [`Directory::find_gaps`].
    pub gaps: Vec<Gap>,
    /// Raw time from which all processors are recorded, if a ring of buffers begins at another
    /// time on each.
    pub complete_since: Option<i64>,
    /// Raw time from which all processors are recorded in a ring of buffers, also if it begins at
    /// the same time on each.
    pub ring_start: Option<i64>,
    /// The events that described processes; `None` if there were none.
    pub process_source: Option<ProcessSource>,
    /// The part that the trace was cut to.
    pub cut: Option<CutMark>,
    /// Process and image events whose layout did not match the header's pointer size.
    pub layout_fallbacks: u64,
    image_index: ImageIndex,
    buffer_times: BufferTimes,
    pointer_size: usize,
}

impl Directory {
    /// Finds the gaps in the events of processors. `damage` is the damage found inside buffers by
    /// the pass that fed the trackers.
    pub fn find_gaps(&mut self, session: &Session, damage: &Damage) {
        // Both kinds of damage: that of the file's structure, known at opening, and that inside of
        // buffers.
        let losses = [session.damage().losses(), damage.losses()].concat();
        let found = gaps::find(session, &self.buffer_times, &losses);
        self.gaps = found.gaps;
        self.complete_since = found.complete_since;
        self.ring_start = found.ring_start;
    }

    /// The process instance of a process ID at a raw time.
    #[must_use]
    pub fn process_at(&self, pid: u32, timestamp: i64) -> Option<ProcessKey> {
        self.processes.at(pid, timestamp)
    }

    /// The process instance that a thread ID belongs to at a raw time.
    #[must_use]
    pub fn process_of_thread(&self, tid: u32, timestamp: i64) -> Option<ProcessKey> {
        // In two steps, as both IDs are reused independently of each other.
        self.processes
            .at(self.threads.process_of(tid, timestamp)?, timestamp)
    }

    /// The image at an address of a process at a raw time, with its position in [`Self::images`].
    #[must_use]
    pub fn image_at(
        &self,
        process: Option<ProcessKey>,
        address: u64,
        timestamp: i64,
    ) -> Option<(u32, &ImageInstance)> {
        let owner = process.map(|key| key.0);
        self.image_index.find(
            self.images.images(),
            owner,
            address,
            timestamp,
            self.pointer_size,
        )
    }

    /// Pointer size of the machine: 4 or 8.
    #[must_use]
    pub const fn pointer_size(&self) -> usize {
        self.pointer_size
    }
}

/// Feeds the trackers. Events of the session must come in order of time.
#[derive(Debug, Default)]
pub struct DirectoryBuilder {
    processes: ProcessTracker,
    threads: ThreadTracker,
    images: ImageTracker,
    file_names: FileNameTracker,
    registry_keys: RegistryKeyTracker,
    paths: PathMapper,
    stacks: StackTree,
    stack_keys: StackKeys,
    most_definitions: u64,
    dropped_definitions: u64,
    /// Memory of one stack.
    frames: Vec<u64>,
    cut: Option<CutMark>,
    layout_fallbacks: u64,
    mentioned: FxHashSet<u32>,
    mentions: Mentions,
    kernel: Seen,
    /// Events of the provider with the threads that logged them, kept until it is known if the
    /// kernel logger reported the same.
    provider: Vec<(i64, Option<u32>, provider::Event)>,
}

/// Kinds of kernel events that were seen.
#[derive(Debug, Default)]
struct Seen {
    processes: bool,
    threads: bool,
    images: bool,
}

/// Definitions of stack keys, and frames in them, that are kept for any trace: 200 MiB each. A
/// small file that defines more is malicious.
const MAX_DEFINITIONS: u64 = 1 << 24;

/// Bytes of a file for each definition that is kept beyond that. Scenario traces have one
/// definition in 1400 bytes.
const BYTES_FOR_DEFINITION: u64 = 512;

/// Fraction of a second by which events of a process or thread may come before its start or after
/// its end: processors stamp them in another order than they happened, and the last thread of a
/// process still runs when its end is logged.
const GRACE: i64 = 100;

impl DirectoryBuilder {
    /// Creates a builder for a session with files of `bytes` bytes in total.
    #[must_use]
    pub fn for_size(bytes: u64) -> Self {
        // In proportion to the file, so that the limit never affects an honest trace of any size.
        Self {
            most_definitions: bytes / BYTES_FOR_DEFINITION,
            ..Self::default()
        }
    }

    /// Takes one event.
    pub fn observe(&mut self, event: &RawEvent<'_>) {
        self.observe_as(Hook::of(event), event);
    }

    /// Takes one event. `hook` is its kernel event, if it is one.
    #[inline]
    pub(crate) fn observe_as(&mut self, hook: Option<Hook>, event: &RawEvent<'_>) {
        self.mentions.observe(hook, event);
        self.observe_in_order(hook, event);
    }

    /// Takes one event, except for the part that [`Mentions`] collects, which comes from
    /// [`Self::mentioned_elsewhere`].
    #[inline]
    pub(crate) fn observe_in_order(&mut self, hook: Option<Hook>, event: &RawEvent<'_>) {
        // Kernel events are most of a trace and are tested first.
        if let Some(hook) = hook {
            self.kernel_event(hook, event);
        } else if event.kind.is_classic() {
            self.merge_record(event);
        } else if event.kind.is_manifest() && event.provider() == KERNEL_PROCESS {
            self.provider_event(event);
        } else if let Some(mark) = CutMark::of(event) {
            self.cut = Some(self.cut.map_or(mark, |before| before.with(mark)));
        }
    }

    /// Sets the data that was collected from the same events by another thread.
    pub(crate) fn mentioned_elsewhere(&mut self, mentions: Mentions) {
        self.mentions = mentions;
    }

    fn kernel_event(&mut self, hook: Hook, event: &RawEvent<'_>) {
        match hook.group {
            group::PROCESS if process::is_lifetime(hook.opcode) => self.process(hook, event),
            group::PROCESS if hook.opcode == process::opcode::TERMINATE => {
                if let Some(pid) = process::terminated(event.payload()) {
                    self.processes.terminate(event.timestamp, pid);
                }
            }
            group::THREAD if thread::is_lifetime(hook.opcode) => self.thread(hook, event),
            group::IMAGE if image::is_lifetime(hook.opcode) => self.image(hook, event),
            group::IMAGE if hook.opcode == image::opcode::NEW_DLL => {
                let read = NewDll::parse(event.payload(), event.pointer_size());
                // The event names no process; the loader logs it in the process that loads.
                if let Some((pid, read)) = event.process_id().zip(read) {
                    self.images.add_reason(pid, read);
                }
            }
            group::FILE if file_name::is_name(hook.opcode) => {
                if let Some((key, path)) = file_name::parse(event.payload(), event.pointer_size()) {
                    self.file_names
                        .add(hook.opcode, event.timestamp, key, &path);
                }
            }
            group::REGISTRY if registry::is_block(hook.opcode) => self.registry_key(hook, event),
            group::STACK => self.stack_definition(hook, event),
            _ => {}
        }
    }

    fn registry_key(&mut self, hook: Hook, event: &RawEvent<'_>) {
        let read = registry::Operation::parse(event.payload(), hook.version, event.pointer_size());
        // Blocks without a name say nothing, and would hide the name that an earlier event had.
        let Some(block) = read.filter(|block| !block.name.is_empty()) else {
            return;
        };
        self.registry_keys.add(
            hook.opcode,
            hook.version,
            event.timestamp,
            block.block,
            &block.name,
        );
    }

    fn process(&mut self, hook: Hook, event: &RawEvent<'_>) {
        let Some(read) = Process::parse(event.payload(), hook.version, event.pointer_size()) else {
            return;
        };
        self.kernel.processes = true;
        // Counted, because a header with a wrong pointer size shows there first.
        self.layout_fallbacks += u64::from(read.fallback);
        self.add_process(hook.opcode, event.timestamp, event.thread_id(), read.event);
    }

    /// Takes an event of a process; a start is logged by the thread that creates the process.
    fn add_process(&mut self, op: u8, timestamp: i64, by: Option<u32>, event: Process) {
        let pid = event.pid;
        self.processes.add(op, timestamp, event);
        // Only a start is logged by the creator. Events of a rundown are logged by the session.
        if op == process::opcode::START {
            self.processes.created(pid, by);
        }
    }

    fn thread(&mut self, hook: Hook, event: &RawEvent<'_>) {
        let Some(thread) = Thread::parse(event.payload(), hook.version) else {
            return;
        };
        self.kernel.threads = true;
        self.add_thread(hook.opcode, event.timestamp, event.thread_id(), thread);
        // Later versions have more fields. What is missing stays unknown.
        if let Some(traits) = Traits::parse(event.payload(), hook.version, event.pointer_size()) {
            self.threads.describe(thread.tid, traits);
        }
    }

    /// Takes an event of a thread; a start is logged by the thread that creates it.
    fn add_thread(&mut self, op: u8, timestamp: i64, by: Option<u32>, thread: Thread) {
        // Processes of threads are remembered even if no process event describes them.
        self.mentioned.insert(thread.pid);
        self.threads.add(op, timestamp, thread.pid, thread.tid);
        if op == thread::opcode::START {
            self.threads.created(thread.tid, by);
        }
    }

    fn image(&mut self, hook: Hook, event: &RawEvent<'_>) {
        let Some(read) = Image::parse(event.payload(), hook.version, event.pointer_size()) else {
            return;
        };
        self.kernel.images = true;
        self.layout_fallbacks += u64::from(read.fallback);
        self.add_image(
            hook.opcode,
            event.timestamp,
            event.process_id(),
            &read.event,
        );
    }

    fn add_image(&mut self, op: u8, timestamp: i64, header_pid: Option<u32>, image: &Image) {
        // Old versions of the event have no process ID in the payload. Without any, the image is
        // listed with those of the kernel, which belong to process 0, rather than lost.
        let pid = image.pid.or(header_pid).unwrap_or_default();
        self.mentioned.insert(pid);
        self.images.add(op, timestamp, pid, image);
    }

    fn stack_definition(&mut self, hook: Hook, event: &RawEvent<'_>) {
        if !matches!(
            hook.opcode,
            stack::opcode::KEY_DELETE | stack::opcode::KEY_RUNDOWN
        ) {
            return;
        }
        let payload = event.payload();
        let pointer_size = event.pointer_size();
        let Some(key) = stack::key(payload, 0, pointer_size) else {
            return;
        };
        // The larger of both: a fixed amount for small files, and a share for large ones.
        let most = self.most_definitions.max(MAX_DEFINITIONS);
        // A dropped definition costs one stack and is counted. Keeping all of them could exhaust
        // the memory of any machine.
        if self.stacks.len() as u64 >= most || self.stack_keys.len() >= most {
            self.dropped_definitions += 1;
            return;
        }
        // One vector for all definitions, as there may be millions.
        self.frames.clear();
        self.frames
            .extend(stack::frames(payload, pointer_size, pointer_size));
        // Distinct stacks are kept once; keys refer to them.
        let id = self.stacks.intern(&self.frames);
        // A kernel stack can have user frames inside if the kernel calls back. The outermost frame
        // decides.
        let part = self
            .frames
            .last()
            .map(|outermost| StackPart::of(*outermost, pointer_size));
        self.stack_keys.define(event.timestamp, key, part, id);
    }

    fn provider_event(&mut self, event: &RawEvent<'_>) {
        let id = event.descriptor();
        if let Some(read) =
            provider::Event::parse(id.id, id.version, event.payload(), event.pointer_size())
        {
            // Kept until all events are read: whether the kernel logger reported the same is known
            // only then.
            self.provider
                .push((event.timestamp, event.thread_id(), read));
        }
    }

    fn merge_record(&mut self, event: &RawEvent<'_>) {
        let payload = event.payload();
        // Records of the merge step describe files, with data that no event of the recording has.
        match (event.provider(), event.opcode()) {
            (merge::IMAGE_ID, image_id::INFO) => {
                if let Some(info) = ImageInfo::parse(payload, event.pointer_size()) {
                    self.images
                        .add_info(event.timestamp, event.process_id(), info);
                }
            }
            (merge::IMAGE_ID, op @ (image_id::RSDS | image_id::IL_RSDS)) => {
                if let Some((base, pid, pdb)) = merge::parse_rsds(payload, event.pointer_size()) {
                    self.images
                        .add_pdb(event.timestamp, base, pid, pdb, op == image_id::IL_RSDS);
                }
            }
            (merge::IMAGE_ID, image_id::FILE_VERSION) => {
                if let Some(version) = FileVersion::parse(payload) {
                    self.images.add_version(version);
                }
            }
            (merge::SYSTEM_CONFIG_EX, config_ex::SYSTEM_PATHS) => {
                self.paths
                    .add("\\Windows\\", &merge::parse_two_texts(payload).1);
            }
            (merge::SYSTEM_CONFIG_EX, config_ex::VOLUME_MAPPING) => {
                let (nt, dos) = merge::parse_two_texts(payload);
                self.paths.add(&nt, &dos);
            }
            _ => {}
        }
    }

    /// Combines the collected data. `pointer_size` is the machine's, and the clock has `frequency`
    /// ticks per second.
    #[must_use]
    pub fn finish(mut self, pointer_size: usize, frequency: i64) -> Directory {
        // Events of the kernel logger are preferred: the provider reports the same starts and ends,
        // and both together would create two instances of each process.
        let process_source = self.use_provider_events();
        let grace = frequency / GRACE;
        // Before the threads, because their lives are cut by those of processes.
        self.processes.allow(grace);
        self.threads.allow(grace);
        self.derive_threads();
        let mut mentioned: Vec<u32> = self
            .mentioned
            .iter()
            .copied()
            .chain(self.mentions.pids())
            .collect();
        // In order of the IDs, since instances are numbered as they are made.
        mentioned.sort_unstable();
        mentioned.dedup();
        // Instances are numbered in the order in which they are made. The IDs come out of hash
        // sets, and sorting them gives the same keys in every run.
        for pid in mentioned {
            self.processes.mention(pid);
        }
        self.confirm_names();
        let Times {
            first_threads,
            first_events,
            kernel,
            buffers,
        } = self.mentions.times();
        // Needs the process instances, so that it is last.
        self.images.finish();
        let processes = &self.processes;
        // The owner is looked up at the time of the first event and not at the load, because images
        // mapped before the trace have no load.
        let owner_of =
            |image: &ImageInstance| processes.at(image.pid, image.first_seen).map(|key| key.0);
        let image_index = ImageIndex::new(
            self.images.images(),
            pointer_size,
            processes.instances().len(),
            owner_of,
        );
        Directory {
            processes: self.processes,
            threads: self.threads,
            images: self.images,
            file_names: self.file_names,
            registry_keys: self.registry_keys,
            paths: self.paths,
            stacks: self.stacks,
            stack_keys: self.stack_keys,
            dropped_definitions: self.dropped_definitions,
            first_threads,
            first_events,
            kernel_times: kernel,
            // Filled by `find_gaps`, which also needs the damage of the pass.
            gaps: Vec::new(),
            complete_since: None,
            ring_start: None,
            process_source,
            cut: self.cut,
            layout_fallbacks: self.layout_fallbacks,
            image_index,
            buffer_times: buffers,
            pointer_size,
        }
    }

    /// Gives processes whose names depend on the code page of the machine the names of their images
    /// or, without a match, of their command lines.
    fn confirm_names(&mut self) {
        // Few traces have such names, and images are many.
        if !self.processes.has_ansi_names() {
            return;
        }
        let images = self.images.images().iter();
        // A name in ASCII would be the same in every code page.
        for image in images.filter(|image| !image.path.is_ascii()) {
            if let Some(owner) = self.processes.at(image.pid, image.first_seen) {
                let name = path::file_name(&image.path);
                self.processes.confirm_name(owner, name);
            }
        }
        self.processes.confirm_names_by_command_lines();
    }

    /// Adds the threads that only other events name.
    fn derive_threads(&mut self) {
        let witnesses = self.mentions.take_witnesses();
        let has_processes = !self.mentioned.is_empty() || !self.processes.instances().is_empty();
        // In a recording of providers alone no row asks for the process of a thread.
        // Witnesses cost memory, and in such a trace nobody asks for them.
        if !has_processes && !witnesses.has_stacks() {
            return;
        }
        // Headers of providers name processes of which the trace may say nothing else.
        let names_processes = witnesses.has_stacks();
        for (tid, lives) in witnesses.lives() {
            let before = self.threads.instances().len();
            self.threads.derive(tid, &lives);
            if names_processes {
                let derived = self.threads.instances().iter().skip(before);
                self.mentioned.extend(derived.map(|thread| thread.pid));
            }
        }
    }

    fn use_provider_events(&mut self) -> Option<ProcessSource> {
        let mut source = self.kernel.processes.then_some(ProcessSource::KernelLogger);
        // Taken out, since the same methods feed the trackers from both sources.
        for (timestamp, by, event) in std::mem::take(&mut self.provider) {
            match event {
                // Each kind on its own: a kernel logger may have recorded threads and not
                // processes.
                provider::Event::Process(op, process) if !self.kernel.processes => {
                    source = Some(ProcessSource::KernelProcess);
                    self.add_process(op, timestamp, by, process);
                }
                provider::Event::Thread(op, thread) if !self.kernel.threads => {
                    self.add_thread(op, timestamp, by, thread);
                }
                provider::Event::Image(op, image) if !self.kernel.images => {
                    self.add_image(op, timestamp, None, &image);
                }
                _ => {}
            }
        }
        source
    }
}

#[cfg(test)]
mod tests {
    use etwkit_etl::HeaderKind;

    use super::*;

    #[test]
    fn a_small_file_cannot_define_stacks_without_end() {
        // `StackWalk/KeyDelete`: the key, then one address.
        let mut record = vec![
            2,
            0,
            0x11,
            0xC0,
            32,
            0,
            stack::opcode::KEY_DELETE,
            group::STACK,
        ];
        record.extend([0; 8]);
        record.extend([7u64.to_le_bytes(), 0x1000u64.to_le_bytes()].concat());
        let event = RawEvent {
            kind: HeaderKind::Perfinfo64,
            timestamp: 0,
            cpu: 0,
            file: 0,
            buffer: 0,
            position: 0x48,
            record: &record,
        };
        let dropped = |bytes| {
            let mut builder = DirectoryBuilder::for_size(bytes);
            for _ in 0..MAX_DEFINITIONS + 5 {
                builder.observe(&event);
            }
            builder.finish(8, 10_000_000).dropped_definitions
        };
        assert_eq!(dropped(0), 5);
        assert_eq!(dropped((MAX_DEFINITIONS + 3) * BYTES_FOR_DEFINITION), 2);
    }
}
