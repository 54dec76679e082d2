-- Disk I/O of each process and disk.
-- param process: text = '' – only processes that fit, as for process_match
SELECT /*+ d.trace_id, */ p.name AS process, p.pid, d.disk, sum(d.reads) AS reads, sum(d.read_bytes) AS read_bytes,
       sum(d.read_service_ns) AS read_service_ns, sum(d.writes) AS writes, sum(d.write_bytes) AS write_bytes,
       sum(d.write_service_ns) AS write_service_ns, sum(d.flushes) AS flushes, sum(d.flush_service_ns) AS flush_service_ns,
       max(d.max_io_ns) AS max_io_ns
FROM disk_file d LEFT JOIN process p ON p.process_key = d.process_key /*+ AND p.trace_id = d.trace_id */
WHERE process_match(p.name, p.pid, $process)
GROUP BY /*+ d.trace_id, */ d.process_key, p.name, p.pid, d.disk
ORDER BY sum(d.read_service_ns + d.write_service_ns + d.flush_service_ns) DESC, d.process_key, d.disk /*+ , d.trace_id */
