-- A thread of low priority holds up others, and gets no processor
-- card: 32
-- sentence: {victim} waited {total} for {culprit}, whose priority ({low}) was too low to get a processor: {count|once|# times}, longest wait {longest}{instead}
-- why: Windows runs the threads with the highest priority that are ready. A thread of low priority can hold a lock while others with
--   a priority in between have all processors. Then all threads that need the lock wait as if they also had the low priority.
-- fix: Give the thread the priority of those that wait for it as long as it holds the lock, or do its work without the lock. Fewer
--   threads of middle priority leave processors free.
-- not proved: That it was a lock that it held: the trace shows who ended the waits, not what they were for.
-- needs: waits
-- names: nt*krnl*.exe
-- pieces: culprit, process_key, from_ns, to_ns FROM delays
-- evidence: dump wait --process {pid} --by readying-thread --details
-- evidence: dump wait --process {pid} --chain
-- shows: all waits by the thread that ended them; the finding counts those for thread {culprit_tid} while it was ready
--   without a processor
-- spot: flame --weight wait --process {pid}
-- param min_single_ms: float = 20 – of a wait; the scheduler gives threads that starve a turn after some seconds only
-- param min_total_ms: float = 100 – a smaller total goes unnoticed
-- param min_ready_percent: float = 50 – of a wait in which the other thread was ready and had no processor
WITH ended AS ( -- waits that a thread of lower priority ended
  SELECT w.process_key, w.thread_key, w.stack_id, w.last_out_ns AS from_ns, w.readied_ns, coalesce(w.in_ns, w.readied_ns) AS to_ns,
    w.wait_ns, w.readying_thread_key AS holder, w.priority, w.readying_stack_id
  FROM context_switch w
  -- Locks and answers of a server by reason; what programs wait for by themselves only where the waker is known to give back a mutex.
  WHERE w.wait_ns >= $min_single_ms * 1000000 AND NOT w.is_readied_by_dpc AND w.readying_thread_key IS NOT NULL
    AND (w.wait_reason IN (17, 21, 27, 28, 29, 34, 35, 37) OR w.wait_reason IN (0, 6, 7, 13)
      AND stack_contains(w.readying_stack_id, '*!NtReleaseMutant*;*!KeReleaseMutant*;*!ReleaseMutex*;*!NtReleaseSemaphore*;*!AwareLock*;*!JIT_MonExit*'))
), turns AS ( -- times in which those threads were ready
  SELECT h.thread_key AS holder, h.in_ns - h.ready_ns AS ready_from_ns, h.in_ns AS ready_to_ns, h.priority AS low, h.instead_thread_key, h.ready_ns
  FROM context_switch h
  WHERE h.ready_ns >= 1000000 AND h.in_ns IS NOT NULL AND h.thread_key IN (SELECT holder FROM ended)
), held AS (
  SELECT e.process_key, e.thread_key, e.stack_id, e.from_ns, e.to_ns, e.wait_ns, e.holder, max(t.low) AS low, max(e.priority) AS priority,
    sum(least(t.ready_to_ns, e.readied_ns) - greatest(t.ready_from_ns, e.from_ns)) AS starved_ns,
    first_value(t.instead_thread_key ORDER BY t.ready_ns DESC) AS instead_thread
  FROM ended e JOIN turns t ON t.holder = e.holder AND t.ready_from_ns < e.readied_ns AND t.ready_to_ns > e.from_ns
  WHERE t.low < e.priority
  GROUP BY e.process_key, e.thread_key, e.stack_id, e.from_ns, e.to_ns, e.wait_ns, e.holder
), delays AS (
  SELECT h.process_key, h.thread_key, h.stack_id, h.from_ns, h.to_ns, h.wait_ns, h.low, h.instead_thread, t.tid AS culprit_tid,
    coalesce(p.name, 'process') || ' (' || p.pid || '), thread ' || coalesce(nullif(t.name, ''), CAST(t.tid AS VARCHAR)) AS culprit
  FROM held h JOIN thread t ON t.thread_key = h.holder LEFT JOIN process p ON p.process_key = t.process_key
  WHERE h.starved_ns >= h.wait_ns * $min_ready_percent / 100
), instead AS (
  SELECT d.culprit, first_value(coalesce(p.name, 'process') || ' (' || p.pid || ')' ORDER BY d.wait_ns DESC) AS name
  FROM delays d JOIN thread t ON t.thread_key = d.instead_thread JOIN process p ON p.process_key = t.process_key
  WHERE p.pid <> 0 GROUP BY d.culprit
), marked AS ( -- which delays come when no other one is under way
  SELECT *, CASE WHEN from_ns <= max(to_ns) OVER (PARTITION BY culprit ORDER BY from_ns, to_ns
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) THEN 0 ELSE 1 END AS is_new
  FROM delays
), culprits AS (
  SELECT culprit, union_duration(from_ns, to_ns) AS total_ns, sum(is_new) AS count, max(wait_ns) AS longest_ns,
    first_value(stack_id ORDER BY wait_ns DESC, from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY wait_ns DESC, from_ns, thread_key) AS thread_key,
    first_value(from_ns ORDER BY wait_ns DESC, from_ns, thread_key) AS at_ns, max(low) AS low
  FROM marked GROUP BY culprit
)
SELECT d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns, c.low, coalesce('; ' || max(i.name) || ' ran instead', '') AS instead, max(d.culprit_tid) AS culprit_tid,
  union_duration(d.from_ns, d.to_ns) AS cost_ns, min(d.from_ns) AS from_ns, max(d.to_ns) AS to_ns,
  c.stack_id, c.thread_key,
  c.at_ns
FROM delays d JOIN culprits c ON c.culprit = d.culprit LEFT JOIN instead i ON i.culprit = d.culprit
WHERE c.total_ns >= $min_total_ms * 1000000
GROUP BY d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns, c.low, c.stack_id, c.thread_key, c.at_ns
ORDER BY c.total_ns DESC, d.culprit, cost_ns DESC, d.process_key
