-- The .NET process that garbage collections stopped longest
-- sentence: garbage collections stopped the threads of {culprit} for {cost}, {count} in all
-- needs: gc
-- evidence: dump gc --process {pid}
-- spot: gc --process {pid}
SELECT coalesce(p.name, 'process') || ' (' || p.pid || ')' AS culprit, g.process_key, sum(coalesce(g.suspended_ns, g.duration_ns)) AS cost_ns, count(*) AS count
FROM gc g JOIN process p ON p.process_key = g.process_key
GROUP BY p.name, p.pid, g.process_key
ORDER BY cost_ns DESC NULLS LAST, g.process_key
LIMIT 1
