-- One provider fills the trace
-- card: 23
-- severity: note
-- sentence: The provider {culprit} wrote {share_percent} of the trace, {rate} events a second: a ring of {ring_bytes} holds {ring_ns}
-- why: Each event costs time on the machine that is measured and room in the buffers. A provider that writes more than
--   the kernel shortens what a ring in memory holds, and may lose events of others.
-- fix: Leave the provider out, or switch on only the keywords and levels that you read.
-- not proved: That the events slowed down anything.
-- needs: event_count
-- evidence: dump trace-stats
-- spot: health
-- param min_share_percent: float = 25 – of the bytes; a provider other than the kernel rarely needs more
-- param min_events_per_second: float = 1000 – slower ones fill no ring in a minute
-- param min_trace_percent: float = 10 – of the events are of the kernel, without lists; a trace of providers alone is meant to be one
-- param min_seconds_percent: float = 50 – of the seconds of the trace; lists at its start and end cost nothing in between
-- param ring_mb: int = 100 – size of the ring of buffers that is assumed
WITH counts AS ( -- lists of what exists, at the start and end, and what a merge adds: they fill no ring
  SELECT *, coalesce(kernel_group IN (0, 3, 11, 20) OR kernel_group = 5 AND opcode IN (3, 4) OR kernel_group = 4 AND opcode = 36
    OR provider IN ('ImageId', 'EventTrace', 'EventMetadata', 'SystemConfigEx') OR provider LIKE '%Rundown', false) AS is_list
  FROM event_count
), providers AS (
  SELECT coalesce(provider, provider_guid) AS culprit, sum(events) AS count, sum(record_bytes) AS bytes,
    count(DISTINCT second) AS seconds
  FROM counts
  WHERE kernel_group IS NULL AND provider_guid IS NOT NULL AND NOT is_list
  GROUP BY coalesce(provider, provider_guid)
), whole AS (
  SELECT sum(events) AS events, sum(record_bytes) AS bytes, sum(CASE WHEN is_list THEN 0 ELSE record_bytes END) AS ring_bytes,
    count(DISTINCT second) AS seconds, sum(CASE WHEN kernel_group IS NULL OR is_list THEN 0 ELSE events END) AS kernel_events
  FROM counts
), part AS ( -- the trace, what a ring of it kept, or the part of it that was extracted
  SELECT from_ns, to_ns, to_ns - from_ns AS length_ns
  FROM (
    SELECT greatest(coalesce(range_start_ns, 0), CASE WHEN ring_start_ns IS NULL THEN 0 ELSE coalesce(kernel_start_ns, 0) END) AS from_ns,
      coalesce(range_end_ns, duration_ns) AS to_ns
    FROM trace)
), ring AS (
  SELECT CAST($ring_mb * 1048576 AS BIGINT) AS bytes
)
SELECT p.culprit, CAST(NULL AS INT) AS process_key, CAST(NULL AS BIGINT) AS cost_ns, CAST(NULL AS BIGINT) AS total_ns,
  p.count, CAST(NULL AS BIGINT) AS longest_ns, round(100.0 * p.bytes / w.bytes, 1) AS share_percent,
  CAST(round(1e9 * p.count / t.length_ns) AS BIGINT) AS rate, r.bytes AS ring_bytes,
  CAST(1.0 * r.bytes * t.length_ns / w.ring_bytes AS BIGINT) AS ring_ns,
  t.from_ns, t.to_ns, CAST(NULL AS INT) AS stack_id, CAST(NULL AS INT) AS thread_key,
  CAST(NULL AS BIGINT) AS at_ns
FROM providers p CROSS JOIN whole w CROSS JOIN ring r CROSS JOIN part t
WHERE t.length_ns >= 1000000000 AND w.bytes > 0 AND 100.0 * p.bytes >= w.bytes * $min_share_percent
  AND 1e9 * p.count >= t.length_ns * $min_events_per_second
  AND 100.0 * p.seconds >= w.seconds * $min_seconds_percent
  AND 100.0 * w.kernel_events >= w.events * $min_trace_percent
ORDER BY p.bytes DESC, p.culprit
