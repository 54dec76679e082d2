//! The description of a session: machine, recording, recorded topics, completeness, and CPU use.

use etwkit_etl::Session;
use etwkit_etl::clock::utc_text;
use etwkit_etl::session::TraceFile;
use etwkit_etl::wire::trace_header::TraceHeader;
use serde::Serialize;
use serde_json::{Map, Value};

use super::damage::{self, DamageReport};
use super::together;
use crate::health;
use crate::summary::{self, Facts, Summary};

pub use super::together::{Misfit, OtherSession, were_recorded_together};
pub use crate::summary::{CpuTotals, ScheduledRow, TopRow};

/// The properties and contents of a session.
#[derive(Debug, Clone, Serialize)]
pub struct Info {
    /// Damage in the files.
    pub damage: DamageReport,
    /// Completeness of the files.
    pub completeness: Completeness,
    /// The topics, recorded or not, the most requested first.
    pub recorded: Vec<RecordedTopic>,
    /// Files that were not recorded together with the first one: their numbers should not be added
    /// to its numbers.
    pub files_of_other_sessions: Vec<OtherSession>,
    /// Providers outside the kernel logger, those with most events first.
    pub providers: Vec<Provider>,
    /// The sections of the summary, under their names; empty if the session was read only once.
    #[serde(flatten)]
    pub sections: Map<String, Value>,
    /// The machine. The sections `header` and `sysconfig` contain all its facts.
    #[serde(skip)]
    pub machine: Option<Machine>,
    /// The recording. The section `header` has it in full.
    #[serde(skip)]
    pub recording: Option<Recording>,
    /// CPU use; `None` if the session was read only once. The sections `cpu` and `schedule` have
    /// all of it.
    #[serde(skip)]
    pub cpu: Option<CpuUse>,
}

/// The machine, as far as the trace describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Its name.
    pub computer: Option<String>,
    /// Name of the Windows product.
    pub product: Option<String>,
    /// Major and minor version of Windows.
    pub version: (u8, u8),
    /// Build of Windows.
    pub build: u32,
    /// Manufacturer and product of the machine.
    pub model: Option<String>,
    /// Number of processors.
    pub processors: u32,
    /// Their speed.
    pub mhz: u32,
    /// Name of the processors.
    pub processor_name: Option<String>,
    /// Memory.
    pub memory_mib: Option<u32>,
    /// Boot time of the machine.
    pub booted_utc: Option<String>,
}

/// The recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Recording {
    /// Name of the session that recorded the earliest file.
    pub session: String,
    /// Start of the earliest file.
    pub start_utc: Option<String>,
    /// End of the latest file.
    pub end_utc: Option<String>,
    /// Seconds from the start to the end.
    pub duration_s: Option<f64>,
    /// True if the end of a file is missing.
    pub is_cut: bool,
    /// Seconds since the start of the first and the last event.
    pub events_s: Option<(f64, f64)>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Events.
    pub events: u64,
    /// Kind of the clock, in words.
    pub clock: &'static str,
    /// Ticks per second.
    pub frequency: i64,
}

/// The completeness of the files.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Completeness {
    /// Buffers that are not in the files and should be.
    pub missing_buffers: u64,
    /// True if the end of a file is missing.
    pub is_cut: bool,
    /// Seconds since the start of the last event.
    pub events_reach_s: Option<f64>,
    /// File by file.
    pub files: Vec<FileHealth>,
    /// Files whose events cover only a part of the recording, as a sentence each.
    #[serde(skip)]
    pub parts: Vec<String>,
    /// The time from which all processors are recorded, as a sentence, if a ring of buffers begins
    /// at another time on each.
    #[serde(skip)]
    pub ring_start: Option<String>,
    /// The statements about the number of processors, as a sentence, if they differ.
    #[serde(skip)]
    pub processors: Option<String>,
    /// The time up to which events reach, as a sentence, if the end of a file is missing.
    #[serde(skip)]
    pub cut_short: Option<String>,
}

/// The completeness of a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FileHealth {
    /// The file, as it was named.
    pub file: String,
    /// Buffers that it should have by its trace header; `None` if the header does not state it.
    pub buffers_expected: Option<u64>,
    /// Buffers that it has.
    pub buffers_in_file: u64,
    /// Buffers that are not in it and should be.
    pub missing_buffers: u64,
    /// True if its end is missing.
    pub is_cut: bool,
    /// True if the recording was closed properly.
    pub is_closed: bool,
    /// Seconds since the start of its first and last event, its header excluded; `None` if it has
    /// no other event.
    pub events_s: Option<(f64, f64)>,
    /// Events that were lost while recording. The section `header` has it.
    #[serde(skip)]
    pub events_lost: u32,
    /// Buffers that were lost while recording. The section `header` has it.
    #[serde(skip)]
    pub buffers_lost: u32,
}

/// Something that a trace can have recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedTopic {
    /// Name of the topic.
    pub topic: &'static str,
    /// True if the trace has any of it, or if it was enabled and nothing happened.
    pub is_recorded: bool,
    /// Number of its events in the trace.
    pub events: u64,
    /// The way to record it: keywords of the kernel logger in the spelling of xperf and WPR, or a
    /// provider.
    pub recorded_by: &'static str,
    /// The question that it answers.
    #[serde(skip)]
    pub answers: &'static str,
}

/// A provider with events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Provider {
    /// Its name, or its GUID if nothing names it.
    pub name: String,
    /// Its GUID.
    pub guid: String,
    /// Its events.
    pub events: u64,
}

/// CPU use.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CpuUse {
    /// Number of CPU samples.
    pub totals: CpuTotals,
    /// Interval of the samples in units of 100 ns.
    pub interval_100ns: Option<u32>,
    /// Processes by busy samples, most first.
    pub processes: Vec<TopRow>,
    /// Modules by busy samples in them (callees excluded), most first.
    pub modules: Vec<TopRow>,
    /// Processes by time on a processor, from context switches; empty if there are none.
    pub on_cpu: Vec<ScheduledRow>,
}

impl Info {
    /// Reads the session twice. `files` are the names of its files, in order.
    ///
    /// # Errors
    /// [`etwkit_etl::Error::Io`] if the system cannot read a file.
    pub fn read(session: &Session, files: &[String]) -> etwkit_etl::Result<Self> {
        let Summary {
            sections,
            facts,
            cpu_totals,
            top_processes,
            top_modules,
            processes_on_cpu,
            profile_interval_100ns,
        } = Summary::read(session)?;
        let cpu = CpuUse {
            totals: cpu_totals,
            interval_100ns: profile_interval_100ns,
            processes: top_processes,
            modules: top_modules,
            on_cpu: processes_on_cpu,
        };
        Ok(Self {
            sections,
            cpu: Some(cpu),
            ..Self::of(session, &facts, files)
        })
    }

    /// Reads the session once, in the order of its files: everything but sections and CPU use, and
    /// much faster.
    ///
    /// # Errors
    /// [`etwkit_etl::Error::Io`] if the system cannot read a file.
    pub fn read_once(session: &Session, files: &[String]) -> etwkit_etl::Result<Self> {
        Ok(Self::of(session, &Facts::read(session)?, files))
    }

    fn of(session: &Session, facts: &Facts, files: &[String]) -> Self {
        let topic = |recorded: &summary::Recorded| RecordedTopic {
            topic: recorded.topic.name,
            is_recorded: recorded.is_recorded,
            events: recorded.events,
            recorded_by: recorded.topic.recorded_by,
            answers: recorded.topic.answers,
        };
        let provider = |provider: &summary::ProviderCount| Provider {
            name: provider.name.clone(),
            guid: provider.guid.to_string(),
            events: provider.events,
        };
        let earliest = session.earliest();
        Self {
            damage: DamageReport::from(&damage::of_pass(session, &facts.pass)),
            completeness: Completeness::of(session, facts, files),
            recorded: facts.recorded.iter().map(topic).collect(),
            files_of_other_sessions: together::strangers(session, files),
            providers: facts.providers.iter().map(provider).collect(),
            sections: Map::new(),
            machine: earliest.map(|file| machine(file.header(), facts)),
            recording: earliest.map(|file| recording(session, file.header(), facts)),
            cpu: None,
        }
    }
}

impl Completeness {
    fn of(session: &Session, facts: &Facts, files: &[String]) -> Self {
        let seconds = |(first, last)| {
            (
                session.clock().seconds(first),
                session.clock().seconds(last),
            )
        };
        let file = |((name, file), times): ((&String, &TraceFile), &Option<(i64, i64)>)| {
            let header = file.header();
            let counts = file.buffer_counts();
            FileHealth {
                file: name.clone(),
                buffers_expected: counts.expected,
                buffers_in_file: counts.total,
                missing_buffers: counts.missing,
                is_cut: counts.is_cut,
                // The end time is written when the session ends.
                is_closed: header.end_time != 0,
                events_s: times.map(seconds),
                events_lost: header.events_lost,
                buffers_lost: header.buffers_lost,
            }
        };
        let last = facts.times.map(|(_, last)| last);
        Self {
            missing_buffers: session.missing_buffers(),
            is_cut: session.is_cut(),
            events_reach_s: last.map(|last| session.clock().seconds(last)),
            files: files
                .iter()
                .zip(session.files())
                .zip(&facts.times_of_files)
                .map(file)
                .collect(),
            parts: facts.parts.clone(),
            ring_start: health::ring_start(facts.complete_since, session.clock()),
            processors: facts.processors.disagreement(),
            cut_short: health::end(session, last),
        }
    }
}

fn machine(header: &TraceHeader, facts: &Facts) -> Machine {
    let config = &facts.config;
    let [major, minor, ..] = header.version;
    let model =
        |manufacturer: &str, product: &str| format!("{manufacturer} {product}").trim().to_owned();
    Machine {
        computer: config.cpu.as_ref().map(|cpu| cpu.computer_name.clone()),
        product: config.edition(header.build),
        version: (major, minor),
        build: header.build,
        model: config
            .platform
            .as_ref()
            .map(|platform| model(&platform.manufacturer, &platform.product)),
        processors: facts.processors.count(),
        mhz: header.cpu_mhz,
        processor_name: config
            .processors
            .values()
            .next()
            .map(|processor| processor.name.clone()),
        memory_mib: config.cpu.as_ref().map(|cpu| cpu.memory_mb),
        booted_utc: utc_text(header.boot_time),
    }
}

fn recording(session: &Session, header: &TraceHeader, facts: &Facts) -> Recording {
    let clock = session.clock();
    // With several files, the one that ends last determines the end of the recording. A file that
    // was not closed reaches at least to its last event.
    let (end, is_closed) = session.ends();
    let last = facts.times.map(|(_, last)| last).filter(|_| !is_closed);
    let end = end.map(|end| last.map_or(end, |last| end.max(last)));
    Recording {
        session: header.session_name.clone(),
        start_utc: utc_text(clock.start),
        end_utc: end.and_then(|end| utc_text(clock.filetime(end)?)),
        duration_s: end.map(|end| clock.seconds(end)),
        is_cut: session.is_cut(),
        events_s: facts
            .times
            .map(|(first, last)| (clock.seconds(first), clock.seconds(last))),
        bytes: session
            .files()
            .iter()
            .map(TraceFile::size)
            .fold(0, u64::saturating_add),
        events: facts.pass.events,
        clock: clock.kind.name(),
        frequency: clock.frequency,
    }
}
