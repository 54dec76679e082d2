//! Lists of the recordings in open folders.

use std::path::Path;
use std::time::{Duration, Instant};

use etwkit_base::path::name_of;
use etwkit_engine::{Head, ListedRecording};

use crate::api::Call;
use crate::problem::{Problem, Result};
use crate::wire::{FolderAnswer, FolderIn, FolderRecording, FolderRequest};

/// Longest list.
const MOST_RECORDINGS: usize = 2000;

/// Longest time for reading the heads of recordings; the remaining ones are listed by name and size.
const HEADS_TIME: Duration = Duration::from_secs(10);

/// Lists the recordings in a folder that is open.
pub(crate) fn folder(call: &Call<'_>, request: &FolderRequest) -> Result<FolderAnswer> {
    let path = Path::new(&request.path);
    let open = call.shared.folders();
    if !open.iter().any(|known| known == path) {
        return Err(
            Problem::not_found(format!("the folder {} is not open", path.display()))
                .with_hint("`open` opens it"),
        );
    }
    let listing = call
        .shared
        .engine
        .listing(path, Instant::now() + HEADS_TIME)?;
    let place = std::path::absolute(path)?;
    let above = path
        .parent()
        .filter(|parent| open.iter().any(|known| known == parent));
    let left_out = listing.recordings.len().saturating_sub(MOST_RECORDINGS);
    let listed = listing.recordings.into_iter().take(MOST_RECORDINGS);
    Ok(FolderAnswer {
        name: name_of(&place),
        place: place.display().to_string(),
        above: above.map(|above| above.display().to_string()),
        recordings: listed.map(recording).collect(),
        left_out: left_out as u64,
        folders: listing.folders.iter().map(|path| folder_in(path)).collect(),
    })
}

fn recording(listed: ListedRecording) -> FolderRecording {
    let (head, failure) = match listed.head {
        Some(Ok(head)) => (Some(head), None),
        Some(Err(failure)) => (None, Some(failure)),
        None => (None, None),
    };
    let is_extracted = head.as_ref().map(|head| head.is_extracted);
    let Head {
        start_filetime,
        computer,
        gaps,
        ..
    } = head.unwrap_or_default();
    FolderRecording {
        name: name_of(&listed.path),
        path: listed.path.display().to_string(),
        bytes: listed.bytes,
        start_filetime: start_filetime.map(|start| start.to_string()),
        computer,
        is_extracted,
        gaps: Some(gaps).filter(|gaps| !gaps.is_empty()),
        failure,
    }
}

fn folder_in(path: &Path) -> FolderIn {
    FolderIn {
        name: name_of(path),
        path: path.display().to_string(),
    }
}
