-- A filter driver computes in programs that use files
-- card: 12
-- sentence: {victim} spent {total} of CPU time in the filter driver {culprit}{product}{service}
-- why: The callbacks of a filter driver run in the threads of the programs whose file operations they see. A virus
--   scanner that looks into each file there makes every operation longer, besides what its service does.
-- fix: Exclude the folder that is written to from scanning (for Defender: Add-MpPreference -ExclusionPath), or the
--   program, or replace the product.
-- not proved: That the service computed because of these files: it used its CPU at the same time.
-- needs: cpu_sample, samples with stacks
-- modules: fltmgr.sys
-- pieces: culprit, process_key, from_ns, to_ns FROM delays
-- evidence: dump cpu --process {pid} --by module --methods '{culprit}*'
-- evidence: dump cpu --process {pid} --methods '{culprit}*' --include-dll
-- spot: flame --weight cpu --process {pid} --module {culprit}
-- param min_total_ms: float = 100 – a smaller total goes unnoticed
-- param min_share_percent: float = 5 – of the CPU of a program; every filter costs less than that
WITH busy AS (
  SELECT process_key, stack_id, sum(weight_ns) AS cpu_ns
  FROM cpu_sample
  WHERE NOT is_idle AND NOT is_dpc_isr AND process_key IS NOT NULL
  GROUP BY process_key, stack_id
), candidates AS (
  SELECT stack_id FROM (SELECT DISTINCT stack_id FROM busy)
  WHERE stack_contains(stack_id, 'fltmgr.sys!*;fltmgr.sys+*')
), frames AS (
  SELECT s.stack_id, f.depth, lower(m.name) AS module, m.module_id
  FROM candidates s
  JOIN stack_frame f ON f.stack_id = s.stack_id
  JOIN frame r ON r.frame_id = f.frame_id
  LEFT JOIN module m ON m.module_id = r.module_id
), filters AS ( -- the innermost driver that the filter manager called
  SELECT d.stack_id, first_value(d.module_id ORDER BY d.depth) AS module_id
  FROM frames d JOIN frames c ON c.stack_id = d.stack_id AND c.depth = d.depth + 1 AND c.module = 'fltmgr.sys'
  WHERE d.module LIKE '%.sys' AND d.module NOT IN ('fltmgr.sys', 'ntfs.sys', 'refs.sys', 'fastfat.sys', 'exfat.sys',
    'npfs.sys', 'msfs.sys', 'cdfs.sys', 'udfs.sys', 'mup.sys', 'rdbss.sys', 'mrxsmb.sys')
  GROUP BY d.stack_id
), drivers AS (
  SELECT f.stack_id, m.name AS culprit, m.company, m.product_name
  FROM filters f JOIN module m ON m.module_id = f.module_id
), all_cpu AS (
  SELECT process_key, sum(cpu_ns) AS cpu_ns FROM busy GROUP BY process_key
), makers AS ( -- the company of each program; all of Windows has one, of which only the virus scanner counts
  SELECT p.process_key, p.name, p.pid, max(m.company) AS company
  FROM process p JOIN module m ON m.process_key = p.process_key AND lower(m.name) = lower(p.name)
  WHERE m.company NOT LIKE 'Microsoft%' OR lower(p.name) IN ('msmpeng.exe', 'mssense.exe', 'nissrv.exe')
  GROUP BY p.process_key, p.name, p.pid
), hits AS (
  SELECT s.process_key, s.thread_key, s.stack_id, s.ts_ns - s.weight_ns AS from_ns, s.ts_ns AS to_ns, s.weight_ns,
    d.culprit, d.company, d.product_name
  FROM cpu_sample s JOIN drivers d ON d.stack_id = s.stack_id
  LEFT JOIN makers o ON o.process_key = s.process_key
  WHERE NOT s.is_idle AND NOT s.is_dpc_isr AND s.process_key IS NOT NULL
    AND o.company IS DISTINCT FROM d.company
), victims AS (
  SELECT h.culprit, h.process_key, sum(h.weight_ns) AS filter_ns
  FROM hits h JOIN all_cpu a ON a.process_key = h.process_key
  GROUP BY h.culprit, h.process_key, a.cpu_ns
  HAVING sum(h.weight_ns) >= $min_share_percent / 100 * a.cpu_ns
), delays AS (
  SELECT h.* FROM hits h JOIN victims v ON v.culprit = h.culprit AND v.process_key = h.process_key
), culprits AS (
  SELECT culprit, max(company) AS company, max(product_name) AS product_name,
    union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, min(from_ns) AS from_ns, max(to_ns) AS to_ns,
    max(weight_ns) AS longest_ns,
    first_value(stack_id ORDER BY weight_ns DESC, from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY weight_ns DESC, from_ns, thread_key) AS thread_key,
    first_value(from_ns ORDER BY weight_ns DESC, from_ns, thread_key) AS at_ns
  FROM delays GROUP BY culprit
  HAVING union_duration(from_ns, to_ns) >= $min_total_ms * 1000000
), services AS ( -- the program of the same company that computed most at the same time
  SELECT culprit, first_value(name || ' (' || pid || ')' ORDER BY cpu_ns DESC) AS name, max(cpu_ns) AS cpu_ns
  FROM (
    SELECT c.culprit, k.name, k.pid, sum(s.weight_ns) AS cpu_ns
    FROM culprits c JOIN makers k ON k.company = c.company
    JOIN cpu_sample s ON s.process_key = k.process_key
    WHERE s.ts_ns BETWEEN c.from_ns AND c.to_ns AND NOT s.is_idle
    GROUP BY c.culprit, k.name, k.pid)
  WHERE cpu_ns >= $min_total_ms * 1000000
  GROUP BY culprit
)
SELECT d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns,
  coalesce(' (' || nullif(concat_ws(', ', c.company, nullif(c.product_name, c.company)), '') || ')', '') AS product,
  coalesce('; ' || s.name || ' used ' || round(s.cpu_ns / 1e9, 2) || ' s in that time', '') AS service,
  union_duration(d.from_ns, d.to_ns) AS cost_ns, min(d.from_ns) AS from_ns, max(d.to_ns) AS to_ns,
  c.stack_id, c.thread_key, c.at_ns
FROM delays d JOIN culprits c ON c.culprit = d.culprit LEFT JOIN services s ON s.culprit = d.culprit
GROUP BY d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns, c.stack_id, c.thread_key, c.at_ns, c.company,
  c.product_name, s.name, s.cpu_ns
ORDER BY c.total_ns DESC, d.culprit, cost_ns DESC, d.process_key
