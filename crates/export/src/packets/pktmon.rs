//! Packets of Packet Monitor: each is logged once for each component of the network stack that it
//! passes.

use std::collections::HashMap;

use etwkit_sql::Session;

use super::{
    Direction, Fields, Interface, Link, MAX_INTERFACES, PKT_MON, Packet, PacketRow, Seen, owner,
};
use crate::Result;

/// Event ids for a component, and for an edge of one.
const COMPONENT: i64 = 20;
const EDGE: i64 = 90;

etwkit_question::declare! {
    /// An event about a component or one of its edges.
    row ComponentRow {
        event_id: i64 = "Id of the event.",
        fields: String = "Fields as JSON.",
    }
}

/// Names of components and their edges. Packet Monitor logs them when it is stopped.
#[derive(Debug, Default)]
pub(crate) struct Components {
    components: HashMap<u64, String>,
    edges: HashMap<(u64, u64), String>,
}

impl Components {
    /// Reads the components that a trace describes.
    ///
    /// # Errors
    /// The query fails.
    pub(crate) fn of(session: &Session) -> Result<Self> {
        let sql = format!(
            "SELECT event_id, fields FROM generic_event
WHERE provider_guid = '{PKT_MON}' AND event_id IN ({COMPONENT}, {EDGE}) AND fields IS NOT NULL
ORDER BY ts_ns"
        );
        let mut all = Self::default();
        for row in etwkit_question::ask::<ComponentRow>(session, &sql)? {
            if let Ok(fields) = serde_json::from_str(&row.fields) {
                all.learn(row.event_id, &Fields(fields));
            }
        }
        Ok(all)
    }

    fn learn(&mut self, event_id: i64, fields: &Fields) {
        // A file may describe as many components as there are numbers; beyond this bound they have
        // no description.
        if self.components.len().max(self.edges.len()) >= 16 * MAX_INTERFACES {
            return;
        }
        if event_id == COMPONENT {
            let (Some(id), Some(name)) = (fields.number("Id"), fields.text("Name")) else {
                return;
            };
            let description = fields
                .text("Description")
                .filter(|text| !text.is_empty() && *text != name);
            let text = description.map_or_else(|| name.clone(), |text| format!("{text} ({name})"));
            self.components.insert(id, text);
        } else if let (Some(id), Some(edge)) =
            (fields.number("ComponentId"), fields.number("EdgeId"))
        {
            self.edges
                .extend(fields.text("EdgeName").map(|name| ((id, edge), name)));
        }
    }

    /// Returns the packet of an event; `None` if packet files do not have its link type, or if a
    /// field is missing.
    pub(crate) fn packet(&self, row: &PacketRow, fields: &Fields, unix_ns: u64) -> Option<Seen> {
        let component = fields.number("ComponentId")?;
        let edge = fields.number("EdgeId")?;
        let mut description = self
            .components
            .get(&component)
            .map_or_else(String::new, String::clone);
        if let Some(name) = self.edges.get(&(component, edge)) {
            description = format!("{description}, edge {name}");
        }
        let interface = Interface {
            name: format!("pktmon:{component}:{edge}"),
            description,
            link: link(&fields.word("PacketType")?)?,
        };
        let bytes = fields.bytes("Payload")?;
        let logged = u32::try_from(bytes.len()).ok()?;
        let original = fields
            .number("OriginalPayloadSize")
            .and_then(|size| u32::try_from(size).ok());
        let (group, number) = (fields.number("PktGroupId"), fields.number("PktNumber"));
        let packet = Packet {
            unix_ns,
            bytes,
            original: original.map_or(logged, |size| size.max(logged)),
            direction: fields.word("DirTag").as_deref().and_then(direction),
            // Numbers count within a group, and have 16 bits.
            id: group
                .zip(number)
                .map(|(group, number)| group << 16 | number & 0xFFFF),
            comment: comment(row, fields),
        };
        Some(Seen { interface, packet })
    }
}

/// Returns the link type of a packet type, given by its number or by its name in traces. Packets of
/// other types start after the network headers.
fn link(word: &str) -> Option<Link> {
    match word {
        "1" | "ethernet" => Some(Link::Ethernet),
        "2" | "wifi" | "wi-fi" => Some(Link::WiFi),
        "3" | "ip" => Some(Link::Ip),
        _ => None,
    }
}

/// Parses directions, by their numbers or names.
fn direction(word: &str) -> Option<Direction> {
    match word {
        "1" | "in" | "3" | "rx" | "5" | "ingress" => Some(Direction::In),
        "2" | "out" | "4" | "tx" | "6" | "egress" => Some(Direction::Out),
        _ => None,
    }
}

fn comment(row: &PacketRow, fields: &Fields) -> String {
    let mut comment = owner(row);
    for (word, field) in [
        ("Group", "PktGroupId"),
        ("Packet", "PktNumber"),
        ("Appearance", "AppearanceCount"),
        ("Filter", "FilterId"),
    ] {
        if let Some(number) = fields.number(field) {
            comment += &format!(" {word}={number}");
        }
    }
    let drop = fields
        .word("DropReason")
        .filter(|reason| reason != "0" && reason != "unspecified");
    // Event 170 is a drop by itself. Event 160 has the field too, where it can mean that nothing
    // was dropped.
    let is_dropped = row.event_id == 170 || drop.is_some();
    if is_dropped {
        let word = |name| fields.word(name).unwrap_or_else(|| "?".to_owned());
        comment += &format!(
            " Dropped={} Location={}",
            word("DropReason"),
            word("DropLocation")
        );
    }
    comment
}
