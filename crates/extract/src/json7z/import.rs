//! The state that all sections share: the sink, processes, threads, stacks, and the omissions to
//! report.

use std::collections::{BTreeMap, BTreeSet};

use etwkit_trace::sink::Sink;
use etwkit_trace::table::{Diagnostic, SystemConfigItem};

use crate::json7z::error::Result;
use crate::json7z::head::Head;
use crate::json7z::processes::{Processes, Threads};
use crate::json7z::reader::Reader;
use crate::json7z::stacks::Stacks;
use crate::json7z::times::Zero;

/// A process as a section names it.
#[derive(Debug, Default)]
pub(crate) struct NamedProcess {
    /// The key in the list.
    pub(crate) key: Option<i32>,
    pub(crate) pid: Option<i32>,
    /// File name of its executable.
    pub(crate) name: Option<String>,
}

/// An import in progress.
pub(crate) struct Import<'w> {
    pub(crate) sink: &'w mut dyn Sink,
    pub(crate) zero: Zero,
    pub(crate) duration_ns: i64,
    pub(crate) processes: Processes,
    /// The process that drivers run in.
    pub(crate) system: Option<i32>,
    pub(crate) threads: Threads,
    pub(crate) stacks: Stacks,
    /// Information of the file that the extract has no place for.
    dropped: BTreeMap<&'static str, i64>,
    /// Columns that are 0 or empty because the file does not say.
    lacking: BTreeMap<&'static str, i64>,
    unknown: BTreeMap<String, i64>,
    without_value: BTreeMap<String, i64>,
    /// Facts that have no column.
    pub(crate) facts: Vec<SystemConfigItem>,
    /// Kinds of information whose rows are in computed tables.
    pub(crate) topics: BTreeSet<&'static str>,
    /// Stacks that events named and no list has.
    pub(crate) missing_stacks: i64,
}

impl<'w> Import<'w> {
    pub(crate) fn new(head: &mut Head, sink: &'w mut dyn Sink) -> Self {
        let processes = head.take_processes();
        Self {
            sink,
            zero: head.zero(),
            duration_ns: head.duration_ns(),
            system: processes.system(),
            processes,
            threads: Threads::default(),
            stacks: Stacks::default(),
            dropped: BTreeMap::new(),
            lacking: BTreeMap::new(),
            unknown: BTreeMap::new(),
            without_value: std::mem::take(&mut head.without_value),
            facts: Vec::new(),
            topics: BTreeSet::new(),
            missing_stacks: 0,
        }
    }

    /// Counts items that are left out.
    pub(crate) fn drop(&mut self, what: &'static str, count: usize) {
        if count > 0 {
            *self.dropped.entry(what).or_default() += count as i64;
        }
    }

    /// Skips a value and counts the omitted items: the length of a list or object, 0 for null,
    /// otherwise 1.
    pub(crate) fn leave_out(&mut self, reader: &mut Reader, what: &'static str) -> Result<()> {
        let count = reader.skip_counted()?;
        self.drop(what, count);
        Ok(())
    }

    /// Notes that the file has a kind of information.
    pub(crate) fn found(&mut self, topic: &'static str, is_there: bool) {
        if is_there {
            self.topics.insert(topic);
        }
    }

    /// Notes that columns of rows are 0 or empty because the file lacks the values.
    pub(crate) fn lack(&mut self, columns: &'static str, rows: usize) {
        if rows > 0 {
            *self.lacking.entry(columns).or_default() += rows as i64;
        }
    }

    /// Takes over the unknown members that a reader found, and those without a value.
    pub(crate) fn close(&mut self, mut reader: Reader) -> Result<()> {
        reader.end()?;
        for (path, count) in reader.take_without_value() {
            *self.without_value.entry(path).or_default() += count;
        }
        for (path, count) in reader.into_unknown() {
            *self.unknown.entry(path).or_default() += count;
        }
        Ok(())
    }

    /// The process of a text as `cmd.exe(4711)2020-01-01T15:55:03+01:00`.
    pub(crate) fn process_text(&mut self, reader: &Reader, text: &str) -> Result<Option<i32>> {
        let expected =
            || reader.unexpected("a process as cmd.exe(4711)", format!("the text {text:?}"));
        self.processes.with_text(text).ok_or_else(expected)
    }

    /// A process written as text, or as an object with name, ID and start.
    pub(crate) fn process(&mut self, reader: &mut Reader) -> Result<Option<i32>> {
        self.named_process(reader).map(|named| named.key)
    }

    /// Key, ID and name of a process written as text or as an object.
    pub(crate) fn named_process(&mut self, reader: &mut Reader) -> Result<NamedProcess> {
        if reader.is_text()? {
            let text = reader.text_of("a process as cmd.exe(4711)")?;
            let key = self.process_text(reader, &text)?;
            // Searched from the end, because names of executables can contain brackets:
            // `a(b).exe(7)`.
            let parts = text
                .rsplit_once(')')
                .and_then(|(head, _)| head.rsplit_once('('));
            let (name, pid) =
                parts.map_or((None, None), |(name, pid)| (Some(name), pid.parse().ok()));
            return Ok(NamedProcess {
                key,
                pid,
                name: name.map(str::to_owned),
            });
        }
        let mut name_text = None;
        let mut pid = None;
        let mut start = None;
        reader.object(|reader, name| {
            match name {
                "Pid" => pid = reader.bits()?,
                "StartTime" => start = reader.moment()?.map(|moment| moment.filetime),
                "Name" => name_text = reader.filled_text()?,
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        let pid = pid.map(|pid| pid as i32);
        let name = name_text.as_deref();
        let key = pid.and_then(|pid| self.processes.with(pid, start, name));
        Ok(NamedProcess {
            key,
            pid,
            name: name_text,
        })
    }

    /// A process that is written as its index.
    pub(crate) fn process_index(&mut self, reader: &mut Reader) -> Result<Option<i32>> {
        Ok(reader.int()?.and_then(|index| self.processes.at(index)))
    }

    /// The process whose index is the name of a member.
    pub(crate) fn process_name(&mut self, reader: &Reader, name: &str) -> Result<Option<i32>> {
        match name.parse() {
            Ok(index) => Ok(self.processes.at(index)),
            Err(_) => Err(reader.unexpected(
                "the index of a process as name",
                format!("the name {name:?}"),
            )),
        }
    }

    /// Nanoseconds since time zero.
    pub(crate) fn time(&self, reader: &mut Reader) -> Result<Option<i64>> {
        Ok(reader.moment()?.map(|moment| self.zero.ns(moment)))
    }

    /// Notes for readers of the numbers.
    pub(crate) fn diagnostics(&self, name: &str, other_parts: &[&str]) -> Vec<Diagnostic> {
        let row =
            |severity: &str, kind: &str, count: i64, position: Option<&str>, message: String| {
                Diagnostic {
                    severity: severity.to_owned(),
                    kind: kind.to_owned(),
                    count,
                    position: position.map(str::to_owned),
                    message,
                }
            };
        let origin = "imported from an extract of ETWAnalyzer: sums and events are those that it stored, \
                      single samples and switches it did not";
        let mut all = vec![row("info", "imported", 1, Some(name), origin.to_owned())];
        let of_dropped = |(what, count): (&&str, &i64)| {
            row(
                "info",
                "not_imported",
                *count,
                None,
                format!("{what}: the extract has no place for it"),
            )
        };
        all.extend(self.dropped.iter().map(of_dropped));
        let of_lacking = |(what, count): (&&str, &i64)| {
            row(
                "info",
                "not_in_json",
                *count,
                None,
                format!("{what}: the file does not have it"),
            )
        };
        all.extend(self.lacking.iter().map(of_lacking));
        let of_unknown = |(path, count): (&String, &i64)| {
            row(
                "info",
                "unknown_member",
                *count,
                Some(path),
                "a member of the file that is not known was passed over".to_owned(),
            )
        };
        all.extend(self.unknown.iter().map(of_unknown));
        let of_without_value = |(path, count): (&String, &i64)| {
            row(
                "warning",
                "no_value",
                *count,
                Some(path),
                "a member has no value: it counts as 0 or as an empty text".to_owned(),
            )
        };
        all.extend(self.without_value.iter().map(of_without_value));
        for part in other_parts {
            all.push(row(
                "info",
                "unknown_part",
                1,
                Some(part),
                "a part of the extract that is not known was passed over".to_owned(),
            ));
        }
        if self.processes.missing > 0 {
            let message = "a process was named that is not in the list of processes: its numbers belong to no process";
            all.push(row(
                "warning",
                "unknown_process",
                self.processes.missing,
                None,
                message.to_owned(),
            ));
        }
        if self.missing_stacks > 0 {
            let message = "a stack was named that is not in the list of stacks";
            all.push(row(
                "warning",
                "unknown_stack",
                self.missing_stacks,
                None,
                message.to_owned(),
            ));
        }
        all
    }
}
