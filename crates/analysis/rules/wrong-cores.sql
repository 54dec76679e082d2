-- A program waits for E-cores while P-cores are idle
-- card: 6
-- sentence: {victim} waited {total} for busy E-cores while P-cores were mostly idle
--   ({culprit}{value}), {count|once|# times}
-- why: Windows sends threads of low priority or of programs in the background to E-cores. Where these are busy,
--   the threads take turns on them although P-cores have nothing to do.
-- fix: Raise the priority of the program to normal or bring it to the foreground, or change the power scheme:
--   powercfg /setacvalueindex scheme_current sub_processor heteropolicy 3, and schedpolicy 0 (all processors).
-- not proved: Whether the policy of the power scheme kept it there, or an affinity that the program asked for.
-- needs: context_switch, cpu_core
-- needs to exclude: waits
-- evidence: dump ready --process {pid}
-- spot: flame --weight ready --process {pid}
-- param min_efficient_percent: float = 90 – of its CPU was on E-cores: otherwise the program may run on others
-- param min_total_ms: float = 100 – a smaller total goes unnoticed
-- param min_ready_us: float = 500 – shorter turns of others are everyday scheduling
-- param min_idle_percent: float = 50 – of a wait in which a P-core was idle: with less, these cores were also busy
-- param min_idle_us: float = 500 – a core that is idle for less is between two threads
WITH classes AS (
  SELECT cpu, efficiency_class = (SELECT min(efficiency_class) FROM cpu_core) AS is_efficient
  FROM cpu_core
  WHERE (SELECT min(efficiency_class) FROM cpu_core) < (SELECT max(efficiency_class) FROM cpu_core)
), kept AS ( -- programs that ran on efficient cores
  SELECT w.process_key
  FROM context_switch w JOIN classes c ON c.cpu = w.cpu JOIN process p ON p.process_key = w.process_key
  WHERE w.run_ns > 0 AND p.pid <> 0
  GROUP BY w.process_key
  HAVING sum(CASE WHEN c.is_efficient THEN w.run_ns ELSE 0 END) >= $min_efficient_percent / 100 * sum(w.run_ns)
), ready AS (
  SELECT w.process_key, w.thread_key, w.stack_id, w.in_ns - w.ready_ns AS from_ns, w.in_ns AS to_ns
  FROM context_switch w JOIN kept k ON k.process_key = w.process_key JOIN classes c ON c.cpu = w.cpu
  WHERE w.ready_ns >= $min_ready_us * 1000 AND w.in_ns IS NOT NULL AND c.is_efficient
), turns_there AS ( -- slices of threads on performant cores, the idle one left out
  SELECT w.cpu, w.in_ns, w.out_ns
  FROM context_switch w JOIN classes c ON c.cpu = w.cpu LEFT JOIN process p ON p.process_key = w.process_key
  WHERE NOT c.is_efficient AND w.in_ns IS NOT NULL AND w.out_ns IS NOT NULL AND p.pid IS DISTINCT FROM 0
), gaps AS ( -- times in which a performant core ran no thread, from the first switch of the trace to the last one
  SELECT in_ns AS to_ns,
    coalesce(lag(out_ns) OVER (PARTITION BY cpu ORDER BY in_ns), (SELECT min(in_ns) FROM context_switch)) AS from_ns
  FROM turns_there
  UNION ALL
  SELECT (SELECT max(out_ns) FROM context_switch), max(out_ns) FROM turns_there GROUP BY cpu
  UNION ALL -- a core that ran nothing at all has no turn that starts or ends a gap
  SELECT s.to_ns, s.from_ns
  FROM (SELECT min(in_ns) AS from_ns, max(out_ns) AS to_ns FROM context_switch) s CROSS JOIN classes c
  WHERE NOT c.is_efficient AND c.cpu NOT IN (SELECT cpu FROM turns_there)
), idle AS (
  SELECT from_ns, to_ns FROM gaps WHERE to_ns - from_ns >= $min_idle_us * 1000
), idle_parts AS (
  SELECT r.thread_key, r.from_ns AS turn_ns, greatest(r.from_ns, i.from_ns) AS from_ns, least(r.to_ns, i.to_ns) AS to_ns
  FROM ready r JOIN idle i ON i.from_ns < r.to_ns AND i.to_ns > r.from_ns
), idle_times AS (
  SELECT thread_key, turn_ns, union_duration(from_ns, to_ns) AS idle_ns
  FROM idle_parts GROUP BY thread_key, turn_ns
), delays AS ( -- a core that is taken for a moment would have been free again
  SELECT r.process_key, r.thread_key, r.stack_id, r.from_ns, r.to_ns, r.to_ns - r.from_ns AS ready_ns
  FROM ready r JOIN idle_times i ON i.thread_key = r.thread_key AND i.turn_ns = r.from_ns
  WHERE i.idle_ns >= $min_idle_percent / 100 * (r.to_ns - r.from_ns)
), costs AS (
  SELECT process_key, union_duration(from_ns, to_ns) AS cost_ns, min(from_ns) AS from_ns, max(to_ns) AS to_ns
  FROM delays GROUP BY process_key
  HAVING union_duration(from_ns, to_ns) >= $min_total_ms * 1000000
), totals AS (
  SELECT union_duration(d.from_ns, d.to_ns) AS total_ns, count(*) AS turns, max(d.ready_ns) AS longest_ns,
    first_value(d.stack_id ORDER BY d.ready_ns DESC, d.from_ns, d.thread_key) AS stack_id,
    first_value(d.thread_key ORDER BY d.ready_ns DESC, d.from_ns, d.thread_key) AS thread_key,
    first_value(d.from_ns ORDER BY d.ready_ns DESC, d.from_ns, d.thread_key) AS at_ns
  FROM delays d JOIN costs c ON c.process_key = d.process_key
), policies AS (
  SELECT max(' = ' || value) AS value FROM power_setting
  WHERE lower(setting_guid) = '7f2f5cfa-f10c-4823-b5e1-e93ae85f46b5'
)
SELECT 'HeteroPolicy' AS culprit, c.process_key, t.total_ns, t.turns AS count, t.longest_ns,
  coalesce(p.value, '') AS value, c.cost_ns, c.from_ns, c.to_ns, t.stack_id, t.thread_key, t.at_ns
FROM costs c CROSS JOIN totals t CROSS JOIN policies p
ORDER BY c.cost_ns DESC, c.process_key
