//! Assignment of traces to extracts.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use etwkit_base::path::name_of;
use etwkit_extract::default_target;
use etwkit_extract::json7z::{JsonInput, is_json_archive, open_all_json};

use crate::cli::ExtractArgs;
use crate::input;

/// One extract to make.
#[derive(Debug, Clone)]
pub(super) struct Job {
    /// Files of one session.
    pub(super) traces: Vec<PathBuf>,
    /// An extract of ETWAnalyzer that was opened with others of its archive.
    pub(super) member: Option<Arc<JsonInput>>,
    /// The extract.
    pub(super) target: PathBuf,
    /// The lake that gets the extract, if it is removed afterwards.
    pub(super) lake: Option<PathBuf>,
}

impl Job {
    /// Returns the extract, if it is kept.
    pub(super) fn kept(&self) -> Option<&Path> {
        self.lake.is_none().then_some(self.target.as_path())
    }

    /// Returns where its rows are afterwards: in the extract or in a lake.
    pub(super) fn place(&self) -> &Path {
        self.lake.as_deref().unwrap_or(&self.target)
    }

    /// Returns its name in messages.
    pub(super) fn label(&self) -> String {
        match self.traces.as_slice() {
            [] => String::new(),
            [one] => match &self.member {
                Some(member) => format!("{}: {}", one.display(), member.name()),
                None => one.display().to_string(),
            },
            [first, rest @ ..] => format!("{} and {} more", first.display(), rest.len()),
        }
    }
}

/// Returns the extracts that the arguments request. Those that are removed afterwards go into the
/// temporary folder.
pub(super) fn jobs(
    args: &ExtractArgs,
    temporary: Option<&Path>,
    traces: &[PathBuf],
) -> anyhow::Result<Vec<Job>> {
    let sessions: Vec<Vec<PathBuf>> = if args.one_session {
        vec![traces.to_vec()]
    } else {
        traces.iter().map(|t| vec![t.clone()]).collect()
    };
    let mut wanted: Vec<(Vec<PathBuf>, Option<Arc<JsonInput>>)> = Vec::new();
    for traces in sessions {
        match traces.as_slice() {
            [archive] if is_json_archive(archive) => {
                let members = open_all_json(archive, &input::options(&args.traces))?;
                wanted.extend(
                    members
                        .into_iter()
                        .map(|member| (traces.clone(), Some(Arc::new(member)))),
                );
            }
            _ => wanted.push((traces, None)),
        }
    }
    let many = wanted.len() > 1;
    if let Some(out) = args.out.as_ref().filter(|out| many && !out.is_dir()) {
        bail!(
            "--out {} has to be an existing folder for {} extracts; --one-session makes one extract of all files",
            out.display(),
            wanted.len()
        );
    }
    // One that is alone in its archive is named after the archive.
    let is_alone = |archive: &[PathBuf]| {
        wanted
            .iter()
            .filter(|(traces, _)| traces == archive)
            .count()
            == 1
    };
    let mut seen = HashSet::new();
    let mut jobs = Vec::new();
    for (traces, member) in &wanted {
        let own_name = member
            .as_ref()
            .filter(|_| !is_alone(traces))
            .map(|member| member.name());
        let target = match temporary {
            // Traces of several folders may have one name.
            Some(folder) => numbered(folder, jobs.len(), &beside(traces, own_name))?,
            None => target(&beside(traces, own_name), args.out.as_deref()),
        };
        // Jobs run at the same time: two with the same target would write into one folder at once.
        if !seen.insert(target.clone()) {
            bail!(
                "two traces would become {}: extract them one after the other with --out",
                target.display()
            );
        }
        jobs.push(Job {
            traces: traces.clone(),
            member: member.clone(),
            target,
            lake: args.lake.clone().filter(|_| temporary.is_some()),
        });
    }
    Ok(jobs)
}

/// Returns the path of an extract next to its traces. `own_name` is the name of a member of their
/// archive, without folders.
fn beside(traces: &[PathBuf], own_name: Option<&str>) -> PathBuf {
    let named =
        |trace: &PathBuf| own_name.map_or_else(|| trace.clone(), |name| trace.with_file_name(name));
    traces
        .first()
        .map_or_else(PathBuf::new, |trace| default_target(&named(trace)))
}

/// Returns the path of an extract in a new folder of its own.
fn numbered(folder: &Path, number: usize, beside: &Path) -> std::io::Result<PathBuf> {
    let own = folder.join(number.to_string());
    std::fs::create_dir(&own)?;
    Ok(own.join(name_of(beside)))
}

/// Returns the path of an extract by the path next to its traces.
fn target(beside: &Path, out: Option<&Path>) -> PathBuf {
    let Some(out) = out else {
        return beside.to_owned();
    };
    // A folder that is not an extract receives extracts; an extract is replaced.
    let is_extract = out.extension().is_some_and(|extension| extension == "etwx");
    if out.is_dir() && !is_extract {
        out.join(beside.file_name().unwrap_or_default())
    } else {
        out.to_owned()
    }
}
