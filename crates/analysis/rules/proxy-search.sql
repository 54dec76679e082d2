-- Programs search for a proxy that does not exist
-- card: 44
-- sentence: {victim} waited {total} while a proxy was searched for (WPAD), {count|once|# times up to {longest}}
-- why: With "Automatically detect settings" Windows asks DHCP and DNS for a host named wpad before the first request. Without
--   an answer each search lasts until its time is up, and the program sends nothing before.
-- fix: Switch off "Automatically detect settings" (or set the proxy, or its script, by policy), or let DNS answer for wpad at once.
-- not proved: Who did not answer: DHCP, DNS, or the server with the script. Names that were looked up at that time show it
--   (dump dns), if they were recorded.
-- needs: waits with stacks
-- names: winhttp.dll, wininet.dll
-- pieces: culprit, process_key, from_ns, to_ns FROM waits
-- evidence: dump wait --process {named_pid} --method '*WinHttpGetProxyForUrl*;*WinHttpDetectAutoProxyConfigUrl*;*DetectAutoProxyUrl*' --details
-- evidence: dump wait --process {named_pid} --method '*WinHttpGetProxyForUrl*;*WinHttpDetectAutoProxyConfigUrl*;*DetectAutoProxyUrl*' --chain
-- evidence: dump wait --process {nameless_pid} --method 'winhttp.dll*' --details
-- evidence: dump wait --process {nameless_pid} --method 'winhttp.dll*' --chain
-- spot: flame --weight wait --process {nameless_pid} --module winhttp.dll
-- spot: flame --weight wait --process {pid} --method '*WinHttpGetProxyForUrl*;*WinHttpDetectAutoProxyConfigUrl*;*DetectAutoProxyUrl*'
-- param min_single_ms: float = 500 – where there is a proxy, or an answer that there is none, it comes within half a second
-- param max_gap_ms: float = 5 – a thread that goes on waiting after less than this is in the same search
-- param min_looked_up_percent: float = 50 – of a wait in a library without names, the time in which wpad was looked up
-- param max_lookup_s: float = 30 – of a lookup whose end was not recorded; DNS gives up in less time
WITH lookups AS ( -- one without an end lasts no longer than its process, and the trace
  SELECT q.start_ns, coalesce(q.end_ns,
    least(p.stop_ns, coalesce(t.range_end_ns, t.duration_ns), q.start_ns + CAST($max_lookup_s * 1000000000 AS BIGINT))) AS end_ns
  FROM dns_query q CROSS JOIN trace t LEFT JOIN process p ON p.process_key = q.process_key
  WHERE q.start_ns IS NOT NULL AND lower(split_part(q.name, '.', 1)) = 'wpad'
), candidates AS (
  SELECT process_key, thread_key, stack_id, last_out_ns AS from_ns, coalesce(in_ns, readied_ns) AS to_ns, wait_ns,
    stack_contains(stack_id, '*!WinHttpGetProxyForUrl*;*!WinHttpDetectAutoProxyConfigUrl*;*!DetectAutoProxyUrl*') AS is_named
  FROM context_switch
  WHERE wait_ns > 0 AND stack_contains(stack_id, 'winhttp.dll!*;winhttp.dll+*;wininet.dll!*;wininet.dll+*')
), nameless AS ( -- a wait of WinHTTP for a search, which a lookup at that time shows
  SELECT w.thread_key, w.from_ns FROM candidates w JOIN lookups l ON l.start_ns < w.to_ns AND l.end_ns > w.from_ns
  WHERE NOT w.is_named AND w.wait_ns >= $min_single_ms * 1000000 AND stack_contains(w.stack_id, 'winhttp.dll+*')
  GROUP BY w.thread_key, w.from_ns, w.wait_ns
  HAVING union_duration(greatest(l.start_ns, w.from_ns), least(l.end_ns, w.to_ns)) >= w.wait_ns * $min_looked_up_percent / 100
), parts AS (
  SELECT w.* FROM candidates w LEFT JOIN nameless n ON n.thread_key = w.thread_key AND n.from_ns = w.from_ns
  WHERE w.is_named OR n.from_ns IS NOT NULL
), firsts AS (
  SELECT *, CASE WHEN from_ns - lag(to_ns) OVER (PARTITION BY thread_key ORDER BY from_ns) <= $max_gap_ms * 1000000
    THEN 0 ELSE 1 END AS is_first FROM parts
), numbered AS (
  SELECT *, sum(is_first) OVER (PARTITION BY thread_key ORDER BY from_ns) AS number FROM firsts
), whole AS (
  SELECT *, sum(wait_ns) OVER (PARTITION BY thread_key, number) AS whole_ns,
    min(from_ns) OVER (PARTITION BY thread_key, number) AS start_ns
  FROM numbered
), waits AS (
  SELECT 'proxy search' AS culprit, * FROM whole WHERE whole_ns >= $min_single_ms * 1000000
), total AS (
  SELECT union_duration(from_ns, to_ns) AS total_ns, sum(is_first) AS count, max(whole_ns) AS longest_ns,
    first_value(stack_id ORDER BY whole_ns DESC, start_ns, thread_key, wait_ns DESC) AS stack_id,
    first_value(thread_key ORDER BY whole_ns DESC, start_ns, thread_key) AS thread_key,
    first_value(start_ns ORDER BY whole_ns DESC, start_ns, thread_key) AS at_ns FROM waits
)
SELECT w.culprit, w.process_key, t.total_ns, t.count, t.longest_ns, union_duration(w.from_ns, w.to_ns) AS cost_ns,
  min(w.from_ns) AS from_ns, max(w.to_ns) AS to_ns, t.stack_id, t.thread_key, t.at_ns,
  CASE WHEN bool_or(w.is_named) THEN max(v.pid) END AS named_pid,
  CASE WHEN bool_or(NOT w.is_named) THEN max(v.pid) END AS nameless_pid
FROM waits w CROSS JOIN total t LEFT JOIN process v ON v.process_key = w.process_key
GROUP BY w.culprit, w.process_key, t.total_ns, t.count, t.longest_ns, t.stack_id, t.thread_key, t.at_ns
ORDER BY cost_ns DESC, w.process_key
