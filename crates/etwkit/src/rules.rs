//! Rules of the user: what processes are called, and which exceptions are left out.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use etwkit_query::dump::exception_filter::ExceptionFilters;
use etwkit_query::rename::RenameRules;

use crate::printer::Printer;
use crate::tags;

/// Name the files that `default` stands for.
const RENAME_RULES: &str = "ETWKIT_RENAME_RULES";
const EXCEPTION_FILTERS: &str = "ETWKIT_EXCEPTION_FILTERS";

/// What processes are called.
#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// Call processes as the rules of this file do (ProcessRenameRules.xml of ETWAnalyzer). default: the file that ETWKIT_RENAME_RULES
    /// names, else rules that name four services; none: by their executables, as without this option
    #[arg(long, value_name = "FILE|default|none", global = true)]
    rename_rules: Option<PathBuf>,
}

impl NameArgs {
    /// The rules, if there are any.
    pub(crate) fn rules(&self) -> anyhow::Result<Option<Arc<RenameRules>>> {
        let rules = match &self.rename_rules {
            None => return Ok(None),
            Some(word) if word.as_os_str() == "none" => return Ok(None),
            Some(word) if word.as_os_str() == "default" => match named_by(RENAME_RULES) {
                Some(file) => read(&file, RenameRules::parse).context(RENAME_RULES)?,
                None => RenameRules::supplied(),
            },
            Some(file) => read(file, RenameRules::parse)?,
        };
        Ok(Some(Arc::new(rules)))
    }
}

/// Which exceptions are left out.
#[derive(Debug, Args)]
pub(crate) struct ExceptionFilterArgs {
    /// Leave out what the rules of this file leave out (ExceptionFilters.xml of ETWAnalyzer); how many these are is noted. default: the
    /// file that ETWKIT_EXCEPTION_FILTERS names
    #[arg(long, value_name = "FILE|default")]
    exception_filters: Option<PathBuf>,
}

impl ExceptionFilterArgs {
    /// The file, if one is meant.
    fn file(&self) -> Option<PathBuf> {
        match &self.exception_filters {
            Some(word) if word.as_os_str() == "default" => named_by(EXCEPTION_FILTERS),
            file => file.clone(),
        }
    }

    /// The rules, if there are any.
    pub(crate) fn rules(&self) -> anyhow::Result<Option<Arc<ExceptionFilters>>> {
        self.file().map(|file| read(&file, ExceptionFilters::parse).map(Arc::new)).transpose()
    }

    /// Tells the reader what rules did, if some are asked for.
    pub(crate) fn tell(&self, left_out: i64, printer: &mut Printer<'_>) {
        match (&self.exception_filters, self.file()) {
            (None, _) => {}
            (Some(_), Some(file)) => {
                printer.note(&format!("exceptions left out by the rules of {}: {left_out}", file.display()));
            }
            (Some(_), None) => printer.note(&format!(
                "no exception is left out: there are no rules, {EXCEPTION_FILTERS} does not name a file"
            )),
        }
    }
}

/// The file that a variable names.
fn named_by(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|file: &OsString| !file.is_empty()).map(PathBuf::from)
}

fn read<R, E>(file: &Path, parse: impl Fn(&str, &[u8]) -> Result<R, E>) -> anyhow::Result<R>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let name = file.display().to_string();
    let bytes = tags::read(file).with_context(|| format!("cannot read {name}"))?;
    Ok(parse(&name, &bytes)?)
}
