//! The tag of every stack of a tree.
//!
//! Each frame is matched once. The tag of a node follows from its parent's tag and its own frame:
//! the higher priority wins, and of equal ones its own frame, which is nearer to the innermost one.
//! So a node costs a few instructions at any depth.

use etwkit_base::index::{Idx, IndexVec};
use rustc_hash::FxHashMap;

use super::frames::Frames;
use super::rule::{Neighbour, Rule};
use super::{OTHER, TagSet};

/// The tag of each node of a tree of stacks, by one set of rules.
#[derive(Debug, Default)]
pub struct Tagged {
    /// What was found for each node.
    of_node: IndexVec<Node, Idx<TagMatch>>,
    /// The name of each thing found.
    found: IndexVec<TagMatch, Idx<Name>>,
    names: IndexVec<Name, Box<str>>,
    names_others: bool,
    /// For each node the tags that its callers would have as innermost frames.
    of_callers: IndexVec<Node, Chain>,
    callers: Chains,
}

/// A node of the tree.
#[derive(Debug)]
struct Node;

/// The name of a tag.
#[derive(Debug)]
struct Name;

/// Lists of distinct tags, each with one tag more than another.
#[derive(Debug, Default)]
struct Chains {
    links: IndexVec<Link>,
    known: FxHashMap<(Chain, Idx<Name>), Idx<Link>>,
}

/// A list, by its last link; `None` is the list of no tags.
type Chain = Option<Idx<Link>>;

/// A list with one tag more than another.
#[derive(Debug, Clone, Copy)]
struct Link {
    continued: Chain,
    tag: Idx<Name>,
    /// How many tags that makes.
    count: u32,
}

/// Maximum number of distinct tags of a stack's callers. Real stacks have a handful; a malicious
/// file can give each of thousands of frames a tag of its own.
const MAX_TAGS: u32 = 64;

/// Bytes of all names with a neighbour. A malicious file can repeat a long path for every frame.
const MAX_HINT_BYTES: usize = 64 << 20;

impl Chains {
    /// The list with a tag more, unless it has that.
    fn with(&mut self, list: Chain, tag: Idx<Name>) -> Chain {
        if tag == NO_NAME || self.tags(list).any(|known| known == tag) {
            return list;
        }
        let count = list.map_or(0, |list| self.links[list].count);
        if count >= MAX_TAGS {
            return list;
        }
        let next = self.links.next();
        let id = *self.known.entry((list, tag)).or_insert(next);
        if id == next {
            self.links.push(Link {
                continued: list,
                tag,
                count: count + 1,
            });
        }
        Some(id)
    }

    /// The tags of a list.
    fn tags(&self, list: Chain) -> impl Iterator<Item = Idx<Name>> + '_ {
        let link = |list: Chain| list.map(|list| self.links[list]);
        std::iter::successors(link(list), move |last| link(last.continued)).map(|link| link.tag)
    }
}

/// A possible tag of a stack.
#[derive(Debug, Clone, Copy)]
struct TagMatch {
    priority: i32,
    name: Idx<Name>,
    /// The rule that adds the callee, which the innermost frame does not have.
    wants_callee: Option<Idx<Rule>>,
}

/// What stacks have that no rule matches.
const NOTHING: Idx<TagMatch> = Idx::FIRST;

/// The name of [`NOTHING`].
const NO_NAME: Idx<Name> = Idx::FIRST;

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
        let mut of_node: IndexVec<Node, Idx<TagMatch>> = IndexVec::with_capacity(nodes);
        let mut of_callers: IndexVec<Node, Chain> = IndexVec::with_capacity(nodes);
        let mut callers = Chains::default();
        for index in 0..nodes as u32 {
            let (parent, frame) = node(index);
            // A damaged extract can claim a parent that comes later, which has no tag yet.
            let parent = parent.and_then(|parent| of_node.position(parent as usize));
            let above = parent.map_or(NOTHING, |parent| of_node[parent]);
            let above = finder.with_callee(above, frame);
            let list = parent.and_then(|parent| of_callers[parent]);
            of_callers.push(callers.with(list, finder.found[above].name));
            // It can claim a frame that there is not, too.
            let rule = rules.get(frame as usize).copied().flatten();
            let caller = || parent.map(|parent| node(parent.as_u32()).1);
            of_node.push(rule.map_or(above, |rule| finder.stronger(above, rule, caller)));
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
        let list = self.node(stack).and_then(|node| self.of_callers[node]);
        let others = self.callers.tags(list).map(Idx::as_u32);
        own.into_iter()
            .chain(others.filter(move |tag| Some(*tag) != own))
    }

    /// Number of the tag of a stack, given by its innermost node; `None` if it has none and
    /// untagged stacks are not named.
    #[inline]
    #[must_use]
    pub fn tag(&self, stack: i32) -> Option<u32> {
        let node = self.node(stack);
        let found = node.map_or(NOTHING, |node| self.of_node[node]);
        (found != NOTHING || self.names_others).then(|| self.found[found].as_u32())
    }

    /// The innermost node of a stack, if an extract has that stack.
    #[inline]
    fn node(&self, stack: i32) -> Option<Idx<Node>> {
        self.of_node.position(usize::try_from(stack).ok()?)
    }

    /// Name of a tag.
    #[must_use]
    pub fn name(&self, tag: u32) -> Option<&str> {
        let name = self.names.position(tag as usize)?;
        Some(&self.names[name])
    }
}

/// The rule that wins for each frame, if any matches.
fn rules_of_frames<F: Frames + ?Sized>(set: &TagSet, frames: &F) -> Vec<Option<Idx<Rule>>> {
    let mut of_modules: FxHashMap<Option<&str>, Vec<u32>> = FxHashMap::default();
    for frame in 0..frames.count() as u32 {
        of_modules
            .entry(frames.module(frame))
            .or_default()
            .push(frame);
    }
    let mut rules = vec![None; frames.count()];
    // One module after the other: what is looked up for one can be as large as the file of rules.
    for (name, of_module) in of_modules {
        let mut module = set.entries.of_module(name);
        for frame in of_module {
            let rule = match frames.method(frame) {
                Some(method) => set.entries.rule(&mut module, method),
                None => module.without_name,
            };
            if let Some(place) = rules.get_mut(frame as usize) {
                *place = rule;
            }
        }
    }
    rules
}

/// Creates matches from rules and neighbors.
struct Finder<'s, F: ?Sized> {
    rules: &'s IndexVec<Rule>,
    frames: &'s F,
    found: IndexVec<TagMatch>,
    names: IndexVec<Name, Box<str>>,
    positions: FxHashMap<Box<str>, Idx<Name>>,
    /// Bytes of the names with a neighbour.
    hint_bytes: usize,
    /// What is found by rule and the neighbour that it adds.
    known: FxHashMap<(Idx<Rule>, Option<u32>), Idx<TagMatch>>,
}

impl<'s, F: Frames + ?Sized> Finder<'s, F> {
    fn new(set: &'s TagSet, frames: &'s F) -> Self {
        let nothing = TagMatch {
            priority: i32::MIN,
            name: NO_NAME,
            wants_callee: None,
        };
        Self {
            rules: &set.rules,
            frames,
            found: vec![nothing].into(),
            names: vec![OTHER.into()].into(),
            positions: FxHashMap::from_iter([(OTHER.into(), NO_NAME)]),
            hint_bytes: 0,
            known: FxHashMap::default(),
        }
    }

    /// What is found above a frame, with that frame as its callee.
    fn with_callee(&mut self, above: Idx<TagMatch>, frame: u32) -> Idx<TagMatch> {
        match self.found[above].wants_callee {
            Some(rule) => self.of(rule, Some(frame)),
            None => above,
        }
    }

    /// The stronger one of what is found above a frame, and the rule of the frame itself.
    fn stronger(
        &mut self,
        above: Idx<TagMatch>,
        rule: Idx<Rule>,
        caller: impl Fn() -> Option<u32>,
    ) -> Idx<TagMatch> {
        let own = &self.rules[rule];
        // Greater, not greater or equal: among equals the frame that is nearer to the innermost one wins.
        if self.found[above].priority > own.priority {
            return above;
        }
        let is_caller = own
            .hint
            .is_some_and(|hint| hint.neighbour == Neighbour::Caller);
        self.of(rule, if is_caller { caller() } else { None })
    }

    /// What a rule finds beside a neighbour.
    fn of(&mut self, rule: Idx<Rule>, neighbour: Option<u32>) -> Idx<TagMatch> {
        if let Some(known) = self.known.get(&(rule, neighbour)) {
            return *known;
        }
        let rules = self.rules;
        let Rule {
            path,
            priority,
            hint,
        } = &rules[rule];
        let name: Box<str> = match (hint, neighbour) {
            (Some(hint), Some(frame)) => {
                let with_neighbour = format!(
                    "{path}\\{}",
                    described(self.frames, frame, hint.only_module)
                );
                self.bounded(with_neighbour, path)
            }
            _ => path.as_str().into(),
        };
        let wants_callee =
            hint.is_some_and(|hint| hint.neighbour == Neighbour::Callee) && neighbour.is_none();
        let name = *self
            .positions
            .entry(name)
            .or_insert_with_key(|name| self.names.push(name.clone()));
        let found = self.found.push(TagMatch {
            priority: *priority,
            name,
            wants_callee: wants_callee.then_some(rule),
        });
        self.known.insert((rule, neighbour), found);
        found
    }

    /// The name with a neighbour, or the path alone if such names would fill the memory.
    fn bounded(&mut self, with_neighbour: String, path: &str) -> Box<str> {
        if self.positions.contains_key(with_neighbour.as_str()) {
            return with_neighbour.into();
        }
        let bytes = self.hint_bytes.saturating_add(with_neighbour.len());
        if bytes > MAX_HINT_BYTES {
            return path.into();
        }
        self.hint_bytes = bytes;
        with_neighbour.into()
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
