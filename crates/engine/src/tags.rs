//! Stack tags of the user: files that a question names.

use std::path::PathBuf;

use etwkit_extract::{Extract, derive_with_tags, has_tags};
use etwkit_question::Tagging;
use etwkit_trace::tags::TagSet;

use crate::rules::read;
use crate::{Asking, Engine, Error, Result};

/// Returns the built-in set, and one for each file, which has its name.
///
/// # Errors
/// A file cannot be read or is not a file of rules; two have the same name.
pub fn tag_sets(files: &[PathBuf]) -> Result<Vec<TagSet>> {
    let mut sets = vec![TagSet::built_in()];
    for path in files {
        let bytes = read(path).map_err(Error::system("read", path))?;
        let name = Tagging::name(path);
        if sets.iter().any(|set: &TagSet| set.name() == name) {
            return Err(Error::SameTagSet { name });
        }
        let place = path.display().to_string();
        sets.push(TagSet::read(&name, &[(&place, &bytes)])?);
    }
    Ok(sets)
}

/// Returns what could not be followed in the files of sets.
pub fn tag_warnings(sets: &[TagSet]) -> impl Iterator<Item = String> {
    sets.iter().flat_map(|set| set.warnings().lines())
}

impl Engine {
    /// Makes sure that extracts have sums by the tags of these files, if any are named.
    ///
    /// # Errors
    /// The errors of [`tag_sets`]; an extract has no rows to tag; it cannot be written to.
    pub fn tag_extracts(
        &self,
        asking: &Asking,
        files: &[PathBuf],
        extracts: &[PathBuf],
        notes: &mut Vec<String>,
    ) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        // Before the first extract is changed: an error in a file leaves all of them as they were.
        let sets = tag_sets(files)?;
        notes.extend(tag_warnings(&sets));
        for path in extracts {
            let path = self.extract_of(asking, path, notes)?;
            let extract = Extract::open(&path)?;
            if extract
                .derived()
                .is_some_and(|derived| has_tags(derived, &sets))
            {
                continue;
            }
            // Tags are computed from the rows of an extract and stored in it: a summary has too few
            // rows, and a packed extract cannot be written to.
            if !extract.manifest().has_all_rows() || extract.is_archive() {
                return Err(Error::KeepsTags {
                    path: path.display().to_string(),
                });
            }
            derive_with_tags(&extract, &sets)?;
            notes.push(format!(
                "tagged the stacks of {} by the rules of the files",
                path.display()
            ));
        }
        Ok(())
    }
}
