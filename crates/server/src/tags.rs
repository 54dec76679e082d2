//! Stack tags that the page chose: rules of its own, and a file in place of the built-in rules.
//! They are kept until the server ends. Nothing is written.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use etwkit_base::lock::lock;
use etwkit_engine::tag_warnings;
use etwkit_sql::frames::TraceFrames;
use etwkit_sql::functions::default_tags;
use etwkit_sql::literal::quoted;
use etwkit_sql::{DEFAULT_TAG_SET, NO_TAG, Session, TagSet, Tagged};

use crate::wire::TagsAnswer;

/// Name of the set of the page's own rules, and of the file in which the page saves them.
pub(crate) const OWN: &str = "own.stacktags";

/// Largest number of names in an answer.
const MOST_NAMES: usize = 2_000;

/// Largest size of all names in an answer.
const MOST_NAME_BYTES: usize = 256 << 10;

/// The stack tags in use.
#[derive(Default)]
pub(crate) struct Tags(Mutex<Chosen>);

#[derive(Default)]
struct Chosen {
    /// Text of the page's own rules; empty without any.
    own: String,
    /// The chosen sets, in the order in which stacks are looked up.
    sets: Arc<[TagSet]>,
}

/// The page's own rules are no longer those that an edit started from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Changed;

impl Chosen {
    /// Returns the version of the page's own rules, which is empty without any.
    fn own_version(&self) -> String {
        own_of(&self.sets).map_or_else(String::new, |set| format!("{:016x}", set.fingerprint()))
    }
}

impl Tags {
    /// Returns the chosen sets. Without any, the built-in set is used.
    pub(crate) fn sets(&self) -> Arc<[TagSet]> {
        lock(&self.0).sets.clone()
    }

    /// Replaces the page's own rules. `base` is their version when the edit started: if another tab
    /// of the browser changed them since then, its change stays.
    pub(crate) fn use_own(
        &self,
        base: &str,
        text: &str,
        set: Option<TagSet>,
    ) -> Result<(), Changed> {
        let mut chosen = lock(&self.0);
        if chosen.own_version() != base {
            return Err(Changed);
        }
        let file = file_of(&chosen.sets).cloned();
        chosen.sets = set.into_iter().chain(file).collect();
        text.clone_into(&mut chosen.own);
        Ok(())
    }

    /// Replaces the file, or uses the built-in rules again.
    pub(crate) fn use_file(&self, set: Option<TagSet>) {
        let mut chosen = lock(&self.0);
        let own = own_of(&chosen.sets).cloned();
        chosen.sets = own.into_iter().chain(set).collect();
    }

    /// Returns the names of stack tags in use that are wanted, at most so many.
    pub(crate) fn names(&self, most: usize, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        names(&self.sets(), most, is_wanted)
    }

    /// Returns the stack tags in use, as the page shows them.
    pub(crate) fn answer(&self) -> TagsAnswer {
        let chosen = lock(&self.0);
        let file = file_of(&chosen.sets);
        TagsAnswer {
            file: file.map(|set| set.name().to_owned()),
            own: chosen.own.clone(),
            own_version: chosen.own_version(),
            tags: names(&chosen.sets, MOST_NAMES, |_| true),
            notes: tag_warnings(&chosen.sets).collect(),
        }
    }
}

/// Returns the names of the tags of these sets that are wanted, each once: own rules can have a tag
/// of the built-in ones. They end at a number and a size.
fn names(sets: &[TagSet], most: usize, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let built_in = file_of(sets).is_none().then(default_tags);
    let all = sets.iter().chain(built_in).flat_map(TagSet::tags);
    let mut seen = HashSet::new();
    let mut bytes = 0;
    all.filter(|name| is_wanted(name) && seen.insert(*name))
        .take(most)
        .take_while(|name| {
            bytes += name.len();
            bytes <= MOST_NAME_BYTES
        })
        .map(str::to_owned)
        .collect()
}

/// Returns the set of the page's own rules.
fn own_of(sets: &[TagSet]) -> Option<&TagSet> {
    sets.iter().find(|set| set.name() == OWN)
}

/// Returns the set of the file that replaces the built-in rules.
fn file_of(sets: &[TagSet]) -> Option<&TagSet> {
    sets.iter().find(|set| set.name() != OWN)
}

/// Returns the expression for the tag of a stack: the first set with a matching rule decides.
pub(crate) fn expression(session: &Session, stack: &str) -> String {
    let sets = session.tags();
    let of = |name: &str| format!("stack_tag({stack}, {})", quoted(name));
    let last = match file_of(&sets) {
        Some(_) => quoted(NO_TAG),
        None => of(DEFAULT_TAG_SET),
    };
    let mut all: Vec<String> = sets.iter().map(|set| of(set.name())).collect();
    if all.is_empty() {
        return last;
    }
    all.push(last);
    format!("coalesce({})", all.join(", "))
}

/// Returns the tags of a trace's stacks by each set, in the order in which stacks are looked up.
pub(crate) fn tagged(session: &Session, frames: &TraceFrames) -> Vec<Arc<Tagged>> {
    let sets = session.tags();
    let mut all: Vec<_> = sets.iter().map(|set| frames.tagged(set)).collect();
    if file_of(&sets).is_none() {
        all.push(Arc::clone(frames.tagged_by_default()));
    }
    all
}

/// Returns the tag of a stack: the first set with a matching rule decides.
pub(crate) fn tag_of(tagged: &[Arc<Tagged>], stack: i32) -> &str {
    let found = tagged.iter().find_map(|one| one.name(one.tag(stack)?));
    found.unwrap_or(NO_TAG)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str) -> TagSet {
        let text: &[u8] = br#"<Tag Name=""><Tag Name="T"><Entrypoint Module="a.dll"/></Tag></Tag>"#;
        TagSet::read(name, &[(name, text)]).unwrap()
    }

    #[test]
    fn names_are_listed_once_and_end_at_a_size() {
        let tag = |name: &str| format!("<Tag Name=\"{name}\"><Entrypoint Module=\"a.dll\"/></Tag>");
        let long: String = (0..1_000)
            .map(|number| tag(&format!("{number:01000}")))
            .collect();
        let twice = tag("T").repeat(2);
        let text = format!("<Tag Name=\"\">{twice}{long}</Tag>");
        let tags = Tags::default();
        let set = TagSet::read(OWN, &[(OWN, text.as_bytes())]).unwrap();
        tags.use_own("", &text, Some(set)).unwrap();
        let listed = tags.answer().tags;
        assert_eq!(listed.len(), 263);
        assert_eq!(listed.iter().filter(|name| *name == "T").count(), 1);
        assert_eq!(tags.names(5, |name| name == "T"), ["T"]);
    }

    #[test]
    fn notes_of_a_file_with_many_faults_are_few() {
        let fault = "<Entrypoint/>\n".repeat(10_000);
        let entry = "<Entrypoint Module=\"a.dll\"/>";
        let text = format!("<Tag Name=\"\"><Tag Name=\"T\">{entry}\n{fault}</Tag></Tag>");
        let tags = Tags::default();
        tags.use_file(Some(
            TagSet::read("a.xml", &[("a.xml", text.as_bytes())]).unwrap(),
        ));
        let notes = tags.answer().notes;
        assert_eq!(notes.len(), 21);
        let last = "a.xml: 9980 more warnings like these";
        assert_eq!(notes.last().unwrap(), last);
    }

    #[test]
    fn a_change_from_old_rules_is_refused() {
        let tags = Tags::default();
        tags.use_own("", "first", Some(set(OWN))).unwrap();
        let version = tags.answer().own_version;
        // Another tab started from the state without rules.
        for base in ["", "0"] {
            let changed = tags.use_own(base, "second", Some(set(OWN)));
            assert_eq!(changed, Err(Changed));
        }
        assert_eq!(tags.answer().own, "first");
        tags.use_own(&version, "", None).unwrap();
        assert_eq!(tags.answer().own_version, "");
    }

    #[test]
    fn own_rules_come_first_and_a_file_replaces_the_built_in_ones() {
        let session = Session::from_batches(Vec::new()).unwrap();
        let tags = Tags::default();
        let now = || {
            session.use_tags(tags.sets());
            expression(&session, "t.stack_id")
        };
        assert_eq!(now(), "stack_tag(t.stack_id, 'default')");
        tags.use_own("", "rules", Some(set(OWN))).unwrap();
        assert_eq!(
            now(),
            "coalesce(stack_tag(t.stack_id, 'own.stacktags'), stack_tag(t.stack_id, 'default'))"
        );
        tags.use_file(Some(set("it's.stacktags")));
        assert_eq!(
            now(),
            "coalesce(stack_tag(t.stack_id, 'own.stacktags'), stack_tag(t.stack_id, 'it''s.stacktags'), 'Other')"
        );
        assert_eq!(tags.answer().own, "rules");
        let version = tags.answer().own_version;
        tags.use_own(&version, "", None).unwrap();
        tags.use_file(None);
        assert_eq!(now(), "stack_tag(t.stack_id, 'default')");
    }
}
