//! Frames, methods and modules by number: the names of frames, and the frames of stacks.
//!
//! They are read once for a session, on the first access; memory grows with the distinct frames and
//! stack nodes of the extracts.

mod load;
mod rooted;
mod tags;

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, OnceLock};

use etwkit_trace::code_hash::{of_method, of_offset, of_stacks};
use etwkit_trace::tags::Tagged;

pub(crate) use load::Loader;
pub use rooted::Rooted;

/// Maximum number of frames. Deeper stacks are damage: Windows records a few hundred frames.
const MAX_FRAMES: usize = 4096;
/// Bytes of the text of one stack. Real ones have some ten thousand; a stranger's extract may join
/// a long chain with long names.
const MAX_STACK_TEXT: usize = 1 << 20;
/// Last line of a text that does not have all frames.
const CUT: &str = "… (frames further out are left out)";

/// Frames and stacks of all extracts of a session.
#[derive(Debug, Default)]
pub struct Frames {
    traces: Vec<TraceFrames>,
}

impl Frames {
    /// Returns frames and stacks of one extract.
    #[must_use]
    pub fn trace(&self, trace_id: i32) -> Option<&TraceFrames> {
        self.traces.get(usize::try_from(trace_id).ok()?)
    }

    /// Returns frames and stacks of all extracts, by `trace_id`.
    #[must_use]
    pub fn traces(&self) -> &[TraceFrames] {
        &self.traces
    }
}

/// Frames and stacks of one extract.
///
/// Numbers are dense, so each one is the position of its row; rows with other numbers are damage
/// and are left out.
#[derive(Debug, Default)]
pub struct TraceFrames {
    nodes: Vec<Node>,
    frames: Vec<Frame>,
    modules: Vec<Option<Module>>,
    methods: Vec<Option<Method>>,
    /// Tags of the set `default`, after the first access.
    by_default: OnceLock<Arc<Tagged>>,
    /// Tags of the sets that were used last.
    recent: Mutex<tags::Recent>,
    /// Stacks by their methods, after the first access.
    rooted: OnceLock<Rooted>,
}

/// A node of the tree of stacks; −1 means none.
#[derive(Debug, Clone, Copy)]
struct Node {
    parent: i32,
    frame: i32,
}

impl Node {
    const MISSING: Self = Self {
        parent: -1,
        frame: -1,
    };
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    module: i32,
    method: i32,
    /// Offset in the module; missing for code that was compiled at run time.
    rva: Option<i64>,
    address: i64,
    /// Identity of the method: frames of one method have the same number.
    identity: u32,
}

impl Frame {
    /// Its offset in the module. Only frames outside of modules have none.
    fn offset(&self) -> i64 {
        self.rva.unwrap_or(0)
    }
}

#[derive(Debug)]
struct Module {
    name: Box<str>,
    path: Box<str>,
}

#[derive(Debug)]
struct Method {
    name: Box<str>,
    module: i32,
}

fn at<T>(all: &[T], number: i32) -> Option<&T> {
    // Negative numbers fail the conversion.
    all.get(usize::try_from(number).ok()?)
}

impl TraceFrames {
    /// Returns the number of stack nodes, which are numbered from 0.
    #[must_use]
    pub fn stacks(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the number of frames, which are numbered from 0.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Returns the numbers of the frames of a stack, innermost first. A stack that does not exist
    /// has none; a cycle in a damaged extract ends the list. Frames after the first 4,096 are left
    /// out.
    pub fn stack(&self, stack_id: i32) -> impl Iterator<Item = i32> + '_ {
        // The limit counts nodes and not frames: nodes without a frame must not make a damaged
        // chain endless.
        self.walk(stack_id)
            .take(MAX_FRAMES)
            .filter(|frame| *frame >= 0)
    }

    /// Returns the caller of the innermost frame of a stack, as a stack, and that frame; −1 means
    /// none. Callers have smaller numbers.
    #[must_use]
    pub fn node(&self, stack_id: i32) -> Option<(Option<i32>, i32)> {
        let node = at(&self.nodes, stack_id)?;
        // A caller with a larger number would make a circle.
        Some((
            (0..stack_id).contains(&node.parent).then_some(node.parent),
            node.frame,
        ))
    }

    /// Returns all nodes from a stack to its outermost caller, by the number of their frame; −1
    /// means none.
    fn walk(&self, stack_id: i32) -> impl Iterator<Item = i32> + '_ {
        let mut next = stack_id;
        std::iter::from_fn(move || {
            let node = *at(&self.nodes, next)?;
            // Callers have smaller numbers; any other number is not a caller.
            // Each step goes to a smaller number, so every walk ends.
            next = if node.parent < next { node.parent } else { -1 };
            Some(node.frame)
        })
    }

    /// Appends the text of a stack: a line for each frame, innermost first. If frames are left out,
    /// since there are more than 4,096 or their text is longer than 1 MiB, the last line is a note
    /// about that.
    pub fn write_stack(&self, stack_id: i32, out: &mut String) {
        let begin = out.len();
        for (depth, frame) in self.walk(stack_id).enumerate() {
            // The text is measured before a frame is added, so one long name may exceed the limit
            // once.
            let is_cut = depth >= MAX_FRAMES || out.len() - begin > MAX_STACK_TEXT;
            // A missing frame has no text, and gets no line of its own.
            if out.len() > begin && (is_cut || frame >= 0) {
                out.push('\n');
            }
            if is_cut {
                out.push_str(CUT);
                return;
            }
            self.write(frame, out);
        }
    }

    /// Returns the identity of the method of a frame: frames with equal numbers are of one method.
    /// A method is a named one; otherwise the code at one offset of a file, in any process;
    /// otherwise an address.
    #[must_use]
    pub fn identity(&self, frame_id: i32) -> Option<u32> {
        Some(at(&self.frames, frame_id)?.identity)
    }

    /// Returns the name of a frame's method, if it has one.
    #[must_use]
    pub fn method(&self, frame_id: i32) -> Option<&str> {
        Some(&self.named(frame_id)?.name)
    }

    /// Returns the file name of the module of a frame: of the file with the code, or else of the
    /// module of its method.
    #[must_use]
    pub fn module(&self, frame_id: i32) -> Option<&str> {
        let frame = at(&self.frames, frame_id)?;
        let module = |number| {
            at(&self.modules, number)
                .and_then(Option::as_ref)
                .map(|module| &*module.name)
        };
        // Code that was compiled at run time is in no file, but its method is of a module.
        module(frame.module).or_else(|| module(self.named(frame_id)?.module))
    }

    /// Returns the number of the module that holds the code of a frame.
    #[must_use]
    pub fn module_id(&self, frame_id: i32) -> Option<i32> {
        at(&self.frames, frame_id)
            .map(|frame| frame.module)
            .filter(|module| *module >= 0)
    }

    /// Returns the path of the file that holds the code of a frame.
    #[must_use]
    pub fn module_path(&self, frame_id: i32) -> Option<&str> {
        let frame = at(&self.frames, frame_id)?;
        at(&self.modules, frame.module)?
            .as_ref()
            .map(|module| &*module.path)
    }

    /// Returns the offset of a frame in the module that holds its code; `None` without a module,
    /// and for code that was compiled at run time.
    #[must_use]
    pub fn offset(&self, frame_id: i32) -> Option<i64> {
        at(&self.frames, frame_id)
            .filter(|frame| frame.module >= 0)?
            .rva
    }

    /// Returns the method of a frame; without a name the offset in its module or its address:
    /// `+0x1a2b`. `None` for a frame that does not exist.
    #[must_use]
    pub fn method_or_offset(&self, frame_id: i32) -> Option<String> {
        let frame = at(&self.frames, frame_id)?;
        // Code without a module has no meaningful offset; its address at least sets it apart.
        let offset = if frame.module >= 0 {
            frame.offset()
        } else {
            frame.address
        };
        Some(
            self.method(frame_id)
                .map_or_else(|| format!("+{offset:#x}"), str::to_owned),
        )
    }

    fn named(&self, frame_id: i32) -> Option<&Method> {
        at(&self.methods, at(&self.frames, frame_id)?.method)?.as_ref()
    }

    /// Appends the text of a frame: `module!method`; without a name `module+0x1a2b`, the offset in
    /// the module; without a module `?!method` or `?!0x7ff812345678`, the address. Appends nothing
    /// for a frame that does not exist.
    pub fn write(&self, frame_id: i32, out: &mut String) {
        let Some(frame) = at(&self.frames, frame_id) else {
            return;
        };
        let module = self.module(frame_id);
        let method = self.method(frame_id);
        // Writing into text does not fail.
        let _ = match (module, method) {
            (_, Some(method)) => write!(out, "{}!{method}", module.unwrap_or("?")),
            (Some(module), None) => write!(out, "{module}+{:#x}", frame.offset()),
            (None, None) => write!(out, "?!{:#x}", frame.address),
        };
    }

    /// Returns the text of a frame, see [`TraceFrames::write`].
    #[must_use]
    pub fn text(&self, frame_id: i32) -> String {
        let mut text = String::new();
        self.write(frame_id, &mut text);
        text
    }

    /// Returns, for each stack, whether one of its frames, by number, is among the chosen ones.
    #[must_use]
    pub fn stacks_with(&self, chosen: impl Fn(i32) -> bool) -> Vec<bool> {
        // Frames are far fewer than stacks, so each is tested once.
        let chosen: Vec<bool> = (0..self.frames.len())
            .map(|id| i32::try_from(id).is_ok_and(&chosen))
            .collect();
        let mut with = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            // Callers come first; a caller that does not is damage and counts as none.
            // Callers were visited before, so one pass is enough.
            let inherited = at(&with, node.parent).copied().unwrap_or(false);
            with.push(inherited || at(&chosen, node.frame).copied().unwrap_or(false));
        }
        with
    }

    /// Returns, for each stack, its number in any trace, see `etwkit_trace::code_hash`.
    #[must_use]
    pub fn stack_hashes(&self) -> Vec<i64> {
        let module = |number| {
            at(&self.modules, number)
                .and_then(Option::as_ref)
                .map(|module| &*module.name)
        };
        let code = |frame: &Frame| match at(&self.methods, frame.method).and_then(Option::as_ref) {
            Some(method) => of_method(module(method.module).unwrap_or(""), &method.name),
            None => of_offset(module(frame.module), frame.rva),
        };
        // Frames are far fewer than nodes, so each code is hashed once.
        let codes: Vec<i64> = self.frames.iter().map(code).collect();
        // Frames that damage hides still count as one level.
        let unknown = of_offset(None, None);
        of_stacks(self.nodes.iter().map(|node| {
            (
                Some(node.parent),
                at(&codes, node.frame).copied().unwrap_or(unknown),
            )
        }))
    }

    /// Numbers the methods of all frames.
    fn identify(&mut self) {
        #[derive(PartialEq, Eq, Hash)]
        enum Identity {
            Method(i32),
            Place(u32, i64),
            Address(i64),
        }
        let mut paths: HashMap<String, u32> = HashMap::new();
        let mut next = 0;
        // Paths in any case are one file; numbers are compared faster than texts.
        let paths: Vec<Option<u32>> = self
            .modules
            .iter()
            .map(|module| {
                let path = module.as_ref()?.path.to_lowercase();
                next += 1;
                Some(*paths.entry(path).or_insert(next))
            })
            .collect();
        let mut known = HashMap::new();
        for frame in &mut self.frames {
            let path = at(&paths, frame.module).copied().flatten();
            // A method with a name counts as one wherever it was compiled. Without a name only the
            // place identifies code: by its file, so that processes that load it at other addresses
            // agree.
            let identity = match path {
                _ if frame.method >= 0 => Identity::Method(frame.method),
                Some(path) => Identity::Place(path, frame.offset()),
                None => Identity::Address(frame.address),
            };
            let number = u32::try_from(known.len()).unwrap_or(u32::MAX);
            frame.identity = *known.entry(identity).or_insert(number);
        }
    }
}
