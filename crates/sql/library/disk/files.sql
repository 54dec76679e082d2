-- Disk I/O of each file, the busiest first; service times of a disk add up to the time in which it was busy.
-- param process: text = '' – only processes that fit, as for process_match
-- param path: text = '' – only paths that fit, as for wildcard_match
-- param top: int = 50 – at most so many rows
SELECT /*+ d.trace_id, */ d.path, d.disk, sum(d.reads) AS reads, sum(d.read_bytes) AS read_bytes, sum(d.read_service_ns) AS read_service_ns,
       sum(d.writes) AS writes, sum(d.write_bytes) AS write_bytes, sum(d.write_service_ns) AS write_service_ns,
       sum(d.flushes) AS flushes, sum(d.flush_service_ns) AS flush_service_ns, max(d.max_io_ns) AS max_io_ns
FROM disk_file d LEFT JOIN process p ON p.process_key = d.process_key /*+ AND p.trace_id = d.trace_id */
WHERE process_match(p.name, p.pid, $process) AND wildcard_match(d.path, $path)
GROUP BY /*+ d.trace_id, */ d.path, d.disk
ORDER BY sum(d.read_service_ns + d.write_service_ns + d.flush_service_ns) DESC, d.path, d.disk /*+ , d.trace_id */
LIMIT $top
