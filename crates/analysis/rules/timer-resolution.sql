-- A program keeps the system timer fast
-- card: 24
-- severity: note
-- sentence: {culprit} asked for a tick of the system timer every {tick} for {share_percent} of the trace
-- why: Windows wakes its processors about every 15.6 ms to look after timers. A program that asks for a finer tick makes all of
--   them wake more often, which takes energy, shortens their sleep and changes how long others sleep.
-- fix: Ask for a finer timer only while something is played or measured (timeBeginPeriod, timeEndPeriod), or use a
--   high-resolution waitable timer, which works without a finer tick.
-- not proved: How much energy it takes, and that the system followed the request all the time.
-- needs: timer_resolution
-- evidence: dump timer --process {pid}
-- spot: timer --process {pid}
-- param max_tick_ms: float = 2 – programs that ask for a longer tick are modest
-- param min_share_percent: float = 50 – of the trace: what plays a sound or a film asks for good reason
-- param min_idle_percent: float = 20 – of the trace, in which it hardly worked: what plays works all the time
-- param min_idle_ms: float = 1000 – of a single request of that kind: players also sleep, but not as long
-- param max_busy_percent: float = 1 – of a request in which the threads of the program ran
WITH part AS ( -- the trace, what a ring of it kept, or the part of it that was extracted
  SELECT from_ns, to_ns, to_ns - from_ns AS length_ns
  FROM (
    SELECT greatest(coalesce(range_start_ns, 0), CASE WHEN ring_start_ns IS NULL THEN 0 ELSE coalesce(kernel_start_ns, 0) END) AS from_ns,
      coalesce(range_end_ns, duration_ns) AS to_ns
    FROM trace)
), requests AS (
  SELECT r.process_key, r.resolution_ns, greatest(coalesce(r.start_ns, t.from_ns), t.from_ns) AS from_ns,
    least(coalesce(r.end_ns, t.to_ns), t.to_ns) AS to_ns
  FROM timer_resolution r CROSS JOIN part t
  WHERE r.kind = 'process' AND r.process_key IS NOT NULL AND NOT coalesce(r.is_ignored, FALSE)
    AND r.resolution_ns > 0 AND r.resolution_ns <= $max_tick_ms * 1000000
), asked AS (
  SELECT process_key, min(resolution_ns) AS resolution_ns, count(*) AS count, union_duration(from_ns, to_ns) AS asked_ns,
    max(to_ns - from_ns) AS longest_ns,
    first_value(from_ns ORDER BY to_ns - from_ns DESC, from_ns) AS at_ns, min(from_ns) AS from_ns, max(to_ns) AS to_ns
  FROM requests GROUP BY process_key
), long AS (
  SELECT DISTINCT process_key, from_ns, to_ns FROM requests WHERE to_ns - from_ns >= $min_idle_ms * 1000000
), ran AS (
  SELECT l.process_key, l.from_ns, l.to_ns, sum(least(w.out_ns, l.to_ns) - greatest(w.in_ns, l.from_ns)) AS run_ns
  FROM long l JOIN context_switch w ON w.process_key = l.process_key AND w.in_ns < l.to_ns AND w.out_ns > l.from_ns
  GROUP BY l.process_key, l.from_ns, l.to_ns
), idle AS (
  SELECT l.process_key, union_duration(l.from_ns, l.to_ns) AS idle_ns
  FROM long l LEFT JOIN ran r ON r.process_key = l.process_key AND r.from_ns = l.from_ns AND r.to_ns = l.to_ns
  WHERE 100.0 * coalesce(r.run_ns, 0) <= $max_busy_percent * (l.to_ns - l.from_ns)
    AND (SELECT count(in_ns) FROM context_switch) > 0
  GROUP BY l.process_key
)
SELECT coalesce(p.name, 'process') || ' (' || p.pid || ')' AS culprit, a.process_key, CAST(NULL AS BIGINT) AS cost_ns,
  CAST(NULL AS BIGINT) AS total_ns, a.count, a.longest_ns, round(ms(a.resolution_ns), 2) || ' ms' AS tick,
  round(100.0 * a.asked_ns / t.length_ns, 1) AS share_percent, a.from_ns, a.to_ns, CAST(NULL AS INT) AS stack_id,
  CAST(NULL AS INT) AS thread_key, a.at_ns
FROM asked a JOIN process p ON p.process_key = a.process_key LEFT JOIN idle i ON i.process_key = a.process_key
CROSS JOIN part t
WHERE t.length_ns > 0 AND (100.0 * a.asked_ns >= t.length_ns * $min_share_percent
  OR 100.0 * coalesce(i.idle_ns, 0) >= t.length_ns * $min_idle_percent)
ORDER BY a.asked_ns DESC, culprit
