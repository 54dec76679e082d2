//! Callbacks of minifilter drivers: group 4, types 96 to 101. No available trace has these events:
//! the layouts follow the documentation of Windows.

use etwkit_etl::bytes::Cursor;

/// Types of these events.
pub mod opcode {
    types! {
        FILE {
            /// A pre-operation callback starts.
            PRE_START = 96, "PreOpInit";
            /// A post-operation callback starts.
            POST_START = 97, "PostOpInit";
            /// A pre-operation callback ended.
            PRE_END = 98, "PreOpCompletion";
            /// A post-operation callback ended.
            POST_END = 99, "PostOpCompletion";
            /// A pre-operation callback made the operation fail.
            PRE_FAILURE = 100, "PreOpFailure";
            /// A post-operation callback made the operation fail.
            POST_FAILURE = 101, "PostOpFailure";
        }
    }
}

/// The step of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It starts.
    Start,
    /// It ended; it started at this raw time.
    End(i64),
    /// It made the operation fail with this status.
    Failure(u32),
}

/// The identity of a callback invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Call {
    /// True for post-operation callbacks, false for pre-operation callbacks.
    pub is_post: bool,
    /// Address of its routine.
    pub routine: u64,
    /// Request packet of the operation.
    pub irp: u64,
    /// Address of the filter manager's data about the operation.
    pub callback_data: u64,
}

/// An event of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Callback {
    /// The invocation.
    pub call: Call,
    /// The step.
    pub step: Step,
    /// Open file.
    pub file_object: u64,
    /// Key of the file; 0 before it is open.
    pub file_key: u64,
    /// The operation on the file.
    pub major_function: u32,
}

impl Callback {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], op: u8, pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let start = match op {
            opcode::PRE_END | opcode::POST_END => Some(c.i64()?),
            _ => None,
        };
        let routine = c.pointer(pointer_size)?;
        let file_object = c.pointer(pointer_size)?;
        let file_key = c.pointer(pointer_size)?;
        let irp = c.pointer(pointer_size)?;
        let callback_data = c.pointer(pointer_size)?;
        let major_function = c.u32()?;
        let step = match (op, start) {
            (opcode::PRE_START | opcode::POST_START, _) => Step::Start,
            (opcode::PRE_FAILURE | opcode::POST_FAILURE, _) => Step::Failure(c.u32()?),
            (_, Some(start)) => Step::End(start),
            _ => return None,
        };
        let is_post = matches!(
            op,
            opcode::POST_START | opcode::POST_END | opcode::POST_FAILURE
        );
        let call = Call {
            is_post,
            routine,
            irp,
            callback_data,
        };
        Some(Self {
            call,
            step,
            file_object,
            file_key,
            major_function,
        })
    }
}

/// Operations by number, file operations first. For operations without a request packet, the filter
/// manager counts down from 255.
const OPERATIONS: [(u8, &str); 43] = [
    (0, "create"),
    (1, "create_named_pipe"),
    (2, "close"),
    (3, "read"),
    (4, "write"),
    (5, "query_information"),
    (6, "set_information"),
    (7, "query_ea"),
    (8, "set_ea"),
    (9, "flush_buffers"),
    (10, "query_volume_information"),
    (11, "set_volume_information"),
    (12, "directory_control"),
    (13, "file_system_control"),
    (14, "device_control"),
    (15, "internal_device_control"),
    (16, "shutdown"),
    (17, "lock_control"),
    (18, "cleanup"),
    (19, "create_mailslot"),
    (20, "query_security"),
    (21, "set_security"),
    (22, "power"),
    (23, "system_control"),
    (24, "device_change"),
    (25, "query_quota"),
    (26, "set_quota"),
    (27, "pnp"),
    (236, "volume_dismount"),
    (237, "volume_mount"),
    (238, "mdl_write_complete"),
    (239, "prepare_mdl_write"),
    (240, "mdl_read_complete"),
    (241, "mdl_read"),
    (242, "network_query_open"),
    (243, "fast_io_check_if_possible"),
    (249, "query_open"),
    (250, "release_for_cc_flush"),
    (251, "acquire_for_cc_flush"),
    (252, "release_for_mod_write"),
    (253, "acquire_for_mod_write"),
    (254, "release_for_section_synchronization"),
    (255, "acquire_for_section_synchronization"),
];

/// The name of a major function: a request packet's, or one of the filter manager's own.
#[must_use]
pub fn operation(major_function: u32) -> Option<&'static str> {
    // One byte in the structures of the filter manager, which events may carry with its sign.
    let [number, ..] = major_function.to_le_bytes();
    let is_byte = major_function <= 0xFF || major_function >= 0xFFFF_FF00;
    let place = OPERATIONS
        .binary_search_by_key(&number, |(number, _)| *number)
        .ok()?;
    OPERATIONS
        .get(place)
        .filter(|_| is_byte)
        .map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_of_both_pointer_sizes_are_read_to_their_ends() {
        for size in [4, 8] {
            let pointers = |first: u64| -> Vec<u8> {
                (first..first + 5)
                    .flat_map(|n| n.to_le_bytes()[..size].to_vec())
                    .collect()
            };
            let end = [&7i64.to_le_bytes()[..], &pointers(1), &3u32.to_le_bytes()].concat();
            let read = Callback::parse(&end, opcode::POST_END, size).unwrap();
            assert_eq!(
                read.call,
                Call {
                    is_post: true,
                    routine: 1,
                    irp: 4,
                    callback_data: 5
                }
            );
            assert_eq!(
                (read.step, read.file_object, read.file_key),
                (Step::End(7), 2, 3)
            );
            assert_eq!(operation(read.major_function), Some("read"));
            let failure = [
                &pointers(1)[..],
                &0u32.to_le_bytes(),
                &0xC000_0022_u32.to_le_bytes(),
            ]
            .concat();
            let read = Callback::parse(&failure, opcode::PRE_FAILURE, size).unwrap();
            assert_eq!(
                (read.call.is_post, read.step),
                (false, Step::Failure(0xC000_0022))
            );
            let start =
                Callback::parse(&failure[..failure.len() - 4], opcode::PRE_START, size).unwrap();
            assert_eq!((start.call, start.step), (read.call, Step::Start));
            for (payload, op) in [(&end, opcode::PRE_END), (&failure, opcode::POST_FAILURE)] {
                assert_eq!(
                    Callback::parse(&payload[..payload.len() - 1], op, size),
                    None
                );
            }
        }
    }

    #[test]
    fn operations_are_those_of_request_packets_and_those_of_the_filter_manager() {
        assert!(OPERATIONS.is_sorted_by(|a, b| a.0 < b.0));
        for (number, name) in [
            (0, Some("create")),
            (27, Some("pnp")),
            (28, None),
            (255, Some("acquire_for_section_synchronization")),
            (u32::MAX - 1, Some("release_for_section_synchronization")),
            (0x100, None),
        ] {
            assert_eq!(operation(number), name, "{number}");
        }
    }
}
