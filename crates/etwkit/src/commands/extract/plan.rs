//! Which traces become which extracts.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::bail;
use etwkit_extract::default_target;

use crate::cli::ExtractArgs;

/// One extract to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Job {
    /// Files of one session.
    pub(super) traces: Vec<PathBuf>,
    /// The extract.
    pub(super) target: PathBuf,
}

impl Job {
    /// How messages name it.
    pub(super) fn label(&self) -> String {
        match self.traces.as_slice() {
            [] => String::new(),
            [one] => one.display().to_string(),
            [first, rest @ ..] => format!("{} and {} more", first.display(), rest.len()),
        }
    }
}

/// The extracts that the arguments ask for.
pub(super) fn jobs(args: &ExtractArgs) -> anyhow::Result<Vec<Job>> {
    let traces = &args.traces.traces;
    let sessions: Vec<Vec<PathBuf>> = if args.one_session {
        vec![traces.clone()]
    } else {
        traces.iter().map(|t| vec![t.clone()]).collect()
    };
    let many = sessions.len() > 1;
    if let Some(out) = args.out.as_ref().filter(|out| many && !out.is_dir()) {
        bail!(
            "--out {} has to be an existing folder for {} extracts; --one-session makes one extract of all files",
            out.display(),
            sessions.len()
        );
    }
    let mut seen = HashSet::new();
    let mut jobs = Vec::new();
    for traces in sessions {
        let target = target(&traces, args.out.as_deref());
        if !seen.insert(target.clone()) {
            bail!(
                "two traces would become {}: extract them one after the other with --out",
                target.display()
            );
        }
        jobs.push(Job { traces, target });
    }
    Ok(jobs)
}

fn target(traces: &[PathBuf], out: Option<&Path>) -> PathBuf {
    let beside = traces.first().map(|trace| default_target(trace)).unwrap_or_default();
    let Some(out) = out else { return beside };
    // A folder that is no extract takes extracts; one that is gets replaced.
    let is_extract = out.extension().is_some_and(|extension| extension == "etwx");
    if out.is_dir() && !is_extract {
        out.join(beside.file_name().unwrap_or_default())
    } else {
        out.to_owned()
    }
}
