-- The process that used the processors most
-- sentence: {culprit} used {cost} of CPU time
-- needs: CPU samples or context switches
-- evidence: dump cpu --process {pid}
SELECT p.name || ' (' || p.pid || ')' AS culprit, c.process_key, coalesce(c.run_ns, c.cpu_ns) AS cost_ns
FROM cpu_process c JOIN process p ON p.process_key = c.process_key
WHERE p.pid <> 0
ORDER BY cost_ns DESC NULLS LAST, c.process_key
LIMIT 1
