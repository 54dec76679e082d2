//! Names of providers and events without any other description.
//!
//! They are the text files of `data/names/`. A file has one or more blocks:
//!
//! ```text
//! [Microsoft-Windows-Made 0f0e0d0c-0b0a-0908-0706-050403020100]    name and GUID of a provider
//! Request 1=Start 2=Stop 7                                         task, ids with their opcodes
//! - 10=Setup 11-13=Rundown                                         names that belong to no task
//! ```
//!
//! gives `Request/Start`, `Request/Stop`, `Request`, `Setup`, and `Rundown` three times. None of
//! this describes the payload, so it stays raw bytes.

use std::sync::{LazyLock, OnceLock};

use etwkit_etl::{Guid, Identity};
use rustc_hash::FxHashMap;

use crate::eventsource::{CHUNK_ID, CHUNK_OPCODE};
use crate::plan::Plan;
use crate::schema;

const FILES: [&str; 6] = [
    include_str!("data/names/dotnet.txt"),
    include_str!("data/names/kernel.txt"),
    include_str!("data/names/network.txt"),
    include_str!("data/names/security.txt"),
    include_str!("data/names/system.txt"),
    include_str!("data/names/providers.txt"),
];

static PROVIDERS: LazyLock<FxHashMap<Guid, Provider>> = LazyLock::new(|| read(&FILES));

/// The name of [`Source`](crate::Source) if only the name of an event is known.
pub const SOURCE: &str = "names";

/// A provider: its lines as text, parsed when one of its event names is first needed.
#[derive(Debug)]
struct Provider {
    name: &'static str,
    lines: Vec<&'static str>,
    events: OnceLock<FxHashMap<u16, Box<str>>>,
}

impl Provider {
    fn events(&self) -> &FxHashMap<u16, Box<str>> {
        // Thousands of names are built in, and a trace has events of a few providers.
        self.events
            .get_or_init(|| self.lines.iter().flat_map(|line| of_line(line)).collect())
    }
}

fn read(files: &[&'static str]) -> FxHashMap<Guid, Provider> {
    let mut providers = FxHashMap::default();
    for text in files {
        let mut current = None;
        for line in text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            let heading = line
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'));
            if let Some((name, guid)) = heading.and_then(|heading| heading.rsplit_once(' ')) {
                let guid = Guid::literal(guid);
                providers.entry(guid).or_insert_with(|| Provider {
                    name,
                    lines: Vec::new(),
                    events: OnceLock::new(),
                });
                current = Some(guid);
            } else if let Some(provider) = current.and_then(|guid| providers.get_mut(&guid)) {
                provider.lines.push(line);
            }
        }
    }
    providers
}

/// The events of a line: IDs and names.
fn of_line(line: &'static str) -> impl Iterator<Item = (u16, Box<str>)> {
    let mut words = line.split(' ');
    let task = words.next().filter(|task| *task != "-");
    words.filter_map(move |word| of_word(task, word)).flatten()
}

/// IDs that have one name: `1`, `1-3`, `1=Start`, `1-3=Start`.
fn of_word(task: Option<&str>, word: &str) -> Option<impl Iterator<Item = (u16, Box<str>)>> {
    let (ids, opcode) = word
        .split_once('=')
        .map_or((word, None), |(ids, opcode)| (ids, Some(opcode)));
    let (first, last) = ids.split_once('-').unwrap_or((ids, ids));
    let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
    let name: Box<str> = match (task, opcode) {
        (Some(task), Some(opcode)) => format!("{task}/{opcode}").into(),
        (Some(name), None) | (None, Some(name)) => name.into(),
        (None, None) => return None,
    };
    Some((first..=last).map(move |id| (id, name.clone())))
}

/// Name of a well-known provider.
pub(super) fn provider(guid: Guid) -> Option<&'static str> {
    PROVIDERS.get(&guid).map(|provider| provider.name)
}

/// Returns the names of all well-known providers, in no order.
pub fn known_providers() -> impl Iterator<Item = &'static str> {
    PROVIDERS.values().map(|provider| provider.name)
}

/// Name of an event, for events of all sources; `None` if no table has it.
#[must_use]
pub fn of_kind(identity: Identity) -> Option<&'static str> {
    match identity {
        Identity::Manifest {
            id: CHUNK_ID,
            opcode: CHUNK_OPCODE,
            ..
        } => Some("ManifestData"),
        Identity::Manifest { provider, id, .. } => PROVIDERS
            .get(&provider)?
            .events()
            .get(&id)
            .map(|name| &**name),
        Identity::Kernel { .. } | Identity::Classic { .. } | Identity::Message { .. } => None,
    }
}

/// Name of an event: from its description, otherwise from the tables; `None` if both have at most
/// its number.
#[must_use]
pub fn of_event(identity: Identity, plan: Option<&Plan>) -> Option<&str> {
    // A description without a name still has fields. The number then replaces the name, and a name
    // from the tables is better.
    let described = plan
        .map(|plan| &*plan.schema().name)
        .filter(|name| !name.is_empty());
    let Identity::Manifest { id, .. } = identity else {
        return described;
    };
    described
        .filter(|name| **name != *schema::numbered(id))
        .or_else(|| of_kind(identity))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Source;
    use crate::schema::Schema;
    use crate::tables::Tables;

    fn manifest(provider: &str, id: u16) -> Identity {
        Identity::Manifest {
            provider: Guid::literal(provider),
            id,
            version: 0,
            opcode: 0,
        }
    }

    const PKT_MON: &str = "4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac";

    #[test]
    fn a_line_has_a_task_and_ids_with_their_opcodes() {
        let check = |line: &'static str, expected: &[(u16, &str)]| {
            let names: Vec<_> = of_line(line).collect();
            let names: Vec<(u16, &str)> = names.iter().map(|(id, name)| (*id, &**name)).collect();
            assert_eq!(names, expected, "{line}");
        };
        check(
            "Request 1=Start 2=Stop 7",
            &[(1, "Request/Start"), (2, "Request/Stop"), (7, "Request")],
        );
        check(
            "- 10=Setup 11-13=Rundown",
            &[
                (10, "Setup"),
                (11, "Rundown"),
                (12, "Rundown"),
                (13, "Rundown"),
            ],
        );
        check("- 10 x=Setup 70000=Setup", &[]);
    }

    #[test]
    fn every_line_of_every_file_names_events_of_its_own() {
        let tables = Tables::new();
        let (mut seen, mut events) = (BTreeSet::new(), 0);
        for line in FILES
            .iter()
            .flat_map(|text| text.lines())
            .filter(|line| line.starts_with('['))
        {
            assert!(seen.insert(line), "{line} stands there twice");
        }
        for (guid, provider) in PROVIDERS.iter() {
            assert_ne!(*guid, Guid::ZERO, "{}", provider.name);
            assert_eq!(
                tables.name(*guid),
                Some(provider.name),
                "the tables with layouts call it so, too"
            );
            let mut ids = BTreeSet::new();
            for line in &provider.lines {
                let words = line.split(' ').count() - 1;
                let named: Vec<_> = of_line(line).collect();
                assert!(
                    named.len() >= words && words > 0,
                    "{}: {line}",
                    provider.name
                );
                for (id, name) in named {
                    assert!(ids.insert(id), "{}: {id} has two names", provider.name);
                    assert!(
                        !name.is_empty() && name.is_ascii(),
                        "{}: {id}",
                        provider.name
                    );
                }
            }
            events += ids.len();
        }
        assert_eq!(seen.len(), PROVIDERS.len(), "no two names for one provider");
        assert!(
            seen.len() > 700 && events > 5000,
            "{} providers, {events} events",
            seen.len()
        );
    }

    #[test]
    fn worked_examples() {
        for (provider, id, name) in [
            (PKT_MON, 160, "FramePayload"),
            (
                "dd5ef90a-6398-47a4-ad34-4dcecdef795f",
                2,
                "HTTPRequestTraceTask/Parse",
            ),
            (
                "a0c1853b-5c40-4b15-8766-3cf1c58f985a",
                4104,
                "ScriptBlock_Compile_Detail",
            ),
            (
                "43d1a55c-76d6-4f7e-995c-64c711e5cafe",
                200,
                "WININET_HTTP_REQUEST/Start",
            ),
            ("70eb4f03-c1de-4f73-a051-33d13d5413bd", 7, "QueryValueKey"),
            ("1c95126e-7eea-49a9-a3fe-a378b03ddb4d", 3008, "Query/Stop"),
            (
                "763fd754-7086-4dfe-95eb-c01a46faf4ca",
                196,
                "Binding/FusionMessage",
            ),
            (
                "315a8872-923e-4ea2-9889-33cd4754bf64",
                147,
                "ImmersiveShellAppManagerSetActiveProcess/Start",
            ),
            (
                "de7b24ea-73c8-4a09-985d-5bdadcfa9017",
                129,
                "TaskProcessCreated",
            ),
        ] {
            assert_eq!(of_kind(manifest(provider, id)), Some(name));
        }
        assert_eq!(of_kind(manifest(PKT_MON, 161)), None);
        assert_eq!(
            of_kind(manifest("00000000-0000-0000-0000-000000000001", 160)),
            None
        );
        let chunk = |opcode| Identity::Manifest {
            provider: Guid::ZERO,
            id: CHUNK_ID,
            version: 1,
            opcode,
        };
        assert_eq!(
            (of_kind(chunk(CHUNK_OPCODE)), of_kind(chunk(0))),
            (Some("ManifestData"), None)
        );
    }

    /// The name in the trace comes first, and its number last.
    #[test]
    fn a_name_that_the_description_has_wins() {
        let described = |name: &str| {
            let schema = Schema {
                provider: Guid::literal(PKT_MON),
                provider_name: None,
                name: name.into(),
                source: Source::EventInfo,
                fields: Vec::new(),
                slots: 0,
            };
            Plan::new(schema, 8)
        };
        let check = |id: u16, name: &str, expected: Option<&str>| {
            let plan = described(name);
            assert_eq!(
                of_event(manifest(PKT_MON, id), Some(&plan)),
                expected,
                "{id} {name}"
            );
        };
        check(160, "Packet", Some("Packet"));
        check(160, "EventID(160)", Some("FramePayload"));
        check(160, "", Some("FramePayload"));
        check(161, "EventID(161)", None);
        // Another number is a name.
        check(160, "EventID(161)", Some("EventID(161)"));
        assert_eq!(of_event(manifest(PKT_MON, 160), None), Some("FramePayload"));
    }
}
