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

/// Patterns that are found by the same text between stars.
type Group = Vec<(Pattern, PatternId)>;

/// Patterns that may share their longest text before they are found by their rarest one. Known files
/// have a few; a malicious file can have any number, and each would be compared with each frame.
const MAX_SHARED: usize = 64;

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
    /// With stars elsewhere, by one of the texts between them.
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
        let mut with_stars = Vec::new();
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
                _ => with_stars.push((text, id)),
            }
        }
        index.prefixes = linked(prefixes);
        let (keys, groups): (Vec<&str>, Vec<_>) = grouped(&with_stars).into_iter().unzip();
        // The contiguous form is the smallest one. It has numbers for more texts than files have
        // bytes.
        index.finder = (!keys.is_empty())
            .then(|| {
                AhoCorasick::builder()
                    .kind(Some(AhoCorasickKind::ContiguousNFA))
                    .build(keys.iter().map(|text| text.as_bytes()))
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
        for group in self.groups(text) {
            let patterns = self.others[group].iter();
            found.extend(patterns.filter(|(p, _)| p.matches(text)).map(|(_, id)| *id));
        }
    }

    /// The groups whose patterns are compared with a text, each once.
    fn groups(&self, text: &str) -> Vec<Idx<Group>> {
        let Some(finder) = &self.finder else {
            return Vec::new();
        };
        let mut seen: FxHashSet<Idx<Group>> = FxHashSet::default();
        let pieces = finder.find_overlapping_iter(text);
        pieces
            .filter_map(|piece| self.others.position(piece.pattern().as_usize()))
            .filter(|group| seen.insert(*group))
            .collect()
    }
}

/// Groups patterns by the text that finds them: the longest one between stars, or the rarest one if
/// many patterns share that.
fn grouped(patterns: &[(Box<str>, PatternId)]) -> FxHashMap<&str, Group> {
    let mut uses: FxHashMap<&str, usize> = FxHashMap::default();
    for (text, _) in patterns {
        for piece in pieces(text) {
            *uses.entry(piece).or_default() += 1;
        }
    }
    let uses_of = |piece: &str| uses.get(piece).copied().unwrap_or(0);
    let mut groups: FxHashMap<&str, Group> = FxHashMap::default();
    for (text, id) in patterns {
        let longest = pieces(text).max_by_key(|piece| piece.len());
        let key = longest
            .filter(|longest| uses_of(longest) <= MAX_SHARED)
            .or_else(|| pieces(text).min_by_key(|piece| uses_of(piece)));
        if let Some(key) = key {
            let group = groups.entry(key).or_default();
            group.push((Pattern::new(text), *id));
        }
    }
    groups
}

/// The texts between the stars of a pattern, without empty ones.
fn pieces(pattern: &str) -> impl Iterator<Item = &str> {
    pattern.split('*').filter(|piece| !piece.is_empty())
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
    fn patterns_with_the_same_long_text_are_found_by_another_one() {
        let mut interned = Interned::default();
        let ids: Vec<PatternId> = (0..20_000)
            .map(|number| interned.id(&format!("*VeryLongName*_{number:05}_*")))
            .collect();
        let index = interned.index();
        let compared = |text: &str| -> usize {
            let groups = index.groups(text).into_iter();
            groups.map(|group| index.others[group].len()).sum()
        };
        let text = "VeryLongName_00042_x";
        assert_eq!(compared(text), 1);
        assert_eq!(compared("VeryLongName"), 0);
        let mut found = Vec::new();
        index.matching(text, &mut found);
        assert_eq!(found, [ids[42]]);
    }

    #[test]
    fn several_stars_are_one() {
        let mut interned = Interned::default();
        assert_eq!(interned.id("a**b***"), interned.id("a*b*"));
        assert_eq!(interned.id("**"), interned.id("*"));
        assert_eq!(interned.index().count(), 2);
    }
}
