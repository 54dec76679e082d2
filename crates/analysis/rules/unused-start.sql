-- Programs initialize a library that they do not use
-- card: 20
-- sentence: {victim} spent {total} of CPU time initializing {culprit}, which then did nothing else, in
--   {count|1 start|# starts} up to {longest}
-- why: Initializers of a library run, and are compiled, when it is registered or first touched, whether or not the run
--   needs it. A program that measures only its own work does not see that time, but the user or the script that starts it does.
-- fix: Register the library only where it is used, or let it initialize itself at its first use (Lazy<T>, delay-load).
-- not proved: That the library is never needed: in these runs it was not seen at work in a sample.
-- needs: cpu_sample, samples with stacks, process
-- names: ntdll.dll
-- evidence: dump cpu --process {pid} --methods '*{culprit}*' --include-dll
-- shows: CPU with each function in the stack; the finding adds up the outermost one of each process
-- spot: flame --weight cpu --process {pid} --method '*{culprit}*'
-- param min_single_ms: float = 40 – of a process, or of all processes of a program: with tens of samples the work of a library would
--   have been seen
-- param max_used_percent: float = 2 – of the samples with the library may be outside its initializers
-- param min_total_ms: float = 100 – a smaller total goes unnoticed
WITH busy AS (
  SELECT s.process_key, s.stack_id, sum(s.weight_ns) AS cpu_ns, min(s.ts_ns - s.weight_ns) AS from_ns,
    max(s.ts_ns) AS to_ns, min(s.thread_key) AS thread_key
  FROM cpu_sample s JOIN process p ON p.process_key = s.process_key
  WHERE NOT s.is_idle AND NOT s.is_dpc_isr AND s.has_stack AND p.start_ns IS NOT NULL
  GROUP BY s.process_key, s.stack_id
), large AS ( -- processes of programs that computed long enough
  SELECT process_key, program
  FROM (
    SELECT b.process_key, coalesce(p.name, CAST(p.process_key AS VARCHAR)) AS program,
      sum(sum(b.cpu_ns)) OVER (PARTITION BY coalesce(p.name, CAST(p.process_key AS VARCHAR))) AS all_ns
    FROM busy b JOIN process p ON p.process_key = b.process_key
    GROUP BY b.process_key, coalesce(p.name, CAST(p.process_key AS VARCHAR)))
  WHERE all_ns >= $min_single_ms * 1000000
), nameless AS ( -- without names: threads begin in kernel32.dll, and only what prepares them comes from ntdll.dll alone
  SELECT s.stack_id
  FROM (
    SELECT DISTINCT stack_id FROM busy
    WHERE stack_contains(stack_id, 'ntdll.dll+*') AND NOT stack_contains(stack_id, 'kernel32.dll*')) s
  JOIN stack_frame f ON f.stack_id = s.stack_id
  JOIN frame r ON r.frame_id = f.frame_id
  LEFT JOIN module m ON m.module_id = r.module_id
  GROUP BY s.stack_id
  HAVING first_value(lower(m.name) ORDER BY f.depth DESC) = 'ntdll.dll'
), stacks AS (
  SELECT b.*, l.program,
    -- initializers of types of .NET, of global objects and of libraries of C++
    stack_contains(b.stack_id,
      '*!*..cctor;*!*DllMainCRTStartup*;*!*dynamic_initializer*;*!*LdrpCallInitRoutine*')
      OR n.stack_id IS NOT NULL AS is_start
  FROM busy b JOIN large l ON l.process_key = b.process_key LEFT JOIN nameless n ON n.stack_id = b.stack_id
), frames AS ( -- libraries in each stack, and namespaces of those that were built into a program
  SELECT DISTINCT f.stack_id, CASE
      WHEN lower(m.name) LIKE '%.dll' THEN m.name
      WHEN h.name LIKE '%.%' AND h.name NOT LIKE '%::%' THEN split_part(h.name, '.', 1)
    END AS name
  FROM (SELECT DISTINCT stack_id FROM stacks) s
  JOIN stack_frame f ON f.stack_id = s.stack_id
  JOIN frame r ON r.frame_id = f.frame_id
  JOIN module m ON m.module_id = r.module_id
  LEFT JOIN method h ON h.method_id = r.method_id
  -- Windows and the runtimes are everywhere.
  WHERE m.process_key IS NOT NULL AND (lower(m.path) NOT LIKE '%\windows\%' OR m.company <> '')
    AND coalesce(m.company, '') NOT LIKE 'Microsoft%'
), touched AS (
  SELECT s.process_key, s.program, f.name AS culprit, sum(s.cpu_ns) AS cpu_ns, min(s.from_ns) AS from_ns, max(s.to_ns) AS to_ns,
    sum(CASE WHEN s.is_start THEN s.cpu_ns ELSE 0 END) AS start_ns,
    first_value(s.stack_id ORDER BY s.cpu_ns DESC, s.stack_id) AS stack_id, min(s.thread_key) AS thread_key,
    min(CASE WHEN s.is_start THEN s.from_ns END) AS at_ns
  FROM stacks s JOIN frames f ON f.stack_id = s.stack_id
  WHERE f.name IS NOT NULL
  GROUP BY s.process_key, s.program, f.name
), uses AS (
  SELECT *
  FROM (
    SELECT *, sum(start_ns) OVER (PARTITION BY program, culprit) AS starts_ns, sum(cpu_ns) OVER (PARTITION BY program, culprit) AS all_ns
    FROM touched)
  WHERE start_ns >= $min_single_ms * 1000000 AND cpu_ns - start_ns <= $max_used_percent / 100 * cpu_ns
    OR start_ns > 0 AND starts_ns >= $min_single_ms * 1000000 AND all_ns - starts_ns <= $max_used_percent / 100 * all_ns
), totals AS (
  SELECT culprit, sum(start_ns) AS total_ns, count(*) AS count, max(start_ns) AS longest_ns FROM uses GROUP BY culprit
)
SELECT u.culprit, u.process_key, t.total_ns, t.count, t.longest_ns, u.start_ns AS cost_ns, u.from_ns, u.to_ns,
  u.stack_id, u.thread_key, u.at_ns
FROM uses u JOIN totals t ON t.culprit = u.culprit
WHERE t.total_ns >= $min_total_ms * 1000000
ORDER BY t.total_ns DESC, u.culprit, cost_ns DESC, u.process_key
