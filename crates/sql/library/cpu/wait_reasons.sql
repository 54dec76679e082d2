-- What threads waited for, by process: sum over threads, time in which at least one waited, and waits still open at the end.
-- param process: text = '' – only processes that fit, as for process_match
SELECT /*+ c.trace_id, */ p.name AS process, p.pid, wait_reason_name(c.wait_reason) AS reason, count(c.wait_ns) AS waits,
       sum(c.wait_ns) AS wait_sum_ns, union_duration(c.last_out_ns, c.last_out_ns + c.wait_ns) AS wait_ns,
       max(c.wait_ns) AS max_wait_ns, count(*) FILTER (WHERE c.is_open_wait) AS open_waits
FROM context_switch c JOIN process p ON p.process_key = c.process_key /*+ AND p.trace_id = c.trace_id */
WHERE p.pid <> 0 AND c.prev_state IN (5, 8, 9) AND process_match(p.name, p.pid, $process)
GROUP BY /*+ c.trace_id, */ p.process_key, p.name, p.pid, c.wait_reason
ORDER BY wait_sum_ns DESC NULLS LAST, p.process_key, c.wait_reason /*+ , c.trace_id */
