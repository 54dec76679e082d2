//! Progress of the search for symbols that the page started.

use std::sync::Mutex;

use etwkit_base::lock::lock;
use etwkit_engine::symbols::LoadedNames;
use etwkit_extract::{NamedFile, Naming, UnknownFile, attempts};
use etwkit_symbols::{Attempt, Cancel, Event, NOT_THERE};

use crate::wire::{Failure, SymbolsAnswer, SymbolsModule, SymbolsState, SymbolsStep};

/// Largest number of modules in an answer.
const MOST_MODULES: usize = 1_000;

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

impl Loading {
    /// Gives up the search, because the server ends.
    pub(crate) fn give_up(&self) {
        lock(&self.progress).cancel.ask();
    }

    pub(crate) fn answer(&self) -> SymbolsAnswer {
        let progress = lock(&self.progress);
        let mut answer = progress.answer.clone();
        answer.left_out = cut(&mut answer.modules);
        answer
    }

    /// Begins a search of a trace; `None` if one runs.
    pub(crate) fn begin(&self, trace: u32, notes: Vec<String>) -> Option<Cancel> {
        let mut progress = lock(&self.progress);
        if progress.answer.step != SymbolsStep::Idle {
            return None;
        }
        *progress = Progress::default();
        progress.answer.step = SymbolsStep::Searching;
        progress.answer.trace = Some(trace);
        progress.answer.notes = notes;
        Some(progress.cancel.clone())
    }

    /// Notes a step on the way to a file.
    pub(crate) fn note(&self, name: &str, event: Event<'_>) {
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

    /// Begins to write names; returns `false` if the search was given up in the meantime.
    pub(crate) fn write(&self, cancel: &Cancel) -> bool {
        let mut progress = lock(&self.progress);
        if cancel.is_asked() {
            return false;
        }
        progress.answer.step = SymbolsStep::Writing;
        true
    }

    /// Gives up the search; returns the step of a search that cannot be given up.
    pub(crate) fn cancel(&self) -> Result<(), SymbolsStep> {
        let mut progress = lock(&self.progress);
        match progress.answer.step {
            SymbolsStep::Searching | SymbolsStep::Cancelling => {
                progress.answer.step = SymbolsStep::Cancelling;
                progress.cancel.ask();
                Ok(())
            }
            step @ (SymbolsStep::Idle | SymbolsStep::Writing) => Err(step),
        }
    }

    /// Takes back the begin of a search whose thread could not be started.
    pub(crate) fn not_begun(&self) {
        lock(&self.progress).answer.step = SymbolsStep::Idle;
    }

    /// Ends the search with its outcome.
    pub(crate) fn end(&self, loaded: Result<LoadedNames, Failure>) {
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
            Err(failure) => {
                let is_over = |module: &SymbolsModule| module.state != SymbolsState::Searching;
                answer.modules.retain(is_over);
                answer.failure = Some(failure);
            }
        }
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
        assert!(loading.begin(0, Vec::new()).is_none(), "one at a time");
        loading.note("a.pdb", Event::Started);
        loading.give_up();
        loading.note("a.pdb", Event::Finished { is_loaded: false });
        assert!(!loading.write(&cancel));
        loading.end(Err(Failure::default()));
        let answer = loading.answer();
        assert_eq!(answer.step, SymbolsStep::Idle);
        assert!(answer.modules.is_empty(), "a.pdb may be there");
        assert!(answer.failure.is_some());
    }
}
