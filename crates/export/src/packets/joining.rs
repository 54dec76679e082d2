//! Packets of the NDIS capture, which older versions of Windows log in parts.
//!
//! Keywords encode the link type of a packet, and which of its parts are the first and the last
//! one; since Windows 8.1 each event is both. The parts of a packet come one after the other from
//! one processor.

use std::collections::HashMap;

use super::{Direction, Fields, Interface, Link, Packet, PacketRow, Seen, owner};
use crate::Result;

/// Keyword of the first part of a packet.
pub(super) const START: i64 = 0x4000_0000;
/// Keyword of the last part of a packet.
const END: i64 = 0x8000_0000;
const SEND: i64 = 0x1_0000_0000;
const RECEIVE: i64 = 0x2_0000_0000;
/// Keyword of mobile broadband, whose packets start with the header of IP.
const WIRELESS_WAN: i64 = 0x200;
const NATIVE_802_11: i64 = 0x1_0000;

/// Maximum size of a packet in bytes: Wireshark and libpcap refuse longer ones.
const MAX_PACKET: usize = 262_144;

/// Maximum number of incomplete packets. Real traces have one for each processor.
const MAX_OPEN: usize = 1024;

/// Key of incomplete packets: parts of one packet have the same processor, interface and direction.
type Key = (i64, String, Link, Option<Direction>);

/// A packet of which some parts were seen.
struct IncompletePacket {
    seen: Seen,
    /// Size of all its parts in bytes, including parts that exceed the maximum.
    length: u64,
}

/// Incomplete packets.
#[derive(Default)]
pub(super) struct Joining {
    open: HashMap<Key, IncompletePacket>,
}

impl Joining {
    /// Takes an event, and emits the packet that it completes; `None` for an event that belongs to
    /// no packet.
    pub(super) fn event(
        &mut self,
        row: &PacketRow,
        fields: &Fields,
        unix_ns: u64,
        emit: &mut dyn FnMut(Option<Seen>) -> Result<()>,
    ) -> Result<()> {
        let Some(seen) = part(row, fields, unix_ns) else {
            return emit(None);
        };
        let key = (
            row.cpu,
            seen.interface.name.clone(),
            seen.interface.link,
            seen.packet.direction,
        );
        let length = seen.packet.bytes.len() as u64;
        let mut open = match (row.keyword & START != 0, self.open.remove(&key)) {
            (true, before) => {
                // The last part of the previous packet was lost. The incomplete packet is written
                // with a remark.
                if let Some(before) = before {
                    emit(Some(before.ended(false)))?;
                }
                IncompletePacket { seen, length }
            }
            (false, Some(mut open)) => {
                open.append(&seen.packet, length);
                open
            }
            // Bytes without the first part have no header, so no reader could decode them.
            (false, None) => return emit(None),
        };
        open.seen.packet.bytes.truncate(MAX_PACKET);
        if row.keyword & END != 0 {
            return emit(Some(open.ended(true)));
        }
        // A file can name a new interface in each event and never end a packet. All open ones are
        // then written, since it is not known which of them would still be completed.
        if self.open.len() >= MAX_OPEN {
            self.end(emit)?;
        }
        self.open.insert(key, open);
        Ok(())
    }

    /// Emits incomplete packets, in order of time.
    pub(super) fn end(&mut self, emit: &mut dyn FnMut(Option<Seen>) -> Result<()>) -> Result<()> {
        // The map has no order, and the file has to be the same in every run.
        let mut left: Vec<(Key, IncompletePacket)> = self.open.drain().collect();
        left.sort_by(|(a_key, a), (b_key, b)| {
            let place = |key: &Key, open: &IncompletePacket| (open.seen.packet.unix_ns, key.0);
            place(a_key, a)
                .cmp(&place(b_key, b))
                .then_with(|| a_key.1.cmp(&b_key.1))
        });
        left.into_iter()
            .try_for_each(|(_, open)| emit(Some(open.ended(false))))
    }
}

impl IncompletePacket {
    fn append(&mut self, part: &Packet, length: u64) {
        let packet = &mut self.seen.packet;
        let room = MAX_PACKET.saturating_sub(packet.bytes.len());
        packet.bytes.extend(part.bytes.iter().take(room));
        // A packet is complete at the time of its last part.
        packet.unix_ns = part.unix_ns;
        self.length += length;
    }

    /// Returns the packet with its original length: the capture may cut packets without a mark, but
    /// their headers have the length.
    fn ended(self, is_complete: bool) -> Seen {
        let Self { mut seen, length } = self;
        let packet = &mut seen.packet;
        if !is_complete {
            packet.comment += " Incomplete";
        }
        let logged = u32::try_from(length).unwrap_or(u32::MAX);
        packet.original = length_of(seen.interface.link, &packet.bytes)
            .map_or(logged, |length| length.max(logged));
        if seen.interface.link == Link::WiFi {
            // The capture sees decrypted frames, with the flag of the encrypted frame on the air;
            // readers would take the text for cipher.
            packet
                .bytes
                .get_mut(1)
                .into_iter()
                .for_each(|flags| *flags &= !PROTECTED);
        }
        seen
    }
}

/// Flag of an 802.11 frame whose body is encrypted.
const PROTECTED: u8 = 0x40;

/// Returns the part in an event; `None` if a field is missing.
fn part(row: &PacketRow, fields: &Fields, unix_ns: u64) -> Option<Seen> {
    let miniport = fields.number("MiniportIfIndex")?;
    let lower = fields.number("LowerIfIndex")?;
    let mut name = format!("ndis:{lower}");
    let mut description = String::new();
    if lower != miniport {
        name += &format!(":{miniport}");
        description = format!("filter over interface {miniport}");
    }
    if let Some(port) = fields.number("SourcePortId") {
        name += &format!(":port{port}");
        let texts =
            ["SourceNicName", "SourceNicType", "SourcePortName"].map(|name| fields.text(name));
        let texts: Vec<String> = texts
            .into_iter()
            .flatten()
            .filter(|text| !text.is_empty())
            .collect();
        description = format!("port {port} of a virtual switch: {}", texts.join(", "));
    }
    let has = |keyword: i64| row.keyword & keyword != 0;
    let link = match (has(NATIVE_802_11), has(WIRELESS_WAN)) {
        (true, _) => Link::WiFi,
        (false, true) => Link::Ip,
        (false, false) => Link::Ethernet,
    };
    let direction = match (has(SEND), has(RECEIVE)) {
        (true, false) => Some(Direction::Out),
        (false, true) => Some(Direction::In),
        _ => None,
    };
    let packet = Packet {
        unix_ns,
        bytes: fields.bytes("Fragment")?,
        direction,
        comment: owner(row),
        ..Packet::default()
    };
    Some(Seen {
        interface: Interface {
            name,
            description,
            link,
        },
        packet,
    })
}

/// Returns the length of an IP packet according to its header, including the link header. Packets
/// that the adapter divides have a length of 0.
fn length_of(link: Link, bytes: &[u8]) -> Option<u32> {
    let word = |at: usize| {
        let bytes = bytes.get(at..at.checked_add(2)?)?.first_chunk::<2>()?;
        Some(u32::from(u16::from_be_bytes(*bytes)))
    };
    let begin = match link {
        Link::WiFi => return None,
        Link::Ip => 0,
        Link::Ethernet => {
            let mut at = 12;
            // VLAN tags.
            while matches!(word(at)?, 0x8100 | 0x88A8) {
                at += 4;
            }
            if !matches!(word(at)?, 0x0800 | 0x86DD) {
                return None;
            }
            at + 2
        }
    };
    let length = match bytes.get(begin)? >> 4 {
        4 => word(begin + 2)?,
        // IPv6 counts the bytes after its header of 40 bytes, IPv4 the whole packet.
        6 => word(begin + 4)? + 40,
        _ => return None,
    };
    Some(u32::try_from(begin).ok()? + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_ip_say_how_long_they_are() {
        let ethernet = |tags: &[u8], rest: &[u8]| [&[0; 12], tags, rest].concat();
        let four = [0x45, 0, 5, 0xDC];
        let six = [0x60, 0, 0, 0, 0, 100];
        for (link, bytes, expected) in [
            (
                Link::Ethernet,
                ethernet(&[], &[&[8, 0], &four[..]].concat()),
                Some(14 + 1500),
            ),
            (
                Link::Ethernet,
                ethernet(&[0x81, 0, 0, 1], &[&[8, 0], &four[..]].concat()),
                Some(18 + 1500),
            ),
            (
                Link::Ethernet,
                ethernet(&[], &[&[0x86, 0xDD], &six[..]].concat()),
                Some(14 + 140),
            ),
            (Link::Ip, four.to_vec(), Some(1500)),
            (Link::Ip, six.to_vec(), Some(140)),
            (Link::Ethernet, ethernet(&[], &[8, 6, 0, 1]), None),
            (Link::WiFi, four.to_vec(), None),
            (Link::Ip, vec![0x45, 0], None),
            (Link::Ethernet, [0x81, 0].repeat(4000), None),
            (Link::Ip, Vec::new(), None),
        ] {
            assert_eq!(length_of(link, &bytes), expected, "{link:?} {bytes:?}");
        }
    }
}
