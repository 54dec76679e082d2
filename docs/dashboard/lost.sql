-- Lost events: runs whose numbers are too small, since events or buffers were lost, or files are damaged.
SELECT t.file_name AS run, t.run_id, t.events, t.lost_events, t.lost_buffers, coalesce(t.missing_buffers, 0) AS missing_buffers,
       count(d.kind) AS notes, coalesce(sum(d.count), 0) AS noted
FROM trace t
LEFT JOIN diagnostic d ON d.run_id = t.run_id AND d.severity <> 'info'
GROUP BY t.file_name, t.run_id, t.events, t.lost_events, t.lost_buffers, t.missing_buffers
HAVING t.lost_events + t.lost_buffers + coalesce(t.missing_buffers, 0) > 0 OR count(d.kind) > 0
ORDER BY t.lost_events DESC, run, t.run_id
