-- CPU of each module: with one of its frames anywhere in the stack, and with its code innermost.
-- param process: text = '' – only processes that fit, as for process_match
-- param top: int = 1000 – at most so many rows
WITH cpu AS (
    SELECT /*+ c.trace_id, */ c.stack_id, sum(c.cpu_ns) AS cpu_ns
    FROM cpu_stack c LEFT JOIN process p ON c.process_key = p.process_key /*+ AND c.trace_id = p.trace_id */
    WHERE process_match(p.name, p.pid, $process)
    GROUP BY /*+ c.trace_id, */ c.stack_id
), in_stack AS (
    SELECT /*+ s.trace_id, */ s.stack_id, m.name AS module, bool_or(s.depth = 0) AS is_innermost
    FROM stack_frame s
    JOIN cpu c ON c.stack_id = s.stack_id /*+ AND c.trace_id = s.trace_id */
    JOIN frame f ON f.frame_id = s.frame_id /*+ AND f.trace_id = s.trace_id */
    LEFT JOIN module m ON m.module_id = f.module_id /*+ AND m.trace_id = f.trace_id */
    GROUP BY /*+ s.trace_id, */ s.stack_id, m.name
)
SELECT /*+ c.trace_id, */ i.module, sum(c.cpu_ns) AS cpu_ns, sum(CASE WHEN i.is_innermost THEN c.cpu_ns ELSE 0 END) AS exclusive_ns
FROM cpu c JOIN in_stack i ON i.stack_id = c.stack_id /*+ AND i.trace_id = c.trace_id */
GROUP BY /*+ c.trace_id, */ i.module
ORDER BY cpu_ns DESC, i.module /*+ , c.trace_id */
LIMIT $top
