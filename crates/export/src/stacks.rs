//! Stacks with methods instead of addresses: stacks that differ only in addresses within methods
//! become one.

use std::cmp::Ordering;
use std::collections::HashMap;

use etwkit_sql::Session;
use etwkit_sql::frames::TraceFrames;

/// Number of a stack: of the node of its innermost frame.
pub(crate) type Node = u32;

/// A tree of stacks, and the names of their frames in the order of their first occurrence. Grows
/// with the distinct stacks of an extract.
pub(crate) struct Stacks<'f> {
    frames: &'f TraceFrames,
    nodes: Vec<NodeAt>,
    /// Nodes by caller and name.
    children: HashMap<(Option<Node>, u32), Node>,
    names: Names,
    /// Names by identity of the method.
    methods: Vec<Option<u32>>,
    /// Names of frames that are not code, separate from methods: a method may have the same name.
    labels: HashMap<String, u32>,
    /// Nodes by stack of the extract.
    known: Vec<Option<Node>>,
}

/// The position of a node.
#[derive(Debug, Clone, Copy)]
struct NodeAt {
    caller: Option<Node>,
    name: u32,
    depth: u32,
}

/// Names of frames, by number, in the order of their first occurrence.
#[derive(Debug, Default)]
pub struct Names {
    all: Vec<Name>,
    modules: HashMap<i32, Module>,
}

/// The name of a frame.
#[derive(Debug)]
struct Name {
    text: String,
    /// The file that holds its code: its name, and its number in the extract.
    module: Option<(String, Option<i32>)>,
}

etwkit_question::declare! {
    /// The symbol file that belongs to a module.
    row Module {
        module_id: i64 = "The module.",
        pdb_guid: String = "GUID of its symbol file.",
        pdb_age: i64 = "Age of its symbol file.",
    }
}

impl Names {
    /// Returns their number.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns `true` if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns all of them in the order of their numbers.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|name| name.text.as_str())
    }

    /// Returns a name; empty for an invalid number.
    #[must_use]
    pub fn text(&self, number: u32) -> &str {
        self.all.get(number as usize).map_or("", |name| &name.text)
    }

    /// Returns the file name of the module that holds the code of a frame.
    #[must_use]
    pub fn module(&self, number: u32) -> Option<&str> {
        self.all
            .get(number as usize)?
            .module
            .as_ref()
            .map(|(name, _)| name.as_str())
    }

    /// Returns the identity of that module for symbol servers: the digits of the GUID of its symbol
    /// file and its age, hexadecimal.
    #[must_use]
    pub fn build_id(&self, number: u32) -> Option<String> {
        let (_, module) = self.all.get(number as usize)?.module.as_ref()?;
        let Module {
            pdb_guid, pdb_age, ..
        } = self.modules.get(module.as_ref()?)?;
        let digits = pdb_guid
            .chars()
            .filter(char::is_ascii_hexdigit)
            .collect::<String>();
        Some(format!("{}{pdb_age:X}", digits.to_uppercase()))
    }
}

/// Returns the method of a frame, or its offset. A frame that a damaged extract lacks is `?`, like a
/// process without a name.
pub(crate) fn method_name(frames: &TraceFrames, frame: i32) -> String {
    frames
        .method_or_offset(frame)
        .unwrap_or_else(|| "?".to_owned())
}

/// Name of stacks that were not recorded.
const NO_STACK: &str = "(no stack)";

impl<'f> Stacks<'f> {
    /// Creates a tree without stacks.
    ///
    /// # Errors
    /// The query for symbol files fails.
    pub(crate) fn new(frames: &'f TraceFrames, session: &Session) -> etwkit_question::Result<Self> {
        let sql = "SELECT module_id, pdb_guid, pdb_age FROM module WHERE pdb_guid IS NOT NULL";
        let modules = etwkit_question::ask(session, sql)?.into_iter();
        let numbered = |module: Module| Some((i32::try_from(module.module_id).ok()?, module));
        let names = Names {
            all: Vec::new(),
            modules: modules.filter_map(numbered).collect(),
        };
        Ok(Self {
            frames,
            nodes: Vec::new(),
            children: HashMap::new(),
            names,
            methods: Vec::new(),
            labels: HashMap::new(),
            known: Vec::new(),
        })
    }

    /// Returns names of frames, by number.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the node of a stack of the extract, or the node for a missing stack.
    pub(crate) fn node(&mut self, stack_id: Option<i64>) -> Node {
        let stack_id = stack_id.and_then(|id| i32::try_from(id).ok());
        let place = stack_id
            .and_then(|id| usize::try_from(id).ok())
            .filter(|at| *at < self.frames.stacks());
        if let Some(node) = place.and_then(|at| self.known.get(at).copied().flatten()) {
            return node;
        }
        let mut stack: Vec<i32> = stack_id
            .into_iter()
            .flat_map(|id| self.frames.stack(id))
            .collect();
        stack.reverse();
        let mut node = None;
        for frame in stack {
            if let Some(name) = self.method(frame) {
                node = Some(self.child(node, name));
            }
        }
        // A stack without any known frame keeps its weight under a name of its own: dropped, the
        // sum of the profile would no longer be the CPU of the process.
        let node = node.unwrap_or_else(|| {
            let name = self.label(NO_STACK);
            self.child(None, name)
        });
        if let Some(at) = place {
            // Many rows have the same stack, whose frames are looked up once.
            if self.known.len() <= at {
                self.known.resize(at + 1, None);
            }
            if let Some(known) = self.known.get_mut(at) {
                *known = Some(node);
            }
        }
        node
    }

    /// Returns numbers of the names of a stack, outermost first.
    pub(crate) fn path(&self, node: Node) -> Vec<u32> {
        let mut path: Vec<u32> = self.up(node).map(|place| place.name).collect();
        path.reverse();
        path
    }

    /// Compares stacks by the names of their frames, outermost first; a caller comes before its
    /// callees.
    pub(crate) fn compare(&self, a: Node, b: Node) -> Ordering {
        let depth = |node| self.place(node).map_or(0, |place| place.depth);
        let depth_a = depth(a);
        let depth_b = depth(b);
        let lift = |node: Node, by: u32| {
            let mut node = Some(node);
            for _ in 0..by {
                node = node.and_then(|node| self.place(node)?.caller);
            }
            node
        };
        // Both are brought to one depth, then up together to their last common node: names are
        // compared once, and no path is built.
        let mut pair = (
            lift(a, depth_a.saturating_sub(depth_b)),
            lift(b, depth_b.saturating_sub(depth_a)),
        );
        if pair.0 == pair.1 {
            // One of the two is a caller of the other, and a caller comes first.
            return depth_a.cmp(&depth_b);
        }
        loop {
            let (Some(a), Some(b)) = (
                pair.0.and_then(|a| self.place(a)),
                pair.1.and_then(|b| self.place(b)),
            ) else {
                return Ordering::Equal;
            };
            if a.caller == b.caller {
                let text = |place: &NodeAt| self.names.text(place.name);
                // Methods of different modules may have one name; their numbers, which follow the
                // order of rows, keep the order the same in every run.
                return text(a).cmp(text(b)).then(a.name.cmp(&b.name));
            }
            pair = (a.caller, b.caller);
        }
    }

    fn place(&self, node: Node) -> Option<&NodeAt> {
        self.nodes.get(node as usize)
    }

    fn up(&self, node: Node) -> impl Iterator<Item = &NodeAt> {
        std::iter::successors(self.place(node), |place| self.place(place.caller?))
    }

    fn child(&mut self, caller: Option<Node>, name: u32) -> Node {
        let next = number(self.nodes.len());
        let depth = caller
            .and_then(|caller| self.place(caller))
            .map_or(0, |place| place.depth + 1);
        let node = *self.children.entry((caller, name)).or_insert(next);
        if node == next {
            self.nodes.push(NodeAt {
                caller,
                name,
                depth,
            });
        }
        node
    }

    /// Returns the number of the name of a frame that is not code.
    pub(crate) fn label(&mut self, label: &str) -> u32 {
        if let Some(name) = self.labels.get(label) {
            return *name;
        }
        let name = self.name(Name {
            text: label.to_owned(),
            module: None,
        });
        self.labels.insert(label.to_owned(), name);
        name
    }

    /// Returns the name of the method of a frame; `None` for a frame that does not exist.
    fn method(&mut self, frame: i32) -> Option<u32> {
        let identity = usize::try_from(self.frames.identity(frame)?).ok()?;
        if let Some(name) = self.methods.get(identity).copied().flatten() {
            return Some(name);
        }
        let module = self
            .frames
            .module(frame)
            .map(|module| (module.to_owned(), self.frames.module_id(frame)));
        let name = self.name(Name {
            text: self.frames.text(frame),
            module,
        });
        if self.methods.len() <= identity {
            self.methods.resize(identity + 1, None);
        }
        *self.methods.get_mut(identity)? = Some(name);
        Some(name)
    }

    fn name(&mut self, name: Name) -> u32 {
        let number = number(self.names.len());
        self.names.all.push(name);
        number
    }
}

/// Converts a count to a number, which never overflows: frames and stacks have numbers of 31 bits
/// in an extract.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
