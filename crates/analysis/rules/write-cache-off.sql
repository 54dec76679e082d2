-- The write cache of a disk is off
-- card: 4
-- sentence: The {culprit} is off: {victim} waited {total} for {count|1 write|# writes}, {mean_ns} each
-- why: Without its write cache a disk reports a write as done when the medium has it, which takes milliseconds instead of
--   microseconds. Programs that write through or wait for each write lose that time.
-- fix: Switch on write caching for the disk (Device Manager, Policies) if the machine has a battery or the data can be
--   restored. Otherwise write fewer and larger pieces.
-- not proved: How fast the disk is with its cache, and that each of these writes held up a program.
-- needs: disk_io, disk
-- pieces: culprit, process_key, init_ns AS from_ns, complete_ns AS to_ns FROM writes
-- evidence: dump disk --process {pid} --details
-- spot: disk --process {pid}
-- param min_total_ms: float = 100 – a smaller total goes unnoticed
-- param min_mean_us: float = 1000 – disks that need no cache, as those with flash and a battery, write in less time
WITH off AS (
  SELECT disk, 'write cache of disk ' || disk || coalesce(' (' || model || ')', '') AS culprit
  FROM disk WHERE is_write_cache_enabled = false
), writes AS (
  SELECT o.culprit, i.*
  FROM disk_io i JOIN off o ON o.disk = i.disk JOIN process p ON p.process_key = i.process_key
  WHERE i.kind IN ('write', 'flush') AND p.pid NOT IN (0, 4) AND (i.priority = 0 OR i.priority >= 3)
), culprits AS (
  SELECT culprit, union_duration(init_ns, complete_ns) AS total_ns, count(*) AS count, max(io_ns) AS longest_ns,
    first_value(stack_id ORDER BY io_ns DESC, init_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY io_ns DESC, init_ns, thread_key) AS thread_key,
    first_value(init_ns ORDER BY io_ns DESC, init_ns, thread_key) AS at_ns,
    CAST(round(avg(service_ns)) AS BIGINT) AS mean_ns
  FROM writes GROUP BY culprit
)
SELECT w.culprit, w.process_key, c.total_ns, c.count, c.longest_ns, c.mean_ns,
  union_duration(w.init_ns, w.complete_ns) AS cost_ns, min(w.init_ns) AS from_ns, max(w.complete_ns) AS to_ns,
  c.stack_id,
  c.thread_key,
  c.at_ns
FROM writes w JOIN culprits c ON c.culprit = w.culprit
WHERE c.total_ns >= $min_total_ms * 1000000 AND c.mean_ns >= $min_mean_us * 1000
GROUP BY w.culprit, w.process_key, c.total_ns, c.count, c.longest_ns, c.mean_ns, c.stack_id, c.thread_key, c.at_ns
ORDER BY c.total_ns DESC, w.culprit, cost_ns DESC, w.process_key
