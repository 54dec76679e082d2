//! Texts of modules.

pub(super) use etwkit_query::dump::module_text as module;
