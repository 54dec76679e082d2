-- CPU, waiting and ready time of each process; idle is not CPU.
-- param process: text = '' – only processes that fit, as for process_match
-- param top: int = 1000 – at most so many rows
SELECT /*+ c.trace_id, */ p.name AS process, p.pid, c.cpu_ns, c.run_ns, c.wait_ns, c.ready_ns, c.wait_sum_ns, c.ready_sum_ns,
       c.switches, c.threads, c.cores, c.first_ns, c.last_ns, p.command_line
FROM cpu_process c LEFT JOIN process p ON c.process_key = p.process_key /*+ AND c.trace_id = p.trace_id */
WHERE process_match(p.name, p.pid, $process)
ORDER BY coalesce(c.run_ns, c.cpu_ns) DESC, c.cpu_ns DESC, c.process_key /*+ , c.trace_id */
LIMIT $top
