//! The first pass over the main file: recording, machine and processes, to which all other sections
//! refer.

use std::collections::BTreeMap;

use etwkit_base::path;
use etwkit_trace::table::{CpuCore, Diagnostic, SystemConfigItem, Trace};

use crate::json7z::error::{JsonError, Result};
use crate::json7z::processes::{JsonProcess, Processes};
use crate::json7z::reader::Reader;
use crate::json7z::times::{Moment, Zero, utc_text};

/// Processors that a machine can have; a larger number is damage.
const MAX_PROCESSORS: i32 = 4096;

/// Recording, machine and processes.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// Path of the trace on the machine that extracted it.
    pub(crate) source: Option<String>,
    /// The command line that extracted it.
    pub(crate) options: Option<String>,
    start: Option<Moment>,
    end: Option<Moment>,
    boot: Option<Moment>,
    /// Start and end of the part that was extracted. A date is converted to nanoseconds only after
    /// the whole file is read, because the start of the session may follow it.
    range: (Option<Limit>, Option<Limit>),
    computer: Option<String>,
    os_name: Option<String>,
    os_version: Option<String>,
    memory_mb: Option<i64>,
    processors: Option<i32>,
    mhz: Option<i32>,
    groups: Option<i32>,
    vendor: Option<String>,
    cpu_name: Option<String>,
    hyper_threading: Option<bool>,
    /// `None` if the file does not contain it.
    lost_events: Option<i64>,
    lost_buffers: Option<i64>,
    /// Facts of the machine that have no column.
    pub(crate) facts: Vec<SystemConfigItem>,
    processes: Option<Vec<JsonProcess>>,
    /// Members that should have a value and have none, with the number of occurrences.
    pub(crate) without_value: BTreeMap<String, i64>,
}

/// An end of a part: a date, or seconds since the start.
#[derive(Debug, Clone, Copy)]
enum Limit {
    At(Moment),
    Ns(i64),
}

impl Head {
    /// Reads the main file, and skips the members that other passes read.
    pub(crate) fn read(reader: &mut Reader, name: &str) -> Result<Self> {
        let mut head = Self::default();
        reader.object(|reader, name| head.member(reader, name))?;
        reader.end()?;
        head.without_value = reader.take_without_value();
        let missing = |missing| JsonError::Foreign {
            name: name.to_owned(),
            missing,
        };
        if head.start.is_none() {
            return Err(missing("SessionStart").into());
        }
        if head.processes.is_none() {
            return Err(missing("Processes").into());
        }
        Ok(head)
    }

    /// True if this pass reads the member `name` of the main file.
    pub(crate) fn knows(name: &str) -> bool {
        MEMBERS.contains(&name)
    }

    fn member(&mut self, reader: &mut Reader, name: &str) -> Result<()> {
        match name {
            "SourceETLFileName" => self.source = reader.filled_text()?,
            "UsedExtractOptions" => {
                self.options = reader.filled_text()?;
                // The manifest also has the options, but questions see only tables.
                self.push(
                    ("etwanalyzer", 0),
                    "used_extract_options",
                    self.options.clone(),
                );
            }
            "ComputerName" => self.computer = reader.filled_text()?,
            "OSName" => self.os_name = reader.filled_text()?,
            "WinSatOSName" => self.fact(reader, ("platform", 0), name)?,
            "OSBuild" => self.fact(reader, ("machine", 0), "build_lab")?,
            "OSVersion" => self.os_version = reader.filled_text()?,
            "MemorySizeMB" => self.memory_mb = reader.int()?,
            "NumberOfProcessors" => self.processors = reader.int32()?,
            "CPUSpeedMHz" => self.mhz = reader.int32()?,
            "CPUProcessorGroups" => self.groups = reader.int32()?,
            "CPUVendor" => self.vendor = reader.filled_text()?,
            "CPUName" => self.cpu_name = reader.filled_text()?,
            "CPUHyperThreadingEnabled" => self.hyper_threading = reader.flag()?,
            "SessionStart" => self.start = reader.moment()?,
            "SessionEnd" => self.end = reader.moment()?,
            "BootTime" => self.boot = reader.moment()?,
            "ExtractStartTime" => self.range.0 = limit(reader)?,
            "ExtractEndTime" => self.range.1 = limit(reader)?,
            "TraceHeader" => self.header(reader)?,
            "Model" => self.fact(reader, ("platform", 0), "product")?,
            "AdDomain" => self.fact(reader, ("cpu", 0), "domain_name")?,
            "IsDomainJoined" => {
                let joined = reader.flag()?.map(|joined| joined.to_string());
                self.push(("cpu", 0), &snake_case(name), joined);
            }
            "Displays" => self.parts(reader, "video")?,
            "NetworkInterfaces" => self.parts(reader, "nic")?,
            "MainModuleVersion" => self.part(reader, ("main_module_version", 0))?,
            "ModuleVersions" => self.parts(reader, "module_version")?,
            "Processes" => {
                self.processes = Some(reader.all(|reader| JsonProcess::read(reader).map(Some))?);
            }
            // Later passes read the other members.
            _ => reader.skip()?,
        }
        Ok(())
    }

    fn header(&mut self, reader: &mut Reader) -> Result<()> {
        reader.object(|reader, name| {
            match name {
                "EventsLost" => self.lost_events = reader.int()?,
                "BuffersLost" => self.lost_buffers = reader.int()?,
                _ => self.value(reader, ("trace_header", 0), name)?,
            }
            Ok(())
        })?;
        Ok(())
    }

    fn parts(&mut self, reader: &mut Reader, topic: &str) -> Result<()> {
        let mut item = 0;
        reader.list(|reader| {
            self.part(reader, (topic, item))?;
            item += 1;
            Ok(())
        })?;
        Ok(())
    }

    /// All simple members of an object become facts.
    fn part(&mut self, reader: &mut Reader, part: (&str, i32)) -> Result<()> {
        reader.object(|reader, name| self.value(reader, part, name))?;
        Ok(())
    }

    fn value(&mut self, reader: &mut Reader, part: (&str, i32), name: &str) -> Result<()> {
        let value = reader.simple()?;
        self.push(part, &snake_case(name), value);
        Ok(())
    }

    fn fact(&mut self, reader: &mut Reader, part: (&str, i32), name: &str) -> Result<()> {
        let value = reader.filled_text()?;
        self.push(part, &snake_case(name), value);
        Ok(())
    }

    fn push(&mut self, (topic, item): (&str, i32), name: &str, value: Option<String>) {
        if value.is_some() {
            self.facts.push(SystemConfigItem {
                topic: topic.to_owned(),
                item,
                name: name.to_owned(),
                value,
            });
        }
    }

    /// The processes, once: the second call has none.
    pub(crate) fn take_processes(&mut self) -> Processes {
        Processes::new(self.processes.take().unwrap_or_default())
    }

    /// Time zero.
    pub(crate) fn zero(&self) -> Zero {
        Zero(self.start.map_or(0, |start| start.filetime))
    }

    /// Length of the recording in nanoseconds.
    pub(crate) fn duration_ns(&self) -> i64 {
        self.end.map_or(0, |end| self.zero().ns(end).max(0))
    }

    /// The events lost while the trace was recorded, or a note that the file does not record
    /// losses.
    pub(crate) fn losses(&self) -> Vec<Diagnostic> {
        let warning = |kind: &str, count: i64, message: &str| Diagnostic {
            severity: "warning".to_owned(),
            kind: kind.to_owned(),
            count,
            position: None,
            message: message.to_owned(),
        };
        let losses = [
            (
                "lost_events",
                self.lost_events,
                "events were lost while recording: counts and times are too low",
            ),
            (
                "lost_buffers",
                self.lost_buffers,
                "buffers were lost while recording: their events are missing",
            ),
        ];
        let mut rows: Vec<Diagnostic> = losses
            .into_iter()
            .filter_map(|(kind, count, message)| {
                Some(warning(kind, count.filter(|count| *count > 0)?, message))
            })
            .collect();
        if self.lost_events.is_none() || self.lost_buffers.is_none() {
            rows.push(warning(
                "loss_unknown",
                1,
                "whether events were lost while recording is not in the file",
            ));
        }
        rows
    }

    /// The row of `trace`. `file_name` is used if the file does not name its trace.
    pub(crate) fn trace(&self, file_name: &str, files: usize, size_bytes: u64) -> Trace {
        let zero = self.zero();
        let named = self.source.as_deref().map(path::file_name);
        let ns = |limit: Option<Limit>| match limit? {
            Limit::At(moment) => Some(zero.ns(moment)),
            Limit::Ns(ns) => Some(ns),
        };
        Trace {
            file_name: named
                .filter(|name| !name.is_empty())
                .unwrap_or(file_name)
                .to_owned(),
            files: files as i32,
            size_bytes: size_bytes as i64,
            computer: self.computer.clone(),
            os_version: self.os_version.clone(),
            os_name: self.os_name.clone(),
            start_utc: utc_text(zero.0),
            start_filetime: zero.0,
            time_zone_bias_minutes: self.start.and_then(|start| start.bias_minutes),
            boot_filetime: self.boot.map(|boot| boot.filetime),
            duration_ns: self.duration_ns(),
            // The file has dates and no ticks of a clock.
            clock: "system_time".to_owned(),
            clock_frequency: 10_000_000,
            // Missing numbers of these columns are 0, and rows of `diagnostic` say so.
            processors: self.processors.unwrap_or(0),
            cpu_mhz: self.mhz,
            // Windows reports kilobytes, and ETWAnalyzer divides them by 1000, not by 1024.
            memory_bytes: self.memory_mb.map(|mb| mb.saturating_mul(1_000_000)),
            lost_events: self.lost_events.unwrap_or(0),
            lost_buffers: self.lost_buffers.unwrap_or(0),
            range_start_ns: ns(self.range.0),
            range_end_ns: ns(self.range.1),
            ..Trace::default()
        }
    }

    /// True if the file contains the number of processors.
    pub(crate) const fn has_processors(&self) -> bool {
        self.processors.is_some()
    }

    /// The rows of `cpu_core`, as far as they do not depend on the core; none if the number of
    /// processors is not in the file.
    pub(crate) fn cores(&self) -> Vec<CpuCore> {
        let Some(processors) = self.processors else {
            return Vec::new();
        };
        let count = processors.clamp(0, MAX_PROCESSORS);
        let core = |cpu| CpuCore {
            cpu,
            // With several groups the file does not say which processor is in which.
            processor_group: self.groups.filter(|groups| *groups == 1).map(|_| 0),
            is_hyper_threaded: self.hyper_threading,
            name: self.cpu_name.clone().or_else(|| self.vendor.clone()),
            vendor: self.vendor.clone(),
            ..CpuCore::default()
        };
        (0..count).map(core).collect()
    }
}

/// Members of the main file that this pass reads.
const MEMBERS: [&str; 28] = [
    "SourceETLFileName",
    "UsedExtractOptions",
    "ComputerName",
    "OSName",
    "WinSatOSName",
    "OSBuild",
    "OSVersion",
    "MemorySizeMB",
    "NumberOfProcessors",
    "CPUSpeedMHz",
    "CPUProcessorGroups",
    "CPUVendor",
    "CPUName",
    "CPUHyperThreadingEnabled",
    "SessionStart",
    "SessionEnd",
    "BootTime",
    "ExtractStartTime",
    "ExtractEndTime",
    "TraceHeader",
    "Model",
    "AdDomain",
    "IsDomainJoined",
    "Displays",
    "NetworkInterfaces",
    "MainModuleVersion",
    "ModuleVersions",
    "Processes",
];

fn limit(reader: &mut Reader) -> Result<Option<Limit>> {
    // A limit is a date or a number of seconds from the start.
    if reader.is_text()? {
        return Ok(reader.moment()?.map(Limit::At));
    }
    Ok(reader.seconds()?.map(Limit::Ns))
}

/// `RefreshRateHz` as `refresh_rate_hz`, as facts of traces are named.
fn snake_case(name: &str) -> String {
    // Otherwise `IPv4` would become `i_pv4`.
    let name = &name.replace("IPv", "Ipv");
    let mut snake = String::new();
    let mut before = None::<char>;
    for (at, letter) in name.char_indices() {
        let next = name
            .get(at + letter.len_utf8()..)
            .and_then(|rest| rest.chars().next());
        let begins = before.is_some_and(|before| before.is_lowercase() || before.is_ascii_digit())
            || (before.is_some_and(char::is_uppercase) && next.is_some_and(char::is_lowercase));
        if letter.is_uppercase() && begins {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
        before = Some(letter);
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_named_as_those_of_traces() {
        for (name, snake) in [
            ("RefreshRateHz", "refresh_rate_hz"),
            ("IPv4Index", "ipv4_index"),
            ("WinSatOSName", "win_sat_os_name"),
            (
                "GraphicsCardMemorySizeMiB",
                "graphics_card_memory_size_mi_b",
            ),
            ("product", "product"),
        ] {
            assert_eq!(snake_case(name), snake, "{name}");
        }
    }
}
