-- The process that waited longest for pages from the disk
-- sentence: {culprit} waited {cost} for pages from the disk, {count|once|# times; waits at the same time add up}
-- needs: hard faults
-- evidence: dump hard-fault --process {pid}
-- spot: hard-fault --process {pid}
SELECT coalesce(p.name, 'process') || ' (' || p.pid || ')' AS culprit, h.process_key, sum(h.duration_ns) AS cost_ns, sum(h.count) AS count
FROM hard_fault_file h JOIN process p ON p.process_key = h.process_key
GROUP BY p.name, p.pid, h.process_key
ORDER BY cost_ns DESC, h.process_key
LIMIT 1
