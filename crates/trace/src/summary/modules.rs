//! Modules of addresses, as short numbers for counting.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::directory::Directory;
use crate::tracker::process::ProcessKey;

/// A module path, as a number; [`Modules::UNKNOWN`] for addresses in no image.
pub(super) type ModuleId = u32;

/// Paths of modules and their numbers.
#[derive(Debug)]
pub(super) struct Modules {
    ids: FxHashMap<Arc<str>, ModuleId>,
    paths: Vec<Arc<str>>,
    /// Module of each image of the directory.
    of_image: Vec<Option<ModuleId>>,
}

impl Modules {
    pub(super) const UNKNOWN: ModuleId = 0;

    pub(super) fn new(directory: &Directory) -> Self {
        let unknown: Arc<str> = "?".into();
        Self {
            ids: FxHashMap::default(),
            paths: vec![unknown],
            of_image: vec![None; directory.images.images().len()],
        }
    }

    /// Module of an address and the offset in it; the address itself if it is in no known module.
    pub(super) fn of_address(
        &mut self,
        directory: &Directory,
        process: Option<ProcessKey>,
        address: u64,
        timestamp: i64,
    ) -> (ModuleId, u64) {
        let Some((key, image)) = directory.image_at(process, address, timestamp) else {
            return (Self::UNKNOWN, address);
        };
        let rva = address - image.base;
        // Thousands of processes map the same files: the path of an image is translated once.
        if let Some(Some(id)) = self.of_image.get(key as usize) {
            return (*id, rva);
        }
        let path = directory.paths.dos_path(&image.path);
        let next = self.paths.len() as ModuleId;
        let id = *self.ids.entry(Arc::clone(&path)).or_insert(next);
        if id == next {
            self.paths.push(path);
        }
        if let Some(known) = self.of_image.get_mut(key as usize) {
            *known = Some(id);
        }
        (id, rva)
    }

    pub(super) fn path(&self, id: ModuleId) -> &str {
        self.paths.get(id as usize).map_or("?", |p| p)
    }
}
