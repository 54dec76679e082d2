//! The text of a module in an answer.

/// Returns the path, version, product and company of a module, as far as they are known.
pub(crate) fn module_text(parts: [&Option<String>; 4]) -> String {
    parts
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}
