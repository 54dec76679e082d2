//! Recording sessions: the sessions of the trace from their headers, others from events of the
//! tracing system's provider.

use std::sync::Arc;

use etwkit_decode::kernel::group_mask::{GroupMask, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_decode::session_events::{
    EVENT_TRACING, SessionEventKind, SessionFields, SessionReader,
};
use etwkit_etl::RawEvent;
use etwkit_etl::session::TraceFile;
use rustc_hash::FxHashMap;

use crate::declared::{Events, sums};
use crate::import::pipeline::{Context, Declaration, Importer, Learned, key};
use crate::interner::Interner;
use crate::sink::{Sink, SinkError};
use crate::table::{Logger, LoggerEvent, Row};

pub(crate) const DECLARATION: Declaration = Declaration {
    // Rows show only a part of these events, so they also stay events of their own.
    hears: &[
        Events::Kernel(
            group::EVENT_TRACE,
            &[opcode::EXTENSION, opcode::END_EXTENSION],
        ),
        Events::Provider(EVENT_TRACING, &[]),
    ],
    tables: &[sums(Logger::TABLE), sums(LoggerEvent::TABLE)],
    make: |_| Box::new(Loggers::default()),
    ..Declaration::EMPTY
};

/// Maximum number of sessions; Windows runs 64.
const MAX_LIVE: usize = 4096;

/// Follows sessions.
#[derive(Debug, Default)]
struct Loggers {
    reader: SessionReader,
    /// Running sessions, by name in lower case, in the order of their starts.
    live: FxHashMap<String, (usize, Logger)>,
    next: usize,
    /// The kernel events that were enabled, by index of the file.
    masks: FxHashMap<usize, GroupMask>,
    texts: Interner,
}

impl Loggers {
    /// Takes an event with the enabled kernel events.
    fn mask(&mut self, event: &RawEvent<'_>) {
        // Merged files come from several sessions, each with its own kernel flags.
        if let Some(mask) = GroupMask::parse(event.payload()) {
            self.masks.entry(event.file as usize).or_default().add(mask);
        }
    }

    fn event(
        &mut self,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let Some((kind, fields)) = self.reader.read(event, &mut context.decoder) else {
            return Ok(());
        };
        let ns = context.ns(event.timestamp);
        // Before the range is checked, since a session that starts before it also exists in it.
        self.session(kind, &fields, ns, context, sink)?;
        if !context.range.contains(ns) {
            return Ok(());
        }
        let row = self.row(kind, fields, ns, event, context);
        context.tables.push(&row, sink)
    }

    /// Adds the data of an event about a session.
    fn session(
        &mut self,
        kind: SessionEventKind,
        fields: &SessionFields,
        ns: i64,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        use SessionEventKind::{Running, Start, StartError, Stop, StopError, WriteError};
        if !matches!(
            kind,
            Start | Stop | Running | StartError | StopError | WriteError
        ) {
            return Ok(());
        }
        let name = fields.session.as_deref().unwrap_or("");
        // Windows compares names of sessions without case.
        let of = name.to_lowercase();
        if kind == StartError {
            // Usually the name is already in use, and the session that has it continues: its row
            // must not end here.
            let mut failed = Logger::default();
            fill(&mut failed, fields);
            return context.tables.push(&failed, sink);
        }
        if kind == Start
            && let Some((_, before)) = self.live.remove(&of)
        {
            // The stop of the session before is missing: a name has one session at a time.
            context.tables.push(&before, sink)?;
        }
        let next = self.next;
        self.next += 1;
        let (_, row) = self
            .live
            // An event about a session that never started in the trace describes one that was
            // running before.
            .entry(of.clone())
            .or_insert_with(|| (next, Logger::default()));
        fill(row, fields);
        match kind {
            Start => row.start_ns = Some(ns),
            Stop | StopError => row.stop_ns = Some(ns),
            _ => {}
        }
        // Above the limit a session is written at once, and its later events create another row.
        let has_ended = matches!(kind, Stop | StopError) || self.live.len() > MAX_LIVE;
        if has_ended && let Some((_, ended)) = self.live.remove(&of) {
            context.tables.push(&ended, sink)?;
        }
        Ok(())
    }

    fn row(
        &mut self,
        kind: SessionEventKind,
        fields: SessionFields,
        ts_ns: i64,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
    ) -> LoggerEvent {
        let tid = event.thread_id();
        let time = event.timestamp;
        let who = tid.map(|tid| context.of_thread(tid, time));
        let process = event
            .process_id()
            .and_then(|pid| context.directory.process_at(pid, time));
        let mut text = |text: &str| -> Arc<str> { self.texts.intern(text) };
        LoggerEvent {
            ts_ns,
            kind: kind.name(),
            session: fields.session.as_deref().map(&mut text),
            provider_guid: fields.provider.map(|guid| text(&guid.to_string())),
            provider: fields
                .provider
                .and_then(|guid| context.decoder.provider_name(guid)),
            any_keyword: fields.any_keyword.map(|bits| bits as i64),
            all_keyword: fields.all_keyword.map(|bits| bits as i64),
            level: fields.level.map(|level| level as i32),
            enable_property: fields.enable_property.map(i64::from),
            status: fields.status.map(|status| status as i32),
            event_id: fields.event_id.map(|id| id as i32),
            event_name: fields.event_name,
            process_key: key(process.or_else(|| who.and_then(|who| who.process))),
            thread_key: who.map(|who| who.thread_key),
        }
    }
}

impl Importer for Loggers {
    fn hear(
        &mut self,
        hook: Option<Hook>,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        if hook.is_none() {
            return self.event(event, context, sink);
        }
        self.mask(event);
        Ok(())
    }

    /// Writes the sessions of the trace and the sessions that continue after it.
    fn finish(
        mut self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        for (number, file) in learned.session.files().iter().enumerate() {
            let mask = self.masks.get(&number).copied();
            // Events may also have reported the session of the trace, and it has one row.
            // Taken out of the map, so that it is not written once more as an ordinary session.
            let live = self.live.remove(&file.header().session_name.to_lowercase());
            let reported = live.map_or_else(Logger::default, |(_, row)| row);
            let row = of_header(file, mask, reported);
            context.tables.push(&row, sink)?;
        }
        let mut live: Vec<(usize, Logger)> = self.live.into_values().collect();
        // In the order in which events reported them: a hash table has none.
        live.sort_unstable_by_key(|(place, _)| *place);
        live.iter()
            .try_for_each(|(_, row)| context.tables.push(row, sink))
    }
}

/// Sets the fields that an event contains; all others stay.
fn fill(row: &mut Logger, fields: &SessionFields) {
    // Events about one session report different fields. An absent one must not erase what an
    // earlier event reported.
    fn keep<T>(to: &mut Option<T>, value: Option<T>) {
        if value.is_some() {
            *to = value;
        }
    }
    let number = |value: Option<u32>| value.map(i64::from);
    keep(&mut row.name, fields.session.clone());
    keep(
        &mut row.session_guid,
        fields.session_guid.map(|guid| guid.to_string()),
    );
    keep(&mut row.logger_id, number(fields.logger_id));
    keep(&mut row.file, fields.file.clone());
    keep(&mut row.mode, number(fields.mode));
    keep(&mut row.modes, fields.mode.map(modes));
    keep(&mut row.event_buffer_size, number(fields.buffer_size));
    keep(&mut row.minimum_buffers, number(fields.minimum_buffers));
    keep(&mut row.maximum_buffers, number(fields.maximum_buffers));
    keep(&mut row.peak_buffers, number(fields.peak_buffers));
    keep(&mut row.current_buffers, number(fields.current_buffers));
    keep(&mut row.events_lost, number(fields.events_lost));
    keep(&mut row.buffers_lost, number(fields.buffers_lost));
    keep(
        &mut row.real_time_buffers_lost,
        number(fields.real_time_buffers_lost),
    );
    keep(
        &mut row.status,
        fields
            .status
            // Success says nothing, and the column would be full of zeros.
            .filter(|status| *status != 0)
            .map(|status| status as i32),
    );
}

/// The session of a file, from its header and from events about it.
fn of_header(file: &TraceFile, mask: Option<GroupMask>, reported: Logger) -> Logger {
    let h = file.header();
    let text = |text: &str| {
        Some(text.trim())
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    // The header wins over events: it is written when the session stops and has the final numbers.
    Logger {
        name: text(&h.session_name),
        is_of_trace: true,
        file: text(&h.log_file_name),
        mode: Some(h.log_file_mode.into()),
        modes: Some(modes(h.log_file_mode)),
        buffer_size_bytes: Some(h.buffer_size.into()),
        buffers_written: Some(h.buffers_written.into()),
        events_lost: Some(h.events_lost.into()),
        buffers_lost: Some(h.buffers_lost.into()),
        kernel_keywords: mask
            .map(GroupMask::keywords)
            .filter(|keywords| !keywords.is_empty()),
        ..reported
    }
}

/// Names of the bits of `LogFileMode`, with `+` between; those without a name as a number.
fn modes(mode: u32) -> String {
    let mut left = mode;
    let mut parts: Vec<String> = Vec::new();
    for (bit, name) in MODES {
        if mode & bit != 0 {
            left &= !bit;
            parts.push((*name).to_owned());
        }
    }
    // Bits without a known name are kept as a number, so that none is lost.
    if left != 0 {
        parts.push(format!("{left:#x}"));
    }
    parts.join("+")
}

/// Bits and names, documented by Microsoft as logging mode constants.
const MODES: &[(u32, &str)] = &[
    (0x1, "sequential"),
    (0x2, "circular"),
    (0x4, "append"),
    (0x8, "new_file"),
    (0x10, "flush_timer_in_ms"),
    (0x20, "preallocate"),
    (0x40, "nonstoppable"),
    (0x80, "secure"),
    (0x100, "real_time"),
    (0x200, "delay_open"),
    (0x400, "buffering"),
    (0x800, "private"),
    (0x1000, "add_header"),
    (0x2000, "size_in_kb"),
    (0x4000, "global_sequence"),
    (0x8000, "local_sequence"),
    (0x1_0000, "relog"),
    (0x2_0000, "private_in_process"),
    (0x4_0000, "buffer_interface"),
    (0x8_0000, "debugger_filter"),
    (0x40_0000, "stop_on_hybrid_shutdown"),
    (0x80_0000, "persist_on_hybrid_shutdown"),
    (0x100_0000, "paged_memory"),
    (0x200_0000, "system_logger"),
    (0x400_0000, "compressed"),
    (0x800_0000, "independent"),
    (0x1000_0000, "no_per_processor_buffering"),
    (0x2000_0000, "blocking"),
    (0x8000_0000, "triage_dump"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_the_mode_have_names_or_stay_numbers() {
        assert_eq!(
            modes(0x1000_0101),
            "sequential+real_time+no_per_processor_buffering"
        );
        assert_eq!(
            (modes(0), modes(0x4030_0002)),
            (String::new(), "circular+0x40300000".to_owned())
        );
    }
}
