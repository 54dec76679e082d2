-- CPU samples were enabled and none was written
-- card: 33
-- severity: note
-- sentence: CPU samples were enabled (PROFILE) and none was written: a driver or the virtual machine may keep the profile interrupt{machine}{drivers}
-- why: One program at a time can use the profile interrupt of a processor. Profilers of other vendors, some antivirus drivers and many
--   virtual machines keep it for themselves. The recording works otherwise, and shows CPU by thread, not by function.
-- fix: Stop the other profiler or unload its driver; in a virtual machine, let the host pass performance counters through. Then record
--   again for a second, and look for samples before the long recording.
-- not proved: Which driver holds the interrupt: drivers of other companies than Microsoft are only candidates.
-- needs: context_switch
-- evidence: dump cpu
-- evidence of module: dump version --dll "*.sys"
-- spot: cpu-precise
-- param min_run_ms: float = 100 – of processes, from which samples would have come
-- param max_named: int = 8 – drivers in the sentence
WITH sums AS (
  SELECT sum(s.run_ns) AS run_ns, count(*) AS count, min(s.in_ns) AS from_ns, max(s.out_ns) AS to_ns
  FROM context_switch s JOIN process p ON p.process_key = s.process_key
  WHERE p.pid <> 0 AND s.run_ns IS NOT NULL
), drivers AS (
  SELECT lower(name) AS name, min(company) AS company, row_number() OVER (ORDER BY lower(name)) AS place, count(*) OVER () AS total
  FROM module
  WHERE process_key IS NULL AND lower(name) LIKE '%.sys' AND company <> '' AND company NOT LIKE 'Microsoft%'
  GROUP BY lower(name)
), named AS (
  SELECT string_agg(name || ' (' || company || ')', ', ' ORDER BY name) AS names, max(total) AS total
  FROM drivers WHERE place <= CAST($max_named AS BIGINT)
)
SELECT 'no CPU samples' AS culprit, CAST(NULL AS INT) AS process_key, CAST(NULL AS BIGINT) AS cost_ns,
  CAST(NULL AS BIGINT) AS total_ns, s.count, CAST(NULL AS BIGINT) AS longest_ns, s.run_ns, s.from_ns, s.to_ns,
  CASE WHEN (SELECT bool_or(is_virtual_machine) FROM trace) THEN '. This machine is virtual' ELSE '' END AS machine,
  coalesce('. Drivers of other companies: ' || n.names ||
    CASE WHEN n.total > CAST($max_named AS BIGINT) THEN ', and ' || (n.total - CAST($max_named AS BIGINT)) || ' more' ELSE '' END, '') AS drivers,
  CAST(NULL AS INT) AS stack_id, CAST(NULL AS INT) AS thread_key, s.from_ns AS at_ns
FROM sums s CROSS JOIN named n
WHERE s.run_ns >= $min_run_ms * 1000000
  AND EXISTS (SELECT 1 FROM logger WHERE is_of_trace AND '+' || kernel_keywords || '+' LIKE '%+PROFILE+%')
  AND NOT EXISTS (SELECT 1 FROM topic WHERE topic = 'CPU samples' AND is_recorded)
