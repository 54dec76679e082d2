-- Exceptions of .NET programs by process, type and message; one that is thrown again counts again.
-- param process: text = '' – only processes that fit, as for process_match
-- param type: text = '' – only types that fit, as for wildcard_match
-- param top: int = 100 – at most so many rows
SELECT /*+ e.trace_id, */ p.name AS process, p.pid, e.exception_type, e.message, count(*) AS exceptions, min(e.ts_ns) AS first_ns, max(e.ts_ns) AS last_ns
FROM exception e LEFT JOIN process p ON p.process_key = e.process_key /*+ AND p.trace_id = e.trace_id */
WHERE process_match(p.name, p.pid, $process) AND wildcard_match(e.exception_type, $type)
GROUP BY /*+ e.trace_id, */ e.process_key, p.name, p.pid, e.exception_type, e.message
ORDER BY exceptions DESC, e.process_key, e.exception_type, e.message /*+ , e.trace_id */
LIMIT $top
