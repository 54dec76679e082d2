-- The rundown of a trace session holds up garbage collections
-- card: 34
-- sentence: {victim} paused for {total} while garbage collections waited for its threads to stop, {count|once|# times}, longest {longest}, during a rundown of {culprit}
-- why: When a trace session starts or stops, .NET lists all compiled methods for it and holds the lock of its code in that time. A garbage
--   collection cannot stop the threads before, so a service with many methods does nothing for seconds: the recording itself is the cause.
-- fix: Record without the rundown (keyword StartEnumeration or EndEnumeration of the provider), update .NET, or end recordings while the
--   service is idle.
-- not proved: That the rundown had the lock each time: both only happened at the same time.
-- needs: gc
-- pieces: s.culprit, s.process_key, s.from_ns, s.to_ns FROM stalled s
-- evidence: dump gc --process {pid} --details
-- evidence: dump trace-stats --by second --provider "*Rundown*"
-- spot: gc --process {pid}
-- param min_single_ms: float = 100 – until all threads had stopped; usual are less than 1 ms
-- param min_total_ms: float = 300 – of these collections of a program
-- param min_events: int = 100 – of the rundown in a second, for a second to belong to it
WITH listing AS (
  SELECT second, min(provider) AS provider FROM event_count
  WHERE upper(provider_guid) LIKE '%A669021C-C450-4609-A035-5AF59AF4DF18%'
  GROUP BY second HAVING sum(events) >= CAST($min_events AS BIGINT)
), stalled AS (
  SELECT g.process_key, g.number, g.start_ns - g.suspending_ns AS from_ns, g.start_ns AS to_ns, g.suspending_ns,
    coalesce(min(l.provider), 'Microsoft-Windows-DotNETRuntimeRundown') AS culprit
  FROM gc g
  JOIN listing l ON (l.second + 1) * 1000000000 > g.start_ns - g.suspending_ns AND l.second * 1000000000 < g.start_ns
  WHERE g.suspending_ns >= $min_single_ms * 1000000 AND g.process_key IS NOT NULL
  GROUP BY g.process_key, g.number, g.start_ns, g.suspending_ns
), victims AS (
  SELECT culprit, process_key, sum(suspending_ns) AS cost_ns, min(from_ns) AS from_ns, max(to_ns) AS to_ns
  FROM stalled
  GROUP BY culprit, process_key
  HAVING sum(suspending_ns) >= $min_total_ms * 1000000
), totals AS (
  SELECT s.culprit, union_duration(s.from_ns, s.to_ns) AS total_ns, count(*) AS count, max(s.suspending_ns) AS longest_ns,
    first_value(s.from_ns ORDER BY s.suspending_ns DESC, s.from_ns) AS at_ns
  FROM stalled s JOIN victims v ON v.culprit = s.culprit AND v.process_key = s.process_key
  GROUP BY s.culprit
)
SELECT v.culprit, v.process_key, t.total_ns, v.cost_ns, t.count, t.longest_ns, v.from_ns, v.to_ns,
  CAST(NULL AS INT) AS stack_id, CAST(NULL AS INT) AS thread_key, t.at_ns
FROM victims v JOIN totals t ON t.culprit = v.culprit
ORDER BY t.total_ns DESC, v.culprit, v.cost_ns DESC, v.process_key
