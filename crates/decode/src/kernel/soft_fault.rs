//! Page faults raised by the processor: group 2, types 10 to 15. They name neither process nor
//! thread: they belong to the running thread. No available trace has these events: the layout
//! follows the documentation of Windows.

use etwkit_etl::bytes::Cursor;

/// Types of these events.
pub mod opcode {
    types! {
        MEMORY {
            /// The page was in memory, on its way out.
            TRANSITION = 10, "TransitionFault";
            /// A page of zeros was supplied.
            DEMAND_ZERO = 11, "DemandZeroFault";
            /// A shared page was copied because it is written to.
            COPY_ON_WRITE = 12, "CopyOnWrite";
            /// A guard page was touched.
            GUARD_PAGE = 13, "GuardPageFault";
            /// The page has to be read from a file.
            HARD = 14, "HardPageFault";
            /// The access is not allowed.
            ACCESS_VIOLATION = 15, "AccessViolation";
        }
    }
}

/// The name of a type in the extract; `None` for other types.
#[must_use]
pub const fn name(op: u8) -> Option<&'static str> {
    Some(match op {
        opcode::TRANSITION => "transition",
        opcode::DEMAND_ZERO => "demand_zero",
        opcode::COPY_ON_WRITE => "copy_on_write",
        opcode::GUARD_PAGE => "guard_page",
        opcode::HARD => "hard",
        opcode::ACCESS_VIOLATION => "access_violation",
        _ => return None,
    })
}

/// A page fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Address that was touched.
    pub address: u64,
    /// Address of the instruction that touched it.
    pub instruction: u64,
}

impl Fault {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        Some(Self {
            address: c.pointer(pointer_size)?,
            instruction: c.pointer(pointer_size)?,
        })
    }
}
