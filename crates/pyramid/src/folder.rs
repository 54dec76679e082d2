//! The location of pages, and the check that they belong to the extract.

use std::fs;
use std::path::{Path, PathBuf};

use etwkit_extract::{Extract, Partial};

use crate::about::{About, VERSION};
use crate::error::{Error, Result};
use crate::make::{OnProgress, make};

/// Finds the pages of an extract, or builds them.
pub(crate) fn find_or_make(
    extract: &Extract,
    cache: Option<&Path>,
    on_progress: OnProgress<'_>,
) -> Result<(PathBuf, About)> {
    let own = (!extract.is_archive())
        .then(|| own(extract.path()))
        .flatten();
    let cached =
        cache.map(|cache| cache.join(format!("{}.pages-{VERSION}", extract.fingerprint())));
    let places: Vec<PathBuf> = own.into_iter().chain(cached).collect();
    let is_current =
        |about: &About| about.version == VERSION && about.fingerprint == extract.fingerprint();
    for place in &places {
        if let Some(about) = About::read(place).filter(is_current) {
            return Ok((place.clone(), about));
        }
    }
    let mut refused = None;
    // The pages in the extract itself come first: they are copied with it. The cache is for
    // extracts that are packed or cannot be written to.
    for place in places {
        match Partial::create(&place) {
            Ok(partial) => {
                let about = make(extract, partial.content(), on_progress)?;
                partial.publish()?;
                return Ok((place, about));
            }
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.map_or_else(
        || Error::NoPlace {
            path: extract.path().to_owned(),
        },
        Error::Store,
    ))
}

/// The folder inside of an extract; `None` if a link leads elsewhere, or nothing can be written.
fn own(extract: &Path) -> Option<PathBuf> {
    let derived = extract.join("derived");
    if derived
        .symlink_metadata()
        .is_ok_and(|found| found.is_symlink())
    {
        return None;
    }
    if !derived.is_dir() {
        fs::create_dir(&derived).ok()?;
    }
    Some(derived.join(format!("pages-{VERSION}")))
}
