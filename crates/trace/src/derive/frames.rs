//! Stacks as lists of methods.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::TableSource;
use super::columns::{Get, int32, int64, text};
use crate::interner::Interner;
use crate::sink::SinkError;
use crate::table::{Frame, Method, Module, Row, Stack};

/// A method, or what stands for one without symbols.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct MethodName {
    /// Path of the module, if there is one.
    pub(super) path: Option<Arc<str>>,
    /// File name of the module.
    pub(super) module: Option<Arc<str>>,
    /// Name, or the offset in the module or the address as `+0x1a2b`.
    pub(super) method: Arc<str>,
}

/// Number of a method among those of the frames.
pub(super) type MethodId = u32;

/// All stacks with the methods of their frames.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    names: Vec<MethodName>,
    of_frame: Vec<MethodId>,
    /// Parent and frame of each node; a parent is always smaller.
    nodes: Vec<(u32, u32)>,
}

/// No parent.
const NONE: u32 = u32::MAX;

/// The methods of stacks, and of those that were asked for lately.
#[derive(Debug)]
pub(super) struct Expander<'s> {
    stacks: &'s Stacks,
    expanded: FxHashMap<i32, Arc<[(MethodId, u32)]>>,
    expanded_methods: usize,
    /// The latest stack in which each method was met.
    seen: Vec<u32>,
    round: u32,
}

/// Methods of expanded stacks that are kept, eight bytes each.
const MAX_EXPANDED: usize = 1 << 22;

impl Stacks {
    /// Reads frames and stacks.
    pub(super) fn read(source: &dyn TableSource) -> Result<Self, SinkError> {
        let mut stacks = Self::default();
        let modules = read_modules(source)?;
        let methods = read_methods(source)?;
        let mut ids: FxHashMap<MethodName, MethodId> = FxHashMap::default();
        let unknown = (None, None);
        source.scan(Frame::TABLE, &["module_id", "rva", "address", "method_id"], &mut |batch| {
            let (module, rva) = (int32(batch, "module_id")?, int64(batch, "rva")?);
            let (address, method) = (int64(batch, "address")?, int32(batch, "method_id")?);
            for row in 0..batch.num_rows() {
                let module = module.get(row).and_then(|id| modules.get(id as usize)).cloned();
                let (path, module) = module.unwrap_or(unknown.clone());
                let known = method.get(row).and_then(|id| methods.get(id as usize)).cloned();
                let offset = || rva.get(row).or(address.get(row)).unwrap_or_default();
                let method = known.unwrap_or_else(|| Arc::from(format!("+{:#x}", offset())));
                let name = MethodName { path, module, method };
                let next = stacks.names.len() as MethodId;
                let id = *ids.entry(name.clone()).or_insert(next);
                if id == next {
                    stacks.names.push(name);
                }
                stacks.of_frame.push(id);
            }
            Ok(())
        })?;
        source.scan(Stack::TABLE, &["parent_id", "frame_id"], &mut |batch| {
            let (parent, frame) = (int32(batch, "parent_id")?, int32(batch, "frame_id")?);
            for row in 0..batch.num_rows() {
                let own = stacks.nodes.len() as u32;
                // A file can claim anything; a parent that does not come before would never end.
                let parent = parent.get(row).map(|id| id as u32).filter(|id| *id < own);
                stacks.nodes.push((parent.unwrap_or(NONE), frame.get(row).unwrap_or_default() as u32));
            }
            Ok(())
        })?;
        Ok(stacks)
    }

    /// Number of methods.
    pub(super) fn methods(&self) -> usize {
        self.names.len()
    }

    /// Name of a method.
    pub(super) fn name(&self, method: MethodId) -> Option<&MethodName> {
        self.names.get(method as usize)
    }
}

impl<'s> Expander<'s> {
    pub(super) fn new(stacks: &'s Stacks) -> Self {
        let seen = vec![0; stacks.methods()];
        Self { stacks, expanded: FxHashMap::default(), expanded_methods: 0, seen, round: 0 }
    }

    /// What it expands.
    pub(super) const fn stacks(&self) -> &'s Stacks {
        self.stacks
    }

    /// The methods of a stack, each once, with the number of frames between its first occurrence and the innermost frame;
    /// innermost first.
    pub(super) fn expand(&mut self, stack: i32) -> Arc<[(MethodId, u32)]> {
        if let Some(known) = self.expanded.get(&stack) {
            return Arc::clone(known);
        }
        let mut list = Vec::new();
        if self.round == u32::MAX {
            self.seen.fill(0);
            self.round = 0;
        }
        self.round += 1;
        let (mut at, mut depth) = (u32::try_from(stack).unwrap_or(NONE), 0);
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
fn read_modules(source: &dyn TableSource) -> Result<Vec<ModuleName>, SinkError> {
    let mut modules = Vec::new();
    let mut texts = Interner::default();
    source.scan(Module::TABLE, &["path", "name"], &mut |batch| {
        let (path, name) = (text(batch, "path")?, text(batch, "name")?);
        for row in 0..batch.num_rows() {
            modules.push((path.get(row).map(|t| texts.intern(t)), name.get(row).map(|t| texts.intern(t))));
        }
        Ok(())
    })?;
    Ok(modules)
}

fn read_methods(source: &dyn TableSource) -> Result<Vec<Arc<str>>, SinkError> {
    let mut methods = Vec::new();
    let mut texts = Interner::default();
    source.scan(Method::TABLE, &["name"], &mut |batch| {
        let name = text(batch, "name")?;
        methods.extend((0..batch.num_rows()).map(|row| texts.intern(name.get(row).unwrap_or_default())));
        Ok(())
    })?;
    Ok(methods)
}
