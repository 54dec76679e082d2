-- CPU by process and run: what each program used in each recording, the most first.
SELECT t.file_name AS run, t.run_id, p.name AS process, count(*) AS processes, sum(c.cpu_ns) AS cpu_ns,
       sum(c.run_ns) AS run_ns, sum(c.threads) AS threads
FROM cpu_process c
JOIN process p ON p.run_id = c.run_id AND p.process_key = c.process_key
JOIN trace t ON t.run_id = c.run_id
GROUP BY t.file_name, t.run_id, p.name
ORDER BY cpu_ns DESC, run_ns DESC NULLS LAST, run, t.run_id, process
LIMIT 100
