//! Extracts of ETWAnalyzer (`.json7z`, `.json`) become extracts of detail `summary`.
//!
//! The file is read from begin to end in pieces ([`reader`]), first for recording, machine and processes ([`head`]), which all other sections
//! refer to, then for the sections, each of which has a module. What the tables have no place for is counted, and so are members
//! that are not known: both become rows of `diagnostic`. Shapes of the JSON are those of the data model that ETWAnalyzer documents for its
//! extracts, and of published ones.

mod counters;
mod cpu;
mod disk;
mod error;
mod events;
mod extended;
mod file_io;
mod files;
mod head;
mod import;
mod memory;
mod memory_alloc;
mod modules;
mod network;
mod objects;
mod power;
mod processes;
mod reader;
mod rows;
mod stacks;
mod tags;
mod times;
mod trace_log;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use etwkit_trace::derive;
use etwkit_trace::sink::{Sink, SinkError};
use etwkit_trace::table::{
    CpuTag, Diagnostic, DriverCategory, HandleType, Row, Table, Trace, VirtualAllocProcess,
};

pub use error::{JsonError, Unexpected};
pub(crate) use files::is_part;
pub use files::{
    JsonInput, is_json_archive, is_json_extract, looks_like_json_extract, open_all_json, open_json,
};

use crate::convert::{ConvertError, Sealed};
use crate::manifest::{self, Detail, ImportedFrom, Manifest, Topic};
use crate::{Writer, WriterOptions, Written};
use error::{Failure, Result};
use head::Head;
use import::Import;
use reader::Reader;
use rows::write_all;

/// What became of an extract of ETWAnalyzer.
#[derive(Debug)]
pub struct FromJson {
    /// The extract.
    pub written: Written,
    /// The recording.
    pub trace: Trace,
    /// What a reader of the numbers should know.
    pub diagnostics: Vec<manifest::Diagnostic>,
}

/// Makes the extract `target` of an extract of ETWAnalyzer.
///
/// # Errors
/// The JSON is broken or another than expected; the extract cannot be written. Nothing is changed at the target then.
pub fn import_json(
    input: &JsonInput,
    target: &Path,
    no_overwrite: bool,
) -> std::result::Result<FromJson, ConvertError> {
    let mut writer = Writer::create(target, WriterOptions { no_overwrite })?;
    let read = tables(input, &mut writer)?;
    let sealed = Sealed(writer.seal()?);
    let mut kept = Kept { writer: &mut writer, has_sums: read.has_sums };
    derive::derive(&sealed, &[], &mut kept)?;
    writer.set_derived(BTreeMap::from([("stack_tags".to_owned(), "ETWAnalyzer".to_owned())]));
    let manifest = manifest_of(input, &read, &sealed)?;
    let diagnostics = manifest.diagnostics.clone();
    let written = writer.finish(manifest)?;
    Ok(FromJson { written, trace: read.trace, diagnostics })
}

impl From<Failure> for ConvertError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Json(error) => Self::Open(error.into()),
            Failure::Store(error) => Self::Store(*error),
        }
    }
}

/// Lets through those computed tables that the file does not have itself.
struct Kept<'w> {
    writer: &'w mut Writer,
    /// Whether sums of virtual memory came with the file.
    has_sums: bool,
}

impl Sink for Kept<'_> {
    fn write(
        &mut self,
        table: &'static Table,
        rows: arrow_array::RecordBatch,
    ) -> std::result::Result<(), SinkError> {
        let is_sum = table.name == VirtualAllocProcess::TABLE.name;
        let is_kept = [HandleType::TABLE.name, DriverCategory::TABLE.name].contains(&table.name);
        if is_kept || (is_sum && !self.has_sums) {
            self.writer.write(table, rows)?;
        }
        Ok(())
    }
}

/// What the sections of a file have that is written when all of them are read.
#[derive(Default)]
struct Sections {
    cpu: cpu::Cpu,
    extended: extended::Extended,
    tags: Vec<CpuTag>,
    disks: disk::Disks,
    objects: objects::Objects,
    allocations: memory_alloc::Allocations,
    has_allocations: bool,
    trace_log: trace_log::Events,
    has_modules: bool,
    has_files: bool,
}

/// What was read and is not in tables alone.
struct Read {
    head: Head,
    trace: Trace,
    diagnostics: Vec<Diagnostic>,
    /// Kinds of information whose rows are in computed tables.
    topics: BTreeSet<&'static str>,
    /// Whether sums of virtual memory came with the file.
    has_sums: bool,
}

/// Reads all files and writes their rows.
fn tables(input: &JsonInput, writer: &mut Writer) -> Result<Read> {
    let mut head = Head::read(&mut input.main()?, input.name())?;
    let mut import = Import::new(&mut head, writer);
    let mut sections = Sections::default();
    // Paths of modules go into rows of methods, whose section lies in another file.
    part(input, "Modules", &mut import, |reader, import| {
        sections.has_modules = true;
        modules::read(reader, import)
    })?;
    part(input, "FileIO", &mut import, |reader, import| {
        sections.has_files = true;
        file_io::read(reader, import)
    })?;
    let mut main = input.main()?;
    main.object(|reader, name| sections.member(reader, &mut import, name))?;
    import.close(main)?;
    part(input, "CPUExtended", &mut import, |reader, import| sections.extended.read(reader, import))?;
    part(input, "Handle", &mut import, |reader, import| sections.objects.read(reader, import))?;
    part(input, "VirtualAlloc", &mut import, |reader, import| {
        sections.has_allocations |= sections.allocations.read(reader, import)?;
        Ok(())
    })?;
    part(input, "TraceLogging", &mut import, |reader, import| sections.trace_log.read(reader, import))?;
    let has_sums = sections.has_allocations;
    // Older files do not say whether there were switches, and may have waits by tag alone.
    sections.cpu.has_other_waits = sections.tags.iter().any(|tag| tag.wait_sum_ns.is_some_and(|ns| ns > 0));
    import.found("CPU samples", sections.cpu.has_cpu() && sections.cpu.is_sampled());
    import.found("context switches", sections.cpu.has_switches());
    write_all(sections.cpu.complete(head.cores()), import.writer)?;
    sections.write(input, &mut import)?;
    let trace = head.trace(input.name(), input.files(), input.size());
    let mut diagnostics = import.diagnostics(input.name(), &input.other_parts());
    diagnostics.extend(head.losses());
    let zero = import.zero;
    let Import { writer, processes, threads, stacks, topics, facts, .. } = import;
    write_all([trace.clone()], writer)?;
    write_all(diagnostics.iter().cloned(), writer)?;
    write_all(head.facts.iter().cloned().chain(facts), writer)?;
    write_all(processes.rows(zero), writer)?;
    write_all(threads.into_rows(), writer)?;
    stacks.write(writer)?;
    Ok(Read { head, trace, diagnostics, topics, has_sums })
}

/// Reads a part, if it is there.
fn part(
    input: &JsonInput,
    name: &str,
    import: &mut Import<'_>,
    mut read: impl FnMut(&mut Reader, &mut Import<'_>) -> Result<()>,
) -> Result<()> {
    let Some(mut reader) = input.part(name)? else { return Ok(()) };
    read(&mut reader, import)?;
    import.close(reader)
}

/// Stacks that lie in a part of their own.
fn stacks_beside(input: &JsonInput, name: &str, import: &mut Import<'_>) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    part(input, name, import, |reader, _| {
        texts = memory_alloc::stacks(reader)?;
        Ok(())
    })?;
    Ok(texts)
}

impl Sections {
    /// Reads a member of the main file.
    fn member(&mut self, reader: &mut Reader, import: &mut Import<'_>, name: &str) -> Result<()> {
        match name {
            "CPU" => {
                let extended = &mut self.extended;
                self.cpu.read(reader, import, |reader, import| extended.read(reader, import))
            }
            "SummaryStackTags" => tags::read(reader, import, false, &mut self.tags),
            "SpecialStackTags" => tags::read(reader, import, true, &mut self.tags),
            "Disk" => self.disks.read(reader, import),
            "Exceptions" => events::exceptions(reader, import),
            "ThreadPool" => events::thread_pools(reader, import),
            "ETWMarks" => events::marks(reader, import),
            "MemoryUsage" => memory::read(reader, import),
            "PMC" => counters::read(reader, import),
            "Network" => network::read(reader, import),
            "PowerConfiguration" => power::read(reader, import),
            // What was written without parts has everything in one file; with parts, empty remains may be there.
            "FileIO" if !self.has_files => file_io::read(reader, import),
            "Modules" if !self.has_modules => modules::read(reader, import),
            "FileIO" | "Modules" => reader.skip(),
            "HandleData" => self.objects.read(reader, import),
            "TraceLogging" => self.trace_log.read(reader, import),
            "VirtualAllocData" => {
                self.has_allocations |= self.allocations.read(reader, import)?;
                Ok(())
            }
            known if Head::knows(known) => reader.skip(),
            _ => reader.unknown(),
        }
    }

    /// Writes what was held back.
    fn write(mut self, input: &JsonInput, import: &mut Import<'_>) -> Result<()> {
        let has_switches = self.cpu.has_switches();
        self.cpu.write(import)?;
        self.extended.write(&self.cpu, import)?;
        tags::write(self.tags, has_switches, import)?;
        self.disks.write(import)?;
        let beside = stacks_beside(input, "HandleStacks", import)?;
        self.objects.write(beside, import)?;
        let beside = stacks_beside(input, "VirtualAllocStacks", import)?;
        self.allocations.write(beside, import)?;
        let beside = stacks_beside(input, "TraceLogStacks", import)?;
        self.trace_log.write(beside, import)
    }
}

/// Topics of the manifest, and the tables whose rows tell that they were recorded.
const TOPICS: [(&str, &[&str]); 11] = [
    ("processes", &["process"]),
    ("images", &["module"]),
    ("DNS queries", &["dns_query"]),
    ("TCP connections", &["tcp_connection"]),
    (".NET", &["exception", "thread_pool"]),
    ("virtual memory", &["virtual_alloc", "virtual_alloc_process"]),
    ("handles", &["handle", "object"]),
    ("power settings", &["power_setting"]),
    ("marks", &["mark"]),
    ("performance counters", &["pmc_counter"]),
    ("self-describing events", &["generic_event"]),
];

fn manifest_of(
    input: &JsonInput,
    read: &Read,
    sealed: &Sealed,
) -> std::result::Result<Manifest, ConvertError> {
    let Read { head, trace, diagnostics, topics, .. } = read;
    let mut manifest = Manifest::of_trace(Detail::Summary, input.trace_source()?, trace);
    manifest.imported_from = Some(ImportedFrom {
        format: manifest::ETWANALYZER.to_owned(),
        trace: head.source.clone(),
        options: head.options.clone(),
    });
    let is_there = |tables: &[&str]| tables.iter().any(|table| sealed.0.contains_key(*table));
    let of_tables = TOPICS.iter().filter(|(_, tables)| is_there(tables)).map(|(name, _)| *name);
    let topic = |name: &str| Topic { topic: name.to_owned(), recorded: true, events: None, hint: None };
    manifest.topics = topics.iter().copied().chain(of_tables).map(topic).collect();
    let diagnostic = |d: &Diagnostic| manifest::Diagnostic {
        severity: d.severity.clone(),
        kind: d.kind.clone(),
        count: d.count,
        position: d.position.clone(),
        message: d.message.clone(),
    };
    manifest.diagnostics = diagnostics.iter().map(diagnostic).collect();
    Ok(manifest)
}
