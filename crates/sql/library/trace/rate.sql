-- What a recording like this one needs: bytes and events per second, in the fullest second too, and how long memory and a disk keep it.
-- param memory_mb: int = 4000 – buffers that keep the last events: 15 % of memory, 4000 at most, for the profiles of `etwkit record`
-- param disk_mb: int = 40000 – space for files, as `etwkit record start --rotate --keep` gives them
WITH second AS (
    SELECT /*+ trace_id, */ second, sum(record_bytes) AS bytes, sum(events) AS events FROM event_count GROUP BY /*+ trace_id, */ second
), part AS (
    SELECT /*+ trace_id, */ coalesce(range_end_ns, duration_ns) - greatest(coalesce(range_start_ns, 0),
        CASE WHEN ring_start_ns IS NULL THEN 0 ELSE coalesce(kernel_start_ns, 0) END) AS length_ns
    FROM trace
), whole AS (
    SELECT /*+ s.trace_id, */ sum(s.bytes) / 1e6 / (max(t.length_ns) / 1e9) AS mb_per_second, max(s.bytes) / 1e6 AS most_mb_in_a_second,
           sum(s.events) / (max(t.length_ns) / 1e9) AS events_per_second
    FROM second s JOIN part t ON t.length_ns > 0 /*+ AND t.trace_id = s.trace_id GROUP BY s.trace_id */
    HAVING count(*) > 0
)
SELECT /*+ trace_id, */ round(mb_per_second, 3) AS mb_per_second, round(most_mb_in_a_second, 3) AS most_mb_in_a_second,
       round(events_per_second, 1) AS events_per_second,
       round($memory_mb / nullif(mb_per_second, 0), 1) AS seconds_in_memory,
       round($disk_mb / nullif(mb_per_second, 0), 1) AS seconds_on_disk
FROM whole
/*+ ORDER BY trace_id */
