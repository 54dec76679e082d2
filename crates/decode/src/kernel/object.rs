//! The object manager (group 17): handles, types, and the life of objects.

use etwkit_etl::bytes::{Cursor, utf16_text};

/// Types of these events.
pub mod opcode {
    types! {
        OBJECT {
            /// A process gets a handle.
            CREATE_HANDLE = 32, "CreateHandle";
            /// A handle is closed.
            CLOSE_HANDLE = 33, "CloseHandle";
            /// A process gets a handle to the object of another handle.
            DUPLICATE_HANDLE = 34, "DuplicateHandle";
            /// A type of objects, when the session starts.
            TYPE_START = 36, "TypeDCStart";
            /// A type of objects, when the session ends.
            TYPE_END = 37, "TypeDCEnd";
            /// A handle that is open when the session starts.
            HANDLE_START = 38, "HandleDCStart";
            /// A handle that is open when the session ends.
            HANDLE_END = 39, "HandleDCEnd";
            /// An object is created.
            CREATE_OBJECT = 48, "CreateObject";
            /// An object is deleted.
            DELETE_OBJECT = 49, "DeleteObject";
            /// References to an object are taken.
            REFERENCE = 50, "ReferenceObject";
            /// References to an object are released.
            DEREFERENCE = 51, "DereferenceObject";
        }
    }
}

/// The bit that marks kernel handles. They are in the table of the process System, independent of
/// the process that uses them.
pub const KERNEL_HANDLE: u32 = 1 << 31;

/// A handle that is created or closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle {
    /// Address of the object.
    pub object: u64,
    /// The handle.
    pub handle: u32,
    /// Number of the type of the object.
    pub kind: u16,
    /// Name of the object, if it is reported: mostly when a handle is closed.
    pub name: Option<String>,
}

impl Handle {
    /// Reads a payload of [`opcode::CREATE_HANDLE`] or [`opcode::CLOSE_HANDLE`]. A name follows
    /// directly after the type. Without a name, two bytes of padding follow.
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let object = c.pointer(pointer_size)?;
        let handle = c.u32()?;
        let kind = c.u16()?;
        let name = if c.rest().len() > 2 {
            name(c.utf16())
        } else {
            None
        };
        Some(Self {
            object,
            handle,
            kind,
            name,
        })
    }
}

/// A handle that is duplicated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duplicate {
    /// Address of the object.
    pub object: u64,
    /// The handle that was copied.
    pub source: u32,
    /// The new one.
    pub target: u32,
    /// Process that gets the new handle.
    pub target_pid: u32,
    /// Number of the type of the object.
    pub kind: u16,
    /// Process that has the old one; older systems do not say.
    pub source_pid: Option<u32>,
}

impl Duplicate {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        Some(Self {
            object: c.pointer(pointer_size)?,
            source: c.u32()?,
            target: c.u32()?,
            target_pid: c.u32()?,
            kind: c.u16()?,
            source_pid: c.u32(),
        })
    }
}

/// A handle that was open when the session started or ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rundown {
    /// Process that has it.
    pub pid: u32,
    /// The handle and its object.
    pub handle: Handle,
}

impl Rundown {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let object = c.pointer(pointer_size)?;
        let pid = c.u32()?;
        let handle = c.u32()?;
        let kind = c.u16()?;
        Some(Self {
            pid,
            handle: Handle {
                object,
                handle,
                kind,
                name: name(c.utf16()),
            },
        })
    }
}

/// Number and name of a type, from a payload of [`opcode::TYPE_START`] or [`opcode::TYPE_END`].
/// Numbers differ between systems.
#[must_use]
pub fn type_name(payload: &[u8]) -> Option<(u16, String)> {
    let mut c = Cursor::new(payload);
    let kind = c.u16()?;
    let _reserved = c.u16()?;
    Some((kind, name(c.utf16())?))
}

/// Address and type of an object that is created or deleted.
#[must_use]
pub fn object(payload: &[u8], pointer_size: usize) -> Option<(u64, u16)> {
    let mut c = Cursor::new(payload);
    Some((c.pointer(pointer_size)?, c.u16()?))
}

/// References that are taken or released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct References {
    /// Address of the object.
    pub object: u64,
    /// Pool tag of the holder: four characters such as `Dflt`.
    pub tag: [u8; 4],
    /// Number of references.
    pub count: u32,
}

impl References {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        Some(Self {
            object: c.pointer(pointer_size)?,
            tag: c.array()?,
            count: c.u32()?,
        })
    }

    /// The tag as text.
    #[must_use]
    pub fn tag_text(&self) -> String {
        String::from_utf8_lossy(&self.tag)
            .trim_end_matches(['\0', ' '])
            .to_owned()
    }
}

fn name(bytes: &[u8]) -> Option<String> {
    Some(utf16_text(bytes)).filter(|name| !name.is_empty())
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

    fn bytes(parts: &[&[u8]]) -> Vec<u8> {
        parts.concat()
    }

    #[test]
    fn the_name_of_a_closed_handle_stands_behind_its_type() {
        let start = bytes(&[
            &9u64.to_le_bytes(),
            &0x14u32.to_le_bytes(),
            &5u16.to_le_bytes(),
        ]);
        let plain = Handle {
            object: 9,
            handle: 0x14,
            kind: 5,
            name: None,
        };
        assert_eq!(
            Handle::parse(&bytes(&[&start, &[0, 0]]), 8),
            Some(plain.clone())
        );
        let named = Handle {
            name: Some("ab".into()),
            ..plain
        };
        assert_eq!(
            Handle::parse(&bytes(&[&start, &wide("ab")]), 8),
            Some(named)
        );
        assert_eq!(Handle::parse(&start[..13], 8), None);
    }

    #[test]
    fn a_duplicate_names_its_source_process_where_the_system_does() {
        let start = bytes(&[
            &[9, 0, 0, 0],
            &[1, 0, 0, 0],
            &[2, 0, 0, 0],
            &[7, 0, 0, 0],
            &5u16.to_le_bytes(),
        ]);
        let old = Duplicate {
            object: 9,
            source: 1,
            target: 2,
            target_pid: 7,
            kind: 5,
            source_pid: None,
        };
        assert_eq!(Duplicate::parse(&start, 4), Some(old));
        let new = Duplicate {
            source_pid: Some(3),
            ..old
        };
        assert_eq!(
            Duplicate::parse(&bytes(&[&start, &[3, 0, 0, 0]]), 4),
            Some(new)
        );
    }

    #[test]
    fn references_have_a_tag_of_four_characters() {
        let payload = bytes(&[&9u64.to_le_bytes(), b"Ab\0\0", &2u32.to_le_bytes()]);
        let read = References::parse(&payload, 8).unwrap();
        assert_eq!(
            (read.object, read.tag_text().as_str(), read.count),
            (9, "Ab", 2)
        );
    }
}
