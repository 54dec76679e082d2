-- The recorded machine and recording, fact by fact.
-- param topic: text = '' – only parts of the machine that fit, as for wildcard_match
WITH fact AS (
    SELECT /*+ trace_id, */ 'trace' AS topic, 0 AS item, 'computer' AS name, computer AS value FROM trace
    UNION ALL SELECT /*+ trace_id, */ 'trace', 0, 'os_name', os_name FROM trace
    UNION ALL SELECT /*+ trace_id, */ 'trace', 0, 'os_version', os_version FROM trace
    UNION ALL SELECT /*+ trace_id, */ 'trace', 0, 'start_utc', start_utc FROM trace
    UNION ALL SELECT /*+ trace_id, */ 'trace', 0, 'duration_ns', arrow_cast(duration_ns, 'Utf8') FROM trace
    UNION ALL SELECT /*+ trace_id, */ 'trace', 0, 'processors', arrow_cast(processors, 'Utf8') FROM trace
    UNION ALL SELECT /*+ trace_id, */ 'trace', 0, 'memory_bytes', arrow_cast(memory_bytes, 'Utf8') FROM trace
    UNION ALL SELECT /*+ trace_id, */ topic, item, name, value FROM system_config
)
SELECT /*+ trace_id, */ topic, item, name, value FROM fact
WHERE value IS NOT NULL AND wildcard_match(topic, $topic)
ORDER BY /*+ trace_id, */ topic, item, name
