-- Names are looked up slowly, since a server does not answer
-- card: 16
-- sentence: {victim} waited {total} for names, since the DNS server {culprit} did not answer: {count|1 query|# queries}{sum}, up to {longest}{adapter}{clients}
-- why: Windows asks the servers of its adapters one after the other, and waits for each until its time is up. A server that
--   is dead or cannot be reached delays each name that is not in the cache, although the next server answers at once.
-- fix: Take the server out of the settings of its adapter, switch the adapter off, or give the adapter with the good server
--   the smaller metric (Set-NetIPInterface -InterfaceMetric).
-- not proved: Whether the server or the way to it is dead. Of several servers that did not answer the same query, each is
--   charged with an equal part of its time. The trace does not say when each of them was given up. How long a query lasted that
--   had no answer when the trace ended: it counts up to there.
-- needs: dns_query
-- pieces: culprit, process_key, start_ns AS from_ns, end_ns AS to_ns FROM delays
-- evidence: dump dns --process {pid}
-- spot: dns --process {pid}
-- param min_single_ms: float = 100 – shorter ones go unnoticed; a time-out itself proves that the server did not answer
-- param min_total_ms: float = 300 – one query is enough, or several that add up: a program waits for each
WITH queries AS ( -- one without an answer lasts as long as its process, or the trace
  SELECT q.*, coalesce(q.duration_ns, least(p.stop_ns, coalesce(t.range_end_ns, t.duration_ns)) - q.start_ns) AS lasted_ns
  FROM dns_query q CROSS JOIN trace t LEFT JOIN process p ON p.process_key = q.process_key
), timeouts AS (
  SELECT string_to_array(rtrim(timed_out_servers, ';'), ';') AS servers, adapters, process_key, thread_key, stack_id,
    start_ns, lasted_ns AS duration_ns
  FROM queries
  WHERE is_timed_out AND timed_out_servers IS NOT NULL AND lasted_ns >= $min_single_ms * 1000000
), asked AS (
  SELECT unnest(servers) AS culprit, unnest(range(0, CAST(cardinality(servers) AS BIGINT))) AS place,
    CAST(cardinality(servers) AS BIGINT) AS parts, adapters, process_key, thread_key, stack_id, start_ns, duration_ns
  FROM timeouts
), delays AS ( -- servers are asked one after the other, so each gets its part of the query
  SELECT culprit, adapters, process_key, thread_key, stack_id, start_ns + duration_ns * place / parts AS start_ns,
    start_ns + duration_ns * (place + 1) / parts AS end_ns, duration_ns / parts AS duration_ns,
    start_ns + duration_ns AS answered_ns, duration_ns AS asked_ns
  FROM asked
), culprits AS (
  SELECT culprit, union_duration(start_ns, end_ns) AS total_ns, count(*) AS count, max(duration_ns) AS longest_ns,
    first_value(stack_id ORDER BY duration_ns DESC, start_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY duration_ns DESC, start_ns, thread_key) AS thread_key,
    first_value(start_ns ORDER BY duration_ns DESC, start_ns, thread_key) AS at_ns,
    CAST(sum(duration_ns) AS DOUBLE) / 1e9 AS sum_s
  FROM delays GROUP BY culprit
), sums AS ( -- queries at the same time add up in tables: the sum is said where it is another number
  SELECT culprit, concat(' with a sum of ', CASE WHEN sum_s < 10 THEN CAST(CAST(sum_s AS DECIMAL(20, 2)) AS VARCHAR)
    ELSE CAST(CAST(sum_s AS DECIMAL(20, 1)) AS VARCHAR) END, ' s') AS sum
  FROM culprits WHERE sum_s * 1e9 > total_ns * 1.05
), asking AS ( -- other programs that waited for the thread with the query until it ended, as clients of a service do
  SELECT DISTINCT d.culprit, coalesce(p.name, 'process') || ' (' || p.pid || ')' AS name
  FROM delays d JOIN context_switch w ON w.readying_thread_key = d.thread_key JOIN process p ON p.process_key = w.process_key
  WHERE w.process_key <> d.process_key AND p.pid NOT IN (0, 4) AND NOT w.is_readied_by_dpc
    AND w.last_out_ns IS NOT NULL AND coalesce(w.wait_reason, -1) NOT IN (15, 16) -- threads of servers wait for requests
    AND w.readied_ns BETWEEN d.answered_ns - 0.1 * d.asked_ns AND d.answered_ns + 0.1 * d.asked_ns
    AND least(w.readied_ns, d.end_ns) - greatest(w.last_out_ns, d.start_ns) >= 0.5 * d.duration_ns
), clients AS (
  SELECT culprit, '; ' || string_agg(name, ', ' ORDER BY name) || ' waited with it' AS names FROM asking GROUP BY culprit
), vias AS ( -- each adapter over which one of these names was asked for
  SELECT culprit, string_agg(adapter, ', ' ORDER BY adapter) AS names, count(*) AS adapters
  FROM (SELECT DISTINCT culprit, unnest(string_to_array(rtrim(adapters, ';'), ';')) AS adapter FROM delays)
  WHERE adapter <> '' GROUP BY culprit
)
SELECT d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns,
  coalesce(CASE WHEN v.adapters > 1 THEN ' (over the adapters ' ELSE ' (over the adapter ' END || v.names || ')', '') AS adapter,
  coalesce(s.sum, '') AS sum, coalesce(k.names, '') AS clients,
  union_duration(d.start_ns, d.end_ns) AS cost_ns, min(d.start_ns) AS from_ns, max(d.end_ns) AS to_ns,
  c.stack_id,
  c.thread_key,
  c.at_ns
FROM delays d JOIN culprits c ON c.culprit = d.culprit LEFT JOIN vias v ON v.culprit = d.culprit
LEFT JOIN sums s ON s.culprit = d.culprit LEFT JOIN clients k ON k.culprit = d.culprit
WHERE c.total_ns >= $min_total_ms * 1000000
GROUP BY d.culprit, v.adapters, v.names, s.sum, k.names, d.process_key, c.total_ns, c.count, c.longest_ns, c.stack_id, c.thread_key, c.at_ns
ORDER BY c.total_ns DESC, d.culprit, cost_ns DESC, d.process_key
