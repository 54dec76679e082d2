-- A program waits for a disk that another one keeps busy
-- card: 24
-- sentence: {victim} waited {total} in the queue of disk {disk}, since {culprit} kept it busy: {count|1 request|# requests}, longest {longest}
-- why: A disk works on its requests one after the other. If a program always has several of them under way, each request of others
--   has to wait for these, even where others read very little.
-- fix: Run {culprit} at another time, let it read and write less, or give its I/O a low priority (background mode). Files of one of
--   the two programs on another disk also help.
-- not proved: That the program had to wait for each of these requests: it may have sent some in advance. If System keeps the disk
--   busy: which programs wrote the data that it moves from the cache to the disk (dump file shows the bytes of each).
-- needs: disk_io
-- pieces: culprit_key, process_key, from_ns, to_ns FROM delays
-- evidence: dump disk --process {culprit_pid} --details
-- evidence: dump disk --process {pid} --details
-- shows: all requests of both; the finding counts the time in the queue, of requests at the same time once
-- spot: disk --process {culprit_pid}
-- param min_single_ms: float = 2 – in the queue; a disk that is not busy starts each request at once, and one without moving parts
--   serves several in that time
-- param min_total_ms: float = 250 – a smaller total goes unnoticed
-- param min_share_percent: float = 10 – of the time from the first to the last request of the program
-- param min_culprit_percent: float = 50 – of its time in the queue, in which the disk worked for that other program
-- param slot_ms: int = 100 – times are compared only within slots of this length, which is faster
WITH late AS ( -- requests that are meant to be served soon, and the time before the disk began with them
  SELECT i.disk, i.process_key, i.thread_key, i.stack_id, i.init_ns AS from_ns, i.init_ns + i.queue_ns AS to_ns, i.queue_ns
  FROM disk_io i JOIN process p ON p.process_key = i.process_key
  WHERE i.queue_ns >= $min_single_ms * 1000000 AND (i.priority = 0 OR i.priority >= 3) AND p.pid NOT IN (0, 4)
), candidates AS (
  SELECT disk, process_key FROM late GROUP BY disk, process_key
  HAVING union_duration(from_ns, to_ns) >= $min_total_ms * 1000000
), asked AS (
  SELECT l.* FROM late l JOIN candidates c ON c.disk = l.disk AND c.process_key = l.process_key
), served AS ( -- times in which the disk worked for somebody
  SELECT disk, process_key, complete_ns - service_ns AS from_ns, complete_ns AS to_ns
  FROM disk_io WHERE service_ns > 0 AND process_key IS NOT NULL AND (SELECT count(*) FROM candidates) > 0
), slots_asked AS (
  SELECT *, unnest(range(from_ns / ($slot_ms * 1000000), to_ns / ($slot_ms * 1000000) + 1)) AS slot FROM asked
), slots_served AS (
  SELECT *, unnest(range(from_ns / ($slot_ms * 1000000), to_ns / ($slot_ms * 1000000) + 1)) AS slot FROM served
), behind AS ( -- of each request, for whom the disk worked in the meantime
  SELECT a.disk, a.process_key, a.thread_key, a.from_ns, a.to_ns, s.process_key AS culprit_key,
    sum(least(a.to_ns, s.to_ns, (a.slot + 1) * $slot_ms * 1000000) - greatest(a.from_ns, s.from_ns, a.slot * $slot_ms * 1000000)) AS served_ns
  FROM slots_asked a JOIN slots_served s ON s.disk = a.disk AND s.slot = a.slot AND s.from_ns < a.to_ns AND s.to_ns > a.from_ns
  WHERE least(a.to_ns, s.to_ns, (a.slot + 1) * $slot_ms * 1000000) > greatest(a.from_ns, s.from_ns, a.slot * $slot_ms * 1000000)
  GROUP BY a.disk, a.process_key, a.thread_key, a.from_ns, a.to_ns, s.process_key
), delays AS ( -- requests that waited mostly for requests of one other program
  SELECT a.disk, a.process_key, a.thread_key, a.stack_id, a.from_ns, a.to_ns, a.queue_ns, b.culprit_key
  FROM asked a JOIN behind b ON b.disk = a.disk AND b.process_key = a.process_key AND b.thread_key = a.thread_key
    AND b.from_ns = a.from_ns AND b.to_ns = a.to_ns
  WHERE b.culprit_key <> a.process_key AND b.served_ns >= $min_culprit_percent / 100 * a.queue_ns
), life AS (
  SELECT disk, process_key, max(complete_ns) - min(init_ns) AS life_ns FROM disk_io GROUP BY disk, process_key
), victims AS (
  SELECT d.disk, d.culprit_key, d.process_key, union_duration(d.from_ns, d.to_ns) AS cost_ns, min(d.from_ns) AS from_ns, max(d.to_ns) AS to_ns
  FROM delays d JOIN life l ON l.disk = d.disk AND l.process_key = d.process_key
  GROUP BY d.disk, d.culprit_key, d.process_key, l.life_ns
  HAVING union_duration(d.from_ns, d.to_ns) >= greatest($min_total_ms * 1000000, $min_share_percent / 100 * l.life_ns)
), culprits AS (
  SELECT d.disk, d.culprit_key, union_duration(d.from_ns, d.to_ns) AS total_ns, count(*) AS count, max(d.queue_ns) AS longest_ns,
    first_value(d.stack_id ORDER BY d.queue_ns DESC, d.from_ns, d.thread_key) AS stack_id,
    first_value(d.thread_key ORDER BY d.queue_ns DESC, d.from_ns, d.thread_key) AS thread_key,
    first_value(d.from_ns ORDER BY d.queue_ns DESC, d.from_ns, d.thread_key) AS at_ns
  FROM delays d JOIN victims v ON v.disk = d.disk AND v.culprit_key = d.culprit_key AND v.process_key = d.process_key
  GROUP BY d.disk, d.culprit_key
)
SELECT coalesce(p.name, 'process') || ' (' || p.pid || ')' AS culprit, p.pid AS culprit_pid, v.process_key, v.disk, c.total_ns, c.count,
  c.longest_ns, v.cost_ns, v.from_ns, v.to_ns, c.stack_id, c.thread_key, c.at_ns
FROM victims v JOIN culprits c ON c.disk = v.disk AND c.culprit_key = v.culprit_key JOIN process p ON p.process_key = v.culprit_key
ORDER BY c.total_ns DESC, culprit, v.cost_ns DESC, v.process_key
