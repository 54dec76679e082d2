-- The process that used the processors most
-- sentence: {culprit} used {cost} of CPU time
-- needs: CPU samples or context switches
-- evidence: dump cpu --process {pid}
WITH source AS ( -- the same as of dump cpu: samples, or context switches if there is no sample
  SELECT coalesce(sum(samples), 0) + coalesce(max(cpu_ns), 0) > 0 AS is_sampled FROM cpu_process
)
SELECT coalesce(p.name, 'process') || ' (' || p.pid || ')' AS culprit, c.process_key,
  CASE WHEN s.is_sampled THEN c.cpu_ns ELSE c.run_ns END AS cost_ns
FROM cpu_process c JOIN process p ON p.process_key = c.process_key CROSS JOIN source s
WHERE p.pid <> 0
ORDER BY cost_ns DESC NULLS LAST, c.process_key
LIMIT 1
