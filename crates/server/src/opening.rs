//! Opening traces in the background.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etwkit_base::endings;
use etwkit_base::lock::lock;
use etwkit_engine::{Asking, Extracting, Progress, is_folder, refuse_address, refuse_lakes};
use etwkit_extract::{Extract, StoreError};
use etwkit_pyramid::Pyramid;

use crate::about::about;
use crate::problem::{Problem, Result};
use crate::recent;
use crate::state::{Ready, Shared, Stage, Trace};

/// Planning recurses.
const STACK_BYTES: usize = 16 << 20;

/// Advice for a file that has no more specific hint.
const HINT: &str =
    "is it a whole trace (.etl) or extract (NAME.etwx)? `etwkit info` says more about it";

/// Returns an error if one of these paths is a lake or a run of one: the timeline is drawn from the files
/// of an extract.
///
/// # Errors
/// One of them is.
pub fn check_no_lake<'p>(
    paths: impl IntoIterator<Item = &'p PathBuf>,
) -> etwkit_engine::Result<()> {
    let hint =
        "open the trace or the extract of a run; `etwkit dump` and `etwkit diagnose` take LAKE#RUN";
    refuse_lakes(paths, "the page", hint)
}

/// Starts to open a path, unless it is open. `info` reports the progress. A folder is listed, and
/// its recordings are opened one by one.
pub(crate) fn begin(shared: &Arc<Shared>, path: &Path) -> Result<()> {
    refuse_address(path)?;
    check_no_lake([&path.to_owned()])?;
    if is_folder(path) {
        shared.add_folder(path);
        return Ok(());
    }
    match shared.add(path)? {
        Some(trace) => start(shared, trace),
        None => Ok(()),
    }
}

/// Starts to open the traces of an extract again, which was replaced by another one.
pub(crate) fn again(shared: &Arc<Shared>, extract: &Path) {
    start_all(shared, &shared.begun_again(extract));
}

/// Closes an extract, and returns its traces, which the caller opens again.
pub(crate) fn close(shared: &Arc<Shared>, extract: &Path) -> Vec<Arc<Trace>> {
    let traces = shared.begun_again(extract);
    shared.engine.pool().want(shared.extracts());
    traces
}

/// Starts to open traces that are marked as being opened.
pub(crate) fn start_all(shared: &Arc<Shared>, traces: &[Arc<Trace>]) {
    for trace in traces {
        if let Err(problem) = start(shared, trace.clone()) {
            *lock(&trace.stage) = problem.into();
        }
    }
}

/// Opens a trace on a thread of its own.
fn start(shared: &Arc<Shared>, trace: Arc<Trace>) -> Result<()> {
    let shared = shared.clone();
    let thread = std::thread::Builder::new()
        .name("open".to_owned())
        .stack_size(STACK_BYTES);
    thread.spawn(move || {
        let mut opened = None;
        // One trace at a time: an extraction takes all processors and much memory by itself. The
        // next one starts when this one is ready, since opening keeps the open ones open.
        let one = lock(&shared.opening);
        let stage = open(&shared, &trace);
        *lock(&trace.stage) = match stage {
            Ok(ready) => Stage::Ready(Arc::clone(opened.insert(Arc::new(ready)))),
            Err(problem) => problem.into(),
        };
        drop(one);
        // The first picture is drawn from small files; larger files are read in the background. A
        // failure here repeats at the next request and is reported there.
        if let Some(Ok(pyramid)) = opened.as_ref().map(|ready| ready.pyramid()) {
            let _ = pyramid.open_files(&|| !shared.ending.is_asked());
        }
    })?;
    Ok(())
}

impl From<Problem> for Stage {
    fn from(problem: Problem) -> Self {
        let failure = problem.into_failure();
        Self::Failed {
            message: failure.message,
            hint: failure.hint.or_else(|| Some(HINT.to_owned())),
        }
    }
}

fn open(shared: &Arc<Shared>, trace: &Arc<Trace>) -> Result<Ready> {
    let asking = Asking {
        cancel: shared.ending.clone(),
        progress: Arc::new(Reporter {
            trace: trace.clone(),
            shared: shared.clone(),
        }),
        ..Asking::default()
    };
    if !trace.path.exists() {
        return Err(
            Problem::not_found(format!("there is no {}", trace.path.display()))
                .with_hint("name a trace (.etl) or an extract (NAME.etwx)"),
        );
    }
    let mut notes = Vec::new();
    let extract = shared.engine.extract_of(&asking, &trace.path, &mut notes)?;
    if let Err(StoreError::NotAnExtract { path, what }) = Extract::open(&extract) {
        return Err(neither(&path, &what));
    }
    // From now on it stays open between requests.
    let mut open: Vec<_> = shared.extracts();
    open.push(extract.clone());
    shared.engine.pool().want(open);
    set_step(trace, "reading what is in it", None);
    let session = shared
        .engine
        .open(&asking, std::slice::from_ref(&extract), &mut notes)?;
    let opening = about(&session)?;
    set_step(trace, "building the timeline", None);
    let pyramid = pyramid(shared, trace, &extract)?;
    // An uploaded trace is in a folder that is removed with the server, so it could not be opened
    // again.
    if !trace.path.starts_with(&shared.uploads) {
        recent::add(&shared.cache_folder, &trace.path);
    }
    Ok(Ready::new(trace.path.clone(), extract, opening, pyramid))
}

/// Returns the error for a file or folder of another kind.
fn neither(path: &Path, what: &str) -> Problem {
    let path = path.display();
    Problem::bad(format!(
        "{path} is neither a trace nor an extract: found {what}"
    ))
    .with_hint(format!(
        "names of traces end in {}; an extract is a folder NAME.etwx or a file NAME.etwx.zip",
        endings::TRACES.join(", ")
    ))
}

/// Without the pyramid only timelines are missing. Every other request still works.
fn pyramid(
    shared: &Shared,
    trace: &Trace,
    extract: &Path,
) -> Result<etwkit_pyramid::Result<Pyramid>> {
    let extract = Extract::open(extract).map_err(etwkit_engine::Error::from)?;
    let cache = shared.cache_folder.join("pages");
    Ok(Pyramid::open(&extract, Some(&cache), &mut |progress| {
        set_step(
            trace,
            "building the timeline",
            share(progress.rows, progress.of),
        );
        !shared.ending.is_asked()
    }))
}

/// Returns the completed share of a whole.
fn share(done: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| (done as f64 / of as f64).clamp(0.0, 1.0))
}

fn set_step(trace: &Trace, step: &str, done: Option<f64>) {
    *lock(&trace.stage) = Stage::Opening {
        step: step.to_owned(),
        done,
    };
}

/// Reports the progress of extracting a trace.
struct Reporter {
    trace: Arc<Trace>,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Reporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reporter").finish_non_exhaustive()
    }
}

impl Progress for Reporter {
    fn extracting(&self, _: &Path) -> Extracting {
        let trace = self.trace.clone();
        let shared = self.shared.clone();
        Box::new(move |progress| {
            set_step(&trace, "extracting", Some(progress.done.clamp(0.0, 1.0)));
            if shared.ending.is_asked() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
    }
}
