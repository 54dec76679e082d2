//! An index of patterns: the time to find those that match a text grows with the text and with what
//! matches, and hardly with the number of patterns.

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use etwkit_base::index::{Idx, IndexVec};
use rustc_hash::{FxHashMap, FxHashSet};

use super::pattern::Pattern;

/// A pattern of an index.
#[derive(Debug, Clone)]
pub(super) struct Numbered;

/// Its number.
pub(super) type PatternId = Idx<Numbered>;

/// Patterns with the same longest text between stars.
type Group = Vec<(Pattern, PatternId)>;

/// Patterns by number, each once.
#[derive(Debug, Clone, Default)]
pub(super) struct Interned {
    ids: FxHashMap<Box<str>, PatternId>,
}

impl Interned {
    /// The number of a pattern.
    pub(super) fn id(&mut self, text: &str) -> PatternId {
        // Several stars are the same as one.
        if text.contains("**") {
            let mut single = String::with_capacity(text.len());
            for letter in text.chars() {
                if letter != '*' || !single.ends_with('*') {
                    single.push(letter);
                }
            }
            return self.plain(&single);
        }
        self.plain(text)
    }

    fn plain(&mut self, text: &str) -> PatternId {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = Idx::new(self.ids.len());
        self.ids.insert(text.into(), id);
        id
    }

    pub(super) fn index(self) -> PatternIndex {
        PatternIndex::new(self)
    }
}

/// A text with a star at its end, in the order of the texts.
#[derive(Debug, Clone)]
struct Prefix {
    text: Box<str>,
    id: PatternId,
    /// The longest other prefix that this one begins with.
    shorter: Option<Idx<Self>>,
}

/// Patterns, by what a text has to contain to match.
#[derive(Debug, Clone, Default)]
pub(super) struct PatternIndex {
    /// Without a star.
    exact: FxHashMap<Box<str>, PatternId>,
    /// With one star at the end.
    prefixes: IndexVec<Prefix>,
    /// With stars elsewhere, by the longest text between them.
    others: IndexVec<Group>,
    /// Finds those texts; `None` without any.
    finder: Option<AhoCorasick>,
    /// `*`.
    any: Option<PatternId>,
    count: usize,
}

impl PatternIndex {
    fn new(interned: Interned) -> Self {
        let mut index = Self {
            count: interned.ids.len(),
            ..Self::default()
        };
        let mut by_longest: FxHashMap<Box<str>, Group> = FxHashMap::default();
        let mut prefixes = Vec::new();
        for (text, id) in interned.ids {
            match text.strip_suffix('*') {
                Some("") => index.any = Some(id),
                Some(prefix) if !prefix.contains('*') => prefixes.push(Prefix {
                    text: prefix.into(),
                    id,
                    shorter: None,
                }),
                _ if !text.contains('*') => _ = index.exact.insert(text, id),
                _ => {
                    if let Some(longest) = text.split('*').max_by_key(|piece| piece.len()) {
                        let group = by_longest.entry(longest.into());
                        group.or_default().push((Pattern::new(&text), id));
                    }
                }
            }
        }
        index.prefixes = linked(prefixes);
        let (longest, groups): (Vec<_>, Vec<_>) = by_longest.into_iter().unzip();
        // The contiguous form is the smallest one. It has numbers for more texts than files have
        // bytes.
        index.finder = (!longest.is_empty())
            .then(|| {
                AhoCorasick::builder()
                    .kind(Some(AhoCorasickKind::ContiguousNFA))
                    .build(longest.iter().map(|text| text.as_bytes()))
                    .ok()
            })
            .flatten();
        index.others = groups.into();
        index
    }

    /// Number of patterns.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// The pattern that matches everything.
    pub(super) const fn any(&self) -> Option<PatternId> {
        self.any
    }

    /// Adds the patterns that match a text as a whole, some of them possibly twice.
    pub(super) fn matching(&self, text: &str, found: &mut Vec<PatternId>) {
        found.extend(self.any);
        found.extend(self.exact.get(text));
        // What a text begins with comes before it, and is a prefix of what lies between.
        let is_before = |prefix: &Prefix| *prefix.text <= *text;
        let behind = self.prefixes.iter().as_slice().partition_point(is_before);
        let mut at = behind
            .checked_sub(1)
            .and_then(|at| self.prefixes.position(at));
        while let Some(prefix) = at.map(|at| &self.prefixes[at]) {
            if text.starts_with(&*prefix.text) {
                found.push(prefix.id);
            }
            at = prefix.shorter;
        }
        let Some(finder) = &self.finder else {
            return;
        };
        let mut seen: FxHashSet<Idx<Group>> = FxHashSet::default();
        let groups = finder.find_overlapping_iter(text);
        let groups = groups.filter_map(|piece| self.others.position(piece.pattern().as_usize()));
        for group in groups {
            if seen.insert(group) {
                let patterns = self.others[group].iter();
                found.extend(patterns.filter(|(p, _)| p.matches(text)).map(|(_, id)| *id));
            }
        }
    }
}

/// Sorts prefixes, and links each to the longest one that it begins with.
fn linked(mut prefixes: Vec<Prefix>) -> IndexVec<Prefix> {
    prefixes.sort_unstable_by(|a, b| a.text.cmp(&b.text));
    let mut linked: IndexVec<Prefix> = IndexVec::with_capacity(prefixes.len());
    // What the one before begins with, and itself: all that the next one can begin with.
    let mut chain: Vec<Idx<Prefix>> = Vec::new();
    for mut prefix in prefixes {
        while let Some(last) = chain.last()
            && !prefix.text.starts_with(&*linked[*last].text)
        {
            chain.pop();
        }
        prefix.shorter = chain.last().copied();
        chain.push(linked.push(prefix));
    }
    linked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(letters: &[u8], most: u32) -> Vec<String> {
        let mut words = vec![String::new()];
        for length in 1..=most {
            for number in 0..letters.len().pow(length) {
                let digit =
                    |at: u32| letters[number / letters.len().pow(at) % letters.len()] as char;
                words.push((0..length).map(digit).collect());
            }
        }
        words
    }

    #[test]
    fn all_patterns_that_match_are_found_and_no_others() {
        let patterns: Vec<String> = words(b"ab*", 4);
        let mut interned = Interned::default();
        let ids: Vec<PatternId> = patterns.iter().map(|text| interned.id(text)).collect();
        let index = interned.index();
        for text in words(b"ab", 5) {
            let mut found = Vec::new();
            index.matching(&text, &mut found);
            for (pattern, id) in patterns.iter().zip(&ids) {
                let expected = Pattern::new(pattern).matches(&text);
                assert_eq!(found.contains(id), expected, "{pattern} {text}");
            }
        }
    }

    #[test]
    fn several_stars_are_one() {
        let mut interned = Interned::default();
        assert_eq!(interned.id("a**b***"), interned.id("a*b*"));
        assert_eq!(interned.id("**"), interned.id("*"));
        assert_eq!(interned.index().count(), 2);
    }
}
