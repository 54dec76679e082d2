//! Loading of symbol files with several threads, because servers and disks take most of the time.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::thread;

use etwkit_base::lock::lock;
use etwkit_symbols::portable::SourceLine;
use etwkit_symbols::{Attempt, Identity, Module, NamedPdb, Outcome, Progress, Symbol, Symbols};

use super::wanted::{Point, Sought, SymbolFileRequest};
use super::{NamedFile, OnSymbols};

/// Maximum number of symbol files that are read at the same time: large ones take some hundred
/// megabytes each.
const WORKERS: usize = 4;

/// The result of one symbol file.
#[derive(Default)]
pub(super) struct Answer {
    /// A symbol for each requested offset, if there are symbols.
    pub(super) symbols: Option<Vec<Option<Symbol>>>,
    /// A line for each requested point in IL, if there is any.
    pub(super) lines: Option<Vec<Option<SourceLine>>>,
    /// Number of functions that it names.
    pub(super) functions: Option<usize>,
    /// The symbol file, if only the image identifies it.
    pub(super) pdb: Option<NamedPdb>,
}

/// Loads all symbol files in parallel. The answers are in the order of `wanted`.
pub(super) fn load(
    wanted: &[SymbolFileRequest],
    symbols: &Symbols,
    on_symbols: &OnSymbols<'_>,
) -> Vec<(NamedFile, Answer)> {
    let asked = wanted
        .iter()
        .enumerate()
        .filter(|(_, file)| file.is_asked());
    let queue: Mutex<VecDeque<(usize, &SymbolFileRequest)>> = Mutex::new(asked.collect());
    let answers: Mutex<Vec<(usize, NamedFile, Answer)>> = Mutex::default();
    let next = || lock(&queue).pop_front();
    let work = || {
        // Asked before each file, since one file may take minutes to download.
        while let Some((index, file)) = next().filter(|_| !symbols.is_cancelled()) {
            let (named, answer) = one(file, symbols, on_symbols);
            lock(&answers).push((index, named, answer));
        }
    };
    let workers = thread::available_parallelism()
        .map_or(1, usize::from)
        // Workers wait for servers most of the time, but each may hold a large file in memory.
        .min(WORKERS);
    thread::scope(|scope| {
        for _ in 1..workers {
            // If no thread can be started, this one does its work.
            let _ = thread::Builder::new()
                .name("symbols".to_owned())
                // This thread works as well, so that one file needs no other thread.
                .spawn_scoped(scope, work);
        }
        work();
    });
    let mut answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Threads answer in any order; the tables that are written from the answers must not depend on
    // it.
    answers.sort_unstable_by_key(|(index, ..)| *index);
    let mut answers = answers.into_iter().peekable();
    let nothing = |file: &SymbolFileRequest| (report(file), Answer::default());
    let answer = |(index, file)| match answers.next_if(|(answered, ..)| *answered == index) {
        Some((_, named, answer)) => (named, answer),
        None => nothing(file),
    };
    wanted.iter().enumerate().map(answer).collect()
}

fn one(
    file: &SymbolFileRequest,
    symbols: &Symbols,
    on_symbols: &OnSymbols<'_>,
) -> (NamedFile, Answer) {
    let mut report = report(file);
    let mut answer = Answer::default();
    let mut progress = |name: &str, event: etwkit_symbols::Event<'_>| on_symbols(name, event);
    let Some(identity) = identity(file, symbols, &mut progress, &mut report, &mut answer) else {
        return (report, answer);
    };
    let module = match symbols.load(&identity, &mut progress) {
        Outcome::Loaded(module) => module,
        Outcome::Missing { tried } => {
            report.tried.extend(tried);
            // The trace has the symbol file of its native code; an assembly may carry the one of
            // its .NET code.
            let carried = carried(file, &identity, symbols, &mut progress, &mut report);
            let Some(module) = carried else {
                return (report, answer);
            };
            module
        }
    };
    report.tried.extend(module.tried.iter().cloned());
    if module.is_portable() {
        give_lines(file, module, &mut report, &mut answer);
    } else {
        give_names(file, module, &mut report, &mut answer);
    }
    (report, answer)
}

/// Looks for the symbol file of .NET code in its assembly.
fn carried(
    file: &SymbolFileRequest,
    identity: &Identity,
    symbols: &Symbols,
    progress: &mut dyn Progress,
    report: &mut NamedFile,
) -> Option<Module> {
    if file.mapped == 0 {
        return None;
    }
    match symbols.load_carried(identity, &file.module, progress) {
        Outcome::Loaded(module) => Some(module),
        Outcome::Missing { tried } => {
            // The places that do not have the one file seldom have the other, and are told once.
            for attempt in tried {
                if !report.tried.contains(&attempt) {
                    report.tried.push(attempt);
                }
            }
            None
        }
    }
}

fn give_names(
    file: &SymbolFileRequest,
    module: Module,
    report: &mut NamedFile,
    answer: &mut Answer,
) {
    if file.mapped > 0 {
        report.tried.push(Attempt {
            place: module.source.clone(),
            reason: NOT_PORTABLE.to_owned(),
        });
    }
    match module.resolve_sorted(&file.rvas) {
        // The request also contained the bytes before the addresses of callers; only the addresses
        // themselves count as named.
        Ok(found) => {
            // Only addresses that stacks have count, and not those that were asked for in addition.
            report.named = count_found(&file.frames, &file.rvas, &found);
            answer.functions = module.function_count();
            report.source = Some(module.source);
            answer.symbols = Some(found);
        }
        Err(error) => {
            report.tried.push(Attempt {
                place: module.source,
                reason: error.to_string(),
            });
        }
    }
}

const NOT_PORTABLE: &str = "lines of .NET code are read only from portable PDB files";
const NO_NATIVE_CODE: &str = "it is a portable PDB, which names no native code";
const NO_MAPS: &str = "it is a portable PDB, which gives lines of .NET code through IL-to-native maps, and the \
                       extract has none for the code of this module in its stacks; record the .NET provider with \
                       keyword JittedMethodILToNativeMap (0x20000)";
const NO_LINES: &str = "it has no line for the .NET code in the stacks";

/// Looks up the lines of .NET code. A portable PDB without any is not used: nothing changes.
fn give_lines(
    file: &SymbolFileRequest,
    module: Module,
    report: &mut NamedFile,
    answer: &mut Answer,
) {
    let line = |(token, il): &Point| module.source_line(*token, *il);
    let found: Vec<Option<SourceLine>> = file.points.iter().map(line).collect();
    // The places are counted, not the lines: many addresses are on one line.
    report.lines = count_found(&file.in_il, &file.points, &found);
    let reason = match report.lines {
        0 if file.mapped == 0 => Some(NO_MAPS),
        0 => Some(NO_LINES),
        _ if !file.frames.is_empty() => Some(NO_NATIVE_CODE),
        _ => None,
    };
    report.tried.extend(reason.map(|reason| Attempt {
        place: module.source.clone(),
        reason: reason.to_owned(),
    }));
    // Used only if it has a line, so that the report does not name a file that helped nothing.
    if report.lines > 0 {
        report.source = Some(module.source);
        answer.lines = Some(found);
    }
}

/// Counts the places with an answer. `found` has an answer, or none, for each of `asked`, which
/// ascend.
fn count_found<P: Ord, A>(places: &[P], asked: &[P], found: &[Option<A>]) -> usize {
    // Both lists ascend.
    let is_found = |place: &&P| {
        let position = asked.binary_search(place).ok();
        position
            .and_then(|position| found.get(position))
            .is_some_and(Option::is_some)
    };
    places.iter().filter(is_found).count()
}

/// The identity of a module's symbol file: from the trace, or from the image if that is found.
fn identity(
    file: &SymbolFileRequest,
    symbols: &Symbols,
    progress: &mut dyn Progress,
    report: &mut NamedFile,
    answer: &mut Answer,
) -> Option<Identity> {
    let Sought::ByImage(image) = &file.sought else {
        return report.identity.clone();
    };
    let search = symbols.image(image, progress);
    report.tried = search.tried;
    // What the search found is kept even without a symbol file: it says why there is none.
    report.image_source = search.source;
    answer.pdb = search.pdb;
    report.identity = answer.pdb.as_ref().map(|pdb| pdb.identity.clone());
    report.identity.clone()
}

fn report(file: &SymbolFileRequest) -> NamedFile {
    let (identity, image) = match &file.sought {
        Sought::Symbols(identity) => (Some(identity.clone()), None),
        Sought::ByImage(image) => (None, Some(image.clone())),
    };
    NamedFile {
        identity,
        image,
        image_source: None,
        module: file.module.clone(),
        addresses: file.frames.len(),
        named: 0,
        dotnet_addresses: file.mapped,
        lines: 0,
        source: None,
        tried: Vec::new(),
    }
}
