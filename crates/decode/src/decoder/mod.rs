//! Lookup of the schema of an event.

mod blobs;
mod given;
mod records;

use std::sync::Arc;

use etwkit_etl::wire::extended::kind;
use etwkit_etl::{Guid, Identity, RawEvent};
use rustc_hash::FxHashMap;

use crate::bounds::Problems;
use crate::eventinfo::{self, Decoding};
use crate::eventsource::{self, CHUNK_ID};
use crate::manifest::Manifest;
use crate::message::{Dialect, Template};
use crate::schema::{Schema, Source, ValueMap};
use crate::tables::{Tables, names};
use crate::{Plan, Spans, tracelogging, wpp};
use blobs::Blobs;
pub use given::Descriptions;
use records::Records;
use serde_json::{Map, Value};

/// Finds the plan of any event.
///
/// Descriptions of events can be anywhere in a trace, often after the events. So a trace is read
/// twice: in the first pass each event goes to [`Decoder::observe`], then
/// [`Decoder::finish_observing`] compiles the descriptions, and in the second pass
/// [`Decoder::plan`] answers with one lookup.
///
/// Both passes may read the events in any order.
#[derive(Debug, Default)]
pub struct Decoder {
    observed: Observed,
    blobs: Blobs,
    described: FxHashMap<Key, Described>,
    names: FxHashMap<Guid, Arc<str>>,
    keywords: FxHashMap<Guid, ValueMap>,
    problems: Problems,
    tables: Tables,
    /// Descriptions from files that the user named.
    given: Arc<Descriptions>,
    spans: Spans,
}

/// Data collected by the first pass.
#[derive(Debug, Default)]
struct Observed {
    manifests: eventsource::Collector,
    records: Records,
}

/// A kind of event that a description can refer to. The GUID identifies the provider, the class or
/// the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Key {
    /// Provider, ID, version.
    Manifest(Guid, u16, u8),
    /// Class, opcode, version.
    Classic(Guid, u8, u16),
    /// Source file of a program, number.
    Message(Guid, u16),
}

impl Key {
    fn of(identity: Identity) -> Option<Self> {
        match identity {
            Identity::Manifest {
                provider,
                id,
                version,
                ..
            } => Some(Self::Manifest(provider, id, version)),
            Identity::Classic {
                class,
                opcode,
                version,
            } => Some(Self::Classic(class, opcode, version)),
            Identity::Message { guid, number } => Some(Self::Message(guid, number)),
            Identity::Kernel { .. } => None,
        }
    }
}

/// A schema compiled for both sizes of pointers.
#[derive(Debug)]
struct Described {
    plans: [Arc<Plan>; 2],
    text: Option<Text>,
}

/// The source of an event's text.
#[derive(Debug)]
enum Text {
    /// A format with the numbers of fields.
    Fields(Template),
    /// A message of WPP.
    Wpp(Box<wpp::Text>),
}

impl Described {
    fn new(schema: Schema, message: Option<&str>) -> Self {
        let template = message.filter(|text| !text.trim().is_empty());
        let template = template.map(|text| Template::parse(text, Dialect::Manifest));
        Self {
            plans: plans(schema),
            text: template.map(Text::Fields),
        }
    }

    fn plan(&self, event: &RawEvent<'_>) -> &Arc<Plan> {
        by_pointer_size(&self.plans, event.pointer_size())
    }

    fn source(&self) -> Source {
        let [plan, _] = &self.plans;
        plan.schema().source
    }
}

fn plans(schema: Schema) -> [Arc<Plan>; 2] {
    // Both at once: one trace has events of 32-bit and of 64-bit programs, and the header of each
    // event contains the pointer size.
    [
        Arc::new(Plan::new(schema.clone(), 4)),
        Arc::new(Plan::new(schema, 8)),
    ]
}

fn by_pointer_size(plans: &[Arc<Plan>; 2], pointer_size: usize) -> &Arc<Plan> {
    let [narrow, wide] = plans;
    if pointer_size == 4 { narrow } else { wide }
}

impl Decoder {
    /// A decoder with only the built-in tables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A decoder that also uses descriptions from files.
    #[must_use]
    pub fn with(given: Arc<Descriptions>) -> Self {
        Self {
            given,
            ..Self::default()
        }
    }

    /// Sets the descriptions from files, for all later events.
    pub fn give(&mut self, given: Arc<Descriptions>) {
        self.given = given;
    }

    /// Learns descriptions from an event. Must be called for every event of the trace.
    pub fn observe(&mut self, event: &RawEvent<'_>) {
        if event.kind.is_manifest() {
            self.observe_manifest(event);
        } else if event.kind.is_classic() && event.provider() == eventinfo::CLASS {
            self.observed.records.observe(event, &mut self.problems);
        }
    }

    fn observe_manifest(&mut self, event: &RawEvent<'_>) {
        let mut metadata = None;
        let mut traits = None;
        for item in event.extended() {
            match item.kind {
                kind::EVENT_SCHEMA_TL => metadata = metadata.or(Some(item.data)),
                kind::PROVIDER_TRAITS => traits = traits.or(Some(item.data)),
                _ => {}
            }
        }
        // The name that was seen first stays: traits are on each event of a provider and all
        // contain the same name.
        if let Some(traits) = traits {
            let provider = event.provider();
            if !self.names.contains_key(&provider)
                && let Some(traits) = tracelogging::traits(traits)
                && !traits.name.is_empty()
            {
                self.names.insert(provider, traits.name.into());
            }
        }
        // An event that describes itself is not a chunk of a manifest, regardless of its ID:
        // providers of TraceLogging choose IDs freely, most of them 0.
        if let Some(metadata) = metadata {
            self.blobs
                .observe(event.provider(), metadata, &mut self.problems);
        } else {
            self.observed.manifests.observe(event, &mut self.problems);
        }
    }

    /// Compiles the observed descriptions. Descriptions observed later are unknown to
    /// [`Decoder::plan`] until this is called again.
    pub fn finish_observing(&mut self) {
        let observed = std::mem::take(&mut self.observed);
        let manifests = observed.manifests.finish(&mut self.problems);
        // Names on the events themselves are there already; then the latest manifest counts.
        for (provider, manifest) in manifests.iter().rev() {
            if let Some(name) = &manifest.name {
                self.names
                    .entry(*provider)
                    .or_insert_with(|| Arc::clone(name));
            }
        }
        // Both are kept in one map, in which later entries win: manifests of the providers come
        // last.
        self.add_records(observed.records);
        self.add_manifests(manifests);
        self.blobs.compile(&self.names);
    }

    fn add_records(&mut self, records: Records) {
        let names = &mut self.names;
        let described = records.finish(&mut self.problems, |provider, info| {
            let name = eventinfo::provider_name(info).map(Arc::from);
            if let Some(name) = &name {
                names.entry(provider).or_insert_with(|| Arc::clone(name));
            }
            name
        });
        self.described.extend(described);
    }

    /// Manifests from the providers themselves override the records of the merge step.
    fn add_manifests(&mut self, manifests: Vec<(Guid, Manifest)>) {
        for (provider, manifest) in manifests {
            self.keywords.insert(provider, manifest.keywords);
            for event in manifest.events {
                let key = Key::Manifest(provider, event.id, event.version);
                self.described
                    .insert(key, Described::new(event.schema, event.message.as_deref()));
            }
        }
    }

    /// The plan of an event, from any description; `None` if there is none, and the payload is raw
    /// bytes.
    ///
    /// Searched in this order: its own metadata; files that the user named; the manifest of its
    /// provider in the trace, otherwise EventInfo; the built-in tables. A description that needs
    /// more bytes than the payload has is skipped if a later one matches, because layouts differ
    /// from one version of Windows to the next.
    #[inline]
    #[must_use]
    pub fn plan(&mut self, event: &RawEvent<'_>) -> Option<Arc<Plan>> {
        // An event with metadata of its own has no other description: its ID is arbitrary, so a
        // manifest or table with that number would describe another event.
        if let Some(metadata) = metadata(event) {
            return self.blobs.plan(event, metadata).cloned();
        }
        let Some(key) = Key::of(event.identity()) else {
            return self.built_in_plan(event);
        };
        let given = self
            .given
            .find(key)
            .map(|described| Arc::clone(described.plan(event)));
        let own = self
            .described
            .get(&key)
            .map(|described| Arc::clone(described.plan(event)));
        let payload = event.payload();
        for plan in [&given, &own].into_iter().flatten() {
            if plan.locate(payload, &mut self.spans) {
                return Some(Arc::clone(plan));
            }
        }
        let built_in = self.built_in_plan(event);
        // If no layout matches, the payload is cut short. The nearest description then shows at
        // least the fields that are present.
        let fits = built_in
            .as_ref()
            .is_some_and(|plan| plan.locate(payload, &mut self.spans));
        if fits {
            built_in
        } else {
            given.or(own).or(built_in)
        }
    }

    /// The plan of the built-in tables for an event. Other descriptions are ignored.
    #[must_use]
    pub fn built_in_plan(&mut self, event: &RawEvent<'_>) -> Option<Arc<Plan>> {
        self.tables
            .plan(event.identity(), event.pointer_size(), event.payload())
    }

    fn described(&self, event: &RawEvent<'_>) -> Option<&Arc<Plan>> {
        Some(self.described.get(&Key::of(event.identity())?)?.plan(event))
    }

    /// The plan of a manifest event that the trace itself describes: by the event's own metadata,
    /// the manifest of its provider, or EventInfo generated from a manifest. Chunks of manifests
    /// have none.
    ///
    /// One kind of event always gives the same plan for the same pointer size, so the address of a
    /// plan can be used as its key.
    #[inline]
    #[must_use]
    pub fn own_plan(&self, event: &RawEvent<'_>) -> Option<&Arc<Plan>> {
        let Identity::Manifest { id, .. } = event.identity() else {
            return None;
        };
        if let Some(metadata) = metadata(event) {
            return self.blobs.plan(event, metadata);
        }
        if id == CHUNK_ID {
            None
        } else {
            self.described(event)
        }
    }

    /// The text of an event with its values inserted, if its description has one. `plan` and
    /// `fields` must belong to the event.
    #[must_use]
    pub fn text(
        &mut self,
        event: &RawEvent<'_>,
        plan: &Arc<Plan>,
        fields: &Map<String, Value>,
    ) -> Option<String> {
        let key = Key::of(event.identity())?;
        // The plan determines which description applies.
        let mut described = [self.given.find(key), self.described.get(&key)]
            .into_iter()
            .flatten();
        let described = described.find(|described| Arc::ptr_eq(described.plan(event), plan))?;
        match described.text.as_ref()? {
            Text::Fields(template) => Some(template.with_fields(fields)),
            Text::Wpp(text) => Some(text.of(event, plan, &mut self.spans)),
        }
    }

    /// Name of a provider: from the trace (its events, its manifest, EventInfo), otherwise from
    /// files of the user or the built-in tables.
    #[must_use]
    pub fn provider_name(&self, provider: Guid) -> Option<Arc<str>> {
        let known = || {
            self.given
                .provider_name(provider)
                .or_else(|| self.tables.name(provider).map(Arc::from))
        };
        self.own_provider_name(provider).or_else(known)
    }

    /// Name of a provider, if the trace itself contains it.
    #[must_use]
    pub fn own_provider_name(&self, provider: Guid) -> Option<Arc<str>> {
        self.names.get(&provider).cloned()
    }

    /// The name of a kind of event, from any description. `None` for events that describe
    /// themselves, and if only their number is known.
    #[must_use]
    pub fn kind_name(&mut self, identity: Identity) -> Option<String> {
        let key = Key::of(identity);
        let described =
            key.and_then(|key| self.given.find(key).or_else(|| self.described.get(&key)));
        let plan = match described {
            Some(described) => Some(Arc::clone(by_pointer_size(&described.plans, 8))),
            None => self.tables.plan(identity, 8, &[]),
        };
        names::of_event(identity, plan.as_deref()).map(str::to_owned)
    }

    /// Keywords of a provider whose manifest is in the trace or was named.
    #[must_use]
    pub fn keywords(&self, provider: Guid) -> Option<&ValueMap> {
        self.keywords
            .get(&provider)
            .or_else(|| self.given.keywords(provider))
    }

    /// Descriptions in the trace that could not be used.
    #[must_use]
    pub const fn problems(&self) -> &Problems {
        &self.problems
    }

    /// Number of event kinds that the trace describes, by source.
    #[must_use]
    pub fn described_events(&self) -> Vec<(Source, usize)> {
        let mut counts = vec![(Source::TraceLogging, self.blobs.len())];
        for source in [Source::EventSource, Source::EventInfo] {
            counts.push((
                source,
                self.described
                    .values()
                    .filter(|d| d.source() == source)
                    .count(),
            ));
        }
        counts
    }
}

#[inline]
fn metadata<'a>(event: &RawEvent<'a>) -> Option<&'a [u8]> {
    event.extended().find(kind::EVENT_SCHEMA_TL)
}

/// The key of the events that a record of EventInfo describes; `None` if they need no schema from
/// it.
fn key_of(head: &eventinfo::Head) -> Option<Key> {
    match head.decoding {
        Decoding::Manifest => Some(Key::Manifest(head.provider, head.id, head.version)),
        Decoding::Mof => Some(Key::Classic(head.class, head.opcode, head.version.into())),
        // These events describe themselves, or nothing in the trace does.
        Decoding::TraceLogging | Decoding::Wpp => None,
    }
}
