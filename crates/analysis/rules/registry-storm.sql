-- The same registry key is read again and again
-- card: 22
-- sentence: {victim} {spent} {total} {reading} the registry key {culprit}{caller}: {count|1 read|# reads}, up to {rate} per second
-- why: Each read of the registry is a call into the kernel. One costs little, but code that looks up the same setting for each
--   thing that it does pays for it thousands of times. So does the program that called it.
-- fix: Let the code that reads remember what it has read, or ask it less often (fewer, larger requests; no rendered messages).
-- not proved: That the setting did not change between the reads.
-- needs: registry_io, context_switch, stacks
-- evidence: dump registry --process {reader} --key {culprit}
-- evidence: dump registry --process {reader} --key {culprit} --details
-- spot: registry --process {reader_pid} --key {culprit}
-- spot: registry --key {culprit}
-- param min_rate: int = 1000 – reads per second; programs that look after a setting read it a few times a second
-- param min_count: int = 500 – reads by one stack; fewer are soon over
-- param min_total_ms: float = 50 – a smaller total goes unnoticed
-- param max_gap_ms: float = 5 – reads further apart belong to different requests
WITH frequent AS ( -- keys that one stack of a process reads often enough
  SELECT process_key, key, stack_id, max(reads) * 10 AS rate
  FROM (
    SELECT process_key, key, stack_id, end_ns / 100000000 AS tenth, count(*) AS reads FROM registry_io
    WHERE key IS NOT NULL AND is_whole_key AND operation IN ('open_key', 'query_key', 'query_value', 'enumerate_value')
    GROUP BY process_key, key, stack_id, tenth)
  GROUP BY process_key, key, stack_id
  HAVING sum(reads) >= $min_count AND max(reads) * 10 >= $min_rate
), marked AS (
  SELECT r.process_key, r.thread_key, r.key, r.stack_id, r.start_ns, r.end_ns, r.duration_ns, f.rate,
    CASE WHEN r.start_ns - lag(r.end_ns) OVER (PARTITION BY r.thread_key, r.key, r.stack_id ORDER BY r.end_ns)
      <= $max_gap_ms * 1000000 THEN 0 ELSE 1 END AS is_new
  FROM registry_io r
  JOIN frequent f ON f.process_key = r.process_key AND f.key = r.key AND f.stack_id = r.stack_id
), numbered AS (
  SELECT *, sum(is_new) OVER (PARTITION BY thread_key, key, stack_id ORDER BY end_ns) AS burst FROM marked
), bursts AS ( -- reads for one request
  SELECT process_key, thread_key, key, stack_id, burst, min(start_ns) AS from_ns, max(end_ns) AS to_ns,
    sum(duration_ns) AS read_ns, count(*) AS count, max(rate) AS rate, max(duration_ns) AS longest_ns
  FROM numbered GROUP BY process_key, thread_key, key, stack_id, burst
), clients AS ( -- who waited for the answer of the thread meanwhile
  SELECT b.thread_key, b.key, b.stack_id, b.burst, first_value(w.process_key ORDER BY w.wait_ns DESC) AS client_key
  FROM bursts b
  JOIN context_switch w ON w.readying_thread_key = b.thread_key
  WHERE w.process_key <> b.process_key AND NOT w.is_readied_by_dpc AND w.last_out_ns < b.to_ns AND w.readied_ns > b.from_ns
    AND w.wait_ns >= b.read_ns * 0.5
  GROUP BY b.thread_key, b.key, b.stack_id, b.burst
), delays AS (
  SELECT b.*, coalesce(c.client_key, b.process_key) AS victim_key
  FROM bursts b
  LEFT JOIN clients c ON c.thread_key = b.thread_key AND c.key = b.key AND c.stack_id = b.stack_id AND c.burst = b.burst
), reads AS (
  SELECT key, sum(read_ns) AS total_ns, sum(count) AS count, max(read_ns) AS longest_ns, max(rate) AS rate,
    first_value(process_key ORDER BY read_ns DESC) AS reader_key, first_value(stack_id ORDER BY read_ns DESC, from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY read_ns DESC, from_ns, thread_key) AS thread_key,
    first_value(from_ns ORDER BY read_ns DESC, from_ns, thread_key) AS at_ns
  FROM delays GROUP BY key
), callers AS ( -- the innermost frame that is not in a library that everything goes through
  SELECT s.stack_id, first_value(coalesce(m.name || '!', '') || n.name ORDER BY f.depth) AS caller
  FROM (SELECT DISTINCT stack_id FROM reads) s
  JOIN stack_frame f ON f.stack_id = s.stack_id
  JOIN frame r ON r.frame_id = f.frame_id
  LEFT JOIN module m ON m.module_id = r.module_id
  JOIN method n ON n.method_id = r.method_id
  WHERE coalesce(lower(m.name), '') NOT IN ('ntoskrnl.exe', 'ntdll.dll', 'kernel32.dll', 'kernelbase.dll', 'advapi32.dll', 'rpcrt4.dll')
  GROUP BY s.stack_id
)
SELECT d.key AS culprit, d.victim_key AS process_key, r.total_ns, r.count, r.longest_ns, r.rate,
  coalesce(coalesce(p.name, 'process') || ' (' || p.pid || ')', 'a process') AS reader, p.pid AS reader_pid,
  -- A program that reads for itself waits for nobody.
  CASE WHEN d.victim_key = r.reader_key THEN 'spent' ELSE 'waited' END AS spent,
  CASE WHEN d.victim_key = r.reader_key THEN 'reading'
    ELSE 'while ' || coalesce(coalesce(p.name, 'process') || ' (' || p.pid || ')', 'a process') || ' read' END AS reading,
  coalesce(' in ' || max(c.caller), '') AS caller,
  sum(d.read_ns) AS cost_ns, min(d.from_ns) AS from_ns, max(d.to_ns) AS to_ns,
  r.stack_id, r.thread_key, r.at_ns
FROM delays d JOIN reads r ON r.key = d.key
LEFT JOIN process p ON p.process_key = r.reader_key
LEFT JOIN callers c ON c.stack_id = r.stack_id
WHERE r.total_ns >= $min_total_ms * 1000000
GROUP BY d.key, d.victim_key, r.total_ns, r.count, r.longest_ns, r.rate, r.stack_id, r.thread_key, r.at_ns,
  r.reader_key, p.name, p.pid
ORDER BY r.total_ns DESC, d.key, cost_ns DESC, d.victim_key
