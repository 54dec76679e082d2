//! The assemblies of .NET methods that were compiled at run time: their addresses are in no image,
//! but the runtime names the assembly.

use std::sync::Arc;

use etwkit_base::path::file_name;
use etwkit_decode::kernel::merge::Pdb;
use etwkit_etl::clock::Clock;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::directory::Directory;
use crate::import::pipeline::identity::first_methods;
use crate::import::pipeline::key;
use crate::table::Module;
use crate::tracker::method::{self, MethodTracker};
use crate::tracker::process::ProcessKey;
use crate::tracker::runtime_module::{RuntimeModule, RuntimeModuleTracker};

/// Rows of `module` by method.
#[derive(Debug, Default)]
pub(crate) struct Assemblies {
    /// By the number of the method; `None` for code in an image, and if no event names its module.
    of_method: Vec<Option<u32>>,
    /// Symbol files of the assemblies, by the number of the method; only of methods whose lines
    /// can be found.
    pdbs: FxHashMap<u32, Arc<Pdb>>,
    /// Assemblies that no image event of their process names. They are written after the images.
    added: Vec<Module>,
    /// Processes that compile code at run time.
    compiling: Compiling,
}

/// Processes with code that is in no image, by their key.
#[derive(Debug, Default)]
struct Compiling {
    /// Row of the module for emulated code.
    emulated: FxHashMap<ProcessKey, u32>,
    /// Processes with a .NET runtime of which no rundown lists the methods.
    not_listed: FxHashSet<ProcessKey>,
}

/// Emulators of x64 and x86 code on ARM64.
const EMULATORS: [&str; 3] = ["xtajit64.dll", "xtajit64se.dll", "xtajit.dll"];
/// Runtimes of .NET.
const RUNTIMES: [&str; 3] = ["coreclr.dll", "clr.dll", "mscorwks.dll"];

/// Process and path, in lower case, of an image.
type ImageKey = (Option<i32>, String);

impl Assemblies {
    /// Looks up the module of each method.
    pub(crate) fn new(
        directory: &Directory,
        methods: &MethodTracker,
        modules: &RuntimeModuleTracker,
        clock: &Clock,
    ) -> Self {
        let mut all = Self::default();
        all.compiling(directory, methods);
        let count = methods.processes().map(|(_, methods)| methods.len()).sum();
        if count == 0 {
            return all;
        }
        all.of_method = vec![None; count];
        let mut rows = image_rows(directory);
        let first = first_methods(methods);
        for (pid, methods) in methods.processes() {
            let Some(first) = first.get(&pid) else {
                continue;
            };
            for (method, at) in methods.iter().zip(*first as usize..) {
                let process = directory.process_at(pid, method.begin);
                let is_of = |time| directory.process_at(pid, time) == process;
                let Some(module) = modules.find(pid, method.module_id, is_of) else {
                    continue;
                };
                if method.il_map.is_some()
                    && let Some(pdb) = symbols(directory, &rows, process, module)
                {
                    all.pdbs.insert(at as u32, pdb);
                }
                if is_in_image(directory, process, method, clock) {
                    continue;
                }
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

    /// Looks for the images of runtimes and emulators.
    fn compiling(&mut self, directory: &Directory, methods: &MethodTracker) {
        let images = directory.images.images();
        for image in images.iter().filter(|image| image.pid != 0) {
            let Some(process) = directory.process_at(image.pid, image.first_seen) else {
                continue;
            };
            let is = |names: &[&str]| {
                let name = file_name(&image.path);
                names.iter().any(|known| known.eq_ignore_ascii_case(name))
            };
            if is(&RUNTIMES) && !methods.has_rundown(image.pid) {
                self.compiling.not_listed.insert(process);
            }
            if is(&EMULATORS) && !self.compiling.emulated.contains_key(&process) {
                let row = (images.len() + self.added.len()) as u32;
                self.compiling.emulated.insert(process, row);
                self.added
                    .push(emulated(row, process, file_name(&image.path)));
            }
        }
    }

    /// The row of `module` for code of a process that is in no image and has no method.
    pub(crate) fn of_process(&self, process: Option<ProcessKey>) -> Option<u32> {
        self.compiling.emulated.get(&process?).copied()
    }

    /// True if code of a process that has no method may be one that a runtime did not list.
    pub(crate) fn is_not_listed(&self, process: Option<ProcessKey>) -> bool {
        process.is_some_and(|process| self.compiling.not_listed.contains(&process))
    }

    /// The row of `module` for a method whose code is in no image.
    pub(crate) fn of_method(&self, method_id: u32) -> Option<u32> {
        self.of_method.get(method_id as usize).copied().flatten()
    }

    /// The symbol file of the assembly of a method whose lines can be found.
    pub(crate) fn symbols_of(&self, method_id: u32) -> Option<&Pdb> {
        self.pdbs.get(&method_id).map(|pdb| &**pdb)
    }

    /// Rows that follow the rows of the images.
    pub(crate) fn added(&self) -> &[Module] {
        &self.added
    }
}

/// True if the code of a method is in an image, which identifies the module better than its
/// runtime: it has an offset by which symbols are found.
fn is_in_image(
    directory: &Directory,
    process: Option<ProcessKey>,
    method: &method::Method,
    clock: &Clock,
) -> bool {
    let time = if method.begin == i64::MIN {
        clock.t0
    } else {
        method.begin
    };
    directory.image_at(process, method.start, time).is_some()
}

/// The symbol file of an assembly: as the runtime names it, otherwise as its image does. That of a
/// precompiled image is another one, which its runtime does not name.
fn symbols(
    directory: &Directory,
    rows: &FxHashMap<ImageKey, u32>,
    process: Option<ProcessKey>,
    module: &RuntimeModule,
) -> Option<Arc<Pdb>> {
    module.pdb.clone().or_else(|| {
        let row = rows.get(&(key(process), module.path.to_lowercase()))?;
        let image = directory.images.images().get(*row as usize)?;
        image.pdb.clone()
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

/// The row for the code that an emulator made.
fn emulated(row: u32, process: ProcessKey, emulator: &str) -> Module {
    let is_x64 = !emulator.eq_ignore_ascii_case("xtajit.dll");
    let name = if is_x64 {
        "emulated x64 code (xtajit)"
    } else {
        "emulated x86 code (xtajit)"
    };
    Module {
        module_id: row as i32,
        process_key: key(Some(process)),
        name: name.to_owned(),
        path: name.to_owned(),
        ..Module::default()
    }
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
