-- The program that used the processors most
-- sentence: {culprit}{processes|| (# processes)} used {cost} of CPU time{part}{processes||; up to {most} in one process ({most_pid})}
-- needs: CPU samples or context switches
-- evidence: dump cpu --process {processes_of}
-- spot: flame --weight cpu --process {pid}
WITH source AS ( -- the same as of dump cpu: samples, or context switches if there is no sample
  SELECT coalesce(sum(samples), 0) + coalesce(max(cpu_ns), 0) > 0 AS is_sampled FROM cpu_process
), used AS (
  SELECT c.process_key, p.pid, p.name, coalesce(lower(p.name), 'process ' || c.process_key) AS program,
    CASE WHEN s.is_sampled THEN c.cpu_ns ELSE c.run_ns END AS used_ns
  FROM cpu_process c JOIN process p ON p.process_key = c.process_key CROSS JOIN source s
  WHERE p.pid <> 0
), programs AS ( -- a build starts its compiler again and again, and no process of it uses much
  SELECT program, min(name) AS name, count(*) AS processes, sum(used_ns) AS used_ns, max(used_ns) AS most_ns,
    first_value(process_key ORDER BY used_ns DESC, process_key) AS most_key,
    first_value(pid ORDER BY used_ns DESC, process_key) AS most_pid
  FROM used WHERE used_ns > 0 GROUP BY program
), busiest AS ( -- a process that used nearly all of it stands for itself, as a service beside those in other hosts does
  SELECT program, name, most_ns, most_key, most_pid,
    CASE WHEN most_ns >= 0.9 * used_ns THEN 1 ELSE processes END AS processes,
    CASE WHEN most_ns >= 0.9 * used_ns THEN most_ns ELSE used_ns END AS cost_ns
  FROM programs ORDER BY cost_ns DESC, most_key
  LIMIT 1
), own AS ( -- the module whose own code ran most in it
  SELECT m.module, max(lower(m.module_path)) AS path, sum(m.exclusive_ns) AS own_ns
  FROM cpu_method m JOIN used u ON u.process_key = m.process_key JOIN busiest b ON b.program = u.program AND (b.processes > 1 OR u.process_key = b.most_key)
  WHERE m.module IS NOT NULL AND lower(m.module) <> lower(coalesce(b.name, ''))
  GROUP BY m.module ORDER BY own_ns DESC NULLS LAST, m.module LIMIT 1
), makers AS (SELECT lower(path) AS path, max(company) AS company FROM module GROUP BY lower(path))
SELECT coalesce(b.name, 'process') || CASE WHEN b.processes = 1 THEN ' (' || b.most_pid || ')' ELSE '' END AS culprit,
  CASE WHEN b.processes = 1 THEN CAST(b.most_pid AS VARCHAR) ELSE b.name END AS processes_of,
  CASE WHEN b.processes = 1 THEN b.most_key END AS process_key, b.processes, b.cost_ns, b.most_ns, b.most_pid,
  CASE WHEN b.cost_ns > 0 AND o.own_ns >= 0.5 * b.cost_ns THEN ', ' || CAST(round(100.0 * o.own_ns / b.cost_ns) AS BIGINT) || ' % of it in ' || o.module
    || coalesce(' (' || k.company || ')', '') ELSE '' END AS part
FROM busiest b LEFT JOIN own o ON true LEFT JOIN makers k ON k.path = o.path
