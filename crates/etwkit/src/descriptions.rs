//! Files that describe events, as options name them.

use std::path::PathBuf;

use clap::Args;
use etwkit_extract::Described;
use etwkit_query::question::Descriptions;

#[derive(Debug, Default, Args)]
pub(crate) struct DescriptionArgs {
    /// Give messages of WPP their text and arguments: a trace message format file (.tmf), or a folder with
    /// such files; can be repeated
    #[arg(long, value_name = "FILE|FOLDER")]
    tmf: Vec<PathBuf>,
    /// Decode the events of providers by this instrumentation manifest (.man); can be repeated
    #[arg(long, value_name = "FILE")]
    manifest: Vec<PathBuf>,
}

impl DescriptionArgs {
    /// The files that a request names.
    pub(crate) fn of(Descriptions { tmf, manifest }: &Descriptions) -> Self {
        let paths = |files: &[String]| files.iter().map(PathBuf::from).collect();
        Self { tmf: paths(tmf), manifest: paths(manifest) }
    }

    /// What the files say.
    pub(crate) fn read(&self) -> anyhow::Result<Described> {
        Ok(Described::read(&self.tmf, &self.manifest)?)
    }
}
