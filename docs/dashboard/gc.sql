-- GC pauses: how long threads of .NET programs stood still in each run, and for what part of it.
SELECT t.file_name AS run, t.run_id, p.name AS process, p.pid, count(*) AS collections,
       count(*) FILTER (WHERE g.generation = 2) AS of_generation_2, sum(g.suspended_ns) AS suspended_ns,
       max(g.suspended_ns) AS max_suspended_ns, 100.0 * sum(g.suspended_ns) / max(coalesce(t.range_end_ns - t.range_start_ns, t.duration_ns)) AS suspended_percent
FROM gc g
JOIN trace t ON t.run_id = g.run_id
LEFT JOIN process p ON p.run_id = g.run_id AND p.process_key = g.process_key
GROUP BY t.file_name, t.run_id, p.name, p.pid
ORDER BY suspended_ns DESC NULLS LAST, run, t.run_id, p.pid
