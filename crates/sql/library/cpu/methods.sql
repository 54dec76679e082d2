-- CPU, waiting and ready time of each method in each process; a method counts once for each stack.
-- param process: text = '' – only processes that fit, as for process_match
-- param method: text = '' – only methods that fit, as for wildcard_match
-- param top: int = 50 – at most so many rows
SELECT /*+ c.trace_id, */ p.name AS process, p.pid, c.module, c.method, c.cpu_ns, c.exclusive_ns, c.wait_ns, c.ready_ns, c.wait_sum_ns,
       c.ready_sum_ns, c.switches, c.threads, c.first_ns, c.last_ns
FROM cpu_method c LEFT JOIN process p ON c.process_key = p.process_key /*+ AND c.trace_id = p.trace_id */
WHERE process_match(p.name, p.pid, $process) AND wildcard_match(c.method, $method)
ORDER BY c.cpu_ns DESC, c.wait_ns DESC, c.process_key, c.module, c.method /*+ , c.trace_id */
LIMIT $top
