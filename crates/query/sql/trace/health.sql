-- What a reader of the numbers should know: losses, damage, what could not be decoded.
SELECT /*+ trace_id, */ severity, kind, count, position, message FROM diagnostic
UNION ALL
SELECT /*+ trace_id, */ CASE WHEN lost_events > 0 THEN 'warning' ELSE 'info' END, 'lost_events', lost_events, NULL,
       'events that the recorder lost' FROM trace
UNION ALL
SELECT /*+ trace_id, */ CASE WHEN lost_buffers > 0 THEN 'warning' ELSE 'info' END, 'lost_buffers', lost_buffers, NULL,
       'buffers that the recorder lost' FROM trace
ORDER BY /*+ trace_id, */ severity, kind, position, message
