-- A program waits for pages from the disk
-- card: 13
-- sentence: {victim} waited {total} for the disk to read its pages ({count|1 hard fault|# hard faults}), most of them of {culprit}
-- why: Pages of programs and files are read when they are touched first. After a start of the machine, or when memory
--   ran short, they are not in memory (a cold cache), and each touch waits for the disk.
-- fix: Measure again with a warm cache before you compare runs; for good, use a faster disk, more memory, or make the
--   program touch less at its start.
-- not proved: That the program is always that slow: a second run finds these pages in memory.
-- needs: hard_fault
-- symptom of: slow-disk, busy-disk
-- pieces: t.culprit, f.process_key, f.start_ns AS from_ns, f.end_ns AS to_ns FROM hard_fault f
--   JOIN top_file t ON t.process_key = f.process_key
-- evidence: dump hard-fault --process {pid} --details
-- shows: single reads, and their sum; the finding counts reads at the same time once
-- spot: hard-fault --process {pid}
-- param min_total_ms: float = 200 – a person notices that; starts of programs with a warm cache take less than 50 ms
-- param min_share_percent: float = 2 – of the time the process lived in the trace; a trickle over hours is normal
-- param min_short_ms: float = 50 – of a process that started and ended in the trace: with a warm cache it is less
-- param min_short_percent: float = 20 – of its time
-- param min_second_ms: float = 200 – of the faults of one second: a person notices that, however long the process lived
WITH life AS (
  SELECT p.process_key, p.pid, p.start_ns IS NOT NULL AND p.stop_ns IS NOT NULL AS is_whole,
    least(coalesce(p.stop_ns, t.duration_ns), coalesce(t.range_end_ns, t.duration_ns))
      - greatest(coalesce(p.start_ns, 0), coalesce(t.range_start_ns, 0),
        CASE WHEN t.ring_start_ns IS NULL THEN 0 ELSE coalesce(t.kernel_start_ns, 0) END) AS life_ns
  FROM process p CROSS JOIN trace t
  WHERE p.pid NOT IN (0, 4)
), of_file AS (
  SELECT process_key, coalesce(path, 'files without a name') AS path, sum(duration_ns) AS sum_ns
  FROM hard_fault GROUP BY process_key, coalesce(path, 'files without a name')
), top_file AS (
  SELECT process_key, first_value(path ORDER BY sum_ns DESC, path) AS culprit FROM of_file GROUP BY process_key
), of_second AS (
  SELECT process_key, union_duration(start_ns, end_ns) AS second_ns
  FROM hard_fault GROUP BY process_key, start_ns / 1000000000
), worst_second AS (
  SELECT process_key, max(second_ns) AS second_ns FROM of_second GROUP BY process_key
), victims AS (
  SELECT f.process_key, union_duration(f.start_ns, f.end_ns) AS cost_ns, count(*) AS faults,
    sum(f.size_bytes) AS read_bytes, min(f.start_ns) AS from_ns, max(f.end_ns) AS to_ns
  FROM hard_fault f
  JOIN life l ON l.process_key = f.process_key
  JOIN worst_second w ON w.process_key = f.process_key
  GROUP BY f.process_key, l.life_ns, l.is_whole, w.second_ns
  HAVING (union_duration(f.start_ns, f.end_ns) >= $min_total_ms * 1000000
      AND (union_duration(f.start_ns, f.end_ns) >= l.life_ns * $min_share_percent / 100
        OR w.second_ns >= $min_second_ms * 1000000))
    OR (l.is_whole AND union_duration(f.start_ns, f.end_ns) >= $min_short_ms * 1000000
      AND union_duration(f.start_ns, f.end_ns) >= l.life_ns * $min_short_percent / 100)
), totals AS (
  SELECT t.culprit, union_duration(f.start_ns, f.end_ns) AS total_ns, count(*) AS count,
    max(f.duration_ns) AS longest_ns,
    first_value(f.stack_id ORDER BY f.duration_ns DESC, f.start_ns, f.thread_key) AS stack_id,
    first_value(f.thread_key ORDER BY f.duration_ns DESC, f.start_ns, f.thread_key) AS thread_key,
    first_value(f.start_ns ORDER BY f.duration_ns DESC, f.start_ns, f.thread_key) AS at_ns
  FROM victims v JOIN top_file t ON t.process_key = v.process_key JOIN hard_fault f ON f.process_key = v.process_key
  GROUP BY t.culprit
)
SELECT s.culprit, v.process_key, s.total_ns, s.count, s.longest_ns, v.cost_ns, v.read_bytes, v.from_ns, v.to_ns,
  s.stack_id, s.thread_key, s.at_ns
FROM victims v JOIN top_file t ON t.process_key = v.process_key JOIN totals s ON s.culprit = t.culprit
ORDER BY s.total_ns DESC, s.culprit, v.cost_ns DESC, v.process_key
