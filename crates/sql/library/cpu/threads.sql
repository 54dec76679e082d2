-- Running, waiting and ready time of each thread from context switches, and its sampled CPU; idle threads are left out.
-- param process: text = '' – only processes that fit, as for process_match
-- param top: int = 1000 – at most so many rows
WITH sampled AS (
    SELECT /*+ trace_id, */ thread_key, sum(weight_ns) AS cpu_ns FROM cpu_sample WHERE NOT is_idle GROUP BY /*+ trace_id, */ thread_key
), switched AS (
    SELECT /*+ trace_id, */ thread_key, sum(run_ns) AS run_ns, sum(wait_ns) AS wait_ns, sum(ready_ns) AS ready_ns,
           count(in_ns) AS switches, bool_or(is_open_wait) AS is_waiting_at_end
    FROM context_switch GROUP BY /*+ trace_id, */ thread_key
)
SELECT /*+ t.trace_id, */ p.name AS process, p.pid, t.tid, a.run_ns, s.cpu_ns, a.wait_ns, a.ready_ns, a.switches, a.is_waiting_at_end,
       t.start_ns, t.stop_ns
FROM thread t
LEFT JOIN process p ON p.process_key = t.process_key /*+ AND p.trace_id = t.trace_id */
LEFT JOIN switched a ON a.thread_key = t.thread_key /*+ AND a.trace_id = t.trace_id */
LEFT JOIN sampled s ON s.thread_key = t.thread_key /*+ AND s.trace_id = t.trace_id */
WHERE t.tid <> 0 AND (a.thread_key IS NOT NULL OR s.thread_key IS NOT NULL) AND process_match(p.name, p.pid, $process)
ORDER BY coalesce(a.run_ns, s.cpu_ns) DESC NULLS LAST, t.thread_key /*+ , t.trace_id */
LIMIT $top
