//! Operations on files: group 4, types 64 to 86, versions 2 and 3.
//!
//! Version 2 has the thread after the request packet as a pointer, version 3 after the file as a
//! 32-bit number.

use etwkit_etl::bytes::Cursor;

/// Types of these events.
pub mod opcode {
    types! {
        FILE {
            /// A file is opened or created.
            CREATE = 64, "Create";
            /// The last handle of an open file is closed.
            CLEANUP = 65, "Cleanup";
            /// The last reference to an open file is released.
            CLOSE = 66, "Close";
            /// Read.
            READ = 67, "Read";
            /// Write.
            WRITE = 68, "Write";
            /// Attributes, size or position are set.
            SET_INFO = 69, "SetInfo";
            /// A file is marked for deletion.
            DELETE = 70, "Delete";
            /// A file is renamed.
            RENAME = 71, "Rename";
            /// A directory is listed.
            DIR_ENUM = 72, "DirEnum";
            /// Written data is flushed to the disk.
            FLUSH = 73, "Flush";
            /// Attributes are queried.
            QUERY_INFO = 74, "QueryInfo";
            /// File-system control.
            FS_CONTROL = 75, "FSControl";
            /// An operation ends.
            OPERATION_END = 76, "OperationEnd";
            /// Changes of a directory are waited for.
            DIR_NOTIFY = 77, "DirNotify";
            /// A file is created.
            CREATE_NEW = 78, "CreateNew";
            /// A path is deleted.
            DELETE_PATH = 79, "DeletePath";
            /// A path is renamed.
            RENAME_PATH = 80, "RenamePath";
            /// A hard link is created at a path.
            SET_LINK_PATH = 81, "SetLinkPath";
            /// A hard link is created.
            SET_LINK = 82, "Setlink";
            /// The security descriptor is set.
            SET_SECURITY = 83, "SetSecurity";
            /// The security descriptor is queried.
            QUERY_SECURITY = 84, "QuerySecurity";
            /// Extended attributes are set.
            SET_EA = 85, "SetEA";
            /// Extended attributes are queried.
            QUERY_EA = 86, "QueryEA";
        }
    }
}

/// The name of an operation in the extract; `None` for types that are not an operation.
#[must_use]
pub const fn name(op: u8) -> Option<&'static str> {
    Some(match op {
        opcode::CREATE | opcode::CREATE_NEW => "create",
        opcode::CLEANUP => "cleanup",
        opcode::CLOSE => "close",
        opcode::READ => "read",
        opcode::WRITE => "write",
        opcode::SET_INFO => "set_info",
        opcode::DELETE | opcode::DELETE_PATH => "delete",
        opcode::RENAME | opcode::RENAME_PATH => "rename",
        opcode::DIR_ENUM => "dir_enum",
        opcode::FLUSH => "flush",
        opcode::QUERY_INFO => "query_info",
        opcode::FS_CONTROL => "fs_control",
        opcode::DIR_NOTIFY => "dir_notify",
        opcode::SET_LINK | opcode::SET_LINK_PATH => "set_link",
        opcode::SET_SECURITY => "set_security",
        opcode::QUERY_SECURITY => "query_security",
        opcode::SET_EA => "set_ea",
        opcode::QUERY_EA => "query_ea",
        _ => return None,
    })
}

/// Arguments of opening a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Create {
    /// `FILE_*` options, and in the highest byte the disposition for existing and missing files.
    pub options_and_disposition: u32,
    /// Attributes of a file that is created.
    pub attributes: u32,
    /// Access that others may have at the same time.
    pub share_access: u32,
}

impl Create {
    /// `FILE_*` options.
    #[must_use]
    pub const fn options(&self) -> u32 {
        self.options_and_disposition & 0x00FF_FFFF
    }

    /// The disposition for existing and missing files (`FILE_SUPERSEDE`, …).
    #[must_use]
    pub const fn disposition(&self) -> u8 {
        self.options_and_disposition.to_le_bytes()[3]
    }
}

/// The start of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Operation<'a> {
    /// Request packet: the end of the operation names it again.
    pub irp: u64,
    /// Thread that requests it.
    pub tid: u32,
    /// The open file.
    pub file_object: u64,
    /// Key of the file, as in file-name events; 0 for an open, because it has no key yet.
    pub file_key: u64,
    /// Position and bytes of reads and writes.
    pub transfer: Option<(u64, u32)>,
    /// Flags of the request packet of reads and writes.
    pub io_flags: Option<u32>,
    /// The class of information to query or set; for file-system controls the control code.
    pub info_class: Option<u32>,
    /// The arguments of opening a file.
    pub create: Option<Create>,
    /// The path as UTF-16, for an open.
    pub open_path: Option<&'a [u8]>,
}

impl<'a> Operation<'a> {
    /// Reads a payload of a type for which [`name`] returns a name.
    #[must_use]
    pub fn parse(payload: &'a [u8], op: u8, version: u8, pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let is_transfer = matches!(op, opcode::READ | opcode::WRITE);
        let opens = matches!(op, opcode::CREATE | opcode::CREATE_NEW);
        // Of the operations that neither open nor transfer, these have no pointer of extra
        // information after the key.
        let has_extra_info = !matches!(
            op,
            opcode::CLEANUP | opcode::CLOSE | opcode::FLUSH | opcode::DIR_ENUM | opcode::DIR_NOTIFY
        );
        let mut read = Self::default();
        let offset = if is_transfer { Some(c.u64()?) } else { None };
        read.irp = c.pointer(pointer_size)?;
        if version < 3 {
            read.tid = c.pointer(pointer_size)? as u32;
        }
        read.file_object = c.pointer(pointer_size)?;
        if !opens {
            read.file_key = c.pointer(pointer_size)?;
        }
        if has_extra_info && !is_transfer && !opens {
            c.pointer(pointer_size)?;
        }
        if version >= 3 {
            read.tid = c.u32()?;
        }
        if let Some(offset) = offset {
            read.transfer = Some((offset, c.u32()?));
            read.io_flags = c.u32();
        }
        if opens {
            let (options_and_disposition, attributes, share_access) =
                (c.u32()?, c.u32()?, c.u32()?);
            read.create = Some(Create {
                options_and_disposition,
                attributes,
                share_access,
            });
            read.open_path = Some(c.utf16());
        }
        if matches!(op, opcode::DIR_ENUM | opcode::DIR_NOTIFY) {
            read.info_class = c.u32().and_then(|_length| c.u32());
        } else if has_info_class(op) {
            read.info_class = c.u32();
        }
        Some(read)
    }
}

/// True if the information class is at the end of the fixed part (`FileIo_Info`).
const fn has_info_class(op: u8) -> bool {
    use opcode::{
        DELETE, DELETE_PATH, FS_CONTROL, QUERY_INFO, RENAME, RENAME_PATH, SET_INFO, SET_LINK,
        SET_LINK_PATH,
    };
    matches!(
        op,
        SET_INFO
            | DELETE
            | RENAME
            | QUERY_INFO
            | FS_CONTROL
            | DELETE_PATH
            | RENAME_PATH
            | SET_LINK_PATH
            | SET_LINK
    )
}

/// The end of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationEnd {
    /// Request packet.
    pub irp: u64,
    /// Bytes read or written, or another value returned by the file system.
    pub information: u64,
    /// NTSTATUS.
    pub status: u32,
}

impl OperationEnd {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        Some(Self {
            irp: c.pointer(pointer_size)?,
            information: c.pointer(pointer_size)?,
            status: c.u32()?,
        })
    }
}
