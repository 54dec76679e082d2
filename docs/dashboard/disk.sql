-- Disk by file: what was read and written in how many runs; Windows does not tell cases of paths apart.
SELECT lower(d.path) AS path, count(DISTINCT d.run_id) AS runs, sum(d.reads) AS reads, sum(d.read_bytes) AS read_bytes,
       sum(d.writes) AS writes, sum(d.write_bytes) AS write_bytes, sum(d.flushes) AS flushes,
       sum(d.read_service_ns + d.write_service_ns + d.flush_service_ns) AS service_ns, max(d.max_io_ns) AS max_io_ns
FROM disk_file d
GROUP BY lower(d.path)
ORDER BY service_ns DESC, path NULLS LAST
LIMIT 100
