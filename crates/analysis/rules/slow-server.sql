-- A server answers late
-- card: 43
-- sentence: {victim} waited {total} for {count|an answer|# answers} of {culprit}, up to {longest} for one
-- why: A program that sends a request and then receives the answer cannot go on before it comes. The server and the way
--   to it take the time.
-- fix: Find out why {culprit} answers late (its load, its database, a proxy, the distance), send fewer requests one after the
--   other, or let another thread wait for them.
-- not proved: Whether the server or the way to it was slow, and that the server had something to compute: one that answers only
--   when there is news looks the same. Answers that had not come when the trace ended do not count.
-- needs: net_io, waits with stacks
-- modules: mswsock.dll
-- pieces: culprit, process_key, from_ns, to_ns FROM delays
-- evidence: dump wait --process {pid} --method 'mswsock.dll*;winhttp.dll*;wininet.dll*;afd.sys*' --details
-- evidence: dump net --process {pid} --by remote
-- spot: flame --weight wait --process {pid} --method 'mswsock.dll*;winhttp.dll*;wininet.dll*;afd.sys*'
-- param min_single_ms: float = 200 – the way to a server at the other end of the world and back takes no longer
-- param min_late_ms: float = 100 – an answer may also be late for this server, which answers others sooner
-- param min_times_usual: float = 10 – it takes so many times as long as half of the answers of this server do
-- param min_total_ms: float = 1000 – a smaller total goes unnoticed
-- param max_single_s: float = 15 – where an answer takes longer, the program waits for news, as with long polling
-- param min_work_ms: float = 0.5 – CPU time of the thread for each answer; one that only keeps a connection alive needs less
-- param max_apart_ms: float = 20 – between the event of a packet and the moment at which the program sends it, or gets it
-- param min_own_port: int = 49152 – clients have ports from here on, and servers usually below
WITH packets AS (
  SELECT ts_ns, kind, process_key, remote_address, remote_port, local_port,
    lag(kind) OVER (PARTITION BY process_key, remote_address, remote_port, local_port ORDER BY ts_ns, kind DESC) AS kind_before,
    lag(ts_ns) OVER (PARTITION BY process_key, remote_address, remote_port, local_port ORDER BY ts_ns, kind DESC) AS ns_before
  FROM net_io
  WHERE protocol = 'tcp' AND process_key IS NOT NULL
), clients AS ( -- connections that the process opened, and on which no answer took as long as news
  SELECT process_key, remote_address, remote_port, local_port FROM packets
  GROUP BY process_key, remote_address, remote_port, local_port
  HAVING NOT bool_or(kind = 'accept')
    AND (bool_or(kind = 'connect') OR local_port >= $min_own_port AND remote_port < $min_own_port)
    AND max(CASE WHEN kind = 'receive' AND kind_before = 'send' THEN ts_ns - ns_before ELSE 0 END) <= $max_single_s * 1000000000
), answers AS ( -- first data after a request; if the request was sent again, the way lost it
  SELECT p.process_key, p.remote_address, p.remote_port, p.local_port, p.ns_before AS sent_ns, p.ts_ns AS answered_ns
  FROM packets p JOIN clients c ON c.process_key = p.process_key AND c.remote_address = p.remote_address
    AND c.remote_port = p.remote_port AND c.local_port = p.local_port
  WHERE p.kind = 'receive' AND p.kind_before = 'send'
), usual AS (
  SELECT process_key, remote_address, remote_port, median(answered_ns - sent_ns) AS usual_ns
  FROM answers GROUP BY process_key, remote_address, remote_port
), late AS (
  SELECT a.*
  FROM answers a JOIN usual u ON u.process_key = a.process_key AND u.remote_address = a.remote_address
    AND u.remote_port = a.remote_port
  WHERE a.answered_ns - a.sent_ns >= $min_single_ms * 1000000 - $max_apart_ms * 1000000
    OR (a.answered_ns - a.sent_ns >= $min_late_ms * 1000000 AND a.answered_ns - a.sent_ns >= $min_times_usual * u.usual_ns)
), waits AS (
  SELECT process_key, thread_key, stack_id, last_out_ns AS from_ns, readied_ns, coalesce(in_ns, readied_ns) AS to_ns, wait_ns
  FROM context_switch
  WHERE wait_ns >= least($min_single_ms, $min_late_ms) * 1000000
    AND stack_contains(stack_id, 'mswsock.dll+*;mswsock.dll!*;winhttp.dll+*;winhttp.dll!*;wininet.dll+*;wininet.dll!*;afd.sys+*;afd.sys!*')
), slots AS ( -- answers and waits are compared only within the same second, which is faster
  SELECT *, unnest(range(CAST(readied_ns - $max_apart_ms * 1000000 AS BIGINT) / 1000000000,
    CAST(to_ns + $max_apart_ms * 1000000 AS BIGINT) / 1000000000 + 1)) AS second
  FROM waits
), pairs AS ( -- a thread that waited before the request was sent waits for news
  SELECT w.*, a.remote_address, a.remote_port, row_number() OVER (
      PARTITION BY a.process_key, a.remote_address, a.remote_port, a.local_port, a.answered_ns
      ORDER BY abs(a.answered_ns - w.readied_ns), w.thread_key) AS place
  FROM late a JOIN slots w ON w.process_key = a.process_key AND w.second = a.answered_ns / 1000000000
  WHERE a.answered_ns BETWEEN w.readied_ns - $max_apart_ms * 1000000 AND w.to_ns + $max_apart_ms * 1000000
    AND a.sent_ns <= w.from_ns + $max_apart_ms * 1000000
), working AS ( -- threads that do something with their answers
  SELECT p.thread_key FROM (SELECT thread_key, count(*) AS answers FROM pairs WHERE place = 1 GROUP BY thread_key) p
  JOIN context_switch s ON s.thread_key = p.thread_key
  GROUP BY p.thread_key, p.answers
  HAVING sum(s.run_ns) >= p.answers * $min_work_ms * 1000000
), names AS ( -- hosts with an address of their own, as they were looked up
  SELECT address, min(host) AS name
  FROM (
    SELECT lower(name) AS host, replace(unnest(string_to_array(result, ';')), '::ffff:', '') AS address
    FROM dns_query WHERE result IS NOT NULL)
  WHERE address <> ''
  GROUP BY address HAVING count(DISTINCT host) = 1
), neighbours AS ( -- servers of the same machine
  SELECT n.local_address AS address, n.local_port AS port, min(coalesce(p.name, 'process') || ' (' || p.pid || ') at ') AS name
  FROM net_io n JOIN process p ON p.process_key = n.process_key
  WHERE n.protocol = 'tcp' AND (n.local_address LIKE '127.%' OR n.local_address = '::1')
  GROUP BY n.local_address, n.local_port HAVING count(DISTINCT n.process_key) = 1
), delays AS (
  SELECT coalesce(h.name, '')
      || coalesce(n.name, CASE WHEN p.remote_address LIKE '%:%' THEN '[' || p.remote_address || ']' ELSE p.remote_address END)
      || ':' || p.remote_port AS culprit,
    p.process_key, p.thread_key, p.stack_id, p.from_ns, p.to_ns, p.wait_ns
  FROM pairs p JOIN working k ON k.thread_key = p.thread_key LEFT JOIN names n ON n.address = p.remote_address
  LEFT JOIN neighbours h ON h.address = p.remote_address AND h.port = p.remote_port
  WHERE p.place = 1
), culprits AS (
  SELECT culprit, union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(wait_ns) AS longest_ns,
    first_value(stack_id ORDER BY wait_ns DESC, from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY wait_ns DESC, from_ns, thread_key) AS thread_key,
    first_value(from_ns ORDER BY wait_ns DESC, from_ns, thread_key) AS at_ns
  FROM delays GROUP BY culprit
)
SELECT d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns, union_duration(d.from_ns, d.to_ns) AS cost_ns,
  min(d.from_ns) AS from_ns, max(d.to_ns) AS to_ns, c.stack_id, c.thread_key, c.at_ns
FROM delays d JOIN culprits c ON c.culprit = d.culprit
WHERE c.total_ns >= $min_total_ms * 1000000
GROUP BY d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns, c.stack_id, c.thread_key, c.at_ns
ORDER BY c.total_ns DESC, d.culprit, cost_ns DESC, d.process_key
