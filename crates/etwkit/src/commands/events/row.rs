//! One decoded event as a row.

use std::sync::Arc;

use etwkit_decode::render::{Limits, Renderer, hex_digits};
use etwkit_decode::{Decoder, Plan};
use etwkit_etl::clock::Clock;
use etwkit_etl::{Guid, Identity, RawEvent};
use etwkit_trace::attribution::{Attributor, Ids};
use etwkit_trace::directory::Directory;
use serde_json::{Map, Value};

/// Reads events into rows.
pub(super) struct Rows<'t> {
    pub(super) decoder: Decoder,
    pub(super) directory: Directory,
    pub(super) clock: &'t Clock,
    attributor: Attributor,
}

/// What a row says, before its fields are decoded.
pub(super) struct Row {
    pub(super) ts_ns: i64,
    pub(super) cpu: u16,
    pub(super) pid: Option<u32>,
    pub(super) tid: Option<u32>,
    /// Name of the process, empty if unknown.
    pub(super) process: String,
    pub(super) guid: Guid,
    /// Name of the provider or class, its GUID if it has none.
    pub(super) provider: String,
    pub(super) event: String,
    pub(super) id: Option<u16>,
    pub(super) version: u16,
    pub(super) opcode: u8,
    pub(super) level: u8,
    pub(super) keyword: Option<u64>,
    /// Counters of the processor that stand in the header, in the order of the trace's configuration.
    pub(super) counters: Vec<u64>,
    /// Index of the PEBS record that stands in the header.
    pub(super) pebs_index: Option<u64>,
    pub(super) plan: Option<Arc<Plan>>,
}

/// What the payload of an event says.
pub(super) struct Decoded {
    pub(super) fields: Map<String, Value>,
    /// Whether the payload was long enough for all fields.
    pub(super) complete: bool,
    /// Text of the event with its values put in, if what describes it has one.
    pub(super) message: Option<String>,
}

impl<'t> Rows<'t> {
    pub(super) fn new(decoder: Decoder, directory: Directory, clock: &'t Clock) -> Self {
        let attributor = Attributor::new(directory.first_threads.clone());
        Self { decoder, directory, clock, attributor }
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
        let descriptor = event.kind.is_manifest().then(|| event.descriptor());
        Row {
            ts_ns: self.clock.nanoseconds(event.timestamp),
            cpu: event.cpu,
            pid,
            tid,
            process: process.map(|p| p.name.clone()).unwrap_or_default(),
            guid,
            provider,
            event: event_name(event, plan.as_deref()),
            id: match event.identity() {
                Identity::Message { number, .. } => Some(number),
                _ => descriptor.map(|d| d.id),
            },
            version: event.version(),
            opcode: event.opcode(),
            level: event.level(),
            keyword: descriptor.map(|d| d.keyword),
            counters: event.pmc_values().collect(),
            pebs_index: event.pebs_index(),
            plan,
        }
    }

    fn provider(&self, event: &RawEvent<'_>, plan: Option<&Plan>) -> (Guid, String) {
        let known = plan.and_then(|plan| plan.schema().provider_name.as_deref().map(str::to_owned));
        let guid = match event.identity() {
            Identity::Kernel { group, .. } => {
                let name = format!("Kernel group {group}");
                return (plan.map_or(Guid::ZERO, |plan| plan.schema().provider), known.unwrap_or(name));
            }
            Identity::Manifest { provider, .. } => provider,
            Identity::Classic { class, .. } => class,
            Identity::Message { guid, .. } => guid,
        };
        let name = known.or_else(|| self.decoder.provider_name(guid).map(|name| name.to_string()));
        (guid, name.unwrap_or_else(|| guid.to_string()))
    }

    /// The decoded fields and the text that they make; the payload in hexadecimal digits if nothing describes it.
    pub(super) fn decoded(&mut self, row: &Row, event: &RawEvent<'_>) -> Decoded {
        let renderer = Renderer { clock: Some(self.clock), limits: Limits::NONE };
        if let Some(plan) = &row.plan {
            let (fields, complete) = renderer.object(plan, event.payload());
            let message = self.decoder.text(event, plan, &fields);
            return Decoded { fields, complete, message };
        }
        let mut raw = Map::new();
        if !event.payload().is_empty() {
            raw.insert("payload".to_owned(), Value::from(hex_digits(event.payload())));
        }
        Decoded { fields: raw, complete: true, message: None }
    }
}

/// Name of an event: by its schema, else by its numbers.
fn event_name(event: &RawEvent<'_>, plan: Option<&Plan>) -> String {
    if let Some(plan) = plan {
        return plan.schema().name.to_string();
    }
    match event.identity() {
        Identity::Kernel { opcode, .. } | Identity::Classic { opcode, .. } => format!("Opcode({opcode})"),
        Identity::Manifest { id, .. } => format!("EventID({id})"),
        Identity::Message { number, .. } => format!("Message({number})"),
    }
}
