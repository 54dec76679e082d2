//! Parts of long names.

pub(crate) use etwkit_query::dump::cut::Cut;
