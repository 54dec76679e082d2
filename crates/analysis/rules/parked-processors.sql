-- Threads wait for processors while others are parked
-- card: 24
-- sentence: {victim} got no processor for {total} while {parked} of {cpus} processors were parked: {count|one delay|# delays}, longest {longest}
-- why: To save energy Windows parks processors, and runs no thread on them until it unparks them. With a power scheme that parks many, or
--   where it is slow to see that there is work, threads take turns on a few processors while the others sleep.
-- fix: Choose the power scheme High performance, or let more processors stay awake: powercfg /setacvalueindex scheme_current
--   sub_processor CPMINCORES 100, then powercfg /setactive scheme_current.
-- not proved: That the threads may run on the parked processors: a program can restrict them to some.
-- needs: context_switch, cpu_parking
-- needs to exclude: waits
-- pieces: 'core parking' AS culprit, process_key, from_ns, to_ns FROM delays
-- evidence: dump ready --process {pid}
-- spot: flame --weight ready --process {pid}
-- param min_single_us: float = 500 – of a delay; shorter turns of others are everyday scheduling
-- param min_total_ms: float = 250 – a smaller total goes unnoticed
-- param min_share_percent: float = 20 – of the time in which the program wanted a processor
-- param min_parked_percent: float = 90 – of a delay, in which at least one processor was parked
-- param slot_ms: int = 100 – times are compared only within slots of this length, which is faster
WITH parking AS ( -- times in which Windows really avoided a processor
  SELECT cpu, start_ns, stop_ns FROM cpu_parking WHERE kind <> 'soft'
), late AS (
  SELECT w.process_key, w.thread_key, w.stack_id, w.in_ns - w.ready_ns AS from_ns, w.in_ns AS to_ns, w.ready_ns
  FROM context_switch w JOIN process p ON p.process_key = w.process_key
  WHERE w.ready_ns >= $min_single_us * 1000 AND w.in_ns IS NOT NULL AND p.pid NOT IN (0, 4) AND (SELECT count(*) FROM parking) > 0
), asked AS ( -- of programs that were late for long enough in all
  SELECT * FROM late WHERE process_key IN (
    SELECT process_key FROM late GROUP BY process_key HAVING union_duration(from_ns, to_ns) >= $min_total_ms * 1000000)
), slots_asked AS (
  SELECT *, unnest(range(from_ns / ($slot_ms * 1000000), to_ns / ($slot_ms * 1000000) + 1)) AS slot FROM asked
), slots_parked AS (
  SELECT *, unnest(range(start_ns / ($slot_ms * 1000000), stop_ns / ($slot_ms * 1000000) + 1)) AS slot FROM parking
), spared AS ( -- of each delay, in which part of it a processor was parked
  SELECT a.thread_key, a.from_ns, count(DISTINCT k.cpu) AS parked,
    union_duration(greatest(a.from_ns, k.start_ns, a.slot * $slot_ms * 1000000), least(a.to_ns, k.stop_ns, (a.slot + 1) * $slot_ms * 1000000)) AS parked_ns
  FROM slots_asked a JOIN slots_parked k ON k.slot = a.slot AND k.start_ns < a.to_ns AND k.stop_ns > a.from_ns
  GROUP BY a.thread_key, a.from_ns
), delays AS (
  SELECT l.*, s.parked FROM asked l JOIN spared s ON s.thread_key = l.thread_key AND s.from_ns = l.from_ns
  WHERE s.parked_ns >= $min_parked_percent / 100 * l.ready_ns
), ran AS (
  SELECT process_key, sum(run_ns) AS run_ns FROM context_switch
  WHERE thread_key IN (SELECT thread_key FROM delays) GROUP BY process_key
), victims AS (
  SELECT d.process_key, union_duration(d.from_ns, d.to_ns) AS cost_ns, min(d.from_ns) AS from_ns, max(d.to_ns) AS to_ns
  FROM delays d JOIN ran r ON r.process_key = d.process_key
  GROUP BY d.process_key, r.run_ns
  HAVING union_duration(d.from_ns, d.to_ns) >= $min_total_ms * 1000000
    AND sum(d.ready_ns) >= $min_share_percent / 100 * (sum(d.ready_ns) + r.run_ns)
), totals AS (
  SELECT union_duration(d.from_ns, d.to_ns) AS total_ns, count(*) AS count, max(d.ready_ns) AS longest_ns, max(d.parked) AS parked,
    first_value(d.stack_id ORDER BY d.ready_ns DESC, d.from_ns, d.thread_key) AS stack_id,
    first_value(d.thread_key ORDER BY d.ready_ns DESC, d.from_ns, d.thread_key) AS thread_key,
    first_value(d.from_ns ORDER BY d.ready_ns DESC, d.from_ns, d.thread_key) AS at_ns
  FROM delays d JOIN victims v ON v.process_key = d.process_key
)
SELECT 'core parking' AS culprit, v.process_key, t.total_ns, t.count, t.longest_ns, t.parked,
  (SELECT max(processors) FROM trace) AS cpus,
  v.cost_ns, v.from_ns, v.to_ns, t.stack_id, t.thread_key, t.at_ns
FROM victims v CROSS JOIN totals t
ORDER BY v.cost_ns DESC, v.process_key
