//! Owners of stacks and threads: the products that they belong to.

use std::collections::{HashMap, HashSet};

use etwkit_base::path::split;
use etwkit_question::ask;
use etwkit_sql::Session;
use etwkit_sql::frames::TraceFrames;

use super::OverheadRequest;
use super::product::{File, Product, Products};
use crate::Result;

/// The owner of Windows and of unknown code.
pub(super) const NOBODY: Owner = Owner {
    product: u32::MAX,
    module: -1,
};

/// Drivers of file systems, to which filter drivers pass operations on: waits in them would also
/// have occurred without the filter.
const FILE_SYSTEMS: &[&str] = &[
    "ntfs.sys",
    "refs.sys",
    "fastfat.sys",
    "exfat.sys",
    "npfs.sys",
    "msfs.sys",
    "cdfs.sys",
    "udfs.sys",
    "mup.sys",
    "rdbss.sys",
    "mrxsmb.sys",
];

/// Modules with the code that logs events.
const LOGGERS: &[&str] = &[
    "ntoskrnl.exe",
    "ntkrnlmp.exe",
    "ntkrnlpa.exe",
    "ntkrpamp.exe",
    "ntdll.dll",
    "advapi32.dll",
];

/// Prefixes of functions that log events.
const LOGGING: &[&str] = &["Etw", "PerfInfoLog", "WmiTrace", "WmipLog"];

/// A product, and its active module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) product: u32,
    /// Number of the module; −1 if it is not known.
    pub(super) module: i32,
}

/// The owners of all stacks, frames and threads.
#[derive(Debug)]
pub(super) struct Owners {
    pub(super) products: Products,
    /// The innermost product, by stack.
    pub(super) stacks: Vec<Owner>,
    /// The innermost product that did not pass the operation on to a file system, by stack.
    pub(super) waiting: Vec<Owner>,
    pub(super) frames: Vec<Owner>,
    pub(super) threads: HashMap<i32, Owner>,
    pub(super) names: HashMap<i32, String>,
    pub(super) is_kernel_named: bool,
}

etwkit_question::declare! {
    /// A module, with what says who made it.
    pub(super) row ModuleRow {
        module_id: i64 = "Number.",
        process_key: Option<i64> = "Process that mapped it; missing for drivers.",
        name: String = "File name.",
        path: String = "Path.",
        company: Option<String> = "Company.",
        product_name: Option<String> = "Product.",
        is_executable: bool = "Whether its process has the same name.",
    }

    /// A thread and where it started.
    row ThreadRow {
        thread_key: i64 = "Key.",
        process_key: Option<i64> = "Its process.",
        start_frame_id: Option<i64> = "Where it started.",
    }
}

pub(super) const MODULES: &str =
    "SELECT m.module_id, m.process_key, m.name, m.path, m.company, m.product_name,
  coalesce(lower(m.name) = lower(p.name), FALSE) AS is_executable
FROM module m LEFT JOIN process p ON p.process_key = m.process_key
ORDER BY m.module_id";

/// Frames of code of file systems.
pub(super) struct FileSystems(HashSet<i32>);

impl FileSystems {
    pub(super) fn of(trace: &TraceFrames) -> Self {
        let is_one = |frame: &i32| {
            let name = trace.module(*frame).unwrap_or("");
            FILE_SYSTEMS
                .iter()
                .any(|system| system.eq_ignore_ascii_case(name))
        };
        Self(
            (0..i32::try_from(trace.frames()).unwrap_or(i32::MAX))
                .filter(is_one)
                .collect(),
        )
    }

    pub(super) fn has(&self, frame: i32) -> bool {
        self.0.contains(&frame)
    }
}

impl Owners {
    /// Reads modules, threads and the tree of stacks.
    pub(super) fn find(session: &Session, asked: &OverheadRequest) -> Result<Self> {
        let rows: Vec<ModuleRow> = ask(session, MODULES)?;
        let are_known = rows
            .iter()
            .any(|row| row.company.as_ref().is_some_and(|text| !text.is_empty()));
        let mut products = Products::new(asked, are_known);
        let (modules, processes) = of_modules(&rows, &mut products);
        let frames = session.frames()?;
        let empty = TraceFrames::default();
        let trace = frames.trace(0).unwrap_or(&empty);
        let mut is_kernel_named = false;
        let frame = |number| of_frame(trace, number, &modules, &mut is_kernel_named);
        let frames: Vec<Owner> = (0..i32::try_from(trace.frames()).unwrap_or(i32::MAX))
            .map(frame)
            .collect();
        let (stacks, waiting) = of_stacks(trace, &frames);
        let threads = of_threads(session, &processes, |frame| at(&frames, frame))?;
        let names = rows
            .into_iter()
            .map(|row| (key(row.module_id), row.name))
            .collect();
        Ok(Self {
            products,
            stacks,
            waiting,
            frames,
            threads,
            names,
            is_kernel_named,
        })
    }

    pub(super) fn products(&self) -> impl Iterator<Item = &Product> {
        self.products.all.iter()
    }

    /// Returns notes for the reader.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.products.are_companies_known {
            notes.push(
                "The trace does not say which companies made the files, so that products are not known; \
                 merging (xperf -d, wpr -stop) adds it"
                    .to_owned(),
            );
        }
        if !self.is_kernel_named {
            notes.push(
                "Without symbols of the kernel the cost of event tracing inside programs is not known"
                    .to_owned(),
            );
        }
        notes
    }

    /// Returns the owner of the code that a thread runs in this stack.
    pub(super) fn stack(&self, stack_id: i64) -> Owner {
        at(&self.stacks, stack_id)
    }

    /// Returns the owner of the code that makes a thread wait in this stack.
    pub(super) fn waiting(&self, stack_id: i64) -> Owner {
        at(&self.waiting, stack_id)
    }

    /// Returns the owner of the code at a frame.
    pub(super) fn frame(&self, frame_id: i64) -> Owner {
        at(&self.frames, frame_id)
    }

    /// Returns the owner of a thread.
    pub(super) fn thread(&self, thread_key: i64) -> Owner {
        self.threads
            .get(&key(thread_key))
            .copied()
            .unwrap_or(NOBODY)
    }

    /// Returns the file name of a module.
    pub(super) fn file(&self, module: i32) -> Option<&str> {
        self.names.get(&module).map(String::as_str)
    }
}

pub(super) fn key(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(-1)
}

pub(super) fn at(all: &[Owner], number: i64) -> Owner {
    usize::try_from(number)
        .ok()
        .and_then(|number| all.get(number))
        .copied()
        .unwrap_or(NOBODY)
}

/// Returns the owners of modules, and of processes by their executables. A library in the folder of
/// the executable came with the program: it is a part of the program, whichever company made it.
fn of_modules(
    rows: &[ModuleRow],
    products: &mut Products,
) -> (HashMap<i32, Owner>, HashMap<i64, Owner>) {
    let mut own = |row: &ModuleRow| {
        let file = File {
            name: &row.name,
            path: &row.path,
            company: row.company.as_deref(),
            product: row.product_name.as_deref(),
            is_driver: row.process_key.is_none(),
        };
        let module = key(row.module_id);
        products
            .of(&file)
            .map_or(NOBODY, |product| Owner { product, module })
    };
    // Executables first: their folders decide the owners of the libraries below.
    let mut processes = HashMap::new();
    let mut folders = HashMap::new();
    for row in rows.iter().filter(|row| row.is_executable) {
        let Some(process) = row.process_key else {
            continue;
        };
        let owner = own(row);
        if owner != NOBODY {
            processes.insert(process, owner);
            // An empty folder would be a prefix of every other one.
            let home = folder(&row.path);
            if !home.is_empty() {
                folders.insert(process, home);
            }
        }
    }
    let modules = rows.iter().map(|row| {
        let home = row
            .process_key
            .and_then(|process| Some((folders.get(&process)?, processes.get(&process)?)));
        let module = key(row.module_id);
        let owner = match home {
            Some((home, owner)) if folder(&row.path).starts_with(home) => {
                Owner { module, ..*owner }
            }
            _ => own(row),
        };
        (module, owner)
    });
    (modules.collect(), processes)
}

/// Returns owners of threads: the owner of the frame in which the thread started, or else of its
/// process.
pub(super) fn of_threads(
    session: &Session,
    processes: &HashMap<i64, Owner>,
    mut began: impl FnMut(i64) -> Owner,
) -> Result<HashMap<i32, Owner>> {
    let rows: Vec<ThreadRow> = ask(
        session,
        "SELECT thread_key, process_key, start_frame_id FROM thread ORDER BY thread_key",
    )?;
    let owner = rows.into_iter().map(|row| {
        let own = row
            .process_key
            .and_then(|process| processes.get(&process))
            .copied()
            .unwrap_or(NOBODY);
        let began = row.start_frame_id.map_or(NOBODY, &mut began);
        // Worker threads of a scanner inside other programs start in the scanner's own file.
        (
            key(row.thread_key),
            if began == NOBODY { own } else { began },
        )
    });
    Ok(owner.collect())
}

/// Returns the folder of a file, in lower case, with the last separator.
fn folder(path: &str) -> String {
    split(path).0.to_lowercase()
}

fn of_frame(
    trace: &TraceFrames,
    frame: i32,
    modules: &HashMap<i32, Owner>,
    is_kernel_named: &mut bool,
) -> Owner {
    let module = trace.module_id(frame).unwrap_or(-1);
    let owner = modules.get(&module).copied().unwrap_or(NOBODY);
    let Some(method) = trace.method(frame) else {
        return owner;
    };
    let file = trace.module(frame).unwrap_or("");
    if !LOGGERS
        .iter()
        .any(|logger| logger.eq_ignore_ascii_case(file))
    {
        return owner;
    }
    // Any kernel function with a name shows that the kernel's symbols were found; ntdll.dll starts
    // with the same letters and is not the kernel.
    *is_kernel_named |= file
        .get(..2)
        .is_some_and(|begin| begin.eq_ignore_ascii_case("nt"))
        && !file.eq_ignore_ascii_case("ntdll.dll");
    if LOGGING.iter().any(|begin| method.starts_with(begin)) {
        return Owner {
            product: Products::TRACING,
            module,
        };
    }
    owner
}

/// Returns owners of running and of waiting stacks. Callers have smaller numbers, so their owners
/// are known before their callees are looked at.
fn of_stacks(trace: &TraceFrames, frames: &[Owner]) -> (Vec<Owner>, Vec<Owner>) {
    let systems = FileSystems::of(trace);
    let mut all = Vec::with_capacity(trace.stacks());
    let mut waiting = Vec::with_capacity(trace.stacks());
    for stack in 0..i32::try_from(trace.stacks()).unwrap_or(i32::MAX) {
        let (caller, frame) = trace.node(stack).unwrap_or((None, -1));
        let own = at(frames, frame.into());
        let from = |all: &[Owner]| caller.map_or(NOBODY, |caller| at(all, caller.into()));
        all.push(if own == NOBODY { from(&all) } else { own });
        // Below a file system no filter is responsible any more, until code of some product is
        // called from there.
        waiting.push(match own == NOBODY {
            true if systems.has(frame) => NOBODY,
            true => from(&waiting),
            false => own,
        });
    }
    (all, waiting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_a_folder_owns_no_other_file() {
        let row = |module_id, name: &str, path: &str, company: Option<&str>| ModuleRow {
            module_id,
            process_key: Some(1),
            name: name.to_owned(),
            path: path.to_owned(),
            company: company.map(str::to_owned),
            product_name: None,
            is_executable: company.is_some(),
        };
        let rows = [
            row(1, "tool.exe", "tool.exe", Some("North Ltd")),
            row(2, "old.dll", r"C:\Windows\System32\old.dll", None),
        ];
        let mut products = Products::new(&OverheadRequest::default(), true);
        let (modules, processes) = of_modules(&rows, &mut products);
        assert_eq!(modules.get(&2), Some(&NOBODY));
        assert_eq!(modules.get(&1), processes.get(&1));
    }
}
