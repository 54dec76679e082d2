//! Lists: `@FILE` names a text file with a path, folder or pattern on each line; `@-` the standard
//! input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::library::library_question;
use crate::{Error, Result};

/// Maximum size of a list of names; a larger file is not one.
const MOST_BYTES: u64 = 64 << 20;

/// Returns the list that an argument names.
pub(super) fn name(word: &Path) -> Option<PathBuf> {
    let name = word
        .to_str()?
        .strip_prefix('@')
        .filter(|name| !name.is_empty())?;
    // A file can have any name.
    word.symlink_metadata()
        .is_err()
        .then(|| PathBuf::from(name))
}

/// Returns the lines of a list with their numbers; without empty ones, comments and surrounding
/// blanks.
pub(super) fn lines(list: &Path) -> Result<Vec<(usize, PathBuf)>> {
    let wrong = |what: &str, source| Error::Named {
        message: format!("cannot read the list {}{what}", list.display()),
        hint: hint(list).into(),
        source,
    };
    let text = text(list).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => wrong(": it is not text in UTF-8", None),
        _ => wrong("", Some(error)),
    })?;
    if text.len() as u64 > MOST_BYTES {
        return Err(wrong(
            &format!(": it is longer than {} MiB", MOST_BYTES >> 20),
            None,
        ));
    }
    // Windows editors put a byte order mark before the text.
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let lines = (1..)
        .zip(lines)
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let lines: Vec<(usize, PathBuf)> = lines
        .map(|(number, line)| (number, PathBuf::from(line)))
        .collect();
    if lines.is_empty() {
        return Err(wrong(": it names nothing", None));
    }
    // A list that names itself would be read forever.
    if let Some((number, line)) = lines.iter().find(|(_, line)| name(line).is_some()) {
        let what = format!(
            ", line {number}: a list names no other lists, and {} is one",
            line.display()
        );
        return Err(wrong(&what, None));
    }
    Ok(lines)
}

/// Returns advice for a list that cannot be read.
fn hint(list: &Path) -> &'static str {
    // Names of the library of SQL start with the same character.
    match list.to_str().and_then(library_question) {
        Some(_) => {
            "questions of the library come after the extracts: `etwkit sql EXTRACT… \"@NAME\"`"
        }
        None => "\"@FILE\" names a text file with a path or pattern on each line",
    }
}

/// Returns the text of a list, up to one byte more than the limit.
fn text(list: &Path) -> io::Result<String> {
    let mut text = String::new();
    let most = MOST_BYTES.saturating_add(1);
    if list.as_os_str() == "-" {
        io::stdin().lock().take(most).read_to_string(&mut text)?;
    } else {
        File::open(list)?.take(most).read_to_string(&mut text)?;
    }
    Ok(text)
}
