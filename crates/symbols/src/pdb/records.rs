//! Symbol records: the few kinds that name code.
//!
//! A record is its length (2 bytes, without the length itself), its kind (2 bytes) and its content.
//! Kinds and layouts: `cvinfo.h` of Microsoft's published sources.

use etwkit_etl::bytes::Cursor;

const S_END: u16 = 0x0006;
const S_PROC_ID_END: u16 = 0x114F;
const S_INLINE_SITE_END: u16 = 0x114E;
const S_BLOCK: u16 = 0x1103;
const S_WITH: u16 = 0x1104;
const S_THUNK: u16 = 0x1102;
const S_SEPARATED_CODE: u16 = 0x1132;
const S_INLINE_SITE: u16 = 0x114D;
const S_INLINE_SITE_2: u16 = 0x115D;
const S_PUBLIC: u16 = 0x110E;
const S_TRAMPOLINE: u16 = 0x112C;
/// Local and global functions, with the type in the type and in the ID stream, and those that a
/// debugger may patch.
const S_FUNCTIONS: [u16; 6] = [0x110F, 0x1110, 0x1146, 0x1147, 0x1155, 0x1156];
/// Managed code that was compiled ahead of time, global and local.
const S_MANAGED: [u16; 2] = [0x112A, 0x112B];

/// The part of a record that is used here.
#[derive(Debug, Clone, Copy)]
pub(super) enum Record<'a> {
    Function(Function<'a>),
    /// Code of the preceding function that the linker placed elsewhere.
    Separated {
        section: u16,
        offset: u32,
        len: u32,
    },
    InlineSite {
        inlinee: u32,
        annotations: &'a [u8],
    },
    Public {
        section: u16,
        offset: u32,
        name: &'a [u8],
    },
    /// A jump that the linker made, from section and offset to section and offset.
    Stub {
        from: (u16, u32),
        to: (u16, u32),
        len: u32,
    },
    /// A scope that has no name.
    Scope,
    /// The end of the innermost scope.
    End,
    Other,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Function<'a> {
    pub(super) section: u16,
    pub(super) offset: u32,
    pub(super) len: u32,
    pub(super) name: &'a [u8],
}

/// The records in `bytes`, up to the first one that is cut off.
pub(super) struct Records<'a>(pub(super) Cursor<'a>);

impl Records<'_> {
    /// True if the bytes do not end where a record does. Zeros behind the last record are padding.
    pub(super) fn is_cut_off(&self) -> bool {
        self.0.rest().iter().any(|byte| *byte != 0)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        // A record that is cut off is not taken, so that the rest shows it.
        // A copy, so that a record that is cut off leaves the position as it is.
        let mut after = self.0;
        let len = after.u16()?;
        let content = after.take(usize::from(len))?;
        let mut cursor = Cursor::new(content);
        let kind = cursor.u16()?;
        self.0 = after;
        // A record that cannot be read is skipped by its length.
        Some(record(kind, cursor).unwrap_or(Record::Other))
    }
}

fn record<'a>(kind: u16, mut cursor: Cursor<'a>) -> Option<Record<'a>> {
    Some(match kind {
        S_END | S_PROC_ID_END | S_INLINE_SITE_END => Record::End,
        S_BLOCK | S_WITH => Record::Scope,
        S_PUBLIC => {
            let _flags = cursor.u32()?;
            let offset = cursor.u32()?;
            let section = cursor.u16()?;
            Record::Public {
                section,
                offset,
                name: cursor.ansi(),
            }
        }
        S_TRAMPOLINE => {
            let _kind = cursor.u16()?;
            let len = cursor.u16()?;
            let from = cursor.u32()?;
            let to = cursor.u32()?;
            let from_section = cursor.u16()?;
            let to_section = cursor.u16()?;
            Record::Stub {
                from: (from_section, from),
                to: (to_section, to),
                len: u32::from(len),
            }
        }
        S_INLINE_SITE | S_INLINE_SITE_2 => {
            // Offsets of the parent and of the end of the scope, which are found by nesting.
            cursor.take(8)?;
            let inlinee = cursor.u32()?;
            if kind == S_INLINE_SITE_2 {
                cursor.take(4)?;
            }
            Record::InlineSite {
                inlinee,
                annotations: cursor.rest(),
            }
        }
        S_SEPARATED_CODE => {
            cursor.take(8)?;
            let len = cursor.u32()?;
            let _flags = cursor.u32()?;
            let offset = cursor.u32()?;
            let _of_parent = cursor.u32()?;
            let section = cursor.u16()?;
            Record::Separated {
                section,
                offset,
                len,
            }
        }
        S_THUNK => {
            cursor.take(12)?;
            let (offset, section, len, _kind) =
                (cursor.u32()?, cursor.u16()?, cursor.u16()?, cursor.u8()?);
            Record::Function(Function {
                section,
                offset,
                len: u32::from(len),
                name: cursor.ansi(),
            })
        }
        _ if S_FUNCTIONS.contains(&kind) || S_MANAGED.contains(&kind) => {
            // Offsets of the parent, the end and the next function: scopes are found by their ends.
            cursor.take(12)?;
            let len = cursor.u32()?;
            // The parts between prologue and epilogue, and the type.
            cursor.take(12)?;
            let offset = cursor.u32()?;
            let section = cursor.u16()?;
            let _flags = cursor.u8()?;
            if S_MANAGED.contains(&kind) {
                // The register of the return value.
                cursor.take(2)?;
            }
            Record::Function(Function {
                section,
                offset,
                len,
                name: cursor.ansi(),
            })
        }
        _ => return None,
    })
}
