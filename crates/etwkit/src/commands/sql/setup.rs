//! Macros and views for another engine over the files of an extract.

use std::ffi::OsString;
use std::path::Path;

use anyhow::bail;
use etwkit_extract::Extract;
use etwkit_terminal::Exit;
use etwkit_terminal::errors::advised;

use crate::dialect::OtherEngine;
use crate::printer::Printer;

/// Prints the statements that create them.
pub(super) fn show(
    engine: OtherEngine,
    items: &[OsString],
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let [path] = items else {
        bail!("--show-setup needs one extract");
    };
    let path = Path::new(path);
    let extract = Extract::open(path)?;
    let title = engine.dialect().title();
    if !path.is_dir() {
        return Err(advised(
            format!("{title} cannot read the tables inside {}", path.display()),
            "unzip it: the tables of an extract that is a folder are Parquet files",
        ));
    }
    // Without its file a derived table would look like one without rows.
    if let Some(problem) = extract.derived_problem() {
        bail!(
            "{title} would miss the derived tables of {}: {problem}",
            path.display()
        );
    }
    printer.block(&engine.dialect().setup(path))?;
    Ok(Exit::Answered)
}
