-- A driver has hooked the kernel's event logging, and every system call pays for it
-- card: 9
-- sentence: {victim} computed for {total} in {culprit}{product} below event logging, {share_percent} of its
--   CPU time{logger}
-- why: A driver that has put itself below the functions with which the kernel logs events is called for each of them.
--   With tracing of system calls switched on, that is twice for every system call of every program.
-- fix: Update or remove the product that the driver belongs to, or let it stop its tracing session
--   (logman query -ets lists the sessions).
-- not proved: Which session switched the logging on that the driver listens to.
-- needs: cpu_sample, samples with stacks
-- names: nt*krnl*.exe
-- pieces: culprit, process_key, from_ns, to_ns FROM delays
-- evidence: dump cpu --process {pid} --by module --methods '{culprit}*'
-- evidence: dump cpu --process {pid} --methods '{culprit}*;*!PerfInfoLog*' --include-dll
-- spot: flame --weight cpu --process {pid} --method '{culprit}*;*!PerfInfoLog*'
-- param min_share_percent: float = 5 – of the CPU of a program; logging alone costs less than that
-- param min_total_ms: float = 100 – a smaller total goes unnoticed
WITH busy AS (
  SELECT process_key, stack_id, sum(weight_ns) AS cpu_ns
  FROM cpu_sample
  WHERE NOT is_idle AND NOT is_dpc_isr AND process_key IS NOT NULL
  GROUP BY process_key, stack_id
), candidates AS (
  SELECT stack_id FROM (SELECT DISTINCT stack_id FROM busy)
  WHERE stack_contains(stack_id, 'nt*!Etw*;nt*!PerfInfoLog*')
), frames AS (
  SELECT s.stack_id, f.depth, m.module_id, m.process_key, lower(m.name) AS module, h.name AS method
  FROM candidates s
  JOIN stack_frame f ON f.stack_id = s.stack_id
  JOIN frame r ON r.frame_id = f.frame_id
  LEFT JOIN module m ON m.module_id = r.module_id
  LEFT JOIN method h ON h.method_id = r.method_id
), hooks AS ( -- a driver that is called by a function of the kernel that logs events
  SELECT d.stack_id, first_value(d.module_id ORDER BY d.depth) AS module_id
  FROM frames d JOIN frames c ON c.stack_id = d.stack_id AND c.depth = d.depth + 1
  WHERE d.process_key IS NULL AND d.module LIKE '%.sys' AND c.module IN ('ntoskrnl.exe', 'ntkrnlmp.exe', 'ntkrnlpa.exe')
    AND (c.method LIKE 'EtwTrace%' OR c.method LIKE 'EtwpLog%' OR c.method LIKE 'EtwpTrace%'
      OR c.method LIKE 'EtwWrite%' OR c.method LIKE 'EtwpReserve%' OR c.method LIKE 'PerfInfoLog%')
  GROUP BY d.stack_id
), all_cpu AS (
  SELECT process_key, sum(cpu_ns) AS cpu_ns FROM busy GROUP BY process_key
), hits AS (
  SELECT s.process_key, s.thread_key, s.stack_id, s.ts_ns - s.weight_ns AS from_ns, s.ts_ns AS to_ns, s.weight_ns,
    m.name AS culprit, m.company, m.product_name
  FROM cpu_sample s JOIN hooks k ON k.stack_id = s.stack_id JOIN module m ON m.module_id = k.module_id
  WHERE NOT s.is_idle AND NOT s.is_dpc_isr AND s.process_key IS NOT NULL
), victims AS (
  SELECT h.culprit, h.process_key, 100.0 * sum(h.weight_ns) / a.cpu_ns AS share_percent
  FROM hits h JOIN all_cpu a ON a.process_key = h.process_key
  GROUP BY h.culprit, h.process_key, a.cpu_ns
  HAVING sum(h.weight_ns) >= $min_share_percent / 100 * a.cpu_ns
), delays AS (
  SELECT h.*, v.share_percent
  FROM hits h JOIN victims v ON v.culprit = h.culprit AND v.process_key = h.process_key
), culprits AS (
  SELECT culprit, max(company) AS company, max(product_name) AS product_name,
    union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(weight_ns) AS longest_ns,
    first_value(stack_id ORDER BY weight_ns DESC, from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY weight_ns DESC, from_ns, thread_key) AS thread_key,
    first_value(from_ns ORDER BY weight_ns DESC, from_ns, thread_key) AS at_ns
  FROM delays GROUP BY culprit
  HAVING union_duration(from_ns, to_ns) >= $min_total_ms * 1000000
), takers AS ( -- who started a session of the kernel while this trace was recorded
  SELECT '; ' || max(coalesce(p.name, 'process') || ' (' || p.pid || ') started ' || e.session) AS logger
  FROM logger_event e JOIN process p ON p.process_key = e.process_key
  WHERE e.kind = 'start' AND e.session IN ('NT Kernel Logger', 'Circular Kernel Context Logger')
)
SELECT d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns, max(d.share_percent) AS share_percent,
  coalesce(' (' || nullif(concat_ws(', ', c.company, nullif(c.product_name, c.company)), '') || ')', '') AS product,
  coalesce(max(t.logger), '') AS logger,
  union_duration(d.from_ns, d.to_ns) AS cost_ns, min(d.from_ns) AS from_ns, max(d.to_ns) AS to_ns,
  c.stack_id, c.thread_key, c.at_ns
FROM delays d JOIN culprits c ON c.culprit = d.culprit CROSS JOIN takers t
GROUP BY d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns, c.stack_id, c.thread_key, c.at_ns, c.company,
  c.product_name
ORDER BY c.total_ns DESC, d.culprit, cost_ns DESC, d.process_key
