//! Files that options name: a request has their names, and their content once a front end has read
//! them.

use std::io;
use std::sync::Arc;

use serde_json::Value;

use super::options::{Opt, OptionError, OptionKind, Spec, Values};
use super::values::OptionValue;
use etwkit_sql::xml::FileError;

/// Value of an option that means the file named by an environment variable.
const DEFAULT: &str = "default";

/// Access to the files that options name. Questions open no files themselves: a page or a service
/// decides which files may be read.
pub trait Files {
    /// Returns the content of a file.
    ///
    /// # Errors
    /// It cannot be read.
    fn read(&self, name: &str) -> io::Result<Vec<u8>>;

    /// Returns the file that an environment variable names, if it is set.
    fn named_by(&self, variable: &str) -> Option<String>;
}

/// An error of a file that an option names.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// It cannot be read.
    #[error("cannot read {name}")]
    Unreadable {
        /// The file, as it was named.
        name: String,
        /// The error of the system.
        source: io::Error,
    },
    /// It has another content than expected.
    #[error(transparent)]
    Wrong(#[from] FileError),
    /// The required option that names the file is missing.
    #[error("--{option} is needed: {what}")]
    Missing {
        /// The name of the option.
        option: &'static str,
        /// The expected content of the file.
        what: &'static str,
    },
}

impl FilesError {
    /// Returns advice for the user, if there is some.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Wrong(error) => Some(error.hint()),
            Self::Missing { .. } => Some("name the file with that option"),
            // The error of the system has its own.
            Self::Unreadable { .. } => None,
        }
    }
}

/// A file that an option names, with its content once it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile<T> {
    /// Its name, or `default`.
    pub name: Option<String>,
    /// Its content.
    pub content: Option<Arc<T>>,
}

impl<T> Default for NamedFile<T> {
    fn default() -> Self {
        Self {
            name: None,
            content: None,
        }
    }
}

impl<T> From<T> for NamedFile<T> {
    fn from(content: T) -> Self {
        Self {
            name: None,
            content: Some(Arc::new(content)),
        }
    }
}

impl<T> NamedFile<T> {
    /// Reads the file, if one is named. `default` becomes the file that the environment variable
    /// names; if it is not set, `default` stays, and there is no content.
    ///
    /// # Errors
    /// It cannot be read, or has another content than expected.
    pub fn load(
        &mut self,
        files: &dyn Files,
        variable: Option<&str>,
        parse: impl Fn(&str, &[u8]) -> Result<T, FileError>,
    ) -> Result<(), FilesError> {
        if self.name.as_deref() == Some(DEFAULT)
            && let Some(variable) = variable
        {
            let Some(file) = files.named_by(variable) else {
                return Ok(());
            };
            self.name = Some(file);
        }
        let Some(name) = &self.name else {
            return Ok(());
        };
        let bytes = files.read(name);
        let bytes = bytes.map_err(|source| FilesError::Unreadable {
            name: name.clone(),
            source,
        })?;
        self.content = Some(Arc::new(parse(name, &bytes)?));
        Ok(())
    }
}

impl<T> OptionValue for NamedFile<T> {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        vec![spec.opt(OptionKind::Text, None)]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        Ok(spec.text(values)?.map(|name| Self {
            name: Some(name),
            content: None,
        }))
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        values.extend(
            self.name
                .clone()
                .map(|name| (spec.name.to_owned(), Value::from(name))),
        );
    }
}

crate::declare! {
    /// Files that describe events to whoever decodes them, so that they are read before a trace is
    /// opened.
    #[derive(Eq)]
    pub request Descriptions {
        /// Give messages of WPP their text and arguments: a trace message format file (.tmf), or a
        /// folder with .tmf files; can be repeated
        tmf: Vec<String> = super::options::option("FILE|FOLDER"),
        /// Decode the events of providers by this instrumentation manifest (.man); can be repeated
        manifest: Vec<String> = super::options::option("FILE"),
    }
}
