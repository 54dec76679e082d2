//! Filters on stacks by their stack tags.

use etwkit_trace::tags::DEFAULT_SET;

use super::conditions::any_text_condition;
use etwkit_sql::literal::quoted;

/// Filter on stacks by tags. Without a filter all rows pass, including those without a recorded
/// stack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TagQuery {
    /// Names of tags: `*`, `?`, several with `;`, `!` excludes.
    pub tags: Option<String>,
    /// Tag sets in addition to `default`; the session has to know them.
    pub sets: Vec<String>,
}

impl TagQuery {
    /// Returns the condition on the stack of a column, if there is one: its tag in one of the sets
    /// matches, and none is excluded. A stack that no rule of a set matches has an empty tag.
    #[must_use]
    pub fn condition(&self, stack: &str) -> Option<String> {
        let sets = with_default(&self.sets);
        let tags: Vec<String> = sets
            .map(|set| format!("coalesce(stack_tag({stack}, {}), '')", quoted(set)))
            .collect();
        let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
        any_text_condition(&tags, self.tags.as_deref())
    }
}

/// Returns the names of the built-in set and of others.
pub fn with_default(others: &[String]) -> impl Iterator<Item = &str> {
    std::iter::once(DEFAULT_SET).chain(others.iter().map(String::as_str))
}
