//! The stack tags that derived tables were computed with.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use etwkit_trace::tags::{self, TagSet};

use crate::manifest::{self, DerivedManifest};

/// Key in [`DerivedManifest::depends_on`].
pub(crate) const STACK_TAGS: &str = "stack_tags";

/// The inputs of derived tables besides rows: names and versions of the sets of tags.
pub(crate) fn depends_on(sets: &[TagSet]) -> BTreeMap<String, String> {
    let version = |set: &TagSet| format!("{}={:016x}", set.name(), set.fingerprint());
    let versions: Vec<String> = sets.iter().map(version).collect();
    BTreeMap::from([(STACK_TAGS.to_owned(), versions.join(";"))])
}

/// True if derived tables have the tags of these sets, in the form that this version writes.
#[must_use]
pub fn has_tags(derived: &DerivedManifest, sets: &[TagSet]) -> bool {
    derived.derived_version >= manifest::DERIVED_VERSION
        && derived.depends_on.get(STACK_TAGS) == depends_on(sets).get(STACK_TAGS)
}

/// True if derived tables have the meaning that this version writes. Tables with tags from user
/// files stay as they are if only the built-in tags changed: the user files are not available.
#[must_use]
pub fn is_current(derived: &DerivedManifest) -> bool {
    let tags = derived
        .depends_on
        .get(STACK_TAGS)
        .map_or("", String::as_str);
    let has_other_sets = tags.is_empty() || !own_tag_sets(derived).is_empty();
    // Hundreds of extracts may be opened; the rules are read once.
    static CURRENT: LazyLock<Option<String>> =
        LazyLock::new(|| depends_on(&[TagSet::built_in()]).remove(STACK_TAGS));
    derived.derived_version >= manifest::DERIVED_VERSION
        && (has_other_sets || CURRENT.as_deref() == Some(tags))
}

/// Names of the sets of tags in derived tables that are not built in. They come from user files,
/// which are not available when these tables are computed again.
#[must_use]
pub fn own_tag_sets(derived: &DerivedManifest) -> Vec<String> {
    let tags = derived
        .depends_on
        .get(STACK_TAGS)
        .map_or("", String::as_str);
    // Tags of another program have a name and no version.
    let names = tags
        .split(';')
        .map(|set| set.rsplit_once('=').map_or(set, |(name, _)| name));
    names
        .filter(|name| !["", tags::DEFAULT_SET].contains(name))
        .map(str::to_owned)
        .collect()
}
