//! Conversion of ETWAnalyzer extracts (`.json7z`, `.json`) into extracts of detail `summary`.
//!
//! The file is read from start to end in pieces (`reader`): first for recording, machine and
//! processes (`head`), to which all other sections refer, then for the sections, each of which has
//! a module. Information without a place in the tables is counted, and so are unknown members: both
//! become rows of `diagnostic`. The shapes of the JSON come from the data model that ETWAnalyzer
//! documents for its extracts, and from published extracts.

#![forbid(unsafe_code)]

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

use etwkit_trace::sink::{Sink, SinkError};
use etwkit_trace::table::{
    CpuTag, Diagnostic, DriverCategory, HandleType, Row, Table, Trace, VirtualAllocProcess,
};

use crate::manifest::{self, ImportedFrom};
use crate::{ConvertError, Foreign, FromForeign, WriterOptions, import_rows};

pub use error::{JsonError, Unexpected};
pub use files::{
    JsonInput, is_json_archive, is_json_extract, is_json_part, looks_like_json_extract,
    open_all_json, open_json,
};

use error::Result;
use head::Head;
use import::Import;
use reader::Reader;
use rows::write_all;

/// Creates the extract `target` from an extract of ETWAnalyzer, with these labels.
///
/// # Errors
/// The JSON is invalid or has an unexpected shape, or the extract cannot be written. In these cases
/// the target is unchanged.
pub fn import_json(
    input: &JsonInput,
    target: &Path,
    options: WriterOptions,
    labels: BTreeMap<String, String>,
) -> std::result::Result<FromForeign, ConvertError> {
    let source = input.trace_source()?;
    import_rows(target, options, source, |sink| {
        Ok(Foreign {
            labels,
            ..read_json(input, sink)?
        })
    })
}

/// Reads an extract of ETWAnalyzer: rows go to `sink`, as the rows of a trace do. The rest is
/// returned.
///
/// # Errors
/// The JSON is invalid or has an unexpected shape, or the sink failed.
pub fn read_json(
    input: &JsonInput,
    sink: &mut dyn Sink,
) -> std::result::Result<Foreign, ConvertError> {
    let mut sink = Noting {
        sink,
        tables: BTreeSet::new(),
    };
    let read = tables(input, &mut sink)?;
    let has = |tables: &[&str]| tables.iter().any(|table| sink.tables.contains(table));
    let of_tables = TOPICS
        .iter()
        .filter(|(_, tables)| has(tables))
        .map(|(name, _)| *name);
    let mut computed = vec![HandleType::TABLE.name, DriverCategory::TABLE.name];
    if !read.has_sums {
        computed.push(VirtualAllocProcess::TABLE.name);
    }
    Ok(Foreign {
        trace: read.trace,
        imported_from: ImportedFrom {
            format: manifest::ETWANALYZER.to_owned(),
            trace: read.head.source,
            options: read.head.options,
        },
        topics: read.topics.iter().copied().chain(of_tables).collect(),
        diagnostics: read.diagnostics,
        computed,
        tagged_by: "ETWAnalyzer",
        labels: BTreeMap::new(),
    })
}

/// Records the tables that get rows.
struct Noting<'s> {
    sink: &'s mut dyn Sink,
    tables: BTreeSet<&'static str>,
}

impl Sink for Noting<'_> {
    fn write(
        &mut self,
        table: &'static Table,
        rows: arrow_array::RecordBatch,
    ) -> std::result::Result<(), SinkError> {
        if rows.num_rows() > 0 {
            self.tables.insert(table.name);
        }
        self.sink.write(table, rows)
    }
}

/// The contents of sections that can be written only when all sections are read.
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

/// The results of an import apart from the rows of tables.
struct Read {
    head: Head,
    trace: Trace,
    diagnostics: Vec<Diagnostic>,
    /// Kinds of information whose rows are in computed tables.
    topics: BTreeSet<&'static str>,
    /// True if the file contains sums of virtual memory.
    has_sums: bool,
}

/// Reads all files and writes their rows.
fn tables(input: &JsonInput, sink: &mut dyn Sink) -> Result<Read> {
    let mut head = Head::read(&mut input.main()?, input.name())?;
    let mut import = Import::new(&mut head, sink);
    let mut sections = Sections::default();
    // Rows of methods contain paths of modules, but the section of methods is in another file.
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
    part(input, "CPUExtended", &mut import, |reader, import| {
        sections.extended.read(reader, import)
    })?;
    part(input, "Handle", &mut import, |reader, import| {
        sections.objects.read(reader, import)
    })?;
    part(input, "VirtualAlloc", &mut import, |reader, import| {
        sections.has_allocations |= sections.allocations.read(reader, import)?;
        Ok(())
    })?;
    part(input, "TraceLogging", &mut import, |reader, import| {
        sections.trace_log.read(reader, import)
    })?;
    let has_sums = sections.has_allocations;
    // Older files do not say whether there were switches, and may have waits only in their tags.
    sections.cpu.has_other_waits = sections
        .tags
        .iter()
        .any(|tag| tag.wait_sum_ns.is_some_and(|ns| ns > 0));
    import.found(
        "CPU samples",
        sections.cpu.has_cpu() && sections.cpu.is_sampled(),
    );
    import.found("context switches", sections.cpu.has_switches());
    write_all(sections.cpu.complete(head.cores()), import.sink)?;
    sections.write(input, &mut import)?;
    import.lack("trace: processors", usize::from(!head.has_processors()));
    let trace = head.trace(input.name(), input.files(), input.size());
    let mut diagnostics = import.diagnostics(input.name(), &input.other_parts());
    diagnostics.extend(head.losses());
    let zero = import.zero;
    let Import {
        sink,
        processes,
        threads,
        stacks,
        topics,
        facts,
        ..
    } = import;
    write_all([trace.clone()], sink)?;
    write_all(diagnostics.iter().cloned(), sink)?;
    write_all(head.facts.iter().cloned().chain(facts), sink)?;
    // Threads and stacks come last: the sections read before have numbered them.
    write_all(processes.rows(zero), sink)?;
    write_all(threads.into_rows(), sink)?;
    stacks.write(sink)?;
    Ok(Read {
        head,
        trace,
        diagnostics,
        topics,
        has_sums,
    })
}

/// Reads a part if it exists.
fn part(
    input: &JsonInput,
    name: &str,
    import: &mut Import<'_>,
    mut read: impl FnMut(&mut Reader, &mut Import<'_>) -> Result<()>,
) -> Result<()> {
    let Some(mut reader) = input.part(name)? else {
        return Ok(());
    };
    read(&mut reader, import)?;
    import.close(reader)
}

/// Stacks that are in a part of their own.
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
                self.cpu.read(reader, import, |reader, import| {
                    extended.read(reader, import)
                })
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
            // A file that was written without parts has everything in it; one with parts may have
            // empty members in their place.
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

    /// Writes the sections that were held back until everything was read.
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

/// Topics of the manifest, and the tables whose rows show that they were recorded.
const TOPICS: [(&str, &[&str]); 11] = [
    ("processes", &["process"]),
    ("images", &["module"]),
    ("DNS queries", &["dns_query"]),
    ("TCP connections", &["tcp_connection"]),
    (".NET", &["exception", "thread_pool"]),
    (
        "virtual memory",
        &["virtual_alloc", "virtual_alloc_process"],
    ),
    ("handles", &["handle", "object"]),
    ("power settings", &["power_setting"]),
    ("marks", &["mark"]),
    ("performance counters", &["pmc_counter"]),
    ("self-describing events", &["generic_event"]),
];
