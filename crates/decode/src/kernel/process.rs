//! Process events (group 3): `Process_V0_TypeGroup1` to `Process_V5_TypeGroup1`.

use etwkit_etl::bytes::{Cursor, u32_at};

use super::{Read, first_consistent};
use crate::ansi;
use crate::render::sid_text;

/// Types of the events that describe a process.
pub mod opcode {
    types! {
        PROCESS {
            /// The process starts.
            START = 1, "Start";
            /// Its last thread has ended.
            END = 2, "End";
            /// It runs when the session starts.
            DC_START = 3, "DCStart";
            /// It runs when the session stops.
            DC_END = 4, "DCEnd";
            /// It starts to end: its threads are stopped, its handles closed.
            TERMINATE = 11, "Terminate";
            /// It has ended but something still refers to it.
            DEFUNCT = 39, "Defunct";
        }
    }
}

/// Types that describe a process.
pub const LIFETIME: &[u8] = &[
    opcode::START,
    opcode::END,
    opcode::DC_START,
    opcode::DC_END,
    opcode::DEFUNCT,
];

/// True if a type describes a process.
#[must_use]
pub const fn is_lifetime(op: u8) -> bool {
    matches!(
        op,
        opcode::START | opcode::END | opcode::DC_START | opcode::DC_END | opcode::DEFUNCT
    )
}

/// Bits of [`Process::flags`].
pub mod flag {
    /// 32-bit code on a 64-bit system.
    pub const WOW64: u32 = 2;
    /// Other processes cannot open it with full access.
    pub const PROTECTED: u32 = 4;
}

/// Process ID of a process that starts to end (`Process_Terminate`).
#[must_use]
pub fn terminated(payload: &[u8]) -> Option<u32> {
    u32_at(payload, 0)
}

/// One process event. Texts are empty if the version or the process has none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Process {
    /// Address of the kernel object (version 2 and later, otherwise 0): unique while the object
    /// exists.
    pub unique_key: u64,
    /// Process ID.
    pub pid: u32,
    /// Process ID of the parent; `None` where the layout has none.
    pub parent_pid: Option<u32>,
    /// Terminal session, -1 for none; `None` in version 0.
    pub session_id: Option<i32>,
    /// Exit status.
    pub exit_status: u32,
    /// Bits of [`flag`], from version 4 on.
    pub flags: Option<u32>,
    /// Security ID of the user.
    pub sid: Option<String>,
    /// File name of the image.
    pub name: String,
    /// Bytes of the name if it depends on the code page of the machine. `name` is one way to read
    /// them then.
    pub ansi_name: Option<Vec<u8>>,
    /// Command line.
    pub command_line: String,
    /// Full name of the app package.
    pub package: String,
    /// Application ID within the package.
    pub app_id: String,
}

/// The position of the SID, and the pointer size.
#[derive(Clone, Copy)]
struct Layout {
    pointer_size: usize,
    /// A zero word before the SID is the first one of a `TOKEN_USER`, and does not mean that there
    /// is no SID.
    sid_behind_zero: bool,
}

impl Process {
    /// Takes a file name in the code page of the machine.
    pub(super) fn take_ansi_name(&mut self, name: &[u8]) {
        self.name = ansi::text(name);
        self.ansi_name = (!ansi::is_certain(name)).then(|| name.to_vec());
    }

    /// Reads a payload. `pointer_size` comes from the event's header.
    #[must_use]
    pub fn parse(payload: &[u8], version: u8, pointer_size: usize) -> Option<Read<Self>> {
        // Payloads of one pointer size were seen under headers of the other, so 8 is tried if 4
        // does not match, and vice versa. The end of a payload shows if a layout matches: it must
        // use all bytes.
        let other = 12 - pointer_size;
        let layouts = [
            (pointer_size, false),
            (pointer_size, true),
            (other, false),
            (other, true),
        ]
        .map(|(pointer_size, sid_behind_zero)| Layout {
            pointer_size,
            sid_behind_zero,
        });
        first_consistent(&layouts, |layout| read(payload, version, layout))
    }
}

fn read(payload: &[u8], version: u8, layout: Layout) -> Option<(Process, bool)> {
    let pointer = layout.pointer_size;
    let mut c = Cursor::new(payload);
    let mut process = Process::default();
    if version == 0 {
        // IDs have 32 bits, whichever size the field has.
        process.pid = c.pointer(pointer)? as u32;
        process.parent_pid = Some(c.pointer(pointer)? as u32);
    } else {
        // Version 1 has the page directory base here, which does not identify the process.
        let key = c.pointer(pointer)?;
        process.unique_key = if version >= 2 { key } else { 0 };
        process.pid = c.u32()?;
        process.parent_pid = Some(c.u32()?);
        process.session_id = Some(c.i32()?);
        process.exit_status = c.u32()?;
        if version >= 3 {
            c.pointer(pointer)?; // directory table base
        }
        if version >= 4 {
            process.flags = Some(c.u32()?);
        }
    }
    // The fields read so far also count if the rest makes no sense.
    let Some(sid) = read_sid(&mut c, layout) else {
        return Some((process, false));
    };
    process.sid = sid;
    process.take_ansi_name(c.ansi());
    if version >= 2 {
        process.command_line = c.text();
    }
    if version >= 4 {
        process.package = c.text();
        process.app_id = c.text();
    }
    if version >= 5 && c.rest().len() == 8 {
        c.take(8); // exit time
    }
    Some((process, c.is_empty() && ends_with_nul(payload, version)))
}

/// True if a payload ends like the payloads of its version: with the terminator of its last text,
/// or from version 5 on with an exit time, whose last byte may be any.
fn ends_with_nul(payload: &[u8], version: u8) -> bool {
    version >= 5 || payload.last() == Some(&0)
}

fn read_sid(c: &mut Cursor<'_>, layout: Layout) -> Option<Option<String>> {
    let none = c.rest().first_chunk::<4>()? == &[0; 4];
    if none && !layout.sid_behind_zero {
        c.take(4)?;
        return Some(None);
    }
    c.take(2 * layout.pointer_size)?; // TOKEN_USER: a pointer and attributes
    let count = usize::from(*c.rest().get(1)?);
    let sid = c.take(8 + 4 * count)?;
    // All SIDs have revision 1. If these bytes have another one, they are not a SID, and the next
    // layout is tried.
    (sid.first() == Some(&1)).then(|| sid_text(sid))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(pointer_size: usize, sid: bool) -> Vec<u8> {
        let mut p = vec![0x11; pointer_size];
        for word in [8u32, 4, 1, 259] {
            p.extend(word.to_le_bytes());
        }
        p.extend(vec![0; pointer_size]);
        p.extend([2, 0, 0, 0]);
        if sid {
            p.extend(vec![0x22; 2 * pointer_size]);
            p.extend([1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0]);
        } else {
            p.extend([0; 4]);
        }
        p.extend(b"a.exe\0");
        for text in ["a.exe -x", "", ""] {
            p.extend(text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
        }
        p
    }

    #[test]
    fn version_4_has_sid_name_and_command_line() {
        for pointer_size in [4, 8] {
            for sid in [false, true] {
                let read = Process::parse(&payload(pointer_size, sid), 4, pointer_size).unwrap();
                assert!(!read.fallback);
                let p = read.event;
                assert_eq!(
                    (p.pid, p.parent_pid, p.session_id, p.exit_status),
                    (8, Some(4), Some(1), 259)
                );
                assert_eq!(
                    (&*p.name, &*p.command_line, p.flags),
                    ("a.exe", "a.exe -x", Some(flag::WOW64))
                );
                assert_eq!(p.sid.as_deref(), sid.then_some("S-1-5-18"));
            }
        }
    }

    #[test]
    fn a_name_that_depends_on_the_code_page_keeps_its_bytes() {
        let named = |name: &[u8]| {
            let mut process = Process::default();
            process.take_ansi_name(name);
            (process.name, process.ansi_name)
        };
        let bytes = |name: &[u8]| Some(name.to_vec());
        assert_eq!(named(b"a.exe"), ("a.exe".into(), None));
        assert_eq!(
            named(b"B\xFCro.exe"),
            ("Büro.exe".into(), bytes(b"B\xFCro.exe"))
        );
        assert_eq!(named(b"??.exe"), ("??.exe".into(), bytes(b"??.exe")));
    }

    #[test]
    fn the_other_pointer_size_is_tried_when_the_first_does_not_fit() {
        let read = Process::parse(&payload(8, true), 4, 4).unwrap();
        assert!(read.fallback);
        assert_eq!(read.event.command_line, "a.exe -x");
    }

    #[test]
    fn a_payload_that_fits_nothing_is_read_as_the_header_says() {
        let mut long = payload(8, false);
        long.extend([1, 2, 3]);
        let read = Process::parse(&long, 4, 8).unwrap();
        assert_eq!((read.fallback, read.event.pid), (false, 8));
        let mut strange = payload(8, true);
        strange[8 + 16 + 8 + 4 + 16] = 2; // revision of the SID
        for payload in [&strange[..], &strange[..40]] {
            let read = Process::parse(payload, 4, 8).unwrap();
            assert_eq!(
                (read.fallback, read.event.pid, &*read.event.name),
                (false, 8, "")
            );
        }
    }
}
