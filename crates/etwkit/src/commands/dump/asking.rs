//! Asks extracts, several at a time and many together; answers come in their order.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use etwkit_query::dump::{self, trace::TraceInfo};
use etwkit_query::{Known, Session, Source};
use indicatif::{ProgressBar, ProgressStyle};

use super::in_order::in_order;
use crate::extracts::{open_shared, options, source};
use crate::gaps::{self, Gaps};
use crate::shelf::Shelf;

/// Extracts that one worker asks together, at most.
const MOST_TOGETHER: usize = 64;
/// Bytes of extracts that are asked together: those that are larger have enough to read for a plan of their own.
const BYTES_TOGETHER: u64 = 64 << 20;

/// What became of the question to an extract.
pub(super) struct Asked<A> {
    /// Name of the extract.
    pub(super) name: String,
    /// What the reader should know.
    pub(super) notes: Vec<String>,
    /// Hash of its trace, as far as it was opened for this.
    pub(super) hash: Option<String>,
    /// What its trace lacks.
    pub(super) gaps: Vec<Gaps>,
    /// Its trace, and the answer; an error if it cannot be asked.
    pub(super) answer: anyhow::Result<(TraceInfo, dump::Result<A>)>,
}

impl<A> Asked<A> {
    /// One that cannot be opened.
    fn failed(name: String, notes: Vec<String>, error: anyhow::Error) -> Self {
        let answer = Err(error.context(name.clone()));
        Self { name, notes, hash: None, gaps: Vec::new(), answer }
    }
}

/// Asks all extracts. Answers are taken in the order of the extracts, each as soon as those in front of it are there; the first one is asked alone,
/// so that its rows are there at once.
pub(super) fn ask_in_order<A: Send>(
    naming: Naming,
    extracts: &[PathBuf],
    shelf: &Shelf,
    question: &(impl Fn(&Session) -> dump::Result<A> + Sync),
    mut take: impl FnMut(Asked<A>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let known = Arc::new(Known::default());
    let groups = groups(extracts, workers);
    let asking = Asking { naming, of_several: extracts.len() > 1 };
    let ask =
        |paths: &&[PathBuf], sessions: usize| ask_group(asking, paths, (sessions, shelf), &known, question);
    let bar = bar(extracts.len());
    let asked = in_order(&groups, ask, |asked| {
        bar.inc(asked.len() as u64);
        // What is printed does not end up behind the bar.
        bar.suspend(|| asked.into_iter().try_for_each(&mut take))
    });
    bar.finish_and_clear();
    asked
}

/// How many extracts are done, on the error stream if somebody looks at it and has waited for a while.
fn bar(extracts: usize) -> ProgressBar {
    if extracts < 2 {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(extracts as u64);
    let style = ProgressStyle::with_template("{bar:20} {pos} of {len} extracts, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// Groups that grow from a single extract on, and stay so small that all workers have several.
fn groups(paths: &[PathBuf], workers: usize) -> Vec<&[PathBuf]> {
    let most = (paths.len() / (workers * 2)).clamp(1, MOST_TOGETHER);
    let (mut groups, mut rest, mut size) = (Vec::new(), paths, 1);
    while !rest.is_empty() {
        let (group, behind) = rest.split_at(size.min(rest.len()));
        groups.push(group);
        (rest, size) = (behind, (size * 2).min(most));
    }
    groups
}

/// What answers tell of their extracts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Naming {
    /// They are called by their whole paths.
    pub(super) with_path: bool,
    /// They are called by what was asked, not by what it became in the cache, and tell the version of the
    /// main module.
    pub(super) as_asked: bool,
}

/// How extracts are asked.
#[derive(Clone, Copy)]
struct Asking {
    naming: Naming,
    of_several: bool,
}

fn ask_group<A>(
    asking: Asking,
    paths: &[PathBuf],
    (sessions, shelf): (usize, &Shelf),
    known: &Arc<Known>,
    question: &impl Fn(&Session) -> dump::Result<A>,
) -> Vec<Asked<A>> {
    let at_a_time = (sessions, shelf);
    let mut asked = Vec::with_capacity(paths.len());
    let mut together = Together { sources: Vec::new(), bytes: 0, of: Vec::new() };
    for path in paths {
        let (name, mut notes) = (path.display().to_string(), Vec::new());
        if shelf.keeps(path) {
            // One that stays open is asked by itself.
            together.ask(asking, at_a_time, known, question, &mut asked);
            let session = open_shared(std::slice::from_ref(path), sessions, shelf, &mut notes);
            match session {
                Ok(session) => asked.push(ask_one(asking, &session, (name, notes, None), question)),
                Err(error) => asked.push(Asked::failed(name, notes, error)),
            }
            continue;
        }
        match source(path, shelf, &mut notes) {
            Ok((source, hash)) => {
                if together.bytes.saturating_add(source.size_bytes()) > BYTES_TOGETHER {
                    together.ask(asking, at_a_time, known, question, &mut asked);
                }
                together.bytes += source.size_bytes();
                together.sources.push(source);
                together.of.push((name, notes, hash));
            }
            Err(error) => {
                together.ask(asking, at_a_time, known, question, &mut asked);
                asked.push(Asked::failed(name, notes, error));
            }
        }
    }
    together.ask(asking, at_a_time, known, question, &mut asked);
    asked
}

/// Opened extracts that are asked together.
struct Together {
    sources: Vec<Source>,
    bytes: u64,
    /// Names, notes and hashes of them.
    of: Vec<(String, Vec<String>, Option<String>)>,
}

impl Together {
    /// Asks those that have come together, and begins anew.
    fn ask<A>(
        &mut self,
        asking: Asking,
        (sessions, shelf): (usize, &Shelf),
        known: &Arc<Known>,
        question: &impl Fn(&Session) -> dump::Result<A>,
        asked: &mut Vec<Asked<A>>,
    ) {
        let (sources, of) = (std::mem::take(&mut self.sources), std::mem::take(&mut self.of));
        self.bytes = 0;
        let sessions = known.sessions(sources, &options(sessions, shelf));
        asked.extend(sessions.iter().zip(of).map(|(session, of)| ask_one(asking, session, of, question)));
    }
}

fn ask_one<A>(
    Asking { naming, of_several }: Asking,
    session: &Session,
    (name, notes, hash): (String, Vec<String>, Option<String>),
    question: &impl Fn(&Session) -> dump::Result<A>,
) -> Asked<A> {
    let answer = || -> anyhow::Result<_> {
        let mut info = TraceInfo::ask(session).with_context(|| name.clone())?;
        info.of_several = of_several;
        if naming.with_path {
            name.clone_into(&mut info.file_name);
        }
        if naming.as_asked {
            info.extract_path = Some(name.clone());
            info = info.with_baseline(session).with_context(|| name.clone())?;
        }
        Ok((info, question(session).map_err(|error| error.of(session))))
    };
    let answer = answer();
    let shows_methods = session.has_asked_methods() && matches!(answer, Ok((_, Ok(_))));
    let gaps = gaps::of_session(session, Some(&name), shows_methods);
    Asked { name, notes, hash, gaps, answer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_grow_and_leave_work_for_all() {
        let sizes = |extracts: usize| {
            let paths = vec![PathBuf::new(); extracts];
            groups(&paths, 2).iter().map(|group| group.len()).collect::<Vec<_>>()
        };
        assert_eq!(sizes(0), Vec::<usize>::new());
        assert_eq!(sizes(3), [1, 1, 1]);
        assert_eq!(sizes(16), [1, 2, 4, 4, 4, 1]);
        assert_eq!(sizes(600), [1, 2, 4, 8, 16, 32, 64, 64, 64, 64, 64, 64, 64, 64, 25]);
    }
}
