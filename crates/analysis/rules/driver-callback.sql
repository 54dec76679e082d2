-- A driver checks each process, thread or key
-- card: 24
-- sentence: {victim} spent {total} in the driver {culprit}{product}, which Windows asks about its {what}
-- why: Security products have Windows call them before a process or thread starts, a module is mapped, a handle is opened or a registry key is
--   read. The program cannot go on until that call returns, whether the driver computes in it or waits for its service.
-- fix: Exclude the program in the settings of the product, update the product, or replace it.
-- not proved: That the program would have been faster by all of this time.
-- needs: waits with stacks or samples with stacks
-- needs to exclude: waits with stacks
-- names: nt*krnl*.exe
-- pieces: culprit, process_key, from_ns, to_ns FROM delays
-- evidence: dump wait --process {waiting_pid} --method '{culprit}*' --details
-- evidence: dump wait --process {waiting_pid} --method '{culprit}*' --chain
-- evidence: dump cpu --process {computing_pid} --methods '{culprit}*' --include-dll
-- spot: flame --weight wait --process {waiting_pid} --module {culprit}
-- spot: flame --weight cpu --process {computing_pid} --module {culprit}
-- param min_total_ms: float = 100 – a smaller total goes unnoticed
-- param min_share_percent: float = 5 – of the time from the first to the last of a program's calls, counted for each of its
--   processes. For one that started and ended in the trace, of its life
-- param min_wait_us: float = 200 – shorter waits are the price of every security product
WITH spent AS ( -- waits, and times of samples
  SELECT process_key, thread_key, stack_id, last_out_ns AS from_ns, coalesce(in_ns, readied_ns) AS to_ns, true AS is_wait
  FROM context_switch WHERE wait_ns >= $min_wait_us * 1000 AND process_key IS NOT NULL
  UNION ALL
  SELECT process_key, thread_key, stack_id, ts_ns - weight_ns AS from_ns, ts_ns AS to_ns, false AS is_wait
  FROM cpu_sample WHERE NOT is_idle AND NOT is_dpc_isr AND process_key IS NOT NULL
), candidates AS (
  SELECT stack_id FROM (SELECT DISTINCT stack_id FROM spent)
  WHERE stack_contains(stack_id, 'nt*krnl*.exe!Psp*NotifyRoutines*;nt*krnl*.exe!Ps*NotifyRoutines*;nt*krnl*.exe!CmpCallCallBacks*;nt*krnl*.exe!CmpCallback*;nt*krnl*.exe!ObpCallPreOperation*;nt*krnl*.exe!ObpCallPostOperation*')
), frames AS (
  SELECT s.stack_id, f.depth, m.module_id, lower(m.name) AS module, n.name AS method
  FROM candidates s
  JOIN stack_frame f ON f.stack_id = s.stack_id
  JOIN frame r ON r.frame_id = f.frame_id
  LEFT JOIN module m ON m.module_id = r.module_id
  LEFT JOIN method n ON n.method_id = r.method_id
), drivers AS ( -- the driver that such a list of callbacks called
  SELECT d.stack_id, first_value(d.module_id ORDER BY d.depth) AS module_id,
    first_value(CASE WHEN c.method LIKE 'Cm%' THEN 'registry keys' WHEN c.method LIKE 'Ob%' THEN 'handles'
      WHEN c.method LIKE '%Thread%' THEN 'threads' WHEN c.method LIKE '%Image%' THEN 'modules' ELSE 'processes' END ORDER BY d.depth) AS what
  FROM frames d JOIN frames c ON c.stack_id = d.stack_id AND c.depth = d.depth + 1
  WHERE d.module LIKE '%.sys' AND (c.method LIKE 'Psp%NotifyRoutines%' OR c.method LIKE 'Ps%NotifyRoutines%' OR c.method LIKE 'CmpCallCallBacks%' OR c.method LIKE 'CmpCallback%'
    OR c.method LIKE 'ObpCallPreOperation%' OR c.method LIKE 'ObpCallPostOperation%')
  GROUP BY d.stack_id
), calls AS (
  SELECT m.name AS culprit, m.company, m.product_name, d.what, s.*
  FROM spent s JOIN drivers d ON d.stack_id = s.stack_id JOIN module m ON m.module_id = d.module_id
), of_process AS (
  SELECT c.culprit, c.process_key, coalesce(p.name, CAST(c.process_key AS VARCHAR)) AS program, p.stop_ns - p.start_ns AS life_ns,
    union_duration(c.from_ns, c.to_ns) AS cost_ns, min(c.from_ns) AS from_ns, max(c.to_ns) AS to_ns,
    bool_or(c.is_wait) AS waits, bool_or(NOT c.is_wait) AS computes
  FROM calls c LEFT JOIN process p ON p.process_key = c.process_key
  GROUP BY c.culprit, c.process_key, p.name, p.start_ns, p.stop_ns
), programs AS ( -- a build starts its compiler again and again, and each one loads its modules
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
  SELECT culprit, max(company) AS company, max(product_name) AS product_name, string_agg(DISTINCT what, ', ' ORDER BY what) AS what,
    union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(to_ns - from_ns) AS longest_ns,
    first_value(stack_id ORDER BY to_ns - from_ns DESC, from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY to_ns - from_ns DESC, from_ns, thread_key) AS thread_key,
    first_value(from_ns ORDER BY to_ns - from_ns DESC, from_ns, thread_key) AS at_ns
  FROM delays GROUP BY culprit
)
SELECT v.culprit, v.process_key, c.total_ns, c.count, c.longest_ns, c.what,
  coalesce(' (' || nullif(concat_ws(', ', c.company, nullif(c.product_name, c.company)), '') || ')', '') AS product,
  CASE WHEN v.waits THEN p.pid END AS waiting_pid, CASE WHEN v.computes THEN p.pid END AS computing_pid,
  v.cost_ns, v.from_ns, v.to_ns, c.stack_id, c.thread_key, c.at_ns
FROM victims v JOIN culprits c ON c.culprit = v.culprit LEFT JOIN process p ON p.process_key = v.process_key
ORDER BY c.total_ns DESC, v.culprit, v.cost_ns DESC, v.process_key
