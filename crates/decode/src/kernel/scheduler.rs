//! Scheduler events (group 5): context switches and readied threads.

use etwkit_etl::bytes::{Cursor, u32_at};

/// Types of these events.
pub mod opcode {
    types! {
        THREAD {
            /// A processor switches from one thread to another.
            CONTEXT_SWITCH = 36, "CSwitch";
            /// A thread becomes ready to run.
            READY_THREAD = 50, "ReadyThread";
            /// The priority that a thread runs with changes.
            SET_PRIORITY = 48, "SetPriority";
            /// The priority that boosts start from changes.
            SET_BASE_PRIORITY = 49, "SetBasePriority";
            /// The priority of the pages that a thread uses changes.
            SET_PAGE_PRIORITY = 51, "SetPagePriority";
            /// The priority of the I/O of a thread changes.
            SET_IO_PRIORITY = 52, "SetIoPriority";
        }
    }
}

/// `KTHREAD_STATE` of a thread that was taken off.
pub mod state {
    /// Ready: it was preempted or its quantum ended.
    pub const READY: u8 = 1;
    /// Ready, and chosen for a processor.
    pub const STANDBY: u8 = 3;
    /// It ended.
    pub const TERMINATED: u8 = 4;
    /// It waits.
    pub const WAITING: u8 = 5;
    /// Ready, not yet in a queue.
    pub const DEFERRED_READY: u8 = 7;
    /// It waits for a gate, in old Windows versions.
    pub const GATE_WAIT: u8 = 8;
    /// Its wait is over, but its process must be brought into memory before it becomes ready.
    pub const WAITING_FOR_PROCESS: u8 = 9;
}

/// `CSwitch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextSwitch {
    /// Thread that is switched in; 0 is idle.
    pub new_tid: u32,
    /// Thread that is switched out; 0 is idle.
    pub old_tid: u32,
    /// Priority of the thread that is switched in.
    pub new_priority: i8,
    /// Priority of the thread that is switched out.
    pub old_priority: i8,
    /// Idle state that the processor leaves; valid only if idle is switched out (version 2 and
    /// later).
    pub previous_c_state: u8,
    /// `KWAIT_REASON` of the thread that is switched out.
    pub old_wait_reason: u8,
    /// True if it waits in user mode: the wait mode of versions 1 and 2. From version 3 on its
    /// place holds the lowest of several bits.
    pub old_wait_user_mode: bool,
    /// One of [`state`].
    pub old_state: u8,
    /// Ideal processor of the thread that is switched out, by its number in the group.
    pub old_ideal_cpu: u8,
}

impl ContextSwitch {
    /// Reads a payload of version 1 or later.
    #[inline]
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let new_tid = c.u32()?;
        let old_tid = c.u32()?;
        let new_priority = c.i8()?;
        let old_priority = c.i8()?;
        let previous_c_state = c.u8()?;
        let _spare = c.u8()?;
        let old_wait_reason = c.u8()?;
        let mode = c.u8()?;
        let old_state = c.u8()?;
        let old_ideal_cpu = c.u8()?;
        Some(Self {
            new_tid,
            old_tid,
            new_priority,
            old_priority,
            previous_c_state,
            old_wait_reason,
            old_wait_user_mode: mode & 1 != 0,
            old_state,
            old_ideal_cpu,
        })
    }
}

/// `ReadyThread`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyThread {
    /// Thread that becomes ready.
    pub tid: u32,
    /// Reason for adjusting its priority: 0 no adjustment, 1 its wait is over, 2 it is boosted.
    pub adjust_reason: u8,
    /// Bit 0: readied by a DPC, so the thread on the processor is not the cause.
    pub flags: u8,
}

impl ReadyThread {
    /// Reads a payload.
    #[inline]
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        Some(Self {
            tid: u32_at(payload, 0)?,
            adjust_reason: *payload.get(4)?,
            flags: *payload.get(6)?,
        })
    }

    /// True if a DPC readied it.
    #[must_use]
    pub const fn from_dpc(&self) -> bool {
        self.flags & 1 != 0
    }
}

/// `SetPriority`, `SetBasePriority`, `SetPagePriority` and `SetIoPriority`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriorityChange {
    /// Thread whose priority changes.
    pub tid: u32,
    /// Priority before.
    pub old: u8,
    /// Priority from now on.
    pub new: u8,
}

impl PriorityChange {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        Some(Self {
            tid: u32_at(payload, 0)?,
            old: *payload.get(4)?,
            new: *payload.get(5)?,
        })
    }
}
