//! Which stacks a question is about, by their stack tags.

use super::sql::{any_text_condition, quoted};

/// Only stacks with some tags. Without a filter all of them, those that were not recorded, too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TagQuery {
    /// Names of tags: `*`, `?`, several with `;`, `!` excludes.
    pub tags: Option<String>,
    /// Sets by whose rules a stack can have the tag, beside `default`; the session has to know them.
    pub sets: Vec<String>,
}

impl TagQuery {
    /// The condition on the stack of a column, if there is one: its tag by one of the sets fits, and none is
    /// excluded. A stack that no rule of a set fits has the empty name there.
    #[must_use]
    pub fn condition(&self, stack: &str) -> Option<String> {
        let sets = std::iter::once("default").chain(self.sets.iter().map(String::as_str));
        let tags: Vec<String> =
            sets.map(|set| format!("coalesce(stack_tag({stack}, {}), '')", quoted(set))).collect();
        let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
        any_text_condition(&tags, self.tags.as_deref())
    }
}
