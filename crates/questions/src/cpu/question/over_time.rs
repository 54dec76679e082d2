//! CPU over time: one row for each of N equal parts of the time that the answer covers.

use super::{cpu_word, source_line};
use crate::cpu::CpuRequest;
use crate::cpu::fact;
use crate::cpu::source;
use crate::cpu::source::CpuSource;
use etwkit_question::Format::{Fixed, Milliseconds, Process, Word};
use etwkit_question::covered::{Covered, Recorder};
use etwkit_question::declare;
use etwkit_question::rows::Field;
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS};
use etwkit_question::{Answer, Column, Ranked, View};
use etwkit_question::{Result, ask};
use etwkit_sql::Session;

declare! {
    /// CPU in a part of the trace.
    pub row CpuBucket: process {
        start_ns: i64 = "Start of the part.",
        end_ns: i64 = "End of the part.",
        cpu_ns: i64 = "CPU in it.",
        machine_percent: f64 = "CPU in it, of all processors, in percent.",
        of_largest: f64 = "CPU in it, relative to the part with the most CPU.",
        cpu_source: String = "What CPU is computed from: `samples` or `context_switches`.",
        ..process = "Process with the most CPU in it; missing without any, and if it is not known.",
        process_cpu_ns: Option<i64> = "CPU of that process.",
        ..process_details,
    }
}

/// A question with the source of its CPU times.
#[derive(Clone)]
struct OverTimeContext {
    source: Option<CpuSource>,
}

type CpuBucketColumn = Column<OverTimeContext, CpuBucket>;

const PARTS: View<OverTimeContext, CpuBucket> = View::new(
    &[
        CpuBucketColumn::time("Time", |_, row| row.start_ns.into()),
        CpuBucketColumn::new("Cpu", "", Milliseconds, |_, row| row.cpu_ns.into())
            .titled(|asked| format!("{} ms", cpu_word(asked.source)))
            .cost(),
        CpuBucketColumn::new("Percent", "% of machine", Fixed(1), |_, row| {
            row.machine_percent.into()
        }),
        CpuBucketColumn::new("Bar", "of the largest", Word, |_, row| {
            bar(row.of_largest).into()
        }),
        CpuBucketColumn::new("ProcessCpu", "Most ms", Milliseconds, |_, row| {
            row.process_cpu_ns.into()
        }),
        CpuBucketColumn::new("Process", "Process with the most", Process, |_, row| {
            row.into()
        }),
    ],
    |row| row.start_ns as f64,
)
.ranking(|_| Ranked::No);

/// Declares the aggregation of columns of JSON and CSV.
pub(super) fn describe(_: &CpuRequest, fields: &mut [Field]) {
    PARTS.describe(
        &OverTimeContext { source: None },
        |row: CpuBucket| row,
        fields,
    );
}

/// Returns a bar of at most 30 characters; any CPU has one.
fn bar(of_largest: f64) -> String {
    "#".repeat((of_largest.clamp(0.0, 1.0) * 30.0).ceil() as usize)
}

pub(super) fn answer(question: &CpuRequest, session: &Session) -> Result<Answer> {
    let rows: Vec<CpuBucket> = ask(session, &question.over_time_sql())?;
    let source = rows
        .first()
        .and_then(|row| CpuSource::named(&row.cpu_source));
    Answer::rows(&OverTimeContext { source }, &PARTS, rows)
        .with_head(source_line(source, ""))
        .moved(&question.zero, session)
}

impl CpuRequest {
    /// Returns the SQL for CPU over time. A sample belongs to the part that contains its time. A
    /// scheduling slice is split over all parts that it overlaps.
    pub(super) fn over_time_sql(&self) -> String {
        let Covered { start, end } = Covered::new(Recorder::Kernel, self.time);
        // The width of parts is rounded up, so the last part is the shorter one and nothing remains
        // after it. A sample at the very end belongs to the last part, not to another one after it.
        let parts = self.over_time.unwrap_or(1);
        // The idle process has the interrupts on idle processors; sums of processes also exclude
        // it.
        let conditions =
            Conditions::of("coalesce(p.pid, -1) <> 0").and(self.processes.conditions());
        format!(
            "WITH {facts},
part AS (
  SELECT *, greatest((end_ns - begin_ns + {parts} - 1) / {parts}, 1) AS width
  FROM (
    SELECT coalesce(max({start}), 0) AS begin_ns,
      greatest(coalesce(max({end}), 0), coalesce(max({start}), 0) + 1) AS end_ns,
      max(processors) AS processors, ({sampled}) > 0 AS is_sampled, {source}
    FROM trace
  )
),
used AS (
  SELECT process_key, least((first_ns - begin_ns) / width, {parts} - 1) AS place, cpu_ns
  FROM fact CROSS JOIN part
  WHERE is_sampled AND cpu_ns IS NOT NULL AND first_ns BETWEEN begin_ns AND end_ns
  UNION ALL
  SELECT process_key, place, least(run_end, begin_ns + (place + 1) * width) - greatest(run_start, begin_ns + place * width)
  FROM (
    SELECT process_key, begin_ns, width, run_start, run_end,
      unnest(generate_series((run_start - begin_ns) / width, least((run_end - 1 - begin_ns) / width, {parts} - 1))) AS place
    FROM (
      SELECT process_key, begin_ns, width, greatest(run_start, begin_ns) AS run_start, least(run_end, end_ns) AS run_end
      FROM fact CROSS JOIN part WHERE NOT is_sampled
    )
    WHERE run_end > run_start
  )
),
by_process AS (
  SELECT place, process_key, sum(cpu_ns) AS cpu_ns
  FROM (SELECT u.* FROM used u LEFT JOIN process p ON p.process_key = u.process_key{conditions})
  GROUP BY place, process_key
),
summed AS (
  SELECT place, sum(cpu_ns) AS cpu_ns, max(cpu_ns) AS process_cpu_ns,
    first_value(process_key ORDER BY cpu_ns DESC, process_key) AS process_key
  FROM by_process GROUP BY place
)
SELECT n.start_ns, n.end_ns, coalesce(s.cpu_ns, 0) AS cpu_ns,
  100.0 * coalesce(s.cpu_ns, 0) / ((n.end_ns - n.start_ns) * greatest(n.processors, 1)) AS machine_percent,
  coalesce(CAST(s.cpu_ns AS DOUBLE) / nullif(max(s.cpu_ns) OVER (), 0), 0.0) AS of_largest,
  n.cpu_source, s.process_key, {PROCESS_COLUMNS}, s.process_cpu_ns
FROM (
  SELECT place, begin_ns + place * width AS start_ns, least(begin_ns + (place + 1) * width, end_ns) AS end_ns,
    processors, cpu_source
  FROM (SELECT *, unnest(generate_series(0, {parts} - 1)) AS place FROM part)
  WHERE begin_ns + place * width < end_ns
) n
LEFT JOIN summed s ON s.place = n.place
LEFT JOIN process p ON p.process_key = s.process_key
ORDER BY n.start_ns",
            facts = fact::rows(self.time, &self.processes),
            sampled = source::SAMPLED_EVENTS,
            source = source::column(source::SAMPLED_EVENTS, "cpu_source"),
        )
    }
}
