//! Why a file of regions cannot be used.

/// What is wrong with a file of regions, and where. Names and values of the file stand in it as they are, to be escaped for a terminal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: expected {expected}, found {found}")]
pub struct ManifestError {
    /// The file, as the caller named it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Character in the line, from 1.
    pub column: usize,
    /// What should stand there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

impl ManifestError {
    /// What the user can do about it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        "a file of regions is XML: <InstrumentationManifest><Instrumentation><Regions><RegionRoot …> around <Region Guid=\"…\" Name=\"…\"> with \
         <Start> and <Stop>, as docs/regions.md shows"
    }

    pub(super) fn at(
        file: &str,
        text: &str,
        offset: usize,
        expected: &str,
        found: impl Into<String>,
    ) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            expected: expected.to_owned(),
            found: found.into(),
        }
    }
}
