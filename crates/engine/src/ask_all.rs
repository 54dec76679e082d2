//! Runs a question with one answer on all extracts together.

use std::path::PathBuf;

use etwkit_base::path::name_of;
use etwkit_question::trace::TraceInfo;
use etwkit_sql::Session;

use crate::ask::left_out;
use crate::{Asking, Engine, Error, ExtractAnswer, Result, gaps};

/// Maximum number of extracts of one question about all of them, not counting the runs of lakes.
// Their small files are in memory together, and their large ones are open.
const MOST: usize = 4096;

/// Maximum number of extracts and of runs of lakes together. The files of a lake do not grow in number
/// with its runs, so that only the facts about each run are in memory.
const MOST_RUNS: usize = 65_536;

impl Engine {
    /// Runs one question on all extracts together ([`Question::OF_ALL`]), with a session over them
    /// in the order in which they are named. The answer is named after the first extract and the
    /// number of others, and its times count from the start of the first one.
    ///
    /// [`Question::OF_ALL`]: etwkit_question::Question::OF_ALL
    pub fn ask_all<A>(
        &self,
        asking: &Asking,
        extracts: &[PathBuf],
        question: impl FnOnce(&Session) -> etwkit_question::Result<A>,
    ) -> ExtractAnswer<A> {
        let (name, mut notes) = (name(extracts), Vec::new());
        let session = check(extracts).and_then(|()| self.open_all(asking, extracts, &mut notes));
        let session = match session {
            Ok(session) => session,
            Err(error) => {
                return ExtractAnswer {
                    name,
                    notes,
                    hash: None,
                    gaps: Vec::new(),
                    answer: Err(error),
                };
            }
        };
        let info = info(&session, &name);
        // The heading of an answer is not part of the question: tables that only the heading needed
        // are not reported as missing in the answer.
        session.asked_left_out();
        let answer =
            info.map(|info| (info, question(&session).map_err(|error| error.of(&session))));
        let shows_methods = session.has_asked_methods() && matches!(answer, Ok((_, Ok(_))));
        notes.extend(left_out(&session, &name));
        let gaps = gaps::of_named(extracts, &session, shows_methods);
        ExtractAnswer {
            name,
            notes,
            hash: None,
            gaps,
            answer,
        }
    }
}

fn check(extracts: &[PathBuf]) -> Result<()> {
    if extracts.len() > MOST_RUNS {
        let message = format!("{} runs are too many for one question", extracts.len());
        let how = "choose at most 65536 of them with --where";
        return Err(too_wide(message, how));
    }
    if extracts.len() <= MOST {
        return Ok(());
    }
    let is_extract = |path: &&PathBuf| etwkit_extract::lake::split(path).is_none();
    let outside = extracts.iter().filter(is_extract).count();
    if outside > MOST {
        let message = format!("{outside} extracts are too many for one question");
        let how = "query at most 4096 together, or add them to a lake (`etwkit lake add`)";
        return Err(too_wide(message, how));
    }
    Ok(())
}

fn too_wide(message: String, how: &'static str) -> Error {
    Error::from(etwkit_question::Error::TooWide { message, how })
}

/// Returns the trace of the first extract, with the name of all, for the heading of the answer.
fn info(session: &Session, name: &str) -> Result<TraceInfo> {
    let info = session
        .each()
        .first()
        .map_or_else(|| Ok(TraceInfo::default()), TraceInfo::ask)?;
    let info = TraceInfo {
        file_name: name.to_owned(),
        ..info
    };
    if session.manifests().nth(1).is_none() {
        return Ok(info);
    }
    // An answer about several has neither the number nor the labels of one.
    Ok(TraceInfo {
        run_id: None,
        labels: None,
        ..info
    })
}

/// Returns the name of all extracts together.
fn name(extracts: &[PathBuf]) -> String {
    match extracts {
        [] => String::new(),
        [one] => name_of(one),
        [one, other] => format!("{}, {}", name_of(one), name_of(other)),
        [first, others @ ..] => format!("{} and {} more", name_of(first), others.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_together_are_called_by_the_first() {
        let named = |count: usize| {
            let paths: Vec<PathBuf> = (0..count)
                .map(|n| format!("runs/{n}.etwx").into())
                .collect();
            name(&paths)
        };
        assert_eq!(named(1), "0.etwx");
        assert_eq!(named(2), "0.etwx, 1.etwx");
        assert_eq!(named(200), "0.etwx and 199 more");
    }

    #[test]
    fn a_lake_may_have_more_runs_than_there_may_be_extracts() {
        let folder = tempfile::tempdir().unwrap();
        let lake = folder.path().join("lake");
        std::fs::create_dir_all(etwkit_extract::lake::run_log(&lake)).unwrap();
        let runs = |count: usize| -> Vec<PathBuf> {
            let path = |run: usize| PathBuf::from(format!("{}#{run:016x}", lake.display()));
            (0..count).map(path).collect()
        };
        let extracts: Vec<PathBuf> = (0..=MOST).map(|n| format!("{n}.etwx").into()).collect();
        check(&extracts[1..]).unwrap();
        check(&runs(MOST + 1)).unwrap();
        check(&[runs(2), extracts[1..].to_vec()].concat()).unwrap();
        let refused = |paths: &[PathBuf]| check(paths).unwrap_err().to_string();
        let error = refused(&[runs(2), extracts].concat());
        assert_eq!(error, "4097 extracts are too many for one question");
        let error = refused(&runs(MOST_RUNS + 1));
        assert_eq!(error, "65537 runs are too many for one question");
    }
}
