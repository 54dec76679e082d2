-- A driver keeps processors in DPCs and interrupts
-- card: 29
-- sentence: DPCs and interrupts of {culprit}{product} kept processors for {total}: {count|1 call|# calls}, longest {longest}{place}
-- why: A DPC runs before all threads of its processor, which cannot run until it returns. Drivers are meant to stay below 0.1 ms; where one
--   takes milliseconds, sound stutters, the mouse jerks, and a thread that may run on that processor only loses this time.
-- fix: Update the driver or the firmware of its device, or report it to its vendor. For a network adapter, spread its interrupts over
--   processors (receive side scaling) and switch off features such as interrupt moderation one by one to find the slow one.
-- not proved: That a program waited all of this time: threads that may run on other processors go on there.
-- needs: dpc_isr
-- evidence: dump dpc
-- spot: dpc-isr
-- param min_single_us: float = 500 – of a DPC that is too long; drivers are meant to need less than 100
-- param min_total_ms: float = 100 – of long DPCs; a smaller total goes unnoticed
-- param min_share_percent: float = 2 – of the time from the first to the last one that long ones take
-- param min_victim_percent: float = 5 – of that time, for a program to be named as one that lost it
-- param min_all_percent: float = 20 – of a processor, where each is short and there are many
WITH calls AS (
  SELECT coalesce(lower(m.name), 'an unknown driver') AS framework, m.module_id, d.cpu, d.start_ns, d.end_ns, d.duration_ns,
    d.duration_ns - d.nested_ns AS own_ns, d.stack_id, CASE WHEN d.duration_ns >= $min_single_us * 1000 THEN d.duration_ns - d.nested_ns ELSE 0 END AS long_ns
  FROM dpc_isr d
  JOIN frame r ON r.frame_id = d.frame_id
  LEFT JOIN module m ON m.module_id = r.module_id
  WHERE d.kind <> 'threaded_dpc'
), storms AS (
  SELECT framework, min(module_id) AS module_id, sum(own_ns) AS total_ns, count(*) AS count, max(duration_ns) AS longest_ns,
    min(start_ns) AS from_ns, max(end_ns) AS to_ns, first_value(start_ns ORDER BY duration_ns DESC) AS at_ns, count(DISTINCT cpu) AS cpus
  FROM calls GROUP BY framework
  HAVING sum(long_ns) >= $min_total_ms * 1000000 AND sum(long_ns) >= (max(end_ns) - min(start_ns)) * $min_share_percent / 100
    OR sum(own_ns) >= (
      SELECT max(least(coalesce(range_end_ns, duration_ns), coalesce(kernel_end_ns, duration_ns))
        - greatest(coalesce(range_start_ns, 0), coalesce(kernel_start_ns, 0))) FROM trace) * $min_all_percent / 100
), busiest AS ( -- the processor on which it took most
  SELECT framework, first_value(cpu ORDER BY own_ns DESC, cpu) AS cpu
  FROM (SELECT framework, cpu, sum(own_ns) AS own_ns FROM calls GROUP BY framework, cpu) GROUP BY framework
), stacks AS (
  SELECT stack_id, sum(weight_ns) AS cpu_ns FROM cpu_sample
  WHERE is_dpc_isr AND has_stack AND (SELECT count(*) FROM storms) > 0 GROUP BY stack_id
), frames AS (
  SELECT s.stack_id, s.cpu_ns, f.depth, lower(m.name) AS module, m.module_id, coalesce(m.company, '') AS company
  FROM stacks s
  JOIN stack_frame f ON f.stack_id = s.stack_id
  JOIN frame r ON r.frame_id = f.frame_id
  JOIN module m ON m.module_id = r.module_id
  WHERE m.process_key IS NULL
), inner_drivers AS ( -- a library of Windows for drivers, as ndis.sys, has the routine, and calls the driver of the vendor
  SELECT framework, first_value(module_id ORDER BY cpu_ns DESC, module_id) AS module_id
  FROM (
    SELECT c.module AS framework, d.module_id, sum(d.cpu_ns) AS cpu_ns
    FROM frames c JOIN frames d ON d.stack_id = c.stack_id AND d.depth < c.depth
    WHERE c.company LIKE 'Microsoft%' AND d.company NOT LIKE 'Microsoft%' AND d.module LIKE '%.sys'
      AND c.module NOT IN ('ntoskrnl.exe', 'ntkrnlmp.exe', 'hal.dll')
    GROUP BY c.module, d.module_id)
  GROUP BY framework
), hit AS ( -- of processes that ran on that processor, how long DPCs and interrupts of any driver had it
  SELECT s.framework, w.process_key, sum(w.dpc_isr_ns) AS dpc_ns
  FROM storms s JOIN busiest b ON b.framework = s.framework JOIN context_switch w ON w.cpu = b.cpu JOIN process p ON p.process_key = w.process_key
  WHERE p.pid NOT IN (0, 4) AND w.dpc_isr_ns > 0
  GROUP BY s.framework, w.process_key
)
SELECT coalesce(m.name, 'an unknown driver') AS culprit, v.process_key, s.total_ns,
  -- A driver took no more from a process than its own DPCs and interrupts lasted.
  least(coalesce(v.dpc_ns, s.total_ns), s.total_ns) AS cost_ns, s.count, s.longest_ns,
  coalesce(' (' || nullif(concat_ws(', ', m.company, nullif(m.product_name, m.company)), '') || ')', '') AS product,
  CASE WHEN s.cpus = 1 THEN ', all on processor ' || b.cpu ELSE '' END AS place,
  s.from_ns, s.to_ns, CAST(NULL AS INT) AS stack_id, CAST(NULL AS INT) AS thread_key, s.at_ns
FROM storms s
JOIN busiest b ON b.framework = s.framework
LEFT JOIN inner_drivers i ON i.framework = s.framework
LEFT JOIN module m ON m.module_id = coalesce(i.module_id, s.module_id)
LEFT JOIN hit v ON v.framework = s.framework AND v.dpc_ns >= s.total_ns * $min_victim_percent / 100
ORDER BY s.total_ns DESC, culprit, cost_ns DESC, v.process_key
