//! Files of recording profiles, whoever wrote them: what their profiles record, which questions that
//! answers, and what is wrong with them.
//!
//! - `tree`: the elements of a file
//! - `schema`: elements, keywords and stacks that wpr knows
//! - `profile`: what a profile records, with all that it inherits
//! - `misspelled`: names of providers that are nearly well-known ones
//! - `answers`: the questions that this answers
//! - `show`: all that as text

mod answers;
mod misspelled;
mod profile;
mod schema;
mod show;
mod tree;

use etwkit_trace::xml::Warnings;

pub use answers::answers;
pub use profile::{ProfileContent, Provider};
pub(crate) use show::{Implied, check_profile, implied_profile, show};
use tree::File;

/// A file of recording profiles.
#[derive(Debug)]
pub struct Wprp {
    /// Its profiles, in their order.
    pub profiles: Vec<ProfileContent>,
    /// What is wrong with it, or cannot be followed.
    pub warnings: Warnings,
}

impl Wprp {
    /// Reads a file. What cannot be followed is a warning; the rest is used.
    ///
    /// # Errors
    /// It is no text, or has no profile: the text says what was found instead.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, String> {
        let mut warnings = Warnings::new();
        let (file, document) = File::read(name, bytes, &mut warnings)?;
        schema::check(&file, &document, &mut warnings);
        let profiles = profile::all(&file, &document, &mut warnings);
        if profiles.is_empty() {
            let found = document.children.first();
            let found = found.map_or("no element".to_owned(), |e| format!("<{}>", e.name));
            return Err(format!(
                "expected <Profile> in <Profiles> in <WindowsPerformanceRecorder>, found {found}"
            ));
        }
        Ok(Self { profiles, warnings })
    }
}
