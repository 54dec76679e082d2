//! Methods of stacks, by number.

use std::collections::HashMap;

use super::call_tree::TreeLine;
use super::tree::TreeRow;
use etwkit_sql::frames::TraceFrames;

/// A method by module and name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    path: Option<String>,
    module: Option<String>,
    /// Missing for stacks that were not recorded.
    pub(crate) method: Option<String>,
}

/// Numbers of methods: frames of one method have the same one.
pub(crate) struct Names<'f> {
    frames: &'f TraceFrames,
    of_frame: HashMap<i32, u32>,
    known: HashMap<Name, u32>,
    all: Vec<Name>,
}

impl<'f> Names<'f> {
    pub(crate) fn new(frames: &'f TraceFrames) -> Self {
        Self {
            frames,
            of_frame: HashMap::new(),
            known: HashMap::new(),
            all: Vec::new(),
        }
    }

    fn number(&mut self, name: Name) -> u32 {
        let next = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        *self.known.entry(name).or_insert_with_key(|name| {
            self.all.push(name.clone());
            next
        })
    }

    fn frame(&mut self, frame_id: i32) -> u32 {
        if let Some(known) = self.of_frame.get(&frame_id) {
            return *known;
        }
        let text = |text: Option<&str>| text.map(str::to_owned);
        let name = Name {
            path: text(self.frames.module_path(frame_id)),
            module: text(self.frames.module(frame_id)),
            method: self.frames.method_or_offset(frame_id),
        };
        let number = self.number(name);
        self.of_frame.insert(frame_id, number);
        number
    }

    /// Returns the methods of a stack, innermost first; one without a name for a stack that was not
    /// recorded.
    pub(crate) fn stack(&mut self, stack_id: Option<i64>) -> Vec<u32> {
        let frames = self.frames;
        let ids = stack_id
            .and_then(|id| i32::try_from(id).ok())
            .map(|id| frames.stack(id));
        let stack: Vec<u32> = ids
            .into_iter()
            .flatten()
            .map(|frame| self.frame(frame))
            .collect();
        // A weight without a stack keeps a node of its own, so that trees still add up to the sums
        // of processes.
        if stack.is_empty() {
            vec![self.number(Name::default())]
        } else {
            stack
        }
    }

    /// Returns the module of a method, or the method itself if its module is not known.
    pub(crate) fn module(&mut self, name: u32) -> u32 {
        match self
            .of(name)
            .filter(|of| of.module.is_some() && of.method.is_some())
            .cloned()
        {
            Some(of) => self.number(Name { method: None, ..of }),
            None => name,
        }
    }

    /// Returns `true` if it is more than an address.
    pub(crate) fn is_named(&self, name: u32) -> bool {
        let method = self.of(name).and_then(|of| of.method.as_deref());
        method.is_some_and(|method| !method.starts_with('+'))
    }

    pub(crate) fn of(&self, name: u32) -> Option<&Name> {
        self.all.get(name as usize)
    }

    pub(crate) fn text(&self, name: u32) -> String {
        self.of(name).map_or_else(String::new, Name::text)
    }

    pub(crate) fn row(&self, of: &TreeRow, id: usize, line: &TreeLine<u32>, total: i64) -> TreeRow {
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let name = line.name.and_then(|name| self.of(name));
        let percent = if total > 0 {
            line.inclusive as f64 * 100.0 / total as f64
        } else {
            0.0
        };
        TreeRow {
            id: number(id),
            parent: line.parent.map(number),
            depth: number(line.depth),
            module: name.and_then(|name| name.module.clone()),
            method: name.and_then(|name| name.method.clone()),
            folded: number(line.folded),
            inclusive_ns: line.inclusive,
            exclusive_ns: line.exclusive,
            samples: line.samples,
            percent,
            ..of.clone()
        }
    }
}

impl Name {
    /// Formats `module!method`, for code without a name `module+0x1a2b`.
    pub(crate) fn text(&self) -> String {
        let method = self.method.as_deref().unwrap_or("");
        let module = self.module.as_deref().unwrap_or("?");
        if method.is_empty() {
            return module.to_owned();
        }
        if method.starts_with('+') {
            format!("{module}{method}")
        } else {
            format!("{module}!{method}")
        }
    }
}
