//! Stack tags: a name for the activity in a stack, found by rules of a file (`docs/stack-tags.md`).
//!
//! - [`TagSet`]: the rules of one or several files, ready to match
//! - [`Tagged`]: the tag of every node of a tree of stacks
//! - [`TagFileError`]: why a file cannot be used
//!
//! Derived tables are computed in this crate, so their tags are found here and not in the query
//! code.

mod entries;
mod error;
mod file;
mod frames;
mod index;
mod pattern;
mod rule;
mod tree;

pub use error::TagFileError;
pub use frames::Frames;
pub use tree::Tagged;

use crate::xml::Warnings;
use entries::{Declared, Entries};
use etwkit_base::index::IndexVec;
use rule::Rule;

/// Tag of a stack that no rule matches.
pub const OTHER: &str = "Other";

/// Name of the built-in set.
pub const DEFAULT_SET: &str = "default";

const DEFAULT_FILE: &str = include_str!("default.stacktags");

/// Rules that are matched together. Each set assigns one tag of its own to every stack.
#[derive(Debug, Clone)]
pub struct TagSet {
    name: String,
    rules: IndexVec<Rule>,
    entries: Entries,
    warnings: Warnings,
    names_others: bool,
    fingerprint: u64,
}

impl TagSet {
    /// The built-in rules. Stacks without a tag are [`OTHER`].
    #[must_use]
    pub fn built_in() -> Self {
        let file = ("default.stacktags", DEFAULT_FILE.as_bytes());
        // A test reads the file; without its rules everything would be `Other`.
        let mut set = Self::read(DEFAULT_SET, &[file]).unwrap_or_else(|_| Self::empty(DEFAULT_SET));
        set.names_others = true;
        set
    }

    /// A set of the rules of files, given by name and content. Their order matters only between
    /// rules of equal priority that match the same frame. Stacks without a tag stay without one.
    /// What cannot be followed is left out, and [`TagSet::warnings`] tells it.
    ///
    /// # Errors
    /// If a file is not a stack tag file, is too large, or has nothing that can be used:
    /// [`TagFileError`] contains the position.
    pub fn read(name: &str, files: &[(&str, &[u8])]) -> Result<Self, TagFileError> {
        let mut set = Self::empty(name);
        let mut declared = Declared::default();
        for (file, bytes) in files {
            let warnings = file::read(file, bytes, &mut set.rules, &mut declared)?;
            set.warnings.append(warnings);
            // FNV-1a; the fingerprint distinguishes versions of files. A byte after each file marks
            // its end, so that rules which move from one file to the next change the number.
            let hash =
                |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            set.fingerprint = bytes.iter().chain(&[0xFF]).fold(set.fingerprint, hash);
        }
        set.entries = Entries::new(declared, &set.rules);
        Ok(set)
    }

    fn empty(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            rules: IndexVec::new(),
            entries: Entries::default(),
            warnings: Warnings::default(),
            names_others: false,
            // The start value of FNV-1a.
            fingerprint: 0xcbf2_9ce4_8422_2325,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What could not be followed in its files.
    #[must_use]
    pub const fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// True if stacks without a tag are [`OTHER`].
    #[must_use]
    pub const fn names_others(&self) -> bool {
        self.names_others
    }

    /// Changes with the content of the files.
    #[must_use]
    pub const fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Paths of all tags that can match, in the order of the files; a child comes before its
    /// parents.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| rule.path.as_str())
    }

    /// The tag of one stack of modules and methods, the innermost frame first. For many stacks use
    /// [`Tagged`].
    #[must_use]
    pub fn tag(&self, stack: &[(Option<&str>, Option<&str>)]) -> Option<String> {
        let frames: Vec<_> = stack.iter().rev().copied().collect();
        let tagged = Tagged::new(self, frames.as_slice(), frames.len(), |node| {
            (node.checked_sub(1), node)
        });
        // Nothing is innermost in an empty stack, as in one that was not recorded.
        let innermost = i32::try_from(frames.len()).ok()? - 1;
        tagged.name(tagged.tag(innermost)?).map(str::to_owned)
    }
}
