//! Queries extracts, several at a time and many together; answers come in their order.

use std::path::PathBuf;
use std::sync::Arc;

use etwkit_base::ordered::{Workers, processors};
use etwkit_question::trace::TraceInfo;
use etwkit_sql::{KnownQuestions, Session, Source};

use crate::open::use_tags;
use crate::{Asking, Engine, Error, Gaps, Result, gaps};

/// Maximum number of extracts that one worker queries together.
// An answer for all of a group is in memory before the first of it is taken, and planning, which
// takes ten times as long as reading small tables, is paid once for each group.
const MOST_TOGETHER: usize = 64;
/// Maximum size in bytes of extracts that are queried together. Reading larger ones takes so long
/// that separate planning does not matter.
const BYTES_TOGETHER: u64 = 64 << 20;

/// Answers that may wait for one before them, for each worker.
// Enough to outlast one slow item; more would hold the answers of hundreds of extracts in memory.
const AHEAD: usize = 16;

/// The answer of an extract, or the reason why it has none.
#[derive(Debug)]
pub struct ExtractAnswer<A> {
    /// The trace or extract, as it was named.
    pub name: String,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Hash of its trace, if it was opened for this.
    pub hash: Option<String>,
    /// Gaps of its trace.
    pub gaps: Vec<Gaps>,
    /// Its trace, and the answer; an error if it cannot be queried.
    pub answer: Result<(TraceInfo, etwkit_question::Result<A>)>,
}

impl<A> ExtractAnswer<A> {
    /// Creates the outcome for an extract that cannot be opened.
    fn failed(name: String, notes: Vec<String>, error: Error) -> Self {
        let answer = Err(error.of(&name));
        Self {
            name,
            notes,
            hash: None,
            gaps: Vec::new(),
            answer,
        }
    }

    /// Creates the outcome of a question about names, which belongs to no trace.
    pub(crate) fn of_names(answer: A) -> Self {
        let answer = Ok((TraceInfo::default(), Ok(answer)));
        Self {
            name: String::new(),
            notes: Vec::new(),
            hash: None,
            gaps: Vec::new(),
            answer,
        }
    }
}

/// Naming of extracts in answers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Naming {
    /// True to name extracts by their whole paths.
    pub with_path: bool,
    /// True to name an extract as it was given, instead of by its file in the cache, and to add the
    /// version of the main module.
    pub as_asked: bool,
}

impl Engine {
    /// Queries all extracts. Answers are taken in the order of the extracts, each as soon as the
    /// earlier ones are there. The first extract is queried alone, so that its rows are there at
    /// once.
    ///
    /// # Errors
    /// The first error of `take`: no further extract is queried. An error of an extract is passed
    /// to `take`.
    pub fn ask_each<A: Send, E>(
        &self,
        asking: &Asking,
        naming: Naming,
        extracts: &[PathBuf],
        question: &(impl Fn(&Session) -> etwkit_question::Result<A> + Sync),
        mut take: impl FnMut(ExtractAnswer<A>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let workers = processors();
        let groups = groups(extracts, workers);
        let sessions = workers.min(groups.len());
        let of_several = extracts.len() > 1;
        let mut done = 0_usize;
        let known = Arc::new(KnownQuestions::default());
        let ask = |paths: &&[PathBuf]| {
            let group = Group {
                engine: self,
                asking,
                naming,
                of_several,
                sessions,
                known: &known,
                question,
            };
            group.ask(paths)
        };
        let workers = Workers {
            threads: sessions,
            jobs_ahead: AHEAD * sessions,
        };
        workers.map(&groups, ask, |_, asked| {
            done = done.saturating_add(asked.len());
            asking.progress.asked(done, extracts.len());
            asked.into_iter().try_for_each(&mut take)
        })
    }
}

/// Returns groups that grow from a single extract on, and stay so small that all workers have
/// several.
fn groups(paths: &[PathBuf], workers: usize) -> Vec<&[PathBuf]> {
    // Two groups at least for each worker, so that one with a slow group does not leave the others
    // without work.
    let most = (paths.len() / (workers * 2)).clamp(1, MOST_TOGETHER);
    let mut groups = Vec::new();
    let mut rest = paths;
    let mut size = 1;
    while !rest.is_empty() {
        let (group, behind) = rest.split_at(size.min(rest.len()));
        groups.push(group);
        // Doubled, so that the first rows come early and most extracts still share their planning.
        (rest, size) = (behind, (size * 2).min(most));
    }
    groups
}

/// A group of extracts and the question to them.
struct Group<'g, Q> {
    engine: &'g Engine,
    asking: &'g Asking,
    naming: Naming,
    /// True if there are other extracts, in this group or another one.
    of_several: bool,
    /// Number of sessions that run at the same time.
    sessions: usize,
    known: &'g Arc<KnownQuestions>,
    question: &'g Q,
}

/// Opened extracts that are queried together.
#[derive(Default)]
struct Together {
    sources: Vec<Source>,
    bytes: u64,
    of: Vec<Opened>,
}

/// Facts about an opened extract.
struct Opened {
    name: String,
    notes: Vec<String>,
    hash: Option<String>,
}

/// Returns a note about the tables that a question named and that its extract was made without.
pub(crate) fn left_out(session: &Session, name: &str) -> Option<String> {
    let tables: Vec<String> = session.asked_left_out().into_iter().collect();
    let tables = Some(tables.join(", ")).filter(|tables| !tables.is_empty())?;
    Some(format!(
        "{name} was made without the rows of {tables} (--tables): what these hold is missing"
    ))
}

impl<Q> Group<'_, Q> {
    fn ask<A>(&self, paths: &[PathBuf]) -> Vec<ExtractAnswer<A>>
    where
        Q: Fn(&Session) -> etwkit_question::Result<A>,
    {
        let mut asked = Vec::with_capacity(paths.len());
        let mut together = Together::default();
        for path in paths {
            let name = path.display().to_string();
            let mut notes = Vec::new();
            // Each extract still gets an answer of its own: the caller expects one for each named
            // extract.
            if self.asking.cancel.is_asked() {
                asked.extend(self.ask_together(&mut together));
                asked.push(ExtractAnswer::failed(
                    name,
                    notes,
                    etwkit_sql::Error::Cancelled.into(),
                ));
            } else if self.engine.pool().keeps(path) {
                // An extract that stays open is queried by itself.
                asked.extend(self.ask_together(&mut together));
                let only = std::slice::from_ref(path);
                asked.push(
                    match self
                        .engine
                        .open_share(self.asking, only, self.sessions, &mut notes)
                    {
                        Ok(session) => self.ask_one(
                            &session,
                            Opened {
                                name,
                                notes,
                                hash: None,
                            },
                        ),
                        Err(error) => ExtractAnswer::failed(name, notes, error),
                    },
                );
            } else {
                match self.engine.source(self.asking, path, &mut notes) {
                    Ok((source, hash)) => {
                        // The limit applies to the group with the new extract, so a larger extract
                        // is queried alone.
                        if together.bytes.saturating_add(source.size_bytes()) > BYTES_TOGETHER {
                            asked.extend(self.ask_together(&mut together));
                        }
                        together.bytes = together.bytes.saturating_add(source.size_bytes());
                        together.sources.push(source);
                        together.of.push(Opened { name, notes, hash });
                    }
                    Err(error) => {
                        // The collected extracts are queried first: answers come in the order of
                        // the extracts, also when one of them cannot be opened.
                        asked.extend(self.ask_together(&mut together));
                        asked.push(ExtractAnswer::failed(name, notes, error));
                    }
                }
            }
        }
        asked.extend(self.ask_together(&mut together));
        asked
    }

    /// Queries the extracts that were collected, and starts a new collection.
    fn ask_together<A>(&self, together: &mut Together) -> Vec<ExtractAnswer<A>>
    where
        Q: Fn(&Session) -> etwkit_question::Result<A>,
    {
        let Together { sources, of, .. } = std::mem::take(together);
        let sessions = self
            .known
            .sessions(sources, &self.engine.options(self.asking, self.sessions));
        let ask = |(session, opened): (&Session, Opened)| {
            use_tags(self.asking, session);
            self.ask_one(session, opened)
        };
        sessions.iter().zip(of).map(ask).collect()
    }

    fn ask_one<A>(
        &self,
        session: &Session,
        Opened {
            name,
            mut notes,
            hash,
        }: Opened,
    ) -> ExtractAnswer<A>
    where
        Q: Fn(&Session) -> etwkit_question::Result<A>,
    {
        let answer = self
            .info(session, &name)
            .map_err(|error| Error::from(error).of(&name));
        // The heading of an answer is not part of the question: tables that only the heading needed
        // are not reported as missing in the answer.
        session.asked_left_out();
        let answer = answer.map(|info| {
            (
                info,
                (self.question)(session).map_err(|error| error.of(session)),
            )
        });
        // A question that failed shows no methods, so missing names do not matter to it.
        let shows_methods = session.has_asked_methods() && matches!(answer, Ok((_, Ok(_))));
        notes.extend(left_out(session, &name));
        let gaps = gaps::of_session(session, Some(&name), shows_methods);
        ExtractAnswer {
            name,
            notes,
            hash,
            gaps,
            answer,
        }
    }

    /// Returns the trace of an extract, with the requested name.
    fn info(&self, session: &Session, name: &str) -> etwkit_question::Result<TraceInfo> {
        let mut info = TraceInfo::ask(session)?;
        info.of_several = self.of_several;
        info.named = Some(name.to_owned());
        if self.naming.with_path {
            name.clone_into(&mut info.file_name);
        }
        if self.naming.as_asked {
            info.extract_path = Some(name.to_owned());
            info = info.with_baseline(session)?;
        }
        Ok(info)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_grow_and_leave_work_for_all() {
        let sizes = |extracts: usize| {
            let paths = vec![PathBuf::new(); extracts];
            groups(&paths, 2)
                .iter()
                .map(|group| group.len())
                .collect::<Vec<_>>()
        };
        assert_eq!(sizes(0), Vec::<usize>::new());
        assert_eq!(sizes(3), [1, 1, 1]);
        assert_eq!(sizes(16), [1, 2, 4, 4, 4, 1]);
        assert_eq!(
            sizes(600),
            [1, 2, 4, 8, 16, 32, 64, 64, 64, 64, 64, 64, 64, 64, 25]
        );
    }
}
