//! Names of nodes: each text has a number, and each method is looked up once.
//!
//! Frames of one method can have several texts, since processes write names of modules in different
//! ways (`KERNEL32.DLL`, `kernel32.dll`). A method has the name of its frame with the smallest
//! number.

use std::collections::{HashMap, HashSet};

use etwkit_sql::frames::TraceFrames;

use super::tree::{Kinds, Node};
use crate::wire::FlameNode;

/// Names of the nodes of a tree.
pub(super) struct Names<'f> {
    pub(super) frames: &'f TraceFrames,
    texts: Vec<(String, u8)>,
    by_text: HashMap<(String, u8), u32>,
    by_identity: HashMap<u32, u32>,
    /// The first frame of each method.
    first: Vec<i32>,
    /// Texts that are the focus, if there is one.
    focus: Option<HashSet<String>>,
    /// True for each name that is the focus.
    focused: Vec<bool>,
    /// The round in which each node of the stack tree was last seen.
    seen: Vec<u32>,
    round: u32,
}

impl<'f> Names<'f> {
    pub(super) fn new(frames: &'f TraceFrames, focus: Option<&str>) -> Self {
        let texts = Vec::new();
        let focused = Vec::new();
        let by_text = HashMap::new();
        let by_identity = HashMap::new();
        let first = first(frames);
        let focus = focus.map(|focus| called(frames, &first, focus));
        let seen = vec![0; frames.stacks()];
        Self {
            frames,
            texts,
            by_text,
            by_identity,
            first,
            focus,
            focused,
            seen,
            round: 0,
        }
    }

    /// Begins a round, in which each node of the tree of stacks is seen once.
    pub(super) fn begin_round(&mut self) {
        // Rounds are distinguished by a number, so that the list of seen nodes does not have to be
        // cleared for each group: it has an entry for each stack.
        self.round = self.round.saturating_add(1);
    }

    /// True if a node is seen for the first time in this round.
    pub(super) fn is_first(&mut self, stack: i32) -> bool {
        let round = self.round;
        let known = usize::try_from(stack)
            .ok()
            .and_then(|at| self.seen.get_mut(at));
        known.is_some_and(|known| std::mem::replace(known, round) != round)
    }

    /// Returns the number of a text.
    pub(super) fn text(&mut self, text: &str, kind: u8) -> u32 {
        let next = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        *self
            .by_text
            .entry((text.to_owned(), kind))
            .or_insert_with(|| {
                let is_frame = kind >= Kinds::METHOD;
                // Only frames can be the focus: a process or tag may have the same text as a
                // method.
                self.focused.push(
                    is_frame
                        && self
                            .focus
                            .as_ref()
                            .is_some_and(|focus| focus.contains(text)),
                );
                self.texts.push((text.to_owned(), kind));
                next
            })
    }

    /// Returns the number of the name of a frame.
    pub(super) fn frame(&mut self, frame: i32) -> u32 {
        // By method: frames of one method are one node, regardless of their addresses.
        let identity = self.frames.identity(frame).unwrap_or(u32::MAX);
        if let Some(known) = self.by_identity.get(&identity) {
            return *known;
        }
        let frame = representative(self.frames, &self.first, frame);
        let kind = match (self.frames.method(frame), self.frames.module(frame)) {
            (Some(_), _) => Kinds::METHOD,
            (None, Some(_)) => Kinds::PLACE,
            (None, None) => Kinds::UNKNOWN,
        };
        let number = self.text(&self.frames.text(frame), kind);
        self.by_identity.insert(identity, number);
        number
    }

    /// Returns the text and the kind of a name.
    pub(super) fn named(&self, name: u32) -> (&str, u8) {
        usize::try_from(name)
            .ok()
            .and_then(|at| self.texts.get(at))
            .map_or(("", Kinds::UNKNOWN), |(text, kind)| (text.as_str(), *kind))
    }

    /// True if a name has this text.
    pub(super) fn is(&self, name: u32, text: &str) -> bool {
        usize::try_from(name)
            .ok()
            .and_then(|at| self.texts.get(at))
            .is_some_and(|(known, _)| known == text)
    }

    pub(super) const fn has_focus(&self) -> bool {
        self.focus.is_some()
    }

    pub(super) fn is_focus(&self, name: u32) -> bool {
        usize::try_from(name)
            .ok()
            .and_then(|at| self.focused.get(at))
            .copied()
            .unwrap_or(false)
    }

    /// Returns the nodes for the answer, and the texts that they use.
    pub(super) fn used(&self, nodes: &[Node]) -> (Vec<FlameNode>, Vec<String>) {
        let mut places = HashMap::new();
        let mut texts = Vec::new();
        let sent = nodes.iter().map(|node| {
            let (text, kind) = self.named(node.name);
            let name = *places.entry(node.name).or_insert_with(|| {
                texts.push(text.to_owned());
                u32::try_from(texts.len().saturating_sub(1)).unwrap_or(u32::MAX)
            });
            let Node {
                parent,
                total,
                own,
                count,
                ..
            } = *node;
            FlameNode {
                parent,
                name,
                total,
                own,
                count,
                kind,
            }
        });
        let sent = sent.collect();
        (sent, texts)
    }
}

/// Returns the first frame of each method, by the method's number.
pub(crate) fn first(frames: &TraceFrames) -> Vec<i32> {
    let mut first = Vec::new();
    for frame in (0..).take(frames.frames()) {
        let place = frames
            .identity(frame)
            .and_then(|identity| usize::try_from(identity).ok());
        // Methods are numbered in the order of their frames.
        if place == Some(first.len()) {
            first.push(frame);
        }
    }
    first
}

/// Returns the frame whose text is the name of a frame.
pub(crate) fn representative(frames: &TraceFrames, first: &[i32], frame: i32) -> i32 {
    let place = frames
        .identity(frame)
        .and_then(|identity| usize::try_from(identity).ok());
    place
        .and_then(|place| first.get(place))
        .copied()
        .unwrap_or(frame)
}

/// Returns the labels of the methods that have this name or a frame with this text.
fn called(frames: &TraceFrames, first: &[i32], name: &str) -> HashSet<String> {
    let mut all = HashSet::new();
    let mut text = String::new();
    for frame in (0..).take(frames.frames()) {
        text.clear();
        frames.write(frame, &mut text);
        if text == name || frames.method(frame) == Some(name) {
            all.insert(frames.text(representative(frames, first, frame)));
        }
    }
    all
}
