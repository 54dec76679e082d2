//! Clicks and keys of the user, as the recording tool ETWController logs them (EventSource
//! `HookEvents`), and the pictures of the screen that it takes then.
//!
//! The layouts come from its public source; no recorded trace with these events was available. If a
//! trace contains their manifest, fields are read by their names, otherwise by the numbers of the
//! events.

use etwkit_etl::bytes::Cursor;
use etwkit_etl::{Guid, RawEvent};

use crate::Decoder;
use crate::named::{NamedFields, Values};

/// `HookEvents`.
pub const HOOK_EVENTS: Guid = Guid::literal("f0a5da64-0fbc-4d41-b6c7-bf56a0601d7d");

/// An action of the user or the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookEvent {
    /// A mouse button.
    Click {
        /// Number among all events of the tool.
        number: i32,
        /// Name of the button.
        button: String,
        /// Position in pixels of the whole desktop.
        x: i32,
        /// Position in pixels of the whole desktop.
        y: i32,
    },
    /// A key.
    Key {
        /// Number among all events of the tool.
        number: i32,
        /// Name of the key.
        key: String,
    },
    /// A picture was written; newer versions report it.
    Picture {
        /// Path of the file.
        path: String,
    },
}

const NAMES: [&str; 6] = ["EventNumber", "MouseButton", "x", "y", "Key", "path"];
const CLICK: u16 = 1;
const KEY: u16 = 4;

/// Reads these events.
#[derive(Debug)]
pub struct HookReader(NamedFields<{ NAMES.len() }>);

impl Default for HookReader {
    fn default() -> Self {
        Self(NamedFields::new(NAMES))
    }
}

impl HookReader {
    /// Reads an event. `None` for events of other providers, and for events of the tool without a
    /// screenshot.
    pub fn read(&mut self, event: &RawEvent<'_>, decoder: &mut Decoder) -> Option<HookEvent> {
        // The ID alone is used by many providers.
        if !event.kind.is_manifest() || event.provider() != HOOK_EVENTS {
            return None;
        }
        // A description in the trace matches the recorded version, so it takes precedence over the
        // layouts of the published source. If it cannot be read, the bytes are not guessed.
        if decoder.own_plan(event).is_some() {
            return self.0.read(event, decoder, named);
        }
        by_number(event.descriptor().id, event.payload())
    }
}

fn named(values: Values<'_, { NAMES.len() }>) -> Option<HookEvent> {
    // Events are distinguished by their fields, because another version of the tool may number them
    // differently.
    let number = |field| values.u32(field).map(u32::cast_signed);
    // A picture has a path and no other event does.
    if let Some(path) = values.text(5) {
        return Some(HookEvent::Picture { path });
    }
    let of = number(0)?;
    if let Some(button) = values.text(1) {
        return Some(HookEvent::Click {
            number: of,
            button,
            x: number(2)?,
            y: number(3)?,
        });
    }
    Some(HookEvent::Key {
        number: of,
        key: values.text(4)?,
    })
}

fn by_number(id: u16, payload: &[u8]) -> Option<HookEvent> {
    let mut c = Cursor::new(payload);
    let mut number = || c.u32().map(u32::cast_signed);
    let of = number()?;
    match id {
        CLICK => {
            let button = c.text();
            let mut number = || c.u32().map(u32::cast_signed);
            Some(HookEvent::Click {
                number: of,
                button,
                x: number()?,
                y: number()?,
            })
        }
        KEY => Some(HookEvent::Key {
            number: of,
            key: c.text(),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(text: &str) -> Vec<u8> {
        text.encode_utf16()
            .chain([0])
            .flat_map(u16::to_le_bytes)
            .collect()
    }

    #[test]
    fn clicks_and_keys_are_read_by_their_numbers() {
        let payload = [
            7i32.to_le_bytes().to_vec(),
            wide("Left"),
            (-5i32).to_le_bytes().to_vec(),
            9i32.to_le_bytes().to_vec(),
        ];
        let payload = payload.concat();
        let click = HookEvent::Click {
            number: 7,
            button: "Left".into(),
            x: -5,
            y: 9,
        };
        assert_eq!(by_number(1, &payload), Some(click));
        let key = HookEvent::Key {
            number: 7,
            key: "Left".into(),
        };
        assert_eq!(by_number(4, &payload), Some(key));
        assert_eq!(
            (by_number(2, &payload), by_number(1, &payload[..14])),
            (None, None)
        );
        assert_eq!(by_number(4, &[1, 2]), None);
    }
}
