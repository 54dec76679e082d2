-- Methods compared: CPU with each method in the stack, by program and run, of the earlier half of all runs and of the later one.
WITH run AS (
  SELECT run_id, ntile(2) OVER (ORDER BY start_filetime, run_id) AS half FROM trace
), used AS (
  SELECT r.run_id, r.half, p.name AS process, c.module, c.method, sum(c.cpu_ns) AS cpu_ns
  FROM run r
  JOIN cpu_method c ON c.run_id = r.run_id
  JOIN process p ON p.run_id = c.run_id AND p.process_key = c.process_key
  WHERE c.cpu_ns > 0
  GROUP BY r.run_id, r.half, p.name, c.module, c.method
)
SELECT process, module, method, count(*) AS runs, sum(cpu_ns) AS cpu_ns, max(cpu_ns) AS max_cpu_ns,
       avg(cpu_ns) FILTER (WHERE half = 1) AS earlier_cpu_ns, avg(cpu_ns) FILTER (WHERE half = 2) AS later_cpu_ns
FROM used
GROUP BY process, module, method
ORDER BY cpu_ns DESC, process, module NULLS LAST, method
LIMIT 100
