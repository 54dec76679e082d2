-- A program keeps processes that have ended
-- card: 24
-- severity: note
-- sentence: {culprit} keeps handles to {count|1 process that has ended|# processes that have ended}, for up to {longest}
-- why: As long as a program has a handle to a process, the kernel cannot forget it. The rest of each process takes about
--   64 KB and a process id; with thousands, machines become slow and run out of memory.
-- fix: Close the handle of each process that was started (CloseHandle; in .NET dispose the Process).
-- not proved: That memory is short because of them.
-- needs: handle
-- evidence: dump objectref --process {pid} --leak --show-stack
-- spot: ask objectref --leak --show-stack --process {pid}
-- param min_processes: int = 10 – a program that waits for a few others holds them rightly
-- param min_held_ms: float = 1000 – a program that asks for the exit code does so soon
WITH gone AS (
  SELECT process_key, object_address, coalesce(create_call_ns, start_ns) AS start_ns, stop_ns
  FROM process WHERE stop_ns IS NOT NULL AND object_address IS NOT NULL
), held AS ( -- handles to them that nobody closed; addresses are reused, so that the handle must be of that time
  SELECT h.process_key, g.process_key AS zombie, g.stop_ns AS from_ns, t.end_ns AS to_ns, h.open_stack_id,
    h.open_thread_key
  FROM handle h
  JOIN object o ON o.object_id = h.object_id
  JOIN gone g ON g.object_address = o.address AND g.process_key <> h.process_key
  CROSS JOIN (SELECT coalesce(range_end_ns, duration_ns) AS end_ns FROM trace) t
  WHERE h.outcome = 'open' AND coalesce(o.type_name, 'Process') = 'Process'
    AND (h.open_ns IS NULL OR h.open_ns <= g.stop_ns)
    AND (h.open_ns IS NULL OR g.start_ns IS NULL OR h.open_ns >= g.start_ns - 1000000)
    AND t.end_ns - g.stop_ns >= $min_held_ms * 1000000
), owners AS (
  SELECT process_key, count(DISTINCT zombie) AS zombies, min(from_ns) AS from_ns, max(to_ns) AS to_ns,
    max(to_ns - from_ns) AS longest_ns, first_value(open_stack_id ORDER BY to_ns - from_ns DESC, zombie) AS stack_id,
    first_value(open_thread_key ORDER BY to_ns - from_ns DESC, zombie) AS thread_key,
    first_value(from_ns ORDER BY to_ns - from_ns DESC, zombie) AS at_ns
  FROM held GROUP BY process_key
  HAVING count(DISTINCT zombie) >= $min_processes
)
SELECT coalesce(p.name, 'process') || ' (' || p.pid || ')' AS culprit, o.process_key, CAST(NULL AS BIGINT) AS cost_ns,
  CAST(NULL AS BIGINT) AS total_ns, o.zombies AS count, o.longest_ns, o.from_ns, o.to_ns, o.stack_id, o.thread_key,
  o.at_ns
FROM owners o JOIN process p ON p.process_key = o.process_key
ORDER BY o.zombies DESC, culprit
