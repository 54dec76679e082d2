//! Declared questions, by name.

use std::path::PathBuf;

use etwkit_extract::Described;
use etwkit_question::{Answer, AnyQuestion, AnyRequest, Descriptions, Tagging};
use etwkit_sql::Session;

use crate::{
    Asking, DiskFiles, Engine, Error, ExtractAnswer, Naming, Result, ask_names, tag_sets,
    tag_warnings,
};

/// Returns all declared questions.
pub fn questions() -> impl Iterator<Item = &'static dyn AnyQuestion> {
    let all = etwkit_questions::QUESTIONS
        .iter()
        .chain(etwkit_analysis::questions::QUESTIONS);
    all.copied()
}

/// Returns the question of that name.
#[must_use]
pub fn question(name: &str) -> Option<&'static dyn AnyQuestion> {
    questions().find(|question| question.name() == name)
}

/// Reads the descriptions of events in files.
///
/// # Errors
/// A file cannot be read or has another content than expected.
pub fn described(named: &Descriptions) -> Result<Described> {
    Ok(Described::read(
        &paths(&named.tmf),
        &paths(&named.manifest),
    )?)
}

fn paths(files: &[String]) -> Vec<PathBuf> {
    files.iter().map(PathBuf::from).collect()
}

impl Engine {
    /// Reads the descriptions of events that a request names, and makes sure that extracts have the
    /// stack tags that it needs. Both are set in `asking`.
    ///
    /// # Errors
    /// A file cannot be read or has another content than expected; an extract cannot be tagged.
    pub fn prepare(
        &self,
        asking: &mut Asking,
        extracts: &[PathBuf],
        request: &dyn AnyRequest,
        notes: &mut Vec<String>,
    ) -> Result<()> {
        if let Some(named) = request.descriptions() {
            asking.described = described(named)?;
        }
        notes.extend(request.file_notes());
        match request.tagging() {
            Tagging::None => Ok(()),
            Tagging::Derived(files) => self.tag_extracts(asking, &paths(files), extracts, notes),
            Tagging::Function(files) => {
                let sets = tag_sets(&paths(files))?;
                notes.extend(tag_warnings(&sets));
                asking.tags = sets.into();
                Ok(())
            }
        }
    }

    /// Queries extracts, several at a time. Answers are taken in the order of the extracts, each as
    /// soon as the earlier ones are there, with the request; there is one answer if all extracts,
    /// or their names, have one. A question about names of recordings opens nothing. Returns notes
    /// about all of them.
    ///
    /// # Errors
    /// The errors of [`Engine::prepare`]; the first error of `take`. An error of an extract is
    /// passed to `take`.
    pub fn ask<E: From<Error>>(
        &self,
        asking: &Asking,
        extracts: &[PathBuf],
        request: &mut dyn AnyRequest,
        mut take: impl FnMut(&dyn AnyRequest, ExtractAnswer<Answer>) -> std::result::Result<(), E>,
    ) -> std::result::Result<Vec<String>, E> {
        let mut notes = Vec::new();
        if let Some(answer) = ask_names(request, extracts)? {
            take(request, ExtractAnswer::of_names(answer))?;
            return Ok(notes);
        }
        let mut asking = asking.clone();
        // Archives first: each extract in them gets its own answer, and the tags below.
        let extracts = self.unpacked(&asking, extracts.into(), &mut notes)?;
        request.read_files(&DiskFiles).map_err(Error::from)?;
        self.prepare(&mut asking, &extracts, request, &mut notes)?;
        let request = &*request;
        let answer = |session: &Session| request.answer(session);
        if request.is_of_all() {
            take(request, self.ask_all(&asking, &extracts, answer))?;
        } else {
            let take = |one| take(request, one);
            self.ask_each(&asking, Naming::default(), &extracts, &answer, take)?;
        }
        Ok(notes)
    }
}
