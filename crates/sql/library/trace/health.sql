-- What a reader of the numbers should know: losses, damage, what could not be decoded.
SELECT /*+ trace_id, */ severity, kind, count, position, message FROM diagnostic
UNION ALL
SELECT /*+ t.trace_id, */ CASE WHEN t.lost_events > 0 THEN 'warning' ELSE 'info' END, 'lost_events', t.lost_events, NULL,
       'events that the recorder lost' FROM trace t
WHERE NOT EXISTS (SELECT 1 FROM diagnostic d WHERE d.kind = 'lost_events' /*+ AND d.trace_id = t.trace_id */)
UNION ALL
SELECT /*+ t.trace_id, */ CASE WHEN t.lost_buffers > 0 THEN 'warning' ELSE 'info' END, 'lost_buffers', t.lost_buffers, NULL,
       'buffers that the recorder lost' FROM trace t
WHERE NOT EXISTS (SELECT 1 FROM diagnostic d WHERE d.kind = 'lost_buffers' /*+ AND d.trace_id = t.trace_id */)
ORDER BY /*+ trace_id, */ severity, kind, position, message
