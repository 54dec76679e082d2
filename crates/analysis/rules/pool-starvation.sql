-- All threads of a pool are blocked
-- card: 24
-- sentence: The thread pool of {victim} finished no work for {total}, {count|once|# times}, and got more threads one by one{blocked}
-- why: The thread pool of .NET starts with a thread for each processor. If all of them wait (Task.Wait, Task.Result, Sleep, locks, I/O without
--   await), no request is answered. The pool notices it after half a second without any finished work, and adds one thread each time.
-- fix: Wait with await in place of Wait and Result, also in the functions that are called from there. ThreadPool.SetMinThreads hides it
--   for a while.
-- not proved: That requests waited in that time: the runtime reports only that no work was finished.
-- needs: thread_pool
-- pieces: culprit, process_key, from_ns, to_ns FROM starved
-- evidence: dump thread-pool --process {pid}
-- spot: thread-pool --process {pid}
-- param interval_ms: int = 500 – of the thread that looks after the pool
-- param min_total_ms: float = 1000 – of one program, which is two intervals: one is usual at a start
WITH adjusted AS (
  SELECT process_key, ts_ns, thread_key FROM thread_pool
  WHERE kind = 'adjustment' AND reason = 6 AND process_key IS NOT NULL
), pool AS ( -- its threads have a name since .NET 6
  SELECT thread_key FROM thread
  WHERE process_key IN (SELECT process_key FROM adjusted) AND name IN ('.NET TP Worker', '.NET ThreadPool Worker')
), blocked AS ( -- the innermost function of the program in the waits of its pool; without its name, its address
  SELECT w.process_key, m.name || coalesce('!' || n.name, '+' || hex(o.rva), '') AS place, sum(w.wait_ns) AS wait_ns
  FROM (
    SELECT process_key, stack_id, sum(wait_ns) AS wait_ns FROM context_switch
    WHERE wait_ns > 0 AND process_key IN (SELECT process_key FROM adjusted)
      AND (thread_key IN (SELECT thread_key FROM pool)
        OR stack_contains(stack_id, '*!System.Threading.ThreadPoolWorkQueue.Dispatch*'))
    GROUP BY process_key, stack_id) w
  JOIN (
    SELECT f.stack_id, first_value(r.module_id ORDER BY f.depth) AS module_id, first_value(r.method_id ORDER BY f.depth) AS method_id,
      first_value(r.rva ORDER BY f.depth) AS rva
    FROM stack_frame f JOIN frame r ON r.frame_id = f.frame_id JOIN module m ON m.module_id = r.module_id
    -- Companies are not known in a trace that was not merged.
    WHERE coalesce(m.company, '') NOT LIKE 'Microsoft%' AND m.process_key IS NOT NULL
      AND lower(m.name) NOT IN ('ntdll.dll', 'kernel32.dll', 'kernelbase.dll', 'ucrtbase.dll', 'clr.dll', 'coreclr.dll',
        'system.private.corelib.dll', 'mscorlib.dll', 'mscorlib.ni.dll')
    GROUP BY f.stack_id) o ON o.stack_id = w.stack_id
  JOIN module m ON m.module_id = o.module_id LEFT JOIN method n ON n.method_id = o.method_id
  GROUP BY w.process_key, m.name, n.name, o.rva
), functions AS (
  SELECT process_key, place, sum(wait_ns) AS wait_ns FROM blocked GROUP BY process_key, place
), places AS (
  SELECT process_key, first_value(place ORDER BY wait_ns DESC, place) AS place FROM functions GROUP BY process_key
), starved AS (
  SELECT coalesce(o.place, 'the thread pool of ' || coalesce(p.name, 'process') || ' (' || p.pid || ')') AS culprit, o.place, a.process_key,
    greatest(a.ts_ns - $interval_ms * 1000000, 0) AS from_ns, a.ts_ns AS to_ns
  FROM adjusted a JOIN process p ON p.process_key = a.process_key LEFT JOIN places o ON o.process_key = a.process_key
), victims AS (
  SELECT culprit, process_key, union_duration(from_ns, to_ns) AS cost_ns, min(from_ns) AS from_ns, max(to_ns) AS to_ns, max(place) AS place
  FROM starved GROUP BY culprit, process_key
  HAVING union_duration(from_ns, to_ns) >= $min_total_ms * 1000000
), culprits AS (
  SELECT s.culprit, union_duration(s.from_ns, s.to_ns) AS total_ns, count(*) AS count, max(s.to_ns - s.from_ns) AS longest_ns, min(s.from_ns) AS at_ns
  FROM starved s JOIN victims v ON v.process_key = s.process_key GROUP BY s.culprit
)
SELECT v.culprit, v.process_key, c.total_ns, c.count, c.longest_ns, coalesce('; they waited in ' || v.place, '') AS blocked,
  v.cost_ns, v.from_ns, v.to_ns, CAST(NULL AS INT) AS stack_id, CAST(NULL AS INT) AS thread_key, c.at_ns
FROM victims v JOIN culprits c ON c.culprit = v.culprit
ORDER BY c.total_ns DESC, v.culprit, v.cost_ns DESC, v.process_key
