//! Tables of ALPC messages, and tables computed from them.

tables! {
    /// An ALPC message from one thread to another, with its answer.
    Alpc / AlpcColumns = "alpc", order [] {
        /// Number of the message, as bit pattern; numbers are reused.
        message_id: i32;
        /// Time at which it was sent; null if that is not in the trace.
        send_ns: Option<i64>, "ns";
        /// Process that sent it: the caller of a service; null if unknown.
        sender_process_key: Option<i32>, "key";
        /// Thread that sent it; null if unknown.
        sender_thread_key: Option<i32>, "key";
        /// Time at which it was received; null if that is not in the trace.
        receive_ns: Option<i64>, "ns";
        /// Process that received it: the service; null if unknown.
        receiver_process_key: Option<i32>, "key";
        /// Thread that received it; null if unknown.
        receiver_thread_key: Option<i32>, "key";
        /// Name of the port at which the receiving thread waited for it; null if it had not waited,
        /// or the port has no name.
        port_name: Option<Arc<str>>;
        /// Time that the receiving thread had waited for a message; null if it had not waited.
        receiver_wait_ns: Option<i64>, "ns";
        /// `receive_ns` − `send_ns`: time until the message was received.
        delivery_ns: Option<i64>, "ns";
        /// Time at which the receiving process sent its answer; null if there is none in the trace.
        reply_ns: Option<i64>, "ns";
        /// Thread that answered, which may differ from the thread that received it; null if
        /// unknown.
        reply_thread_key: Option<i32>, "key";
        /// `reply_ns` − `receive_ns`: time that the receiver worked on it.
        service_ns: Option<i64>, "ns";
        /// Time at which the sender received the answer; null if that is not in the trace.
        end_ns: Option<i64>, "ns";
        /// `end_ns` − `send_ns`: the whole call.
        duration_ns: Option<i64>, "ns";
        /// Time that the sender waited for the answer; null if it did not wait, or one end of its
        /// wait is not in the trace.
        sender_wait_ns: Option<i64>, "ns";
        /// NTSTATUS with which that wait ended, as bit pattern.
        status: Option<i32>;
        /// Stack that sent it.
        stack_id: Option<i32>, "key";
    }

    /// ALPC messages from one process to another.
    AlpcProcess / AlpcProcessColumns = "alpc_process", order ["sender_process_key"] {
        /// Process that sent them; null if unknown.
        sender_process_key: Option<i32>, "key";
        /// Process that received them; null if unknown.
        receiver_process_key: Option<i32>, "key";
        /// Name of the port; null if the receiver had not waited there, or it has no name.
        port_name: Option<Arc<str>>;
        /// Number of messages.
        count: i64;
        /// Number of answered messages.
        replies: i64;
        /// Number of messages whose sender waited for the answer.
        waits: i64;
        /// Sum of the waits of senders for answers.
        sender_wait_ns: i64, "ns";
        /// Longest wait of a sender.
        max_sender_wait_ns: Option<i64>, "ns";
        /// Sum of the times until messages were received.
        delivery_ns: i64, "ns";
        /// Sum of the times that receivers worked on messages.
        service_ns: i64, "ns";
        /// Longest time that a receiver worked on a message.
        max_service_ns: Option<i64>, "ns";
    }
}

use std::sync::Arc;
