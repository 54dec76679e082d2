//! The part of a recording that the events of each session cover. Sessions that run together may
//! keep different lengths of time, most of all rings in memory.

use etwkit_etl::Session;

use crate::counts::{Counts, end_of};

/// Part of the recording, as its reciprocal, that may lack events at the start or the end without
/// being told: sessions start and stop one after the other.
const SLACK: i64 = 20;

/// Files of one session, one after the other.
struct Part<'a> {
    session: &'a str,
    files: Vec<String>,
    /// Nanoseconds of the first and the last event.
    first: i64,
    last: i64,
}

/// A sentence about each session whose events start late or end early. Nothing is told of a single
/// one.
pub(crate) fn parts(session: &Session, counts: &Counts) -> Vec<String> {
    let clock = session.clock();
    let end = clock.nanoseconds(end_of(session, counts));
    let slack = end / SLACK;
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut files: Vec<_> = session
        .files()
        .iter()
        .enumerate()
        .filter_map(|(file, of)| {
            let (first, last) = counts.times_of_file(file)?;
            let times = (clock.nanoseconds(first), clock.nanoseconds(last));
            Some((times, file, of.header().session_name.as_str()))
        })
        .collect();
    files.sort_unstable();
    for ((first, last), file, name) in files {
        let number = (file + 1).to_string();
        let goes_on =
            |part: &&mut Part<'_>| part.session == name && first >= part.last.saturating_sub(slack);
        if let Some(part) = parts.iter_mut().find(goes_on) {
            part.files.push(number);
            part.last = part.last.max(last);
        } else {
            parts.push(Part {
                session: name,
                files: vec![number],
                first,
                last,
            });
        }
    }
    if parts.len() < 2 {
        return Vec::new();
    }
    let is_short = |part: &Part<'_>| part.first > slack || part.last < end.saturating_sub(slack);
    parts
        .into_iter()
        .filter(is_short)
        .map(|part| part.text(end))
        .collect()
}

impl Part<'_> {
    fn text(&self, end: i64) -> String {
        let (files, have) = match self.files.as_slice() {
            [_] => ("file", "has"),
            _ => ("files", "have"),
        };
        let [first, last, end] = [self.first, self.last, end].map(|ns| ns as f64 / 1e9);
        format!(
            "{files} {} (session {:?}) {have} events from {first:.3} s to {last:.3} s of {end:.3} s only",
            self.files.join(", "),
            self.session
        )
    }
}
