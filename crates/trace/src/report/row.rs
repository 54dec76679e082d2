//! One decoded event as a row.

use std::sync::Arc;

use etwkit_decode::render::{Limits, Renderer, hex_digits};
use etwkit_decode::schema::numbered;
use etwkit_decode::tables::names;
use etwkit_decode::{Decoder, Plan, found_text};
use etwkit_etl::clock::Clock;
use etwkit_etl::{Guid, Identity, RawEvent};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::attribution::{Attributor, Ids};
use crate::directory::Directory;

/// One event with its decoded fields.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventRow {
    /// Time in nanoseconds since time zero.
    pub ts_ns: i64,
    /// Processor of the buffer.
    pub cpu: u16,
    /// Process ID, where it is known.
    pub pid: Option<u32>,
    /// Name of the process, empty if unknown.
    pub process: String,
    /// Thread ID, where it is known.
    pub tid: Option<u32>,
    /// Name of the provider or class, its GUID if it has none.
    pub provider: String,
    /// Name of the event, as `Thread/CSwitch`; its number if nothing names it, neither the trace
    /// nor the built-in tables.
    pub event: String,
    /// ID of a manifest event, number of a WPP message.
    pub id: Option<u16>,
    /// Version.
    pub version: u16,
    /// Opcode.
    pub opcode: u8,
    /// Level.
    pub level: u8,
    /// Keywords of a manifest event; as hexadecimal text.
    #[serde(serialize_with = "hexadecimal")]
    pub keyword: Option<u64>,
    /// GUID of the provider or class.
    pub provider_guid: String,
    /// The source of the event's description; `names` if only its name is known, `None` if it has
    /// none.
    pub source: Option<&'static str>,
    /// True if the payload was long enough for all fields.
    pub complete: bool,
    /// Text of the event with its values inserted, if its description has one.
    pub message: Option<String>,
    /// The fields. Without a description, `payload` with hexadecimal digits, and `text` with a list
    /// of the texts in it, if any were found.
    pub fields: Map<String, Value>,
    /// Counters of the processor in the header, in the order of the trace's configuration.
    pub counters: Vec<u64>,
    /// Index of the PEBS record in the header.
    pub pebs_index: Option<u64>,
}

#[expect(clippy::ref_option, reason = "serde wants a reference to the field")]
fn hexadecimal<S: Serializer>(number: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    number
        .map(|number| format!("{number:#x}"))
        .serialize(serializer)
}

/// Reads events into rows.
pub(super) struct Rows<'t> {
    pub(super) decoder: Decoder,
    directory: Directory,
    pub(super) clock: &'t Clock,
    attributor: Attributor,
}

/// The facts about an event before its fields are decoded, sufficient for filtering.
pub(super) struct Row {
    pub(super) pid: Option<u32>,
    tid: Option<u32>,
    /// Name of the process, empty if unknown.
    pub(super) process: String,
    pub(super) guid: Guid,
    pub(super) provider: String,
    pub(super) event: String,
    /// ID of an event whose name is a built-in one: it was known by its number before.
    pub(super) number: Option<u16>,
    pub(super) plan: Option<Arc<Plan>>,
}

impl<'t> Rows<'t> {
    pub(super) fn new(decoder: Decoder, directory: Directory, clock: &'t Clock) -> Self {
        let attributor = Attributor::new(directory.first_threads.clone());
        Self {
            decoder,
            directory,
            clock,
            attributor,
        }
    }

    /// Follows an event that is not shown: later ones may be attributed by it.
    pub(super) fn pass_over(&mut self, event: &RawEvent<'_>) {
        self.attributor.ids(event, None);
    }

    pub(super) fn row(&mut self, event: &RawEvent<'_>) -> Row {
        let plan = self.decoder.plan(event);
        let Ids { pid, tid } = self.attributor.ids(event, plan.as_ref());
        let pid = pid.or_else(|| self.directory.threads.process_of(tid?, event.timestamp));
        let key = pid.and_then(|pid| self.directory.process_at(pid, event.timestamp));
        let process = key.and_then(|key| self.directory.processes.instance(key));
        let (guid, provider) = self.provider(event, plan.as_deref());
        let (name, number) = event_name(event, plan.as_deref());
        Row {
            pid,
            tid,
            process: process.map_or_else(String::new, |process| process.name.clone()),
            guid,
            provider,
            event: name,
            number,
            plan,
        }
    }

    fn provider(&self, event: &RawEvent<'_>, plan: Option<&Plan>) -> (Guid, String) {
        let known = plan.and_then(|plan| plan.schema().provider_name.as_deref().map(str::to_owned));
        let guid = match event.identity() {
            Identity::Kernel { group, .. } => {
                let name = format!("Kernel group {group}");
                // Kernel events have no GUID in the file: the GUID of their class comes with the
                // plan.
                return (
                    plan.map_or(Guid::ZERO, |plan| plan.schema().provider),
                    known.unwrap_or(name),
                );
            }
            Identity::Manifest { provider, .. } => provider,
            Identity::Classic { class, .. } => class,
            Identity::Message { guid, .. } => guid,
        };
        let name = known.or_else(|| {
            self.decoder
                .provider_name(guid)
                .map(|name| name.to_string())
        });
        (guid, name.unwrap_or_else(|| guid.to_string()))
    }

    /// The complete row of an event.
    pub(super) fn decoded(&mut self, row: Row, event: &RawEvent<'_>) -> EventRow {
        let renderer = Renderer {
            clock: Some(self.clock),
            limits: Limits::NONE,
        };
        let (fields, complete, message) = if let Some(plan) = &row.plan {
            let (fields, complete) = renderer.object(plan, event.payload());
            let message = self.decoder.text(event, plan, &fields);
            (fields, complete, message)
        } else {
            (payload(event), true, None)
        };
        let descriptor = event.kind.is_manifest().then(|| event.descriptor());
        EventRow {
            ts_ns: self.clock.nanoseconds(event.timestamp),
            cpu: event.cpu,
            pid: row.pid,
            process: row.process,
            tid: row.tid,
            provider: row.provider,
            event: row.event,
            id: match event.identity() {
                Identity::Message { number, .. } => Some(number),
                _ => descriptor.map(|d| d.id),
            },
            version: event.version(),
            opcode: event.opcode(),
            level: event.level(),
            keyword: descriptor.map(|d| d.keyword),
            provider_guid: row.guid.to_string(),
            source: match &row.plan {
                Some(plan) => Some(plan.schema().source.name()),
                None => names::of_kind(event.identity()).map(|_| names::SOURCE),
            },
            complete,
            message,
            fields,
            counters: event.pmc_values().collect(),
            pebs_index: event.pebs_index(),
        }
    }
}

/// The bytes of an event without a description, and the texts in them.
fn payload(event: &RawEvent<'_>) -> Map<String, Value> {
    let mut raw = Map::new();
    if !event.payload().is_empty() {
        raw.insert(
            "payload".to_owned(),
            Value::from(hex_digits(event.payload())),
        );
    }
    let texts = found_text::of(event.payload());
    if !texts.is_empty() {
        raw.insert("text".to_owned(), Value::from(texts));
    }
    raw
}

/// Name of an event: from its schema or the built-in tables, otherwise its numbers. With its ID if
/// the name comes from the tables.
fn event_name(event: &RawEvent<'_>, plan: Option<&Plan>) -> (String, Option<u16>) {
    let identity = event.identity();
    let own = plan.map(|plan| &*plan.schema().name);
    let name = names::of_event(identity, plan);
    let text = match (name.or(own), identity) {
        (Some(name), _) => name.to_owned(),
        (None, Identity::Kernel { opcode, .. } | Identity::Classic { opcode, .. }) => {
            format!("Opcode({opcode})")
        }
        (None, Identity::Manifest { id, .. }) => numbered(id),
        (None, Identity::Message { number, .. }) => format!("Message({number})"),
    };
    let number = match identity {
        Identity::Manifest { id, .. } if name.is_some() && name != own => Some(id),
        _ => None,
    };
    (text, number)
}
