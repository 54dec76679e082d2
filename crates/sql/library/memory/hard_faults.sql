-- Page faults that a disk served, by process and file.
-- param process: text = '' – only processes that fit, as for process_match
-- param top: int = 50 – at most so many rows
SELECT /*+ h.trace_id, */ p.name AS process, p.pid, h.path, count(*) AS faults, sum(h.size_bytes) AS size_bytes,
       sum(h.duration_ns) AS duration_sum_ns, union_duration(h.start_ns, h.end_ns) AS duration_ns, max(h.duration_ns) AS max_duration_ns
FROM hard_fault h LEFT JOIN process p ON p.process_key = h.process_key /*+ AND p.trace_id = h.trace_id */
WHERE process_match(p.name, p.pid, $process)
GROUP BY /*+ h.trace_id, */ h.process_key, p.name, p.pid, h.path
ORDER BY duration_sum_ns DESC, h.process_key, h.path /*+ , h.trace_id */
LIMIT $top
