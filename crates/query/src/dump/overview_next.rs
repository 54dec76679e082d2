//! What to ask behind an overview: the questions that have an answer, as command lines.

use etwkit_extract::manifest::{Detail, Manifest};

use super::overview::{Next, Overview};
use crate::Session;

/// What the smaller dumps say.
const SMALLER: [(&str, &str); 10] = [
    ("exception", "exceptions of .NET programs"),
    ("thread-pool", "thread pools that starved"),
    ("tracelog", "events that describe themselves"),
    ("memory", "memory of processes"),
    ("power", "power settings"),
    ("mark", "marks and the time between them"),
    ("user-lock", "who waited for the lock of all windows, and who had it"),
    ("gdi-user", "windows, menus, fonts and bitmaps that are left"),
    ("ui-delay", "programs that did not look after their windows"),
    ("focus", "what the user was working with"),
];

/// The events that there are, where nothing else tells much.
const EVENTS: &str =
    "SELECT provider, name, count(*) AS events FROM generic_event GROUP BY 1, 2 ORDER BY 3 DESC";

/// Questions that have an answer, in the order in which they help.
struct Questions<'s> {
    session: &'s Session,
    /// What was asked, as a word of a command line.
    path: String,
    all: Vec<Next>,
}

/// Questions that go on from here, ready to paste: those that have an answer.
pub(super) fn next(overview: &Overview, session: &Session) -> Vec<Next> {
    let path = session.trace_path().or(session.extract_path()).unwrap_or_default();
    let mut questions = Questions { session, path: word(path), all: Vec::new() };
    questions.of_cpu(overview);
    questions.of_recording(overview);
    if overview.contents.is_some() {
        questions.without_cpu();
    }
    let may_be_named = |manifest: &Manifest| {
        manifest.detail == Detail::Full && manifest.native_names.is_some_and(|n| n.named < n.addresses)
    };
    if session.manifests().any(|(_, manifest)| may_be_named(manifest)) {
        questions.ask("symbols load --symbols MS PATH", "names of native functions, from Microsoft");
    }
    questions.ask("sql --show-schema", "the tables that SQL can ask");
    questions.all
}

/// A path as a word of a command line, in quotes if it needs them.
fn word(path: &str) -> String {
    if path.contains([' ', '\'', '"']) {
        format!("'{}'", path.replace('\'', "'\\''"))
    } else {
        path.to_owned()
    }
}

impl Questions<'_> {
    fn ask(&mut self, question: &str, why: &str) {
        let command = format!("etwkit {}", question.replace("PATH", &self.path));
        self.all.push(Next { command, why: why.to_owned() });
    }

    fn has(&self, table: &str) -> bool {
        self.session.has_rows(table) == Some(true)
    }

    fn of_cpu(&mut self, overview: &Overview) {
        // The one with most CPU.
        let pid = overview.processes.iter().rev().find_map(|process| process.pid);
        let top = pid.map_or_else(|| "'*'".to_owned(), |pid| pid.to_string());
        if !overview.processes.is_empty() {
            self.ask("dump cpu PATH", "every process, with its command line");
            if ["cpu_stack", "cpu_sample", "context_switch"].iter().any(|table| self.has(table)) {
                self.ask(&format!("dump cpu --process {top} --stacks PATH"), "what called what in it");
            }
            if self.has("cpu_tag") {
                let tags = "dump cpu --stack-tags '*' --top 5 PATH";
                self.ask(tags, "what stacks mean: scanners, locks, heap");
            }
        } else if self.has("process") {
            self.ask("dump process PATH", "every process, with its command line");
        }
        if self.has("context_switch") {
            self.ask("dump wait --chain PATH", "the longest waits, and who ended them");
            let path = format!("critical-path --process {top} --by-process PATH");
            self.ask(&path, "whom it waited for, all in all");
        }
    }

    fn of_recording(&mut self, overview: &Overview) {
        let recording = &overview.recording;
        if !overview.files.is_empty() {
            self.ask("dump disk --dir-level 100 PATH", "every file on the disks");
        }
        if recording.has_dns {
            self.ask("dump dns PATH", "which names took long to resolve");
        }
        if recording.has_tcp {
            self.ask("dump tcp PATH", "connections, what was sent again and how late");
        }
        for dump in &overview.dumps {
            let why = SMALLER.iter().find(|(name, _)| name == dump).map_or("", |(_, why)| why);
            self.ask(&format!("dump {dump} PATH"), why);
        }
        if recording.has_failed_syscalls {
            self.ask("dump syscall --status failed PATH", "system calls that failed");
        }
        if recording.has_leaks {
            self.ask("dump objectref --leak PATH", "handles that were not closed");
        }
        if recording.has_outstanding_memory {
            self.ask("dump virtual-alloc --details PATH", "memory that was not given back");
        }
    }

    fn without_cpu(&mut self) {
        if self.has("file_file") {
            self.ask("dump file PATH", "which files were used, and how long that took");
        }
        if self.has("net_io") {
            self.ask("sql PATH @net/processes", "what processes sent and received");
        }
        if self.has("gc") {
            self.ask("sql PATH @dotnet/gc", "collections of .NET programs");
        }
        if self.session.trace_path().is_some() {
            self.ask("events --count PATH", "how many events of which kind there are");
        } else if self.has("generic_event") {
            self.ask(&format!("sql PATH \"{EVENTS}\""), "which events there are");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_words() {
        for (path, expected) in
            [("a.etwx", "a.etwx"), ("my trace.etl", "'my trace.etl'"), ("o'x", "'o'\\''x'")]
        {
            assert_eq!(word(path), expected);
        }
    }
}
