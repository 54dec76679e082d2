//! The SQL of last branch records.

use super::LbrRequest;
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS};

impl LbrRequest {
    fn name(&self, side: &str) -> String {
        let named = if self.include_dll {
            format!("concat(l.{side}_module || '!', l.{side})")
        } else {
            format!("l.{side}")
        };
        format!(
            "CASE WHEN starts_with(l.{side}, '+') THEN concat(coalesce(l.{side}_module, ''), l.{side}) ELSE {named} END"
        )
    }

    /// Returns the SQL of the question.
    #[must_use]
    pub fn sql(&self) -> String {
        let none = || "CAST(NULL AS VARCHAR)".to_owned();
        let (has_callees, has_callers) =
            (self.methods.is_some() || self.show_caller, self.show_caller);
        let callee = if has_callees {
            self.name("callee")
        } else {
            none()
        };
        let caller = if has_callers {
            self.name("caller")
        } else {
            none()
        };
        let limits = Conditions::new()
            .text("callee", self.methods.as_deref())
            .range("callee_count", self.count)
            // Without callers both columns are the same number.
            .ranges(has_callers.then_some(("count", self.count)));
        format!(
            "SELECT * FROM (
SELECT *, sum(count) OVER (PARTITION BY process_key, callee) AS callee_count
FROM (
SELECT process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, caller, callee,
  CAST(round(sum(count) * {factor:?}) AS BIGINT) AS count
FROM (
SELECT l.process_key, {PROCESS_COLUMNS}, {caller} AS caller, {callee} AS callee, l.count
FROM lbr_method l
LEFT JOIN process p ON p.process_key = l.process_key{conditions}
)
GROUP BY process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, caller, callee
)
){limits}
ORDER BY callee_count, callee, count DESC, caller, process_key",
            // Its debug form has a decimal point, without which SQL would take it for a whole
            // number.
            factor = self.scaling_factor,
            conditions = self.processes.conditions(),
        )
    }
}
