//! Positions of table rows in time, and the part of them inside a range. The rules are in
//! `docs/numbers/range.md`.

use etwkit_question::covered::{Covered, Recorder};
use etwkit_sql::Session;
use etwkit_trace::table::Table;

use crate::problem::Result;
use crate::wire::Range;

/// Position of a table's rows in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    /// At a moment.
    At(&'static str),
    /// From one moment to another; a missing start or end is before or after the trace.
    Span(&'static str, &'static str),
    /// A wait, being ready, and running.
    Switch {
        /// The part of the trace in which the states of threads are known.
        known: Range,
    },
    /// The rows describe the trace as a whole.
    Nowhere,
}

/// Pairs of columns with the start and the end of rows.
const SPANS: [(&str, &str); 16] = [
    ("init_ns", "complete_ns"),
    ("send_ns", "end_ns"),
    ("enter_ns", "exit_ns"),
    ("acquire_ns", "release_ns"),
    ("open_ns", "close_ns"),
    ("map_ns", "unmap_ns"),
    ("alloc_ns", "free_ns"),
    ("create_ns", "destroy_ns"),
    ("created_ns", "deleted_ns"),
    ("create_ns", "close_ns"),
    ("ts_ns", "end_ns"),
    ("start_ns", "end_ns"),
    ("start_ns", "stop_ns"),
    ("first_ns", "close_ns"),
    ("start_ns", "exit_ns"),
    ("first_ns", "deleted_ns"),
];

/// Columns whose values are the time between start and end.
const LENGTHS: [&str; 4] = ["duration_ns", "io_ns", "lifetime_ns", "hold_ns"];

/// Ends of operations, which count at their end. Everything else that has an end counts from its
/// start.
const OPERATIONS: [&str; 4] = ["complete_ns", "end_ns", "exit_ns", "release_ns"];

/// Returns the position of a table's rows in time.
pub(crate) fn of(table: &Table) -> Times {
    let has = |name: &str| table.column(name).map(|column| column.name);
    if table.name == "context_switch" {
        let known = Range {
            from_ns: 0,
            to_ns: i64::MAX,
        };
        return Times::Switch { known };
    }
    // Rows with a number of samples are sums over the whole trace, which cannot be split.
    if has("samples").is_some() {
        return Times::Nowhere;
    }
    // The first pair that a table has counts: some tables have several, and the order of the list
    // decides.
    for (begin, end) in SPANS {
        if let (Some(begin), Some(end)) = (has(begin), has(end)) {
            return Times::Span(begin, end);
        }
    }
    has("ts_ns").map_or(Times::Nowhere, Times::At)
}

impl Times {
    /// Returns the same times, with the part of the trace in which the states of threads are known.
    pub(crate) fn of_trace(self, session: &Session) -> Result<Self> {
        if !matches!(self, Self::Switch { .. }) {
            return Ok(self);
        }
        let all = Covered::whole(Recorder::Kernel);
        let (from_ns, to_ns) = all.ends_ns(session)?;
        let known = Range { from_ns, to_ns };
        Ok(Self::Switch { known })
    }

    /// Returns the condition that a row of the table `t` overlaps a part of the trace; `None` if
    /// rows describe the whole trace.
    pub(crate) fn within(
        self,
        Range {
            from_ns: a,
            to_ns: b,
        }: Range,
    ) -> Option<String> {
        match self {
            Self::At(at) => Some(format!("t.{at} >= {a} AND t.{at} < {b}")),
            // A row of length zero at the start of the range is inside it, even though it does not
            // end after that moment. A missing time counts as before or after everything in the
            // recording.
            Self::Span(begin, end) => Some(format!(
                "coalesce(t.{begin} < {b}, true) AND coalesce(t.{end} > {a} OR t.{begin} >= {a}, true)"
            )),
            Self::Switch {
                known: Range { from_ns, to_ns },
            } => {
                // Each of the times may be missing, at the ends of the trace and next to gaps. The
                // row starts at the earliest known time and ends at the latest.
                let begin = format!(
                    "coalesce(t.last_out_ns, t.readied_ns, t.in_ns, t.out_ns - t.run_ns, {from_ns})"
                );
                let end = format!(
                    "coalesce(t.out_ns, t.in_ns + t.run_ns, t.in_ns, {from_ns} + t.run_ns, \
                     CASE WHEN t.is_open_wait THEN {to_ns} END, t.readied_ns + t.ready_ns, \
                     t.last_out_ns + t.wait_ns, t.last_out_ns)"
                );
                Some(format!("{begin} < {b} AND {end} >= {a}"))
            }
            Self::Nowhere => None,
        }
    }

    /// Returns the part of a column's value that is inside a range, or all of it if the column is
    /// not a length of time.
    pub(crate) fn clipped(self, column: &str, range: Option<Range>) -> String {
        match (range, self.stretch(column)) {
            (
                Some(Range {
                    from_ns: a,
                    to_ns: b,
                }),
                Some((begin, end)),
            ) => format!(
                "CASE WHEN t.{column} IS NOT NULL AND {begin} IS NOT NULL AND {end} IS NOT NULL \
                 THEN greatest(least({end}, {b}) - greatest({begin}, {a}), 0) END"
            ),
            _ => format!("t.{column}"),
        }
    }

    /// Returns the start and the end of the time that a column measures; `None` if it is not a
    /// length of time.
    pub(crate) fn stretch(self, column: &str) -> Option<(String, String)> {
        let (begin, end) = match (self, column) {
            (Self::Switch { .. }, "wait_ns") => (
                "t.last_out_ns".to_owned(),
                "t.last_out_ns + t.wait_ns".to_owned(),
            ),
            (Self::Switch { .. }, "ready_ns") => {
                let begin = "coalesce(t.in_ns - t.ready_ns, t.readied_ns, t.last_out_ns)";
                (begin.to_owned(), format!("{begin} + t.ready_ns"))
            }
            (Self::Switch { known }, "run_ns") => {
                // A thread that ran all the time has neither start nor end.
                let start = known.from_ns;
                let begin = format!("coalesce(t.in_ns, t.out_ns - t.run_ns, {start})");
                let end = format!("{begin} + t.run_ns");
                (begin, end)
            }
            (Self::Span("init_ns", _), "service_ns") => (
                "t.complete_ns - t.service_ns".to_owned(),
                "t.complete_ns".to_owned(),
            ),
            (Self::Span("init_ns", _), "queue_ns") => {
                ("t.init_ns".to_owned(), "t.init_ns + t.queue_ns".to_owned())
            }
            (Self::Span(begin, end), length) if LENGTHS.contains(&length) => {
                (format!("t.{begin}"), format!("t.{end}"))
            }
            _ => return None,
        };
        Some((begin, end))
    }

    /// Returns the moment at which a row appears in a graph: the end of an operation, the start of
    /// a lifetime, the switch-in of a stay on a processor. `None` if rows describe the whole trace.
    pub(crate) fn moment(self) -> Option<String> {
        match self {
            Self::At(at) => Some(format!("t.{at}")),
            Self::Span(begin, end) => Some(format!(
                "t.{}",
                if OPERATIONS.contains(&end) {
                    end
                } else {
                    begin
                }
            )),
            Self::Switch { .. } => Some("t.in_ns".to_owned()),
            Self::Nowhere => None,
        }
    }

    /// Returns the condition for rows that count, if not all do: a scheduling slice counts in the
    /// range in which it starts.
    pub(crate) fn counted(self, range: Option<Range>) -> Option<String> {
        if !matches!(self, Self::Switch { .. }) {
            return None;
        }
        // A slice that reaches into several ranges counts only in the one in which it starts, so
        // that the numbers of the parts add up to the number of the whole.
        let Some(Range {
            from_ns: a,
            to_ns: b,
        }) = range
        else {
            return Some("t.in_ns IS NOT NULL".to_owned());
        };
        Some(format!("coalesce(t.in_ns >= {a} AND t.in_ns < {b}, false)"))
    }
}

#[cfg(test)]
mod tests {
    use etwkit_sql::arrow::array::RecordBatch;
    use etwkit_trace::table::{Columns, ContextSwitch, Row, Trace};

    use super::*;
    use crate::cells::{one_row, whole_at};
    use crate::tables::table;

    fn rows<R: Row>(rows: &[R]) -> (&'static Table, Vec<RecordBatch>) {
        let mut columns = R::Columns::default();
        rows.iter().for_each(|row| columns.push(row));
        (R::TABLE, vec![columns.take().unwrap()])
    }

    #[test]
    fn states_without_a_start_or_end_fill_the_extracted_part() {
        let trace = Trace {
            duration_ns: 100,
            range_start_ns: Some(20),
            range_end_ns: Some(60),
            ..Trace::default()
        };
        let always_runs = ContextSwitch {
            thread_key: 1,
            run_ns: Some(40),
            ..ContextSwitch::default()
        };
        let waits_at_the_end = ContextSwitch {
            thread_key: 2,
            last_out_ns: Some(30),
            is_open_wait: true,
            ..ContextSwitch::default()
        };
        let switches = [always_runs, waits_at_the_end];
        let session = Session::from_batches(vec![rows(&[trace]), rows(&switches)]).unwrap();
        let times = of(table("context_switch").unwrap());
        let times = times.of_trace(&session).unwrap();
        let found = |from_ns, to_ns| {
            let range = Range { from_ns, to_ns };
            let sql = format!(
                "SELECT count(*) AS all_rows, coalesce(sum({}), 0) AS ran FROM context_switch t WHERE {}",
                times.clipped("run_ns", Some(range)),
                times.within(range).unwrap()
            );
            let row = one_row(&session, &sql).unwrap();
            (whole_at(&row, 0).unwrap(), whole_at(&row, 1).unwrap())
        };
        assert_eq!(found(0, 100), (2, 40));
        assert_eq!(found(50, 70), (2, 10));
        assert_eq!(found(70, 90), (0, 0));
    }

    #[test]
    fn only_switch_ins_count_as_switches() {
        let counted = |name: &str, range| of(table(name).unwrap()).counted(range);
        let range = Range {
            from_ns: 5,
            to_ns: 9,
        };
        assert_eq!(
            counted("context_switch", None).as_deref(),
            Some("t.in_ns IS NOT NULL")
        );
        assert_eq!(
            counted("context_switch", Some(range)).as_deref(),
            Some("coalesce(t.in_ns >= 5 AND t.in_ns < 9, false)")
        );
        assert_eq!(counted("cpu_sample", None), None);
    }

    #[test]
    fn tables_lie_in_time_as_their_columns_say() {
        let of = |name: &str| of(table(name).unwrap());
        assert_eq!(of("cpu_sample"), Times::At("ts_ns"));
        assert!(matches!(of("context_switch"), Times::Switch { .. }));
        assert_eq!(of("disk_io"), Times::Span("init_ns", "complete_ns"));
        assert_eq!(of("file_io"), Times::Span("start_ns", "end_ns"));
        assert_eq!(of("process"), Times::Span("start_ns", "stop_ns"));
        assert_eq!(of("dpc_isr"), Times::Span("start_ns", "end_ns"));
        assert_eq!(of("cpu_process"), Times::Nowhere);
        assert_eq!(of("module"), Times::Nowhere);
    }

    #[test]
    fn operations_stand_where_they_end_and_lives_where_they_begin() {
        let moment = |name: &str| of(table(name).unwrap()).moment();
        assert_eq!(moment("cpu_sample").as_deref(), Some("t.ts_ns"));
        assert_eq!(moment("disk_io").as_deref(), Some("t.complete_ns"));
        assert_eq!(moment("process").as_deref(), Some("t.start_ns"));
        assert_eq!(moment("context_switch").as_deref(), Some("t.in_ns"));
        assert_eq!(moment("cpu_process"), None);
        assert_eq!(of(table("disk_io").unwrap()).stretch("size_bytes"), None);
    }
}
