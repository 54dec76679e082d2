//! Processes of several recordings of a machine in one list. A process that started in one
//! recording and ended in a later one has both times.

use std::collections::HashMap;

use super::view::ListedProcess;
use super::{ProcessRequest, ProcessRow, ProcessSort};
use etwkit_question::Source;
use etwkit_question::group::Top;
use etwkit_question::trace::TraceInfo;

/// A process of one or several recordings.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedProcess {
    /// Number of the first recording that has it, in the given order.
    pub recording: usize,
    /// The process. Its times count from the start of that recording; its end can be after the end
    /// of the recording.
    pub row: ProcessRow,
}

/// Identity of a process across recordings: machine, id and name.
type Key = (Option<String>, i64, Option<String>);

/// Merges processes. A process that was running at the start of a recording is the one with its id,
/// name and command line, on the same machine, that an earlier recording left running. With `all`,
/// processes that neither started nor ended are kept once for each recording.
#[must_use]
pub fn merge(recordings: &[(&TraceInfo, &[ProcessRow])], all: bool) -> Vec<MergedProcess> {
    let mut order: Vec<usize> = (0..recordings.len()).collect();
    // Recordings may be named in any order; a process that runs on can only be found in order of
    // time.
    order.sort_by_key(|at| recordings.get(*at).map(|(info, _)| info.start_filetime));
    let mut merged: Vec<MergedProcess> = Vec::new();
    // Which of them run on.
    let mut running: HashMap<Key, usize> = HashMap::new();
    for at in order {
        let Some((info, rows)) = recordings.get(at) else {
            continue;
        };
        // Kept apart until the recording was read: an id that is used again within one recording
        // must not continue a process of the same recording.
        let mut left: Vec<(Key, usize)> = Vec::new();
        for row in *rows {
            let key: Key = (
                info.computer.clone(),
                row.pid,
                row.name.as_deref().map(str::to_lowercase),
            );
            let known = running
                .get(&key)
                .and_then(|known| Some((*known, merged.get_mut(*known)?)));
            // A process that started in this recording was not there before, even with an equal id
            // and name.
            let is_again = row.start_ns.is_none() && !(all && row.stop_ns.is_none());
            let place = match known {
                Some((place, known)) if is_again && is_same(&known.row, row) => {
                    let offset = offset_ns(recordings, known.recording, at);
                    // Times of a row count from its own recording, and the merged row is of the
                    // first one.
                    known.row.stop_ns = row.stop_ns.map(|ns| ns.saturating_add(offset));
                    known.row.cpu_ns = match (known.row.cpu_ns, row.cpu_ns) {
                        (Some(one), Some(other)) => Some(one.saturating_add(other)),
                        (one, other) => one.or(other),
                    };
                    known.row.exit_code = row.exit_code;
                    known.row.is_crash |= row.is_crash;
                    known.row.duration_ns = known
                        .row
                        .stop_ns
                        .zip(known.row.start_ns)
                        .map(|(stop, start)| stop.saturating_sub(start));
                    place
                }
                _ => {
                    merged.push(MergedProcess {
                        recording: at,
                        row: row.clone(),
                    });
                    merged.len() - 1
                }
            };
            if row.stop_ns.is_none() {
                left.push((key, place));
            } else {
                running.remove(&key);
            }
        }
        running.extend(left);
    }
    merged
}

/// Merges the processes of several recordings into one list, each with the number of the first
/// recording that has it. For people, times count from the start of the earliest one, so that
/// seconds can be compared.
pub(super) fn together(
    asked: &ProcessRequest,
    sources: Vec<Source<ListedProcess>>,
    top: Top,
) -> Vec<(usize, ListedProcess)> {
    let mut infos = Vec::new();
    let mut lists = Vec::new();
    for Source {
        start_filetime,
        computer,
        rows,
    } in sources
    {
        infos.push(TraceInfo {
            start_filetime,
            computer,
            ..TraceInfo::default()
        });
        lists.push(
            rows.into_iter()
                .map(|listed| listed.row)
                .collect::<Vec<ProcessRow>>(),
        );
    }
    let recordings: Vec<(&TraceInfo, &[ProcessRow])> =
        infos.iter().zip(lists.iter().map(Vec::as_slice)).collect();
    let Some(first) = infos.iter().map(|info| info.start_filetime).min() else {
        return Vec::new();
    };
    let listed = |MergedProcess { recording, row }: MergedProcess| {
        let start = infos
            .get(recording)
            .map_or(first, |info| info.start_filetime);
        let listed = ListedProcess {
            row,
            offset_ns: start.saturating_sub(first).saturating_mul(100),
        };
        (listed.moved(), (recording, listed))
    };
    let mut all: Vec<(ProcessRow, (usize, ListedProcess))> =
        merge(&recordings, asked.all_processes)
            .into_iter()
            .map(listed)
            .collect();
    let order = if asked.is_by_cpu() {
        ProcessSort::Cpu
    } else {
        asked.sort
    };
    sort(&mut all, order, |(moved, _)| moved);
    top.cut(&mut all);
    all.into_iter().map(|(_, of)| of).collect()
}

/// Returns the time from the start of one recording to the start of another.
fn offset_ns(recordings: &[(&TraceInfo, &[ProcessRow])], from: usize, to: usize) -> i64 {
    let start = |at: usize| {
        recordings
            .get(at)
            .map_or(0, |(info, _)| info.start_filetime)
    };
    start(to).saturating_sub(start(from)).saturating_mul(100)
}

/// Returns `true` if both rows are the same process. Command lines differ if an id was used again.
fn is_same(known: &ProcessRow, row: &ProcessRow) -> bool {
    known.command_line.is_none()
        || row.command_line.is_none()
        || known.command_line == row.command_line
}

/// Sorts rows whose times count from one start. A tree keeps its order.
pub fn sort<T>(rows: &mut [T], sort: ProcessSort, row: impl Fn(&T) -> &ProcessRow) {
    let name = |row: &ProcessRow| row.name.as_deref().map(str::to_lowercase);
    match sort {
        ProcessSort::Cpu => {
            // The most expensive come last, and of equal ones the first name does.
            rows.sort_by_key(|of| {
                (
                    row(of).cpu_ns,
                    std::cmp::Reverse((name(row(of)), row(of).pid)),
                )
            });
        }
        ProcessSort::Usual | ProcessSort::Name => {
            rows.sort_by_key(|of| (name(row(of)), row(of).start_ns, row(of).pid));
        }
        ProcessSort::Time => rows.sort_by_key(|of| {
            let row = row(of);
            // Processes that were there all the time come first, then those that only ended, then
            // those that started.
            let kind = if row.start_ns.is_some() {
                2
            } else {
                i32::from(row.stop_ns.is_some())
            };
            (kind, row.start_ns.or(row.stop_ns), name(row))
        }),
        ProcessSort::StopTime => rows.sort_by_key(|of| (row(of).stop_ns, name(row(of)))),
        ProcessSort::Session => rows.sort_by_key(|of| (row(of).session_id, name(row(of)))),
        ProcessSort::Tree => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    fn info(computer: &str, start_s: i64) -> TraceInfo {
        TraceInfo {
            computer: Some(computer.into()),
            start_filetime: start_s * 10_000_000,
            ..TraceInfo::default()
        }
    }

    fn process(pid: i64, name: &str, start_s: Option<i64>, stop_s: Option<i64>) -> ProcessRow {
        ProcessRow {
            pid,
            name: Some(name.into()),
            start_ns: start_s.map(|s| s * S),
            stop_ns: stop_s.map(|s| s * S),
            ..ProcessRow::default()
        }
    }

    /// Returns recording, id, start and end in seconds.
    fn shown(merged: &[MergedProcess]) -> Vec<(usize, i64, Option<i64>, Option<i64>)> {
        let s = |ns: Option<i64>| ns.map(|ns| ns / S);
        merged
            .iter()
            .map(|of| {
                (
                    of.recording,
                    of.row.pid,
                    s(of.row.start_ns),
                    s(of.row.stop_ns),
                )
            })
            .collect()
    }

    #[test]
    fn lives_go_on_in_later_recordings() {
        let (first, second, other) = (info("PC", 100), info("PC", 160), info("OTHER", 160));
        let of_first = [
            process(1, "a.exe", Some(2), None),
            process(2, "b.exe", Some(3), Some(4)),
            process(4, "System", None, None),
            process(9, "reused.exe", None, None),
        ];
        let of_second = [
            process(1, "A.exe", None, Some(5)),
            process(4, "System", None, None),
            process(9, "reused.exe", Some(1), None),
        ];
        let of_other = [process(1, "a.exe", None, None)];
        // They need not be in order of time.
        let recordings = [
            (&second, &of_second[..]),
            (&first, &of_first[..]),
            (&other, &of_other[..]),
        ];
        let merged = merge(&recordings, false);
        assert_eq!(
            shown(&merged),
            [
                // Started at second 2 of the first, ended at second 5 of the second one, 60 s
                // later.
                (1, 1, Some(2), Some(65)),
                (1, 2, Some(3), Some(4)),
                (1, 4, None, None),
                (1, 9, None, None),
                (0, 9, Some(1), None),
                (2, 1, None, None),
            ]
        );
        assert_eq!(merged[0].row.duration_ns, Some(63 * S));
        let systems = merge(&recordings, true)
            .iter()
            .filter(|of| of.row.pid == 4)
            .count();
        assert_eq!(systems, 2, "each recording found it running");
    }

    #[test]
    fn other_command_lines_are_other_processes() {
        let (first, second) = (info("PC", 100), info("PC", 200));
        let with = |line: &str| ProcessRow {
            command_line: Some(line.into()),
            ..process(1, "a.exe", None, None)
        };
        let (one, other) = ([with("a 1")], [with("a 2")]);
        assert_eq!(
            merge(&[(&first, &one[..]), (&second, &other[..])], false).len(),
            2
        );
        assert_eq!(
            merge(&[(&first, &one[..]), (&second, &one[..])], false).len(),
            1
        );
    }

    #[test]
    fn orders() {
        let rows = [
            process(1, "b", Some(5), None),
            process(2, "a", None, Some(3)),
            process(3, "c", None, None),
        ];
        for (order, pids) in [
            (ProcessSort::Usual, [2, 1, 3]),
            (ProcessSort::Cpu, [3, 1, 2]),
            (ProcessSort::Name, [2, 1, 3]),
            (ProcessSort::Time, [3, 2, 1]),
            (ProcessSort::StopTime, [1, 3, 2]),
            (ProcessSort::Tree, [1, 2, 3]),
        ] {
            let mut sorted = rows.to_vec();
            sort(&mut sorted, order, |row| row);
            assert_eq!(
                sorted.iter().map(|row| row.pid).collect::<Vec<_>>(),
                pids,
                "{order:?}"
            );
        }
    }
}
