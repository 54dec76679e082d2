//! JSON of the trace event format, which `chrome://tracing`, Perfetto and others read.
//!
//! The track of a thread has its scheduling slices, waits and ready times, which never overlap.
//! Operations on disks and files may overlap, so they are asynchronous events. A sample refers to
//! its stack, whose frames come after all events. The format has names, process ids and thread ids,
//! but nothing that distinguishes processes or threads that used one id in succession.

use std::io::Write;

use etwkit_sql::functions::wait_reason_name;

use crate::json::{microseconds, text};
use crate::profile::{Format, Head, Takes, Writer};
use crate::timeline::{Io, Item, Order, Readying, Scene, Timeline, Used, What};
use crate::{Error, Result};

/// The format.
pub(crate) struct Chrome;

/// Process id of events without a thread. Id 0 is free, since idle threads are not exported.
const NOBODY: i64 = 0;

/// Process id of threads whose process is not known.
const UNKNOWN: i64 = u32::MAX as i64;

impl Format for Chrome {
    fn name(&self) -> &'static str {
        "chrome"
    }

    fn sentence(&self) -> &'static str {
        "JSON trace events: what threads did and when, for chrome://tracing and others"
    }

    fn takes(&self) -> Takes {
        Takes::Timeline
    }

    fn begin<'o>(&self, out: &'o mut dyn Write, _: &Head<'_>) -> Result<Writer<'o>> {
        Ok(Writer::Timeline(Box::new(Events {
            out,
            is_first: true,
            operations: 0,
            stacks: Used::default(),
        })))
    }
}

struct Events<'o> {
    out: &'o mut dyn Write,
    is_first: bool,
    operations: u64,
    stacks: Used,
}

impl Timeline for Events<'_> {
    fn order(&self) -> Order {
        Order::Time
    }

    fn start(&mut self, scene: &Scene<'_>) -> Result<()> {
        self.out
            .write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")
            .map_err(Error::Write)?;
        self.label("process_name", "name", "(no thread)", (NOBODY, 0))?;
        for process in scene.processes.values().filter(|process| process.is_chosen) {
            let pid = (process.pid, 0);
            self.label(
                "process_name",
                "name",
                process.name.as_deref().unwrap_or("?"),
                pid,
            )?;
            if let Some(line) = &process.command_line {
                self.label("process_labels", "labels", line, pid)?;
            }
        }
        if scene.chosen().any(|thread| thread.process_key.is_none()) {
            self.label("process_name", "name", "(unknown process)", (UNKNOWN, 0))?;
        }
        for thread in scene.chosen() {
            if let Some(name) = &thread.name {
                self.label(
                    "thread_name",
                    "name",
                    name,
                    place(Some(thread.thread_key), scene),
                )?;
            }
        }
        Ok(())
    }

    fn item(&mut self, item: &Item, scene: &Scene<'_>) -> Result<()> {
        let at = item.time_ns;
        let place = place(item.thread, scene);
        match &item.what {
            What::Slice(slice) if slice.is_chosen => {
                let priority = argument("priority", slice.priority);
                let more = format!(",\"args\":{{\"cpu\":{}{priority}}}", slice.cpu);
                self.stretch("Running", (at, Some(slice.end_ns)), place, &more)
            }
            What::Slice(_) => Ok(()),
            What::Wait(wait) => {
                let reason = wait
                    .reason
                    .and_then(|reason| i32::try_from(reason).ok())
                    .map(wait_reason_name);
                let name = reason.map_or_else(
                    || "Waiting".to_owned(),
                    |reason| format!("Waiting: {reason}"),
                );
                self.stretch(&name, (at, wait.end_ns), place, &readied(wait.by, scene))
            }
            What::Ready(ready) => self.stretch(
                "Ready",
                (at, ready.end_ns),
                place,
                &readied(ready.by, scene),
            ),
            What::Sample(sample) => {
                // The frames are written after all events, since the used stacks are known only
                // then; here they are noted.
                self.add_stack(sample.stack_id, scene);
                let more = format!(
                    ",\"sf\":{},\"args\":{{\"cpu\":{},\"weight_ns\":{}}}",
                    sample.stack_id, sample.cpu, sample.weight_ns
                );
                self.event('P', "sample", "CPU", at, place, &more)
            }
            What::Io(io) => self.operation(io, at, place),
            What::Mark(name) => self.event('i', "mark", name, at, place, ",\"s\":\"g\""),
        }
    }

    fn end(self: Box<Self>, scene: &Scene<'_>) -> Result<()> {
        let Self { out, stacks, .. } = *self;
        out.write_all(b"\n],\n\"stackFrames\":{")
            .map_err(Error::Write)?;
        for (place, stack) in stacks.all().enumerate() {
            let Some((parent, frame)) = scene.frames.node(stack) else {
                continue;
            };
            let comma = if place > 0 { "," } else { "" };
            let parent = parent.map_or_else(String::new, |parent| format!(",\"parent\":{parent}"));
            let module = scene.frames.module(frame).unwrap_or("?");
            let name = scene.frames.text(frame);
            write!(
                out,
                "{comma}\n\"{stack}\":{{\"category\":{},\"name\":{}{parent}}}",
                text(module),
                text(&name)
            )
            .map_err(Error::Write)?;
        }
        // As a text: the number is larger than JSON readers in JavaScript hold exactly.
        let start = scene.start_unix_ns.map_or_else(String::new, |start| {
            format!(",\"start_unix_ns\":\"{start}\"")
        });
        writeln!(
            out,
            "}},\n\"otherData\":{{\"exporter\":\"etwkit {}\",\"name\":{}{}}}}}",
            env!("CARGO_PKG_VERSION"),
            text(scene.name),
            start
        )
        .map_err(Error::Write)
    }
}

impl Events<'_> {
    /// Writes an event of a thread; `more` follows its place.
    fn event(
        &mut self,
        phase: char,
        category: &str,
        name: &str,
        at: i64,
        (pid, tid): (i64, i64),
        more: &str,
    ) -> Result<()> {
        let comma = if std::mem::replace(&mut self.is_first, false) {
            ""
        } else {
            ","
        };
        let name = text(name);
        let at = microseconds(at);
        write!(
            self.out,
            "{comma}\n{{\"ph\":\"{phase}\",\"cat\":\"{category}\",\"name\":{name},\"pid\":{pid},\"tid\":{tid},\
             \"ts\":{at}{more}}}"
        )
        .map_err(Error::Write)
    }

    /// Writes a label of a process or thread.
    fn label(&mut self, kind: &str, key: &str, value: &str, place: (i64, i64)) -> Result<()> {
        self.event(
            'M',
            "__metadata",
            kind,
            0,
            place,
            &format!(",\"args\":{{\"{key}\":{}}}", text(value)),
        )
    }

    /// Writes a state of a thread with its duration. A state without an end is started and not
    /// ended.
    fn stretch(
        &mut self,
        name: &str,
        (from, to): (i64, Option<i64>),
        place: (i64, i64),
        more: &str,
    ) -> Result<()> {
        match to {
            Some(to) => {
                let more = format!(",\"dur\":{}{more}", microseconds(to.saturating_sub(from)));
                self.event('X', "sched", name, from, place, &more)
            }
            // Viewers draw a `B` event without an `E` event up to the end of the trace. An `X`
            // event with a made-up duration would claim an end that was not recorded.
            None => self.event('B', "sched", name, from, place, more),
        }
    }

    fn operation(&mut self, io: &Io, at: i64, place: (i64, i64)) -> Result<()> {
        // Viewers pair the start and the end of an asynchronous event by category and id, so each
        // operation needs an id of its own.
        self.operations += 1;
        let category = if io.is_disk { "disk_io" } else { "file_io" };
        let id = self.operations;
        let name = io.name();
        let id = format!(",\"id\":\"{id:#x}\"");
        let path = io
            .path
            .as_deref()
            .map(|path| format!("\"path\":{}", text(path)));
        let numbers = [
            ("size_bytes", io.size_bytes),
            ("offset_bytes", io.offset_bytes),
            ("disk", io.disk),
            ("status", io.status),
        ];
        let numbers = numbers
            .into_iter()
            .filter_map(|(key, n)| Some(format!("\"{key}\":{}", n?)));
        let arguments: Vec<String> = path.into_iter().chain(numbers).collect();
        let more = format!("{id},\"args\":{{{}}}", arguments.join(","));
        self.event('b', category, &name, at, place, &more)?;
        match io.end_ns {
            Some(end) => self.event('e', category, &name, end, place, &id),
            None => Ok(()),
        }
    }

    /// Notes the frames of a stack, which are written at the end.
    fn add_stack(&mut self, stack: i32, scene: &Scene<'_>) {
        let mut next = Some(stack);
        // A stack that was noted has all its callers noted as well, so the walk ends at the first
        // known one.
        while let Some(stack) = next.filter(|stack| self.stacks.add(*stack)) {
            next = scene.frames.node(stack).and_then(|(parent, _)| parent);
        }
    }
}

/// Returns process id and thread id.
fn place(thread: Option<i64>, scene: &Scene<'_>) -> (i64, i64) {
    let Some(known) = scene.thread(thread) else {
        return (NOBODY, 0);
    };
    (
        scene.process(thread).map_or(UNKNOWN, |process| process.pid),
        known.tid,
    )
}

/// Returns a further argument of an event, if its number is known.
fn argument(key: &str, number: Option<i64>) -> String {
    number.map_or_else(String::new, |number| format!(",\"{key}\":{number}"))
}

/// Returns the arguments with the thread or DPC that made a thread ready.
fn readied(by: Readying, scene: &Scene<'_>) -> String {
    let by = if by.is_dpc {
        Some("a DPC".to_owned())
    } else {
        scene.thread_label(by.thread)
    };
    by.map_or_else(String::new, |by| {
        format!(",\"args\":{{\"readied_by\":{}}}", text(&by))
    })
}
