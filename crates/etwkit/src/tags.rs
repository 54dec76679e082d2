//! Stack tags of the user: files that an option names.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use etwkit_extract::manifest::Detail;
use etwkit_extract::{Extract, derive_with_tags, has_tags};
use etwkit_trace::tags::TagSet;

use crate::extracts::extract_of;
use crate::printer::Printer;

/// Bytes of a file that are read; the parser refuses much smaller ones.
const MAX_BYTES: u64 = 64 << 20;

#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    /// Tag stacks by the rules of this file, too (.stacktags of Windows Performance Analyzer); can be repeated
    #[arg(long = "stack-tag-file", value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl TagArgs {
    /// The rules of these files.
    pub(crate) fn of(files: &[String]) -> Self {
        Self { files: files.iter().map(PathBuf::from).collect() }
    }

    /// Whether any files are named.
    pub(crate) const fn are_given(&self) -> bool {
        !self.files.is_empty()
    }

    /// The built-in set, and one for each file, which has its name.
    pub(crate) fn sets(&self) -> anyhow::Result<Vec<TagSet>> {
        let mut sets = vec![TagSet::built_in()];
        for path in &self.files {
            let bytes = read(path).with_context(|| format!("cannot read {}", path.display()))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            anyhow::ensure!(
                sets.iter().all(|set: &TagSet| set.name() != name),
                "there is a set of stack tags {name} already: files need different names"
            );
            let place = path.display().to_string();
            sets.push(TagSet::read(&name, &[(&place, &bytes)])?);
        }
        Ok(sets)
    }

    /// Makes sure that extracts have the tags of the files, if any are named.
    pub(crate) fn apply(&self, extracts: &[PathBuf], printer: &mut Printer<'_>) -> anyhow::Result<()> {
        if !self.are_given() {
            return Ok(());
        }
        let sets = self.sets()?;
        for path in extracts {
            let path = extract_of(path, printer)?;
            let extract = Extract::open(&path).map_err(etwkit_query::Error::from)?;
            if extract.derived().is_some_and(|derived| has_tags(derived, &sets)) {
                continue;
            }
            anyhow::ensure!(
                extract.manifest().detail == Detail::Full && !extract.is_archive(),
                "{} keeps the tags that it was made with: it is a summary or packed; extract the trace again with --stack-tag-file",
                path.display()
            );
            derive_with_tags(&extract, &sets)?;
            printer.note(&format!("tagged the stacks of {} by the rules of the files", path.display()));
        }
        Ok(())
    }
}

/// What is in a file of rules; no more of it than a parser could take.
pub(crate) fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
