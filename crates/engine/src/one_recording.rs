//! Files of one recording that were named as several traces.
//!
//! Recorders write a file for each session: `app.etl`, `app.kernel.etl`, `app.user.etl`. One alone
//! lacks what only another one knows, such as the names of processes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use etwkit_base::endings;
use etwkit_base::path::{name_of, parent_of};
use etwkit_base::shell::{joined_patterns, quoted};
use etwkit_question::trace::TraceInfo;

/// Maximum number of files that are taken for one recording: more are the runs of a test.
const MOST_FILES: usize = 8;

/// The traces of one question, by folder and the first part of their names.
#[derive(Debug, Default)]
pub struct OneRecording(BTreeMap<(PathBuf, String), Vec<Part>>);

/// A trace that may be a part of a recording.
#[derive(Debug)]
struct Part {
    path: String,
    computer: Option<String>,
    /// Start and end, in units of 100 ns.
    from: i64,
    to: i64,
}

impl OneRecording {
    /// Takes a trace, as it was named. Extracts and archives cannot be read as one session.
    pub fn see(&mut self, name: &str, info: &TraceInfo) {
        let path = Path::new(name);
        let file = name_of(path).to_lowercase();
        if !endings::is_single_trace(&file) {
            return;
        }
        let Some((first, _)) = file.split_once('.') else {
            return;
        };
        let key = (parent_of(path).to_owned(), first.to_owned());
        let to = info.start_filetime.saturating_add(info.duration_ns / 100);
        self.0.entry(key).or_default().push(Part {
            path: name.to_owned(),
            computer: info.computer.clone(),
            from: info.start_filetime,
            to,
        });
    }

    /// Returns a note about each recording that was answered in parts.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let recordings = self
            .0
            .iter()
            .filter(|(_, parts)| (2..=MOST_FILES).contains(&parts.len()) && are_together(parts));
        recordings
            .map(|((_, first), parts)| note(first, parts))
            .collect()
    }
}

fn note(first: &str, parts: &[Part]) -> String {
    let names: Vec<String> = parts
        .iter()
        .map(|part| name_of(Path::new(&part.path)))
        .collect();
    let files = joined_patterns(parts.iter().map(|part| &part.path));
    let out = quoted(&format!("{first}.etwx"));
    format!(
        "{} have the names and the times of parts of one recording: if they are, \
         `etwkit extract --one-session --out {out} {files}` makes one extract of them",
        names.join(", ")
    )
}

/// Returns `true` if all were recorded on one computer, and each during most of the shorter of it
/// and the first.
fn are_together(parts: &[Part]) -> bool {
    let Some((first, others)) = parts.split_first() else {
        return false;
    };
    others.iter().all(|other| {
        let both = first
            .to
            .min(other.to)
            .saturating_sub(first.from.max(other.from));
        let shorter = first.length().min(other.length());
        let is_same_computer = match (&first.computer, &other.computer) {
            (Some(a), Some(b)) => a == b,
            // The file of some sessions does not name it.
            _ => true,
        };
        is_same_computer && both > shorter / 2
    })
}

impl Part {
    const fn length(&self) -> i64 {
        self.to.saturating_sub(self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes about traces with these names, starts and lengths in seconds.
    fn notes(traces: &[(&str, i64, i64)]) -> Vec<String> {
        let mut all = OneRecording::default();
        for (name, start_s, length_s) in traces {
            let info = TraceInfo {
                start_filetime: start_s * 10_000_000,
                duration_ns: length_s * 1_000_000_000,
                ..TraceInfo::default()
            };
            all.see(name, &info);
        }
        all.notes()
    }

    #[test]
    fn files_of_one_recording_are_known_by_name_and_time() {
        assert_eq!(
            notes(&[("r/App.etl", 100, 13), ("r/app.kernel.1.etl", 101, 12)]),
            [
                "App.etl, app.kernel.1.etl have the names and the times of parts of one recording: \
              if they are, `etwkit extract --one-session --out app.etwx r/App.etl \
              r/app.kernel.1.etl` makes one extract of them"
            ]
        );
        for others in [
            // One after the other.
            [("r/app.1.etl", 100, 13), ("r/app.2.etl", 113, 13)],
            [("r/app.1.etl", 100, 13), ("r/test.1.etl", 100, 13)],
            [("a/app.1.etl", 100, 13), ("b/app.2.etl", 100, 13)],
            [("r/app.etwx", 100, 13), ("r/app.kernel.etwx", 100, 13)],
        ] {
            assert!(notes(&others).is_empty(), "{others:?}");
        }
    }
}
