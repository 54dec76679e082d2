-- A virus scanner scans scripts before they run
-- card: 46
-- sentence: {victim} spent {total} while {culprit}{product} scanned its scripts (AMSI)
-- why: PowerShell, script hosts, .NET and Office give each script, macro or library to the virus scanner before they run it (Antimalware
--   Scan Interface). The program cannot go on until that call returns, whether the scanner computes in it or waits for its service.
-- fix: Exclude the program or the folder of its scripts in the settings of the product, or update the product. Scripts that generate
--   less code while they run also help: each new piece is scanned.
-- not proved: Which script was scanned, and that the program would have been faster by all of this time.
-- needs: waits with stacks or samples with stacks
-- needs to exclude: waits with stacks, samples with stacks
-- modules: amsi.dll
-- pieces: culprit, process_key, from_ns, to_ns FROM delays
-- evidence: dump wait --process {waiting_pid} --method 'amsi.dll*' --details
-- evidence: dump wait --process {waiting_pid} --method 'amsi.dll*' --chain
-- evidence: dump cpu --process {computing_pid} --methods 'amsi.dll*' --include-dll
-- spot: flame --weight wait --process {waiting_pid} --module amsi.dll
-- spot: flame --weight cpu --process {computing_pid} --module amsi.dll
-- param min_total_ms: float = 200 – a smaller total goes unnoticed
-- param min_share_percent: float = 5 – of the time from the first to the last scan of a program, counted for each of its
--   processes. For one that started and ended in the trace, of its life
-- param min_wait_us: float = 200 – shorter waits are the price of every scan
WITH spent AS ( -- waits, and times of samples
  SELECT process_key, thread_key, stack_id, last_out_ns AS from_ns, coalesce(in_ns, readied_ns) AS to_ns, true AS is_wait
  FROM context_switch WHERE wait_ns >= $min_wait_us * 1000 AND process_key IS NOT NULL
  UNION ALL
  SELECT process_key, thread_key, stack_id, ts_ns - weight_ns AS from_ns, ts_ns AS to_ns, false AS is_wait
  FROM cpu_sample WHERE NOT is_idle AND NOT is_dpc_isr AND process_key IS NOT NULL
), candidates AS (
  SELECT stack_id FROM (SELECT DISTINCT stack_id FROM spent) WHERE stack_contains(stack_id, 'amsi.dll!*;amsi.dll+*')
), frames AS (
  SELECT s.stack_id, f.depth, m.module_id, lower(m.name) AS module
  FROM candidates s
  JOIN stack_frame f ON f.stack_id = s.stack_id
  JOIN frame r ON r.frame_id = f.frame_id
  LEFT JOIN module m ON m.module_id = r.module_id
), scans AS ( -- the outermost frame in AMSI
  SELECT stack_id, max(depth) AS depth, max(module_id) AS module_id FROM frames WHERE module = 'amsi.dll' GROUP BY stack_id
), providers AS ( -- the outermost library that AMSI called, other than those that every call goes through
  SELECT f.stack_id, first_value(f.module_id ORDER BY f.depth DESC) AS module_id
  FROM frames f JOIN scans s ON s.stack_id = f.stack_id
  WHERE f.depth < s.depth AND f.module LIKE '%.dll' AND f.module NOT IN ('amsi.dll', 'ntdll.dll', 'kernel32.dll', 'kernelbase.dll', 'combase.dll',
    'ole32.dll', 'oleaut32.dll', 'rpcrt4.dll', 'msvcrt.dll', 'ucrtbase.dll', 'vcruntime140.dll', 'msvcp140.dll', 'sechost.dll', 'advapi32.dll')
  GROUP BY f.stack_id
), calls AS (
  SELECT m.name AS culprit, m.company, m.product_name, t.*
  FROM spent t JOIN scans s ON s.stack_id = t.stack_id LEFT JOIN providers p ON p.stack_id = t.stack_id
  JOIN module m ON m.module_id = coalesce(p.module_id, s.module_id)
), of_process AS (
  SELECT c.culprit, c.process_key, coalesce(p.name, CAST(c.process_key AS VARCHAR)) AS program, p.stop_ns - p.start_ns AS life_ns,
    union_duration(c.from_ns, c.to_ns) AS cost_ns, min(c.from_ns) AS from_ns, max(c.to_ns) AS to_ns,
    bool_or(c.is_wait) AS waits, bool_or(NOT c.is_wait) AS computes
  FROM calls c LEFT JOIN process p ON p.process_key = c.process_key
  GROUP BY c.culprit, c.process_key, p.name, p.start_ns, p.stop_ns
), programs AS ( -- scripts that each have a process of their own add up
  SELECT culprit, program
  FROM of_process GROUP BY culprit, program
  HAVING sum(cost_ns) >= $min_total_ms * 1000000
    AND sum(cost_ns) >= (coalesce(sum(life_ns), 0) + (count(*) - count(life_ns)) * (max(to_ns) - min(from_ns))) * $min_share_percent / 100
), victims AS (
  SELECT v.*
  FROM of_process v LEFT JOIN programs o ON o.culprit = v.culprit AND o.program = v.program
  WHERE o.program IS NOT NULL
    OR v.cost_ns >= greatest($min_total_ms * 1000000, (v.to_ns - v.from_ns) * $min_share_percent / 100)
), delays AS (
  SELECT c.* FROM calls c JOIN victims v ON v.culprit = c.culprit AND v.process_key = c.process_key
), culprits AS (
  SELECT culprit, max(company) AS company, max(product_name) AS product_name,
    union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(to_ns - from_ns) AS longest_ns,
    first_value(stack_id ORDER BY to_ns - from_ns DESC, from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY to_ns - from_ns DESC, from_ns, thread_key) AS thread_key,
    first_value(from_ns ORDER BY to_ns - from_ns DESC, from_ns, thread_key) AS at_ns
  FROM delays GROUP BY culprit
)
SELECT v.culprit, v.process_key, c.total_ns, c.count, c.longest_ns,
  coalesce(' (' || nullif(concat_ws(', ', c.company, nullif(c.product_name, c.company)), '') || ')', '') AS product,
  CASE WHEN v.waits THEN p.pid END AS waiting_pid, CASE WHEN v.computes THEN p.pid END AS computing_pid,
  v.cost_ns, v.from_ns, v.to_ns, c.stack_id, c.thread_key, c.at_ns
FROM victims v JOIN culprits c ON c.culprit = v.culprit LEFT JOIN process p ON p.process_key = v.process_key
ORDER BY c.total_ns DESC, v.culprit, v.cost_ns DESC, v.process_key
