//! Packets in the events of two Windows drivers: Packet Monitor (Microsoft-Windows-PktMon) and the
//! capture of NDIS (Microsoft-Windows-NDIS-PacketCapture).
//!
//! Both are rows of `generic_event`, with the bytes of a packet, or of a part of it, as hexadecimal
//! digits.

mod joining;
mod pktmon;

use std::collections::HashMap;

use etwkit_question::FromRows;
use etwkit_questions::cpu::Metric;
use etwkit_sql::Session;
use serde_json::{Map, Value};

use crate::profile::ExportRequest;
use crate::text::visible;
use crate::{Error, Result};
use joining::Joining;
use pktmon::Components;

const PKT_MON: &str = "4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac";
const NDIS: &str = "2ed6006e-4729-4609-b423-3ee7bcd678ef";

/// Events that are packets or parts of one: frames that Packet Monitor saw or that were dropped;
/// fragments of the NDIS capture, including those of a virtual switch.
const PACKET_EVENTS: [(&str, &str); 2] = [(PKT_MON, "160, 170"), (NDIS, "1001, 1003")];

/// Maximum number of interfaces of one file. Real traces have some dozen; a file may claim as many
/// as there are numbers.
const MAX_INTERFACES: usize = 4096;

/// Maximum number of characters of a name from the trace.
const MAX_NAME: usize = 200;

/// A consumer of packets, in order of time.
pub trait Packets {
    /// Writes an interface: the first one is 0, the next one 1 and so on.
    ///
    /// # Errors
    /// Nothing more can be written.
    fn interface(&mut self, interface: &Interface) -> Result<()>;

    /// Writes a packet of an interface that was written before.
    ///
    /// # Errors
    /// Nothing more can be written.
    fn packet(&mut self, interface: u32, packet: &Packet) -> Result<()>;

    /// Writes the end of the file, after the last packet.
    ///
    /// # Errors
    /// Nothing more can be written.
    fn end(self: Box<Self>) -> Result<()>;
}

/// The interface at which packets were seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Its name, made of its numbers in the trace.
    pub name: String,
    /// Its description in the trace.
    pub description: String,
    /// Link type of its packets.
    pub link: Link,
}

/// The link type of packets: the header that they start with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Link {
    /// The header of an Ethernet frame.
    Ethernet,
    /// The header of an 802.11 frame.
    WiFi,
    /// The header of IPv4 or IPv6.
    Ip,
}

/// The direction of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Towards the machine.
    In,
    /// Away from it.
    Out,
}

/// A packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packet {
    /// Time of its event, in nanoseconds since 1970.
    pub unix_ns: u64,
    /// Its logged bytes.
    pub bytes: Vec<u8>,
    /// Original number of bytes; never less than were logged.
    pub original: u32,
    /// Its direction, if it is in the trace.
    pub direction: Option<Direction>,
    /// Id; equal for a packet that was seen at several interfaces.
    pub id: Option<u64>,
    /// The thread on the processor, and further data of the trace.
    pub comment: String,
}

/// Numbers of written packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PacketSums {
    /// Number of packets.
    pub packets: u64,
    /// Number of their logged bytes.
    pub bytes: u64,
    /// Number of interfaces.
    pub interfaces: usize,
    /// Number of events without a packet that can be written: with an unknown link type, without
    /// decoded fields, or parts of a packet whose start is missing.
    pub left_out: u64,
}

etwkit_question::declare! {
    /// An event with a packet or a part of one.
    pub(crate) row PacketRow {
        ts_ns: i64 = "When.",
        cpu: i64 = "Processor.",
        pid: Option<i64> = "Process id.",
        process: Option<String> = "File name of the executable.",
        tid: Option<i64> = "Thread id.",
        provider_guid: String = "GUID of the provider.",
        event_id: i64 = "Id of the event.",
        keyword: i64 = "Keyword as bit pattern.",
        fields: Option<String> = "Fields as JSON.",
    }

    /// Number of events with packets.
    row PacketCount {
        events: i64 = "Events.",
    }
}

/// A packet or a part of one, from an event.
pub(crate) struct Seen {
    interface: Interface,
    packet: Packet,
}

/// The selected packets, not read yet.
pub(crate) struct PacketQuery<'s> {
    session: &'s Session,
    sql: String,
    components: Components,
    recording: crate::Recording,
}

/// Finds the selected packets.
///
/// # Errors
/// An option has no meaning for packets; the trace has no packets at all, or the extract lacks
/// their events.
pub(crate) fn find<'s>(
    request: &ExportRequest,
    format: &'static str,
    session: &'s Session,
) -> Result<PacketQuery<'s>> {
    let refused = |option| Error::NotOf { option, format };
    if request.metric != Metric::Cpu {
        return Err(refused("--metric"));
    }
    if request.thread_roots {
        return Err(refused("--per-thread"));
    }
    if request.tags.tags.is_some() {
        return Err(refused("--tag"));
    }
    let events = PACKET_EVENTS
        .map(|(guid, ids)| format!("g.provider_guid = '{guid}' AND g.event_id IN ({ids})"));
    let events = format!("({})", events.join(" OR "));
    let counts: Vec<PacketCount> = etwkit_question::ask(
        session,
        &format!("SELECT count(*) AS events FROM generic_event g WHERE {events}"),
    )?;
    if counts.iter().all(|count| count.events == 0) {
        let missing = if session.leaves_out("generic_event") {
            etwkit_question::Error::NeedsRows { what: "packets" }
        } else {
            etwkit_question::Error::NotRecorded {
                what: "packets",
                how: HOW_TO_RECORD,
                tables: Vec::new(),
            }
        };
        return Err(missing.of(session).into());
    }
    // Only the count above is for the whole trace: if the chosen processes or range have no
    // packets, the file is empty, without a hint that the recording lacks them.
    let mut conditions = vec![events];
    // Parts of one packet may have the same time. The first part sorts before the others, which are
    // left out without a first part before them.
    let ExportRequest {
        processes, time, ..
    } = request;
    conditions.extend(processes.conditions());
    if time.min > i64::MIN {
        conditions.push(format!("g.ts_ns >= {}", time.min));
    }
    if time.max < i64::MAX {
        conditions.push(format!("g.ts_ns <= {}", time.max));
    }
    let sql = format!(
        "SELECT g.ts_ns, g.cpu, p.pid, p.name AS process, t.tid, g.provider_guid, g.event_id, g.keyword, g.fields
FROM generic_event g
LEFT JOIN process p ON p.process_key = g.process_key
LEFT JOIN thread t ON t.thread_key = g.thread_key
WHERE {}
ORDER BY g.ts_ns, g.cpu, g.keyword & {} DESC",
        conditions.join(" AND "),
        joining::START,
    );
    Ok(PacketQuery {
        session,
        sql,
        // Read ahead of the packets: names of components are logged when Packet Monitor is stopped,
        // after all packets.
        components: Components::of(session)?,
        recording: crate::Recording::of(session)?,
    })
}

/// The recording that has packets.
const HOW_TO_RECORD: &str = "record with pktmon start --capture (and pktmon stop), or netsh trace start capture=yes (and netsh trace stop), \
     as administrator";

impl PacketQuery<'_> {
    /// Reads the packets and passes them on.
    ///
    /// # Errors
    /// Reading fails, or nothing more can be written.
    pub(crate) fn write(self, packets: Box<dyn Packets + '_>) -> Result<PacketSums> {
        let mut out = Out {
            packets,
            interfaces: HashMap::new(),
            sums: PacketSums::default(),
        };
        let mut joining = Joining::default();
        for batch in self.session.sql(&self.sql)? {
            for row in PacketRow::read(&batch?)? {
                let fields: Option<Map<String, Value>> = row
                    .fields
                    .as_deref()
                    .and_then(|fields| serde_json::from_str(fields).ok());
                let Some(fields) = fields.map(Fields) else {
                    // Without its fields an event has no bytes of a packet.
                    out.sums.left_out += 1;
                    continue;
                };
                let unix_ns = self.recording.unix_ns(row.ts_ns);
                if row.provider_guid == PKT_MON {
                    out.seen(self.components.packet(&row, &fields, unix_ns))?;
                } else {
                    joining.event(&row, &fields, unix_ns, &mut |seen| out.seen(seen))?;
                }
            }
        }
        // Packets that are still open lack their last part, which was lost or is after the end of
        // the trace.
        joining.end(&mut |seen| out.seen(seen))?;
        out.packets.end()?;
        out.sums.interfaces = out.interfaces.len();
        Ok(out.sums)
    }
}

/// The output of packets.
struct Out<'o> {
    packets: Box<dyn Packets + 'o>,
    interfaces: HashMap<(String, Link), u32>,
    sums: PacketSums,
}

impl Out<'_> {
    fn seen(&mut self, seen: Option<Seen>) -> Result<()> {
        let Some(Seen { interface, packet }) = seen else {
            self.sums.left_out += 1;
            return Ok(());
        };
        // An interface of a file has one link type. If a trace has packets of two types for one
        // name, they become two interfaces.
        let key = (interface.name.clone(), interface.link);
        let number = match self.interfaces.get(&key) {
            Some(number) => *number,
            None if self.interfaces.len() >= MAX_INTERFACES => {
                self.sums.left_out += 1;
                return Ok(());
            }
            None => {
                self.packets.interface(&interface)?;
                let number = u32::try_from(self.interfaces.len()).map_err(|_| Error::Format)?;
                self.interfaces.insert(key, number);
                number
            }
        };
        self.packets.packet(number, &packet)?;
        self.sums.packets += 1;
        self.sums.bytes += packet.bytes.len() as u64;
        Ok(())
    }
}

/// The fields of an event.
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    /// Returns a number; `None` if it is not one, or if a name replaces it.
    fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    /// Returns a text that is safe to show.
    fn text(&self, name: &str) -> Option<String> {
        self.0
            .get(name)?
            .as_str()
            .map(|text| visible(text, MAX_NAME))
    }

    /// Returns a number or its name in the trace, in lower case.
    fn word(&self, name: &str) -> Option<String> {
        match self.0.get(name)? {
            Value::String(text) => Some(visible(text, MAX_NAME).to_lowercase()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// Returns bytes written as hexadecimal digits; `None` for any other text.
    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let digits = self.0.get(name)?.as_str()?.as_bytes();
        let (pairs, rest) = digits.as_chunks::<2>();
        let digit = |digit: u8| {
            char::from(digit)
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        };
        let byte = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
        if rest.is_empty() {
            pairs.iter().map(byte).collect()
        } else {
            None
        }
    }
}

/// Returns the thread that was on the processor when a packet was logged: it seldom sent the packet
/// or waits for it.
fn owner(row: &PacketRow) -> String {
    let id = |id: Option<i64>| id.map_or_else(|| "?".to_owned(), |id| id.to_string());
    let process = row.process.as_deref().map_or_else(String::new, |process| {
        format!(" Process={}", visible(process, MAX_NAME))
    });
    format!("PID={} TID={}{}", id(row.pid), id(row.tid), process)
}
