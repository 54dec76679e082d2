-- A window does not react
-- card: 18
-- sentence: {victim} did not pump messages for {total}, {count|once|# times up to {longest}}, since its window {state} {culprit}{through}
-- why: The message loop of a window's thread fetches each click and key. While the thread computes or waits within one of them,
--   the window does not react, and Windows calls it "not responding" after 5 s.
-- fix: Do the work on another thread and let that one notify the window when it is done.
-- not proved: That the thread had a visible window, and that a user clicked in that time; where Windows reported the delay itself
--   (evidence dump ui-delay), it had one. What the window waited for, and how much longer, if the wait lasts until the end of
--   the recording: its stack is recorded when it ends.
-- needs: switches with stacks or ui_delay
-- needs to exclude: waits or ui_delay
-- symptom: yes
-- names: user32.dll or win32k*.sys or ui_delay
-- pieces: culprit, process_key, from_ns, to_ns FROM delays
-- evidence: dump wait --process {asking_pid} --by readying --details
-- evidence: dump wait --process {helped_pid} --chain
-- evidence: dump wait --process {open_pid} --chain
-- evidence: dump wait --process {waiting_pid} --method '{work}' --details
-- evidence: dump cpu --process {computing_pid} --methods '{work}' --include-dll --top-methods 20
-- evidence: dump ui-delay --process {reported_pid} --details
-- shows: the waits, or the CPU time, that the delays consist of; a delay is a little longer, from one fetch of messages to
--   the next
-- spot: flame --weight cpu --process {computing_pid} --method {work}
-- spot: flame --weight wait --process {named_pid} --method {culprit}
-- spot: flame --weight wait --process {blocked_pid}
-- spot: ask wait --chain --process {open_pid}
-- spot: ui-delay --process {reported_pid}
-- param min_single_ms: float = 200 – a delay that people notice
-- param min_total_ms: float = 400 – a single short one is soon forgotten
-- param min_trace_percent: float = 10 – of the recording, where that is less: in a second even a short one is much
-- param min_known_percent: float = 80 – of a hang in which the thread is known to run or to wait: time that was not recorded does not count
-- param min_sampled_percent: float = 50 – of the time in which the thread ran: without samples it did not compute
-- param min_share_percent: float = 80 – of the samples of a hang that have a function which is blamed for it
-- param max_fetch_ms: float = 20 – after a long message the next ones are fetched in less time than this
-- param max_helpers: int = 5 – threads that wait for each other between the window and the process that is named
-- param min_looks: int = 3 – fetches of messages before a wait that lasts until the end of the recording: fewer may be no window's
-- param max_callers: int = 4 – calls between functions that are blamed for several hangs: farther apart they are different work
WITH RECURSIVE recording AS (
  SELECT greatest(coalesce(min(kernel_start_ns), 0), coalesce(min(range_start_ns), 0)) AS from_ns,
    coalesce(min(range_end_ns), max(duration_ns)) AS to_ns, least(min(range_end_ns), max(kernel_end_ns), max(duration_ns)) AS known_to_ns,
    sum(lost_events + lost_buffers + coalesce(missing_buffers, 0)) = 0 AS is_whole,
    (SELECT count(readied_ns) > 0 FROM context_switch) AS has_waits
  FROM trace
), times AS ( -- when a thread was switched out, made ready and switched in, and until when it ran
  SELECT c.thread_key, c.process_key, c.stack_id, c.wait_ns, c.wait_reason, c.in_ns, c.out_ns,
    CASE WHEN c.is_readied_by_dpc THEN NULL ELSE c.readying_thread_key END AS by_thread,
    -- Where events were lost, a thread may have run between two of its events. Where none were, one that is seen for the first
    -- time when it is switched in was off from the start.
    coalesce(CASE WHEN c.wait_ns >= 0 THEN c.last_out_ns WHEN r.is_whole AND c.in_ns >= 0 THEN coalesce(c.last_out_ns, r.from_ns) END,
      c.in_ns, c.out_ns - c.run_ns) AS off_ns,
    coalesce(c.last_out_ns + c.wait_ns, c.readied_ns, c.in_ns) AS ready_ns,
    coalesce(c.in_ns, c.out_ns - c.run_ns) AS on_ns,
    -- What a thread does that is suspended, or stopped by a debugger, is not known, as if it was not recorded.
    CASE WHEN c.wait_reason IN (5, 12) OR stack_contains(c.stack_id, 'ntoskrnl.exe!Dbgk*;ntdll.dll!Dbg*BreakPoint') THEN NULL
      ELSE coalesce(c.out_ns, c.in_ns + c.run_ns) END AS end_ns
  FROM context_switch c CROSS JOIN recording r
), innermost AS ( -- without names, user32.dll itself fetches or waits for messages, and is in no work that it called
  SELECT s.stack_id, first_value(lower(m.name) ORDER BY f.depth) AS module
  FROM (
    SELECT stack_id FROM cpu_sample WHERE stack_contains(stack_id, 'user32.dll+*')
    UNION
    SELECT stack_id FROM context_switch WHERE coalesce(wait_ns, 1) > 0 AND stack_contains(stack_id, 'user32.dll+*')) s
  JOIN stack_frame f USING (stack_id)
  JOIN frame r USING (frame_id)
  JOIN module m USING (module_id)
  WHERE m.process_key IS NOT NULL AND lower(m.name) NOT IN (
    'ntdll.dll', 'kernelbase.dll', 'kernel32.dll', 'win32u.dll', 'wow64.dll', 'wow64win.dll', 'wow64cpu.dll')
  GROUP BY s.stack_id
), pumps AS (
  SELECT thread_key, process_key, wait_reason, in_ns, off_ns, is_nameless
  FROM (
    SELECT *, NOT is_look AS is_nameless,
      max(CASE WHEN is_user_request THEN 1 ELSE 0 END) OVER (PARTITION BY thread_key) AS has_requests,
      max(CASE WHEN is_user_request AND NOT is_look AND is_in_com THEN 1 ELSE 0 END) OVER (PARTITION BY thread_key) AS serves_com
    FROM (
      SELECT c.thread_key, c.process_key, c.wait_reason, c.in_ns, c.off_ns,
        stack_contains(c.stack_id, 'user32.dll!*GetMessage*;user32.dll!*PeekMessage*;user32.dll!*MsgWait*;user32.dll!*WaitMessage*;win32k*!*GetMessage*;win32k*!*PeekMessage*;win32k*!*RealSleepThread*')
        -- While COM waits it serves its own windows and no input: that is no fetch of messages, and proves no window.
        AND NOT stack_contains(c.stack_id, '*!CCliModalLoop*;*!CoWaitForMultiple*') AS is_look,
        -- A wait for the window manager is also a fetch of messages where user32.dll has no names of functions.
        c.wait_reason = 13 AND stack_contains(c.stack_id, 'user32.dll+*') AS is_user_request,
        -- So is a wait of user32.dll for messages and other objects, of a thread that also waits for the window manager.
        i.module = 'user32.dll' AND NOT stack_contains(c.stack_id, 'combase.dll*;ole32.dll*') AS is_own_wait,
        stack_contains(c.stack_id, 'combase.dll+*;ole32.dll+*') AS is_in_com
      FROM times c LEFT JOIN innermost i USING (stack_id)
      -- A wait of which a part was lost is a fetch of messages all the same.
      WHERE c.in_ns IS NOT NULL AND coalesce(c.wait_ns, 1) > 0)
    WHERE is_look OR is_user_request OR is_own_wait)
  WHERE is_look OR has_requests = 1 AND serves_com = 0
), cut AS ( -- a last wait that is not for messages: not for what the thread waited for when it looked for them, nor for work of a pool
  SELECT w.thread_key, w.last_out_ns AS off_ns, wait_reason_name(w.wait_reason) AS reason,
    (SELECT known_to_ns FROM recording WHERE is_whole) AS to_ns
  FROM context_switch w JOIN pumps p USING (thread_key)
  WHERE w.is_open_wait AND w.wait_reason NOT IN (5, 12, 13, 15)
  GROUP BY w.thread_key, w.last_out_ns, w.wait_reason
  HAVING count(*) >= $min_looks AND NOT bool_or(p.wait_reason = w.wait_reason)
), slices AS (
  SELECT thread_key, stack_id, off_ns, ready_ns, on_ns, end_ns, out_ns, by_thread, NULL AS reason FROM times
  UNION ALL
  SELECT thread_key, NULL AS stack_id, off_ns, to_ns AS ready_ns, to_ns AS on_ns, to_ns AS end_ns, to_ns AS out_ns,
    NULL AS by_thread, reason FROM cut
), lives AS ( -- after its last wait for messages a thread goes on until it is switched out for good
  SELECT thread_key, min(off_ns) AS off_ns, max(out_ns) AS out_ns FROM slices GROUP BY thread_key
), pauses AS ( -- from one wait for messages to the next, and from the start of the recording to the first
  SELECT p.thread_key, p.process_key, p.is_nameless, d.is_first, CASE WHEN d.is_first THEN l.off_ns ELSE p.in_ns END AS from_ns,
    CASE WHEN d.is_first THEN p.off_ns ELSE coalesce(p.next_ns, l.out_ns) END AS to_ns
  FROM (
    SELECT *, lead(off_ns) OVER (PARTITION BY thread_key ORDER BY in_ns) AS next_ns,
      row_number() OVER (PARTITION BY thread_key ORDER BY in_ns) AS place
    FROM pumps) p
  JOIN lives l USING (thread_key)
  LEFT JOIN thread t USING (thread_key)
  CROSS JOIN unnest([false, true]) AS d(is_first)
  WHERE NOT d.is_first OR p.place = 1 AND t.start_ns IS NULL AND NOT p.is_nameless
), delayed AS ( -- delays that Windows reported, merged where they overlap: input that waited, messages that nobody looked for
  SELECT thread_key, process_key, false AS is_nameless, false AS is_first, greatest(min(start_ns), 0) AS from_ns, max(ts_ns) AS to_ns
  FROM (
    SELECT *, sum(is_new) OVER (PARTITION BY thread_key ORDER BY start_ns, ts_ns) AS delay FROM (
      SELECT thread_key, process_key, start_ns, ts_ns, CASE WHEN start_ns <= max(ts_ns) OVER (
        PARTITION BY thread_key ORDER BY start_ns, ts_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) THEN 0 ELSE 1 END AS is_new
      FROM ui_delay WHERE kind IN ('message', 'input') AND thread_key IS NOT NULL))
  GROUP BY thread_key, process_key, delay
), long AS (
  SELECT *, false AS is_reported FROM pauses WHERE to_ns - from_ns >= $min_single_ms * 1000000
), uncut AS ( -- where both exist stacks win, since they show the exact length; what Windows reports is a few clock ticks longer or shorter
  SELECT * FROM long
  UNION ALL
  SELECT d.*, true AS is_reported FROM delayed d
  WHERE d.to_ns - d.from_ns >= $min_single_ms * 1000000 AND NOT EXISTS (
    SELECT 1 FROM long l WHERE l.thread_key = d.thread_key AND l.from_ns < d.to_ns AND l.to_ns > d.from_ns)
), fetches AS ( -- samples in which the thread fetched messages without having to wait for one
  SELECT g.*, s.ts_ns AS fetch_ns
  FROM uncut g JOIN cpu_sample s ON s.thread_key = g.thread_key AND s.ts_ns > g.from_ns AND s.ts_ns < g.to_ns
  LEFT JOIN innermost i ON i.stack_id = s.stack_id AND g.is_nameless
  WHERE NOT g.is_reported
    AND (stack_contains(s.stack_id, 'user32.dll!*PeekMessage*;user32.dll!*GetMessage*') OR i.module = 'user32.dll')
    AND NOT stack_contains(s.stack_id, '*!CCliModalLoop*;*!CoWaitForMultiple*')
), pieces AS ( -- from one fetch to the next one
  SELECT thread_key, process_key, from_ns AS gap_ns, to_ns AS gap_end_ns, is_reported, is_nameless, is_first, fetch_ns AS from_ns,
    coalesce(lead(fetch_ns) OVER (PARTITION BY thread_key, from_ns ORDER BY fetch_ns), to_ns) AS to_ns
  FROM (SELECT *, from_ns AS fetch_ns FROM uncut UNION ALL SELECT * FROM fetches)
), gaps AS (
  SELECT process_key, thread_key, from_ns, to_ns, to_ns - from_ns AS length_ns, is_reported, is_nameless, is_first,
    from_ns - gap_ns > $max_fetch_ms * 1000000 OR gap_end_ns - to_ns > $max_fetch_ms * 1000000 AS is_inner
  FROM pieces p WHERE to_ns - from_ns >= $min_single_ms * 1000000
    -- While the machine sleeps nobody waits for a window. Windows says when it is about to, and when it has.
    AND NOT EXISTS (SELECT 1 FROM event_count e WHERE concat_ws('/', e.provider, e.event_id, e.opcode) IN (
        'Power/0/48', 'Power/0/49', 'Microsoft-Windows-Kernel-Power/42/0', 'Microsoft-Windows-Kernel-Power/107/0')
      AND e.second BETWEEN p.from_ns / 1000000000 AND p.to_ns / 1000000000)
), samples AS (
  SELECT g.thread_key, g.from_ns, s.stack_id, count(*) AS count, sum(s.weight_ns) AS weight_ns
  FROM gaps g JOIN cpu_sample s ON s.thread_key = g.thread_key AND s.ts_ns > g.from_ns AND s.ts_ns < g.to_ns
  GROUP BY g.thread_key, g.from_ns, s.stack_id
), sampled AS (
  SELECT thread_key, from_ns, sum(count) AS count, sum(weight_ns) AS weight_ns,
    sum(CASE WHEN stack_contains(stack_id, 'user32.dll!*DispatchMessage*;user32.dll+*') THEN count ELSE 0 END) AS messages
  FROM samples GROUP BY thread_key, from_ns
), waits AS ( -- what is known of the thread: its waits, and how long it ran
  SELECT thread_key, from_ns, sum(wait_ns) AS wait_ns, max(wait_ns) AS longest_ns, sum(run_ns) AS run_ns, sum(known_ns) AS known_ns,
    first_value(CASE WHEN wait_ns > 0 THEN stack_id END ORDER BY wait_ns DESC) AS stack_id,
    first_value(CASE WHEN wait_ns > 0 THEN off_ns END ORDER BY wait_ns DESC) AS at_ns,
    first_value(CASE WHEN wait_ns > 0 THEN by_thread END ORDER BY wait_ns DESC) AS by_thread,
    first_value(reason ORDER BY wait_ns DESC) AS cut_reason
  FROM (
    SELECT g.thread_key, g.from_ns, w.stack_id, w.off_ns, w.by_thread, w.reason,
      greatest(least(w.ready_ns, g.to_ns) - greatest(w.off_ns, g.from_ns), 0) AS wait_ns,
      greatest(least(w.end_ns, g.to_ns) - greatest(w.on_ns, g.from_ns), 0) AS run_ns,
      least(w.end_ns, g.to_ns) - greatest(w.off_ns, g.from_ns) AS known_ns
    FROM gaps g JOIN slices w ON w.thread_key = g.thread_key AND w.off_ns < g.to_ns AND w.end_ns > g.from_ns)
  GROUP BY thread_key, from_ns
), sampling AS (SELECT min(ts_ns) AS from_ns, max(ts_ns) AS to_ns FROM cpu_sample
), judged AS (
  SELECT g.*, coalesce(w.wait_ns, 0) >= 0.5 * g.length_ns AS is_blocked, w.stack_id, w.at_ns, w.longest_ns, w.by_thread, w.cut_reason,
    o.process_key AS by_key, g.is_reported AND a.thread_key IS NULL AS is_unknown, a.messages, a.count,
    w.known_ns >= $min_known_percent / 100 * g.length_ns AS is_known,
    -- Where no samples were taken at that time, that there are none says nothing.
    coalesce(a.weight_ns, 0) >= $min_sampled_percent / 100 * w.run_ns
      OR g.from_ns < coalesce(s.from_ns, g.to_ns) OR g.to_ns > s.to_ns AS is_sampled
  FROM gaps g
  LEFT JOIN waits w USING (thread_key, from_ns)
  LEFT JOIN sampled a USING (thread_key, from_ns)
  LEFT JOIN thread t ON t.thread_key = w.by_thread
  LEFT JOIN process o ON o.process_key = t.process_key AND o.process_key <> g.process_key AND o.pid > 4
  CROSS JOIN sampling s
), hangs AS (
  SELECT * FROM judged
  WHERE is_reported OR is_known AND (is_blocked OR is_sampled) AND CASE
    -- Between fetches a thread that asks again and again does no work for a message.
    WHEN NOT (is_nameless OR is_first) THEN NOT is_inner OR messages IS NULL OR messages >= 0.5 * count
    -- Without names, and before its first fetch of messages, only what user32.dll called is known to be work for a message.
    WHEN is_blocked THEN coalesce(stack_contains(stack_id, 'user32.dll!*DispatchMessage*;user32.dll+*'), cut_reason <> '')
    ELSE messages >= 0.8 * count END
), asked AS ( -- whom the window waited for in its longest wait, whom that thread waited for in the meantime, and so on
  SELECT thread_key, from_ns, process_key, longest_ns, by_thread, greatest(at_ns, from_ns) AS wait_from_ns,
    greatest(at_ns, from_ns) + longest_ns AS wait_to_ns, 1 AS step
  FROM hangs WHERE is_blocked AND by_key IS NOT NULL
  UNION ALL
  SELECT a.thread_key, a.from_ns, a.process_key, a.longest_ns, w.readying_thread_key, greatest(a.wait_from_ns, w.last_out_ns),
    least(a.wait_to_ns, w.last_out_ns + w.wait_ns), a.step + 1
  FROM asked a
  JOIN context_switch w ON w.thread_key = a.by_thread AND w.last_out_ns < a.wait_to_ns AND w.last_out_ns + w.wait_ns > a.wait_from_ns
  WHERE a.step < $max_helpers AND w.wait_ns > 0 AND NOT w.is_readied_by_dpc AND w.readying_thread_key IS NOT NULL
), helpers AS ( -- processes for which it waited at least half of that time
  SELECT a.thread_key, a.from_ns, a.step, o.process_key AS by_key, o.name || ' (' || o.pid || ')' AS name
  FROM asked a JOIN thread t ON t.thread_key = a.by_thread
  JOIN process o ON o.process_key = t.process_key AND o.process_key <> a.process_key AND o.pid > 4
  GROUP BY a.thread_key, a.from_ns, a.step, a.longest_ns, o.process_key, o.name, o.pid
  HAVING sum(a.wait_to_ns - a.wait_from_ns) >= 0.5 * a.longest_ns
), lasts AS (
  SELECT thread_key, from_ns, first_value(by_key ORDER BY step DESC, by_key) AS by_key FROM helpers GROUP BY thread_key, from_ns
), ways AS ( -- each process between the window and the last one
  SELECT thread_key, from_ns, ' through ' || string_agg(name, ', ' ORDER BY step) AS through
  FROM (
    SELECT h.thread_key, h.from_ns, h.name, min(h.step) AS step
    FROM helpers h JOIN lasts l USING (thread_key, from_ns)
    WHERE h.by_key <> l.by_key
    GROUP BY h.thread_key, h.from_ns, h.name)
  GROUP BY thread_key, from_ns
), stacks AS ( -- for a hang that waits the stack of its longest wait, for one that computes those of all samples
  SELECT *, sum(count) OVER (PARTITION BY thread_key, from_ns) AS all_count FROM (
    SELECT h.thread_key, h.from_ns, h.to_ns, CASE WHEN h.is_blocked THEN h.stack_id ELSE s.stack_id END AS stack_id,
      CASE WHEN h.is_blocked THEN 1 ELSE s.count END AS count
    FROM hangs h LEFT JOIN samples s ON s.thread_key = h.thread_key AND s.from_ns = h.from_ns AND NOT h.is_blocked)
  WHERE stack_id IS NOT NULL
), frames AS (
  SELECT s.thread_key, s.from_ns, s.to_ns, s.count, s.all_count, f.depth,
    coalesce(m.name || coalesce('!' || n.name, '+' || hex(r.rva)), n.name) AS place,
    -- Code that was compiled at run time may have no module; the libraries of .NET are known by their names then.
    CASE WHEN m.company LIKE 'Microsoft%' OR lower(m.path) LIKE '%\\windows\\system32\\%'
      OR m.module_id IS NULL AND regexp_like(n.name, '^(System|Microsoft|MS)[.]') THEN 1 ELSE 0 END AS is_windows
  FROM stacks s
  JOIN stack_frame f ON f.stack_id = s.stack_id AND f.first
  JOIN frame r USING (frame_id)
  LEFT JOIN module m USING (module_id)
  LEFT JOIN method n USING (method_id)
  WHERE coalesce(m.module_id, n.method_id) IS NOT NULL AND coalesce(lower(m.name), '') NOT IN (
    'ntoskrnl.exe', 'ntdll.dll', 'kernel32.dll', 'kernelbase.dll', 'user32.dll', 'win32u.dll',
    'win32k.sys', 'win32kbase.sys', 'win32kfull.sys', 'rpcrt4.dll', 'combase.dll')
), often AS ( -- functions that are in the stacks of a hang nearly all the time
  SELECT thread_key, from_ns, to_ns, place, is_windows, CAST(sum(depth * count) AS DOUBLE) / sum(count) AS depth
  FROM frames GROUP BY thread_key, from_ns, to_ns, all_count, place, is_windows
  HAVING sum(count) >= all_count * $min_share_percent / 100
), ranked AS ( -- those of the program first, of these the innermost one
  SELECT *, row_number() OVER (PARTITION BY thread_key, from_ns ORDER BY is_windows, depth, place) AS rank,
    min(is_windows) OVER (PARTITION BY thread_key, from_ns) AS first_is_windows
  FROM often
), shared AS ( -- hangs within the same work, one of which was deeper in it, have one culprit
  SELECT *, sum(to_ns - from_ns) OVER (PARTITION BY thread_key, place) AS sum_ns,
    min(rank) OVER (PARTITION BY thread_key, place) AS least_rank
  FROM ranked
), blamed AS (
  SELECT thread_key, from_ns, first_value(place ORDER BY sum_ns DESC, rank, place) AS place
  FROM shared WHERE least_rank = 1 AND is_windows = first_is_windows AND rank <= $max_callers + 1
  GROUP BY thread_key, from_ns
), delays AS (
  SELECT h.process_key, h.thread_key, h.from_ns, h.to_ns, h.stack_id, least(h.at_ns, h.from_ns) AS at_ns, h.is_reported,
    h.longest_ns AS wait_ns,
    CASE WHEN h.is_unknown AND NOT h.is_blocked THEN 'was busy with' WHEN NOT h.is_blocked THEN 'computed in'
      WHEN h.cut_reason <> '' THEN 'was still waiting when the recording ended, in' WHEN h.by_key IS NULL THEN 'waited in' ELSE 'waited for the process' END AS state,
    CASE WHEN h.is_blocked AND h.by_key IS NOT NULL THEN coalesce(p.name, 'process') || ' (' || p.pid || ')'
      WHEN h.is_unknown AND NOT h.is_blocked THEN 'work that was not recorded'
      ELSE coalesce(b.place, 'a call that was not recorded (' || h.cut_reason || ')', 'an unknown function') END AS culprit,
    coalesce(e.through, '') AS through
  FROM hangs h
  LEFT JOIN blamed b USING (thread_key, from_ns)
  LEFT JOIN lasts l USING (thread_key, from_ns)
  LEFT JOIN ways e ON e.thread_key = h.thread_key AND e.from_ns = h.from_ns
  LEFT JOIN process p ON p.process_key = coalesce(l.by_key, h.by_key)
), culprits AS (
  SELECT culprit, state, union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(to_ns - from_ns) AS longest_ns,
    first_value(stack_id ORDER BY to_ns - from_ns DESC, from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY to_ns - from_ns DESC, from_ns, thread_key) AS thread_key,
    first_value(at_ns ORDER BY to_ns - from_ns DESC, from_ns, thread_key) AS at_ns
  FROM delays GROUP BY culprit, state
)
SELECT d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns, d.state, max(d.through) AS through, union_duration(d.from_ns, d.to_ns) AS cost_ns,
  min(d.from_ns) AS from_ns, max(d.to_ns) AS to_ns, c.stack_id, c.thread_key, c.at_ns,
  CASE WHEN d.culprit IN ('an unknown function', 'work that was not recorded') THEN '*' ELSE d.culprit END AS work,
  CASE WHEN d.state = 'waited for the process' AND r.has_waits THEN max(v.pid) END AS asking_pid,
  CASE WHEN max(d.through) <> '' THEN max(v.pid) END AS helped_pid,
  CASE WHEN d.state LIKE 'was still%' AND r.has_waits THEN max(v.pid) END AS open_pid,
  CASE WHEN d.state = 'waited in' AND r.has_waits THEN max(v.pid) END AS waiting_pid,
  -- Of several waits in a hang, not all may be below the function that is named.
  CASE WHEN d.state = 'waited in' AND d.culprit <> 'an unknown function' AND sum(d.wait_ns) >= 0.95 * sum(d.to_ns - d.from_ns)
    THEN max(v.pid) END AS named_pid,
  CASE WHEN bool_or(d.is_reported) THEN max(v.pid) END AS reported_pid,
  CASE WHEN d.state = 'computed in' THEN max(v.pid) END AS computing_pid,
  CASE WHEN d.state LIKE 'waited%' AND r.has_waits THEN max(v.pid) END AS blocked_pid
FROM delays d JOIN culprits c USING (culprit, state)
LEFT JOIN process v USING (process_key)
CROSS JOIN recording r
WHERE c.total_ns >= least($min_total_ms * 1000000, $min_trace_percent / 100 * (r.to_ns - r.from_ns))
GROUP BY d.culprit, d.process_key, d.state, c.total_ns, c.count, c.longest_ns,
  c.stack_id, c.thread_key, c.at_ns, r.has_waits
ORDER BY c.total_ns DESC, d.culprit, cost_ns DESC, d.process_key
