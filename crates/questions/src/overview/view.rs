//! Tables of an overview with their titles, and the lines between them.

use serde::Serialize;

use super::{
    Content, Contents, FileShare, MethodShare, ModuleShare, Next, Note, Overview, OverviewRequest,
    OverviewTable, ProcessShare, ProviderEvents, Recording, TopicEvents,
};
use etwkit_question::Format::{Fixed, Megabytes, Milliseconds, Seconds, Whole, Word};
use etwkit_question::range::Range;
use etwkit_question::{Answer, Column, Line, Ranked, Shows, View};
use etwkit_sql::time_format::NOT_RECORDED;

/// A table with its title.
type Named = (OverviewTable, String, Answer);

/// Returns the tables in the order in which they are printed. Tables without rows are left out,
/// unless their absence is itself a result.
pub(super) fn tables(asked: &OverviewRequest, overview: Overview, next: Vec<Next>) -> Vec<Named> {
    let Overview {
        recording,
        processes,
        cpu,
        idle_ns,
        modules,
        methods,
        files,
        contents,
        notes,
        dumps: _,
    } = overview;
    let of = RecordedEvents {
        has_samples: recording.has_samples,
        has_switches: recording.has_switches,
    };
    let has_files = contents.is_none() || !files.is_empty();
    let shares = recording
        .has_cpu()
        .then(|| of.processes(processes, cpu, idle_ns));
    let titled = |table, title: &str, answer| (table, title.to_owned(), answer);
    let modules = (!modules.is_empty()).then(|| Answer::rows(&of, &MODULES, modules));
    let methods = (!methods.is_empty()).then(|| Answer::rows(&of, &METHODS, methods));
    let mut all = vec![titled(
        OverviewTable::Recording,
        "",
        machine(asked, recording),
    )];
    all.extend(
        contents
            .into_iter()
            .flat_map(|contents| what_there_is(asked, contents)),
    );
    all.extend(shares);
    all.extend(modules.map(|rows| {
        titled(
            OverviewTable::Modules,
            "Modules by CPU of their own code",
            rows,
        )
    }));
    all.extend(methods.map(|rows| {
        titled(
            OverviewTable::Methods,
            "Methods by CPU of their own code",
            rows,
        )
    }));
    if has_files {
        let none = Line::new("  not recorded: DISK_IO+DISK_IO_INIT+FILENAME records disk I/O");
        let rows = Answer::rows(asked, &FILES, files).or_line(none);
        all.push(titled(
            OverviewTable::Files,
            "Files by service time of the disks",
            rows,
        ));
    }
    // Incompleteness of the trace is reported here, and nowhere else.
    all.push(titled(
        OverviewTable::Health,
        "Health",
        health(asked, notes),
    ));
    let next = Answer::rows(asked, &NEXT, next).showing(Shows::Untitled);
    all.push(titled(OverviewTable::Next, "What to ask next", next));
    all
}

/// Returns the answer for a table without data.
pub(super) fn nothing(asked: &OverviewRequest) -> Answer {
    Answer::rows(asked, &NEXT, Vec::new())
}

/// A property of the recording, for people.
#[derive(Serialize)]
struct Property {
    name: &'static str,
    #[serde(skip)]
    value: Line,
}

type PropertyColumn = Column<OverviewRequest, Property>;

const MACHINE: View<OverviewRequest, Property> = View::new(
    &[
        PropertyColumn::new("Name", "Name", Word, |_, row| row.name.into()),
        PropertyColumn::new("Value", "Value", Word, |_, row| row.value.clone().into()),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);

fn machine(asked: &OverviewRequest, recording: Recording) -> Answer {
    let r = &recording;
    let windows = [r.os_name.as_deref(), r.os_version.as_deref()];
    let windows: Vec<&str> = windows.into_iter().flatten().collect();
    let mut all = vec![
        Property {
            name: "computer",
            value: Line::new(r.computer.as_deref().unwrap_or("?")),
        },
        Property {
            name: "Windows",
            value: Line::new(windows.join(", ")),
        },
        Property {
            name: "machine",
            value: hardware(r),
        },
        Property {
            name: "recorded",
            value: recorded(r),
        },
        Property {
            name: "events",
            value: Line::default().whole(r.events),
        },
    ];
    if !asked.time.is_unlimited() {
        let value = Line::new(format!(
            "{}: CPU and files are of this part, all else is of the whole trace",
            part(asked.time)
        ));
        all.push(Property {
            name: "range",
            value,
        });
    }
    Answer::rows(asked, &MACHINE, all)
        .with_records(vec![recording])
        .showing(Shows::Untitled)
}

/// Returns a part of the trace in words: `1.5 s to 2 s`.
fn part(time: Range) -> String {
    let seconds = |ns: i64| format!("{} s", ns as f64 / 1e9);
    match (time.min, time.max) {
        (i64::MIN, max) => format!("up to {}", seconds(max)),
        (min, i64::MAX) => format!("{} to the end", seconds(min)),
        (min, max) => format!("{} to {}", seconds(min), seconds(max)),
    }
}

fn hardware(r: &Recording) -> Line {
    let mut machine = Line::new(format!("{} processors", r.processors));
    if let Some(classes) = &r.core_classes {
        machine = machine.words(format!(", hybrid ({classes})"));
    }
    if let Some(mhz) = r.cpu_mhz {
        machine = machine.words(", ").whole(mhz).words(" MHz");
    }
    if let Some(bytes) = r.memory_bytes {
        machine = machine
            .words(", ")
            .whole(bytes >> 20)
            .words(" MiB of memory");
    }
    machine
}

fn recorded(r: &Recording) -> Line {
    let seconds = |line: Line, ns: i64| line.value(Seconds(3), ns);
    let start = if r.start_utc.is_empty() {
        format!("{NOT_RECORDED}, ")
    } else {
        format!("{} for ", r.start_utc)
    };
    let recorded = seconds(Line::new(start), r.duration_ns).words(" s");
    let Some((start, end)) = r.range_start_ns.zip(r.range_end_ns) else {
        return recorded;
    };
    let part = seconds(recorded.words("; extracted: "), start).words(" to ");
    seconds(part, end).words(" s of it")
}

/// Properties of the recording that decide which columns are shown.
#[derive(Clone)]
struct RecordedEvents {
    has_samples: bool,
    has_switches: bool,
}

type ProcessShareColumn = Column<RecordedEvents, ProcessShare>;

const PROCESSES: View<RecordedEvents, ProcessShare> = View::new(
    &[
        ProcessShareColumn::new("Process", "process", Word, |_, row| {
            named(row.process.as_deref(), row.pid).into()
        }),
        // Without samples it is time on processors, which is a different quantity than sampled CPU.
        ProcessShareColumn::new("Cpu", "", Milliseconds, |_, row| row.cpu_ns.into())
            .titled(|of| {
                if of.has_samples {
                    "CPU ms"
                } else {
                    "running ms"
                }
                .to_owned()
            })
            .cost(),
        ProcessShareColumn::new("Percent", "% of machine", Fixed(1), |_, row| {
            row.machine_percent.into()
        })
        .or("?"),
        ProcessShareColumn::new("Wait", "wait ms", Milliseconds, |_, row| row.wait_ns.into())
            .shown_if(|of| of.has_switches),
        ProcessShareColumn::new("Ready", "ready ms", Milliseconds, |_, row| {
            row.ready_ns.into()
        })
        .shown_if(|of| of.has_switches),
        ProcessShareColumn::new("Switches", "switches", Whole, |_, row| row.switches.into())
            .sum()
            .shown_if(|of| of.has_switches),
    ],
    |row| row.cpu_ns as f64,
);

/// The highest share of the machine that samples reach by rounding and by the edges of a trace.
const MOST_PERCENT: f64 = 110.0;

const EXCESS: &str = "  more than 100 %: samples probably came faster than the interval that the trace gives \
    (1 ms if it gives none), so that all CPU times are too high";

impl RecordedEvents {
    fn processes(
        &self,
        rows: Vec<ProcessShare>,
        (cpu_ns, percent): (i64, Option<f64>),
        idle_ns: i64,
    ) -> Named {
        let (what, source) = if self.has_samples {
            ("CPU", "CPU samples")
        } else {
            ("time on a processor", "context switches")
        };
        let sum = Line::new("  all processes: ")
            .value(Milliseconds, cpu_ns)
            .words(" ms, ");
        let sum = match percent {
            Some(percent) => sum.value(Fixed(1), percent),
            None => sum.words("?"),
        };
        let sum = sum.words(" % of the machine");
        // Modules and methods have this time, too.
        let sum = if self.has_samples && idle_ns > 0 {
            sum.words(", without ")
                .value(Milliseconds, idle_ns)
                .words(" ms of DPCs and interrupts on idle processors")
        } else {
            sum
        };
        let excess = percent.filter(|percent| self.has_samples && *percent > MOST_PERCENT);
        let excess = excess.map(|_| Line::new(EXCESS));
        let unions = "  wait and ready: time in which at least one thread of the process did so";
        let unions = self.has_switches.then(|| Line::new(unions));
        let answer = Answer::rows(self, &PROCESSES, rows);
        let answer = answer.with_foot([sum]).with_foot(excess).with_foot(unions);
        (
            OverviewTable::Processes,
            format!("Processes by {what}, from {source}"),
            answer,
        )
    }
}

fn named(name: Option<&str>, pid: Option<i64>) -> String {
    let name = name.unwrap_or("?");
    pid.map_or_else(|| name.to_owned(), |pid| format!("{name} ({pid})"))
}

type ModuleShareColumn = Column<RecordedEvents, ModuleShare>;

const MODULES: View<RecordedEvents, ModuleShare> = View::new(
    &[
        ModuleShareColumn::new("Module", "module", Word, |_, row| {
            match row.module.as_deref() {
                Some(name) => name.into(),
                None if row.kind == "dotnet" => ".NET methods compiled at run time".into(),
                None => "code in no module".into(),
            }
        }),
        ModuleShareColumn::new("Exclusive", "own CPU ms", Milliseconds, |_, row| {
            row.exclusive_ns.into()
        })
        .cost(),
        ModuleShareColumn::new("Path", "path", Word, |_, row| {
            row.module_path.clone().into()
        }),
    ],
    |row| row.exclusive_ns as f64,
);

type MethodShareColumn = Column<RecordedEvents, MethodShare>;

const METHODS: View<RecordedEvents, MethodShare> = View::new(
    &[
        MethodShareColumn::new("Method", "method", Word, |_, row| row.qualified().into()),
        MethodShareColumn::new("Process", "process", Word, |_, row| {
            named(row.process.as_deref(), row.pid).into()
        }),
        MethodShareColumn::new("Exclusive", "own CPU ms", Milliseconds, |_, row| {
            row.exclusive_ns.into()
        })
        .cost(),
        MethodShareColumn::new("Cpu", "CPU with callees ms", Milliseconds, |_, row| {
            row.cpu_ns.into()
        })
        .worst(),
        MethodShareColumn::new("Wait", "wait ms", Milliseconds, |_, row| row.wait_ns.into())
            .shown_if(|of| of.has_switches),
    ],
    |row| row.exclusive_ns as f64,
);

impl MethodShare {
    /// Formats `module!method`; without a symbol the offset in the module, without a module the
    /// name or address alone.
    fn qualified(&self) -> String {
        match (self.module.as_deref(), self.method.starts_with('+')) {
            (Some(module), true) => format!("{module}{}", self.method),
            (Some(module), false) => format!("{module}!{}", self.method),
            (None, true) => format!("?{}", self.method),
            (None, false) => self.method.clone(),
        }
    }
}

type FileShareColumn = Column<OverviewRequest, FileShare>;

const FILES: View<OverviewRequest, FileShare> = View::new(
    &[
        FileShareColumn::new("Path", "file", Word, |_, row| row.path.clone().into())
            .or("(flushes, and files without a name)"),
        FileShareColumn::new("Service", "disk ms", Milliseconds, |_, row| {
            row.service_ns.into()
        })
        .cost(),
        FileShareColumn::new("Operations", "operations", Whole, |_, row| {
            row.operations.into()
        })
        .sum()
        .or("?"),
        FileShareColumn::new("Read", "read MB", Megabytes, |_, row| row.read_bytes.into()).sum(),
        FileShareColumn::new("Written", "written MB", Megabytes, |_, row| {
            row.write_bytes.into()
        })
        .sum(),
    ],
    |row| row.service_ns as f64,
);

type ContentColumn = Column<OverviewRequest, Content>;

const COUNTS: View<OverviewRequest, Content> = View::new(
    &[
        ContentColumn::new("What", "what", Word, |_, row| row.what.clone().into()),
        ContentColumn::new("Count", "how many", Whole, |_, row| row.count.into()).sum(),
        ContentColumn::new("OfThese", "of these", Word, |_, row| {
            (!row.of.is_empty()).then(|| of_these(row)).into()
        }),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);

/// Returns the second number of a row with its words, which start with a noun in plural.
fn of_these(row: &Content) -> Line {
    let one = row.of.strip_suffix('s').unwrap_or(&row.of);
    Line::default()
        .whole(row.more)
        .noun(&row.more.into(), [one, &row.of])
}

type ProviderEventsColumn = Column<OverviewRequest, ProviderEvents>;

const PROVIDERS: View<OverviewRequest, ProviderEvents> = View::new(
    &[
        ProviderEventsColumn::new("Events", "events", Whole, |_, row| row.events.into()).sum(),
        ProviderEventsColumn::new("Provider", "provider", Word, |_, row| {
            row.provider.clone().into()
        }),
    ],
    |row| row.events as f64,
);

type TopicEventsColumn = Column<OverviewRequest, TopicEvents>;

/// The list of topics; below other tables it is one line.
const TOPICS: View<OverviewRequest, TopicEvents> = View::new(
    &[
        TopicEventsColumn::new("Topic", "Topic", Word, |_, row| row.topic.clone().into()),
        TopicEventsColumn::new("Events", "Events", Whole, |_, row| row.events.into()).sum(),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);

/// Returns the tables about the contents of a trace without CPU.
fn what_there_is(asked: &OverviewRequest, contents: Contents) -> Vec<Named> {
    let Contents {
        topics,
        counts,
        providers,
        provider_count,
    } = contents;
    let counts = Answer::rows(asked, &COUNTS, counts).or_line(Line::new("  no rows in any table"));
    let mut all = vec![(OverviewTable::Contents, "What there is".to_owned(), counts)];
    if !providers.is_empty() {
        let more =
            i64::try_from(provider_count.saturating_sub(providers.len())).unwrap_or(i64::MAX);
        let more = (more > 0).then(|| Line::new("  and ").whole(more).words(" more"));
        let title = "Providers by events without a table of their own".to_owned();
        let rows = Answer::rows(asked, &PROVIDERS, providers).with_foot(more);
        all.push((OverviewTable::Providers, title, rows));
    }
    let mut recorded = Line::new("  recorded (number of events): ");
    for (at, topic) in topics.iter().enumerate() {
        let name = if at == 0 {
            topic.topic.clone()
        } else {
            format!(", {}", topic.topic)
        };
        recorded = match topic.events {
            Some(events) => recorded.words(format!("{name} (")).whole(events).words(")"),
            None => recorded.words(name),
        };
    }
    let recorded = (!topics.is_empty()).then_some(recorded);
    let no_cpu = "  not recorded: who used the CPU (PROFILE records samples, CSWITCH+DISPATCHER context switches)";
    let topics = Answer::rows(asked, &TOPICS, topics).showing(Shows::Sums);
    let topics = topics.with_foot(recorded).with_foot([Line::new(no_cpu)]);
    all.push((OverviewTable::Topics, String::new(), topics));
    all
}

type NoteColumn = Column<OverviewRequest, Note>;

/// The list of notes; in an overview they are sentences.
const NOTES: View<OverviewRequest, Note> = View::new(
    &[
        NoteColumn::new("Severity", "Severity", Word, |_, row| {
            row.severity.clone().into()
        }),
        NoteColumn::new("Count", "Count", Whole, |_, row| row.count.into()).sum(),
        NoteColumn::new("Position", "First in", Word, |_, row| {
            row.position.clone().into()
        }),
        NoteColumn::new("Message", "Message", Word, |_, row| {
            row.message.clone().into()
        }),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);

fn health(asked: &OverviewRequest, notes: Vec<Note>) -> Answer {
    let sentence = |note: &Note| {
        let place = note
            .position
            .as_deref()
            .map_or_else(String::new, |place| format!(", first in {place}"));
        let line = Line::new(format!("  {}: {} (", note.severity, note.message));
        line.whole(note.count).words(format!("{place})"))
    };
    let sentences: Vec<Line> = notes.iter().map(sentence).collect();
    let answer = Answer::rows(asked, &NOTES, notes)
        .showing(Shows::Sums)
        .with_foot(sentences);
    let nothing = "  no warnings: nothing was lost, nothing is damaged";
    answer.or_line(Line::new(nothing))
}

type NextQuestionColumn = Column<OverviewRequest, Next>;

const NEXT: View<OverviewRequest, Next> = View::new(
    &[
        NextQuestionColumn::new("Command", "Command", Word, |_, row| {
            row.command.clone().into()
        }),
        NextQuestionColumn::new("Why", "Why", Word, |_, row| row.why.clone().into()),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);
