//! Stack tags of the stacks of an extract.

use std::collections::HashMap;
use std::sync::Arc;

use etwkit_trace::tags::{TagSet, Tagged};

use super::{Node, TraceFrames, at};
use crate::functions::default_tags;

/// Replaces the name of a missing frame.
const NO_NAME: u32 = u32::MAX;

impl TraceFrames {
    /// Returns the tag of every stack in the set `default`, computed once.
    #[must_use]
    pub fn tagged_by_default(&self) -> &Arc<Tagged> {
        self.by_default
            .get_or_init(|| Arc::new(self.tag(default_tags())))
    }

    /// Returns the tag of every stack by the rules of a set, equal to the table `cpu_tag`. Tags of
    /// the set `default` are kept for later questions.
    #[must_use]
    pub fn tagged(&self, set: &TagSet) -> Arc<Tagged> {
        match std::ptr::eq(set, default_tags()) {
            true => Arc::clone(self.tagged_by_default()),
            false => Arc::new(self.tag(set)),
        }
    }

    fn tag(&self, set: &TagSet) -> Tagged {
        // Rules are matched against names, of which there are far fewer than frames.
        let mut names = Vec::new();
        let mut known = HashMap::new();
        let number = |frame: &super::Frame| {
            // As for `cpu_tag`, code that no file holds has no module, even if its method names
            // one.
            let module = at(&self.modules, frame.module)
                .and_then(Option::as_ref)
                .map(|module| &*module.name);
            let method = at(&self.methods, frame.method)
                .and_then(Option::as_ref)
                .map(|method| &*method.name);
            *known.entry((module, method)).or_insert_with(|| {
                names.push((module, method));
                u32::try_from(names.len() - 1).unwrap_or(NO_NAME)
            })
        };
        let of_frame: Vec<u32> = self.frames.iter().map(number).collect();
        Tagged::new(set, names.as_slice(), self.nodes.len(), |node| {
            let node = self
                .nodes
                .get(node as usize)
                .copied()
                .unwrap_or(Node::MISSING);
            let name = at(&of_frame, node.frame).copied().unwrap_or(NO_NAME);
            (u32::try_from(node.parent).ok(), name)
        })
    }
}
