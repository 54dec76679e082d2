-- Garbage collections stop a program
-- card: 24
-- sentence: {victim} was stopped for {total}, {count|once|# times up to {longest}}, mostly for {culprit}
-- why: While .NET collects garbage, no thread of the program goes on. A collection of generation 2 that is not in the background looks at
--   all objects that are alive, so its pause grows with the heap.
-- fix: Allocate less and keep fewer objects alive: dump gc and CPU of allocating methods show who does. Leave concurrent collection on,
--   avoid GC.Collect, and give the program more memory before it has to collect.
-- not proved: That a user waited in these pauses.
-- needs: gc
-- pieces: culprit, process_key, from_ns, to_ns FROM pauses
-- evidence: dump gc --process {pid} --details
-- spot: gc --process {pid}
-- param min_single_ms: float = 20 – of a pause; collections of young objects take a few milliseconds, and a picture that is drawn
--   60 times per second has 17
-- param min_total_ms: float = 300 – of the long pauses of a program
-- param min_share_percent: float = 5 – of the time from the first to the last of its collections
-- param min_many_ms: float = 1000 – of all pauses of a program, where short ones also count
-- param min_many_percent: float = 10 – of that time, that all pauses take; of a program that allocates much they take less
-- param max_suspending_percent: float = 50 – of a pause until all threads had stopped: with more, something else held them up
WITH stops AS (
  SELECT process_key, generation, start_ns - coalesce(suspending_ns, 0) AS from_ns,
    start_ns - coalesce(suspending_ns, 0) + suspended_ns AS to_ns, suspended_ns,
    suspended_ns >= $min_single_ms * 1000000 AS is_long
  FROM gc
  WHERE suspended_ns > 0 AND process_key IS NOT NULL AND start_ns IS NOT NULL
    AND coalesce(suspending_ns, 0) <= $max_suspending_percent / 100 * suspended_ns
), life AS (
  SELECT process_key, max(coalesce(end_ns, start_ns)) - min(start_ns) AS life_ns FROM gc GROUP BY process_key
), many AS ( -- programs whose short pauses also count
  SELECT s.process_key
  FROM stops s JOIN life f ON f.process_key = s.process_key
  GROUP BY s.process_key, f.life_ns
  HAVING union_duration(s.from_ns, s.to_ns) >= greatest($min_many_ms * 1000000, $min_many_percent / 100 * f.life_ns)
), counted AS (
  SELECT s.* FROM stops s LEFT JOIN many n ON n.process_key = s.process_key WHERE s.is_long OR n.process_key IS NOT NULL
), of_generation AS (
  SELECT process_key, generation, sum(suspended_ns) AS sum_ns FROM counted GROUP BY process_key, generation
), main AS (
  SELECT process_key, 'garbage collections' || coalesce(' of generation ' || first_value(generation ORDER BY sum_ns DESC), '') AS culprit
  FROM of_generation GROUP BY process_key
), victims AS (
  SELECT c.process_key, union_duration(c.from_ns, c.to_ns) AS cost_ns, min(c.from_ns) AS from_ns, max(c.to_ns) AS to_ns
  FROM counted c JOIN life f ON f.process_key = c.process_key
  GROUP BY c.process_key, f.life_ns
  HAVING union_duration(c.from_ns, c.to_ns) >= greatest($min_total_ms * 1000000, $min_share_percent / 100 * f.life_ns)
), pauses AS (
  SELECT m.culprit, c.* FROM counted c JOIN main m ON m.process_key = c.process_key JOIN victims v ON v.process_key = c.process_key
), totals AS (
  SELECT culprit, union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(suspended_ns) AS longest_ns,
    first_value(from_ns ORDER BY suspended_ns DESC, from_ns) AS at_ns
  FROM pauses GROUP BY culprit
)
SELECT m.culprit, v.process_key, t.total_ns, v.cost_ns, t.count, t.longest_ns, v.from_ns, v.to_ns,
  CAST(NULL AS INT) AS stack_id, CAST(NULL AS INT) AS thread_key, t.at_ns
FROM victims v JOIN main m ON m.process_key = v.process_key JOIN totals t ON t.culprit = m.culprit
ORDER BY t.total_ns DESC, m.culprit, v.cost_ns DESC, v.process_key
