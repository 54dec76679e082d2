-- Process lifecycle: how often programs started and ended, how long they lived, what starts and ends cost, which failed.
SELECT p.name AS process, count(DISTINCT p.run_id) AS runs, count(*) AS processes, count(p.start_ns) AS starts,
       count(p.stop_ns) AS ends, sum(p.stop_ns - p.start_ns) AS lifetime_ns, max(p.stop_ns - p.start_ns) AS max_lifetime_ns,
       sum(p.start_cost_ns) AS start_cost_ns, max(p.start_cost_ns) AS max_start_cost_ns,
       sum(p.exit_duration_ns) AS exit_duration_ns, count(*) FILTER (WHERE p.exit_code <> 0) AS failed
FROM process p
WHERE p.start_ns IS NOT NULL OR p.stop_ns IS NOT NULL
GROUP BY p.name
ORDER BY starts DESC, process NULLS LAST
