//! The comparison of an extract with the run that the lake has of its trace.

use crate::lake::{Error, Result, Run};
use crate::manifest::{Detail, Manifest};

/// The place of an extract in a lake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The lake has no run of this trace.
    New,
    /// The lake has this run, or a better one.
    Known,
    /// The extract replaces the run.
    Better,
}

/// Compares an extract with the run of its trace in the lake.
///
/// # Errors
/// They are of two traces, although these have one number.
pub(crate) fn of(new: &Run, known: Option<&Run>) -> Result<Verdict> {
    let Some(known) = known else {
        return Ok(Verdict::New);
    };
    // Compared before anything else: with the same number and another content one of both would be
    // lost.
    if let Some(what) = difference(new, known) {
        return Err(Error::Conflict {
            name: new.name().to_owned(),
            what,
        });
    }
    let details = (known.manifest().detail, new.manifest().detail);
    Ok(match details {
        // A full extract can answer everything that its summary can.
        (Detail::Full, Detail::Summary) => Verdict::Known,
        (Detail::Summary, Detail::Full) => Verdict::Better,
        _ if is_same(new, known) || is_worse(new, known) => Verdict::Known,
        _ => Verdict::Better,
    })
}

/// Returns the fact about the traces that differs. The number of a trace is made of its size and of
/// both its ends, so that two parts of one recording can have the same.
fn difference(new: &Run, known: &Run) -> Option<&'static str> {
    let (new, known) = (new.manifest(), known.manifest());
    let sizes = |run: &Manifest| {
        let files = run.source.files.iter();
        files.map(|file| file.size_bytes).collect::<Vec<_>>()
    };
    // The order of files is part of it, as time zero comes from the first one.
    if sizes(new) != sizes(known) {
        Some("the sizes of its files")
    } else if new.clock != known.clock {
        Some("its clock or start")
    } else if new.machine != known.machine {
        Some("its machine")
    } else {
        None
    }
}

/// Returns `true` if both have the same content, apart from answers that only the run has.
fn is_same(new: &Run, known: &Run) -> bool {
    let (a, b) = (new.manifest(), known.manifest());
    let is_same_derived = match (new.derived(), known.derived()) {
        (Some(a), Some(b)) => {
            a.derived_version == b.derived_version && a.depends_on == b.depends_on
        }
        (None, None) => true,
        _ => false,
    };
    is_same_derived
        && answers_nothing_more(a, b)
        && a.labels == b.labels
        && a.left_out == b.left_out
        && a.descriptions == b.descriptions
}

/// Returns `true` if the extract has no diagnosis and no features that the run lacks, or lacks some that the
/// run has: these are not given up for others.
fn answers_nothing_more(new: &Manifest, known: &Manifest) -> bool {
    let answers = [(&new.rules, &known.rules), (&new.features, &known.features)];
    let is_lost = answers
        .iter()
        .any(|(new, known)| new.is_none() && known.is_some());
    let is_added = answers
        .iter()
        .any(|(new, known)| new.is_some() && new != known);
    is_lost || !is_added
}

/// Returns `true` if the extract was made by an older version, or without tables that the lake has.
fn is_worse(new: &Run, known: &Run) -> bool {
    let version = |run: &Run| run.derived().map(|derived| derived.derived_version);
    let (new_out, known_out) = (&new.manifest().left_out, &known.manifest().left_out);
    // Fewer tables left out is better even with the same version.
    let has_fewer = new_out != known_out && new_out.is_superset(known_out);
    version(new) < version(known) || has_fewer
}
