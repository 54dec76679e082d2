//! ALPC messages, the calls of programs to services: group 26. The events name neither process nor
//! thread: they belong to the running thread. No available trace has these events: the layouts
//! follow the documentation of Windows.

use etwkit_etl::bytes::Cursor;

/// Types of these events.
pub mod opcode {
    types! {
        ALPC {
            /// A thread sends a message.
            SEND = 33, "ALPC-Send-Message";
            /// A thread receives a message.
            RECEIVE = 34, "ALPC-Receive-Message";
            /// A thread starts to wait for the answer to a message.
            WAIT_FOR_REPLY = 35, "ALPC-Wait-For-Reply";
            /// A thread starts to wait for messages.
            WAIT_FOR_MESSAGE = 36, "ALPC-Wait-For-New-Message";
            /// The wait of a thread ends.
            UNWAIT = 37, "ALPC-Unwait";
        }
    }
}

/// An action of a thread on messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// It sends the message with this number.
    Send(u32),
    /// It receives the message with this number.
    Receive(u32),
    /// It starts to wait for the answer to the message with this number.
    WaitForReply(u32),
    /// It starts to wait for messages at the port with this name, which may be empty.
    WaitForMessage(&'a [u8]),
    /// Its wait ends with this status.
    Unwait(u32),
}

impl<'a> Step<'a> {
    /// Reads a payload; `None` for other types.
    #[must_use]
    pub fn parse(payload: &'a [u8], op: u8) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let number = c.u32()?;
        Some(match op {
            opcode::SEND => Self::Send(number),
            opcode::RECEIVE => Self::Receive(number),
            opcode::WAIT_FOR_REPLY => Self::WaitForReply(number),
            opcode::WAIT_FOR_MESSAGE => Self::WaitForMessage(c.ansi()),
            opcode::UNWAIT => Self::Unwait(number),
            _ => return None,
        })
    }
}
