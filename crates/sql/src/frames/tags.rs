//! Stack tags of the stacks of an extract.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use etwkit_base::lock::lock;
use etwkit_trace::tags::{TagSet, Tagged};

use super::{Node, TraceFrames, at};
use crate::functions::default_tags;

/// Replaces the name of a missing frame.
const NO_NAME: u32 = u32::MAX;

/// Number of sets whose tags are kept. The page has two at most: its own rules and a file.
const MOST_RECENT: usize = 2;

/// Tags of the sets that were used last, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Recent(VecDeque<(Version, Arc<Tagged>)>);

/// Identity of the rules of a set. Sets with equal versions give equal tags.
#[derive(Debug, PartialEq, Eq)]
struct Version {
    name: String,
    fingerprint: u64,
    names_others: bool,
}

impl Version {
    fn of(set: &TagSet) -> Self {
        Self {
            name: set.name().to_owned(),
            fingerprint: set.fingerprint(),
            names_others: set.names_others(),
        }
    }
}

impl Recent {
    /// Returns the tags of this version, which are found unless they are kept.
    fn get_or_insert(&mut self, version: Version, find: impl FnOnce() -> Tagged) -> Arc<Tagged> {
        let known = self.0.iter().position(|(known, _)| *known == version);
        let tagged = match known.and_then(|at| self.0.remove(at)) {
            Some((_, tagged)) => tagged,
            None => Arc::new(find()),
        };
        self.0.push_back((version, Arc::clone(&tagged)));
        if self.0.len() > MOST_RECENT {
            self.0.pop_front();
        }
        tagged
    }
}

impl TraceFrames {
    /// Returns the tag of every stack in the set `default`, computed once.
    #[must_use]
    pub fn tagged_by_default(&self) -> &Arc<Tagged> {
        self.by_default
            .get_or_init(|| Arc::new(self.tag(default_tags())))
    }

    /// Returns the tag of every stack by the rules of a set, equal to the table `cpu_tag`. Tags of
    /// the set `default` and of the last two others are kept for later questions.
    #[must_use]
    pub fn tagged(&self, set: &TagSet) -> Arc<Tagged> {
        if std::ptr::eq(set, default_tags()) {
            return Arc::clone(self.tagged_by_default());
        }
        // Questions that are asked at once need the same tags: the others wait for the first.
        let mut recent = lock(&self.recent);
        recent.get_or_insert(Version::of(set), || self.tag(set))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, module: &str) -> TagSet {
        let text =
            format!("<Tag Name=\"\"><Tag Name=\"T\"><Entrypoint Module=\"{module}\"/></Tag></Tag>");
        TagSet::read(name, &[(name, text.as_bytes())]).unwrap()
    }

    #[test]
    fn equal_rules_are_applied_once() {
        let frames = TraceFrames::default();
        let first = frames.tagged(&set("own", "a.dll"));
        // Each request of the page can come with a set of its own.
        assert!(Arc::ptr_eq(&first, &frames.tagged(&set("own", "a.dll"))));
        assert!(!Arc::ptr_eq(&first, &frames.tagged(&set("own", "b.dll"))));
    }

    #[test]
    fn tags_of_the_last_two_sets_are_kept() {
        let frames = TraceFrames::default();
        let tags = || ["own", "file"].map(|name| frames.tagged(&set(name, "a.dll")));
        for (before, after) in tags().into_iter().zip(tags()) {
            assert!(Arc::ptr_eq(&before, &after));
        }
        for module in ["b.dll", "c.dll"] {
            let _ = frames.tagged(&set("own", module));
        }
        let recent = frames.recent.lock().unwrap();
        let names = recent.0.iter().map(|(version, _)| &*version.name);
        assert_eq!(names.collect::<Vec<_>>(), ["own", "own"]);
    }
}
