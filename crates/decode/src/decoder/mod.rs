//! Which schema an event has.

mod blobs;
mod records;

use std::sync::Arc;

use etwkit_etl::wire::extended::kind;
use etwkit_etl::{Guid, Identity, RawEvent};
use rustc_hash::FxHashMap;

use crate::bounds::Problems;
use crate::eventinfo::{self, Decoding};
use crate::eventsource::{self, CHUNK_ID};
use crate::schema::{Schema, Source, ValueMap};
use crate::tables::Tables;
use crate::{Plan, tracelogging};
use blobs::Blobs;
use records::Records;

/// Finds the plan of any event.
///
/// Descriptions of events lie anywhere in a trace, often behind the events. So a trace is read twice: in the
/// first pass each event goes to [`Decoder::observe`], then [`Decoder::finish_observing`] compiles what was
/// found, and in the second pass [`Decoder::plan`] answers with one look into a table.
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
}

/// What the first pass collects.
#[derive(Debug, Default)]
struct Observed {
    manifests: eventsource::Collector,
    records: Records,
}

/// A kind of event that the trace describes; the GUID is that of the provider or of the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Key {
    /// Provider, id, version.
    Manifest(Guid, u16, u8),
    /// Class, opcode, version.
    Classic(Guid, u8, u16),
}

impl Key {
    fn of(identity: Identity) -> Option<Self> {
        match identity {
            Identity::Manifest { provider, id, version, .. } => Some(Self::Manifest(provider, id, version)),
            Identity::Classic { class, opcode, version } => Some(Self::Classic(class, opcode, version)),
            Identity::Kernel { .. } | Identity::Message { .. } => None,
        }
    }
}

/// A schema compiled for both sizes of pointers.
#[derive(Debug)]
struct Described {
    plans: [Arc<Plan>; 2],
    message: Option<Box<str>>,
}

impl Described {
    fn new(schema: Schema, message: Option<Box<str>>) -> Self {
        Self { plans: plans(schema), message }
    }

    fn source(&self) -> Source {
        let [plan, _] = &self.plans;
        plan.schema().source
    }
}

fn plans(schema: Schema) -> [Arc<Plan>; 2] {
    [Arc::new(Plan::new(schema.clone(), 4)), Arc::new(Plan::new(schema, 8))]
}

fn by_pointer_size(plans: &[Arc<Plan>; 2], pointer_size: usize) -> &Arc<Plan> {
    let [narrow, wide] = plans;
    if pointer_size == 4 { narrow } else { wide }
}

impl Decoder {
    /// Knows only what is built in.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Learns from an event; to be called for every event of the trace.
    pub fn observe(&mut self, event: &RawEvent<'_>) {
        if event.kind.is_manifest() {
            self.observe_manifest(event);
        } else if event.kind.is_classic() && event.provider() == eventinfo::CLASS {
            self.observed.records.observe(event, &mut self.problems);
        }
    }

    fn observe_manifest(&mut self, event: &RawEvent<'_>) {
        let (mut metadata, mut traits) = (None, None);
        for item in event.extended() {
            match item.kind {
                kind::EVENT_SCHEMA_TL => metadata = metadata.or(Some(item.data)),
                kind::PROVIDER_TRAITS => traits = traits.or(Some(item.data)),
                _ => {}
            }
        }
        if let Some(traits) = traits {
            let provider = event.provider();
            if !self.names.contains_key(&provider)
                && let Some(traits) = tracelogging::traits(traits)
                && !traits.name.is_empty()
            {
                self.names.insert(provider, traits.name.into());
            }
        }
        if let Some(metadata) = metadata {
            self.blobs.observe(event.provider(), metadata, &mut self.problems);
        } else {
            self.observed.manifests.observe(event, &mut self.problems);
        }
    }

    /// Compiles what was observed. Events that are observed later are not known to [`Decoder::plan`] until
    /// this is called again.
    pub fn finish_observing(&mut self) {
        let observed = std::mem::take(&mut self.observed);
        let manifests = observed.manifests.finish(&mut self.problems);
        // Names on the events themselves are there already; then the latest manifest counts.
        for (provider, manifest) in manifests.iter().rev() {
            if let Some(name) = &manifest.name {
                self.names.entry(*provider).or_insert_with(|| Arc::clone(name));
            }
        }
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

    /// Manifests of the providers themselves win over what the merge step wrote.
    fn add_manifests(&mut self, manifests: Vec<(Guid, eventsource::Manifest)>) {
        for (provider, manifest) in manifests {
            self.keywords.insert(provider, manifest.keywords);
            for event in manifest.events {
                let key = Key::Manifest(provider, event.id, event.version);
                self.described.insert(key, Described::new(event.schema, event.message));
            }
        }
    }

    /// The plan of an event, from whatever describes it; `None` if nothing does, then its payload is raw
    /// bytes.
    ///
    /// In this order: its own metadata, the manifest of its provider, the built-in tables, EventInfo.
    #[inline]
    #[must_use]
    pub fn plan(&mut self, event: &RawEvent<'_>) -> Option<Arc<Plan>> {
        if let Some(metadata) = metadata(event) {
            return self.blobs.plan(event, metadata).cloned();
        }
        let described = self.described(event).cloned();
        if described.as_ref().is_some_and(|plan| plan.schema().source == Source::EventSource) {
            return described;
        }
        self.built_in(event).or(described)
    }

    /// Built-in tables come behind manifests of the providers themselves and before EventInfo, which depends on
    /// the machine that merged the trace.
    fn built_in(&mut self, event: &RawEvent<'_>) -> Option<Arc<Plan>> {
        self.tables.plan(event.identity(), event.pointer_size(), event.payload())
    }

    fn described(&self, event: &RawEvent<'_>) -> Option<&Arc<Plan>> {
        let described = self.described.get(&Key::of(event.identity())?)?;
        Some(by_pointer_size(&described.plans, event.pointer_size()))
    }

    /// The plan of an event of the modern kind that the trace itself describes: by its own metadata, the
    /// manifest of its provider, or EventInfo made from a manifest. Chunks of manifests have none.
    ///
    /// One kind of event always gives the same plan for the same pointer size, so that the address of a plan
    /// can stand for it.
    #[inline]
    #[must_use]
    pub fn own_plan(&self, event: &RawEvent<'_>) -> Option<&Arc<Plan>> {
        let Identity::Manifest { id, .. } = event.identity() else { return None };
        if let Some(metadata) = metadata(event) {
            return self.blobs.plan(event, metadata);
        }
        if id == CHUNK_ID { None } else { self.described(event) }
    }

    /// The text of an event with inserts `%1`, `%2` and so on for its fields, if the trace has one.
    #[must_use]
    pub fn message(&self, event: &RawEvent<'_>) -> Option<&str> {
        self.described.get(&Key::of(event.identity())?)?.message.as_deref()
    }

    /// Name of a provider as the trace has it (from its events, from its manifest, from EventInfo), else as the
    /// built-in tables have it.
    #[must_use]
    pub fn provider_name(&self, provider: Guid) -> Option<Arc<str>> {
        self.own_provider_name(provider).or_else(|| self.tables.name(provider).map(Arc::from))
    }

    /// Name of a provider as far as the trace itself has it.
    #[must_use]
    pub fn own_provider_name(&self, provider: Guid) -> Option<Arc<str>> {
        self.names.get(&provider).cloned()
    }

    /// Keywords of a provider whose manifest is in the trace.
    #[must_use]
    pub fn keywords(&self, provider: Guid) -> Option<&ValueMap> {
        self.keywords.get(&provider)
    }

    /// Descriptions in the trace that could not be used.
    #[must_use]
    pub const fn problems(&self) -> &Problems {
        &self.problems
    }

    /// How many kinds of events the trace describes, by source.
    #[must_use]
    pub fn described_events(&self) -> Vec<(Source, usize)> {
        let mut counts = vec![(Source::TraceLogging, self.blobs.len())];
        for source in [Source::EventSource, Source::EventInfo] {
            counts.push((source, self.described.values().filter(|d| d.source() == source).count()));
        }
        counts
    }
}

#[inline]
fn metadata<'a>(event: &RawEvent<'a>) -> Option<&'a [u8]> {
    event.extended().find(kind::EVENT_SCHEMA_TL)
}

/// Which table a record of EventInfo belongs to; `None` if its events need no schema from it.
fn key_of(head: &eventinfo::Head) -> Option<Key> {
    match head.decoding {
        Decoding::Manifest => Some(Key::Manifest(head.provider, head.id, head.version)),
        Decoding::Mof => Some(Key::Classic(head.class, head.opcode, head.version.into())),
        // These events describe themselves, or nothing in the trace does.
        Decoding::TraceLogging | Decoding::Wpp => None,
    }
}
