-- A system call returns an access violation
-- card: 7
-- sentence: {victim} called {culprit} {count|once|# times} and got STATUS_ACCESS_VIOLATION: {total} passed until it went on
-- why: The kernel returns an access violation if an argument points to memory that it cannot read. A program that works elsewhere
--   does not pass such arguments: an update of Windows, a driver or a library in between handles them wrongly, or the program passes wrong ones.
-- fix: Compare with a machine or a version of Windows where it works (etwkit diff), find out what sits between the program and the kernel, and
--   report it to whoever made that. Until then uninstall the last update.
-- not proved: Who passes the wrong argument: the stack of the call only shows who called. Calls of functions whose names are
--   not known are not looked at.
-- needs: syscall, context_switch
-- evidence: dump syscall --process {pid} --status failed --details
-- param max_gap_ms: float = 2000 – a call of the same function this long behind the failed one is another attempt, not a retry
-- param min_total_ms: float = 10 – shorter than that nobody notices, and programs that test whether memory is there get it, too
WITH calls AS (
  SELECT process_key, thread_key, frame_id, enter_ns, exit_ns, status, stack_id,
    lead(enter_ns) OVER (PARTITION BY thread_key, frame_id ORDER BY enter_ns) AS next_ns
  FROM syscall
  WHERE enter_ns IS NOT NULL AND thread_key IS NOT NULL
), failed AS ( -- from the failed call to the next one of the same function
  SELECT m.name AS culprit, c.process_key, c.thread_key, c.stack_id, c.enter_ns AS from_ns,
    CASE WHEN c.next_ns - c.exit_ns <= $max_gap_ms * 1000000 THEN c.next_ns ELSE c.exit_ns END AS to_ns
  FROM calls c
  JOIN frame r ON r.frame_id = c.frame_id
  JOIN method m ON m.method_id = r.method_id
  -- Functions of the window manager do not return a status.
  WHERE c.status = -1073741819 AND m.name LIKE 'Nt%' AND m.name NOT LIKE 'NtUser%' AND m.name NOT LIKE 'NtGdi%'
), culprits AS (
  SELECT culprit, union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(to_ns - from_ns) AS longest_ns
  FROM failed GROUP BY culprit
)
SELECT f.culprit, f.process_key, c.total_ns, c.count, c.longest_ns, union_duration(f.from_ns, f.to_ns) AS cost_ns,
  min(f.from_ns) AS from_ns, max(f.to_ns) AS to_ns, first_value(f.stack_id ORDER BY f.to_ns - f.from_ns DESC) AS stack_id,
  first_value(f.thread_key ORDER BY f.to_ns - f.from_ns DESC) AS thread_key,
  first_value(f.from_ns ORDER BY f.to_ns - f.from_ns DESC) AS at_ns
FROM failed f JOIN culprits c ON c.culprit = f.culprit
WHERE c.total_ns >= $min_total_ms * 1000000
GROUP BY f.culprit, f.process_key, c.total_ns, c.count, c.longest_ns
ORDER BY c.total_ns DESC, f.culprit, cost_ns DESC, f.process_key
