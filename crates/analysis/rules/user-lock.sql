-- Programs waited for the lock of the window manager
-- card: 2
-- sentence: {victim} waited {total} for the lock of the window manager held by {culprit}{how},
--   {count|once|# times up to {longest}}
-- why: One lock guards windows and input of all programs of a desktop. If a thread holds it for long, all windows and the
--   mouse freeze; a program that ends holds it while Windows looks for its windows and drawing objects.
-- fix: Let short programs without windows not load user32.dll and gdi32.dll (delay-load shell32.dll and those), or start
--   fewer of them at once. Other holders should do long work before the call into the window manager.
-- not proved: What the holder did under the lock that took so long; see its CPU and waits at those times. Without names of
--   functions, that the resource of the window manager is this lock.
-- needs: waits with stacks or user_lock
-- names: win32k*.sys or user_lock
-- pieces: process_key, from_ns, to_ns FROM delays
-- evidence: dump wait --process {wait_pid} --method '*EnterCrit*;*EnterSharedCrit*;*UserCritSec*' --details
-- evidence: dump wait --process {wait_pid} --method '*EnterCrit*;*EnterSharedCrit*;*UserCritSec*' --chain
-- evidence: dump wait --process {nameless_pid} --method 'win32k*' --details
-- evidence: dump wait --process {nameless_pid} --method 'win32k*' --chain
-- evidence: dump user-lock --process {reported_pid} --details
-- shows: all waits of these programs for the lock; the finding counts waits at the same time once, and only while {culprit}
--   held it
-- spot: flame --weight wait --process {wait_pid} --method '*EnterCrit*;*EnterSharedCrit*;*UserCritSec*'
-- spot: flame --weight wait --process {nameless_pid} --module 'win32k*'
-- spot: window-lock --process {reported_pid}
-- param min_single_ms: float = 20 – a window that is blocked for longer stutters under the mouse
-- param min_total_ms: float = 100 – a smaller total goes unnoticed
-- param min_wait_us: float = 500 – programs need the lock all the time; shorter waits and holds are its everyday price
WITH crit_waits AS ( -- without names of functions, waits for a resource out of win32k: nearly all are for the lock
  SELECT *, stack_contains(stack_id, 'win32k*!*EnterCrit*;win32k*!*EnterSharedCrit*;win32k*!*UserCritSec*') AS is_named,
    wait_reason = 27 AND stack_contains(stack_id, 'win32k*.sys+*')
      AND NOT stack_contains(stack_id, 'ntfs.sys*;fltmgr.sys*;dxgkrnl.sys*;dxgmms*.sys*') AS is_nameless
  FROM context_switch
  WHERE wait_ns >= $min_wait_us * 1000 AND readying_thread_key IS NOT NULL AND NOT is_readied_by_dpc
), waits AS (
  SELECT is_named, process_key, thread_key, stack_id, last_out_ns AS from_ns, readied_ns, coalesce(in_ns, readied_ns) AS to_ns,
    wait_ns, readying_thread_key AS holder_thread,
    stack_contains(readying_stack_id, '*!PspExitThread*;*!NtGdiCloseProcess*') AS is_exit,
    lag(readied_ns) OVER (ORDER BY readied_ns, thread_key) AS before_ns,
    lag(thread_key) OVER (ORDER BY readied_ns, thread_key) AS before_thread
  FROM crit_waits WHERE is_named OR is_nameless
), holds AS ( -- from when the lock was handed to a thread, else from when somebody started to wait for it
  SELECT w.holder_thread, t.process_key AS holder_key, p.name AS holder, w.readied_ns AS to_ns,
    CASE WHEN w.before_thread = w.holder_thread THEN w.before_ns
      ELSE greatest(coalesce(w.before_ns, w.from_ns), w.from_ns) END AS from_ns,
    w.is_exit OR coalesce(p.stop_ns - w.readied_ns BETWEEN -1000000 AND 1000000000, false) AS is_exit
  FROM waits w
  JOIN thread t ON t.thread_key = w.holder_thread
  JOIN process p ON p.process_key = t.process_key
), reported AS ( -- waits for which the window manager itself reports who asked for its lock, and who had it meanwhile
  SELECT u.process_key, u.thread_key, u.stack_id, greatest(u.acquire_ns - u.wait_ns, h.acquire_ns) AS from_ns,
    least(u.acquire_ns, h.release_ns) AS to_ns,
    least(u.acquire_ns, h.release_ns) - greatest(u.acquire_ns - u.wait_ns, h.acquire_ns) AS wait_ns,
    u.acquire_ns - u.wait_ns AS wait_from_ns, h.process_key AS holder_key, p.name AS holder,
    coalesce(p.stop_ns - h.release_ns BETWEEN -1000000 AND 1000000000, false) AS is_exit, true AS is_reported,
    false AS is_named
  FROM user_lock u
  JOIN user_lock h ON h.acquire_ns < u.acquire_ns AND h.release_ns > u.acquire_ns - u.wait_ns AND h.thread_key <> u.thread_key
  JOIN process p ON p.process_key = h.process_key
  LEFT JOIN process v ON v.process_key = u.process_key
  WHERE u.wait_ns >= $min_wait_us * 1000 AND h.hold_ns >= $min_wait_us * 1000
    AND (u.mode = 'exclusive' OR h.mode = 'exclusive') AND (v.name IS DISTINCT FROM p.name)
), delays AS ( -- if several held the lock one after the other while a thread waited, each is to blame for its own time
  SELECT w.process_key, w.thread_key, w.stack_id, greatest(w.from_ns, h.from_ns) AS from_ns,
    CASE WHEN h.to_ns >= w.readied_ns THEN w.to_ns ELSE h.to_ns END AS to_ns,
    least(h.to_ns, w.readied_ns) - greatest(w.from_ns, h.from_ns) AS wait_ns,
    w.from_ns AS wait_from_ns, h.holder_key, h.holder, h.is_exit, false AS is_reported,
    w.is_named
  FROM waits w
  JOIN holds h ON h.from_ns < w.readied_ns AND h.to_ns > w.from_ns AND h.holder_thread <> w.thread_key
  LEFT JOIN process v ON v.process_key = w.process_key
  -- Programs of one kind that end together wait for each other: nobody waits for them.
  WHERE (v.name IS DISTINCT FROM h.holder)
    -- A wait that the window manager itself reports counts only once.
    AND NOT EXISTS (
      SELECT 1 FROM user_lock u WHERE u.thread_key = w.thread_key AND u.wait_ns >= $min_wait_us * 1000
        AND u.acquire_ns > w.from_ns AND u.acquire_ns - u.wait_ns < w.readied_ns)
  UNION ALL
  SELECT * FROM reported
), holders AS (
  SELECT holder, union_duration(from_ns, to_ns) AS total_ns, count(DISTINCT from_thread) AS count,
    max(behind_ns) AS longest_ns,
    first_value(stack_id ORDER BY behind_ns DESC, wait_from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY behind_ns DESC, wait_from_ns, thread_key) AS thread_key,
    first_value(wait_from_ns ORDER BY behind_ns DESC, wait_from_ns, thread_key) AS at_ns,
    count(DISTINCT holder_key) AS processes, min(holder_key) AS only_key,
    sum(CASE WHEN is_exit THEN wait_ns ELSE 0 END) >= 0.5 * sum(wait_ns) AS is_exit
  FROM (
    SELECT *, sum(wait_ns) OVER (PARTITION BY holder, thread_key, wait_from_ns) AS behind_ns,
      thread_key || ' ' || wait_from_ns AS from_thread
    FROM delays)
  GROUP BY holder
)
SELECT h.holder || CASE WHEN h.processes = 1 AND NOT h.is_exit THEN ' (' || p.pid || ')' ELSE '' END AS culprit,
  d.process_key, h.total_ns, h.count, h.longest_ns,
  CASE WHEN h.is_exit THEN ', which ended ' || h.processes || ' times' ELSE '' END AS how,
  union_duration(d.from_ns, d.to_ns) AS cost_ns, min(d.from_ns) AS from_ns, max(d.to_ns) AS to_ns,
  h.stack_id, h.thread_key, h.at_ns,
  CASE WHEN bool_or(d.is_named) THEN max(v.pid) END AS wait_pid,
  CASE WHEN bool_or(NOT d.is_named AND NOT d.is_reported) THEN max(v.pid) END AS nameless_pid,
  CASE WHEN bool_or(d.is_reported) THEN max(v.pid) END AS reported_pid
FROM delays d JOIN holders h ON h.holder = d.holder JOIN process p ON p.process_key = h.only_key
LEFT JOIN process v ON v.process_key = d.process_key
WHERE h.total_ns >= $min_total_ms * 1000000 AND h.longest_ns >= $min_single_ms * 1000000
GROUP BY h.holder, h.processes, h.is_exit, p.pid, d.process_key, h.total_ns, h.count, h.longest_ns,
  h.stack_id, h.thread_key, h.at_ns
ORDER BY h.total_ns DESC, culprit, cost_ns DESC, d.process_key
