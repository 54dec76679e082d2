-- The recording of the kernel ended in the middle of the trace
-- card: 9
-- severity: note
-- sentence: The kernel logger ended {missing_ns} before the trace ({missing_percent} of it){taker}: nothing is known about CPU,
--   waits and disks in that time
-- why: There is one NT Kernel Logger. A product that starts its own ends the recording that has it, and providers of other
--   sessions go on as if nothing had happened. Sums over the whole trace are then sums over its first part.
-- fix: Ask about the part with events of the kernel only (--range). Record again with a session that has a name of its own
--   (Windows 8 and later), or while the other product is off; `etwkit record` watches its session.
-- not proved: That the product did so on purpose, where no event says who started or stopped the session.
-- needs: event_count
-- evidence: dump logger
-- spot: loggers
-- param min_missing_percent: float = 10 – of the trace; sessions of one recording stop within moments of each other
-- param min_missing_ms: float = 1000 – below that one session was only stopped before the other, if no event reports its start
-- param min_seconds_percent: float = 50 – of the missing seconds in which providers wrote: a recording that goes on
WITH known AS ( -- the trace, what a ring of it kept, or the part of it that was extracted
  SELECT kernel_end_ns, coalesce(range_end_ns, duration_ns) AS end_ns,
    greatest(coalesce(range_start_ns, 0), CASE WHEN ring_start_ns IS NULL THEN 0 ELSE coalesce(kernel_start_ns, 0) END) AS start_ns
  FROM trace
), part AS (
  SELECT from_ns, end_ns AS to_ns, end_ns - from_ns AS missing_ns, end_ns - start_ns AS length_ns
  FROM (SELECT greatest(kernel_end_ns, start_ns) AS from_ns, start_ns, end_ns FROM known WHERE kernel_end_ns IS NOT NULL)
  WHERE 100.0 * (end_ns - from_ns) >= $min_missing_percent * (end_ns - start_ns)
), behind AS ( -- a rundown means that the recorder itself ended the kernel's session
  SELECT count(DISTINCT e.second) AS seconds,
    count(*) FILTER (WHERE e.provider LIKE '%Rundown%') AS lists
  FROM event_count e CROSS JOIN part w
  WHERE e.kernel_group IS NULL AND e.second * 1000000000 > w.from_ns
), takers AS (
  SELECT p.name, p.pid, e.session, e.kind, row_number() OVER (ORDER BY e.kind, abs(e.ts_ns - w.from_ns), p.pid) AS place
  FROM logger_event e JOIN process p ON p.process_key = e.process_key CROSS JOIN part w
  WHERE e.kind IN ('start', 'stop') AND abs(e.ts_ns - w.from_ns) <= 1000000000
    AND (e.session IN ('NT Kernel Logger', 'Circular Kernel Context Logger')
      OR e.session IN (SELECT name FROM logger WHERE is_of_trace AND kernel_keywords IS NOT NULL))
)
SELECT coalesce(t.name, 'NT Kernel Logger') AS culprit, CAST(NULL AS INT) AS process_key,
  CAST(NULL AS BIGINT) AS cost_ns, CAST(NULL AS BIGINT) AS total_ns, CAST(1 AS BIGINT) AS count,
  CAST(NULL AS BIGINT) AS longest_ns, w.missing_ns,
  round(100.0 * w.missing_ns / w.length_ns, 1) AS missing_percent,
  coalesce(', when ' || t.name || ' (' || t.pid || ') ' || CASE t.kind WHEN 'start' THEN 'started ' ELSE 'stopped ' END
    || t.session, '') AS taker,
  w.from_ns, w.to_ns, CAST(NULL AS INT) AS stack_id, CAST(NULL AS INT) AS thread_key, w.from_ns AS at_ns
FROM part w CROSS JOIN behind b LEFT JOIN takers t ON t.place = 1
WHERE (w.missing_ns >= $min_missing_ms * 1000000 OR t.kind = 'start') AND b.lists = 0
  AND 1000000000.0 * b.seconds >= $min_seconds_percent / 100 * w.missing_ns
