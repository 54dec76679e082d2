//! Processes and threads: their names in the file and their keys in the extract.

use std::collections::HashMap;

use etwkit_trace::table::{Process, Thread};

use crate::json7z::error::Result;
use crate::json7z::reader::Reader;
use crate::json7z::times::{Zero, start_of};

/// A process as the file has it.
#[derive(Debug, Default, Clone)]
pub(crate) struct JsonProcess {
    pid: i32,
    name: Option<String>,
    command_line: Option<String>,
    /// In units of 100 ns since 1601; `None` if unknown.
    start: Option<i64>,
    stop: Option<i64>,
    is_new: Option<bool>,
    has_ended: Option<bool>,
    exit_code: Option<i32>,
    parent_pid: Option<i32>,
    session_id: Option<i32>,
    user: Option<String>,
}

impl JsonProcess {
    /// Reads an item of `Processes`.
    pub(crate) fn read(reader: &mut Reader) -> Result<Self> {
        let mut listed = Self::default();
        reader.object(|reader, name| {
            match name {
                "ProcessID" => listed.pid = reader.given(Reader::bits)? as i32,
                "ProcessName" => listed.name = reader.filled_text()?,
                "CmdLine" => listed.command_line = reader.filled_text()?,
                "StartTime" => listed.start = reader.moment()?.map(|moment| moment.filetime),
                "EndTime" => listed.stop = reader.moment()?.map(|moment| moment.filetime),
                "IsNew" => listed.is_new = reader.flag()?,
                "HasEnded" => listed.has_ended = reader.flag()?,
                "ReturnCode" => listed.exit_code = reader.bits()?.map(|code| code as i32),
                "ParentPid" => listed.parent_pid = reader.bits()?.map(|pid| pid as i32),
                "SessionId" => listed.session_id = reader.int32()?,
                "Identity" => listed.user = reader.filled_text()?,
                // Derived from start and end.
                "StartStopTags" => reader.skip()?,
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        Ok(listed)
    }
}

/// All processes. The key of one is its index in the file.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    listed: Vec<JsonProcess>,
    by_identity: HashMap<(i32, Option<i64>), i32>,
    by_pid: HashMap<i32, Vec<i32>>,
    /// Number of references to processes that are not in the list.
    pub(crate) missing: i64,
}

impl Processes {
    pub(crate) fn new(listed: Vec<JsonProcess>) -> Self {
        let mut all = Self::default();
        for (key, process) in (0..).zip(&listed) {
            all.by_identity.insert((process.pid, process.start), key);
            all.by_pid.entry(process.pid).or_default().push(key);
        }
        // In the order of their starts, those that ran before first.
        for keys in all.by_pid.values_mut() {
            keys.sort_by_key(|key| {
                usize::try_from(*key)
                    .ok()
                    .and_then(|key| listed.get(key))
                    .and_then(|listed| listed.start)
            });
        }
        all.listed = listed;
        all
    }

    /// The process with that index; -1 means none.
    pub(crate) fn at(&mut self, index: i64) -> Option<i32> {
        let found = i32::try_from(index)
            .ok()
            .filter(|index| (0..self.listed.len() as i64).contains(&i64::from(*index)));
        self.missing += i64::from(found.is_none() && index != -1);
        found
    }

    /// The process with an ID and a start. A process whose start is unknown has no start in the
    /// list. If no start is given and several processes had the ID, the file name of the executable
    /// decides if it matches one of them.
    pub(crate) fn with(&mut self, pid: i32, start: Option<i64>, name: Option<&str>) -> Option<i32> {
        let exact = self.by_identity.get(&(pid, start)).copied();
        let same_id = self.by_pid.get(&pid).map_or(&[][..], Vec::as_slice);
        let has_name = |key: &i32| {
            let known = self
                .listed(Some(*key))
                .and_then(|listed| listed.name.as_deref());
            known
                .zip(name)
                .is_some_and(|(known, name)| known.eq_ignore_ascii_case(name))
        };
        let named: Vec<i32> = same_id.iter().copied().filter(has_name).collect();
        let found = match (exact, same_id, named.as_slice()) {
            // A missing start matches a process whose start is unknown, but it may also mean any
            // other process. So the name has to agree, if it matches any of them.
            (Some(exact), ..) if start.is_some() || named.is_empty() || has_name(&exact) => {
                Some(exact)
            }
            (_, [one], _) | (.., [one]) => Some(*one),
            (exact, ..) => exact,
        };
        self.missing += i64::from(found.is_none());
        found
    }

    /// The process with a key such as `cmd.exe(4711)2020-01-01T15:55:03.3994777+01:00`. The inner
    /// `None` means a process that is not in the list, the outer `None` a text that is not a key.
    pub(crate) fn with_text(&mut self, text: &str) -> Option<Option<i32>> {
        let (head, start) = text.rsplit_once(')')?;
        let (name, pid) = head.rsplit_once('(')?;
        let pid: i64 = pid.parse().ok()?;
        Some(self.with(pid as i32, start_of(start)?, Some(name)))
    }

    /// Process ID of a key.
    pub(crate) fn pid(&self, key: Option<i32>) -> Option<i32> {
        self.listed(key).map(|listed| listed.pid)
    }

    /// The process that kernel and drivers run in.
    pub(crate) fn system(&self) -> Option<i32> {
        self.by_pid.get(&4).and_then(|keys| keys.first()).copied()
    }

    fn listed(&self, key: Option<i32>) -> Option<&JsonProcess> {
        self.listed.get(usize::try_from(key?).ok()?)
    }

    /// Start and end of a process in nanoseconds; `None` if it started before or ended after the
    /// trace.
    pub(crate) fn life(&self, key: Option<i32>, zero: Zero) -> (Option<i64>, Option<i64>) {
        let Some(listed) = self.listed(key) else {
            return (None, None);
        };
        let ns = |filetime: i64| filetime.saturating_sub(zero.0).saturating_mul(100);
        // A file without this flag: a process is new if it started at time zero or later.
        let start = listed
            .start
            .map(ns)
            .filter(|start| listed.is_new.unwrap_or(*start >= 0));
        (
            start,
            listed
                .stop
                .map(ns)
                .filter(|_| listed.has_ended.unwrap_or(true)),
        )
    }

    /// The rows of `process`.
    pub(crate) fn rows(&self, zero: Zero) -> impl Iterator<Item = Process> {
        (0..).zip(&self.listed).map(move |(key, listed)| {
            let (start_ns, stop_ns) = self.life(Some(key), zero);
            Process {
                process_key: key,
                pid: listed.pid,
                parent_pid: listed.parent_pid,
                parent_process_key: self.parent(key, listed),
                name: listed.name.clone(),
                command_line: listed.command_line.clone(),
                session_id: listed.session_id,
                sid: listed.user.clone(),
                creator_thread_key: None,
                start_ns,
                stop_ns,
                exit_code: listed.exit_code,
                ..Process::default()
            }
        })
    }

    /// The process with the ID of the parent that started last before this one, if it still ran.
    fn parent(&self, key: i32, listed: &JsonProcess) -> Option<i32> {
        // `by_pid` sorts unknown starts first, because `None` is less than any start. The binary
        // search below relies on this order.
        let candidates = self.by_pid.get(&listed.parent_pid?)?;
        let started = |parent: &i32| {
            self.listed(Some(*parent))
                .is_some_and(|other| other.start <= listed.start)
        };
        // Windows reuses IDs, so the parent is the last process that started before.
        let before = candidates.partition_point(started);
        let parent = candidates
            .iter()
            .take(before)
            .rev()
            .find(|parent| **parent != key)
            .copied()?;
        let stop = self.listed(Some(parent)).and_then(|other| other.stop);
        Some(parent)
            .filter(|_| stop.is_none_or(|stop| listed.start.is_none_or(|start| stop >= start)))
    }
}

/// Threads that the file refers to, numbered in order of appearance.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    keys: HashMap<(Option<i32>, i32), i32>,
    rows: Vec<Thread>,
}

impl Threads {
    /// The key of a thread of a process.
    pub(crate) fn key(&mut self, process_key: Option<i32>, tid: i64) -> i32 {
        let tid = tid as i32;
        *self.keys.entry((process_key, tid)).or_insert_with(|| {
            let thread_key = self.rows.len() as i32;
            self.rows.push(Thread {
                thread_key,
                tid,
                process_key,
                ..Thread::default()
            });
            thread_key
        })
    }

    pub(crate) fn into_rows(self) -> Vec<Thread> {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(pid: i32, start: Option<i64>, stop: Option<i64>, parent_pid: i32) -> JsonProcess {
        JsonProcess {
            pid,
            start,
            stop,
            parent_pid: Some(parent_pid),
            ..JsonProcess::default()
        }
    }

    #[test]
    fn processes_are_found_by_id_and_start() {
        let start = start_of("2021-11-14T21:12:12.0576236+01:00").unwrap();
        let mut all = Processes::new(vec![
            listed(7, None, None, 0),
            listed(7, start, None, 0),
            listed(8, start, None, 7),
        ]);
        assert_eq!(all.with_text("a(b).exe(7)"), Some(Some(0)));
        // Keys of old files have no start: the executable distinguishes two processes with one ID.
        let named = |pid, name: &str, start| JsonProcess {
            name: Some(name.to_owned()),
            ..listed(pid, start, None, 0)
        };
        let later = start.map(|start| start + 5);
        let mut two = Processes::new(vec![
            named(7, "a.exe", start),
            named(7, "b.exe", later),
            named(9, "a.exe", None),
            named(9, "b.exe", start),
            named(9, "b.exe", later),
        ]);
        assert_eq!(
            (two.with_text("B.exe(7)"), two.with_text("a.exe(7)")),
            (Some(Some(1)), Some(Some(0)))
        );
        assert_eq!((two.with_text("c.exe(7)"), two.missing), (Some(None), 1));
        // If two have that name, neither is chosen rather than the wrong one; a process without a
        // known start is.
        assert_eq!(
            (two.with_text("a.exe(9)"), two.with_text("b.exe(9)")),
            (Some(Some(2)), Some(Some(2)))
        );
        assert_eq!(
            all.with_text("a.exe(7)2021-11-14T21:12:12.0576236+01:00"),
            Some(Some(1))
        );
        // Another start, but the only one with that ID.
        assert_eq!(all.with_text("a.exe(8)"), Some(Some(2)));
        assert_eq!((all.with_text("a.exe(9)"), all.missing), (Some(None), 1));
        assert_eq!(
            (
                all.with_text("a.exe"),
                all.with_text("a(x)"),
                all.with_text("a(7)soon")
            ),
            (None, None, None)
        );
        assert_eq!((all.at(2), all.at(-1), all.missing), (Some(2), None, 1));
        assert_eq!((all.at(3), all.missing), (None, 2));
    }

    #[test]
    fn a_parent_ran_when_its_child_started() {
        let all = Processes::new(vec![
            listed(7, Some(10), Some(20), 0),
            listed(7, Some(30), None, 0),
            listed(8, Some(15), None, 7),
            listed(9, Some(40), None, 7),
            listed(10, Some(25), None, 7),
        ]);
        let parents: Vec<_> = all
            .rows(Zero(0))
            .map(|row| row.parent_process_key)
            .collect();
        assert_eq!(parents, [None, None, Some(0), Some(1), None]);
    }
}
