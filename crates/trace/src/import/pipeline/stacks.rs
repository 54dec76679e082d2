//! Conversion of stacks of addresses to stacks of frames: the code at each address, in that
//! process, at that time.

use etwkit_decode::kernel::stack::is_kernel_address;
use rustc_hash::FxHashMap;

use super::arena::{Chunk, Chunks, RawStack};
use super::line::Seq;
use super::nodes::{Nodes, Top};
use crate::directory::Directory;
use crate::import::dotnet::assemblies::Assemblies;
use crate::out::Out;
use crate::sink::{Sink, SinkError};
use crate::table::{Frame, IlOffset, Stack};
use crate::tracker::method::{Method, MethodTracker};
use crate::tracker::process::ProcessKey;
use crate::tracker::stack::{StackId, StackTree};

/// The identity of a frame: module, address, method.
type FrameKey = (Option<u32>, u64, Option<u32>);

/// Distinct frames that are recognized when they come again, and stacks of one process.
const MAX_KNOWN: usize = 1 << 21;

/// Parts of whole stacks that are recognized when they come again.
const MAX_WHOLE: usize = 1 << 22;

/// Maximum number of rows that wait to be passed on.
const MAX_ROWS: usize = 1 << 13;

/// The process and time for looking up the addresses of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Viewpoint {
    /// The process; the kernel's modules are visible from every process.
    pub process: Option<ProcessKey>,
    /// Raw time.
    pub time: i64,
}

/// Builds the tables `frame`, `stack` and `il_offset`. Each distinct frame and stack is reported once. It is
/// reported again if a trace has so many that remembering them all would take too much memory.
pub(crate) struct Stacks<'d> {
    directory: &'d Directory,
    methods: &'d MethodTracker,
    /// Position of the first method of each process ID among all methods.
    first_method: &'d FxHashMap<u32, u32>,
    /// The assemblies of methods whose code is in no image.
    assemblies: &'d Assemblies,
    epochs: Epochs,
    /// The stacks that keys refer to.
    keyed: &'d StackTree,
    /// Whole stacks.
    whole: StackTree,
    chunks: Chunks,
    frames: FxHashMap<FrameKey, u32>,
    next_frame: u32,
    nodes: Nodes,
    /// By process; the first one is for rows without a process.
    memos: Vec<Memo>,
    addresses: Vec<u64>,
    frame_rows: Vec<Frame>,
    stack_rows: Vec<Stack>,
    il_rows: Vec<IlOffset>,
    frame_out: Out<Frame>,
    stack_out: Out<Stack>,
    il_out: Out<IlOffset>,
    /// Frames of code that a runtime compiled and did not list.
    not_listed: u64,
}

/// Half of a stack, in one of the two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Half {
    is_keyed: bool,
    id: StackId,
}

/// Cached frames and stacks of a process, valid as long as its modules do not change.
#[derive(Debug, Default)]
struct Memo {
    /// Raw times between which the modules do not change; the end is excluded.
    from: i64,
    until: i64,
    frames: FxHashMap<u64, u32>,
    stacks: FxHashMap<(Half, Half), u32>,
}

impl<'d> Stacks<'d> {
    pub(crate) fn new(
        directory: &'d Directory,
        methods: &'d MethodTracker,
        (first_method, assemblies): (&'d FxHashMap<u32, u32>, &'d Assemblies),
        keyed: &'d StackTree,
    ) -> Self {
        Self {
            directory,
            methods,
            first_method,
            assemblies,
            epochs: Epochs::new(directory, methods),
            keyed,
            whole: StackTree::default(),
            chunks: Chunks::default(),
            frames: FxHashMap::default(),
            next_frame: 0,
            nodes: Nodes::default(),
            memos: Vec::new(),
            addresses: Vec::new(),
            frame_rows: Vec::new(),
            stack_rows: Vec::new(),
            il_rows: Vec::new(),
            frame_out: Out::default(),
            stack_out: Out::default(),
            il_out: Out::default(),
            not_listed: 0,
        }
    }

    /// Takes a chunk with addresses of stacks of later rows.
    pub(crate) fn add(&mut self, chunk: Chunk) {
        self.chunks.add(chunk);
    }

    /// Moves on to a row: chunks that only rows before it needed are forgotten.
    #[inline]
    pub(crate) fn advance(&mut self, row: Seq) {
        self.chunks.forget_before(row);
    }

    fn half(&mut self, stack: RawStack) -> Half {
        // Whole stacks come with their events and are not in the tree of keyed ones, which the
        // first pass has built.
        match stack {
            RawStack::Empty => Half {
                is_keyed: true,
                id: StackId::EMPTY,
            },
            RawStack::Keyed(id) => Half { is_keyed: true, id },
            RawStack::Whole { chunk, start, len } => {
                // Interned when the row leaves and not when the stack came: most chunks are dropped
                // soon, and the tree grows with distinct stacks only.
                let id = self.whole.intern(self.chunks.addresses(chunk, start, len));
                Half {
                    is_keyed: false,
                    id,
                }
            }
        }
    }

    fn tree(&self, half: Half) -> &StackTree {
        if half.is_keyed {
            self.keyed
        } else {
            &self.whole
        }
    }

    /// Row of the stack whose kernel half is on top of its user half; `None` if both are empty.
    pub(crate) fn stack(
        &mut self,
        place: Viewpoint,
        kernel: RawStack,
        user: RawStack,
    ) -> Option<i32> {
        if kernel == RawStack::Empty && user == RawStack::Empty {
            return None;
        }
        self.make_room();
        // Both halves first: making room may clear the tree that they are in.
        let halves = (self.half(kernel), self.half(user));
        Some(self.of_halves(place, halves))
    }

    /// Row of a stack whose kernel half is missing: its user half, with the address in the kernel
    /// that was sampled on top.
    pub(crate) fn without_kernel_half(
        &mut self,
        place: Viewpoint,
        address: u64,
        user: RawStack,
    ) -> i32 {
        self.make_room();
        // The sampled address is put on top, so that the time counts for the kernel.
        let innermost = Half {
            is_keyed: false,
            id: self.whole.intern(&[address]),
        };
        let halves = (innermost, self.half(user));
        self.of_halves(place, halves)
    }

    fn make_room(&mut self) {
        // Done before a stack is looked up, since clearing the tree makes the IDs of its halves
        // invalid.
        if self.whole.len() > MAX_WHOLE {
            self.whole.clear();
            self.forget_stacks();
        }
    }

    fn of_halves(&mut self, place: Viewpoint, halves: (Half, Half)) -> i32 {
        let mut memo = self.memo(place);
        // Most stacks repeat within one process, and this is one lookup for all frames.
        let node = match memo.stacks.get(&halves) {
            Some(node) => *node,
            None => self.new_stack(&mut memo, place, halves),
        };
        self.give_back(place, memo);
        node as i32
    }

    /// True if a stack with these halves, taken at that address, lacks its kernel half.
    pub(crate) fn lacks_kernel_half(&self, address: u64, kernel: RawStack, user: RawStack) -> bool {
        // Kernel code without kernel frames: the kernel half was lost or was not recorded.
        let is_lacking = kernel == RawStack::Empty && user != RawStack::Empty;
        is_lacking && is_kernel_address(address, self.directory.pointer_size())
    }

    fn new_stack(
        &mut self,
        memo: &mut Memo,
        place: Viewpoint,
        (kernel, user): (Half, Half),
    ) -> u32 {
        // Taken out of the struct, so that its memory is used again without a second borrow.
        let mut addresses = std::mem::take(&mut self.addresses);
        // The kernel half is innermost, and innermost addresses come first.
        addresses.extend(self.tree(kernel).frames(kernel.id));
        addresses.extend(self.tree(user).frames(user.id));
        let mut top = Top::NONE;
        // Addresses are stored innermost first. Nodes are created from the outermost frame inwards,
        // so that stacks share their callers.
        for address in addresses.drain(..).rev() {
            let frame = self.frame_in(memo, place, address);
            top = self.node(top, frame);
        }
        self.addresses = addresses;
        // Cleared and not shrunk: which stacks come again is not known, and clearing keeps the
        // memory.
        if memo.stacks.len() >= MAX_KNOWN {
            memo.stacks.clear();
        }
        memo.stacks.insert((kernel, user), top.id());
        top.id()
    }

    fn forget_stacks(&mut self) {
        self.memos.iter_mut().for_each(|memo| memo.stacks.clear());
    }

    /// Row of the stack that consists of one address.
    pub(crate) fn single(&mut self, place: Viewpoint, address: u64) -> i32 {
        let frame = self.frame(place, address);
        self.node(Top::NONE, frame).id() as i32
    }

    /// Row of the frame of an address.
    pub(crate) fn frame(&mut self, place: Viewpoint, address: u64) -> u32 {
        let mut memo = self.memo(place);
        let frame = self.frame_in(&mut memo, place, address);
        self.give_back(place, memo);
        frame
    }

    /// Takes the cache of a process, emptied if its modules have changed since then.
    fn memo(&mut self, place: Viewpoint) -> Memo {
        let index = place.process.map_or(0, |process| process.0 as usize + 1);
        if index >= self.memos.len() {
            self.memos.resize_with(index + 1, Memo::default);
        }
        // Taken out, because a failed lookup needs all of `self` to create rows.
        let mut memo = self
            .memos
            .get_mut(index)
            .map_or_else(Memo::default, std::mem::take);
        // A load or unload in between may have put other code at the same address.
        if !(memo.from..memo.until).contains(&place.time) {
            (memo.from, memo.until) = self.epochs.around(place);
            memo.frames.clear();
            memo.stacks.clear();
        }
        memo
    }

    fn give_back(&mut self, place: Viewpoint, memo: Memo) {
        if let Some(home) = self
            .memos
            .get_mut(place.process.map_or(0, |process| process.0 as usize + 1))
        {
            *home = memo;
        }
    }

    fn node(&mut self, outer: Top, frame: u32) -> Top {
        let (top, is_new) = self.nodes.put(outer, frame);
        if is_new {
            // A node is written when it is made. Its parent was made before, so parents always
            // precede their children in the table.
            self.stack_rows.push(Stack {
                stack_id: top.id() as i32,
                parent_id: outer.row(),
                frame_id: frame as i32,
                depth: top.depth(),
            });
        }
        top
    }

    fn frame_in(&mut self, memo: &mut Memo, place: Viewpoint, address: u64) -> u32 {
        // By address first: within an epoch of the process, one address is one frame.
        if let Some(frame) = memo.frames.get(&address) {
            return *frame;
        }
        let image = self.directory.image_at(place.process, address, place.time);
        let found = self.method(place, address);
        let method = found.map(|(id, _)| id);
        // Frames that occur again after this get a second row with the same content: a little more
        // in the extract instead of unbounded memory.
        if self.frames.len() >= MAX_KNOWN {
            self.frames.clear();
        }
        let next = self.next_frame;
        // Code that was compiled at run time is in no image. Its assembly takes the place of the
        // module.
        let mut module = image
            .map(|(id, _)| id)
            .or_else(|| self.assemblies.of_method(method?));
        // Addresses in user mode without an image and without a method are code of a runtime that
        // did not list it.
        let is_compiled = module.is_none()
            && method.is_none()
            && !is_kernel_address(address, self.directory.pointer_size());
        if is_compiled {
            module = self.assemblies.of_process(place.process);
        }
        // Two addresses are two frames even in one method, since symbols find the line by the
        // address.
        let frame = *self.frames.entry((module, address, method)).or_insert(next);
        if frame == next {
            let is_not_listed = is_compiled && self.assemblies.is_not_listed(place.process);
            self.not_listed += u64::from(is_not_listed);
            self.next_frame += 1;
            self.frame_rows.push(Frame {
                frame_id: frame as i32,
                module_id: module.map(|id| id as i32),
                // Relative to the base: symbols know nothing of the address at which a module was
                // mapped.
                rva: image.map(|(_, image)| address.wrapping_sub(image.base) as i64),
                address: address as i64,
                method_id: method.map(|id| id as i32),
                ..Frame::default()
            });
            let il = found.and_then(|(id, method)| self.il_offset(frame, (id, method), address));
            self.il_rows.extend(il);
        }
        if memo.frames.len() >= MAX_KNOWN {
            memo.frames.clear();
        }
        memo.frames.insert(address, frame);
        frame
    }

    /// The method at an address, with its number.
    fn method(&self, place: Viewpoint, address: u64) -> Option<(u32, &'d Method)> {
        // Methods are known by process ID, as the runtime reports them, and their list is by time.
        let pid = self.directory.processes.instance(place.process?)?.pid;
        let first = self.first_method.get(&pid)?;
        let index = self.methods.index_at(pid, address, place.time)?;
        Some((first + index as u32, self.methods.get(pid, index)?))
    }

    fn il_offset(
        &self,
        frame: u32,
        (id, method): (u32, &Method),
        address: u64,
    ) -> Option<IlOffset> {
        let map = method.il_map.as_deref()?;
        // The map holds offsets from the start of the code.
        let native = u32::try_from(address.checked_sub(method.start)?).ok()?;
        let at = |native| map.il_offset(native).map(u32::cast_signed);
        // In front of the first instruction there was no call: the thread was interrupted at it.
        let here = at(native);
        // The return address is behind the call. One byte before it is within the call, also where
        // the next statement begins at the return address.
        let call = at(native.saturating_sub(1));
        let pdb = self.assemblies.symbols_of(id);
        Some(IlOffset {
            frame_id: frame as i32,
            method_token: method.token.cast_signed(),
            il_offset: here,
            call_il_offset: call,
            pdb_guid: pdb.map(|pdb| pdb.guid.to_string()),
            pdb_age: pdb.map(|pdb| pdb.age.cast_signed()),
            pdb_name: pdb.map(|pdb| pdb.name.clone()),
        })
    }

    /// Passes on the new rows, if they are many.
    #[inline]
    pub(crate) fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        // Handed on in batches, because each batch becomes a batch of the file.
        if self.stack_rows.len() + self.frame_rows.len() < MAX_ROWS {
            Ok(())
        } else {
            self.hand_on(sink)
        }
    }

    fn hand_on(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        // Frames go before stacks and stacks before offsets, as they refer to each other.
        for row in self.frame_rows.drain(..) {
            self.frame_out.push(&row, sink)?;
        }
        for row in self.stack_rows.drain(..) {
            self.stack_out.push(&row, sink)?;
        }
        for row in self.il_rows.drain(..) {
            self.il_out.push(&row, sink)?;
        }
        // Between two events only the memories of processes refer to nodes.
        if self.nodes.forget_if_many() {
            self.forget_stacks();
        }
        Ok(())
    }

    /// Addresses of code that a runtime compiled and did not list.
    pub(crate) const fn not_listed(&self) -> u64 {
        self.not_listed
    }

    /// Passes on all rows.
    pub(crate) fn finish(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.hand_on(sink)?;
        self.frame_out.flush(sink)?;
        self.stack_out.flush(sink)?;
        self.il_out.flush(sink)
    }
}

/// Times at which the code of a process changes: loads and unloads of modules, and of methods whose
/// addresses are reused.
#[derive(Debug, Default)]
struct Epochs {
    kernel: Vec<i64>,
    processes: FxHashMap<ProcessKey, Vec<i64>>,
}

impl Epochs {
    fn new(directory: &Directory, methods: &MethodTracker) -> Self {
        let mut epochs = Self::default();
        for image in directory.images.images() {
            // Modules of the kernel are visible from every process.
            let owner = if image.pid == 0 {
                None
            } else {
                directory.process_at(image.pid, image.first_seen)
            };
            // The kernel is visible in every process, so a change there ends the memory of all.
            let list = match owner {
                None => &mut epochs.kernel,
                Some(process) => epochs.processes.entry(process).or_default(),
            };
            // An image still counts as loaded at the time of its unload, so the change is one tick
            // later.
            list.extend(
                image
                    .load
                    .into_iter()
                    .chain(image.unload.map(|t| t.saturating_add(1))),
            );
        }
        for (pid, times) in methods.changes() {
            for time in times {
                // A runtime reuses the addresses of methods that it dropped.
                if let Some(process) = directory.process_at(pid, time) {
                    epochs.processes.entry(process).or_default().push(time);
                }
            }
        }
        epochs.kernel.sort_unstable();
        epochs
            .processes
            .values_mut()
            .for_each(|times| times.sort_unstable());
        epochs
    }

    /// The latest change at or before a time, and the first one after it.
    fn around(&self, place: Viewpoint) -> (i64, i64) {
        let own = place
            .process
            .and_then(|process| self.processes.get(&process));
        let mut from = i64::MIN;
        let mut until = i64::MAX;
        for times in [Some(&self.kernel), own].into_iter().flatten() {
            // Both lists are sorted, so that the epoch is the span between the nearest changes on
            // both sides.
            let at = times.partition_point(|t| *t <= place.time);
            from = times.get(at.wrapping_sub(1)).map_or(from, |t| from.max(*t));
            until = times.get(at).map_or(until, |t| until.min(*t));
        }
        (from, until)
    }
}
