-- The process that used the processors most
-- sentence: {culprit} used {cost} of CPU time{part}
-- needs: CPU samples or context switches
-- evidence: dump cpu --process {pid}
WITH source AS ( -- the same as of dump cpu: samples, or context switches if there is no sample
  SELECT coalesce(sum(samples), 0) + coalesce(max(cpu_ns), 0) > 0 AS is_sampled FROM cpu_process
), busiest AS (
  SELECT p.name, coalesce(p.name, 'process') || ' (' || p.pid || ')' AS culprit, c.process_key,
    CASE WHEN s.is_sampled THEN c.cpu_ns ELSE c.run_ns END AS cost_ns
  FROM cpu_process c JOIN process p ON p.process_key = c.process_key CROSS JOIN source s
  WHERE p.pid <> 0
  ORDER BY cost_ns DESC NULLS LAST, c.process_key
  LIMIT 1
), own AS ( -- the module whose own code ran most in it
  SELECT m.module, max(lower(m.module_path)) AS path, sum(m.exclusive_ns) AS own_ns
  FROM cpu_method m JOIN busiest b ON b.process_key = m.process_key
  WHERE m.module IS NOT NULL AND lower(m.module) <> lower(coalesce(b.name, ''))
  GROUP BY m.module ORDER BY own_ns DESC NULLS LAST, m.module LIMIT 1
), makers AS (SELECT lower(path) AS path, max(company) AS company FROM module GROUP BY lower(path))
SELECT b.culprit, b.process_key, b.cost_ns,
  CASE WHEN b.cost_ns > 0 AND o.own_ns >= 0.5 * b.cost_ns THEN ', ' || CAST(round(100.0 * o.own_ns / b.cost_ns) AS BIGINT) || ' % of it in ' || o.module
    || coalesce(' (' || k.company || ')', '') ELSE '' END AS part
FROM busiest b LEFT JOIN own o ON true LEFT JOIN makers k ON k.path = o.path
