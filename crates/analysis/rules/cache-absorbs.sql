-- What a program wrote stayed in the cache
-- card: 15
-- severity: note
-- sentence: {absorbed_percent} of the {written_bytes} that {culprit} wrote never reached the disk in this trace: the cache took it
-- why: Windows takes writes into memory and writes them to the disk later. A program that writes for a short time
--   measures the memory of the machine, not its disk.
-- fix: Do not conclude from this trace how fast the disk is; write far more than the memory can hold, or write through.
-- not proved: That the disk could have kept up: what the cache has not written yet is still to come.
-- needs: file_io, disk_io
-- evidence: dump file --process {pid} --details
-- spot: file --process {pid}
-- param min_written_mb: float = 40 – programs save less every day, and that says nothing about the disk
-- param min_absorbed_percent: float = 50 – where the disk has the larger part, its speed shows
WITH written AS (
  SELECT f.process_key, f.path, sum(coalesce(f.result_bytes, f.size_bytes, 0)) AS bytes, count(*) AS writes,
    min(f.start_ns) AS from_ns, max(f.end_ns) AS to_ns
  FROM file_io f JOIN process p ON p.process_key = f.process_key
  WHERE f.kind = 'write' AND f.path IS NOT NULL AND p.pid NOT IN (0, 4)
  GROUP BY f.process_key, f.path
), on_disk AS (
  SELECT path, sum(size_bytes) AS bytes FROM disk_io WHERE kind = 'write' AND path IS NOT NULL GROUP BY path
), sums AS (
  SELECT w.process_key, sum(w.bytes) AS written_bytes, sum(w.writes) AS count,
    sum(least(w.bytes, coalesce(d.bytes, 0))) AS disk_bytes, min(w.from_ns) AS from_ns, max(w.to_ns) AS to_ns
  FROM written w LEFT JOIN on_disk d ON d.path = w.path
  GROUP BY w.process_key
)
SELECT coalesce(p.name, 'process') || ' (' || p.pid || ')' AS culprit, s.process_key, CAST(NULL AS BIGINT) AS cost_ns,
  CAST(NULL AS BIGINT) AS total_ns, s.count, CAST(NULL AS BIGINT) AS longest_ns, s.written_bytes, s.disk_bytes,
  floor(1000.0 * (s.written_bytes - s.disk_bytes) / s.written_bytes) / 10 AS absorbed_percent,
  s.from_ns, s.to_ns, CAST(NULL AS INT) AS stack_id, CAST(NULL AS INT) AS thread_key, s.from_ns AS at_ns
FROM sums s JOIN process p ON p.process_key = s.process_key
WHERE s.written_bytes >= $min_written_mb * 1000000
  AND s.written_bytes - s.disk_bytes >= s.written_bytes * $min_absorbed_percent / 100
ORDER BY s.written_bytes DESC, s.process_key
