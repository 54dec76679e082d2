//! The choice of stack tags: requests of the page.

use etwkit_sql::{DEFAULT_TAG_SET, TagSet};

use crate::api::{Call, Nothing};
use crate::problem::{Problem, Result};
use crate::tags::OWN;
use crate::wire::{OwnTagsRequest, TagFileRequest, TagsAnswer};

/// Longest name of a file.
const LONGEST_NAME: usize = 200;

/// Answers with the stack tags in use.
pub(crate) fn show(call: &Call<'_>, _: &Nothing) -> Result<TagsAnswer> {
    Ok(call.shared.tags.answer())
}

/// Replaces the page's own rules. If they cannot be read, the ones before stay.
pub(crate) fn own(call: &Call<'_>, request: &OwnTagsRequest) -> Result<TagsAnswer> {
    let text = &request.text;
    let set = if text.is_empty() {
        None
    } else {
        Some(read(OWN, text)?)
    };
    call.shared.tags.use_own(text, set);
    Ok(call.shared.tags.answer())
}

/// Uses the rules of a file in place of the built-in ones, or these again.
pub(crate) fn file(call: &Call<'_>, request: &TagFileRequest) -> Result<TagsAnswer> {
    let set = match &request.file {
        Some(file) => {
            check_name(&file.name)?;
            Some(read(&file.name, &file.text)?)
        }
        None => None,
    };
    call.shared.tags.use_file(set);
    Ok(call.shared.tags.answer())
}

fn read(name: &str, text: &str) -> Result<TagSet> {
    let set = TagSet::read(name, &[(name, text.as_bytes())]);
    Ok(set.map_err(etwkit_engine::Error::from)?)
}

/// Refuses a name that `--stack-tag-file` would not give to a set.
fn check_name(name: &str) -> Result<()> {
    if name == OWN || name == DEFAULT_TAG_SET {
        let message = format!("the name {name:?} belongs to another set of stack tags");
        return Err(
            Problem::bad(message).with_hint("rename the file, or edit its tags as your own")
        );
    }
    let is_plain = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && !name.contains(|letter: char| letter.is_control() || matches!(letter, '/' | '\\'));
    if !is_plain {
        let message =
            format!("expected a file name of at most {LONGEST_NAME} bytes, without folders");
        return Err(Problem::bad(message));
    }
    Ok(())
}
