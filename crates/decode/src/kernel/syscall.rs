//! System calls (group 15, types 51 and 52). The events name neither process nor thread: they
//! belong to the thread that runs on the processor.

use etwkit_etl::bytes::{pointer_at, u32_at};

/// Types of these events.
pub mod opcode {
    types! {
        PERFINFO {
            /// A thread enters the kernel.
            ENTER = 51, "SysClEnter";
            /// It leaves the kernel.
            EXIT = 52, "SysClExit";
        }
    }
}

/// Address of the function that is called, from the payload of [`opcode::ENTER`].
#[inline]
#[must_use]
pub fn address(payload: &[u8], pointer_size: usize) -> Option<u64> {
    pointer_at(payload, 0, pointer_size)
}

/// The return value of the function, from the payload of [`opcode::EXIT`]: an NTSTATUS, or any
/// number for functions of the window manager.
#[inline]
#[must_use]
pub fn status(payload: &[u8]) -> Option<u32> {
    u32_at(payload, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_a_pointer_and_a_status() {
        assert_eq!(
            address(&[1, 2, 3, 4, 5, 6, 7, 0x80], 8),
            Some(0x8007_0605_0403_0201)
        );
        assert_eq!(
            (address(&[1, 0, 0, 0x80], 4), address(&[1, 0, 0, 0], 8)),
            (Some(0x8000_0001), None)
        );
        assert_eq!(
            (status(&[0x22, 0, 0, 0xC0]), status(&[0])),
            (Some(0xC000_0022), None)
        );
    }
}
