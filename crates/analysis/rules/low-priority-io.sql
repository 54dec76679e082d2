-- Long disk I/O of low priority does no harm
-- card: 5
-- severity: note
-- sentence: {culprit} has the longest disk I/O ({io_ns} for {moved_bytes}), but of low priority: it gives way, others hardly waited
-- why: Requests of low priority stay in the queue until the disk has nothing else to do. They wait, but they
--   hold up no other process, so a ranking by I/O time puts their process first for no reason.
-- fix: None is needed: look at processes whose requests have normal priority.
-- not proved: That the program itself is in no hurry.
-- needs: disk_io
-- evidence: dump disk --process {pid} --details
-- shows: service time, in which the disk worked on the requests; the finding also counts their time in the queue
-- spot: disk --process {pid}
-- param min_io_ms: float = 600 – shorter I/O does not reach the top of a ranking
-- param min_share_percent: float = 5 – of the recording: a disk that works for the program for less hinders no other program
-- param min_low_percent: float = 90 – of its I/O time; what has normal priority may hold up others
-- param max_queue_percent: float = 20 – of its I/O time, that others spent in the queue: then it may be to blame
WITH sums AS (
  SELECT process_key, sum(io_ns) AS io_ns, sum(CASE WHEN priority IN (1, 2) THEN io_ns ELSE 0 END) AS low_ns,
    sum(CASE WHEN priority IN (1, 2) THEN 0 ELSE coalesce(queue_ns, io_ns) END) AS queue_ns, sum(size_bytes) AS moved_bytes,
    count(*) AS count, max(io_ns) AS longest_ns, min(init_ns) AS from_ns, max(complete_ns) AS to_ns,
    first_value(stack_id ORDER BY io_ns DESC) AS stack_id,
    first_value(thread_key ORDER BY io_ns DESC) AS thread_key,
    first_value(init_ns ORDER BY io_ns DESC) AS at_ns
  FROM disk_io WHERE process_key IS NOT NULL GROUP BY process_key
), most AS (
  SELECT max(io_ns) AS io_ns, max(moved_bytes) AS moved_bytes, sum(queue_ns) AS queue_ns FROM sums
)
SELECT coalesce(p.name, 'process') || ' (' || p.pid || ')' AS culprit, s.process_key, CAST(NULL AS BIGINT) AS cost_ns,
  CAST(NULL AS BIGINT) AS total_ns, s.count, s.longest_ns, s.io_ns, s.moved_bytes, s.from_ns, s.to_ns,
  s.stack_id, s.thread_key, s.at_ns
FROM sums s JOIN process p ON p.process_key = s.process_key CROSS JOIN most m CROSS JOIN trace t
WHERE s.io_ns = m.io_ns AND s.moved_bytes < m.moved_bytes AND s.io_ns >= $min_io_ms * 1000000
  AND s.io_ns >= $min_share_percent / 100
    * (coalesce(t.range_end_ns, t.duration_ns)
      - greatest(coalesce(t.range_start_ns, 0), CASE WHEN t.ring_start_ns IS NULL THEN 0 ELSE coalesce(t.kernel_start_ns, 0) END))
  AND s.low_ns >= s.io_ns * $min_low_percent / 100
  AND m.queue_ns - s.queue_ns <= s.low_ns * $max_queue_percent / 100
ORDER BY s.io_ns DESC, s.process_key
