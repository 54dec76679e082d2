-- Machines compared: how much of its processors each kind of machine used.
WITH used AS (
  SELECT t.run_id, t.computer, t.os_version, t.processors, t.memory_bytes,
         coalesce(t.range_end_ns - t.range_start_ns, t.duration_ns) AS duration_ns, sum(c.cpu_ns) AS cpu_ns
  FROM trace t
  LEFT JOIN cpu_process c ON c.run_id = t.run_id
  GROUP BY t.run_id, t.computer, t.os_version, t.processors, t.memory_bytes, t.duration_ns, t.range_start_ns, t.range_end_ns
)
SELECT computer, os_version, processors, memory_bytes, count(*) AS runs, sum(duration_ns) AS duration_ns, sum(cpu_ns) AS cpu_ns,
       avg(100.0 * cpu_ns / (duration_ns * processors)) AS cpu_percent
FROM used
WHERE duration_ns > 0
GROUP BY computer, os_version, processors, memory_bytes
ORDER BY computer NULLS LAST, os_version NULLS LAST, processors, memory_bytes NULLS LAST
