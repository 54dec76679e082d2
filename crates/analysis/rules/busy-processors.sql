-- Others keep all processors, and a program waits for one
-- card: 33
-- sentence: {victim} was ready for {total} without a processor while {culprit} ran: {count|once|# times}, longest {longest}
-- why: Windows shares processors by the priority of threads and by turns. If more threads are ready than there are processors, each
--   of them waits for its turn, and one with many threads takes most turns.
-- fix: Let the other program use fewer threads or a lower priority, run it at another time, or use a machine with more processors.
-- not proved: That the other program did nothing useful: it had work to do as well.
-- needs: context_switch
-- symptom: yes
-- pieces: culprit, process_key, from_ns, to_ns FROM delays
-- evidence: dump ready --process {pid}
-- evidence: dump cpu --process {culprit_pid}
-- spot: flame --weight ready --process {pid}
-- param min_single_ms: float = 5 – of one ready time; shorter ones are everyday turns
-- param min_total_ms: float = 500 – less is not felt
-- param min_total_percent: float = 5 – of the trace: a program that is seldom held up is not slow because of it
-- param max_idle_percent: float = 10 – of the ready time in which a processor was idle: more, and they were not all taken
-- param min_priority: int = 8 – of the thread: below normal, it has to give way by design
WITH turns AS (
  SELECT w.process_key, w.thread_key, w.stack_id, w.in_ns - w.ready_ns AS from_ns, w.in_ns AS to_ns, w.ready_ns,
    o.process_key AS other_key
  FROM context_switch w
  JOIN thread o ON o.thread_key = w.instead_thread_key
  JOIN process p ON p.process_key = w.process_key JOIN process q ON q.process_key = o.process_key
  WHERE w.ready_ns >= $min_single_ms * 1000000 AND w.in_ns IS NOT NULL AND w.priority >= $min_priority
    AND o.process_key <> w.process_key AND p.pid > 4 AND q.pid > 4
), long AS ( -- only these are worth a look at what was idle meanwhile
  SELECT process_key, other_key, union_duration(from_ns, to_ns) AS ready_ns FROM turns
  GROUP BY process_key, other_key
  HAVING union_duration(from_ns, to_ns) >= $min_total_ms * 1000000
    AND union_duration(from_ns, to_ns) >= $min_total_percent / 100 * (SELECT duration_ns FROM trace)
), chosen AS (
  SELECT t.*, row_number() OVER (ORDER BY t.thread_key, t.from_ns) AS turn
  FROM turns t JOIN long l ON l.process_key = t.process_key AND l.other_key = t.other_key
), moments AS ( -- a processor becomes idle or busy; a turn starts or ends
  SELECT w.in_ns AS ts_ns, 1 AS step, CAST(NULL AS BIGINT) AS turn, false AS is_end
  FROM context_switch w JOIN process p ON p.process_key = w.process_key
  WHERE p.pid = 0 AND w.in_ns IS NOT NULL AND w.out_ns IS NOT NULL AND (SELECT count(*) FROM long) > 0
  UNION ALL
  SELECT w.out_ns, -1, CAST(NULL AS BIGINT), false
  FROM context_switch w JOIN process p ON p.process_key = w.process_key
  WHERE p.pid = 0 AND w.in_ns IS NOT NULL AND w.out_ns IS NOT NULL AND (SELECT count(*) FROM long) > 0
  UNION ALL SELECT from_ns, 0, turn, false FROM chosen
  UNION ALL SELECT to_ns, 0, turn, true FROM chosen
), levels AS ( -- how many processors are idle from each moment on
  SELECT ts_ns, turn, is_end, sum(step) OVER (ORDER BY ts_ns ROWS UNBOUNDED PRECEDING) - step AS before,
    ts_ns - lag(ts_ns) OVER (ORDER BY ts_ns) AS since_ns
  FROM moments
), idle AS ( -- the idle time of all processors up to each moment
  SELECT turn, is_end, sum(coalesce(before * since_ns, 0)) OVER (ORDER BY ts_ns ROWS UNBOUNDED PRECEDING) AS idle_ns
  FROM levels
), idle_of AS (
  SELECT turn, max(CASE WHEN is_end THEN idle_ns END) - max(CASE WHEN NOT is_end THEN idle_ns END) AS idle_ns
  FROM idle WHERE turn IS NOT NULL GROUP BY turn
), delays AS (
  SELECT c.process_key, c.thread_key, c.stack_id, c.from_ns, c.to_ns, c.ready_ns, c.other_key,
    coalesce(q.name, 'process') || ' (' || q.pid || ')' AS culprit
  FROM chosen c JOIN idle_of i ON i.turn = c.turn JOIN process q ON q.process_key = c.other_key
  WHERE i.idle_ns <= c.ready_ns * $max_idle_percent / 100
), culprits AS (
  SELECT culprit, union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(ready_ns) AS longest_ns
  FROM delays GROUP BY culprit
)
SELECT d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns, max(q.pid) AS culprit_pid,
  union_duration(d.from_ns, d.to_ns) AS cost_ns, min(d.from_ns) AS from_ns, max(d.to_ns) AS to_ns,
  first_value(d.stack_id ORDER BY d.ready_ns DESC) AS stack_id, first_value(d.thread_key ORDER BY d.ready_ns DESC) AS thread_key,
  first_value(d.from_ns ORDER BY d.ready_ns DESC) AS at_ns
FROM delays d JOIN culprits c ON c.culprit = d.culprit JOIN process q ON q.process_key = d.other_key
GROUP BY d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns
HAVING union_duration(d.from_ns, d.to_ns) >= $min_total_ms * 1000000
  AND union_duration(d.from_ns, d.to_ns) >= $min_total_percent / 100 * (SELECT duration_ns FROM trace)
ORDER BY c.total_ns DESC, d.culprit, cost_ns DESC, d.process_key
