//! The list of all tools of a server.

use rmcp::model::Tool as Listed;
use serde_json::Value;

use crate::mcp::tool::Tool;
use crate::mcp::{etwanalyzer, tools};

/// Returns all tools of a server.
pub(crate) fn all(with_etwanalyzer: bool) -> Vec<Tool> {
    let theirs = with_etwanalyzer.then(etwanalyzer::tools);
    tools::tools()
        .into_iter()
        .chain(theirs.into_iter().flatten())
        .collect()
}

/// Returns the tools in the form of `tools/list`, for documents and for measuring their size in an
/// agent's context.
#[must_use]
pub fn tools_as_json(with_etwanalyzer: bool) -> Value {
    let listed: Vec<Listed> = all(with_etwanalyzer).iter().map(Tool::listed).collect();
    // Texts and schemas can always be written.
    serde_json::to_value(listed).unwrap_or(Value::Null)
}
