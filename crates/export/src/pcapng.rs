//! Packets for Wireshark and others, as pcapng: a section, then interfaces and packets in blocks.
//!
//! The layout follows the Internet draft (draft-ietf-opsawg-pcapng), in little-endian order.
//! Interfaces are written before their first packet, so that nothing has to be read twice. Times
//! are nanoseconds.

use std::io::Write;

use crate::packets::{Direction, Interface, Link, Packet, Packets};
use crate::profile::{Format, Head, Takes, Writer};
use crate::text::visible;
use crate::{Error, Result};

/// The format.
pub(crate) struct Pcapng;

/// Types of blocks.
mod block {
    pub(super) const SECTION: u32 = 0x0A0D_0D0A;
    pub(super) const INTERFACE: u32 = 1;
    pub(super) const ENHANCED_PACKET: u32 = 6;
}

/// Codes of options, whose meaning depends on the type of block, except for the comment.
mod option {
    pub(super) const END: u16 = 0;
    pub(super) const COMMENT: u16 = 1;
    pub(super) const SECTION_SYSTEM: u16 = 3;
    pub(super) const SECTION_PROGRAM: u16 = 4;
    pub(super) const INTERFACE_NAME: u16 = 2;
    pub(super) const INTERFACE_DESCRIPTION: u16 = 3;
    pub(super) const INTERFACE_RESOLUTION: u16 = 9;
    pub(super) const PACKET_FLAGS: u16 = 2;
    pub(super) const PACKET_ID: u16 = 5;
}

/// The magic number by which readers detect the byte order.
const BYTE_ORDER: u32 = 0x1A2B_3C4D;

/// Resolution of times: units of 10⁻⁹ s.
const RESOLUTION: u8 = 9;

/// Maximum number of characters of a text.
const MAX_TEXT: usize = 1000;

impl Format for Pcapng {
    fn name(&self) -> &'static str {
        "pcapng"
    }

    fn sentence(&self) -> &'static str {
        "Packets for Wireshark and others, of recordings with Packet Monitor or netsh trace"
    }

    fn takes(&self) -> Takes {
        Takes::Packets
    }

    fn begin<'o>(&self, out: &'o mut dyn Write, head: &Head<'_>) -> Result<Writer<'o>> {
        let mut section = Block::new(block::SECTION);
        section.u32(BYTE_ORDER);
        // Version 1.0, and a section whose length is not known yet.
        section.bytes(&[1, 0, 0, 0]);
        section.u64(u64::MAX);
        section.text(
            option::COMMENT,
            &format!("{}: {}", head.recording.file_name, head.name),
        );
        if let Some(version) = &head.recording.os_version {
            section.text(option::SECTION_SYSTEM, &format!("Windows {version}"));
        }
        section.text(
            option::SECTION_PROGRAM,
            concat!("etwkit ", env!("CARGO_PKG_VERSION")),
        );
        section.write(out)?;
        Ok(Writer::Packets(Box::new(Blocks { out })))
    }
}

struct Blocks<'o> {
    out: &'o mut dyn Write,
}

impl Packets for Blocks<'_> {
    fn interface(&mut self, interface: &Interface) -> Result<()> {
        let mut block = Block::new(block::INTERFACE);
        let link: u16 = match interface.link {
            Link::Ethernet => 1,
            Link::Ip => 101,
            Link::WiFi => 105,
        };
        block.bytes(&link.to_le_bytes());
        block.bytes(&[0, 0]);
        // No limit to the bytes of a packet.
        block.u32(0);
        block.text(option::INTERFACE_NAME, &interface.name);
        if !interface.description.is_empty() {
            block.text(option::INTERFACE_DESCRIPTION, &interface.description);
        }
        block.option(option::INTERFACE_RESOLUTION, &[RESOLUTION]);
        block.write(self.out)
    }

    fn packet(&mut self, interface: u32, packet: &Packet) -> Result<()> {
        let mut block = Block::new(block::ENHANCED_PACKET);
        block.u32(interface);
        // The upper half of the time comes first.
        block.u32((packet.unix_ns >> 32) as u32);
        block.u32(packet.unix_ns as u32);
        block.u32(u32::try_from(packet.bytes.len()).map_err(|_| Error::Format)?);
        block.u32(packet.original);
        block.bytes(&packet.bytes);
        block.pad();
        if let Some(direction) = packet.direction {
            let flags: u32 = if direction == Direction::In { 1 } else { 2 };
            block.option(option::PACKET_FLAGS, &flags.to_le_bytes());
        }
        if let Some(id) = packet.id {
            block.option(option::PACKET_ID, &id.to_le_bytes());
        }
        block.text(option::COMMENT, &packet.comment);
        block.write(self.out)
    }

    fn end(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// A block that is being built: the bytes between its two lengths.
struct Block {
    kind: u32,
    body: Vec<u8>,
}

impl Block {
    fn new(kind: u32) -> Self {
        Self {
            kind,
            body: Vec::new(),
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.body.extend(bytes);
    }

    fn u32(&mut self, number: u32) {
        self.bytes(&number.to_le_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// Pads to 32 bits.
    fn pad(&mut self) {
        self.body.resize(self.body.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        // The length of an option has 16 bits.
        let value = value.get(..usize::from(u16::MAX)).unwrap_or(value);
        self.bytes(&code.to_le_bytes());
        self.bytes(&(value.len() as u16).to_le_bytes());
        self.bytes(value);
        self.pad();
    }

    /// Adds a text, which is ended only by its length.
    fn text(&mut self, code: u16, text: &str) {
        self.option(code, visible(text, MAX_TEXT).as_bytes());
    }

    /// Writes the block, which ends with options.
    fn write(mut self, out: &mut dyn Write) -> Result<()> {
        self.option(option::END, &[]);
        // The type and the two lengths have four bytes each. The length is at both ends, so that
        // readers can go backwards.
        let length = u32::try_from(self.body.len() + 12)
            .map_err(|_| Error::Format)?
            .to_le_bytes();
        let parts = [&self.kind.to_le_bytes(), &length[..], &self.body, &length];
        parts
            .iter()
            .try_for_each(|part| out.write_all(part))
            .map_err(Error::Write)
    }
}
