//! The SQL of questions for messages of ALPC.

use super::{AlpcBy, AlpcRequest};
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS, process_columns, stack_text};

impl AlpcRequest {
    /// Returns conditions on single messages, which sums cannot answer.
    fn limits(&self) -> Conditions {
        Conditions::new()
            .known("a.sender_wait_ns", self.wait)
            .time("coalesce(a.send_ns, a.receive_ns, a.end_ns)", self.time)
            .stack("a.stack_id", self.stack.as_deref())
    }

    pub(super) fn needs_rows(&self) -> bool {
        !self.limits().is_empty()
    }

    fn conditions(&self) -> Conditions {
        self.processes
            .conditions()
            .process("q", self.receiver.as_deref())
            .text("a.port_name", self.port.as_deref())
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let sums = if self.needs_rows() {
            format!(
                "SELECT a.sender_process_key, a.receiver_process_key, a.port_name, 1 AS count,
    CASE WHEN a.reply_ns IS NULL THEN 0 ELSE 1 END AS replies, CASE WHEN a.sender_wait_ns IS NULL THEN 0 ELSE 1 END AS waits,
    coalesce(a.sender_wait_ns, 0) AS sender_wait_ns, a.sender_wait_ns AS max_sender_wait_ns,
    coalesce(a.delivery_ns, 0) AS delivery_ns, coalesce(a.service_ns, 0) AS service_ns, a.service_ns AS max_service_ns
  FROM alpc a{}",
                self.limits()
            )
        } else {
            "SELECT * FROM alpc_process".to_owned()
        };
        let column = |is_key: bool, of: &str, kind: &str, name: &str| {
            if is_key {
                format!("{of} AS {name}")
            } else {
                format!("CAST(NULL AS {kind}) AS {name}")
            }
        };
        let has_receiver = self.by != AlpcBy::Sender;
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, receiver_key, \
                    receiver_pid, receiver, port_name";
        // The shared columns of a process take their key from a column `process_key`, here the
        // sender's.
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {keys}, sum(count) AS count, sum(replies) AS replies, sum(waits) AS waits, sum(sender_wait_ns) AS sender_wait_ns,
  max(max_sender_wait_ns) AS max_sender_wait_ns, sum(delivery_ns) AS delivery_ns, sum(service_ns) AS service_ns,
  max(max_service_ns) AS max_service_ns
FROM (
  SELECT {process}, {receiver_key}, {receiver_pid}, {receiver}, {port}, a.count, a.replies, a.waits, a.sender_wait_ns,
    a.max_sender_wait_ns, a.delivery_ns, a.service_ns, a.max_service_ns
  FROM (
  SELECT *, sender_process_key AS process_key FROM (
  {sums}
  )
  ) a
  LEFT JOIN process p ON p.process_key = a.process_key
  LEFT JOIN process q ON q.process_key = a.receiver_process_key{conditions}
)
GROUP BY {keys}
)
ORDER BY sort_value, service_ns, count, process_key, receiver_key, port_name",
            sort = self.sort.sql(),
            process = process_columns("a", self.by != AlpcBy::Receiver),
            receiver_key = column(has_receiver, "a.receiver_process_key", "INT", "receiver_key"),
            receiver_pid = column(has_receiver, "q.pid", "INT", "receiver_pid"),
            receiver = column(has_receiver, "q.name", "VARCHAR", "receiver"),
            port = column(self.by == AlpcBy::Service, "a.port_name", "VARCHAR", "port_name"),
            conditions = self.conditions(),
        )
    }

    /// Returns the SQL for single messages.
    #[must_use]
    pub fn messages_sql(&self) -> String {
        let sort = self.sort.single_sql();
        let conditions = self.conditions().and(self.limits());
        let (text, join) = stack_text("a.stack_id", "stack", self.stacks);
        format!(
            "SELECT a.send_ns, a.receive_ns, a.reply_ns, a.end_ns, a.sender_wait_ns, a.delivery_ns, a.service_ns, a.duration_ns,
  CASE WHEN a.status IS NULL THEN NULL ELSE ntstatus_name(a.status) END AS status_name,
  a.sender_process_key AS process_key, {PROCESS_COLUMNS}, t.tid, q.pid AS receiver_pid, q.name AS receiver, u.tid AS receiver_tid,
  a.port_name, a.stack_id, {text}, CAST({sort} AS DOUBLE) AS sort_value
FROM alpc a
LEFT JOIN process p ON p.process_key = a.sender_process_key
LEFT JOIN process q ON q.process_key = a.receiver_process_key
LEFT JOIN thread t ON t.thread_key = a.sender_thread_key
LEFT JOIN thread u ON u.thread_key = a.receiver_thread_key{join}{conditions}
ORDER BY sort_value, coalesce(a.send_ns, a.receive_ns, a.end_ns), a.message_id",
        )
    }
}
