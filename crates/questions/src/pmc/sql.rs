//! The SQL of performance counters.

use super::{COLUMNS, PmcAnswer, PmcRequest, PmcRow};
use etwkit_question::group::grouped;
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS, ends};
use etwkit_question::{Error, Result, ask, has_rows};
use etwkit_sql::Session;

/// Value of a counter of a row of `pmc` at its position.
const VALUE: &str = "CASE c.position WHEN 0 THEN r.value_0 WHEN 1 THEN r.value_1 WHEN 2 THEN r.value_2 \
     WHEN 3 THEN r.value_3 WHEN 4 THEN r.value_4 WHEN 5 THEN r.value_5 WHEN 6 THEN r.value_6 END";

impl PmcRequest {
    /// Returns values of counters: `owner` (process, thread, method), counter, kind, value, count,
    /// time.
    fn facts(&self) -> String {
        let (a, b) = ends(self.time);
        let limits = if self.time.is_unlimited() {
            String::new()
        } else {
            format!(" AND r.ts_ns BETWEEN {a} AND {b}")
        };
        if self.methods.is_none() && self.time.is_unlimited() {
            return "SELECT process_key, thread_key, CAST(NULL AS VARCHAR) AS name, counter, kind, value, count, run_ns
  FROM pmc_thread"
                .to_owned();
        }
        let stack = if self.methods.is_some() {
            "r.stack_id"
        } else {
            "CAST(NULL AS INT)"
        };
        let single = format!(
            "SELECT r.process_key, r.thread_key, {stack} AS stack_id, c.name AS counter, 'counted' AS kind,
    sum({VALUE}) AS value, count(*) AS count, sum(r.run_ns) AS run_ns
  FROM pmc r CROSS JOIN pmc_counter c
  WHERE c.position IS NOT NULL AND {VALUE} IS NOT NULL{limits}
  GROUP BY 1, 2, 3, 4
  UNION ALL
  SELECT r.process_key, r.thread_key, {stack}, r.counter, 'sampled', sum(coalesce(r.interval, 0)), count(*), CAST(NULL AS BIGINT)
  FROM pmc_sample r
  WHERE TRUE{limits}
  GROUP BY 1, 2, 3, 4"
        );
        if self.methods.is_none() {
            return format!(
                "SELECT process_key, thread_key, CAST(NULL AS VARCHAR) AS name, counter, kind, value, count, run_ns
  FROM ({single})"
            );
        }
        let module = if self.include_dll {
            "d.name || '!'"
        } else {
            "CAST(NULL AS VARCHAR)"
        };
        format!(
            "SELECT v.process_key, CAST(NULL AS INT) AS thread_key, n.name, v.counter, v.kind, v.value, v.count, v.run_ns
  FROM ({single}) v
  JOIN (
    SELECT s.stack_id, CASE WHEN m.name IS NULL THEN concat(d.name, '+', hex(coalesce(f.rva, f.address)))
      ELSE concat({module}, m.name) END AS name
    FROM stack_frame s
    JOIN frame f ON f.frame_id = s.frame_id
    LEFT JOIN method m ON m.method_id = f.method_id
    LEFT JOIN module d ON d.module_id = f.module_id
    WHERE s.first AND s.stack_id IN (SELECT stack_id FROM pmc UNION SELECT stack_id FROM pmc_sample)
  ) n ON n.stack_id = v.stack_id"
        )
    }

    /// Returns the SQL of the question. Sums by owner and counter come first, so that times of
    /// several counters are not added up.
    #[must_use]
    pub fn sql(&self) -> String {
        let thread = if self.per_thread && self.methods.is_none() {
            "thread_key"
        } else {
            "CAST(NULL AS INT)"
        };
        let named: Vec<String> = COLUMNS
            .iter()
            .map(|(column, names)| {
                let of = |name: &&str| format!("max(value) FILTER (WHERE counter = '{name}')");
                format!(
                    "coalesce({}) AS {column}",
                    names.iter().map(of).collect::<Vec<_>>().join(", ")
                )
            })
            .collect();
        let known: Vec<String> = COLUMNS
            .iter()
            .flat_map(|(_, names)| *names)
            .map(|name| format!("'{name}'"))
            .collect();
        let conditions = Conditions::of("coalesce(p.pid, -1) <> 0")
            .and(self.processes.conditions())
            .text("c.name", self.methods.as_deref());
        // `counted` sorts before `sampled`: counters that a context switch carries are exact, and
        // must not be added to estimates from samples.
        format!(
            "WITH fact AS (
  {facts}
),
total AS (
  SELECT process_key, {thread} AS thread_key, name, counter, kind, sum(value) AS value, sum(count) AS count, sum(run_ns) AS run_ns
  FROM fact
  WHERE kind = (SELECT min(kind) FROM fact)
  GROUP BY 1, 2, 3, 4, 5
),
counted AS (
  SELECT process_key, thread_key, name, kind, {named},
    max(run_ns) AS run_ns, max(count) AS count,
    string_agg(concat(counter, '=', value), ' ' ORDER BY counter) FILTER (WHERE counter NOT IN ({known})) AS other_counters
  FROM total
  GROUP BY process_key, thread_key, name, kind
)
SELECT c.*, {PROCESS_COLUMNS}, t.tid,
  CAST(c.cycles AS DOUBLE) / nullif(c.instructions, 0) AS cpi,
  100.0 * c.branch_mispredictions / nullif(c.branches, 0) AS branch_mispredict_percent,
  100.0 * c.cache_misses / nullif(c.llc_references, 0) AS cache_miss_percent,
  1e9 * c.instructions / nullif(c.run_ns, 0) AS instructions_per_s,
  1e9 * c.cycles / nullif(c.run_ns, 0) AS cycles_per_s,
  CAST(coalesce(c.instructions, c.branch_mispredictions, c.cache_misses, c.count) AS DOUBLE) AS sort_value
FROM counted c
LEFT JOIN process p ON p.process_key = c.process_key
LEFT JOIN thread t ON t.thread_key = c.thread_key{conditions}
ORDER BY sort_value, c.process_key, c.thread_key, c.name",
            facts = self.facts(),
            named = named.join(",\n    "),
            known = known.join(", "),
        )
    }

    /// Runs the question and returns its answer.
    ///
    /// # Errors
    /// No counters were recorded; single rows are needed, and the extract has none; the query
    /// fails.
    pub fn ask(&self, session: &Session) -> Result<PmcAnswer> {
        if !has_rows(session, "pmc_thread")? {
            return Err(Error::NotRecorded {
                what: "performance counters",
                how: "record with a WPR profile that has a HardwareCounter with the Counters InstructionRetired and TotalCycles on the \
                      event CSwitch; virtual machines mostly have no counters",
                tables: Vec::new(),
            });
        }
        let needs_rows = self.methods.is_some() || !self.time.is_unlimited();
        if needs_rows && !has_rows(session, "pmc")? && !has_rows(session, "pmc_sample")? {
            return Err(Error::NeedsRows {
                what: "scheduling slices of threads",
            });
        }
        let rows: Vec<PmcRow> = ask(session, &self.sql())?;
        let largest = |rows: &[PmcRow]| rows.iter().map(|row| row.sort_value).fold(0.0, f64::max);
        let key = |row: &PmcRow| row.process_key.filter(|_| self.methods.is_some());
        let mut groups = grouped(rows, key, self.top, largest);
        groups.sort_by(|a, b| a.total.total_cmp(&b.total));
        Ok(groups)
    }
}
