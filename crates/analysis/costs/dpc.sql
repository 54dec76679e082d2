-- The driver that took most time in DPCs and interrupts
-- sentence: DPCs and interrupts of {culprit} took {cost}, {count} in all, up to {longest}
-- needs: dpc_isr
-- evidence: dump dpc
-- spot: dpc-isr
SELECT coalesce(m.name, 'an unknown driver') AS culprit, CAST(NULL AS INT) AS process_key, sum(d.duration_ns - d.nested_ns) AS cost_ns,
  count(*) AS count, max(d.duration_ns) AS longest_ns
FROM dpc_isr d JOIN frame r ON r.frame_id = d.frame_id LEFT JOIN module m ON m.module_id = r.module_id
GROUP BY m.name
ORDER BY cost_ns DESC, culprit
LIMIT 1
