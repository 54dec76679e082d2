//! Further questions after an overview: those that have an answer, as command lines.

use etwkit_base::shell;
use etwkit_extract::manifest::{Detail, Manifest};

use super::{Next, Overview};
use etwkit_sql::Session;

/// A dump that is suggested if the trace has data for it.
struct Smaller {
    /// Its name.
    dump: &'static str,
    /// The rows that it needs for an answer, as SQL after `FROM`.
    rows: &'static str,
    /// The purpose of the question.
    why: &'static str,
}

const fn dump(dump: &'static str, rows: &'static str, why: &'static str) -> Smaller {
    Smaller { dump, rows, why }
}

/// Dumps about one topic each, in the order in which they help.
const SMALLER: [Smaller; 26] = [
    dump(
        "hard-fault",
        "hard_fault_file",
        "pages that were read from files, and who waited for that",
    ),
    dump(
        "mini-filter",
        "mini_filter_driver",
        "filter drivers that delayed operations on files",
    ),
    dump(
        "page-fault",
        "page_fault_process",
        "who touched memory that was not mapped",
    ),
    dump(
        "dpc",
        "dpc_isr",
        "drivers whose DPCs and interrupts took processors",
    ),
    dump("ready", READY, "who ran while other threads were ready"),
    dump("start", STARTS, "what starts and ends of processes cost"),
    dump(
        "alpc",
        "alpc_process",
        "who called which service, and waited for the answer",
    ),
    dump("net", "net_io", "what processes sent and received"),
    dump(
        "gc",
        "gc",
        "collections of .NET programs, and how long their threads were suspended",
    ),
    dump("jit", "jit", "methods that .NET compiled at run time"),
    dump("exception", "exception", "exceptions of .NET programs"),
    dump("thread-pool", STARVED, "thread pools that starved"),
    dump("tracelog", DESCRIBED, "events that describe themselves"),
    dump("events", OTHERS, "events that no other question is about"),
    dump("memory", "memory_sample", "memory of processes"),
    dump(
        "heap",
        "heap_process",
        "blocks of heaps that were not freed",
    ),
    dump(
        "pool",
        "pool_tag",
        "memory of the kernel that drivers did not free",
    ),
    dump("power", "power_setting", "power settings"),
    dump("mark", "mark", "marks and the time between them"),
    dump(
        "user-lock",
        "user_lock_process",
        "who waited for the lock of all windows, and who had it",
    ),
    dump(
        "gdi-user",
        "gdi_user_type",
        "windows, menus, fonts and bitmaps that are left",
    ),
    dump(
        "ui-delay",
        "ui_delay",
        "programs that did not look after their windows",
    ),
    dump("focus", "focus_change", "what the user was working with"),
    dump(
        "registry",
        "registry_key",
        "keys of the registry, how often and how long",
    ),
    dump(
        "standby",
        "standby",
        "stays in connected standby, and who woke the machine",
    ),
    dump(
        "trace-stats",
        "event_count",
        "providers that fill the trace, and the cost of tracing",
    ),
];

/// Threads that were ready. The threads that ran instead are known only from single context
/// switches.
const READY: &str =
    "cpu_process WHERE ready_sum_ns > 0 AND (SELECT count(*) FROM context_switch) > 0";

const STARTS: &str = "process WHERE coalesce(start_ns, terminate_ns, stop_ns) IS NOT NULL";

const STARVED: &str = "thread_pool WHERE thread_pool_reason_name(reason) = 'Starvation'";

/// Events that no other question is about, without the events of the tracing system itself, which
/// are in every trace.
const OTHERS: &str = "generic_event WHERE coalesce(provider, '') <> 'EventTrace'";

const DESCRIBED: &str = "generic_event WHERE described_by IN ('tracelogging', 'eventsource')";

/// Returns SQL for the smaller dumps that have an answer.
pub(super) fn answering_sql() -> String {
    let one = |(at, smaller): (usize, &Smaller)| {
        let Smaller { dump, rows, .. } = smaller;
        format!("SELECT {at} AS at, '{dump}' AS dump, count(*) AS n FROM {rows}")
    };
    let all: Vec<String> = SMALLER.iter().enumerate().map(one).collect();
    format!(
        "SELECT dump FROM (\n{}\n) WHERE n > 0 ORDER BY at",
        all.join("\nUNION ALL ")
    )
}

/// Questions that have an answer, in the order in which they help.
struct Questions<'s> {
    session: &'s Session,
    /// What was asked.
    path: &'s str,
    all: Vec<Next>,
}

/// Returns further questions that have an answer, ready to paste.
pub(super) fn next(overview: &Overview, session: &Session) -> Vec<Next> {
    let path = session
        .trace_path()
        .or(session.extract_path())
        .unwrap_or("");
    let mut questions = Questions {
        session,
        path,
        all: Vec::new(),
    };
    questions.of_cpu(overview);
    questions.of_recording(overview);
    if overview.contents.is_some() {
        questions.without_cpu();
    }
    let may_be_named = |manifest: &Manifest| {
        manifest.detail == Detail::Full
            && manifest.native_names.is_some_and(|n| n.named < n.addresses)
    };
    if session
        .manifests()
        .any(|(_, manifest)| may_be_named(manifest))
    {
        questions.ask(
            "symbols load --symbols MS PATH",
            "names of native functions, from Microsoft",
        );
    }
    questions.ask("sql --show-schema", "the tables that SQL can ask");
    questions.all
}

/// The command line of a question about a file: the name of a stranger's trace must not become a command when
/// the line is pasted.
fn command_line(question: &str, path: &str) -> String {
    format!(
        "etwkit {}",
        question.replace("PATH", &shell::quoted_pattern(path))
    )
}

impl Questions<'_> {
    fn ask(&mut self, question: &str, why: &str) {
        let command = command_line(question, self.path);
        self.all.push(Next {
            command,
            why: why.to_owned(),
        });
    }

    fn has(&self, table: &str) -> bool {
        self.session.has_rows(table) == Some(true)
    }

    fn of_cpu(&mut self, overview: &Overview) {
        // The last process has the most CPU.
        let pid = overview
            .processes
            .iter()
            .rev()
            .find_map(|process| process.pid);
        let top = pid.map_or_else(|| "\"*\"".to_owned(), |pid| pid.to_string());
        if !overview.processes.is_empty() {
            self.ask("dump cpu PATH", "every process, with its command line");
            if ["cpu_stack", "cpu_sample", "context_switch"]
                .iter()
                .any(|table| self.has(table))
            {
                self.ask(
                    &format!("dump cpu --process {top} --stacks PATH"),
                    "what called what in it",
                );
            }
            if self.has("cpu_tag") {
                let tags = "dump cpu --stack-tags \"*\" --top 5 PATH";
                self.ask(tags, "what stacks mean: scanners, locks, heap");
            }
        } else if self.has("process") {
            self.ask("dump process PATH", "every process, with its command line");
        }
        if self.has("context_switch") {
            self.ask(
                "dump wait --chain PATH",
                "the longest waits, and who ended them",
            );
            let path = format!("critical-path --process {top} --by-process PATH");
            self.ask(&path, "the processes it waited for, in total");
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
            self.ask(
                "dump tcp PATH",
                "connections, what was sent again and how late",
            );
        }
        for Smaller { dump, why, .. } in SMALLER
            .iter()
            .filter(|one| overview.dumps.iter().any(|d| d == one.dump))
        {
            self.ask(&format!("dump {dump} PATH"), why);
        }
        if recording.has_failed_syscalls {
            self.ask(
                "dump syscall --status failed PATH",
                "system calls that failed",
            );
        }
        if recording.has_leaks {
            self.ask("dump objectref --leak PATH", "handles that were not closed");
        }
        if recording.has_outstanding_memory {
            self.ask(
                "dump virtual-alloc --details PATH",
                "memory that was not given back",
            );
        }
    }

    fn without_cpu(&mut self) {
        if self.has("file_file") {
            self.ask(
                "dump file PATH",
                "which files were used, and how long that took",
            );
        }
        // An extract of another program has no events.
        if self.session.trace_path().is_some() && !self.session.is_imported() {
            self.ask(
                "events --count PATH",
                "how many events of which kind there are",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_one_word_of_its_line() {
        for (path, expected) in [
            ("traces/a-1.etl", "etwkit info traces/a-1.etl --json"),
            ("my trace.etl", r#"etwkit info "my trace.etl" --json"#),
            ("o'x.etl", r#"etwkit info "o'x.etl" --json"#),
            ("a;reboot.etl", r#"etwkit info "a;reboot.etl" --json"#),
            ("$(reboot).etl", r#"etwkit info "?(reboot).etl" --json"#),
            ("~me.etl", r#"etwkit info "~me.etl" --json"#),
            ("", r#"etwkit info "" --json"#),
        ] {
            assert_eq!(command_line("info PATH --json", path), expected);
        }
    }
}
