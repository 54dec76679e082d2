//! Sessions over the extracts that arguments name: the engine opens them with the settings of the
//! command, and the printer gets the notes.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use etwkit_engine::of_paths;
pub(crate) use etwkit_engine::{OneRecording, SameTrace, is_trace};
use etwkit_sql::Session;

use crate::context::Context;
use crate::printer::Printer;

/// Opens the files that the arguments name as one session, which is not shared. Traces are
/// extracted into the cache first, and the printer notes that.
pub(crate) fn open_extracts(
    paths: &[PathBuf],
    printer: &mut Printer<'_>,
) -> anyhow::Result<Arc<Session>> {
    let context = printer.context();
    let session = context
        .engine
        .open(&context.asking, paths, printer.notes())?;
    printer.add_gaps(of_paths(paths, &session));
    Ok(Arc::new(session))
}

/// Returns the extract of a path: the path itself, or the extract in the cache that was made from a
/// trace or an extract of ETWAnalyzer.
pub(crate) fn extract_of(path: &Path, printer: &mut Printer<'_>) -> anyhow::Result<PathBuf> {
    let context = printer.context();
    Ok(context
        .engine
        .extract_of(&context.asking, path, printer.notes())?)
}

/// Returns the extracts that can be opened; the others become errors of the command.
pub(crate) fn readable(
    extracts: Vec<PathBuf>,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Vec<PathBuf>> {
    let named = extracts.len();
    let (mut good, Context { engine, asking }) = (Vec::new(), printer.context());
    for path in extracts {
        // Notes about extracts that can be opened appear when they are opened for the query.
        let opened = engine.source(&asking, &path, &mut Vec::new());
        match opened.with_context(|| path.display().to_string()) {
            Ok(_) => good.push(path),
            Err(error) => printer.failed(error),
        }
    }
    if good.is_empty() {
        bail!("none of the extracts can be opened");
    }
    note_unread(named - good.len(), named, printer);
    Ok(good)
}

/// Notes how many extracts answered where others could not be read.
pub(crate) fn note_unread(failed: usize, named: usize, printer: &mut Printer<'_>) {
    if failed > 0 && failed < named {
        let read = named - failed;
        printer.note(&format!(
            "{read} of {named} could be read: the answer leaves out the others"
        ));
    }
}

/// Returns the files that arguments name. Archives with several extracts of ETWAnalyzer are
/// replaced by the extracts in the cache that were made from them.
pub(crate) fn unpacked<'p>(
    paths: Cow<'p, [PathBuf]>,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Cow<'p, [PathBuf]>> {
    let context = printer.context();
    Ok(context
        .engine
        .unpacked(&context.asking, paths, printer.notes())?)
}
