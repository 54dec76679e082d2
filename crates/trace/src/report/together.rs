//! The check that files named together were recorded together.

use etwkit_etl::Session;
use etwkit_etl::clock::FILETIME_PER_SECOND;
use etwkit_etl::session::TraceFile;
use etwkit_etl::wire::trace_header::{TraceHeader, mode};
use serde::{Serialize, Serializer};

/// Maximum difference between the boot times of one boot: Windows corrects them when it sets the
/// clock.
const BOOT_TOLERANCE: u64 = 120 * FILETIME_PER_SECOND as u64;

/// Maximum pause between two files of one session: loggers are started and stopped one after the
/// other, and a logger that starts new files repeatedly loses no time.
const MAX_PAUSE: i64 = 60 * FILETIME_PER_SECOND;

/// Maximum time for which two files of one logger can seem to be written at once, and maximum pause
/// between files of a logger that was not told to start new ones.
const CHANGE_OF_FILE: i64 = FILETIME_PER_SECOND;

/// Name that merging tools write in place of the name of a logger.
const MERGED: &str = "Relogger";

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
    let range = recorded_with(first, &headers);
    let others = names
        .iter()
        .zip(&headers)
        .filter_map(|(name, header)| Some((name, misfit(first, range, header)?)));
    others
        .map(|(name, why)| OtherSession {
            file: name.clone(),
            why,
        })
        .collect()
}

/// Returns `false` if the headers of files show that some of them are recordings of their own: of
/// another boot, of another time, or of a logger that was started again.
#[must_use]
pub fn were_recorded_together(headers: &[&TraceHeader]) -> bool {
    let Some((first, others)) = headers.split_first() else {
        return true;
    };
    let range = recorded_with(first, headers);
    let fit = others
        .iter()
        .all(|header| misfit(first, range, header).is_none());
    let mut pairs = headers
        .iter()
        .enumerate()
        .flat_map(|(at, one)| headers.iter().skip(at + 1).map(move |other| (one, other)));
    fit && !pairs.any(|(one, other)| is_logger_again(one, other))
}

/// Returns the reason for which a file cannot belong to the session of the first one, with which
/// others start in this range.
fn misfit(first: &TraceHeader, (from, to): (i64, i64), header: &TraceHeader) -> Option<Misfit> {
    if !is_same_boot(first, header) {
        Some(Misfit::Boot)
    } else if header.start_time > 0 && !(from..=to).contains(&header.start_time) {
        Some(Misfit::Time)
    } else {
        None
    }
}

/// Returns `true` if two files are of one logger that recorded twice. It writes one file at a time,
/// and loses no time between two files of a session.
fn is_logger_again(one: &TraceHeader, other: &TraceHeader) -> bool {
    let is_one_logger =
        !one.session_name.is_empty() && one.session_name.eq_ignore_ascii_case(&other.session_name);
    // Without its end nothing is known of the time of a file.
    if !is_one_logger || one.length().is_none() || other.length().is_none() {
        return false;
    }
    let both = one
        .end_time
        .min(other.end_time)
        .saturating_sub(one.start_time.max(other.start_time));
    let starts_new_files = one.log_file_mode & other.log_file_mode & mode::NEW_FILE != 0;
    let is_merged = one.session_name.eq_ignore_ascii_case(MERGED);
    both > CHANGE_OF_FILE && !is_merged || both < -CHANGE_OF_FILE && !starts_new_files
}

fn is_same_boot(a: &TraceHeader, b: &TraceHeader) -> bool {
    if (a.build, a.perf_freq) != (b.build, b.perf_freq) {
        return false;
    }
    // 0 means that the header does not contain it. Then the number of processors has to do; where
    // there is a boot time, that number proves nothing, since some loggers write a smaller one.
    if a.boot_time == 0 || b.boot_time == 0 {
        return a.cpu_count == b.cpu_count;
    }
    a.boot_time.abs_diff(b.boot_time) <= BOOT_TOLERANCE
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
    let mut from = i64::MIN;
    let mut reach = i64::MIN;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of a session of this name, from one second to another.
    fn file(session: &str, from_s: i64, to_s: i64) -> TraceHeader {
        let day = 130_000_000_000_000_000;
        TraceHeader {
            session_name: session.to_owned(),
            start_time: day + from_s * FILETIME_PER_SECOND,
            end_time: day + to_s * FILETIME_PER_SECOND,
            ..TraceHeader::default()
        }
    }

    #[test]
    fn a_header_with_fewer_processors_is_of_the_same_boot() {
        let booted = |boot_time, cpu_count| TraceHeader {
            boot_time,
            cpu_count,
            ..file("App", 0, 10)
        };
        let day = 130_000_000_000_000_000;
        assert!(is_same_boot(&booted(day, 8), &booted(day, 1)));
        let later = day + 2 * BOOT_TOLERANCE.cast_signed();
        assert!(!is_same_boot(&booted(day, 8), &booted(later, 8)));
        assert!(!is_same_boot(&booted(0, 8), &booted(day, 1)));
    }

    #[test]
    fn a_logger_records_one_file_at_a_time() {
        let kernel = file("NT Kernel Logger", 0, 10);
        let growing = |from_s, to_s| TraceHeader {
            log_file_mode: mode::NEW_FILE,
            ..file("App", from_s, to_s)
        };
        let open = TraceHeader {
            end_time: 0,
            ..file("App", 0, 10)
        };
        let cases = [
            ("two loggers", [kernel.clone(), file("App", 1, 9)], true),
            (
                "one logger, twice at a time",
                [kernel.clone(), kernel.clone()],
                false,
            ),
            (
                "its next file",
                [kernel.clone(), file("NT Kernel Logger", 10, 20)],
                true,
            ),
            (
                "started again",
                [kernel.clone(), file("nt kernel logger", 15, 20)],
                false,
            ),
            (
                "a new file after a loss",
                [growing(0, 10), growing(15, 20)],
                true,
            ),
            (
                "merged parts",
                [file("Relogger", 0, 10), file("Relogger", 1, 9)],
                true,
            ),
            (
                "merged runs",
                [file("Relogger", 0, 10), file("Relogger", 30, 40)],
                false,
            ),
            ("without a name", [file("", 0, 10), file("", 0, 10)], true),
            ("without an end", [open, file("App", 0, 10)], true),
            ("an hour later", [kernel, file("App", 3600, 3700)], false),
        ];
        for (what, files, expected) in cases {
            let headers: Vec<&TraceHeader> = files.iter().collect();
            assert_eq!(were_recorded_together(&headers), expected, "{what}");
        }
    }
}
