//! What the profiles of files record, as text.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use etwkit_base::digits::counted;
use etwkit_terminal::errors::advised;
use etwkit_terminal::{Exit, Lines};

use super::{ProfileContent, Provider, Wprp, answers};
use crate::args::CheckArgs;

/// Bytes of a file that are read: one more than the parser accepts makes it refuse the file.
const MAX_BYTES: u64 = (16 << 20) + 1;

/// Prints what the profiles of files record, which questions that answers, and what is wrong.
///
/// # Errors
/// A file cannot be read, is no file of profiles, or has none of the name that was asked for; wpr refuses one.
pub(crate) fn show(args: &CheckArgs, lines: &mut Lines<'_>) -> Result<Exit> {
    let mut records_all = true;
    let mut refused = None;
    for named in &args.files {
        let (path, inner) = parts(named);
        let wanted = inner.as_deref().or(args.profile.as_deref());
        let path = path.as_path();
        let file = read(path)?;
        let is_asked =
            |profile: &&ProfileContent| wanted.is_none_or(|name| profile.is_called(name));
        let found: Vec<&ProfileContent> = file.profiles.iter().filter(is_asked).collect();
        if let (true, Some(name)) = (found.is_empty(), wanted) {
            return Err(no_profile(path, name, &file));
        }
        records_all &= !found.iter().any(|profile| profile.is_empty());
        let broken = found.iter().find(|profile| !profile.broken.is_empty());
        if refused.is_none()
            && let Some(profile) = broken
        {
            refused = profile.refusal().map(|why| (profile.id.clone(), why));
        }
        lines.heading(&format!(
            "{} of {}",
            counted(found.len() as u64, ["profile", "profiles"]),
            path.display()
        ))?;
        for profile in found {
            for line in of_profile(profile) {
                lines.line(&line)?;
            }
        }
        for warning in file.warnings.lines() {
            lines.line(&format!("warning: {warning}"))?;
        }
    }
    if let Some((id, why)) = refused {
        return Err(advised(
            format!("wpr refuses the profile {id}: {why}"),
            "a reference needs a definition with the same Id in the file",
        ));
    }
    Ok(if records_all {
        Exit::Answered
    } else {
        Exit::Nothing
    })
}

/// Returns the file and the profile of `FILE.wprp!NAME`, as `record start` and wpr take it; without a profile
/// where the text is a file.
fn parts(named: &Path) -> (PathBuf, Option<String>) {
    let text = named.to_str().filter(|_| !named.exists());
    let split = text.and_then(|text| text.rsplit_once('!'));
    match split {
        Some((file, name)) if !name.is_empty() && is_of_profiles(Path::new(file)) => {
            (PathBuf::from(file), Some(name.to_owned()))
        }
        _ => (named.to_owned(), None),
    }
}

/// Returns `true` for the name of a file of profiles.
fn is_of_profiles(file: &Path) -> bool {
    let ending = file.extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("wprp"))
}

/// The profile that a file stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Implied {
    /// The only one.
    Only(String),
    /// The one that is marked as the default among several.
    Default(String),
}

/// Returns the profile that a file stands for; `None` if it has several, of which not exactly one is
/// marked as the default.
pub(crate) fn implied_profile(path: &Path) -> Option<Implied> {
    let file = read(path).ok()?;
    let marked = file.profiles.iter().filter(|profile| profile.is_default);
    one_name(file.profiles.iter())
        .map(Implied::Only)
        .or_else(|| one_name(marked).map(Implied::Default))
}

/// Returns the name that all of these profiles have: a profile may have variants.
fn one_name<'p>(mut profiles: impl Iterator<Item = &'p ProfileContent>) -> Option<String> {
    let name = profiles.next()?.name.as_str();
    let is_one = profiles.all(|profile| profile.name.eq_ignore_ascii_case(name));
    (is_one && !name.is_empty()).then(|| name.to_owned())
}

/// Checks that a recording of a profile of a file can start.
///
/// # Errors
/// The file cannot be read or has no profile of this name; the profile refers to a definition that
/// does not exist, or records nothing.
pub(crate) fn check_profile(path: &Path, name: &str, to_file: bool) -> Result<()> {
    let file = read(path)?;
    let is_called = |profile: &&ProfileContent| profile.is_called(name);
    let named: Vec<&ProfileContent> = file.profiles.iter().filter(is_called).collect();
    if named.is_empty() {
        return Err(no_profile(path, name, &file));
    }
    // Profiles have variants for files and for memory. wpr reads one of them.
    let mode = if to_file { "File" } else { "Memory" };
    let of_mode: Vec<&&ProfileContent> = named
        .iter()
        .filter(|profile| profile.mode.is_empty() || profile.mode.eq_ignore_ascii_case(mode))
        .collect();
    if of_mode.is_empty() {
        let (only, how) = if to_file {
            ("keeps the last events in memory", "leave --file out")
        } else {
            ("records to a file", "add --file")
        };
        return Err(advised(
            format!("the profile {name} of {} only {only}", path.display()),
            how,
        ));
    }
    for profile in of_mode {
        if let Some(problem) = profile.refusal() {
            return Err(advised(
                format!("the profile {name} of {}: {problem}", path.display()),
                format!(
                    "`etwkit record check {}` lists the contents of its profiles",
                    path.display()
                ),
            ));
        }
    }
    Ok(())
}

fn no_profile(path: &Path, name: &str, file: &Wprp) -> anyhow::Error {
    let names: BTreeSet<&str> = file.profiles.iter().map(|p| p.name.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    advised(
        format!("{} has no profile \"{name}\"", path.display()),
        format!("its profiles are {}", names.join(", ")),
    )
}

fn read(path: &Path) -> Result<Wprp> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {name}"))?;
    Wprp::read(&name, &bytes).map_err(|error| {
        advised(
            format!("{name}: {error}"),
            "a file of recording profiles is XML, as `wpr -exportprofile` and \
             `etwkit record profiles --write FOLDER` write it",
        )
    })
}

fn of_profile(profile: &ProfileContent) -> Vec<String> {
    let ProfileContent {
        name,
        detail,
        mode,
        description,
        ..
    } = profile;
    let missing = |text: &str| {
        if text.is_empty() {
            "not said".to_owned()
        } else {
            text.to_owned()
        }
    };
    let mut lines = vec![
        String::new(),
        format!("{name}  detail: {}, to: {}", missing(detail), missing(mode)),
    ];
    let mut part = |title: &str, text: String| {
        if !text.is_empty() {
            lines.push(format!("  {title:<12} {text}"));
        }
    };
    part("purpose", description.clone());
    part("adds to", list(&profile.built_in));
    part("kernel", list(&profile.kernel));
    part("stacks of", list(&profile.stacks));
    for (provider, how) in &profile.providers {
        part("provider", format!("{provider} ({})", of_provider(*how)));
    }
    part("counters", list(&profile.counters));
    if profile.branches {
        part("branches", "the last ones at each sample".to_owned());
    }
    if profile.heaps {
        part(
            "heaps",
            "of the processes that the file or a line of wpr names".to_owned(),
        );
    }
    let found = answers(profile).join(", ");
    let none = || "no question of `etwkit dump` but processes and modules".to_owned();
    part("answers", if found.is_empty() { none() } else { found });
    if !profile.built_in.is_empty() {
        let text = "more: the events of wpr itself, which are not in the file";
        part("", text.to_owned());
    }
    lines
}

fn of_provider(how: Provider) -> String {
    let keywords = match how.keywords {
        0 => "all keywords".to_owned(),
        mask => format!("keywords {mask:#x}"),
    };
    let level = match how.level {
        None | Some(0) => "all levels".to_owned(),
        Some(level) => format!("level {level}"),
    };
    let stacks = if how.stacks { ", stacks" } else { "" };
    let state = if how.state_only { ", state only" } else { "" };
    format!("{keywords}, {level}{stacks}{state}")
}

fn list(all: &BTreeSet<String>) -> String {
    all.iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}
