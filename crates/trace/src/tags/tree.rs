//! The tag of every stack of a tree.
//!
//! Each frame is matched once. The tag of a node follows from its parent's tag and its own frame:
//! the higher priority wins, and of equal ones its own frame, which is nearer to the innermost one.
//! So a node costs a few instructions at any depth.

use rustc_hash::FxHashMap;

use super::frames::Frames;
use super::rule::{Entry, Neighbour, Rule};
use super::{OTHER, TagSet, rule_of};

/// The tag of each node of a tree of stacks, by one set of rules.
#[derive(Debug, Default)]
pub struct Tagged {
    /// The match of each node, as a position in `found`.
    of_node: Vec<u32>,
    /// Position of the name of each match, in `names`.
    found: Vec<u32>,
    names: Vec<Box<str>>,
    names_others: bool,
    /// For each node the tags that its callers would have as innermost frames, as a position in
    /// `callers`.
    of_callers: Vec<u32>,
    callers: Chains,
}

/// Lists of distinct tags, each one tag longer than another list.
#[derive(Debug, Default)]
struct Chains {
    /// The list that is continued, the tag, and the resulting number of tags.
    links: Vec<(u32, u32, u32)>,
    known: FxHashMap<(u32, u32), u32>,
}

/// The list of no tags.
const EMPTY: u32 = u32::MAX;

/// Maximum number of distinct tags of a stack's callers. Real stacks have a handful; a malicious
/// file can give each of thousands of frames a tag of its own.
const MAX_TAGS: u32 = 64;

impl Chains {
    /// The list with one more tag, unless it already contains that tag.
    fn with(&mut self, list: u32, tag: u32) -> u32 {
        if tag == NOTHING || self.tags(list).any(|known| known == tag) {
            return list;
        }
        let count = self
            .links
            .get(list as usize)
            .map_or(0, |(.., count)| *count);
        if count >= MAX_TAGS {
            return list;
        }
        let next = self.links.len() as u32;
        // Equal lists are shared, so memory grows with distinct lists and not with stacks.
        let id = *self.known.entry((list, tag)).or_insert(next);
        if id == next {
            self.links.push((list, tag, count + 1));
        }
        id
    }

    /// The tags of a list.
    fn tags(&self, list: u32) -> impl Iterator<Item = u32> + '_ {
        let link = move |list: u32| self.links.get(list as usize).copied();
        std::iter::successors(link(list), move |(before, ..)| link(*before)).map(|(_, tag, _)| tag)
    }
}

/// A possible tag of a stack.
#[derive(Debug, Clone, Copy)]
struct TagMatch {
    priority: i32,
    /// Position of the name.
    name: u32,
    /// The rule that adds the callee, which the innermost frame does not have.
    wants_callee: Option<u32>,
}

/// The match, and the name, of stacks without a matching rule.
const NOTHING: u32 = 0;
/// Marks a missing rule.
const NO_RULE: u32 = u32::MAX;

impl Tagged {
    /// Finds the tags of the nodes of a tree. `node` returns parent and frame of each; parents must
    /// come before their children.
    #[must_use]
    pub fn new<F: Frames + ?Sized>(
        set: &TagSet,
        frames: &F,
        nodes: usize,
        node: impl Fn(u32) -> (Option<u32>, u32),
    ) -> Self {
        let rules = rules_of_frames(set, frames);
        let mut finder = Finder::new(set, frames);
        let mut of_node: Vec<u32> = Vec::with_capacity(nodes);
        let (mut callers, mut of_callers) = (Chains::default(), Vec::with_capacity(nodes));
        for index in 0..nodes as u32 {
            let (parent, frame) = node(index);
            // A damaged extract can claim a parent that comes later, which has no tag yet.
            let parent = parent.filter(|parent| *parent < index);
            let above = parent
                .and_then(|parent| of_node.get(parent as usize))
                .copied()
                .unwrap_or(NOTHING);
            let above = finder.with_callee(above, frame);
            let list = parent
                .and_then(|parent| of_callers.get(parent as usize))
                .copied()
                .unwrap_or(EMPTY);
            of_callers.push(callers.with(list, finder.name(above)));
            of_node.push(
                match rules.get(frame as usize).copied().unwrap_or(NO_RULE) {
                    NO_RULE => above,
                    rule => finder.stronger(above, rule, || parent.map(|parent| node(parent).1)),
                },
            );
        }
        let found = finder.found.iter().map(|found| found.name).collect();
        // This map is needed only while lists are built, and is as large as they are.
        callers.known = FxHashMap::default();
        Self {
            of_node,
            found,
            names: finder.names,
            names_others: set.names_others(),
            of_callers,
            callers,
        }
    }

    /// Numbers of all tags of a stack, each once: its own, and the tags of its callers as stacks of
    /// their own. Callers without a tag have none.
    pub fn inclusive(&self, stack: i32) -> impl Iterator<Item = u32> + '_ {
        let own = self.tag(stack);
        let list = usize::try_from(stack)
            .ok()
            .and_then(|node| self.of_callers.get(node))
            .copied();
        let others = self
            .callers
            .tags(list.unwrap_or(EMPTY))
            .filter(move |tag| Some(*tag) != own);
        own.into_iter().chain(others)
    }

    /// Number of the tag of a stack, given by its innermost node; `None` if it has none and
    /// untagged stacks are not named.
    #[inline]
    #[must_use]
    pub fn tag(&self, stack: i32) -> Option<u32> {
        let node = usize::try_from(stack).ok();
        let found = node
            .and_then(|node| self.of_node.get(node))
            .copied()
            .unwrap_or(NOTHING);
        (found != NOTHING || self.names_others)
            .then(|| self.found.get(found as usize).copied().unwrap_or(NOTHING))
    }

    /// Name of a tag.
    #[must_use]
    pub fn name(&self, tag: u32) -> Option<&str> {
        self.names.get(tag as usize).map(|name| &**name)
    }
}

/// The rule that wins for each frame.
fn rules_of_frames<F: Frames + ?Sized>(set: &TagSet, frames: &F) -> Vec<u32> {
    let mut entries: FxHashMap<Option<&str>, (Vec<&Entry>, u32)> = FxHashMap::default();
    let rule = |frame| {
        let module = frames.module(frame);
        // Many frames share few modules, so the entry points are filtered once for each module.
        let (entries, without_name) = entries.entry(module).or_insert_with(|| {
            let entries = set.entries_of(module);
            let without_name = rule_of(&entries, None).unwrap_or(NO_RULE);
            (entries, without_name)
        });
        match frames.method(frame) {
            Some(method) if !entries.is_empty() => {
                rule_of(entries, Some(method)).unwrap_or(NO_RULE)
            }
            _ => *without_name,
        }
    };
    (0..frames.count() as u32).map(rule).collect()
}

/// Creates matches from rules and neighbors.
struct Finder<'s, F: ?Sized> {
    rules: &'s [Rule],
    frames: &'s F,
    found: Vec<TagMatch>,
    names: Vec<Box<str>>,
    positions: FxHashMap<Box<str>, u32>,
    /// Positions in `found` by rule and the neighbor that it adds.
    known: FxHashMap<(u32, Option<u32>), u32>,
}

impl<'s, F: Frames + ?Sized> Finder<'s, F> {
    fn new(set: &'s TagSet, frames: &'s F) -> Self {
        let nothing = TagMatch {
            priority: i32::MIN,
            name: NOTHING,
            wants_callee: None,
        };
        let (names, positions) = (
            // Number 0 is the name of untagged stacks, see `NOTHING`.
            vec![OTHER.into()],
            FxHashMap::from_iter([(OTHER.into(), NOTHING)]),
        );
        Self {
            rules: &set.rules,
            frames,
            found: vec![nothing],
            names,
            positions,
            known: FxHashMap::default(),
        }
    }

    /// Position of the name of a match.
    fn name(&self, found: u32) -> u32 {
        self.found
            .get(found as usize)
            .map_or(NOTHING, |found| found.name)
    }

    /// The match above a frame, with that frame as its callee.
    fn with_callee(&mut self, above: u32, frame: u32) -> u32 {
        match self
            .found
            .get(above as usize)
            .and_then(|found| found.wants_callee)
        {
            Some(rule) => self.of(rule, Some(frame)),
            None => above,
        }
    }

    /// The stronger of the match above a frame and the rule of the frame itself.
    fn stronger(&mut self, above: u32, rule: u32, caller: impl Fn() -> Option<u32>) -> u32 {
        let Some(own) = self.rules.get(rule as usize) else {
            return above;
        };
        let strongest = self
            .found
            .get(above as usize)
            .map_or(i32::MIN, |found| found.priority);
        // Greater, not greater or equal: among equals the frame that is nearer to the innermost one
        // wins.
        if strongest > own.priority {
            return above;
        }
        let is_caller = own
            .hint
            .is_some_and(|hint| hint.neighbour == Neighbour::Caller);
        self.of(rule, if is_caller { caller() } else { None })
    }

    /// The match of a rule with a neighbor.
    fn of(&mut self, rule: u32, neighbour: Option<u32>) -> u32 {
        if let Some(known) = self.known.get(&(rule, neighbour)) {
            return *known;
        }
        let Some(Rule {
            path,
            priority,
            hint,
        }) = self.rules.get(rule as usize)
        else {
            return NOTHING;
        };
        let name: Box<str> = match (hint, neighbour) {
            (Some(hint), Some(frame)) => format!(
                "{path}\\{}",
                described(self.frames, frame, hint.only_module)
            )
            .into(),
            _ => path.as_str().into(),
        };
        let wants_callee =
            hint.is_some_and(|hint| hint.neighbour == Neighbour::Callee) && neighbour.is_none();
        let next = self.names.len() as u32;
        let name = *self.positions.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        });
        let found = self.found.len() as u32;
        self.found.push(TagMatch {
            priority: *priority,
            name,
            wants_callee: wants_callee.then_some(rule),
        });
        self.known.insert((rule, neighbour), found);
        found
    }
}

/// A neighbor as part of a path: its module, and its method where that is known and wanted.
fn described<F: Frames + ?Sized>(frames: &F, frame: u32, only_module: bool) -> String {
    let module = frames.module(frame).unwrap_or("Unknown");
    match frames.method(frame).filter(|_| !only_module) {
        Some(method) => format!("{module}\\{method}"),
        None => module.to_owned(),
    }
}
