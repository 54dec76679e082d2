//! The SQL of memory of processes and of the machine.

use super::MemoryRequest;
use etwkit_question::sql::{Conditions, EXECUTABLE_TEXT, EXECUTABLES};

pub(super) const MIB: i64 = 1 << 20;

impl MemoryRequest {
    /// Returns the SQL for processes.
    #[must_use]
    pub fn sql(&self) -> String {
        let modules = self
            .modules
            .as_deref()
            .filter(|modules| !modules.is_empty());
        let diff = "abs(CASE WHEN f.pid IS NULL THEN l.commit_bytes ELSE l.commit_bytes - f.commit_bytes END)";
        let min_diff = i64::from(self.min_diff).saturating_mul(MIB);
        // A sample lists all processes with one time stamp: the first and the last time in the
        // range select the two samples.
        let conditions = Conditions::of("l.ts_ns = e.last_ns")
            .and(self.processes.conditions())
            .text(EXECUTABLE_TEXT, modules)
            .ranges([
                ("l.commit_bytes", self.commit),
                ("l.working_set_bytes", self.working_set),
                ("coalesce(f.working_set_bytes, 0)", self.first_working_set),
                ("l.private_working_set_bytes", self.private_working_set),
                ("l.shared_commit_bytes", self.shared_commit),
            ])
            .when(self.min_diff > 0, &format!("{diff} >= {min_diff}"));
        let sort = self.sort.sql();
        let range = Conditions::new().range("ts_ns", self.time);
        // Both samples are joined by key as well as by id, since the id may have belonged to
        // another process at the start. Parts of the system have no key; they are joined by name.
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT l.ts_ns, l.process_key, l.pid, coalesce(p.name, l.part) AS process, p.command_line, p.session_id,
  p.start_ns AS process_start_ns,
  p.stop_ns AS process_stop_ns, l.commit_bytes, coalesce(l.commit_bytes - f.commit_bytes, 0) AS commit_diff_bytes, l.working_set_bytes,
  coalesce(l.working_set_bytes - f.working_set_bytes, 0) AS working_set_diff_bytes, l.private_working_set_bytes, l.shared_commit_bytes,
  v.path AS module_path, v.file_version, v.product_name, v.company, v.product_version, v.description
FROM memory_sample l
CROSS JOIN (SELECT min(ts_ns) AS first_ns, max(ts_ns) AS last_ns FROM memory_sample{range}) e
LEFT JOIN memory_sample f ON f.ts_ns = e.first_ns AND f.pid = l.pid AND coalesce(f.process_key, -1) = coalesce(l.process_key, -1)
  AND coalesce(f.part, '') = coalesce(l.part, '')
LEFT JOIN process p ON p.process_key = l.process_key{EXECUTABLES}{conditions}
)
ORDER BY sort_value, commit_bytes, pid, process_key",
        )
    }

    /// Returns the SQL for the machine.
    #[must_use]
    pub fn machine_sql(&self) -> String {
        let range = Conditions::new().range("ts_ns", self.time);
        format!(
            "SELECT l.ts_ns, l.commit_bytes, l.commit_bytes - f.commit_bytes AS commit_diff_bytes, l.in_use_bytes,
  l.in_use_bytes - f.in_use_bytes AS in_use_diff_bytes, l.standby_bytes, l.free_bytes + l.zero_bytes AS free_bytes, l.modified_bytes,
  t.memory_bytes, e.samples
FROM memory_machine l
CROSS JOIN (SELECT min(ts_ns) AS first_ns, max(ts_ns) AS last_ns, count(*) AS samples FROM memory_machine{range}) e
JOIN memory_machine f ON f.ts_ns = e.first_ns
CROSS JOIN trace t
WHERE l.ts_ns = e.last_ns
LIMIT 1"
        )
    }
}
