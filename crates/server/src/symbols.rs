//! Symbols that the page loads: one search at a time, in the background. It takes minutes when
//! files come from a server, and the page asks for progress.

use std::sync::{Arc, Mutex};

use etwkit_engine::symbols::{Loaded, options, search_path, write_names};
use etwkit_extract::{Extract, NameFrom, NamedFile, Naming, UnknownFile, attempts, find_names};
use etwkit_symbols::search_path::Element;
use etwkit_symbols::{Attempt, Cancel, Event, NOT_THERE, SearchPath};

use crate::api::Call;
use crate::opening;
use crate::problem::{Problem, Result};
use crate::recording::Nothing;
use crate::state::{Ready, Shared, lock};
use crate::wire::{
    Failure, SymbolsAnswer, SymbolsModule, SymbolsRequest, SymbolsState, SymbolsStep,
};

/// Longest search path: that of a command line of Windows.
const LONGEST_PATH: usize = 8_191;
/// Advice for a search path that is not usable.
const PATH_HINT: &str = "name a folder, or srv*CACHE*URL as in _NT_SYMBOL_PATH";
/// Largest number of modules in an answer.
const MOST_MODULES: usize = 1_000;
/// Stack size of the thread, in bytes: derived tables are computed on it.
const STACK_BYTES: usize = 16 << 20;

/// The search that runs, or the last one.
#[derive(Default)]
pub(crate) struct Loading {
    progress: Mutex<Progress>,
}

/// Progress of a search, or its outcome.
#[derive(Default)]
struct Progress {
    answer: SymbolsAnswer,
    cancel: Cancel,
}

/// Answers with the progress of the search.
pub(crate) fn show(call: &Call<'_>, _: &Nothing) -> Result<SymbolsAnswer> {
    Ok(call.shared.symbols.answer())
}

/// Starts a search.
pub(crate) fn load(call: &Call<'_>, request: &SymbolsRequest) -> Result<SymbolsAnswer> {
    let ready = call.ready(request.trace)?;
    let path = path_of(call.shared, &ready, &request.path)?;
    let mut notes: Vec<String> = path.notes().collect();
    if call.shared.engine.settings().is_offline {
        notes.push("ETWKIT_OFFLINE is set: no server is contacted".to_owned());
    }
    let cancel = call.shared.symbols.begin(request.trace, notes)?;
    let shared = call.shared.clone();
    let thread = std::thread::Builder::new()
        .name("symbols".to_owned())
        .stack_size(STACK_BYTES);
    let spawned = thread.spawn(move || {
        let loaded = search(&shared, ready, path, &cancel);
        shared.symbols.end(loaded);
    });
    if let Err(error) = spawned {
        lock(&call.shared.symbols.progress).answer.step = SymbolsStep::Idle;
        return Err(error.into());
    }
    Ok(call.shared.symbols.answer())
}

/// Gives up the search. The extract stays as it is.
pub(crate) fn cancel(call: &Call<'_>, _: &Nothing) -> Result<SymbolsAnswer> {
    let symbols = &call.shared.symbols;
    let mut progress = lock(&symbols.progress);
    match progress.answer.step {
        SymbolsStep::Searching | SymbolsStep::Cancelling => {
            progress.answer.step = SymbolsStep::Cancelling;
            progress.cancel.ask();
        }
        SymbolsStep::Idle => {
            return Err(
                Problem::conflict("no symbols are being loaded").with_hint("start a search first")
            );
        }
        SymbolsStep::Writing => {
            return Err(Problem::conflict("the names are being written")
                .with_hint("try again when this is done"));
        }
    }
    drop(progress);
    Ok(symbols.answer())
}

/// Returns the search path of a request: files next to the trace, then the places that it names.
fn path_of(shared: &Shared, ready: &Ready, text: &str) -> Result<SearchPath> {
    let refused = |message: String| Problem::bad(message).with_hint(PATH_HINT);
    if text.len() > LONGEST_PATH || text.contains(char::is_control) {
        return Err(refused(format!(
            "expected a symbol path of at most {LONGEST_PATH} bytes, on one line"
        )));
    }
    let named = [text.to_owned()];
    let path = search_path(shared.engine.settings(), &named, &ready.named, &[]);
    let is_usable = |element: &Element| matches!(element, Element::Folder(_) | Element::Chain(_));
    if path.elements().iter().any(is_usable) {
        return Ok(path);
    }
    let unusable = path.elements().iter().find_map(|element| match element {
        Element::Unusable { text, reason } => Some(format!("{text}: {reason}")),
        _ => None,
    });
    let message =
        unusable.unwrap_or_else(|| "no place to look for symbol files is named".to_owned());
    Err(refused(message))
}

/// Searches, and replaces the extract if there are names for it.
fn search(
    shared: &Arc<Shared>,
    ready: Arc<Ready>,
    path: SearchPath,
    cancel: &Cancel,
) -> Result<Loaded> {
    let on_symbols = |name: &str, event: Event<'_>| shared.symbols.note(name, event);
    let options = etwkit_symbols::Options {
        cancel: cancel.clone(),
        ..options(shared.engine.settings(), &path, false)
    };
    let from = NameFrom {
        path,
        options,
        on_symbols: &on_symbols,
    };
    let extract = Extract::open(&ready.extract).map_err(etwkit_engine::Error::from)?;
    let found = find_names(&extract, &from).map_err(etwkit_engine::Error::from)?;
    let named = ready.named.clone();
    // A trace that is opened in the meantime could be one of this extract.
    let one = lock(&shared.opening);
    shared.symbols.write(cancel)?;
    // Some systems do not replace an extract whose files are open.
    drop(ready);
    let closed = if found.has_news() {
        opening::close(shared, extract.path())
    } else {
        Vec::new()
    };
    let loaded = write_names(found, &extract, &named);
    drop(one);
    opening::start_all(shared, &closed);
    Ok(loaded.map_err(etwkit_engine::Error::from)?)
}

impl Loading {
    /// Gives up the search, because the server ends.
    pub(crate) fn give_up(&self) {
        lock(&self.progress).cancel.ask();
    }

    fn answer(&self) -> SymbolsAnswer {
        let progress = lock(&self.progress);
        let mut answer = progress.answer.clone();
        answer.left_out = cut(&mut answer.modules);
        answer
    }

    /// Begins a search of a trace, unless one runs.
    fn begin(&self, trace: u32, notes: Vec<String>) -> Result<Cancel> {
        let mut progress = lock(&self.progress);
        if progress.answer.step != SymbolsStep::Idle {
            return Err(Problem::conflict("symbols are being loaded already")
                .with_hint("cancel it first, or wait for its end"));
        }
        *progress = Progress::default();
        progress.answer.step = SymbolsStep::Searching;
        progress.answer.trace = Some(trace);
        progress.answer.notes = notes;
        Ok(progress.cancel.clone())
    }

    /// Notes a step on the way to a file.
    fn note(&self, name: &str, event: Event<'_>) {
        let state = match event {
            Event::Finished { is_loaded: true } => SymbolsState::Found,
            Event::Finished { is_loaded: false } => SymbolsState::NotFound,
            _ => SymbolsState::Searching,
        };
        let module = SymbolsModule {
            name: name.to_owned(),
            state,
            detail: event.words(),
        };
        let mut progress = lock(&self.progress);
        // A file whose search was given up would count as missing.
        if progress.cancel.is_asked() {
            return;
        }
        let modules = &mut progress.answer.modules;
        // The files in work are the last ones of the list.
        match modules.iter_mut().rev().find(|known| known.name == name) {
            Some(known) => *known = module,
            None => modules.push(module),
        }
    }

    /// Begins to write names, unless the search was given up in the meantime.
    fn write(&self, cancel: &Cancel) -> Result<()> {
        let mut progress = lock(&self.progress);
        if cancel.is_asked() {
            return Err(Problem::cancelled());
        }
        progress.answer.step = SymbolsStep::Writing;
        Ok(())
    }

    fn end(&self, loaded: Result<Loaded>) {
        let mut progress = lock(&self.progress);
        let answer = &mut progress.answer;
        answer.step = SymbolsStep::Idle;
        match loaded {
            Ok(loaded) => {
                let counts = loaded.naming.counts();
                answer.modules = modules(&loaded.naming);
                (answer.addresses, answer.named) = (Some(counts.addresses), counts.named);
                answer.is_changed = loaded.is_changed;
                answer.notes.extend(loaded.note());
            }
            Err(problem) => {
                let is_over = |module: &SymbolsModule| module.state != SymbolsState::Searching;
                answer.modules.retain(is_over);
                answer.failure = Some(failure(problem));
            }
        }
    }
}

/// Returns the failure of a search. The one that was given up says what that means.
fn failure(problem: Problem) -> Failure {
    let failure = problem.into_failure();
    if failure.code != "cancelled" {
        return failure;
    }
    Failure {
        message: "the search was given up; the extract has the names that it had".to_owned(),
        ..failure
    }
}

/// Cuts a list and returns the number of modules that were left out.
fn cut(modules: &mut Vec<SymbolsModule>) -> u32 {
    let left_out = modules.len().saturating_sub(MOST_MODULES);
    modules.truncate(MOST_MODULES);
    u32::try_from(left_out).unwrap_or(u32::MAX)
}

/// Returns the modules with the outcome of the search for their files.
fn modules(naming: &Naming) -> Vec<SymbolsModule> {
    let files = naming.files.iter().map(of_file);
    files.chain(naming.unknown.iter().map(of_unknown)).collect()
}

fn of_file(file: &NamedFile) -> SymbolsModule {
    let (state, detail) = match file.source_and_faults() {
        Some(source) => (SymbolsState::Found, source),
        None => (without_symbols(&file.tried), attempts(&file.tried)),
    };
    SymbolsModule {
        name: file.module.clone(),
        state,
        detail: Some(detail),
    }
}

fn of_unknown(file: &UnknownFile) -> SymbolsModule {
    SymbolsModule {
        name: file.module.clone(),
        state: without_symbols(&file.tried),
        detail: Some(file.reason()),
    }
}

/// Returns the state of a module without symbols: not found, if each place works and does not have
/// the file.
fn without_symbols(tried: &[Attempt]) -> SymbolsState {
    if tried.iter().all(|attempt| attempt.reason == NOT_THERE) {
        SymbolsState::NotFound
    } else {
        SymbolsState::Failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(reason: &str) -> Attempt {
        Attempt {
            place: "/symbols".to_owned(),
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn a_place_that_cannot_be_searched_is_a_failure() {
        assert_eq!(without_symbols(&[]), SymbolsState::NotFound);
        assert_eq!(
            without_symbols(&[attempt(NOT_THERE)]),
            SymbolsState::NotFound
        );
        let tried = [attempt(NOT_THERE), attempt("is no folder")];
        assert_eq!(without_symbols(&tried), SymbolsState::Failed);
    }

    #[test]
    fn each_file_is_in_the_list_once() {
        let loading = Loading::default();
        loading.note("a.pdb", Event::Started);
        loading.note("b.pdb", Event::Started);
        let reading = Event::Reading {
            place: "/symbols/a.pdb",
            bytes: 2_000_000,
        };
        loading.note("a.pdb", reading);
        loading.note("b.pdb", Event::Finished { is_loaded: false });
        let answer = loading.answer();
        let modules: Vec<_> = answer
            .modules
            .iter()
            .map(|one| (&*one.name, one.state))
            .collect();
        assert_eq!(
            modules,
            [
                ("a.pdb", SymbolsState::Searching),
                ("b.pdb", SymbolsState::NotFound)
            ]
        );
        let detail = answer.modules[0].detail.as_deref();
        assert_eq!(detail, Some("reading 2.0 MB"));
    }

    #[test]
    fn a_search_that_is_given_up_writes_nothing() {
        let loading = Loading::default();
        let cancel = loading.begin(0, Vec::new()).unwrap();
        assert!(loading.begin(0, Vec::new()).is_err(), "one at a time");
        loading.note("a.pdb", Event::Started);
        loading.give_up();
        loading.note("a.pdb", Event::Finished { is_loaded: false });
        let refused = loading.write(&cancel).unwrap_err();
        loading.end(Err(refused));
        let answer = loading.answer();
        assert_eq!(answer.step, SymbolsStep::Idle);
        assert!(answer.modules.is_empty(), "a.pdb may be there");
        let failure = answer.failure.unwrap();
        assert_eq!(failure.code, "cancelled");
        assert!(failure.message.contains("the names that it had"));
    }
}
