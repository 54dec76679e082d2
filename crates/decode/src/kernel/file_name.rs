//! File names (group 4): which path stands behind a file key, and when.

use etwkit_etl::bytes::{Cursor, pointer_at, utf16_text};

/// Types of these events.
pub mod opcode {
    /// A name (old versions).
    pub const NAME: u8 = 0;
    /// The file becomes known.
    pub const CREATE: u8 = 32;
    /// The file is forgotten.
    pub const DELETE: u8 = 35;
    /// The file is known when the session stops.
    pub const RUNDOWN: u8 = 36;
}

/// Whether a type of group 4 names a file.
#[must_use]
pub const fn is_name(opcode: u8) -> bool {
    matches!(opcode, opcode::NAME | opcode::CREATE | opcode::DELETE | opcode::RUNDOWN)
}

/// Key and NT path of a name event.
#[must_use]
pub fn parse(payload: &[u8], pointer_size: usize) -> Option<(u64, String)> {
    let key = pointer_at(payload, 0, pointer_size)?;
    let path = utf16_text(Cursor::new(payload.get(pointer_size..)?).utf16());
    Some((key, path))
}
