//! Stack tags that the page chooses.

use serde::{Deserialize, Serialize};

/// `POST api/v1/tags`: the stack tags in use. The requests `tags/own`, `tags/file` and
/// `tags/built_in` answer with it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TagsAnswer {
    /// Name of the file that replaces the built-in rules, if one does.
    pub file: Option<String>,
    /// The page's own rules as a stack tag file; empty without any.
    pub own: String,
    /// Version of these rules: changes with their text.
    pub own_version: String,
    /// Names of tags in the order of their rules, at most 2,000.
    pub tags: Vec<String>,
    /// Parts of the files that have no effect, with line and column.
    pub notes: Vec<String>,
}

/// `POST api/v1/tags/own`: replaces the page's own rules, which come before all others.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OwnTagsRequest {
    /// A stack tag file; an empty text removes the rules.
    pub text: String,
    /// Version of the rules that the edit started from. If they have another one by now, nothing
    /// changes.
    pub base: String,
}

/// `POST api/v1/tags/text`: the characters of a file, whose bytes are the request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TagText {
    /// Its text.
    pub text: String,
    /// Parts that were lost or guessed.
    pub notes: Vec<String>,
}
