-- A program waits for processors that others keep busy
-- card: 24
-- sentence: {victim} got no processor for {total}, since {culprit} kept them busy{priority}: {count|one delay|# delays}, longest {longest}
-- why: A thread that is ready runs as soon as a processor is free, or one that runs a thread of lower priority. Where others keep all processors
--   busy with the same or a higher priority, it has to wait for its turn, and each step of the program takes longer.
-- fix: Start {culprit} with a lower priority or with fewer threads, run it at another time, or give the machine more processors.
-- not proved: That this work could wait: the trace shows who had the processors, not what is more urgent.
-- symptom of: parked-processors
-- needs: context_switch
-- needs to exclude: waits
-- pieces: culprit, process_key, from_ns, to_ns FROM delays
-- evidence: dump cpu --process {culprit_pid}
-- evidence: dump cpu --process {program}
-- spot: flame --weight cpu --process {culprit_pid}
-- spot: flame --weight ready --process {pid}
-- param min_single_us: float = 500 – of a delay; shorter turns of others are everyday scheduling
-- param min_long_ms: float = 20 – of a long delay; threads of one priority take turns of up to that length
-- param min_total_ms: float = 250 – of long delays; less goes unnoticed
-- param min_long_percent: float = 50 – of all delays that long ones take
-- param min_share_percent: float = 20 – of the time in which the program wanted a processor
-- param min_many_ms: float = 2000 – of all delays, where hardly one is long and the program still does not get what it wants
-- param min_many_percent: float = 40 – of the time in which the program wanted a processor, that all of its delays take
-- param max_idle_percent: float = 10 – of a delay in which some processor was idle: with more, the thread may not run on all of them
-- param min_idle_us: float = 500 – a processor that is idle for less is between two threads
-- param min_culprit_percent: float = 40 – of the turns that others had, for a process, or otherwise a program, to be named
-- param min_priority: int = 8 – threads below the usual priority are meant to wait
WITH late AS (
  SELECT w.process_key, w.thread_key, w.stack_id, w.in_ns - w.ready_ns AS from_ns, w.in_ns AS to_ns, w.ready_ns, w.priority,
    w.instead_priority, coalesce(w.instead_ns, w.ready_ns) AS instead_ns, t.process_key AS instead_process_key
  FROM context_switch w JOIN process p ON p.process_key = w.process_key JOIN thread t ON t.thread_key = w.instead_thread_key
  WHERE w.ready_ns >= $min_single_us * 1000 AND w.in_ns IS NOT NULL AND p.pid NOT IN (0, 4) AND w.priority >= $min_priority
    AND t.process_key <> w.process_key
), candidates AS (
  SELECT process_key FROM late GROUP BY process_key
  HAVING sum(CASE WHEN ready_ns >= $min_long_ms * 1000000 THEN ready_ns ELSE 0 END) >= $min_total_ms * 1000000
    OR sum(ready_ns) >= $min_many_ms * 1000000
), turns AS ( -- slices of all threads but the idle ones
  SELECT w.cpu, w.in_ns, w.out_ns
  FROM context_switch w LEFT JOIN process p ON p.process_key = w.process_key
  WHERE w.in_ns IS NOT NULL AND w.out_ns IS NOT NULL AND (p.pid IS DISTINCT FROM 0) AND (SELECT count(*) FROM candidates) > 0
), idle AS ( -- times in which a processor ran no thread; one without any turn is unknown
  SELECT from_ns, to_ns
  FROM (
    SELECT in_ns AS to_ns, coalesce(lag(out_ns) OVER (PARTITION BY cpu ORDER BY in_ns), (SELECT min(in_ns) FROM turns)) AS from_ns FROM turns
    UNION ALL
    SELECT (SELECT max(out_ns) FROM turns), max(out_ns) FROM turns GROUP BY cpu)
  WHERE to_ns - from_ns >= $min_idle_us * 1000
), asked AS (
  SELECT l.* FROM late l JOIN candidates c ON c.process_key = l.process_key
), idle_times AS (
  SELECT thread_key, turn_ns, union_duration(from_ns, to_ns) AS idle_ns
  FROM (
    SELECT a.thread_key, a.from_ns AS turn_ns, greatest(a.from_ns, i.from_ns) AS from_ns, least(a.to_ns, i.to_ns) AS to_ns
    FROM asked a JOIN idle i ON i.from_ns < a.to_ns AND i.to_ns > a.from_ns)
  GROUP BY thread_key, turn_ns
), busy AS (
  SELECT a.*
  FROM asked a LEFT JOIN idle_times i ON i.thread_key = a.thread_key AND i.turn_ns = a.from_ns
  WHERE coalesce(i.idle_ns, 0) <= $max_idle_percent / 100 * a.ready_ns
), shares AS ( -- of each victim's delays, who had the processors
  SELECT b.process_key, b.instead_process_key, o.name AS program, sum(b.instead_ns) AS instead_ns,
    sum(sum(b.instead_ns)) OVER (PARTITION BY b.process_key) AS all_ns
  FROM busy b JOIN process o ON o.process_key = b.instead_process_key
  GROUP BY b.process_key, b.instead_process_key, o.name
), by_process AS (
  SELECT process_key, first_value(instead_process_key ORDER BY instead_ns DESC) AS culprit_key
  FROM shares WHERE instead_ns >= $min_culprit_percent / 100 * all_ns GROUP BY process_key
), by_program AS ( -- a build has the processors, and none of its processes has them for long
  SELECT process_key, first_value(program ORDER BY instead_ns DESC, program) AS program
  FROM (
    SELECT s.process_key, s.program, sum(s.instead_ns) AS instead_ns, max(s.all_ns) AS all_ns
    FROM shares s JOIN process p ON p.process_key = s.process_key
    WHERE lower(s.program) <> lower(p.name) GROUP BY s.process_key, s.program)
  WHERE instead_ns >= $min_culprit_percent / 100 * all_ns GROUP BY process_key
), named AS (
  SELECT p.process_key, k.culprit_key, m.program, coalesce(coalesce(o.name, 'process') || ' (' || o.pid || ')', m.program) AS culprit
  FROM candidates p LEFT JOIN by_process k ON k.process_key = p.process_key LEFT JOIN process o ON o.process_key = k.culprit_key
  LEFT JOIN by_program m ON m.process_key = p.process_key AND k.process_key IS NULL
  WHERE k.process_key IS NOT NULL OR m.process_key IS NOT NULL
), delays AS (
  SELECT b.*, n.culprit, n.culprit_key, n.program, coalesce(b.instead_process_key = n.culprit_key, o.name = n.program) AS is_culprit
  FROM busy b JOIN named n ON n.process_key = b.process_key JOIN process o ON o.process_key = b.instead_process_key
), ran AS ( -- processor time of the threads that were delayed
  SELECT process_key, sum(run_ns) AS run_ns
  FROM context_switch WHERE thread_key IN (SELECT thread_key FROM delays) GROUP BY process_key
), victims AS (
  SELECT d.culprit, d.culprit_key, d.program, d.process_key, union_duration(d.from_ns, d.to_ns) AS cost_ns, min(d.from_ns) AS from_ns,
    max(d.to_ns) AS to_ns,
    -- Others than the culprit, as the sound, may have a higher priority for a moment.
    sum(CASE WHEN d.is_culprit THEN d.instead_ns ELSE 0 END) AS turns_ns,
    sum(CASE WHEN d.is_culprit AND d.instead_priority > d.priority THEN d.instead_ns ELSE 0 END) AS higher_ns
  FROM delays d JOIN ran r ON r.process_key = d.process_key
  GROUP BY d.culprit, d.culprit_key, d.program, d.process_key, r.run_ns
  HAVING sum(CASE WHEN d.ready_ns >= $min_long_ms * 1000000 THEN d.ready_ns ELSE 0 END)
      >= greatest($min_total_ms * 1000000, $min_long_percent / 100 * sum(d.ready_ns))
    AND sum(d.ready_ns) >= $min_share_percent / 100 * (sum(d.ready_ns) + r.run_ns)
    OR sum(d.ready_ns) >= greatest($min_many_ms * 1000000, $min_many_percent / 100 * (sum(d.ready_ns) + r.run_ns))
), culprits AS (
  SELECT d.culprit, union_duration(d.from_ns, d.to_ns) AS total_ns, count(*) AS count, max(d.ready_ns) AS longest_ns,
    first_value(d.stack_id ORDER BY d.ready_ns DESC, d.from_ns, d.thread_key) AS stack_id,
    first_value(d.thread_key ORDER BY d.ready_ns DESC, d.from_ns, d.thread_key) AS thread_key,
    first_value(d.from_ns ORDER BY d.ready_ns DESC, d.from_ns, d.thread_key) AS at_ns
  FROM delays d JOIN victims v ON v.culprit = d.culprit AND v.process_key = d.process_key GROUP BY d.culprit
)
SELECT v.culprit, p.pid AS culprit_pid, v.program, v.process_key, c.total_ns, c.count, c.longest_ns,
  CASE WHEN v.higher_ns > 0.5 * v.turns_ns THEN ' with a higher priority' ELSE '' END AS priority,
  v.cost_ns, v.from_ns, v.to_ns, c.stack_id, c.thread_key, c.at_ns
FROM victims v JOIN culprits c ON c.culprit = v.culprit LEFT JOIN process p ON p.process_key = v.culprit_key
ORDER BY c.total_ns DESC, v.culprit, v.cost_ns DESC, v.process_key
