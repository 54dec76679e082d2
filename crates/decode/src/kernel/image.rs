//! Image events (group 20, and type 10 of group 3): `Image_V0_Load` to `Image_V3_TypeGroup1`.

use etwkit_etl::bytes::Cursor;

use super::{Read, first_consistent};

/// Types of the events that describe an image.
pub mod opcode {
    types! {
        IMAGE {
            /// Mapped into a process.
            LOAD = 10, "Load";
            /// Unmapped.
            UNLOAD = 2, "UnLoad";
            /// Mapped when the session starts.
            DC_START = 3, "DCStart";
            /// Mapped when the session stops.
            DC_END = 4, "DCEnd";
            /// Base address of the kernel itself.
            KERNEL_BASE = 33, "KernelBase";
            /// Address of the hypercall page, which is outside of all images.
            HYPERCALL_PAGE = 34, "HypercallPage";
            /// The loader of a program has mapped a module.
            NEW_DLL = 176, "NewDllLoad";
        }
    }
}

/// The first of the types by which the loader of a program reports its work; programs log them.
pub const FIRST_OF_LOADER: u8 = 128;

/// Types that describe an image.
pub const LIFETIME: &[u8] = &[
    opcode::LOAD,
    opcode::UNLOAD,
    opcode::DC_START,
    opcode::DC_END,
];

/// True if a type describes an image.
#[must_use]
pub const fn is_lifetime(op: u8) -> bool {
    matches!(
        op,
        opcode::LOAD | opcode::UNLOAD | opcode::DC_START | opcode::DC_END
    )
}

/// One image event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Image {
    /// Base address.
    pub base: u64,
    /// Size in bytes.
    pub size: u64,
    /// Process it is mapped into; 0 for the kernel. `None` in version 0, where the header contains
    /// it.
    pub pid: Option<u32>,
    /// Checksum of the PE header.
    pub checksum: u32,
    /// Time stamp of the PE header; 0 in rundown events of user images on Windows 8 and later.
    pub time_date_stamp: u32,
    /// NT path.
    pub path: String,
}

impl Image {
    /// Reads a payload. `pointer_size` comes from the event's header.
    #[must_use]
    pub fn parse(payload: &[u8], version: u8, pointer_size: usize) -> Option<Read<Self>> {
        first_consistent(&[pointer_size, 12 - pointer_size], |pointer_size| {
            read(payload, version, pointer_size)
        })
    }
}

fn read(payload: &[u8], version: u8, pointer_size: usize) -> Option<(Image, bool)> {
    let mut c = Cursor::new(payload);
    let mut image = Image {
        base: c.pointer(pointer_size)?,
        ..Image::default()
    };
    image.size = if version == 0 {
        c.u32()?.into()
    } else {
        c.pointer(pointer_size)?
    };
    if version >= 1 {
        image.pid = Some(c.u32()?);
    }
    if version >= 2 {
        image.checksum = c.u32()?;
        image.time_date_stamp = c.u32()?;
        c.u32()?; // signature level and type
        c.pointer(pointer_size)?; // default base
        c.take(16)?; // reserved
    }
    image.path = c.text();
    // With the wrong pointer size the path starts inside of a number, and its first character shows
    // that. An empty path is possible, an image without bytes is not.
    let first = image.path.chars().next();
    let printable = first.is_none_or(|c| (' '..='~').contains(&c));
    Some((image.clone(), c.is_empty() && image.size != 0 && printable))
}

/// The reason for which the loader of a program mapped a module (`Image_NewDllLoad`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewDll {
    /// Base address.
    pub base: u64,
    /// Base address of the module for whose sake it was loaded.
    pub parent_base: u64,
    /// Number of `LDR_DLL_LOAD_REASON`.
    pub reason: u32,
}

impl NewDll {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let base = c.pointer(pointer_size)?;
        let parent_base = c.pointer(pointer_size)?;
        Some(Self {
            base,
            parent_base,
            reason: c.u32()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version_2(pointer_size: usize) -> Vec<u8> {
        let pointer = |v: u64| v.to_le_bytes()[..pointer_size].to_vec();
        let mut p = [pointer(0x1000_0000), pointer(0x2000)].concat();
        for word in [8u32, 77, 99, 0] {
            p.extend(word.to_le_bytes());
        }
        p.extend(pointer(0x40_0000));
        p.extend([0; 16]);
        p.extend("\\x.dll\0".encode_utf16().flat_map(u16::to_le_bytes));
        p
    }

    #[test]
    fn a_64_bit_payload_is_read_behind_a_32_bit_header() {
        for (payload, header, fallback) in [
            (version_2(4), 4, false),
            (version_2(8), 8, false),
            (version_2(8), 4, true),
        ] {
            let read = Image::parse(&payload, 2, header).unwrap();
            assert_eq!(read.fallback, fallback);
            let image = read.event;
            assert_eq!(
                (image.base, image.size, image.pid),
                (0x1000_0000, 0x2000, Some(8))
            );
            assert_eq!(
                (image.checksum, image.time_date_stamp, &*image.path),
                (77, 99, "\\x.dll")
            );
        }
    }
}
