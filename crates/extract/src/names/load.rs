//! Loading of symbol files with several threads, because servers and disks take most of the time.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::thread;

use etwkit_symbols::{Identity, NamedPdb, Outcome, Progress, Symbol, Symbols};

use super::wanted::{Sought, Wanted};
use super::{NamedFile, OnSymbols};

/// Maximum number of symbol files that are read at the same time: large ones take some hundred
/// megabytes each.
const WORKERS: usize = 4;

/// The result of one symbol file.
#[derive(Default)]
pub(super) struct Answer {
    /// A symbol for each requested offset, if there are symbols.
    pub(super) symbols: Option<Vec<Option<Symbol>>>,
    /// Number of functions that it names.
    pub(super) functions: Option<usize>,
    /// The symbol file, if only the image identifies it.
    pub(super) pdb: Option<NamedPdb>,
}

/// Loads all symbol files in parallel. The answers are in the order of `wanted`.
pub(super) fn load(
    wanted: &[Wanted],
    symbols: &Symbols,
    on_symbols: &OnSymbols<'_>,
) -> Vec<(NamedFile, Answer)> {
    let asked = wanted
        .iter()
        .enumerate()
        .filter(|(_, file)| !file.rvas.is_empty());
    let queue: Mutex<VecDeque<(usize, &Wanted)>> = Mutex::new(asked.collect());
    let answers: Mutex<Vec<(usize, NamedFile, Answer)>> = Mutex::default();
    let next = || {
        queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    };
    let work = || {
        while let Some((index, file)) = next() {
            let (named, answer) = one(file, symbols, on_symbols);
            answers
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((index, named, answer));
        }
    };
    let workers = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(WORKERS);
    thread::scope(|scope| {
        for _ in 1..workers {
            // If no thread can be started, this one does its work.
            let _ = thread::Builder::new()
                .name("symbols".to_owned())
                .spawn_scoped(scope, work);
        }
        work();
    });
    let mut answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Threads answer in any order; the tables that are written from the answers must not depend on
    // it.
    answers.sort_unstable_by_key(|(index, ..)| *index);
    let mut answers = answers.into_iter().peekable();
    let nothing = |file: &Wanted| (report(file), Answer::default());
    let answer = |(index, file)| match answers.next_if(|(answered, ..)| *answered == index) {
        Some((_, named, answer)) => (named, answer),
        None => nothing(file),
    };
    wanted.iter().enumerate().map(answer).collect()
}

fn one(file: &Wanted, symbols: &Symbols, on_symbols: &OnSymbols<'_>) -> (NamedFile, Answer) {
    let (mut report, mut answer) = (report(file), Answer::default());
    let mut progress = |name: &str, event: etwkit_symbols::Event<'_>| on_symbols(name, event);
    let Some(identity) = identity(file, symbols, &mut progress, &mut report, &mut answer) else {
        return (report, answer);
    };
    let module = match symbols.load(&identity, &mut progress) {
        Outcome::Loaded(module) => module,
        Outcome::Missing { tried } => {
            report.tried.extend(tried);
            return (report, answer);
        }
    };
    report.tried.extend(module.tried.iter().cloned());
    match module.resolve_sorted(&file.rvas) {
        // The request also contained the bytes before the addresses of callers; only the addresses
        // themselves count as named.
        Ok(found) => {
            let is_named = |rva: &&u32| {
                let place = file.rvas.binary_search(rva).ok();
                place
                    .and_then(|place| found.get(place))
                    .is_some_and(Option::is_some)
            };
            report.named = file.frames.iter().filter(is_named).count();
            answer.functions = module.function_count();
            report.source = Some(module.source);
            answer.symbols = Some(found);
        }
        Err(error) => {
            report.tried.push(etwkit_symbols::Attempt {
                place: module.source,
                reason: error.to_string(),
            });
        }
    }
    (report, answer)
}

/// The identity of a module's symbol file: from the trace, or from the image if that is found.
fn identity(
    file: &Wanted,
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
    report.image_source = search.source;
    answer.pdb = search.pdb;
    report.identity = answer.pdb.as_ref().map(|pdb| pdb.identity.clone());
    report.identity.clone()
}

fn report(file: &Wanted) -> NamedFile {
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
        source: None,
        tried: Vec::new(),
    }
}
