//! Number of events of each kind in a session.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::ControlFlow;
use std::sync::Arc;

use etwkit_decode::{Decoder, Descriptions, Plan};
use etwkit_etl::{Guid, Identity, Order, RawEvent, Session};
use serde::{Serialize, Serializer};

use super::damage::{self, DamageReport};
use super::events::{EventFilter, Events};
use crate::counts::{Counts, provider_key};
use crate::health;
use crate::table::Diagnostic;

/// The counts of a session, and its gaps.
#[derive(Debug, Clone, Serialize)]
pub struct CountReport {
    /// The counts.
    pub counts: EventCounts,
    /// Damage in the files.
    pub damage: DamageReport,
    /// Lost and missing data, in words.
    #[serde(skip)]
    pub gaps: Vec<Diagnostic>,
}

/// Events by header, processor and kind, each list in its order.
#[derive(Debug, Clone, Serialize)]
pub struct EventCounts {
    /// All events, the header event included.
    pub total: u64,
    /// Counts by kind of header; serialized as an object by name.
    #[serde(serialize_with = "object")]
    pub by_header: Vec<HeaderCount>,
    /// Counts by processor of the buffer; serialized as an object by number.
    #[serde(serialize_with = "object")]
    pub by_cpu: Vec<CpuCount>,
    /// Kernel events; serialized as an object by `group/opcode/version`.
    #[serde(serialize_with = "object")]
    pub kernel: Vec<KernelCount>,
    /// Other events; serialized as an object by `guid/id/version/opcode`.
    #[serde(serialize_with = "object")]
    pub provider: Vec<ProviderEvents>,
}

/// Events with one kind of header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderCount {
    /// Name of the kind.
    pub name: &'static str,
    /// Number of events.
    pub events: u64,
}

/// Events in buffers of one processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuCount {
    /// Number of the processor.
    pub cpu: u16,
    /// Number of events.
    pub events: u64,
}

/// Kernel events of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelCount {
    /// Group of the hook ID.
    pub group: u8,
    /// Type of the hook ID.
    pub opcode: u8,
    /// Version of the event.
    pub version: u8,
    /// Number of events.
    pub events: u64,
    /// Name of the event; empty if there is none, or names were not requested.
    pub name: String,
}

/// Events of a provider or class of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderEvents {
    /// GUID of the provider, class or message.
    pub provider: String,
    /// ID of the event; 0 for classic events.
    pub id: u16,
    /// Version; 0 for messages.
    pub version: u16,
    /// Opcode; 0 for messages.
    pub opcode: u8,
    /// Number of events.
    pub events: u64,
    /// Name of the provider; empty if there is none, or names were not requested.
    pub name: String,
    /// Name of the event; empty if there is none, if each event describes itself, or if names were
    /// not requested.
    pub event: String,
}

/// Options for counting events.
#[derive(Debug, Clone, Default)]
pub struct Counting {
    /// True to read in the order of the files instead of order of time: faster, with the same
    /// counts.
    pub unordered: bool,
    /// True to look up the names of the kinds.
    pub names: bool,
    /// Descriptions of events from files.
    pub descriptions: Arc<Descriptions>,
}

impl CountReport {
    /// Counts the events that the filter accepts. Without a filter one pass over the session is
    /// enough.
    ///
    /// # Errors
    /// [`etwkit_etl::Error::Io`] if the system cannot read a file.
    pub fn read(
        session: &Session,
        counting: &Counting,
        filter: &EventFilter<'_>,
    ) -> etwkit_etl::Result<Self> {
        if filter.asks() || filter.limit.is_some() {
            let events = Events::open(session, Arc::clone(&counting.descriptions))?;
            return events.count(filter, counting.unordered);
        }
        let order = if counting.unordered {
            Order::File
        } else {
            Order::Time
        };
        let mut counted = Counts::default();
        let mut names = Names::new(Decoder::with(Arc::clone(&counting.descriptions)));
        let pass = session.for_each(order, |event| {
            let is_new = counted.add(event);
            if counting.names {
                names.observe(event, is_new);
            }
            ControlFlow::Continue(())
        })?;
        names.decoder.finish_observing();
        let damage = damage::of_pass(session, &pass);
        let last = counted.times().map(|(_, last)| last);
        Ok(Self {
            counts: EventCounts::of(&counted, Some(&mut names).filter(|_| counting.names)),
            damage: DamageReport::from(&damage),
            gaps: health::of(session, &damage, last),
        })
    }
}

impl EventCounts {
    pub(crate) fn of(counts: &Counts, mut names: Option<&mut Names>) -> Self {
        let event_names = names
            .as_mut()
            .map_or_else(BTreeMap::new, |names| names.of_events(counts));
        let names = names.as_deref();
        let kernel = |((group, opcode, version), events): ((u8, u8, u8), u64)| KernelCount {
            group,
            opcode,
            version,
            events,
            name: names.map_or_else(String::new, |names| {
                names.of_kernel((group, opcode, version))
            }),
        };
        let other = |((provider, id, version, opcode), events): ((String, u16, u16, u8), u64)| {
            let name = names.map_or_else(String::new, |names| names.of_provider(&provider));
            let key = (provider, id, version, opcode);
            // Most events of providers without a manifest have no name.
            let event = event_names.get(&key).cloned().unwrap_or_default();
            let (provider, ..) = key;
            ProviderEvents {
                provider,
                id,
                version,
                opcode,
                events,
                name,
                event,
            }
        };
        let headers = counts.headers().into_iter();
        Self {
            total: counts.total(),
            by_header: headers
                .map(|(kind, events)| HeaderCount {
                    name: kind.name(),
                    events,
                })
                .collect(),
            by_cpu: counts
                .cpus()
                .into_iter()
                .map(|(cpu, events)| CpuCount { cpu, events })
                .collect(),
            kernel: counts.kernel().into_iter().map(kernel).collect(),
            provider: counts.provider().into_iter().map(other).collect(),
        }
    }
}

/// Names of the counted kinds.
pub(crate) struct Names {
    decoder: Decoder,
    /// By group, opcode and version; empty if nothing names it.
    kernel: BTreeMap<(u8, u8, u8), String>,
}

impl Names {
    const fn new(decoder: Decoder) -> Self {
        Self {
            decoder,
            kernel: BTreeMap::new(),
        }
    }

    /// Names from the plans of the event kinds seen.
    pub(super) fn of_plans(
        decoder: Decoder,
        kinds: impl IntoIterator<Item = (Identity, Option<Arc<Plan>>)>,
    ) -> Self {
        let named = |(identity, plan): (Identity, Option<Arc<Plan>>)| match identity {
            Identity::Kernel {
                group,
                opcode,
                version,
            } => Some(((group, opcode, version), name(plan))),
            _ => None,
        };
        Self {
            decoder,
            kernel: kinds.into_iter().filter_map(named).collect(),
        }
    }

    /// Learns from an event. Must be called for every event. `is_new` is true for the first event
    /// of its kind.
    #[inline]
    fn observe(&mut self, event: &RawEvent<'_>, is_new: bool) {
        // Layouts of kernel events are built in: one event of each kind is enough. Other events may
        // describe later ones.
        if is_new || !event.kind.is_kernel() {
            self.learn(event);
        }
    }

    #[inline(never)]
    fn learn(&mut self, event: &RawEvent<'_>) {
        self.decoder.observe(event);
        if let Identity::Kernel {
            group,
            opcode,
            version,
        } = event.identity()
            && let Entry::Vacant(entry) = self.kernel.entry((group, opcode, version))
        {
            entry.insert(name(self.decoder.plan(event)));
        }
    }

    fn of_kernel(&self, key: (u8, u8, u8)) -> String {
        self.kernel.get(&key).cloned().unwrap_or_default()
    }

    /// Names of events outside the kernel, by the key by which they are counted.
    fn of_events(&mut self, counts: &Counts) -> BTreeMap<(String, u16, u16, u8), String> {
        let mut names = BTreeMap::new();
        for (identity, _) in counts.identities() {
            let Some(key) = provider_key(identity) else {
                continue;
            };
            if let Some(name) = self.decoder.kind_name(identity) {
                // A class and a provider that share a GUID are counted together.
                names.entry(key).or_insert(name);
            }
        }
        names
    }

    fn of_provider(&self, guid: &str) -> String {
        let known = guid
            .parse::<Guid>()
            .ok()
            .and_then(|guid| self.decoder.provider_name(guid));
        known.map_or_else(String::new, |name| name.to_string())
    }
}

/// The name of the event in a plan; empty if there is none.
fn name(plan: Option<Arc<Plan>>) -> String {
    plan.map_or_else(String::new, |plan| plan.schema().name.to_string())
}

/// A count with its name in machine-readable output.
trait Keyed {
    fn entry(&self) -> (String, u64);
}

impl Keyed for HeaderCount {
    fn entry(&self) -> (String, u64) {
        (self.name.to_owned(), self.events)
    }
}

impl Keyed for CpuCount {
    fn entry(&self) -> (String, u64) {
        (self.cpu.to_string(), self.events)
    }
}

impl Keyed for KernelCount {
    fn entry(&self) -> (String, u64) {
        (
            format!("{}/{}/{}", self.group, self.opcode, self.version),
            self.events,
        )
    }
}

impl Keyed for ProviderEvents {
    fn entry(&self) -> (String, u64) {
        (
            format!(
                "{}/{}/{}/{}",
                self.provider, self.id, self.version, self.opcode
            ),
            self.events,
        )
    }
}

fn object<T: Keyed, S: Serializer>(counts: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().map(Keyed::entry))
}
