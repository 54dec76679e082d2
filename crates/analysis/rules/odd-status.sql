-- A system call returns an access violation
-- card: 7
-- severity: note
-- sentence: {victim} called {call} {count|once|# times} and got STATUS_ACCESS_VIOLATION
-- why: The kernel returns an access violation if an argument points to memory that it cannot read. A program that works elsewhere
--   does not pass these arguments: an update of Windows, a driver or a library in between handles them wrongly, or the program passes wrong ones.
-- fix: Compare with a machine or a version of Windows where it works (etwkit diff). Find out which product is between the program and the kernel,
--   and report it to its vendor. Until then uninstall the last update.
-- not proved: Who passes the wrong argument: the stack of the call only shows who called. Nor that it had an effect: the trace does not record how
--   the program went on without the result, so no cost is given.
-- needs: syscall
-- evidence: dump syscall --process {pid} --status failed --details
-- spot: ask syscall --status ACCESS_VIOLATION --process {pid}
-- param min_count: int = 3 – of other functions than those that open files: programs that test whether memory is there also get it
WITH failed AS (
  SELECT s.process_key, s.thread_key, s.stack_id, s.enter_ns AS from_ns, coalesce(s.exit_ns, s.enter_ns) AS to_ns,
    coalesce(m.name, 'system call ' || d.name || '+' || hex(r.rva)) AS call,
    -- An address alone means nothing to a reader: the program that called it is named with it.
    coalesce(m.name, coalesce(p.name, 'process') || ' (' || p.pid || '), system call ' || d.name || '+' || hex(r.rva)) AS culprit,
    m.name IS NULL OR m.name IN ('NtCreateFile', 'NtOpenFile') AS is_open
  FROM syscall s
  JOIN frame r ON r.frame_id = s.frame_id
  LEFT JOIN method m ON m.method_id = r.method_id
  LEFT JOIN module d ON d.module_id = r.module_id
  LEFT JOIN process p ON p.process_key = s.process_key
  WHERE s.enter_ns IS NOT NULL AND s.thread_key IS NOT NULL AND s.status = -1073741819
    -- Functions of the window manager do not return a status.
    AND CASE WHEN m.name IS NULL THEN lower(d.name) LIKE 'nt%krnl%.exe'
      ELSE m.name LIKE 'Nt%' AND m.name NOT LIKE 'NtUser%' AND m.name NOT LIKE 'NtGdi%' END
), culprits AS (
  SELECT culprit, count(*) AS count, max(to_ns - from_ns) AS longest_ns,
    first_value(stack_id ORDER BY to_ns - from_ns DESC, from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY to_ns - from_ns DESC, from_ns, thread_key) AS thread_key,
    first_value(from_ns ORDER BY to_ns - from_ns DESC, from_ns, thread_key) AS at_ns
  FROM failed GROUP BY culprit
  HAVING bool_or(is_open) OR count(*) >= $min_count
)
SELECT f.culprit, f.call, f.process_key, CAST(NULL AS BIGINT) AS cost_ns, CAST(NULL AS BIGINT) AS total_ns, c.count, c.longest_ns,
  min(f.from_ns) AS from_ns, max(f.to_ns) AS to_ns, c.stack_id, c.thread_key, c.at_ns
FROM failed f JOIN culprits c ON c.culprit = f.culprit
GROUP BY f.culprit, f.call, f.process_key, c.count, c.longest_ns, c.stack_id, c.thread_key, c.at_ns
ORDER BY c.count DESC, f.culprit, f.process_key
