//! Finds extracts in one question whose rows would count twice.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use crate::{Error, Result};

/// Refuses an extract that is named twice: all sums would count it twice.
pub(crate) fn refuse_twice(paths: &[PathBuf]) -> Result<()> {
    let mut seen = HashSet::new();
    for path in paths {
        if paths.len() > 1 && !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            return Err(Error::Twice {
                path: path.display().to_string(),
            });
        }
    }
    Ok(())
}

/// Extracts of one trace in one question: several ranges of it, or a summary next to the full one.
#[derive(Debug, Default)]
pub struct SameTrace(HashMap<String, String>);

impl SameTrace {
    /// Takes an extract with the hash of its trace, and adds a note if that trace was seen before.
    pub fn see(&mut self, name: &str, hash: Option<&str>, notes: &mut Vec<String>) {
        let Some(hash) = hash else { return };
        match self.0.get(hash) {
            Some(first) => notes.push(format!(
                "{name} is of the same trace as {first}: what is in both counts twice where extracts are \
                 summed up"
            )),
            None => _ = self.0.insert(hash.to_owned(), name.to_owned()),
        }
    }
}
