-- A filter driver makes programs wait
-- card: 1
-- sentence: {victim} waited {total} for the filter driver {culprit}{product}, {count|once|# times up to {longest}}
-- why: A filter driver sees each operation on files before the file system does. While its callback waits, most
--   often for a service in user mode that it called (FltSendMessage), the program also waits.
-- fix: Exclude the folder or the program from scanning, update the product that the driver belongs to, or replace it.
-- not proved: That the program would have been faster by all of this time: what it did next may have had to wait for
--   something else.
-- needs: waits with stacks
-- modules: fltmgr.sys
-- pieces: culprit, process_key, from_ns, to_ns FROM delays
-- evidence: dump wait --process {pid} --method '{culprit}*' --details
-- evidence: dump wait --process {pid} --method '{culprit}*' --chain
-- spot: flame --weight wait --process {pid} --module {culprit}
-- param min_single_ms: float = 10 – one wait that a person notices; scans of known files take less than 1 ms
-- param min_total_ms: float = 100 – a smaller total goes unnoticed
-- param min_mean_ms: float = 0.5 – of many short waits: looks at files that were scanned before take less
-- param min_share_percent: float = 5 – of the time from the first to the last wait of a program, counted for each of its
--   processes. For one that started and ended in the trace, of its life
-- param min_wait_us: float = 200 – shorter waits are the price of every filter and are not counted
WITH waits AS (
  SELECT process_key, thread_key, stack_id, last_out_ns AS from_ns, coalesce(in_ns, readied_ns) AS to_ns, wait_ns
  FROM context_switch
  WHERE wait_ns >= $min_wait_us * 1000 AND stack_contains(stack_id, 'fltmgr.sys!*;fltmgr.sys+*')
), frames AS (
  SELECT s.stack_id, f.depth, lower(m.name) AS module, m.module_id
  FROM (SELECT DISTINCT stack_id FROM waits) s
  JOIN stack_frame f ON f.stack_id = s.stack_id
  JOIN frame r ON r.frame_id = f.frame_id
  LEFT JOIN module m ON m.module_id = r.module_id
), filters AS ( -- the driver that the filter manager called and that did not pass the operation on to a file system
  SELECT d.stack_id, first_value(d.module_id ORDER BY d.depth) AS module_id
  FROM frames d JOIN frames c ON c.stack_id = d.stack_id AND c.depth = d.depth + 1 AND c.module = 'fltmgr.sys'
  WHERE d.module LIKE '%.sys' AND d.module NOT IN ('fltmgr.sys', 'ntfs.sys', 'refs.sys', 'fastfat.sys', 'exfat.sys',
    'npfs.sys', 'msfs.sys', 'cdfs.sys', 'udfs.sys', 'mup.sys', 'rdbss.sys', 'mrxsmb.sys')
    AND NOT EXISTS (
      SELECT 1 FROM frames b WHERE b.stack_id = d.stack_id AND b.depth < d.depth
        AND b.module IN ('ntfs.sys', 'refs.sys', 'fastfat.sys', 'exfat.sys', 'mup.sys', 'rdbss.sys'))
  GROUP BY d.stack_id
), delays AS (
  SELECT m.name AS culprit, m.company, m.product_name, w.*
  FROM waits w JOIN filters f ON f.stack_id = w.stack_id JOIN module m ON m.module_id = f.module_id
), of_process AS (
  SELECT d.culprit, d.process_key, p.name, p.stop_ns - p.start_ns AS life_ns, sum(d.wait_ns) AS wait_ns, count(*) AS waits,
    union_duration(d.from_ns, d.to_ns) AS delay_ns, min(d.from_ns) AS from_ns, max(d.to_ns) AS to_ns
  FROM delays d JOIN process p ON p.process_key = d.process_key
  GROUP BY d.culprit, d.process_key, p.name, p.start_ns, p.stop_ns
), often AS ( -- programs that many short waits hold up; a build starts its compiler again and again, each time for a moment
  SELECT culprit
  FROM of_process GROUP BY culprit, coalesce(name, CAST(process_key AS VARCHAR))
  HAVING sum(wait_ns) >= sum(waits) * $min_mean_ms * 1000000 AND sum(delay_ns) >= $min_total_ms * 1000000
    AND sum(delay_ns) >= (coalesce(sum(life_ns), 0) + (count(*) - count(life_ns)) * (max(to_ns) - min(from_ns))) * $min_share_percent / 100
  UNION ALL -- one process alone, which idle ones of the same name would hide
  SELECT culprit
  FROM of_process
  WHERE wait_ns >= waits * $min_mean_ms * 1000000 AND delay_ns >= $min_total_ms * 1000000
    AND delay_ns >= coalesce(life_ns, to_ns - from_ns) * $min_share_percent / 100
), culprits AS (
  SELECT culprit, union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(wait_ns) AS longest_ns,
    first_value(stack_id ORDER BY wait_ns DESC, from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY wait_ns DESC, from_ns, thread_key) AS thread_key,
    first_value(from_ns ORDER BY wait_ns DESC, from_ns, thread_key) AS at_ns
  FROM delays GROUP BY culprit
)
SELECT d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns,
  coalesce(' (' || nullif(concat_ws(', ', max(d.company), nullif(max(d.product_name), max(d.company))), '') || ')', '') AS product,
  union_duration(d.from_ns, d.to_ns) AS cost_ns, min(d.from_ns) AS from_ns, max(d.to_ns) AS to_ns,
  c.stack_id,
  c.thread_key,
  c.at_ns
FROM delays d JOIN culprits c ON c.culprit = d.culprit
WHERE c.total_ns >= $min_total_ms * 1000000
  AND (c.longest_ns >= $min_single_ms * 1000000 OR d.culprit IN (SELECT culprit FROM often))
GROUP BY d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns, c.stack_id, c.thread_key, c.at_ns
ORDER BY c.total_ns DESC, d.culprit, cost_ns DESC, d.process_key
