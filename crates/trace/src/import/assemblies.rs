//! The assemblies of .NET methods that were compiled at run time: their addresses are in no image,
//! but the runtime names the assembly.

use std::sync::Arc;

use etwkit_base::path::file_name;
use etwkit_etl::clock::Clock;
use rustc_hash::FxHashMap;

use super::identity::{first_methods, key};
use crate::directory::Directory;
use crate::table::Module;
use crate::tracker::method::{self, MethodTracker};
use crate::tracker::process::ProcessKey;
use crate::tracker::runtime_module::{RuntimeModule, RuntimeModuleTracker};

/// Rows of `module` by method.
#[derive(Debug, Default)]
pub(super) struct Assemblies {
    /// By the number of the method; `None` for code in an image, and if no event names its module.
    of_method: Vec<Option<u32>>,
    /// Assemblies that no image event of their process names. They are written after the images.
    added: Vec<Module>,
}

/// Process and path, in lower case, of an image.
type ImageKey = (Option<i32>, String);

impl Assemblies {
    /// Looks up the module of each method.
    pub(super) fn new(
        directory: &Directory,
        methods: &MethodTracker,
        modules: &RuntimeModuleTracker,
        clock: &Clock,
    ) -> Self {
        let count = methods.processes().map(|(_, methods)| methods.len()).sum();
        if count == 0 {
            return Self::default();
        }
        let mut all = Self {
            of_method: vec![None; count],
            added: Vec::new(),
        };
        let mut rows = image_rows(directory);
        let first = first_methods(methods);
        for (pid, methods) in methods.processes() {
            let first = first.get(&pid).copied().unwrap_or_default() as usize;
            for (method, at) in methods.iter().zip(first..) {
                let process = directory.process_at(pid, method.begin);
                let Some(module) = assembly(directory, modules, (pid, process), method, clock)
                else {
                    continue;
                };
                let place = (key(process), module.path.to_lowercase());
                let next = (directory.images.images().len() + all.added.len()) as u32;
                let row = *rows.entry(place).or_insert(next);
                if row == next {
                    all.added.push(added(row, key(process), module));
                }
                if let Some(of_method) = all.of_method.get_mut(at) {
                    *of_method = Some(row);
                }
            }
        }
        all
    }

    /// The row of `module` for a method whose code is in no image.
    pub(super) fn of_method(&self, method_id: u32) -> Option<u32> {
        self.of_method.get(method_id as usize).copied().flatten()
    }

    /// Rows that follow the rows of the images.
    pub(super) fn added(&self) -> &[Module] {
        &self.added
    }
}

/// The assembly of a method, unless its code is in an image.
fn assembly<'m>(
    directory: &Directory,
    modules: &'m RuntimeModuleTracker,
    (pid, process): (u32, Option<ProcessKey>),
    method: &method::Method,
    clock: &Clock,
) -> Option<&'m RuntimeModule> {
    let time = if method.begin == i64::MIN {
        clock.t0
    } else {
        method.begin
    };
    // Precompiled code is in its image, which identifies the module better: it has an offset by
    // which symbols are found.
    if directory.image_at(process, method.start, time).is_some() {
        return None;
    }
    modules.find(pid, method.module_id, |time| {
        directory.process_at(pid, time) == process
    })
}

/// The row of each image; of several images with one path in a process, the first one.
fn image_rows(directory: &Directory) -> FxHashMap<ImageKey, u32> {
    let mut rows = FxHashMap::default();
    for (image, row) in directory.images.images().iter().zip(0..) {
        let process =
            key(directory.process_at(image.pid, image.first_seen)).filter(|_| image.pid != 0);
        let path = directory.paths.dos_path(&image.path).to_lowercase();
        rows.entry((process, path)).or_insert(row);
    }
    rows
}

/// The row of an assembly that is not an image.
fn added(row: u32, process_key: Option<i32>, module: &RuntimeModule) -> Module {
    let pdb = module.pdb.as_deref();
    let path: &Arc<str> = &module.path;
    Module {
        module_id: row as i32,
        process_key,
        name: file_name(path).to_owned(),
        path: path.to_string(),
        pdb_guid: pdb.map(|pdb| pdb.guid.to_string()),
        pdb_age: pdb.map(|pdb| pdb.age as i32),
        pdb_name: pdb.map(|pdb| pdb.name.clone()),
        ..Module::default()
    }
}
