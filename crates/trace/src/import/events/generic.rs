//! Events that have no table of their own: decoded fields as JSON.

use std::sync::Arc;

use etwkit_decode::clr::{self, Origin};
use etwkit_decode::kernel::{Hook, group, scheduler};
use etwkit_decode::render::{Limits, Renderer};
use etwkit_decode::tables::names;
use etwkit_decode::{Plan, Source, found_text};
use etwkit_etl::{Guid, Identity, RawEvent};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::attribution::Attributor;
use crate::declared::{Events, rows};
use crate::import::pipeline::inline_stack::inline_stack;
use crate::import::pipeline::{Context, Declaration, Importer, IsShown, Learned, key, waiting};
use crate::sink::{Sink, SinkError};
use crate::table::{GenericEvent, Row};

/// Claims nothing: it gets the events that no other importer shows.
pub(crate) const DECLARATION: Declaration = Declaration {
    // The next events of a processor belong to the thread that is switched in.
    hears: &[Events::Kernel(
        group::THREAD,
        &[scheduler::opcode::CONTEXT_SWITCH],
    )],
    tables: &[rows(GenericEvent::TABLE)],
    make: |learned| Box::new(Generic::new(learned)),
    ..Declaration::EMPTY
};

/// Names of the events of one layout.
#[derive(Debug, Clone)]
struct Names {
    guid: Arc<str>,
    provider: Option<Arc<str>>,
    name: Option<Arc<str>>,
    described_by: Option<&'static str>,
}

/// The decoded content of an event.
struct Decoded {
    fields: Option<String>,
    message: Option<String>,
    payload: Option<Vec<u8>>,
}

/// Decodes the events that no other importer shows.
struct Generic {
    attributor: Attributor,
    /// By address of the plan. The plan is kept alive, so that an address cannot be reused for
    /// another one.
    names: FxHashMap<usize, (Arc<Plan>, Names)>,
    guids: FxHashMap<Guid, Arc<str>>,
    /// Names of events out of the built-in tables.
    built_in: FxHashMap<&'static str, Arc<str>>,
    last_activity: Option<(Guid, Arc<str>)>,
    keep_payload: bool,
}

impl Generic {
    fn new(learned: Learned<'_>) -> Self {
        Self {
            attributor: Attributor::new(learned.collected.directory.first_threads.clone()),
            names: FxHashMap::default(),
            guids: FxHashMap::default(),
            built_in: FxHashMap::default(),
            last_activity: None,
            keep_payload: learned.keep_payload,
        }
    }

    fn event(&mut self, event: &RawEvent<'_>, context: &mut Context<'_>) {
        let running = context.running_on(event.cpu);
        let ts_ns = context.ns(event.timestamp);
        // Checked before anything is decoded, since decoding is by far the most expensive step
        // here.
        if !context.range.contains(ts_ns) {
            return;
        }
        // One plan for all events of a layout, cached by the decoder.
        let plan = context.decoder.plan(event);
        let ids = self.attributor.ids(event, plan.as_ref());
        let of_thread = ids.tid.map(|tid| context.of_thread(tid, event.timestamp));
        // Some events name a process in their fields. It comes before that of the thread, since a
        // service may log on behalf of another process.
        let of_pid = ids
            .pid
            .and_then(|pid| context.directory.process_at(pid, event.timestamp));
        let process = of_pid.or_else(|| of_thread.and_then(|who| who.process));
        let names = self.names(event, plan.as_ref(), context);
        let Decoded {
            fields,
            message,
            payload,
        } = self.fields(event, plan.as_ref(), context);
        let descriptor = event.descriptor();
        let row = GenericEvent {
            ts_ns,
            cpu: event.cpu.into(),
            process_key: key(process),
            thread_key: of_thread.map(|who| who.thread_key),
            provider_guid: names.guid,
            provider: names.provider,
            name: names.name,
            event_id: event_id(event),
            version: event.version().into(),
            opcode: event.opcode().into(),
            level: event.level().into(),
            keyword: descriptor.keyword as i64,
            task: descriptor.task.into(),
            // Guids of activities are texts in the table, where they compress well.
            activity_id: event.activity_id().map(|id| self.activity(id)),
            described_by: names.described_by,
            message,
            fields,
            payload,
            stack_id: None,
        };
        let row = waiting::row(row, |row, stacks| row.stack_id = stacks.own());
        let own = inline_stack(event);
        // An item of the record has the stack, so nothing needs to be waited for.
        if own.is_empty() {
            // Stacks of providers are in their events, except for those that the .NET runtime
            // writes.
            let tid = match clr::origin(event) {
                Some(Origin::Runtime) => event.thread_id(),
                _ if event.kind.is_manifest() => None,
                // Events of the kernel and of classic providers get their stack as an event of its
                // own, by thread and time.
                _ => event.thread_id().or(running),
            };
            context.wait(event.timestamp, tid, process, row);
        } else {
            context.wait_with(event.timestamp, process, &own, row);
        }
    }

    /// The fields as JSON with their text, and the payload if it could not be decoded to its end.
    /// If no layout is known, the fields are the texts found in the payload.
    fn fields(
        &self,
        event: &RawEvent<'_>,
        plan: Option<&Arc<Plan>>,
        context: &mut Context<'_>,
    ) -> Decoded {
        let payload = event.payload();
        // Kept only on demand: payloads that cannot be decoded may be most of a trace.
        let raw = || (self.keep_payload && !payload.is_empty()).then(|| payload.to_vec());
        let Some(plan) = plan else {
            // Counted, so that the answer can say how many events have no description here.
            context.notes.not_described += 1;
            let payload = raw();
            // Texts in an unknown payload are often what one is looking for, such as a path or a
            // message.
            let texts = payload
                .as_deref()
                .map(found_text::of)
                .filter(|texts| !texts.is_empty());
            let fields = texts.map(|texts| json!({"text": texts}).to_string());
            return Decoded {
                fields,
                message: None,
                payload,
            };
        };
        let renderer = Renderer {
            clock: Some(context.clock),
            // No limits: what does not fit is cut where it is shown, and not in the extract.
            limits: Limits::NONE,
        };
        let (fields, is_complete) = renderer.object(plan, payload);
        // Everything is in the fields if the payload was decoded to its end.
        let raw = if is_complete { None } else { raw() };
        context.notes.incomplete += u64::from(!is_complete);
        // Texts in a trace mostly list the fields once more: a fifth more space for nothing new.
        let is_named = matches!(plan.schema().source, Source::Manifest | Source::Tmf);
        let message = if is_named {
            context.decoder.text(event, plan, &fields)
        } else {
            None
        };
        Decoded {
            fields: Some(Value::Object(fields).to_string()),
            message,
            payload: raw,
        }
    }

    fn names(
        &mut self,
        event: &RawEvent<'_>,
        plan: Option<&Arc<Plan>>,
        context: &Context<'_>,
    ) -> Names {
        let Some(plan) = plan else {
            let guid = event_guid(event, None);
            // The decoder may know the provider by name even without a layout of the event.
            let provider = context.decoder.provider_name(guid);
            let name = names::of_kind(event.identity());
            let name = name
                .map(|name| Arc::clone(self.built_in.entry(name).or_insert_with(|| name.into())));
            let described_by = name.is_some().then_some(names::SOURCE);
            return Names {
                guid: self.guid(guid),
                provider,
                name,
                described_by,
            };
        };
        // Plans are shared, so equal layouts have one address; comparing addresses is cheaper than
        // comparing identities.
        let address = Arc::as_ptr(plan) as usize;
        if let Some((_, names)) = self.names.get(&address) {
            return names.clone();
        }
        let guid = event_guid(event, Some(plan));
        let schema = plan.schema();
        let name = names::of_event(event.identity(), Some(plan));
        // The text form of its number is still better than no name.
        let name = name.or(Some(&*schema.name).filter(|number| !number.is_empty()));
        let names = Names {
            guid: self.guid(guid),
            provider: schema
                .provider_name
                .clone()
                .or_else(|| context.decoder.provider_name(guid)),
            name: name.map(Arc::from),
            described_by: Some(schema.source.name()),
        };
        self.names
            // The plan is held as well: without it the address could be given to another plan.
            .insert(address, (Arc::clone(plan), names.clone()));
        names
    }

    /// Text of an activity. Only the last one is cached: events of an activity mostly follow each
    /// other, and all activities are too many to hold.
    fn activity(&mut self, id: Guid) -> Arc<str> {
        match &self.last_activity {
            Some((last, text)) if *last == id => Arc::clone(text),
            _ => {
                let text: Arc<str> = Arc::from(id.to_string());
                self.last_activity = Some((id, Arc::clone(&text)));
                text
            }
        }
    }

    fn guid(&mut self, guid: Guid) -> Arc<str> {
        Arc::clone(
            self.guids
                .entry(guid)
                .or_insert_with(|| Arc::from(guid.to_string())),
        )
    }
}

impl Importer for Generic {
    fn kernel(
        &mut self,
        _: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        self.event(event, context);
        Ok(true)
    }

    fn other(
        &mut self,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        self.event(event, context);
        Ok(true)
    }

    fn hear(
        &mut self,
        _: Option<Hook>,
        event: &RawEvent<'_>,
        _: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        // The attributor learns from all events, including the events that other importers show.
        self.attributor.ids(event, None);
        Ok(())
    }
}

/// GUID of the provider or class. Kernel events have the GUID of their class, if their layout is
/// known.
fn event_guid(event: &RawEvent<'_>, plan: Option<&Plan>) -> Guid {
    match event.identity() {
        // Kernel events have a group and no GUID. Only a known layout names the class.
        Identity::Kernel { .. } => plan.map_or(Guid::ZERO, |plan| plan.schema().provider),
        Identity::Manifest { provider, .. } => provider,
        Identity::Classic { class, .. } => class,
        Identity::Message { guid, .. } => guid,
    }
}

/// ID of the event; messages of WPP have a number in its place.
fn event_id(event: &RawEvent<'_>) -> i32 {
    match event.identity() {
        Identity::Message { number, .. } => number.into(),
        _ => event.descriptor().id.into(),
    }
}
