//! Declared questions, by name.

use std::path::PathBuf;

use etwkit_extract::Described;
use etwkit_question::{Answer, AnyQuestion, AnyRequest, Descriptions, Tagging};

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

/// The answers of extracts.
pub struct Answers {
    /// Notes about all of them.
    pub notes: Vec<String>,
    /// The answers, in the order of the extracts; one if all of them, or their names, have one
    /// answer.
    pub extracts: Vec<ExtractAnswer<Answer>>,
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

    /// Queries extracts, several at a time, and keeps all answers in memory: for small ones. For
    /// large ones, [`Engine::prepare`] and [`Engine::ask_each`] hand on each answer as soon as it
    /// is known. A question about names of recordings opens nothing.
    ///
    /// # Errors
    /// The errors of [`Engine::prepare`]. An error of an extract is the answer of that extract.
    pub fn ask(
        &self,
        asking: &Asking,
        extracts: &[PathBuf],
        request: &mut dyn AnyRequest,
    ) -> Result<Answers> {
        if let Some(answer) = ask_names(request, extracts)? {
            return Ok(Answers {
                notes: Vec::new(),
                extracts: vec![ExtractAnswer::of_names(answer)],
            });
        }
        let mut asking = asking.clone();
        let mut notes = Vec::new();
        // Archives first: each extract in them gets its own answer, and the tags below.
        let extracts = self.unpacked(&asking, extracts.into(), &mut notes)?;
        request.read_files(&DiskFiles)?;
        self.prepare(&mut asking, &extracts, request, &mut notes)?;
        let request = &*request;
        let mut all = Vec::new();
        if request.is_of_all() {
            let asked = self.ask_all(&asking, &extracts, |session| request.answer(session));
            return Ok(Answers {
                notes,
                extracts: vec![asked],
            });
        }
        self.ask_each(
            &asking,
            Naming::default(),
            &extracts,
            &|session| request.answer(session),
            |asked| {
                all.push(asked);
                Ok::<_, Error>(())
            },
        )?;
        Ok(Answers {
            notes,
            extracts: all,
        })
    }
}
