-- Wait by tag: what threads waited for in each run, by the meaning of their stacks.
SELECT t.file_name AS run, t.run_id, c.tag, sum(c.wait_sum_ns) AS wait_ns, sum(c.ready_sum_ns) AS ready_ns,
       sum(c.switches) AS switches
FROM cpu_tag c
JOIN trace t ON t.run_id = c.run_id
JOIN process p ON p.run_id = c.run_id AND p.process_key = c.process_key
WHERE c.tag_set = 'default' AND c.wait_sum_ns > 0 AND p.pid <> 0
GROUP BY t.file_name, t.run_id, c.tag
ORDER BY wait_ns DESC, run, t.run_id, c.tag
LIMIT 100
