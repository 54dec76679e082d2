-- A program fails and is started again and again
-- card: 45
-- sentence: {victim} lost {total} to {count} starts of {culprit}, which ended with an error ({codes}) after up to {longest}{cpu}
-- why: A program that another one restarts after each failure maps its libraries, reads its settings and fails at the same place.
--   That takes time and processors, and the program never does its work.
-- fix: Find out why {culprit} fails (its own log, the event log, its exit code), or let the program that starts it wait longer
--   after each failure and give up.
-- not proved: Why it fails, and that the program that starts it did nothing else in that time. An exit code of a script can be an
--   answer and no error.
-- needs: processes
-- pieces: culprit, process_key, from_ns, to_ns FROM failed
-- evidence: dump process --process {culprit} --parent {pid} --sort-by time
-- evidence: dump start --process {culprit}
-- spot: ask process --parent {pid} --sort-by time
-- param min_count: int = 6 – starts that failed; one that fails for another reason is not started that often
-- param min_crashes: int = 4 – starts that crashed, which no program is meant to do
-- param min_failed_percent: float = 80 – of the starts of this program by the same process; others of a loop succeed, as in a build
-- param max_life_s: float = 5 – from the start to the end; what runs longer has done some work
-- param min_total_ms: float = 500 – a smaller total goes unnoticed
WITH starts AS (
  SELECT name AS culprit, parent_process_key AS process_key, process_key AS child_key, creator_thread_key AS thread_key,
    start_ns AS from_ns, stop_ns AS to_ns, exit_code,
    -- The same job each time: a build whose jobs fail has a command line for each. A crash says so by itself.
    CASE WHEN exit_code BETWEEN -1073741824 AND -805306369 OR exit_code IN (-2147483645, -532462766, -529697949) THEN ''
      ELSE coalesce(command_line, CAST(process_key AS VARCHAR)) END AS job
  FROM process
  WHERE start_ns IS NOT NULL AND parent_process_key IS NOT NULL AND name IS NOT NULL
), counted AS (
  SELECT *, coalesce(exit_code <> 0 AND to_ns - from_ns <= $max_life_s * 1000000000, false) AS is_failed,
    count(*) OVER (PARTITION BY culprit, process_key) AS all_starts
  FROM starts
), loops AS (
  SELECT culprit, process_key, job FROM counted WHERE is_failed
  GROUP BY culprit, process_key, job, all_starts
  HAVING count(*) >= CASE WHEN job = '' THEN $min_crashes ELSE $min_count END
    AND count(*) >= all_starts * $min_failed_percent / 100
), failed AS (
  SELECT c.*, coalesce(u.run_ns, u.cpu_ns) AS used_ns,
    CASE WHEN c.exit_code < 0 THEN '0x' || upper(to_hex(CAST(c.exit_code AS BIGINT) + 4294967296)) ELSE CAST(c.exit_code AS VARCHAR) END AS code
  FROM counted c JOIN loops l ON l.culprit = c.culprit AND l.process_key = c.process_key AND l.job = c.job
  LEFT JOIN cpu_process u ON u.process_key = c.child_key
  WHERE c.is_failed
), culprits AS (
  SELECT culprit, union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(to_ns - from_ns) AS longest_ns,
    string_agg(DISTINCT code, ', ' ORDER BY code) AS codes,
    coalesce('; they used ' || round(sum(used_ns) / 1e9, 2) || ' s of CPU time', '') AS cpu,
    first_value(thread_key ORDER BY to_ns - from_ns DESC, from_ns, child_key) AS thread_key,
    first_value(from_ns ORDER BY to_ns - from_ns DESC, from_ns, child_key) AS at_ns
  FROM failed GROUP BY culprit
)
SELECT f.culprit, f.process_key, c.total_ns, c.count, c.longest_ns, c.codes, c.cpu,
  union_duration(f.from_ns, f.to_ns) AS cost_ns, min(f.from_ns) AS from_ns, max(f.to_ns) AS to_ns,
  CAST(NULL AS INT) AS stack_id, c.thread_key, c.at_ns
FROM failed f JOIN culprits c ON c.culprit = f.culprit
WHERE c.total_ns >= $min_total_ms * 1000000
GROUP BY f.culprit, f.process_key, c.total_ns, c.count, c.longest_ns, c.codes, c.cpu, c.thread_key, c.at_ns
ORDER BY c.total_ns DESC, f.culprit, cost_ns DESC, f.process_key
