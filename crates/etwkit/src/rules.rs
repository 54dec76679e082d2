//! Rename rules of the user, which change the names of processes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use etwkit_engine::read_rules;
use etwkit_sql::rename::RenameRules;

/// Variable with the path of the file that `default` means.
const RENAME_RULES: &str = "ETWKIT_RENAME_RULES";

/// Names of processes.
#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// Rename processes by the rules of this file (ProcessRenameRules.xml of ETWAnalyzer). With
    /// default, the file is the one that ETWKIT_RENAME_RULES names, otherwise built-in rules name
    /// four services. With none, processes keep their names, as without this option
    #[arg(
        long,
        value_name = "FILE|default|none",
        global = true,
        display_order = 899
    )]
    rename_rules: Option<PathBuf>,
}

impl NameArgs {
    /// Returns the rules, if there are any.
    pub(crate) fn rules(&self) -> anyhow::Result<Option<Arc<RenameRules>>> {
        let rules = match &self.rename_rules {
            None => return Ok(None),
            Some(word) if word.as_os_str() == "none" => return Ok(None),
            Some(word) if word.as_os_str() == "default" => match named_by(RENAME_RULES) {
                Some(file) => read_rules(&file, RenameRules::parse).context(RENAME_RULES)?,
                None => RenameRules::supplied(),
            },
            Some(file) => read_rules(file, RenameRules::parse)?,
        };
        Ok(Some(Arc::new(rules)))
    }
}

/// Returns the file that a variable names.
fn named_by(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .filter(|file: &OsString| !file.is_empty())
        .map(PathBuf::from)
}
