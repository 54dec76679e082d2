-- Moves of each thread from one processor to another, from context switches; idle threads are left out.
-- param process: text = '' – only processes that fit, as for process_match
-- param top: int = 50 – at most so many rows
WITH slice AS (
    SELECT /*+ trace_id, */ thread_key, cpu, in_ns, run_ns, ready_ns,
           lag(cpu) OVER (PARTITION BY /*+ trace_id, */ thread_key ORDER BY in_ns) AS before
    FROM context_switch WHERE in_ns IS NOT NULL
), moved AS (
    SELECT /*+ trace_id, */ thread_key, count(*) AS slices, count(*) FILTER (WHERE cpu <> before) AS moves,
           count(DISTINCT cpu) AS processors, sum(run_ns) AS run_ns,
           avg(ready_ns) FILTER (WHERE cpu <> before) AS ready_at_moves_ns,
           avg(ready_ns) FILTER (WHERE cpu = before) AS ready_at_stays_ns
    FROM slice GROUP BY /*+ trace_id, */ thread_key
)
SELECT /*+ t.trace_id, */ p.name AS process, p.pid, t.tid, m.moves, m.slices, m.processors, m.run_ns,
       CAST(m.ready_at_moves_ns AS BIGINT) AS ready_at_moves_ns, CAST(m.ready_at_stays_ns AS BIGINT) AS ready_at_stays_ns
FROM moved m
JOIN thread t ON t.thread_key = m.thread_key /*+ AND t.trace_id = m.trace_id */
LEFT JOIN process p ON p.process_key = t.process_key /*+ AND p.trace_id = t.trace_id */
WHERE t.tid <> 0 AND process_match(p.name, p.pid, $process)
ORDER BY m.moves DESC, m.slices DESC, t.thread_key /*+ , t.trace_id */
LIMIT $top
