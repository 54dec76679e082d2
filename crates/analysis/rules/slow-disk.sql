-- A disk takes long for single requests
-- card: 24
-- sentence: {victim} waited {total} for {culprit}: {count|1 request took {longest} without its|# requests took up to {longest} each without their} time in the queue
-- why: A disk answers a request within a few milliseconds, also one that spins. Where it takes longer, it wakes up, repeats reads of bad places,
--   moves its data around, or is reached over a slow cable or network. A flush makes it write its cache, and a program that
--   flushes after each record waits for it each time.
-- fix: Look at the health of the disk (SMART, event log), its cable, its firmware and its energy saving. If the requests are flushes: write
--   several records before each flush.
-- not proved: That the disk itself is slow: a driver between it and the file system also counts. That the program had to wait for each request.
-- needs: disk_io
-- pieces: culprit, process_key, from_ns, to_ns FROM slow
-- evidence: dump disk --process {pid} --details
-- spot: disk --process {pid}
-- param min_single_ms: float = 100 – for one read or write: a disk that spins takes less than 30
-- param min_flush_ms: float = 2 – for one flush: a disk with a protected cache takes less than 1
-- param max_small_kb: int = 128 – of a read or write that is small: how long it takes does not depend on its size
-- param min_mean_ms: float = 20 – of the small ones of a program: a disk that spins takes 5 to 15 where they are far apart
-- param min_small_count: int = 10 – fewer have no mean, and are not many
-- param min_small_percent: float = 30 – of the time from the first to the last of them
-- param min_total_ms: float = 500 – a smaller total goes unnoticed, and a disk that has slept answers late once
-- param min_flush_percent: float = 10 – of the time from the first to the last flush of a program
-- param min_flushes_ms: float = 200 – of many flushes: a program waits for each of them, and a disk that has slept is late once
WITH requests AS (
  SELECT i.*, i.complete_ns - i.service_ns AS from_ns, i.complete_ns AS to_ns, i.kind = 'flush' AS is_flush, d.model
  FROM disk_io i JOIN process p ON p.process_key = i.process_key LEFT JOIN disk d ON d.disk = i.disk
  WHERE p.pid NOT IN (0, 4) AND (i.priority = 0 OR i.priority >= 3) AND i.service_ns IS NOT NULL
    -- A disk whose write cache is off is a finding of another rule.
    AND (i.kind <> 'flush' OR coalesce(d.is_write_cache_enabled, true))
    -- A request that waits while the machine sleeps is not slow. Windows says when it is about to sleep, and when it has.
    AND NOT EXISTS (SELECT 1 FROM event_count e WHERE concat_ws('/', e.provider, e.event_id, e.opcode) IN (
        'Power/0/48', 'Power/0/49', 'Microsoft-Windows-Kernel-Power/42/0', 'Microsoft-Windows-Kernel-Power/107/0')
      AND e.second BETWEEN (i.complete_ns - i.service_ns) / 1000000000 AND i.complete_ns / 1000000000)
), flushing AS ( -- programs for which flushes are a good part of their time
  SELECT disk, process_key FROM requests WHERE is_flush GROUP BY disk, process_key
  HAVING union_duration(CASE WHEN service_ns >= $min_flush_ms * 1000000 THEN from_ns ELSE to_ns END, to_ns)
    >= $min_flush_percent / 100 * (max(to_ns) - min(from_ns))
), slowed AS ( -- programs for which small reads and writes are a good part of their time
  SELECT disk, process_key FROM requests WHERE NOT is_flush AND size_bytes <= $max_small_kb * 1024 GROUP BY disk, process_key
  HAVING avg(service_ns) >= $min_mean_ms * 1000000 AND count(*) >= $min_small_count
    AND union_duration(from_ns, to_ns) >= $min_small_percent / 100 * (max(to_ns) - min(from_ns))
), slow AS (
  SELECT r.is_flush, CASE WHEN r.is_flush THEN 'flushes of disk ' ELSE 'disk ' END || r.disk || coalesce(' (' || r.model || ')', '') AS culprit, r.process_key,
    r.thread_key, r.stack_id, r.from_ns, r.to_ns, r.service_ns
  FROM requests r LEFT JOIN flushing f ON r.is_flush AND f.disk = r.disk AND f.process_key = r.process_key
  LEFT JOIN slowed s ON NOT r.is_flush AND s.disk = r.disk AND s.process_key = r.process_key
  WHERE r.service_ns >= $min_single_ms * 1000000 OR f.process_key IS NOT NULL AND r.service_ns >= $min_flush_ms * 1000000
    OR s.process_key IS NOT NULL AND r.size_bytes <= $max_small_kb * 1024
), culprits AS (
  SELECT culprit, bool_or(is_flush) AS is_flush, union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(service_ns) AS longest_ns,
    first_value(stack_id ORDER BY service_ns DESC, from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY service_ns DESC, from_ns, thread_key) AS thread_key,
    first_value(from_ns ORDER BY service_ns DESC, from_ns, thread_key) AS at_ns
  FROM slow GROUP BY culprit
)
SELECT s.culprit, s.process_key, c.total_ns, c.count, c.longest_ns, union_duration(s.from_ns, s.to_ns) AS cost_ns,
  min(s.from_ns) AS from_ns, max(s.to_ns) AS to_ns, c.stack_id, c.thread_key, c.at_ns
FROM slow s JOIN culprits c ON c.culprit = s.culprit
WHERE c.total_ns >= CASE WHEN c.is_flush AND c.count >= $min_small_count THEN $min_flushes_ms ELSE $min_total_ms END * 1000000
GROUP BY s.culprit, s.process_key, c.total_ns, c.count, c.longest_ns, c.stack_id, c.thread_key, c.at_ns
ORDER BY c.total_ns DESC, s.culprit, cost_ns DESC, s.process_key
