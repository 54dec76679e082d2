-- Opening files on a network share takes long
-- card: 24
-- sentence: {victim} waited {total} for the network share {culprit}: {count|1 file operation|# file operations} took up to {longest}
-- why: Each operation on a file of a share is a request to its server. A server that is far away, busy or looked for under an
--   old name answers late, and the program waits until it does.
-- fix: Copy the files to a local disk first, open them less often, or find out why {culprit} answers late (network, server, virus
--   scanner of the server).
-- not proved: Whether the network or the server is slow. How long an opening lasted that the end of the trace cuts: it counts up
--   to there. Without operations on files, waits in the driver of shares show that a share was waited for, but not which.
-- needs: file_io or waits with stacks
-- pieces: culprit, process_key, start_ns AS from_ns, end_ns AS to_ns FROM delays
-- evidence: dump file --process {file_pid} --per-process --dir-level 4
-- evidence: dump wait --process {waiting_pid} --method 'mup.sys*' --details
-- spot: file --process {file_pid}
-- spot: flame --weight wait --process {waiting_pid} --module mup.sys
-- param min_single_ms: float = 20 – a share in the same building answers within a few milliseconds
-- param min_request_ms: float = 1 – what takes less was in the cache of the machine itself
-- param min_mean_ms: float = 5 – of many shorter operations that took at least that
-- param min_count: int = 20 – fewer have no mean
-- param min_share_percent: float = 10 – of the time from the first to the last operation of a program, where few are long
-- param min_total_ms: float = 200 – a smaller total goes unnoticed
WITH unfinished AS ( -- threads that still waited when the trace ended
  SELECT w.thread_key, w.last_out_ns, least(p.stop_ns, coalesce(t.range_end_ns, t.duration_ns)) AS end_ns
  FROM context_switch w CROSS JOIN trace t LEFT JOIN process p ON p.process_key = w.process_key
  WHERE w.is_open_wait
), latest AS ( -- an opening is cut by the end only if its thread did nothing more with files: otherwise its end was lost
  SELECT thread_key, max(coalesce(end_ns, start_ns)) AS ns FROM file_io GROUP BY thread_key
), operations AS (
  -- A program that watches a folder gets an answer when something in it changes.
  SELECT process_key, thread_key, stack_id, path, start_ns, end_ns, duration_ns FROM file_io
  WHERE end_ns IS NOT NULL AND kind <> 'dir_notify'
  UNION ALL
  SELECT f.process_key, f.thread_key, f.stack_id, f.path, f.start_ns, u.end_ns, u.end_ns - f.start_ns AS duration_ns
  FROM file_io f JOIN unfinished u ON u.thread_key = f.thread_key AND u.last_out_ns >= f.start_ns
  JOIN latest l ON l.thread_key = f.thread_key AND l.ns <= f.start_ns
  WHERE f.end_ns IS NULL AND f.kind = 'create'
), remote AS (
  SELECT process_key, thread_key, stack_id, start_ns, end_ns, duration_ns,
    regexp_match(path, '^(?:\\\\|\\Device\\(?:Mup|LanmanRedirector)\\)(?:;[^\\]*\\)*([^\\;]+)\\([^\\]+)', 'i') AS parts
  FROM operations
  WHERE duration_ns >= $min_request_ms * 1000000 AND (path LIKE '\\\\%' OR path LIKE '\\Device\\%')
), requests AS (
  SELECT '\\' || parts[1] || '\' || parts[2] AS culprit, process_key, thread_key, stack_id, start_ns, end_ns, duration_ns
  -- Messages of a pipe come when the other program writes one.
  FROM remote WHERE parts IS NOT NULL AND lower(parts[2]) NOT IN ('pipe', 'ipc$')
  UNION ALL
  SELECT '(its name was not recorded)' AS culprit, process_key, thread_key, stack_id, last_out_ns AS start_ns,
    coalesce(in_ns, readied_ns) AS end_ns, wait_ns AS duration_ns
  FROM context_switch
  WHERE wait_ns >= $min_request_ms * 1000000 AND stack_contains(stack_id, 'mup.sys!Mup*;mup.sys+*')
    AND (SELECT count(*) FROM file_io) = 0
), often AS ( -- programs that many short requests hold up
  SELECT culprit, process_key FROM requests WHERE duration_ns < $min_single_ms * 1000000 GROUP BY culprit, process_key
  HAVING count(*) >= $min_count AND avg(duration_ns) >= $min_mean_ms * 1000000
    AND union_duration(start_ns, end_ns) >= (max(end_ns) - min(start_ns)) * $min_share_percent / 100
), delays AS (
  SELECT r.* FROM requests r LEFT JOIN often o ON o.culprit = r.culprit AND o.process_key = r.process_key
  WHERE r.duration_ns >= $min_single_ms * 1000000 OR o.culprit IS NOT NULL
), culprits AS (
  SELECT culprit, union_duration(start_ns, end_ns) AS total_ns, count(*) AS count, max(duration_ns) AS longest_ns,
    first_value(stack_id ORDER BY duration_ns DESC, start_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY duration_ns DESC, start_ns, thread_key) AS thread_key,
    first_value(start_ns ORDER BY duration_ns DESC, start_ns, thread_key) AS at_ns
  FROM delays GROUP BY culprit
)
SELECT d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns, union_duration(d.start_ns, d.end_ns) AS cost_ns,
  min(d.start_ns) AS from_ns, max(d.end_ns) AS to_ns, c.stack_id,
  c.thread_key, c.at_ns,
  CASE WHEN d.culprit NOT LIKE '(%' THEN max(p.pid) END AS file_pid,
  CASE WHEN d.culprit LIKE '(%' THEN max(p.pid) END AS waiting_pid
FROM delays d JOIN culprits c ON c.culprit = d.culprit LEFT JOIN process p ON p.process_key = d.process_key
WHERE c.total_ns >= $min_total_ms * 1000000
GROUP BY d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns, c.stack_id, c.thread_key, c.at_ns
ORDER BY c.total_ns DESC, d.culprit, cost_ns DESC, d.process_key
