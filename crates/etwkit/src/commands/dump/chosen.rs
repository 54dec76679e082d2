//! Selection of recordings to query.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::SystemTime;

use etwkit_engine::{Wanted, named, places, recordings};
use etwkit_query::test_run::{Selection, TestFile};

use super::args::Common;

impl Common {
    /// Returns the recordings of the selected tests among all named files, by time.
    pub(super) fn files_of_tests(
        &self,
        selection: &Selection,
    ) -> anyhow::Result<impl Iterator<Item = TestFile> + use<>> {
        let runs = selection.of(
            recordings(&places(&self.extracts)?, self.recursive)?,
            SystemTime::now(),
        );
        Ok(runs
            .into_iter()
            .flat_map(|run| run.tests)
            .flat_map(|test| test.files))
    }

    /// Returns the extracts and traces to query: named files in their order, and for each folder
    /// its files by time. A selection of tests sorts all of them by time and keeps one of a trace
    /// and its extract: the extract.
    pub(super) fn chosen(&self) -> anyhow::Result<Cow<'_, [PathBuf]>> {
        let selection = self.tests.read()?;
        // Treating all tests as one run does not select any by itself.
        let chooses = Selection {
            one_run: false,
            ..selection.clone()
        } != Selection::default();
        if chooses {
            return Ok(self.files_of_tests(&selection)?.filter_map(asked).collect());
        }
        // A list may be a pipe, which can be read once.
        if self.named.get().is_none() {
            let named = named(&self.extracts, Wanted::Answers, self.recursive)?;
            return Ok(self.named.get_or_init(|| named).into());
        }
        Ok(self
            .named
            .get()
            .map(Vec::as_slice)
            .unwrap_or_default()
            .into())
    }
}

/// Returns the extract of a recording, or the trace if there is none.
fn asked(file: TestFile) -> Option<PathBuf> {
    file.extract.or(file.trace)
}
