//! File names (group 4): the path of each file key over time.

use etwkit_etl::bytes::{Cursor, pointer_at};

/// Types of these events.
pub mod opcode {
    types! {
        FILE {
            /// A name (old versions).
            NAME = 0, "Name";
            /// The file becomes known.
            CREATE = 32, "FileCreate";
            /// The file is forgotten.
            DELETE = 35, "FileDelete";
            /// The file is known when the session stops.
            RUNDOWN = 36, "FileRundown";
        }
    }
}

/// Types that name a file.
pub const NAMES: &[u8] = &[
    opcode::NAME,
    opcode::CREATE,
    opcode::DELETE,
    opcode::RUNDOWN,
];

/// True if a type of group 4 names a file.
#[must_use]
pub const fn is_name(opcode: u8) -> bool {
    matches!(
        opcode,
        opcode::NAME | opcode::CREATE | opcode::DELETE | opcode::RUNDOWN
    )
}

/// Key and NT path of a name event.
#[must_use]
pub fn parse(payload: &[u8], pointer_size: usize) -> Option<(u64, String)> {
    let key = pointer_at(payload, 0, pointer_size)?;
    let path = Cursor::new(payload.get(pointer_size..)?).text();
    Some((key, path))
}
