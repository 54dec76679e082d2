//! Stacks of addresses → stacks of frames: what code lay at each address, in that process, at that time.

use rustc_hash::FxHashMap;

use super::out::Out;
use crate::directory::Directory;
use crate::sink::{Sink, SinkError};
use crate::table::{Frame, Stack};
use crate::tracker::method::MethodTracker;
use crate::tracker::process::ProcessKey;
use crate::tracker::stack::{StackId, StackTree};

/// No outer frame.
const NO_NODE: u32 = u32::MAX;

/// What a frame is told apart by: module, address, method.
type FrameKey = (Option<u32>, u64, Option<u32>);

/// Where a stack's addresses are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The process; the kernel's modules are seen from every process.
    pub process: Option<ProcessKey>,
    /// Raw time.
    pub time: i64,
}

/// Builds the tables `frame` and `stack`, each distinct frame and stack once.
pub(super) struct Stacks<'d> {
    directory: &'d Directory,
    methods: &'d MethodTracker,
    /// Position of the first method of each process id among all methods.
    first_method: &'d FxHashMap<u32, u32>,
    epochs: Epochs,
    raw: StackTree,
    frames: FxHashMap<FrameKey, u32>,
    nodes: FxHashMap<(u32, u32), u32>,
    depths: Vec<i32>,
    memos: FxHashMap<Option<ProcessKey>, Memo>,
    frame_rows: Vec<Frame>,
    stack_rows: Vec<Stack>,
    frame_out: Out<Frame>,
    stack_out: Out<Stack>,
}

/// What is known of a process while its modules stay as they are.
#[derive(Debug, Default)]
struct Memo {
    epoch: usize,
    frames: FxHashMap<u64, u32>,
    /// Node of a raw stack on top of an outer node.
    nodes: FxHashMap<(StackId, u32), u32>,
}

impl<'d> Stacks<'d> {
    pub(super) fn new(
        directory: &'d Directory,
        methods: &'d MethodTracker,
        first_method: &'d FxHashMap<u32, u32>,
        raw: StackTree,
    ) -> Self {
        Self {
            directory,
            methods,
            first_method,
            epochs: Epochs::new(directory, methods),
            raw,
            frames: FxHashMap::default(),
            nodes: FxHashMap::default(),
            depths: Vec::new(),
            memos: FxHashMap::default(),
            frame_rows: Vec::new(),
            stack_rows: Vec::new(),
            frame_out: Out::default(),
            stack_out: Out::default(),
        }
    }

    /// Takes the addresses of a stack, innermost first.
    pub(super) fn intern(&mut self, addresses: impl DoubleEndedIterator<Item = u64>) -> StackId {
        self.raw.intern(addresses)
    }

    /// The innermost address of a stack.
    pub(super) fn innermost(&self, stack: StackId) -> Option<u64> {
        self.raw.frames(stack).next()
    }

    /// Row of the stack whose kernel half lies on its user half; `None` if both are empty.
    pub(super) fn stack(&mut self, place: Place, kernel: StackId, user: StackId) -> Option<i32> {
        let mut memo = self.memo(place);
        let outer = self.extend(&mut memo, place, user, NO_NODE);
        let node = self.extend(&mut memo, place, kernel, outer);
        self.memos.insert(place.process, memo);
        (node != NO_NODE).then_some(node as i32)
    }

    /// Row of the stack that consists of one address.
    pub(super) fn single(&mut self, place: Place, address: u64) -> i32 {
        let frame = self.frame(place, address);
        self.node(NO_NODE, frame) as i32
    }

    /// Row of the frame of an address.
    pub(super) fn frame(&mut self, place: Place, address: u64) -> u32 {
        let mut memo = self.memo(place);
        let frame = self.frame_in(&mut memo, place, address);
        self.memos.insert(place.process, memo);
        frame
    }

    /// Takes the memory of a process, emptied if its modules changed meanwhile.
    fn memo(&mut self, place: Place) -> Memo {
        let epoch = self.epochs.at(place);
        let mut memo = self.memos.remove(&place.process).unwrap_or_default();
        if memo.epoch != epoch {
            memo = Memo { epoch, ..Memo::default() };
        }
        memo
    }

    /// Node of a raw stack on top of an outer node.
    fn extend(&mut self, memo: &mut Memo, place: Place, stack: StackId, outer: u32) -> u32 {
        if stack == StackId::EMPTY {
            return outer;
        }
        if let Some(node) = memo.nodes.get(&(stack, outer)) {
            return *node;
        }
        // Down to the first part that is known, then up again.
        let mut missing: Vec<(StackId, u64)> = Vec::new();
        let (mut at, mut node) = (stack, outer);
        while let Some((parent, address)) = self.raw.innermost(at) {
            missing.push((at, address));
            at = parent;
            if let Some(known) = memo.nodes.get(&(at, outer)) {
                node = *known;
                break;
            }
        }
        for (part, address) in missing.into_iter().rev() {
            let frame = self.frame_in(memo, place, address);
            node = self.node(node, frame);
            memo.nodes.insert((part, outer), node);
        }
        node
    }

    fn node(&mut self, parent: u32, frame: u32) -> u32 {
        let next = self.nodes.len() as u32;
        let node = *self.nodes.entry((parent, frame)).or_insert(next);
        if node == next {
            let depth = self.depths.get(parent as usize).map_or(0, |depth| depth + 1);
            self.depths.push(depth);
            self.stack_rows.push(Stack {
                stack_id: node as i32,
                parent_id: (parent != NO_NODE).then_some(parent as i32),
                frame_id: frame as i32,
                depth,
            });
        }
        node
    }

    fn frame_in(&mut self, memo: &mut Memo, place: Place, address: u64) -> u32 {
        if let Some(frame) = memo.frames.get(&address) {
            return *frame;
        }
        let image = self.directory.image_at(place.process, address, place.time);
        let method = self.method(place, address);
        let next = self.frames.len() as u32;
        let frame = *self.frames.entry((image.map(|(id, _)| id), address, method)).or_insert(next);
        if frame == next {
            self.frame_rows.push(Frame {
                frame_id: frame as i32,
                module_id: image.map(|(id, _)| id as i32),
                rva: image.map(|(_, image)| address.wrapping_sub(image.base) as i64),
                address: address as i64,
                method_id: method.map(|id| id as i32),
            });
        }
        memo.frames.insert(address, frame);
        frame
    }

    fn method(&self, place: Place, address: u64) -> Option<u32> {
        let pid = self.directory.processes.instance(place.process?)?.pid;
        let first = self.first_method.get(&pid)?;
        self.methods.index_at(pid, address, place.time).map(|index| first + index as u32)
    }

    /// Hands on the rows that are new.
    pub(super) fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        for row in self.frame_rows.drain(..) {
            self.frame_out.push(&row, sink)?;
        }
        for row in self.stack_rows.drain(..) {
            self.stack_out.push(&row, sink)?;
        }
        Ok(())
    }

    /// Hands on all rows.
    pub(super) fn finish(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.flush(sink)?;
        self.frame_out.flush(sink)?;
        self.stack_out.flush(sink)
    }
}

/// When the code of a process changes: loads and unloads of modules, and of methods whose addresses are used again.
#[derive(Debug, Default)]
struct Epochs {
    kernel: Vec<i64>,
    processes: FxHashMap<ProcessKey, Vec<i64>>,
}

impl Epochs {
    fn new(directory: &Directory, methods: &MethodTracker) -> Self {
        let mut epochs = Self::default();
        for image in directory.images.images() {
            let owner = if image.pid == 0 { None } else { directory.process_at(image.pid, image.first_seen) };
            let list = match owner {
                None => &mut epochs.kernel,
                Some(process) => epochs.processes.entry(process).or_default(),
            };
            // At the time of the unload it still counts as loaded.
            list.extend(image.load.into_iter().chain(image.unload.map(|t| t.saturating_add(1))));
        }
        for (pid, times) in methods.changes() {
            for time in times {
                if let Some(process) = directory.process_at(pid, time) {
                    epochs.processes.entry(process).or_default().push(time);
                }
            }
        }
        epochs.kernel.sort_unstable();
        epochs.processes.values_mut().for_each(|times| times.sort_unstable());
        epochs
    }

    fn at(&self, place: Place) -> usize {
        let before = |times: &Vec<i64>| times.partition_point(|t| *t <= place.time);
        let own = place.process.and_then(|process| self.processes.get(&process)).map_or(0, before);
        before(&self.kernel) + own
    }
}
