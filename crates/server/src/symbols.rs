//! Symbols that the page loads: one search at a time, in the background. It takes minutes when
//! files come from a server, and the page asks for progress.

use std::sync::Arc;

use etwkit_base::lock::lock;
use etwkit_engine::symbols::{LoadedNames, options, search_path, write_names};
use etwkit_extract::{Extract, NameFrom, find_names};
use etwkit_symbols::search_path::Element;
use etwkit_symbols::{Cancel, Event, SearchPath};

use crate::api::{Call, Nothing};
use crate::opening;
use crate::problem::{Problem, Result};
use crate::state::{Ready, Shared};
use crate::wire::{Failure, SymbolsAnswer, SymbolsRequest, SymbolsStep};

/// Longest search path: that of a command line of Windows.
const LONGEST_PATH: usize = 8_191;
/// Advice for a search path that is not usable.
const PATH_HINT: &str = "name a folder, or srv*CACHE*URL as in _NT_SYMBOL_PATH";
/// Stack size of the thread, in bytes: derived tables are computed on it.
const STACK_BYTES: usize = 16 << 20;

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
    let running = || {
        Problem::conflict("symbols are being loaded already")
            .with_hint("cancel it first, or wait for its end")
    };
    let symbols = &call.shared.symbols;
    let cancel = symbols.begin(request.trace, notes).ok_or_else(running)?;
    let shared = call.shared.clone();
    let thread = std::thread::Builder::new()
        .name("symbols".to_owned())
        .stack_size(STACK_BYTES);
    let spawned = thread.spawn(move || {
        let loaded = search(&shared, ready, path, &cancel);
        shared.symbols.end(loaded.map_err(failure));
    });
    if let Err(error) = spawned {
        symbols.not_begun();
        return Err(error.into());
    }
    Ok(call.shared.symbols.answer())
}

/// Gives up the search. The extract stays as it is.
pub(crate) fn cancel(call: &Call<'_>, _: &Nothing) -> Result<SymbolsAnswer> {
    let symbols = &call.shared.symbols;
    symbols.cancel().map_err(|step| match step {
        SymbolsStep::Writing => Problem::conflict("the names are being written")
            .with_hint("try again when this is done"),
        _ => Problem::conflict("no symbols are being loaded").with_hint("start a search first"),
    })?;
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
    if path.has_named_place() {
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
) -> Result<LoadedNames> {
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
    if !shared.symbols.write(cancel) {
        return Err(Problem::cancelled());
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_was_given_up_says_what_that_means() {
        let failure = failure(Problem::cancelled());
        assert_eq!(failure.code, "cancelled");
        assert!(failure.message.contains("the names that it had"));
    }
}
