//! State that all requests share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use etwkit_base::lock::lock;
use etwkit_base::path::name_of;
use etwkit_engine::{Asking, Engine};
use etwkit_pyramid::Pyramid;
use etwkit_sql::{Cancel, Session};

use crate::guard::AccessGuard;
use crate::options::{Demo, Limits, ServerOptions};
use crate::problem::{Problem, Result};
use crate::recorder::Recording;
use crate::symbols_progress::Loading;
use crate::tags::Tags;
use crate::token::Token;
use crate::wire::{self, FindingsAnswer, State, TraceInfo};
use crate::words::trace_word;
use crate::work::WorkerPool;

/// Largest number of open traces: the same number of extracts stays open.
pub(crate) const MOST_TRACES: usize = 24;

/// Largest number of open folders: the oldest one is closed.
const MOST_FOLDERS: usize = 100;

/// State that all requests share.
pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) access: AccessGuard,
    pub(crate) cache_folder: PathBuf,
    pub(crate) demo: Option<Demo>,
    pub(crate) recording: Option<Recording>,
    pub(crate) symbols: Loading,
    pub(crate) tags: Tags,
    pub(crate) limits: Limits,
    pub(crate) workers: WorkerPool,
    /// Cancels opening traces when the server ends.
    pub(crate) ending: Cancel,
    /// Folder of uploaded traces, which is removed when the server ends.
    pub(crate) uploads: PathBuf,
    /// Held while a trace is opened, since traces are opened one after the other.
    pub(crate) opening: Mutex<()>,
    traces: Mutex<Vec<Arc<Trace>>>,
    /// Folders that a user opened, the latest first.
    folders: Mutex<Vec<PathBuf>>,
}

/// A trace or an extract that a user opened.
pub(crate) struct Trace {
    pub(crate) path: PathBuf,
    pub(crate) stage: Mutex<Stage>,
    /// Number of times that it was opened again, because its extract was replaced.
    replaced: AtomicU32,
}

/// Progress of opening a trace.
pub(crate) enum Stage {
    /// It is being read.
    Opening { step: String, done: Option<f64> },
    /// It is ready for queries.
    Ready(Arc<Ready>),
    /// It cannot be opened.
    Failed {
        message: String,
        hint: Option<String>,
    },
}

/// A trace that is ready for queries.
pub(crate) struct Ready {
    /// Its path as it was named, for command lines.
    pub(crate) named: PathBuf,
    /// Its extract.
    pub(crate) extract: PathBuf,
    pub(crate) opening: wire::Opening,
    /// Findings of the rules, after the first request for them.
    pub(crate) findings: OnceLock<FindingsAnswer>,
    /// The pyramid that timelines are drawn from, or the error and its hint.
    pyramid: std::result::Result<Pyramid, (String, Option<String>)>,
}

impl Shared {
    pub(crate) fn new(options: ServerOptions, token: Token, port: u16) -> std::io::Result<Self> {
        let ServerOptions {
            engine,
            cache_folder,
            demo,
            recorder,
            limits,
            ..
        } = options;
        // A random name, so that a server never removes the folder of another running one.
        let uploads = cache_folder.join("uploads").join(Token::new()?.as_str());
        Ok(Self {
            engine,
            access: AccessGuard { token, port },
            cache_folder,
            demo,
            recording: recorder.map(Recording::new),
            symbols: Loading::default(),
            tags: Tags::default(),
            limits,
            workers: WorkerPool::new(limits.question_bytes),
            ending: Cancel::default(),
            uploads,
            opening: Mutex::default(),
            traces: Mutex::default(),
            folders: Mutex::default(),
        })
    }

    /// Returns the link that opens the page.
    pub(crate) fn link(&self) -> String {
        // The token comes after `#`, which browsers never send, so it is in no proxy log and no
        // `Referer`.
        format!(
            "http://127.0.0.1:{}/#k={}",
            self.access.port,
            self.access.token.as_str()
        )
    }

    /// Adds a path to open; `None` if it is already open.
    pub(crate) fn add(&self, path: &Path) -> Result<Option<Arc<Trace>>> {
        let mut traces = lock(&self.traces);
        let is_failed = |trace: &Trace| matches!(*lock(&trace.stage), Stage::Failed { .. });
        if let Some(known) = traces.iter().find(|trace| trace.path == path) {
            // A failed trace may be opened again under the same number, for instance after the file
            // was copied completely.
            if !is_failed(known) {
                return Ok(None);
            }
            *lock(&known.stage) = Stage::begun();
            return Ok(Some(known.clone()));
        }
        if traces.len() >= MOST_TRACES {
            return Err(
                Problem::limit(format!("{MOST_TRACES} traces are open already"))
                    .with_hint("start `etwkit view` again for others"),
            );
        }
        let trace = Arc::new(Trace {
            path: path.to_owned(),
            stage: Mutex::new(Stage::begun()),
            replaced: AtomicU32::new(0),
        });
        traces.push(trace.clone());
        Ok(Some(trace))
    }

    /// Adds a folder to list, as the latest one.
    pub(crate) fn add_folder(&self, path: &Path) {
        let mut folders = lock(&self.folders);
        folders.retain(|known| known != path);
        folders.insert(0, path.to_owned());
        folders.truncate(MOST_FOLDERS);
    }

    /// Returns the open folders, the latest first.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        lock(&self.folders).clone()
    }

    /// Returns the extracts of all traces that are ready.
    pub(crate) fn extracts(&self) -> Vec<PathBuf> {
        let ready = |trace: &Arc<Trace>| match &*lock(&trace.stage) {
            Stage::Ready(ready) => Some(ready.extract.clone()),
            _ => None,
        };
        lock(&self.traces).iter().filter_map(ready).collect()
    }

    /// Returns the traces that this extract answers for, which are to be opened again.
    pub(crate) fn begun_again(&self, extract: &Path) -> Vec<Arc<Trace>> {
        let is_of_it = |trace: &&Arc<Trace>| {
            let mut stage = lock(&trace.stage);
            let is_ready = matches!(&*stage, Stage::Ready(ready) if ready.extract == extract);
            if is_ready {
                *stage = Stage::begun();
                trace.replaced.fetch_add(1, Ordering::Relaxed);
            }
            is_ready
        };
        lock(&self.traces)
            .iter()
            .filter(is_of_it)
            .cloned()
            .collect()
    }

    /// Returns a trace that is ready.
    pub(crate) fn ready(&self, trace: u32) -> Result<Arc<Ready>> {
        let known = usize::try_from(trace)
            .ok()
            .and_then(|at| lock(&self.traces).get(at).cloned());
        let Some(known) = known else {
            return Err(Problem::not_found(format!("there is no trace {trace}"))
                .with_hint("`info` lists them"));
        };
        match &*lock(&known.stage) {
            Stage::Ready(ready) => Ok(ready.clone()),
            Stage::Opening { .. } => Err(Problem::not_ready()),
            Stage::Failed { message, hint } => {
                Err(Problem::not_found(message.clone()).hinted(hint.clone()))
            }
        }
    }

    /// Everything that is open.
    pub(crate) fn infos(&self) -> Vec<TraceInfo> {
        let traces = lock(&self.traces);
        (0..)
            .zip(traces.iter())
            .map(|(id, trace)| trace.info(id))
            .collect()
    }
}

impl Stage {
    pub(crate) fn begun() -> Self {
        Self::Opening {
            step: "opening".to_owned(),
            done: None,
        }
    }
}

impl Trace {
    fn info(&self, id: u32) -> TraceInfo {
        let name = name_of(&self.path);
        let (state, opening) = match &*lock(&self.stage) {
            Stage::Opening { step, done } => (
                State::Opening {
                    step: step.clone(),
                    done: *done,
                },
                None,
            ),
            Stage::Ready(ready) => (State::Ready, Some(ready.opening.clone())),
            Stage::Failed { message, hint } => (
                State::Failed {
                    message: message.clone(),
                    hint: hint.clone(),
                },
                None,
            ),
        };
        let path = self.path.display().to_string();
        TraceInfo {
            id,
            name,
            word: trace_word(&path),
            path,
            state,
            opening,
            replaced: self.replaced.load(Ordering::Relaxed),
        }
    }
}

impl Ready {
    pub(crate) fn new(
        named: PathBuf,
        extract: PathBuf,
        opening: wire::Opening,
        pyramid: etwkit_pyramid::Result<Pyramid>,
    ) -> Self {
        let why =
            |error: etwkit_pyramid::Error| (error.to_string(), error.hint().map(str::to_owned));
        Self {
            named,
            extract,
            opening,
            findings: OnceLock::new(),
            pyramid: pyramid.map_err(why),
        }
    }

    /// Returns the pyramid that timelines are drawn from.
    pub(crate) fn pyramid(&self) -> Result<&Pyramid> {
        self.pyramid
            .as_ref()
            .map_err(|(message, hint)| Problem::not_recorded(message.clone()).hinted(hint.clone()))
    }

    /// Opens a session for one request.
    pub(crate) fn session(&self, engine: &Engine, asking: &Asking) -> Result<Session> {
        let extract = std::slice::from_ref(&self.extract);
        let session = engine.open(asking, extract, &mut Vec::new())?;
        Ok(if self.named == self.extract {
            session
        } else {
            session.made_of(&self.named)
        })
    }
}
