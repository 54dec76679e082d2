//! Folders that workloads write into: only files of the workload itself are touched.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use etwkit_terminal::errors::advised;

/// Files of a workload: their names before and after a number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names {
    pub(crate) begin: &'static str,
    pub(crate) end: &'static str,
}

impl Names {
    /// Returns the path of the file with that number.
    pub(crate) fn path(self, folder: &Path, number: u32) -> PathBuf {
        folder.join(format!("{}{number}{}", self.begin, self.end))
    }

    fn has(self, name: &str) -> bool {
        let number = name
            .strip_prefix(self.begin)
            .and_then(|rest| rest.strip_suffix(self.end));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    }

    /// Creates the folder and removes the files of an earlier run. A folder with other files is
    /// left unchanged.
    ///
    /// # Errors
    /// It cannot be created, or contains other files.
    pub(crate) fn prepare(own_names: &[Self], folder: &Path) -> Result<()> {
        let cannot = |doing: &str| format!("cannot {doing} {}", folder.display());
        fs::create_dir_all(folder).with_context(|| cannot("create"))?;
        let mut own = Vec::new();
        for entry in fs::read_dir(folder).with_context(|| cannot("read"))? {
            let name = entry.with_context(|| cannot("read"))?.file_name();
            let text = name.to_string_lossy();
            if !own_names.iter().any(|names| names.has(&text)) {
                let message = format!(
                    "{} holds {text}, which is not of this workload",
                    folder.display()
                );
                return Err(advised(
                    message,
                    "name an empty folder, or one that is to be made",
                ));
            }
            own.push(folder.join(name));
        }
        own.iter()
            .try_for_each(fs::remove_file)
            .with_context(|| cannot("remove the files of an earlier run in"))
    }
}
