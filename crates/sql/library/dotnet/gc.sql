-- Garbage collections of .NET processes by generation and reason: how many, how long, and how long threads stood still.
-- param process: text = '' – only processes that fit, as for process_match
SELECT /*+ g.trace_id, */ p.name AS process, p.pid, g.generation, gc_reason_name(g.reason) AS gc_reason, count(*) AS collections,
       sum(g.duration_ns) AS duration_ns, max(g.duration_ns) AS max_duration_ns, sum(g.suspended_ns) AS suspended_ns,
       max(g.suspended_ns) AS max_suspended_ns
FROM gc g LEFT JOIN process p ON p.process_key = g.process_key /*+ AND p.trace_id = g.trace_id */
WHERE process_match(p.name, p.pid, $process)
GROUP BY /*+ g.trace_id, */ g.process_key, p.name, p.pid, g.generation, g.reason
ORDER BY suspended_ns DESC NULLS LAST, g.process_key, g.generation, g.reason /*+ , g.trace_id */
