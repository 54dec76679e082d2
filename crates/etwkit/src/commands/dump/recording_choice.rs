//! Selection of recordings to query.

use std::path::PathBuf;
use std::time::SystemTime;

use etwkit_engine::{InputKind, each_once, named, places, recordings};
use etwkit_question::test_run::{Selection, TestFile};

use super::args::Common;
use crate::printer::Printer;

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
    /// and its extract: the extract. --where chooses among them.
    pub(super) fn chosen(&self, printer: &mut Printer<'_>) -> anyhow::Result<&[PathBuf]> {
        // A list may be a pipe, which can be read once.
        if let Some(chosen) = self.named.get() {
            return Ok(chosen);
        }
        let chosen = self.chosen_by.choose(self.named_files(printer)?, printer)?;
        Ok(self.named.get_or_init(|| chosen))
    }

    fn named_files(&self, printer: &mut Printer<'_>) -> anyhow::Result<Vec<PathBuf>> {
        let selection = self.tests.read()?;
        // Treating all tests as one run does not select any by itself.
        let chooses = Selection {
            one_run: false,
            ..selection.clone()
        } != Selection::default();
        if chooses {
            return Ok(self.files_of_tests(&selection)?.filter_map(asked).collect());
        }
        let named = named(&self.extracts, InputKind::Answers, self.recursive)?;
        if self.is_of_two {
            return Ok(named);
        }
        let (once, again) = each_once(named);
        for path in &again {
            let path = path.display();
            printer.note(&format!("{path} is named twice and counts once"));
        }
        Ok(once)
    }
}

/// Returns the extract of a recording, or the trace if there is none.
fn asked(file: TestFile) -> Option<PathBuf> {
    file.extract.or(file.trace)
}
