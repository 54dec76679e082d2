//! The check that files named together were recorded together.

use etwkit_etl::Session;
use etwkit_etl::clock::FILETIME_PER_SECOND;
use etwkit_etl::session::TraceFile;
use etwkit_etl::wire::trace_header::TraceHeader;
use serde::{Serialize, Serializer};

/// Maximum difference between the boot times of one boot: Windows corrects them when it sets the
/// clock.
const BOOT_TOLERANCE: u64 = 120 * FILETIME_PER_SECOND as u64;

/// Maximum pause between two files of one session: loggers are started and stopped one after the
/// other, and a logger that starts new files repeatedly loses no time.
const MAX_PAUSE: i64 = 60 * FILETIME_PER_SECOND;

/// A file that cannot belong to the session of the first one. Serialized as its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherSession {
    /// The file, as it was named.
    pub file: String,
    /// The difference.
    pub why: Misfit,
}

/// The reason for which a file cannot belong to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// It was recorded on another machine, or after another boot.
    Boot,
    /// It was recorded later or earlier, with more than a minute between in which nothing was
    /// recorded.
    Time,
}

impl Serialize for OtherSession {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.file)
    }
}

/// Files that cannot belong to the session of the first one. `names` are the names of all files, in
/// order.
pub(super) fn strangers(session: &Session, names: &[String]) -> Vec<OtherSession> {
    let headers: Vec<&TraceHeader> = session.files().iter().map(TraceFile::header).collect();
    let Some(first) = headers.first() else {
        return Vec::new();
    };
    let (from, to) = recorded_with(first, &headers);
    let misfit = |header: &TraceHeader| {
        if !is_same_boot(first, header) {
            Some(Misfit::Boot)
        } else if header.start_time > 0 && !(from..=to).contains(&header.start_time) {
            Some(Misfit::Time)
        } else {
            None
        }
    };
    let others = names
        .iter()
        .zip(&headers)
        .filter_map(|(name, header)| Some((name, misfit(header)?)));
    others
        .map(|(name, why)| OtherSession {
            file: name.clone(),
            why,
        })
        .collect()
}

fn is_same_boot(a: &TraceHeader, b: &TraceHeader) -> bool {
    // 0 means that the header does not contain it, which proves nothing.
    let is_near = |a: i64, b: i64| a == 0 || b == 0 || a.abs_diff(b) <= BOOT_TOLERANCE;
    (a.build, a.cpu_count, a.perf_freq) == (b.build, b.cpu_count, b.perf_freq)
        && is_near(a.boot_time, b.boot_time)
}

/// The range, in units of 100 ns since 1601, in which files recorded with the first one start: the
/// time around its start without a long pause.
fn recorded_with(first: &TraceHeader, headers: &[&TraceHeader]) -> (i64, i64) {
    if first.start_time <= 0 {
        return (i64::MIN, i64::MAX);
    }
    let mut times: Vec<(i64, i64)> = headers
        .iter()
        .filter(|header| header.start_time > 0)
        // A file that was not closed may reach to any time.
        .map(|header| {
            (
                header.start_time,
                if header.end_time > 0 {
                    header.end_time
                } else {
                    i64::MAX
                },
            )
        })
        .collect();
    times.sort_unstable();
    let (mut from, mut reach) = (i64::MIN, i64::MIN);
    for (start, end) in times {
        // Stretches without a long pause follow each other; the wanted one contains the start of
        // the first file.
        let is_pause = reach != i64::MIN && start.saturating_sub(reach) > MAX_PAUSE;
        if is_pause && start > first.start_time {
            return (from, start.saturating_sub(1));
        }
        if is_pause {
            from = start;
        }
        reach = reach.max(end);
    }
    (from, i64::MAX)
}
