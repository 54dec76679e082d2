//! DPCs and interrupts: group 15, types 50, 66 to 69 and 95. They are stamped when they end.

use etwkit_etl::bytes::Cursor;

/// Types of these events.
pub mod opcode {
    types! {
        PERFINFO {
            /// Message-signalled interrupt.
            ISR_MSI = 50, "ISR-MSI";
            /// DPC that runs on a thread of its own.
            THREADED_DPC = 66, "ThreadedDPC";
            /// Interrupt.
            ISR = 67, "ISR";
            /// DPC.
            DPC = 68, "DPC";
            /// DPC of a timer.
            TIMER_DPC = 69, "TimerDPC";
            /// Interrupt at passive level.
            ISR_PASSIVE = 95, "ISR-PASS";
        }
    }
}

/// The name of a type in the extract; `None` for types that are neither DPC nor interrupt.
#[must_use]
pub const fn name(op: u8) -> Option<&'static str> {
    Some(match op {
        opcode::ISR | opcode::ISR_MSI | opcode::ISR_PASSIVE => "isr",
        opcode::THREADED_DPC => "threaded_dpc",
        opcode::DPC => "dpc",
        opcode::TIMER_DPC => "timer_dpc",
        _ => return None,
    })
}

/// A DPC or interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DpcIsr {
    /// Raw time of its start.
    pub initial_time: i64,
    /// Address of its routine.
    pub routine: u64,
    /// Vector of an interrupt.
    pub vector: Option<u16>,
}

impl DpcIsr {
    /// Reads a payload of a type for which [`name`] returns a name.
    #[must_use]
    pub fn parse(payload: &[u8], op: u8, version: u8, pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let initial_time = c.i64()?;
        let routine = c.pointer(pointer_size)?;
        let is_interrupt = matches!(op, opcode::ISR | opcode::ISR_MSI | opcode::ISR_PASSIVE);
        let vector = if is_interrupt && version >= 2 {
            c.u8()?; // whether the routine claimed it
            Some(c.u16()?)
        } else {
            None
        };
        Some(Self {
            initial_time,
            routine,
            vector,
        })
    }
}
