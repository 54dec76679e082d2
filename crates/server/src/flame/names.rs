//! Names of nodes: each text has a number, and each method is looked up once.

use std::collections::HashMap;

use etwkit_query::frames::TraceFrames;

use super::tree::{Kinds, Node};
use crate::wire::FlameNode;

/// Names of the nodes of a tree.
pub(super) struct Names<'f> {
    pub(super) frames: &'f TraceFrames,
    texts: Vec<(String, u8)>,
    by_text: HashMap<(String, u8), u32>,
    by_identity: HashMap<u32, u32>,
    focus: Option<&'f str>,
    /// Names that are the focus.
    focused: Vec<bool>,
    /// In which round a node of the tree of stacks was seen last.
    seen: Vec<u32>,
    round: u32,
}

impl<'f> Names<'f> {
    pub(super) fn new(frames: &'f TraceFrames, focus: Option<&'f str>) -> Self {
        let (texts, focused) = (Vec::new(), Vec::new());
        let (by_text, by_identity) = (HashMap::new(), HashMap::new());
        Self { frames, texts, by_text, by_identity, focus, focused, seen: vec![0; frames.stacks()], round: 0 }
    }

    /// Begins a round, in which each node of the tree of stacks is seen once.
    pub(super) fn begin_round(&mut self) {
        self.round = self.round.saturating_add(1);
    }

    /// Whether a node is seen for the first time in the round.
    pub(super) fn is_first(&mut self, stack: i32) -> bool {
        let round = self.round;
        let known = usize::try_from(stack).ok().and_then(|at| self.seen.get_mut(at));
        known.is_some_and(|known| std::mem::replace(known, round) != round)
    }

    /// Number of a text.
    pub(super) fn text(&mut self, text: &str, kind: u8) -> u32 {
        let next = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        *self.by_text.entry((text.to_owned(), kind)).or_insert_with(|| {
            self.texts.push((text.to_owned(), kind));
            self.focused.push(false);
            next
        })
    }

    /// Number of the name of a frame.
    pub(super) fn frame(&mut self, frame: i32) -> u32 {
        let identity = self.frames.identity(frame).unwrap_or(u32::MAX);
        if let Some(known) = self.by_identity.get(&identity) {
            return *known;
        }
        let (method, module) = (self.frames.method(frame), self.frames.module(frame));
        let kind = match (method, module) {
            (Some(_), _) => Kinds::METHOD,
            (None, Some(_)) => Kinds::PLACE,
            (None, None) => Kinds::UNKNOWN,
        };
        let text = self.frames.text(frame);
        let is_focus = self.focus.is_some_and(|focus| focus == text || method == Some(focus));
        let number = self.text(&text, kind);
        if let Some(focused) = usize::try_from(number).ok().and_then(|at| self.focused.get_mut(at)) {
            *focused |= is_focus;
        }
        self.by_identity.insert(identity, number);
        number
    }

    pub(super) const fn has_focus(&self) -> bool {
        self.focus.is_some()
    }

    pub(super) fn is_focus(&self, name: u32) -> bool {
        usize::try_from(name).ok().and_then(|at| self.focused.get(at)).copied().unwrap_or(false)
    }

    /// Nodes as they are sent, and the texts that they use.
    pub(super) fn used(&self, nodes: &[Node]) -> (Vec<FlameNode>, Vec<String>) {
        let (mut places, mut texts) = (HashMap::new(), Vec::new());
        let sent = nodes.iter().map(|node| {
            let (text, kind) = usize::try_from(node.name)
                .ok()
                .and_then(|at| self.texts.get(at))
                .map_or(("", Kinds::UNKNOWN), |(text, kind)| (text.as_str(), *kind));
            let name = *places.entry(node.name).or_insert_with(|| {
                texts.push(text.to_owned());
                u32::try_from(texts.len().saturating_sub(1)).unwrap_or(u32::MAX)
            });
            let Node { parent, total, own, count, .. } = *node;
            FlameNode { parent, name, total, own, count, kind }
        });
        let sent = sent.collect();
        (sent, texts)
    }
}
