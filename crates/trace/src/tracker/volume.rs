//! NT paths to DOS paths.

use std::sync::{Arc, Mutex};

use etwkit_base::lock::lock;
use rustc_hash::FxHashMap;

/// The prefixes that the recording names, in time order.
#[derive(Debug, Default)]
pub struct PathMapper {
    prefixes: Vec<(String, String)>,
    cache: Mutex<FxHashMap<Arc<str>, Arc<str>>>,
}

impl PathMapper {
    /// Adds a prefix: paths that start with `nt` (in any case) start with `dos` instead.
    pub fn add(&mut self, nt: &str, dos: &str) {
        if !nt.is_empty() {
            self.prefixes.push((nt.to_lowercase(), dos.to_owned()));
        }
    }

    /// The DOS path: the first matching prefix is replaced. Without a match the path stays as it
    /// is.
    #[must_use]
    pub fn dos_path(&self, path: &Arc<str>) -> Arc<str> {
        let mut cache = lock(&self.cache);
        if let Some(known) = cache.get(path) {
            return Arc::clone(known);
        }
        let mapped = self.map(path).map_or_else(|| Arc::clone(path), Arc::from);
        cache.insert(Arc::clone(path), Arc::clone(&mapped));
        mapped
    }

    fn map(&self, path: &str) -> Option<String> {
        self.prefixes.iter().find_map(|(nt, dos)| {
            let rest = strip_prefix_ignoring_case(path, nt)?;
            Some(format!("{dos}{rest}"))
        })
    }
}

/// The rest of a path after a prefix given in lower case.
fn strip_prefix_ignoring_case<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    let mut wanted = prefix.chars();
    for (at, c) in path.char_indices() {
        // Character by character: in lower case a text can have another length, so offsets in it do
        // not apply to the path.
        let mut lower = c.to_lowercase();
        match wanted.next() {
            None => return path.get(at..),
            Some(w) if lower.next() == Some(w) => {
                // A character whose lower case has several characters must match all of them.
                if !lower.all(|more| wanted.next() == Some(more)) {
                    return None;
                }
            }
            Some(_) => return None,
        }
    }
    wanted.next().is_none().then_some("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matching_prefix_is_replaced_in_any_case() {
        let mut mapper = PathMapper::default();
        mapper.add("\\Device\\HarddiskVolume2\\", "C:\\");
        mapper.add("\\Device\\HarddiskVolume2\\Windows\\", "W:\\");
        mapper.add("\\??\\", "");
        for (nt, dos) in [
            (
                "\\device\\harddiskvolume2\\Windows\\X.dll",
                "C:\\Windows\\X.dll",
            ),
            (
                "\\Device\\HarddiskVolume22\\x",
                "\\Device\\HarddiskVolume22\\x",
            ),
            ("\\??\\D:\\x", "D:\\x"),
            ("\\??", "\\??"),
        ] {
            assert_eq!(&*mapper.dos_path(&nt.into()), dos);
        }
    }
}
