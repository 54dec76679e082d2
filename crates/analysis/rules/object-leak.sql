-- A program makes objects and does not destroy them
-- card: 17
-- severity: note
-- sentence: {culprit} leaks {kind}{caller}: {leaked} of {count} that it made were left{forecast}
-- why: A process may have 10,000 objects of GDI and 10,000 of USER. One that keeps some for each thing it does comes to that
--   limit after hours, and then windows stay empty or the program ends. Handles also fill the memory of the kernel.
-- fix: Destroy or close what the stack makes when it is no longer needed.
-- not proved: That the program would not have destroyed them later: caches also grow, but only to a limit.
-- needs: handle or gdi_user_object
-- evidence: dump gdi-user --process {drawing_pid} --leak --by stack --show-stack
-- evidence: dump objectref --process {handle_pid} --leak --show-stack
-- spot: ask gdi-user --leak --by stack --show-stack --process {drawing_pid}
-- spot: ask objectref --leak --show-stack --process {handle_pid}
-- param limit: int = 10000 – objects of GDI, and of USER, that Windows lets a process have
-- param min_leaked: int = 100 – fewer may be what a program needs
-- param min_share_percent: float = 10 – of the objects that the stack made; less is a cache
-- param min_windows_percent: float = 80 – of the tenths of the time in which the stack made something, those in which some was left
WITH made AS (
  SELECT process_key, upper(class) || ' objects' || coalesce(' (' || lower(type_name) || ')', '') AS kind, create_stack_id AS stack_id,
    create_thread_key AS thread_key, create_ns AS ts_ns, outcome = 'open' AS is_left, true AS has_limit
  FROM gdi_user_object WHERE create_ns IS NOT NULL AND process_key IS NOT NULL
  UNION ALL
  SELECT h.process_key, 'handles' || coalesce(' (' || lower(t.type_name) || ')', ''), h.open_stack_id, h.open_thread_key,
    h.open_ns, h.outcome = 'open', false
  FROM handle h LEFT JOIN object t ON t.object_id = h.object_id
  WHERE h.origin = 'create' AND h.open_ns IS NOT NULL AND h.process_key IS NOT NULL
), span AS (
  SELECT min(ts_ns) AS from_ns, greatest(max(ts_ns) - min(ts_ns), 1) AS span_ns FROM made
), tenths AS (
  SELECT m.process_key, m.kind, m.stack_id, m.has_limit, least((m.ts_ns - s.from_ns) * 10 / s.span_ns, 9) AS tenth,
    count(*) AS made, sum(CASE WHEN m.is_left THEN 1 ELSE 0 END) AS remained, min(m.ts_ns) AS from_ns, max(m.ts_ns) AS to_ns,
    min(m.thread_key) AS thread_key
  FROM made m CROSS JOIN span s
  GROUP BY m.process_key, m.kind, m.stack_id, m.has_limit, tenth
), leaks AS (
  SELECT process_key, kind, stack_id, has_limit, sum(made) AS count, sum(remained) AS leaked, min(from_ns) AS from_ns,
    max(to_ns) AS to_ns, min(thread_key) AS thread_key, greatest(max(to_ns) - min(from_ns), 1) AS span_ns
  FROM tenths
  GROUP BY process_key, kind, stack_id, has_limit
  HAVING sum(remained) >= $min_leaked AND sum(remained) >= sum(made) * $min_share_percent / 100
    AND count(*) >= 4 AND sum(CASE WHEN remained > 0 THEN 1 ELSE 0 END) >= count(*) * $min_windows_percent / 100
), callers AS ( -- the innermost frame that is not in a library that everything goes through
  SELECT s.stack_id, first_value(coalesce(m.name || '!', '') || n.name ORDER BY f.depth) AS caller
  FROM (SELECT DISTINCT stack_id FROM leaks WHERE stack_id IS NOT NULL) s
  JOIN stack_frame f ON f.stack_id = s.stack_id
  JOIN frame r ON r.frame_id = f.frame_id
  LEFT JOIN module m ON m.module_id = r.module_id
  JOIN method n ON n.method_id = r.method_id
  WHERE coalesce(lower(m.name), '') NOT IN ('ntoskrnl.exe', 'ntdll.dll', 'kernel32.dll', 'kernelbase.dll', 'user32.dll', 'gdi32.dll',
    'gdi32full.dll', 'win32u.dll', 'win32k.sys', 'win32kbase.sys', 'win32kfull.sys')
  GROUP BY s.stack_id
)
SELECT coalesce(p.name, 'process') || ' (' || p.pid || ')' AS culprit, l.process_key, CAST(NULL AS BIGINT) AS cost_ns,
  CAST(NULL AS BIGINT) AS total_ns, l.count, CAST(NULL AS BIGINT) AS longest_ns, l.kind, l.leaked,
  coalesce(' in ' || c.caller, '') AS caller,
  CASE WHEN l.has_limit THEN '; at this rate it has ' || CAST(CAST($limit AS BIGINT) AS VARCHAR) || ' after '
    || CAST(CAST(ceil(CAST($limit AS BIGINT) * (l.span_ns / 1000000000.0) / l.leaked / 60) AS BIGINT) AS VARCHAR) || ' min' ELSE '' END AS forecast,
  l.from_ns, l.to_ns, l.stack_id, l.thread_key, l.from_ns AS at_ns,
  CASE WHEN l.has_limit THEN p.pid END AS drawing_pid, CASE WHEN NOT l.has_limit THEN p.pid END AS handle_pid
FROM leaks l JOIN process p ON p.process_key = l.process_key LEFT JOIN callers c ON c.stack_id = l.stack_id
ORDER BY l.leaked DESC, culprit, l.kind, l.stack_id
