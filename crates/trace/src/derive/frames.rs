//! Stacks as lists of methods.

use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::TableSource;
use super::columns::{Get, int32, int64, text, whole_int32, whole_int64};
use crate::interner::Interner;
use crate::sink::SinkError;
use crate::table::{Frame, Method, Module, Row, Stack};
use crate::tags::{Frames, TagSet, Tagged};

/// A method, or its substitute if there are no symbols. Without symbols there are millions of
/// these, so texts are created only for rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct MethodName {
    /// Position among the distinct modules.
    module: Option<u32>,
    name: Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Name {
    /// Position among the distinct names.
    Known(u32),
    /// Offset in the module, or the address.
    Offset(u64),
}

/// Index of a method among the methods of the frames.
pub(super) type MethodId = u32;

/// All stacks with the methods of their frames.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    modules: Texts<ModuleName>,
    names: Texts<Arc<str>>,
    methods: Vec<MethodName>,
    of_frame: Vec<MethodId>,
    /// Parent and frame of each node; a parent is always smaller.
    nodes: Vec<(u32, u32)>,
}

/// Distinct texts, and which of them each row of a table has.
#[derive(Debug)]
struct Texts<T> {
    distinct: Vec<T>,
    of_row: Vec<u32>,
    known: FxHashMap<T, u32>,
}

impl<T> Default for Texts<T> {
    fn default() -> Self {
        Self {
            distinct: Vec::new(),
            of_row: Vec::new(),
            known: FxHashMap::default(),
        }
    }
}

impl<T: Clone + Eq + Hash> Texts<T> {
    /// Takes the text of the next row.
    fn push(&mut self, text: T) {
        let next = self.distinct.len() as u32;
        let id = *self.known.entry(text).or_insert_with_key(|text| {
            self.distinct.push(text.clone());
            next
        });
        self.of_row.push(id);
    }

    fn of(&self, row: Option<i32>) -> Option<u32> {
        self.of_row.get(usize::try_from(row?).ok()?).copied()
    }
}

/// Marks a missing parent.
const NONE: u32 = u32::MAX;

/// Expands stacks to methods, with a cache of recent stacks.
#[derive(Debug)]
pub(super) struct Expander<'s> {
    stacks: &'s Stacks,
    expanded: FxHashMap<i32, Arc<[(MethodId, u32)]>>,
    expanded_methods: usize,
    /// The latest round in which each method was seen.
    seen: Vec<u32>,
    round: u32,
}

/// Methods of expanded stacks that are kept, eight bytes each.
const MAX_EXPANDED: usize = 1 << 22;

impl Stacks {
    /// Reads frames and stacks.
    pub(super) fn read(source: &dyn TableSource) -> Result<Self, SinkError> {
        let mut stacks = Self::read_frames(source)?;
        stacks.read_nodes(source)?;
        Ok(stacks)
    }

    /// Reads only frames.
    pub(super) fn read_frames(source: &dyn TableSource) -> Result<Self, SinkError> {
        let mut stacks = Self {
            modules: read_modules(source)?,
            names: read_methods(source)?,
            ..Self::default()
        };
        let mut ids: FxHashMap<MethodName, MethodId> = FxHashMap::default();
        source.scan(
            Frame::TABLE,
            &["module_id", "rva", "address", "method_id"],
            &mut |batch| {
                let module = int32(batch, "module_id")?;
                let rva = int64(batch, "rva")?;
                let method = int32(batch, "method_id")?;
                for (row, address) in whole_int64(batch, "address")?.iter().enumerate() {
                    // Without names every offset in a module is a method of its own: nothing shows
                    // which offsets belong together.
                    let offset = || rva.get(row).unwrap_or(*address).cast_unsigned();
                    let known = stacks.names.of(method.get(row)).map(Name::Known);
                    let name = known.unwrap_or_else(|| Name::Offset(offset()));
                    let name = MethodName {
                        module: stacks.modules.of(module.get(row)),
                        name,
                    };
                    let next = stacks.methods.len() as MethodId;
                    let id = *ids.entry(name).or_insert(next);
                    if id == next {
                        stacks.methods.push(name);
                    }
                    stacks.of_frame.push(id);
                }
                Ok(())
            },
        )?;
        Ok(stacks)
    }

    fn read_nodes(&mut self, source: &dyn TableSource) -> Result<(), SinkError> {
        source.scan(Stack::TABLE, &["parent_id", "frame_id"], &mut |batch| {
            let parent = int32(batch, "parent_id")?;
            let frames = whole_int32(batch, "frame_id")?;
            for (row, frame) in frames.iter().enumerate() {
                let own = self.nodes.len() as u32;
                // A file can contain anything: a parent that does not come before its child could
                // cause an endless loop.
                let parent = parent.get(row).map(|id| id as u32).filter(|id| *id < own);
                self.nodes.push((parent.unwrap_or(NONE), *frame as u32));
            }
            Ok(())
        })
    }

    /// Number of methods.
    pub(super) fn methods(&self) -> usize {
        self.methods.len()
    }

    /// The method of a frame.
    pub(super) fn of_frame(&self, frame: i32) -> Option<MethodId> {
        self.of_frame.get(usize::try_from(frame).ok()?).copied()
    }

    /// Name of a method: the offset in the module or the address, such as `+0x1a2b`, if the name is
    /// unknown.
    pub(super) fn name(&self, method: MethodId) -> Option<String> {
        Some(match self.methods.get(method as usize)?.name {
            Name::Known(id) => self.names.distinct.get(id as usize)?.to_string(),
            Name::Offset(offset) => format!("+{offset:#x}"),
        })
    }

    /// The name of a method; empty if a damaged file has none.
    pub(super) fn text(&self, method: MethodId) -> String {
        self.name(method).unwrap_or_default()
    }

    /// The tag of every stack.
    pub(super) fn tagged(&self, set: &TagSet) -> Tagged {
        Tagged::new(set, self, self.nodes.len(), |node| {
            let (parent, frame) = self
                .nodes
                .get(node as usize)
                .copied()
                .unwrap_or((NONE, NONE));
            let method = self.of_frame.get(frame as usize).copied().unwrap_or(NONE);
            (Some(parent).filter(|parent| *parent != NONE), method)
        })
    }

    /// Path and file name of the module of a method.
    pub(super) fn module(&self, method: MethodId) -> ModuleName {
        let module = self
            .methods
            .get(method as usize)
            .and_then(|method| method.module);
        module
            .and_then(|id| self.modules.distinct.get(id as usize))
            .cloned()
            // Code outside of modules has neither.
            .unwrap_or((None, None))
    }
}

/// Stacks are tagged by their methods.
impl Frames for Stacks {
    fn count(&self) -> usize {
        self.methods.len()
    }

    fn module(&self, method: u32) -> Option<&str> {
        let module = self.methods.get(method as usize)?.module?;
        self.modules.distinct.get(module as usize)?.1.as_deref()
    }

    fn method(&self, method: u32) -> Option<&str> {
        match self.methods.get(method as usize)?.name {
            Name::Known(id) => self.names.distinct.get(id as usize).map(|name| &**name),
            Name::Offset(_) => None,
        }
    }
}

impl<'s> Expander<'s> {
    pub(super) fn new(stacks: &'s Stacks) -> Self {
        let seen = vec![0; stacks.methods()];
        Self {
            stacks,
            expanded: FxHashMap::default(),
            expanded_methods: 0,
            seen,
            round: 0,
        }
    }

    /// The stacks that it expands.
    pub(super) const fn stacks(&self) -> &'s Stacks {
        self.stacks
    }

    /// The methods of a stack, each once, with the number of frames between its first occurrence
    /// and the innermost frame; innermost first.
    pub(super) fn expand(&mut self, stack: i32) -> Arc<[(MethodId, u32)]> {
        if let Some(known) = self.expanded.get(&stack) {
            return Arc::clone(known);
        }
        // A recursive method counts once, at its innermost frame. Otherwise its time would be
        // counted several times.
        let mut list = Vec::new();
        // A number for each round saves clearing the list for each stack. After an overflow,
        // numbers of old rounds would be mistaken for the current one.
        if self.round == u32::MAX {
            self.seen.fill(0);
            self.round = 0;
        }
        self.round += 1;
        let mut at = u32::try_from(stack).unwrap_or(NONE);
        let mut depth = 0;
        while let Some((parent, frame)) = self.stacks.nodes.get(at as usize) {
            if let Some(method) = self.stacks.of_frame.get(*frame as usize)
                && let Some(seen) = self.seen.get_mut(*method as usize)
                && std::mem::replace(seen, self.round) != self.round
            {
                list.push((*method, depth));
            }
            at = *parent;
            depth += 1;
        }
        // All entries are dropped at once: tracking the least recently used one would cost more
        // than expanding a few stacks again.
        self.expanded_methods += list.len();
        if self.expanded_methods > MAX_EXPANDED {
            self.expanded.clear();
            self.expanded_methods = list.len();
        }
        let list: Arc<[(MethodId, u32)]> = list.into();
        self.expanded.insert(stack, Arc::clone(&list));
        list
    }
}

/// Path and file name of a module.
type ModuleName = (Option<Arc<str>>, Option<Arc<str>>);

/// Path and file name of each module.
fn read_modules(source: &dyn TableSource) -> Result<Texts<ModuleName>, SinkError> {
    let mut modules = Texts::default();
    let mut texts = Interner::default();
    source.scan(Module::TABLE, &["path", "name"], &mut |batch| {
        let path = text(batch, "path")?;
        let name = text(batch, "name")?;
        for row in 0..batch.num_rows() {
            modules.push((
                path.get(row).map(|t| texts.intern(t)),
                name.get(row).map(|t| texts.intern(t)),
            ));
        }
        Ok(())
    })?;
    Ok(modules)
}

fn read_methods(source: &dyn TableSource) -> Result<Texts<Arc<str>>, SinkError> {
    let mut methods = Texts::default();
    source.scan(Method::TABLE, &["name"], &mut |batch| {
        let name = text(batch, "name")?;
        (0..batch.num_rows()).for_each(|row| methods.push(Arc::from(name.get(row).unwrap_or(""))));
        Ok(())
    })?;
    Ok(methods)
}
