//! A trace, and an engine with its own cache.

use std::fs::File;
use std::path::PathBuf;

use etwkit_engine::{Asking, Engine, Error, ExtractAnswer, Result, Settings};
use etwkit_question::{Answer, AnyRequest};
use etwkit_synth::Options;
use tempfile::TempDir;

/// A folder with a trace, and an engine that keeps extracts in it.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) engine: Engine,
    pub(crate) trace: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("office.etl");
        let office = etwkit_synth::find("office").unwrap();
        office
            .write(File::create(&trace).unwrap(), &Options::default())
            .unwrap();
        let cache = Some(folder.path().join("cache"));
        let engine = Engine::new(Settings {
            cache,
            temp_dir: None,
            is_offline: true,
        });
        Self {
            folder,
            engine,
            trace,
        }
    }

    /// Extracts in the cache.
    pub(crate) fn extracts(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.path().join("cache")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|ending| ending == "etwx"))
            .collect()
    }
}

/// The answers of extracts, when all are there.
pub(crate) fn answers(
    engine: &Engine,
    asking: &Asking,
    paths: &[PathBuf],
    request: &mut dyn AnyRequest,
) -> Result<Vec<ExtractAnswer<Answer>>> {
    let mut all = Vec::new();
    engine.ask(asking, paths, request, |_, one| {
        all.push(one);
        Ok::<_, Error>(())
    })?;
    Ok(all)
}
