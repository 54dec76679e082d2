//! Disk I/O in a range of the trace, from single operations.

use etwkit_question::range::Range;
use etwkit_question::sql::ends;

/// Name of the rows, which have the columns of `disk_file`.
pub(super) const TABLE: &str = "disk_in_range";

/// The name of a priority.
const PRIORITY: &str = "CASE priority WHEN 0 THEN 'not set' WHEN 1 THEN 'very low' WHEN 2 THEN 'low' \
                        WHEN 3 THEN 'normal' WHEN 4 THEN 'high' WHEN 5 THEN 'critical' \
                        ELSE concat('priority ', priority) END";

/// Returns the `WITH` clause that computes the rows.
///
/// An operation counts, with all its bytes, if any part of it is in the range; its times are
/// clipped. With `by_priority` there is a row for each priority of operations; otherwise rows have
/// no such column.
pub(super) fn with(time: Range, by_priority: bool) -> String {
    let (a, b) = ends(time);
    let (priority, by) = if by_priority {
        (format!(" {PRIORITY} AS priority,"), ", priority")
    } else {
        (String::new(), "")
    };
    // The disk works on an operation at the end of its time, after the queue: the service time is
    // counted back from its completion before it is clipped. A service time that is not known adds
    // nothing: greatest would leave the null out, and count the whole range.
    let sums = |kind: &str, many: &str| {
        format!(
            "  count(*) FILTER (WHERE kind = '{kind}') AS {many},
  coalesce(sum(size_bytes) FILTER (WHERE kind = '{kind}'), 0) AS {kind}_bytes,
  coalesce(sum(service_ns) FILTER (WHERE kind = '{kind}'), 0) AS {kind}_service_ns,
  coalesce(sum(io_ns) FILTER (WHERE kind = '{kind}'), 0) AS {kind}_io_ns"
        )
    };
    format!(
        "WITH {TABLE} AS (
SELECT path, disk, process_key{by},
{},
{},
{},
  max(io_ns) AS max_io_ns
FROM (
  SELECT kind, path, disk, process_key,{priority} size_bytes,
    least(complete_ns, {b}) - greatest(init_ns, {a}) AS io_ns,
    greatest(least(complete_ns, {b}) - greatest(complete_ns - coalesce(service_ns, 0), {a}), 0) AS service_ns
  FROM disk_io
  WHERE complete_ns >= {a} AND init_ns <= {b}
)
GROUP BY path, disk, process_key{by}
)
",
        sums("read", "reads"),
        sums("write", "writes"),
        sums("flush", "flushes"),
    )
}
