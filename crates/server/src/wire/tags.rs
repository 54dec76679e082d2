//! Stack tags that the page chooses.

use serde::{Deserialize, Serialize};

/// `POST api/v1/tags`: the stack tags in use. The requests `tags/own` and `tags/file` answer with
/// it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TagsAnswer {
    /// Name of the file that replaces the built-in rules, if one does.
    pub file: Option<String>,
    /// The page's own rules as a stack tag file; empty without any.
    pub own: String,
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
}

/// `POST api/v1/tags/file`: replaces the built-in rules.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TagFileRequest {
    /// The file; nothing for the built-in rules.
    pub file: Option<TagFile>,
}

/// A stack tag file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TagFile {
    /// Its name without folders, which is also the name of its set.
    pub name: String,
    /// Its content.
    pub text: String,
}
