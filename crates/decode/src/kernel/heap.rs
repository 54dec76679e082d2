//! Process heaps: group 16. Programs log these events themselves, so the headers name process and
//! thread. No available trace has these events: the layouts follow the documentation of Windows.

use etwkit_etl::bytes::Cursor;

/// Types of these events.
pub mod opcode {
    types! {
        HEAP {
            /// A heap is created.
            CREATE = 32, "Create";
            /// A block is allocated.
            ALLOCATE = 33, "Alloc";
            /// A block is resized.
            REALLOCATE = 34, "ReAlloc";
            /// A heap ends, with all of its blocks.
            DESTROY = 35, "Destroy";
            /// A block is freed.
            FREE = 36, "Free";
        }
    }
}

/// A change of a heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was created.
    Create,
    /// A block was allocated.
    Allocate {
        /// Requested bytes.
        size: u64,
        /// Address of the block.
        address: u64,
    },
    /// A block was resized.
    Reallocate {
        /// New address.
        address: u64,
        /// Old address.
        old_address: u64,
        /// Requested bytes.
        size: u64,
        /// Old size in bytes.
        old_size: u64,
    },
    /// A block was freed.
    Free {
        /// Address of the freed block.
        address: u64,
    },
    /// The heap ended.
    Destroy,
}

impl Change {
    /// Reads the handle of the heap and the change; `None` for other types.
    #[must_use]
    pub fn parse(payload: &[u8], op: u8, pointer_size: usize) -> Option<(u64, Self)> {
        let mut c = Cursor::new(payload);
        let heap = c.pointer(pointer_size)?;
        let change = match op {
            opcode::CREATE => Self::Create,
            opcode::ALLOCATE => Self::Allocate {
                size: c.pointer(pointer_size)?,
                address: c.pointer(pointer_size)?,
            },
            opcode::REALLOCATE => {
                let address = c.pointer(pointer_size)?;
                let old_address = c.pointer(pointer_size)?;
                let size = c.pointer(pointer_size)?;
                let old_size = c.pointer(pointer_size)?;
                Self::Reallocate {
                    address,
                    old_address,
                    size,
                    old_size,
                }
            }
            opcode::DESTROY => Self::Destroy,
            opcode::FREE => Self::Free {
                address: c.pointer(pointer_size)?,
            },
            _ => return None,
        };
        Some((heap, change))
    }

    /// Name of the change in the extract.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Allocate { .. } => "allocate",
            Self::Reallocate { .. } => "reallocate",
            Self::Free { .. } => "free",
            Self::Destroy => "destroy",
        }
    }
}
