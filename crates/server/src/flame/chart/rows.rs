//! Statements for the samples and switches of a thread, and their rows.

use etwkit_question::covered::{Covered, Recorder};
use etwkit_sql::arrow::array::{AsArray, RecordBatch};
use etwkit_sql::arrow::datatypes::{Int32Type, Int64Type};
use etwkit_sql::{Result, Session};

use super::stacks::{Off, Sample};
use crate::wire::{FlameChartRequest, Range};

/// Statements for the tables that have rows.
pub(super) struct Statements {
    samples: Option<String>,
    offs: Option<String>,
}

impl Statements {
    pub(super) fn new(session: &Session, request: &FlameChartRequest) -> Self {
        let has = |table: &str| session.has_rows(table) == Some(true);
        Self {
            samples: has("cpu_sample").then(|| samples_sql(request)),
            offs: has("context_switch").then(|| offs_sql(request)),
        }
    }

    /// Returns the samples in the order of time.
    pub(super) fn samples(
        &self,
        session: &Session,
    ) -> Result<impl Iterator<Item = Result<Sample>>> {
        rows(session, self.samples.as_deref(), sample_rows)
    }

    /// Returns the times off the processor in the order of their starts.
    pub(super) fn offs(&self, session: &Session) -> Result<impl Iterator<Item = Result<Off>>> {
        rows(session, self.offs.as_deref(), off_rows)
    }

    /// Returns one statement with the rows of both; `None` if there is neither.
    pub(super) fn together(&self) -> Option<String> {
        let samples = self.samples.as_ref().map(|sql| {
            format!(
                "SELECT ts_ns AS from_ns, ts_ns AS to_ns, 'sample' AS kind, stack_id FROM ({sql})"
            )
        });
        let offs = self.offs.as_ref().map(|sql| {
            format!(
                "SELECT off_ns AS from_ns, on_ns AS to_ns, 'switch' AS kind, stack_id FROM ({sql})"
            )
        });
        let parts: Vec<String> = samples.into_iter().chain(offs).collect();
        (!parts.is_empty()).then(|| format!("{} ORDER BY from_ns", parts.join(" UNION ALL ")))
    }
}

/// Returns the statement for the samples of a thread.
fn samples_sql(request: &FlameChartRequest) -> String {
    let Range {
        from_ns: a,
        to_ns: b,
    } = request.range;
    // The table is in this order, so nothing is sorted.
    format!(
        "SELECT t.ts_ns, t.stack_id, t.weight_ns FROM cpu_sample t WHERE t.thread_key = {} \
         AND t.ts_ns >= {a} AND t.ts_ns < {b} AND NOT t.is_idle ORDER BY t.ts_ns",
        request.thread
    )
}

/// Returns the statement for the times of a thread off the processor: from a switch-out to the next
/// switch-in, or to the end of the recording or of the extracted part.
fn offs_sql(request: &FlameChartRequest) -> String {
    let Range {
        from_ns: a,
        to_ns: b,
    } = request.range;
    let known = Covered::whole(Recorder::Kernel).sql();
    // A slice ends after its switch-in, so all before the range are left out by their end.
    format!(
        "SELECT off_ns, on_ns, ready_from_ns, wait_reason, stack_id FROM (\
         SELECT coalesce(t.last_out_ns, t.in_ns - t.ready_ns) AS off_ns, \
         CASE WHEN t.is_open_wait THEN k.end_ns \
         ELSE coalesce(t.in_ns, t.last_out_ns + coalesce(t.wait_ns, 0) + t.ready_ns) END AS on_ns, \
         CASE WHEN t.is_open_wait THEN k.end_ns \
         ELSE coalesce(t.last_out_ns + t.wait_ns, t.in_ns - t.ready_ns) END AS ready_from_ns, \
         t.wait_reason, t.stack_id FROM context_switch t CROSS JOIN ({known}) k \
         WHERE t.thread_key = {} AND (t.out_ns >= {a} OR t.out_ns IS NULL)) \
         WHERE off_ns < {b} AND on_ns > {a} AND on_ns > off_ns ORDER BY off_ns, on_ns",
        request.thread
    )
}

/// Returns the rows of a statement one after the other; only those of one batch are held.
fn rows<T>(
    session: &Session,
    sql: Option<&str>,
    read: fn(&RecordBatch) -> Vec<T>,
) -> Result<impl Iterator<Item = Result<T>>> {
    let answer = sql.map(|sql| session.sql(sql)).transpose()?;
    let of_batch = move |batch: Result<RecordBatch>| match batch {
        Ok(batch) => read(&batch).into_iter().map(Ok).collect::<Vec<_>>(),
        Err(error) => vec![Err(error)],
    };
    Ok(answer.into_iter().flatten().flat_map(of_batch))
}

fn sample_rows(batch: &RecordBatch) -> Vec<Sample> {
    let [at, stack, weight] = batch.columns() else {
        return Vec::new();
    };
    let at = at.as_primitive::<Int64Type>().iter();
    let stack = stack.as_primitive::<Int32Type>().iter();
    let weight = weight.as_primitive::<Int64Type>().iter();
    at.zip(stack)
        .zip(weight)
        .filter_map(|((at_ns, stack), weight_ns)| {
            Some(Sample {
                at_ns: at_ns?,
                stack: stack.unwrap_or(-1),
                weight_ns: weight_ns.unwrap_or_default(),
            })
        })
        .collect()
}

fn off_rows(batch: &RecordBatch) -> Vec<Off> {
    let [from, to, ready, reason, stack] = batch.columns() else {
        return Vec::new();
    };
    let from = from.as_primitive::<Int64Type>().iter();
    let to = to.as_primitive::<Int64Type>().iter();
    let ready = ready.as_primitive::<Int64Type>().iter();
    let reason = reason.as_primitive::<Int32Type>().iter();
    let stack = stack.as_primitive::<Int32Type>().iter();
    let times = from.zip(to).zip(ready);
    times
        .zip(reason.zip(stack))
        .filter_map(|(((from_ns, to_ns), ready_ns), (reason, stack))| {
            Some(Off {
                from_ns: from_ns?,
                to_ns: to_ns?,
                ready_ns,
                reason,
                stack,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use etwkit_trace::table::{ContextSwitch, Trace};

    use super::*;
    use crate::flame::tests::rows as table;

    /// Returns when the thread left the processor, was made ready and came back.
    fn off(switch: ContextSwitch) -> Vec<(i64, Option<i64>, i64)> {
        let trace = Trace {
            duration_ns: 100,
            kernel_end_ns: Some(90),
            range_start_ns: Some(20),
            range_end_ns: Some(60),
            ..Trace::default()
        };
        let session = Session::from_batches(vec![table(&[trace]), table(&[switch])]).unwrap();
        let request = FlameChartRequest {
            trace: 0,
            thread: 1,
            range: Range {
                from_ns: 0,
                to_ns: 100,
            },
            columns: 100,
            max_boxes: 1_000,
        };
        let sql = offs_sql(&request);
        let all = rows(&session, Some(&sql), off_rows).unwrap();
        all.map(Result::unwrap)
            .map(|off| (off.from_ns, off.ready_ns, off.to_ns))
            .collect()
    }

    #[test]
    fn times_off_the_processor_end_with_the_extracted_part() {
        let waits = ContextSwitch {
            thread_key: 1,
            last_out_ns: Some(50),
            is_open_wait: true,
            ..ContextSwitch::default()
        };
        assert_eq!(off(waits), [(50, Some(60), 60)]);
        let is_ready = ContextSwitch {
            thread_key: 1,
            last_out_ns: Some(40),
            wait_ns: Some(5),
            ready_ns: Some(15),
            ..ContextSwitch::default()
        };
        assert_eq!(off(is_ready), [(40, Some(45), 60)]);
    }
}
