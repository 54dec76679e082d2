//! A payload with substitutes, which may have other lengths than the texts that they replace.

use std::net::IpAddr;

use etwkit_decode::Plan;
use etwkit_etl::bytes::u16_at;

use super::fields::{Deed, Place, Room, places};
use super::hint::Hint;
use super::text::{Subject, Texts};

/// Longest record, whose length is a 16-bit number.
const MAX_RECORD: usize = 0xFFFF;

/// A payload that was rebuilt.
pub(super) struct Rebuilt {
    pub(super) payload: Vec<u8>,
    /// The payload without its texts.
    pub(super) numbers: Vec<u8>,
}

/// Rebuilds a payload. `head` is the number of bytes before it in the record. Returns `None` if it
/// does not match the plan or becomes too long. If `may_end_early`, it may stop within a field.
pub(super) fn rebuild(
    plan: &Plan,
    payload: &[u8],
    may_end_early: bool,
    head: usize,
    subject: Subject,
    texts: &mut Texts,
) -> Option<Rebuilt> {
    let mut writer = Writer {
        old: payload,
        payload: Vec::with_capacity(payload.len()),
        numbers: Vec::with_capacity(payload.len()),
        position: 0,
        shifts: Vec::new(),
    };
    for place in places(plan, payload, may_end_early)? {
        writer.copy(place.start)?;
        let bytes = payload.get(place.start..place.end)?;
        writer.replace(&place, bytes, subject, texts)?;
        writer.position = place.end;
    }
    writer.copy(payload.len())?;
    let Writer {
        payload, numbers, ..
    } = writer;
    (payload.len() + head <= MAX_RECORD).then_some(Rebuilt { payload, numbers })
}

struct Writer<'p> {
    old: &'p [u8],
    payload: Vec<u8>,
    numbers: Vec<u8>,
    /// Position in the old payload.
    position: usize,
    /// Positions in the old payload and in the new one behind texts that changed their length.
    shifts: Vec<(usize, usize)>,
}

impl Writer<'_> {
    /// Copies up to a position.
    fn copy(&mut self, end: usize) -> Option<()> {
        let bytes = self.old.get(self.position..end)?;
        self.payload.extend_from_slice(bytes);
        self.numbers.extend_from_slice(bytes);
        self.position = end;
        Some(())
    }

    fn replace(
        &mut self,
        place: &Place<'_>,
        bytes: &[u8],
        subject: Subject,
        texts: &mut Texts,
    ) -> Option<()> {
        let mut new = bytes.to_vec();
        match place.deed {
            Deed::Wide => new = wide(bytes, place, subject, texts),
            Deed::Narrow => new = narrow(bytes, place, subject, texts),
            Deed::Sid => texts.substitutes.sid(&mut new),
            Deed::Address => address(&mut new, texts),
            Deed::Clear => clear(&mut new, texts),
        }
        let start = self.payload.len();
        self.state(place, new.len(), start)?;
        self.payload.extend_from_slice(&new);
        self.numbers.resize(self.payload.len(), 0);
        if new.len() != bytes.len() {
            self.shifts.push((place.end, self.payload.len()));
        }
        Some(())
    }

    /// Writes the new length of a text.
    fn state(&mut self, place: &Place<'_>, len: usize, start: usize) -> Option<()> {
        match place.room {
            Room::Same | Room::Free => {}
            Room::Counted { reversed } => {
                let len = u16::try_from(len).ok()?;
                let bytes = if reversed {
                    len.to_be_bytes()
                } else {
                    len.to_le_bytes()
                };
                self.payload
                    .get_mut(start.checked_sub(2)?..start)?
                    .copy_from_slice(&bytes);
            }
            Room::Stated { at, len: width } => {
                let unit = if place.deed == Deed::Wide { 2 } else { 1 };
                // Replacements before the number have moved it.
                let shift = self.shifts.iter().rev().find(|(old, _)| *old <= at);
                let at = shift.map_or(at, |(old, new)| at - old + new);
                let bytes = ((len / unit) as u64).to_le_bytes();
                // The new length needs more bytes than its number has.
                if width < 8 && (len / unit) >> (8 * width) != 0 {
                    return None;
                }
                self.payload
                    .get_mut(at..at + width)?
                    .copy_from_slice(bytes.get(..width)?);
            }
        }
        Some(())
    }
}

/// The substitute of UTF-16. What lies behind a NUL is cleared.
fn wide(bytes: &[u8], place: &Place<'_>, subject: Subject, texts: &mut Texts) -> Vec<u8> {
    let units: Vec<u16> = bytes
        .as_chunks::<2>()
        .0
        .iter()
        .map(|pair| u16::from_le_bytes(*pair))
        .collect();
    let end = units.iter().position(|unit| *unit == 0);
    let (text, _) = units.split_at(end.unwrap_or(units.len()));
    let text = String::from_utf16_lossy(text);
    let new = texts.text(&text, Hint::of(place.field), subject);
    let new: Vec<u8> = new.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let behind = bytes.len() - 2 * end.unwrap_or(units.len());
    fitted(new, bytes.len(), behind, place.room)
}

/// Replaces the key of a package in its place.
pub(super) fn package(bytes: &mut [u8], texts: &mut Texts) {
    let units: Vec<u16> = bytes
        .as_chunks::<2>()
        .0
        .iter()
        .map(|pair| u16::from_le_bytes(*pair))
        .collect();
    let text = String::from_utf16_lossy(&units);
    if texts.package(text.trim_end_matches('\0')).is_some() {
        return;
    }
    let place = Place {
        start: 0,
        end: bytes.len(),
        deed: Deed::Wide,
        room: Room::Same,
        field: "",
    };
    let new = wide(bytes, &place, Subject::Unknown, texts);
    bytes.fill(0);
    bytes.iter_mut().zip(new).for_each(|(to, new)| *to = new);
}

/// The substitute of 8-bit text: UTF-8, or of a code page, whose letters are not kept.
fn narrow(bytes: &[u8], place: &Place<'_>, subject: Subject, texts: &mut Texts) -> Vec<u8> {
    let end = bytes.iter().position(|byte| *byte == 0);
    let (text, _) = bytes.split_at(end.unwrap_or(bytes.len()));
    let text = match std::str::from_utf8(text) {
        Ok(text) => text.to_owned(),
        Err(_) => text.iter().copied().map(char::from).collect(),
    };
    let new = texts
        .text(&text, Hint::of(place.field), subject)
        .into_bytes();
    let behind = bytes.len() - end.unwrap_or(bytes.len());
    fitted(new, bytes.len(), behind, place.room)
}

/// A text in its room. `behind` is the number of bytes from its NUL on.
fn fitted(mut new: Vec<u8>, len: usize, behind: usize, room: Room) -> Vec<u8> {
    match room {
        Room::Same => new.resize(len, 0),
        _ => new.resize(new.len() + behind, 0),
    }
    new
}

fn address(bytes: &mut [u8], texts: &mut Texts) {
    let old: Option<IpAddr> = match &*bytes {
        [a, b, c, d] => Some([*a, *b, *c, *d].into()),
        bytes => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
    };
    match old.map(|old| texts.substitutes.address(old)) {
        Some(IpAddr::V4(new)) if bytes.len() == 4 => bytes.copy_from_slice(&new.octets()),
        Some(IpAddr::V6(new)) if bytes.len() == 16 => bytes.copy_from_slice(&new.octets()),
        _ => bytes.fill(0),
    }
}

/// Bytes of unknown meaning: socket addresses are replaced, everything else is cleared.
fn clear(bytes: &mut [u8], texts: &mut Texts) {
    const STORAGE: usize = 128;
    // Lists have a SOCKADDR_STORAGE for each address, so that addresses of all families fit.
    let is_list = bytes.len().is_multiple_of(STORAGE) && !bytes.is_empty();
    let step = if is_list { STORAGE } else { bytes.len().max(1) };
    for socket in bytes.chunks_mut(step) {
        // 2 and 23 are AF_INET and AF_INET6 of Windows, with the lengths of their socket addresses.
        // Family, port, address of version 4; family, port, flow, address of version 6.
        let place = match (u16_at(socket, 0), socket.len()) {
            (Some(2), 16 | STORAGE) => 4..8,
            (Some(23), 28 | STORAGE) => 8..24,
            _ => 0..0,
        };
        let kept = socket
            .get(..if place.is_empty() { 0 } else { 4 })
            .map(<[u8]>::to_vec);
        let ip = socket.get(place.clone()).map(<[u8]>::to_vec);
        socket.fill(0);
        for (at, old) in [(0, kept), (place.start, ip)] {
            let Some(mut old) = old.filter(|old| !old.is_empty()) else {
                continue;
            };
            if at > 0 {
                address(&mut old, texts);
            }
            if let Some(to) = socket.get_mut(at..at + old.len()) {
                to.copy_from_slice(&old);
            }
        }
    }
}
