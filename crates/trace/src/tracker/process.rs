//! Processes: instances of reused process IDs.

use etwkit_base::path::file_name;
use etwkit_decode::ansi;
use etwkit_decode::kernel::process::{Process, flag, opcode};
use rustc_hash::FxHashMap;

/// A process instance: dense, from 0, in order of first occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessKey(pub u32);

/// One process instance. Texts are empty if no event reports them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessInstance {
    /// Process ID.
    pub pid: u32,
    /// 1 for the first instance with that ID, 2 for the second, …
    pub ordinal: u32,
    /// Process ID of the parent.
    pub parent_pid: Option<u32>,
    /// Terminal session, -1 for none.
    pub session_id: Option<i32>,
    /// File name of the image.
    pub name: String,
    /// Command line.
    pub command_line: String,
    /// Full name of the app package.
    pub package: String,
    /// Application ID in the package.
    pub app_id: String,
    /// Security ID of the user.
    pub sid: Option<String>,
    /// Thread that started it; `None` if it ran before, or if the start does not name one.
    pub creator_tid: Option<u32>,
    /// Raw time of the start; `None` if it ran before.
    pub start: Option<i64>,
    /// Raw time at which it started to end; `None` if no event reports it.
    pub terminate: Option<i64>,
    /// Raw time of the stop; `None` if it still ran.
    pub stop: Option<i64>,
    /// Exit code.
    pub exit_code: Option<u32>,
    /// True if it had ended but was still referred to.
    pub defunct: bool,
    /// Bytes of the name in the code page of the machine, while no text in UTF-16 confirms it.
    ansi_name: Option<Vec<u8>>,
    /// Bits of [`flag`]; `None` if no event has them.
    flags: Option<u32>,
    /// Address of the kernel object, 0 if unknown.
    unique_key: u64,
    /// Known only from a defunct event.
    only_defunct: bool,
    /// Known from nothing but other events that name its ID.
    only_mentioned: bool,
    /// Raw time from which the ID refers to this instance.
    begin: i64,
    /// Raw time at which it stopped or its successor started.
    end: i64,
}

impl ProcessInstance {
    /// Name in machine output: the process ID, with `#2`, `#3` … for later instances.
    #[must_use]
    pub fn key_text(&self) -> String {
        if self.ordinal <= 1 {
            self.pid.to_string()
        } else {
            format!("{}#{}", self.pid, self.ordinal)
        }
    }

    /// Address of the kernel object, if it is known.
    #[must_use]
    pub fn object_address(&self) -> Option<u64> {
        Some(self.unique_key).filter(|address| *address != 0)
    }

    /// True if it runs 32-bit code on a 64-bit system; `None` if no event contains it.
    #[must_use]
    pub fn is_wow64(&self) -> Option<bool> {
        self.flags.map(|flags| flags & flag::WOW64 != 0)
    }

    /// True if it is protected from other processes; `None` if no event contains it.
    #[must_use]
    pub fn is_protected(&self) -> Option<bool> {
        self.flags.map(|flags| flags & flag::PROTECTED != 0)
    }

    /// True if any event described the process itself.
    #[must_use]
    pub const fn is_described(&self) -> bool {
        !self.only_mentioned
    }
}

/// All process instances of a session.
#[derive(Debug, Default)]
pub struct ProcessTracker {
    instances: Vec<ProcessInstance>,
    by_pid: FxHashMap<u32, Vec<u32>>,
    /// The instance of each process ID that has started and not stopped.
    open: FxHashMap<u32, u32>,
    /// Raw ticks by which an event may come before the start or after the end of its process.
    grace: i64,
}

impl ProcessTracker {
    /// Takes a process event; events of one process ID must come in order of time.
    pub fn add(&mut self, op: u8, timestamp: i64, event: Process) {
        let key = match op {
            opcode::START => self.start(timestamp, &event),
            opcode::END => {
                let key = self
                    .open
                    .remove(&event.pid)
                    // Its start was before the trace, or was lost.
                    .unwrap_or_else(|| self.new_instance(event.pid, None));
                if let Some(instance) = self.get_mut(key) {
                    instance.stop = Some(timestamp);
                    instance.end = timestamp;
                    instance.exit_code = Some(event.exit_status);
                }
                key
            }
            opcode::DC_START | opcode::DC_END => match self.open.get(&event.pid) {
                Some(key) => *key,
                None => {
                    let key = self.new_instance(event.pid, None);
                    self.open.insert(event.pid, key);
                    key
                }
            },
            opcode::DEFUNCT => self.defunct(&event),
            _ => return,
        };
        if let Some(instance) = self.get_mut(key) {
            instance.describe(event);
        }
    }

    // The ID is in use again, so the process before has ended, whether its end was logged or not.
    fn start(&mut self, timestamp: i64, event: &Process) -> u32 {
        if let Some(previous) = self.open.remove(&event.pid)
            && let Some(instance) = self.get_mut(previous)
        {
            // Its end was lost; the ID means the new process from now on.
            // One tick before, so that both do not contain the time of the start.
            instance.end = timestamp.saturating_sub(1);
        }
        let key = self.new_instance(event.pid, Some(timestamp));
        self.open.insert(event.pid, key);
        key
    }

    /// Stores the thread that logged the start added last for that process ID: the thread that
    /// started the process.
    pub fn created(&mut self, pid: u32, creator_tid: Option<u32>) {
        let key = self.open.get(&pid).copied();
        if let Some(instance) = key.and_then(|key| self.get_mut(key)) {
            // Thread 0 is idle and creates nothing.
            instance.creator_tid = creator_tid.filter(|tid| *tid != 0);
        }
    }

    // Several threads may call for the end of a process, and only the first time matters.
    /// Takes the time at which a process starts to end. Only the first event counts. An event after
    /// the end is ignored.
    pub fn terminate(&mut self, timestamp: i64, pid: u32) {
        // The instance is made here, so that the time is not lost until the end describes it.
        if !self.by_pid.contains_key(&pid) {
            // It ran before, and is described only after its end.
            let key = self.new_instance(pid, None);
            self.open.insert(pid, key);
        }
        let key = self.open.get(&pid).copied();
        if let Some(instance) = key.and_then(|key| self.get_mut(key)) {
            instance.terminate.get_or_insert(timestamp);
        }
    }

    fn defunct(&mut self, event: &Process) -> u32 {
        // The ID of a dead process may belong to another one by now; only the address of the kernel
        // object distinguishes the two.
        // Without a kernel address both are zero and count as the same.
        let same = |i: &ProcessInstance| i.pid == event.pid && i.unique_key == event.unique_key;
        let found = self
            .of_pid(event.pid)
            .iter()
            .copied()
            .find(|key| self.get(*key).is_some_and(same));
        let key = found.unwrap_or_else(|| {
            let key = self.new_instance(event.pid, None);
            if let Some(instance) = self.get_mut(key) {
                // Such an instance ran before the trace, and its ID may have another owner all the
                // time.
                instance.only_defunct = true;
                // The event repeats the exit code of a process that only handles keep alive.
                instance.exit_code = Some(event.exit_status);
            }
            key
        });
        if let Some(instance) = self.get_mut(key) {
            instance.defunct = true;
        }
        key
    }

    fn new_instance(&mut self, pid: u32, start: Option<i64>) -> u32 {
        let key = self.instances.len() as u32;
        let siblings = self.by_pid.entry(pid).or_default();
        let ordinal = siblings.len() as u32 + 1;
        let begin = start.unwrap_or_else(|| {
            // Without a start of its own, it started when the one before it ended.
            let before = siblings
                .iter()
                .filter_map(|s| self.instances.get(*s as usize));
            before
                // Dead processes do not occupy their ID.
                .filter(|i| !i.only_defunct)
                .map(|i| i.end.saturating_add(1))
                .max()
                .unwrap_or(i64::MIN)
        });
        siblings.push(key);
        self.instances.push(ProcessInstance {
            pid,
            ordinal,
            start,
            begin,
            end: i64::MAX,
            ..Default::default()
        });
        key
    }

    /// Makes sure that the ID has an instance, since an event mentions it.
    pub fn mention(&mut self, pid: u32) {
        // Only if nothing else describes it: a mention has no times that could tell instances
        // apart.
        if !self.by_pid.contains_key(&pid) {
            let key = self.new_instance(pid, None);
            if let Some(instance) = self.get_mut(key) {
                instance.only_mentioned = true;
            }
        }
    }

    /// Sets the raw ticks by which an event may come before the start or after the end of its
    /// process.
    pub(crate) const fn allow(&mut self, grace: i64) {
        self.grace = grace;
    }

    /// The instance of a process ID that an event at that raw time refers to: the one alive, or one
    /// that ended shortly before. Later, the last one has the events, since nothing shows that the
    /// ID has another owner; but between two of them, and before a start, an event belongs to none
    /// that is known. The time `i64::MIN` means the first one. Instances known only as defunct come
    /// last.
    #[must_use]
    pub fn at(&self, pid: u32, timestamp: i64) -> Option<ProcessKey> {
        let keys = self.of_pid(pid);
        // Of two that meet at this time the later one; its start was logged at it.
        let mut before: Option<(&ProcessInstance, u32)> = None;
        let mut after: Option<(&ProcessInstance, u32)> = None;
        for key in keys {
            // Considered only if no other instance exists.
            let Some(instance) = self.get(*key).filter(|i| !i.only_defunct) else {
                continue;
            };
            if instance.begin > timestamp {
                // The earliest that begins later.
                let is_first = |(first, _): (&ProcessInstance, u32)| instance.begin < first.begin;
                after = after
                    .filter(|first| !is_first(*first))
                    .or(Some((instance, *key)));
            } else if before.is_none_or(|(last, _)| instance.begin >= last.begin) {
                before = Some((instance, *key));
            }
        }
        let has_ended =
            // Events of a process come a little after its end, as its last thread still runs.
            |(last, _): &(&ProcessInstance, u32)| timestamp > last.end.saturating_add(self.grace);
        let starts_soon = |(next, _): &(&ProcessInstance, u32)| {
            timestamp == i64::MIN || timestamp >= next.begin.saturating_sub(self.grace)
        };
        let found = match (before, after) {
            // Only dead ones: the first, since any answer is better than none for their handles.
            (None, None) => return keys.first().copied().map(ProcessKey),
            (Some(last), None) => Some(last),
            (Some(last), Some(next)) => Some(last)
                .filter(|last| !has_ended(last))
                .or(Some(next).filter(starts_soon)),
            (None, Some(next)) => Some(next).filter(starts_soon),
        };
        // None: the event lies between two owners of the ID and may belong to one that was not
        // logged.
        found.map(|(_, key)| ProcessKey(key))
    }

    /// True if the name of any process depends on the code page of the machine.
    pub(crate) fn has_ansi_names(&self) -> bool {
        self.instances.iter().any(|i| i.ansi_name.is_some())
    }

    /// Gives a process the name of a file in UTF-16 that its own name may be.
    pub(crate) fn confirm_name(&mut self, key: ProcessKey, name: &str) {
        if let Some(instance) = self.get_mut(key.0) {
            instance.confirm_name(name);
        }
    }

    /// Gives processes the names that their command lines have for them.
    pub(crate) fn confirm_names_by_command_lines(&mut self) {
        for instance in &mut self.instances {
            if instance.ansi_name.is_some() {
                instance.confirm_name_by_command_line();
            }
        }
    }

    fn of_pid(&self, pid: u32) -> &[u32] {
        self.by_pid.get(&pid).map_or(&[], Vec::as_slice)
    }

    fn get(&self, key: u32) -> Option<&ProcessInstance> {
        self.instances.get(key as usize)
    }

    fn get_mut(&mut self, key: u32) -> Option<&mut ProcessInstance> {
        self.instances.get_mut(key as usize)
    }

    /// The instance of a key.
    #[must_use]
    pub fn instance(&self, key: ProcessKey) -> Option<&ProcessInstance> {
        self.get(key.0)
    }

    /// All instances; the position is the key.
    #[must_use]
    pub fn instances(&self) -> &[ProcessInstance] {
        &self.instances
    }
}

impl ProcessInstance {
    /// Keeps the first non-empty value of each field.
    fn describe(&mut self, event: Process) {
        let keep = |own: &mut String, new: String| {
            if own.is_empty() {
                *own = new;
            }
        };
        if self.name.is_empty() {
            self.name = event.name;
            self.ansi_name = event.ansi_name;
        } else if event.ansi_name.is_none() {
            self.confirm_name(&event.name);
        }
        keep(&mut self.command_line, event.command_line);
        keep(&mut self.package, event.package);
        keep(&mut self.app_id, event.app_id);
        self.parent_pid = self.parent_pid.or(event.parent_pid);
        self.session_id = self.session_id.or(event.session_id);
        self.flags = self.flags.or(event.flags);
        // Taken first, as the field cannot be moved out of a borrowed value.
        self.sid = self.sid.take().or(event.sid);
        if self.unique_key == 0 {
            self.unique_key = event.unique_key;
        }
    }

    fn confirm_name(&mut self, name: &str) {
        let Some(bytes) = &self.ansi_name else {
            return;
        };
        if self.name.to_lowercase() == name.to_lowercase() {
            self.ansi_name = None;
        } else if ansi::may_be(bytes, name) {
            name.clone_into(&mut self.name);
            self.ansi_name = None;
        }
    }

    fn confirm_name_by_command_line(&mut self) {
        let line = std::mem::take(&mut self.command_line);
        let programs = programs(&line);
        for program in &programs {
            self.confirm_name(program);
        }
        // Windows adds the ending that a command line leaves out. Tried last, since a part of a path
        // has none either.
        for program in programs.iter().filter(|program| !program.contains('.')) {
            self.confirm_name(&format!("{program}.exe"));
        }
        self.command_line = line;
    }
}

/// Blanks in a path without quotes that are tried.
const MAX_BLANKS: usize = 8;

/// File names that a command line may have for its program: that of a path in quotes, or those of
/// paths up to any blank, since a path without quotes may have blanks.
fn programs(command_line: &str) -> Vec<&str> {
    let line = command_line.trim_start();
    if let Some(quoted) = line.strip_prefix('"') {
        let (path, _) = quoted.split_once('"').unwrap_or((quoted, ""));
        return vec![file_name(path)];
    }
    let blanks = line.match_indices([' ', '\t']).map(|(at, _)| at);
    blanks
        .take(MAX_BLANKS)
        .chain([line.len()])
        .filter_map(|end| line.get(..end))
        .map(file_name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tracker(events: &[(u8, i64, u32, u64)]) -> ProcessTracker {
        let mut tracker = ProcessTracker::default();
        tracker.allow(1);
        for (op, time, pid, unique_key) in events {
            let event = Process {
                pid: *pid,
                unique_key: *unique_key,
                exit_status: 7,
                ..Process::default()
            };
            tracker.add(*op, *time, event);
        }
        tracker
    }

    fn owners(tracker: &ProcessTracker, times: &[i64]) -> Vec<u32> {
        times.iter().map(|t| tracker.at(8, *t).unwrap().0).collect()
    }

    #[test]
    fn a_command_line_has_its_program_in_quotes_or_up_to_a_blank() {
        assert_eq!(
            programs(r#" "C:\Mein Büro\Büro.exe" -x C:\a.exe"#),
            ["Büro.exe"]
        );
        assert_eq!(
            programs(r"C:\a b\c d.exe -x"),
            ["a", "c", "c d.exe", "c d.exe -x"]
        );
        assert_eq!(programs(r#""büro"#), ["büro"]);
        assert_eq!(programs(""), [""]);
        assert_eq!(programs(&"a ".repeat(100)).len(), MAX_BLANKS + 1);
    }

    /// Returns the name of a process whose events have a name in a code page and a command line.
    fn named(bytes: &[u8], command_line: &str, later: &str) -> String {
        let mut tracker = ProcessTracker::default();
        let event = Process {
            pid: 8,
            name: ansi::text(bytes),
            ansi_name: Some(bytes.to_vec()),
            command_line: command_line.into(),
            ..Process::default()
        };
        tracker.add(opcode::START, 10, event);
        let rundown = Process {
            pid: 8,
            name: later.into(),
            ..Process::default()
        };
        tracker.add(opcode::DC_END, 20, rundown);
        tracker.confirm_names_by_command_lines();
        tracker.instances()[0].name.clone()
    }

    #[test]
    fn a_name_in_a_code_page_is_that_of_the_command_line_or_of_a_later_event() {
        const POST: &[u8] = b"\xCF\xEE\xF7\xF2\xE0.exe";
        let as_1252 = "Ïî÷òà.exe";
        assert_eq!(named(POST, r"D:\Моя Почта\Почта.exe -x", ""), "Почта.exe");
        assert_eq!(named(POST, r"D:\Папка Яна\Почта.exe", ""), "Почта.exe");
        assert_eq!(named(POST, "почта -x", ""), "почта.exe");
        assert_eq!(named(POST, "", "Почта.exe"), "Почта.exe");
        // Other names are none of it: an argument, another program, a process that got its ID.
        assert_eq!(named(POST, r#""a.exe" Почта.exe"#, "b.exe"), as_1252);
        assert_eq!(named(POST, "", ""), as_1252);
        // The same name in another case says nothing new.
        assert_eq!(named("Büro.exe".as_bytes(), "BÜRO.EXE", ""), "Büro.exe");
    }

    #[test]
    fn a_reused_id_means_the_instance_alive_or_just_ended_and_else_nobody() {
        let t = tracker(&[(1, 10, 8, 1), (2, 20, 8, 1), (1, 30, 8, 2), (2, 40, 8, 2)]);
        assert_eq!(
            owners(&t, &[9, 10, 20, 21, 29, 30, 35, 45]),
            [0, 0, 0, 0, 1, 1, 1, 1]
        );
        // Nobody is known to have the ID before the first start, and between end and start.
        assert_eq!([5, 25].map(|time| t.at(8, time)), [None; 2]);
        assert_eq!(t.instances()[1].key_text(), "8#2");
        assert_eq!(
            (
                t.instances()[1].start,
                t.instances()[1].stop,
                t.instances()[1].exit_code
            ),
            (Some(30), Some(40), Some(7))
        );
    }

    #[test]
    fn a_process_begins_to_end_once_and_only_while_it_runs() {
        let mut t = tracker(&[(1, 10, 8, 1)]);
        t.terminate(20, 8);
        t.terminate(21, 8);
        t.add(
            opcode::END,
            25,
            Process {
                pid: 8,
                ..Process::default()
            },
        );
        t.terminate(30, 8);
        t.add(
            opcode::START,
            40,
            Process {
                pid: 8,
                ..Process::default()
            },
        );
        // A process that was unknown before.
        t.terminate(50, 12);
        t.add(
            opcode::END,
            60,
            Process {
                pid: 12,
                ..Process::default()
            },
        );
        let ends: Vec<_> = t
            .instances()
            .iter()
            .map(|i| (i.terminate, i.stop))
            .collect();
        assert_eq!(
            ends,
            [(Some(20), Some(25)), (None, None), (Some(50), Some(60))]
        );
    }

    #[test]
    fn a_start_without_the_stop_of_its_predecessor_ends_it_silently() {
        let t = tracker(&[(3, 0, 8, 1), (1, 30, 8, 2), (4, 50, 8, 2)]);
        assert_eq!(owners(&t, &[29, 30]), [0, 1]);
        assert_eq!(t.instances()[0].stop, None);
        assert_eq!(t.instances().len(), 2);
    }

    #[test]
    fn the_end_rundown_of_an_unseen_start_begins_where_the_one_before_ended() {
        let t = tracker(&[(1, 10, 8, 1), (2, 20, 8, 1), (4, 50, 8, 2)]);
        assert_eq!(owners(&t, &[9, 15, 20, 21, 60]), [0, 0, 0, 1, 1]);
    }

    #[test]
    fn a_defunct_process_is_matched_by_its_object_and_never_owns_events() {
        let t = tracker(&[(39, 0, 8, 9), (1, 10, 8, 1), (2, 20, 8, 1), (39, 30, 8, 1)]);
        assert_eq!(owners(&t, &[9, 15, 40]), [1, 1, 1]);
        assert_eq!(
            t.instances().iter().map(|i| i.defunct).collect::<Vec<_>>(),
            [true, true]
        );
        assert_eq!(
            (t.instances()[0].exit_code, t.instances().len()),
            (Some(7), 2)
        );
    }
}
