-- Threads of a program queue for a lock
-- card: 31
-- sentence: {threads|A thread|Threads} of {victim} waited {total} for a {kind} in {culprit}: {count} waits{threads|| of # threads}, longest {longest}
-- why: A lock lets one thread at a time into a part of the program, or of a driver. If many threads come there often, or the one inside
--   waits for a disk or a server, all others queue, and more processors make nothing faster.
-- fix: Hold the lock for less: no I/O and no calls to others inside. Give each thread or each part of the data its own lock, or collect work
--   and do it at once. A kernel lock is taken less often if fewer threads make the call; the maker of its driver can hold it for less.
-- not proved: What the thread inside did in that time: its stacks show it.
-- needs: waits with stacks
-- symptom: yes
-- names: ntdll.dll, *clr.dll
-- pieces: culprit, process_key, from_ns, to_ns FROM waits
-- evidence: dump wait --process {lock_pid} --method '*EnterCriticalSection*;*AcquireSRWLock*;AwareLock*' --details
-- evidence: dump wait --process {lock_pid} --method '*EnterCriticalSection*;*AcquireSRWLock*;AwareLock*' --chain
-- evidence: dump wait --process {mutex_pid} --method '{place}' --details
-- evidence: dump wait --process {mutex_pid} --method '{place}' --chain
-- evidence: dump wait --process {kernel_pid} --method '{place}' --reason 'WrResource;WrPushLock;WrMutex;WrFastMutex;WrGuardedMutex' --details
-- evidence: dump wait --process {kernel_pid} --method '{place}' --reason 'WrResource;WrPushLock;WrMutex;WrFastMutex;WrGuardedMutex' --chain
-- spot: flame --weight wait --process {lock_pid} --method '*EnterCriticalSection*;*AcquireSRWLock*;*AwareLock*'
-- spot: flame --weight wait --process {mutex_pid} --method {place}
-- spot: flame --weight wait --process {kernel_pid} --method {place}
-- param min_total_ms: float = 200 – a smaller total goes unnoticed
-- param min_count: int = 20 – fewer waits do not make a queue
-- param min_share_percent: float = 2 – of the time from the first wait to the last one, in which at least one thread waits
-- param min_long_ms: float = 200 – of one wait for a lock that is usually held for microseconds (critical section, slim or push lock, fast mutex): a person notices it
WITH blocked AS (
  SELECT process_key, thread_key, stack_id, last_out_ns AS from_ns, coalesce(in_ns, readied_ns) AS to_ns, wait_ns, 'lock' AS kind, true AS is_slim
  FROM context_switch
  WHERE wait_ns > 0 AND NOT is_readied_by_dpc AND process_key IS NOT NULL AND (wait_reason IS NULL OR wait_reason NOT IN (27, 28, 29, 34, 35))
    AND stack_contains(stack_id, 'ntdll.dll!RtlEnterCriticalSection*;ntdll.dll!RtlpEnterCriticalSection*;ntdll.dll!RtlpWaitOnCriticalSection*;ntdll.dll!RtlAcquireSRWLock*;*clr.dll!AwareLock*')
  UNION ALL
  -- A wait for a mutex looks like one for an event; the thread that ends it gives the mutex back.
  SELECT process_key, thread_key, stack_id, last_out_ns AS from_ns, coalesce(in_ns, readied_ns) AS to_ns, wait_ns, 'mutex' AS kind, false AS is_slim
  FROM context_switch
  WHERE wait_ns > 0 AND NOT is_readied_by_dpc AND process_key IS NOT NULL
    AND stack_contains(readying_stack_id, '*!NtReleaseMutant*;*!ReleaseMutex*')
  UNION ALL
  -- Reasons that only locks of the kernel have: WrResource, WrPushLock, WrMutex, WrFastMutex, WrGuardedMutex. A driver may hold the
  -- first and the third one during I/O.
  SELECT process_key, thread_key, stack_id, last_out_ns AS from_ns, coalesce(in_ns, readied_ns) AS to_ns, wait_ns, 'kernel lock' AS kind,
    wait_reason NOT IN (27, 29) AS is_slim
  FROM context_switch
  WHERE wait_ns > 0 AND NOT is_readied_by_dpc AND wait_reason IN (27, 28, 29, 34, 35)
    -- Nobody waits for the threads of Windows itself that work in the background.
    AND process_key IN (SELECT process_key FROM process WHERE pid NOT IN (0, 4))
    -- The lock of the window manager has a rule of its own; waits on an address have the reason of push locks, and are for a change.
    AND NOT stack_contains(stack_id, 'win32k*;*!Ex*UnblockPushLock*;*!ExBlock*PushLock*')
), places AS ( -- the innermost function of the program around the lock; threads that start have only those of the loader
  SELECT s.stack_id, s.is_kernel,
    -- A lock of the kernel belongs to the driver that takes it. Without a driver, a call of the program led to it.
    first_value(m.name || coalesce('!' || n.name, '') ORDER BY m.process_key IS NOT NULL, lower(m.name) = 'ntdll.dll', f.depth) AS culprit
  FROM (SELECT DISTINCT stack_id, kind = 'kernel lock' AS is_kernel FROM blocked) s
  JOIN stack_frame f ON f.stack_id = s.stack_id
  JOIN frame r ON r.frame_id = f.frame_id
  JOIN module m ON m.module_id = r.module_id
  LEFT JOIN method n ON n.method_id = r.method_id
  WHERE m.process_key IS NOT NULL AND (lower(m.name) NOT IN ('ntdll.dll', 'kernel32.dll', 'kernelbase.dll', 'clr.dll', 'coreclr.dll',
      'ucrtbase.dll', 'msvcrt.dll', 'msvcp140.dll', 'vcruntime140.dll') OR lower(m.name) = 'ntdll.dll' AND n.name LIKE 'Ldr%')
    -- Filters take their locks by functions of the filter manager.
    OR s.is_kernel AND m.process_key IS NULL AND lower(m.name) NOT LIKE 'nt%krnl%.exe' AND lower(m.name) NOT IN ('hal.dll', 'fltmgr.sys')
  GROUP BY s.stack_id, s.is_kernel
), waits AS (
  SELECT p.culprit, b.* FROM blocked b JOIN places p ON p.stack_id = b.stack_id AND p.is_kernel = (b.kind = 'kernel lock')
), locks AS (
  SELECT culprit, process_key, union_duration(from_ns, to_ns) AS cost_ns, min(from_ns) AS from_ns, max(to_ns) AS to_ns,
    bool_or(kind = 'lock') AS has_lock, bool_or(kind = 'mutex') AS has_mutex, bool_or(kind = 'kernel lock') AS has_kernel
  FROM waits GROUP BY culprit, process_key
  HAVING union_duration(from_ns, to_ns) >= $min_total_ms * 1000000
    AND (count(*) >= $min_count AND union_duration(from_ns, to_ns) >= (max(to_ns) - min(from_ns)) * $min_share_percent / 100
      OR max(CASE WHEN is_slim THEN wait_ns ELSE 0 END) >= $min_long_ms * 1000000 AND count(DISTINCT thread_key) > 1)
), totals AS ( -- processes of one program can queue at the same place
  SELECT w.culprit, union_duration(w.from_ns, w.to_ns) AS total_ns, count(*) AS count, max(w.wait_ns) AS longest_ns,
    count(DISTINCT w.thread_key) AS threads, CASE WHEN bool_and(w.kind = 'kernel lock') THEN 'kernel lock' ELSE 'lock' END AS kind,
    first_value(w.stack_id ORDER BY w.wait_ns DESC, w.from_ns, w.thread_key) AS stack_id,
    first_value(w.thread_key ORDER BY w.wait_ns DESC, w.from_ns, w.thread_key) AS thread_key,
    first_value(w.from_ns ORDER BY w.wait_ns DESC, w.from_ns, w.thread_key) AS at_ns
  FROM waits w JOIN locks l ON l.culprit = w.culprit AND l.process_key = w.process_key
  GROUP BY w.culprit
)
SELECT l.culprit, l.process_key, t.total_ns, l.cost_ns, t.count, t.longest_ns, t.threads, t.kind, l.from_ns, l.to_ns, t.stack_id,
  t.thread_key, t.at_ns, CASE WHEN l.has_lock THEN p.pid END AS lock_pid, CASE WHEN l.has_mutex THEN p.pid END AS mutex_pid,
  CASE WHEN l.has_kernel THEN p.pid END AS kernel_pid,
  -- A module without names of functions has frames at addresses.
  CASE WHEN strpos(l.culprit, '!') > 0 THEN l.culprit ELSE l.culprit || '*' END AS place
FROM locks l JOIN totals t ON t.culprit = l.culprit LEFT JOIN process p ON p.process_key = l.process_key
ORDER BY t.total_ns DESC, l.culprit, l.cost_ns DESC, l.process_key
