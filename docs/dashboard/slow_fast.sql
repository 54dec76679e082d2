-- Slow against fast: what programs used on average in the slower half of all runs, and in the faster one.
WITH run AS (
  SELECT run_id, ntile(2) OVER (ORDER BY duration_ns, run_id) AS half FROM trace
), used AS (
  SELECT r.run_id, r.half, p.name AS process, sum(c.cpu_ns) AS cpu_ns, sum(coalesce(c.wait_sum_ns, 0)) AS wait_ns
  FROM run r
  JOIN cpu_process c ON c.run_id = r.run_id
  JOIN process p ON p.run_id = c.run_id AND p.process_key = c.process_key
  GROUP BY r.run_id, r.half, p.name
)
SELECT process, count(*) FILTER (WHERE half = 2) AS slow_runs, count(*) FILTER (WHERE half = 1) AS fast_runs,
       avg(cpu_ns) FILTER (WHERE half = 2) AS slow_cpu_ns, avg(cpu_ns) FILTER (WHERE half = 1) AS fast_cpu_ns,
       avg(wait_ns) FILTER (WHERE half = 2) AS slow_wait_ns, avg(wait_ns) FILTER (WHERE half = 1) AS fast_wait_ns
FROM used
GROUP BY process
ORDER BY process NULLS LAST
