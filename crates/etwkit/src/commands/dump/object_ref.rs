//! `etwkit dump objectref`.

use clap::Args;
use etwkit_query::dump::object_ref::{
    HandleTypeRow, ObjectEvent, ObjectEvents, ObjectRequest, ObjectRow, ObjectSort,
};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range, word};
use super::output::{Answered, Columns, Lines, listed, show_sql, streamed};
use super::stack_lines::text_frames;
use super::text::{ProcessText, Text, id};
use crate::exit::Exit;
use crate::printer::Printer;

const SORTS: &[(&str, ObjectSort)] = &[
    ("id", ObjectSort::Id),
    ("lifetime", ObjectSort::Lifetime),
    ("handles", ObjectSort::Handles),
    ("leaked", ObjectSort::Leaked),
];

#[derive(Debug, Args)]
pub(crate) struct ObjectRefArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// Only objects with an event of these processes; --process means those that created them
    #[arg(long, value_name = "NAMES")]
    related_process: Option<String>,
    /// Only objects with such a lifetime (s); one that did not end, or whose begin is not told, has 9999 s
    #[arg(long, value_name = "A..B")]
    lifetime: Option<String>,
    /// Only objects with these numbers
    #[arg(long, value_name = "A..B")]
    id: Option<String>,
    /// Only events in this part of the trace (s)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Only objects whose first creation has such a frame in its stack (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "FRAMES")]
    create_stack: Option<String>,
    /// Only objects whose last close or deletion has such a frame in its stack
    #[arg(long, value_name = "FRAMES")]
    destroy_stack: Option<String>,
    /// Only events with such a frame in their stack
    #[arg(long, value_name = "FRAMES")]
    stack_filter: Option<String>,
    /// Only objects at these addresses: 0xffffc28194000900 (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "ADDRESSES")]
    object: Option<String>,
    /// Only objects with such a name; no mapped files
    #[arg(long, value_name = "NAMES")]
    object_name: Option<String>,
    /// Only objects of these types: Event, File, Key, FileMapping, ...
    #[arg(long = "type", value_name = "NAMES")]
    type_name: Option<String>,
    /// Only objects with such a handle: 0x1a4; no mapped files
    #[arg(long, value_name = "HANDLES")]
    handle: Option<String>,
    /// Only files that are mapped at this address
    #[arg(long, value_name = "ADDRESSES")]
    view_base: Option<String>,
    /// Only mapped files around this address: 0x7ff812340000
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    ptr_in_map: Option<u64>,
    /// Only mapped files with so many bytes
    #[arg(long, value_name = "A..B")]
    map_size: Option<String>,
    /// 0: only objects, 1: only mapped files
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1))]
    map: Option<u8>,
    /// Only objects with handles, or mapped files, that were created in the trace and open at its end
    #[arg(long)]
    leak: bool,
    /// Only objects with events of several processes
    #[arg(long)]
    multi_process: bool,
    /// Only objects with a handle that a process inherited
    #[arg(long)]
    inherit: bool,
    /// Only objects with several open handles at one time
    #[arg(long)]
    overlapped: bool,
    /// Show changes of references
    #[arg(long)]
    show_ref: bool,
    /// Show the stacks of events
    #[arg(long)]
    show_stack: bool,
    /// Order of objects
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "id")]
    sort_by: ObjectSort,
    /// total, handles by type; process, by process and type; none, no sums behind objects
    #[arg(long, value_name = "WHAT", value_parser = ["none", "total", "process"])]
    show_total: Option<String>,
}

fn address(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let number = digits.map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16));
    number.map_err(|_| "an address such as 0x7ff812340000 is expected".to_owned())
}

impl ObjectRefArgs {
    fn request(&self) -> anyhow::Result<ObjectRequest> {
        Ok(ObjectRequest {
            processes: self.processes.query(),
            related: self.related_process.clone(),
            lifetime: range("lifetime", self.lifetime.as_deref(), Unit::Seconds)?,
            id: range("id", self.id.as_deref(), Unit::Count)?,
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            create_stack: self.create_stack.clone(),
            destroy_stack: self.destroy_stack.clone(),
            stack: self.stack_filter.clone(),
            object: self.object.clone(),
            name: self.object_name.clone(),
            type_name: self.type_name.clone(),
            handle: self.handle.clone(),
            view_base: self.view_base.clone(),
            pointer_in_map: self.ptr_in_map,
            map_size: range("map-size", self.map_size.as_deref(), Unit::Bytes)?,
            maps: self.map.map(|map| map == 1),
            leaked: self.leak,
            multi_process: self.multi_process,
            inherited: self.inherit,
            overlapped: self.overlapped,
            references: self.show_ref,
            stacks: self.show_stack,
            sort: self.sort_by,
            top: self.top.top(),
        })
    }

    /// Whether rows are asked for by process, if handles by type are.
    fn types(&self) -> Option<bool> {
        match self.show_total.as_deref() {
            Some("process") => Some(true),
            Some("total") => Some(false),
            _ => None,
        }
    }

    fn columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, ObjectEvent>> {
        let mut columns = Columns::new();
        columns.number("Time", "Time", true, |event: &ObjectEvent| {
            event.ts_ns.map(|ns| text.times.write(ns)).unwrap_or_default()
        });
        columns.word("Event", "Event", true, |event| {
            event.event.clone().unwrap_or_else(|| "(open before)".into())
        });
        columns.word("Handle", "Handle", true, |event| event.handle.clone().unwrap_or_default());
        columns
            .word("Process", "Process", true, |event| name(event.event_process.as_deref(), event.event_pid));
        columns.number("Tid", "Tid", true, |event| id(event.event_tid));
        columns.word("Details", "", true, details);
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }

    fn type_columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, HandleTypeRow>> {
        let by_process = self.types() == Some(true);
        let mut columns = Columns::new();
        columns.number("Leaked", "Leaked", true, |row: &HandleTypeRow| text.int(row.leaked));
        columns.number("Preexisting", "Open before", true, |row| text.int(row.preexisting));
        columns.number("Created", "Created", true, |row| text.int(row.created));
        columns.number("Duplicated", "Duplicated", true, |row| text.int(row.duplicated_in));
        columns.number("Closed", "Closed", true, |row| text.int(row.closed));
        columns
            .number("ClosedPreexisting", "Closed, open before", true, |row| text.int(row.closed_preexisting));
        columns.number("MeanLifetime", "Mean lifetime s", true, |row| {
            let mean = row.lifetime_ns.checked_div(row.closed);
            text.maybe_s(mean, 6)
        });
        columns.number("MaxLifetime", "Longest s", true, |row| text.maybe_s(row.max_lifetime_ns, 6));
        columns.word("Type", "Type", true, |row| row.type_name.clone().unwrap_or_else(|| "?".into()));
        columns.word("Process", "Process", by_process, |row| text.process_line(row.into()));
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

fn name(process: Option<&str>, pid: Option<i64>) -> String {
    match (process, pid) {
        (None, None) => String::new(),
        (name, pid) => {
            let pid = pid.map(|pid| format!("({pid})")).unwrap_or_default();
            format!("{}{pid}", name.unwrap_or("?"))
        }
    }
}

/// What an event tells beyond its columns.
fn details(event: &ObjectEvent) -> String {
    let mut parts: Vec<String> = Vec::new();
    let owner = name(event.owner_process.as_deref(), event.owner_pid);
    if matches!(event.event.as_deref(), Some("handle_duplicate" | "handle_inherit")) {
        let source = name(event.source_process.as_deref(), event.source_pid);
        parts
            .push(format!("from {source} {} to {owner}", event.source_handle.as_deref().unwrap_or_default()));
    } else if event.owner_pid != event.event_pid && !owner.is_empty() {
        parts.push(format!("of {owner}"));
    }
    if let Some(count) = event.count {
        parts.push(format!("{count} {}", event.tag.as_deref().unwrap_or_default()).trim_end().to_owned());
    }
    if event.is_leaked == Some(true) {
        parts.push("not closed".to_owned());
    }
    parts.join("; ")
}

/// The line of an object.
fn heading(text: &Text, object: &ObjectRow) -> String {
    let what = if object.is_map { "Mapped" } else { "Object" };
    let lifetime = object.lifetime_ns.map_or_else(
        || if object.destroyed_ns.is_some() { "not known".to_owned() } else { "9999 s".to_owned() },
        |ns| format!("{} s", text.s(ns, 6)),
    );
    let mut line = format!("Id: {} {what}: {}", object.id, object.address);
    line.extend(object.name.iter().map(|name| format!(" {name}")));
    line.push_str(&format!(" Lifetime: {lifetime} Type: {}", object.type_name.as_deref().unwrap_or("?")));
    if object.is_map {
        line.extend(object.map_size_bytes.map(|bytes| format!(" Size: {} bytes", text.int(bytes))));
        line.extend(object.map_offset_bytes.map(|offset| format!(" Offset: {offset:#x}")));
    } else if object.creates + object.duplicates + object.closes > 0 {
        line.push_str(&format!(
            " Create+Duplicate-Close: {}+{}-{} = {}",
            object.creates,
            object.duplicates,
            object.closes,
            object.creates + object.duplicates - object.closes
        ));
    }
    if object.preexisting > 0 && !object.is_map {
        let (handles, owners) = (object.preexisting, object.preexisting_owners);
        line.push_str(&format!(" Open before: {handles} handles of {owners} processes"));
    }
    if object.reference_changes > 0 {
        line.push_str(&format!(
            " References: {:+} in {} changes",
            object.reference_balance,
            text.int(object.reference_changes)
        ));
    }
    line.extend(object.inherited_by.iter().map(|heir| format!(" Inherited by: {heir}")));
    if object.process_key.is_some() {
        let process = ProcessText {
            name: object.process.as_deref(),
            pid: object.pid,
            start_ns: object.process_start_ns,
            stop_ns: object.process_stop_ns,
            command_line: None,
        };
        line.push_str(&format!(" Created by: {}", text.process(process)));
    }
    line
}

fn print(
    args: &ObjectRefArgs,
    one: &Answered<Vec<ObjectEvents>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    // One table, so that columns of all objects have one width.
    let all = || one.answer.iter().flat_map(|of| &of.events).filter(|event| event.event.is_some());
    let printed = args.columns(&text)?.lines(all());
    let mut printed = printed.iter();
    printed.next().map_or(Ok(()), |titles| lines.line(titles))?;
    for of in &one.answer {
        lines.line(&heading(&text, &of.object))?;
        for event in of.events.iter().filter(|event| event.event.is_some()) {
            printed.next().map_or(Ok(()), |line| lines.line(&format!("  {line}")))?;
            text_frames(event.stack.as_deref(), lines)?;
        }
    }
    if args.show_total.as_deref() == Some("none") {
        return Ok(());
    }
    total_lines(&text, &one.answer).iter().try_for_each(|line| lines.line(line))
}

fn total_lines(text: &Text, all: &[ObjectEvents]) -> Vec<String> {
    let objects = |maps: bool| all.iter().map(|of| &of.object).filter(move |object| object.is_map == maps);
    let sum = |maps: bool, of: fn(&ObjectRow) -> i64| objects(maps).map(of).fold(0, i64::saturating_add);
    let created = sum(false, |object| object.created_ns.is_some().into());
    let destroyed = sum(false, |object| object.destroyed_ns.is_some().into());
    let [creates, duplicates, closes] = [
        sum(false, |object| object.creates),
        sum(false, |object| object.duplicates),
        sum(false, |object| object.closes),
    ];
    let references = sum(false, |object| object.reference_changes);
    let (maps, unmaps) = (sum(true, |object| object.creates), sum(true, |object| object.closes));
    let int = |number| text.int(number);
    let mut lines = vec![format!(
        "Objects Created/Destroyed: {}/{} Diff: {}, Handles Created/Closed/Duplicated: {}/{}/{} Diff: {}, RefChanges: {}, FileMap/Unmap: {}/{}",
        int(created),
        int(destroyed),
        int(created - destroyed),
        int(creates),
        int(closes),
        int(duplicates),
        int(creates + duplicates - closes),
        int(references),
        int(maps),
        int(unmaps),
    )];
    if maps + unmaps > 0 {
        let bytes = |of: fn(&&ObjectRow) -> bool| {
            let of_those = objects(true).filter(of).filter_map(|object| object.map_size_bytes);
            int(of_those.fold(0, i64::saturating_add))
        };
        lines.push(format!(
            "Mapped: {} bytes, unmapped: {} bytes, not unmapped: {} bytes",
            bytes(|object| object.creates > 0),
            bytes(|object| object.closes > 0),
            bytes(|object| object.leaked > 0),
        ));
    }
    lines
}

fn types(
    args: &ObjectRefArgs,
    one: &Answered<Vec<HandleTypeRow>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    args.type_columns(&text)?.lines(one.answer.iter()).iter().try_for_each(|line| lines.line(line))?;
    let sum = |of: fn(&HandleTypeRow) -> i64| one.answer.iter().map(of).fold(0, i64::saturating_add);
    lines.line(&format!(
        "Total {} created, {} duplicated, {} closed, {} leaked; open before: {} closed, {} still open",
        text.int(sum(|row| row.created)),
        text.int(sum(|row| row.duplicated_in)),
        text.int(sum(|row| row.closed)),
        text.int(sum(|row| row.leaked)),
        text.int(sum(|row| row.closed_preexisting)),
        text.int(sum(|row| row.preexisting)),
    ))
}

pub(super) fn run(args: &ObjectRefArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    const COMMAND: &str = "dump objectref";
    let (request, common) = (args.request()?, &args.common);
    if common.show_sql {
        let sql = args.types().map_or_else(|| request.sql(), |by_process| request.types_sql(by_process));
        return show_sql(printer, &sql);
    }
    if let Some(by_process) = args.types() {
        return listed(
            common,
            COMMAND,
            printer,
            |session| request.ask_types(session, by_process),
            |one, lines| types(args, one, lines),
        );
    }
    streamed(
        common,
        COMMAND,
        printer,
        |session| request.ask(session),
        |objects| objects.iter().flat_map(|of| &of.events).collect(),
        |one, lines| print(args, one, lines),
    )
}
