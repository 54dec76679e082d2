-- The longest wait of the program that matters most
-- sentence: {culprit}, {why}, {waited} {cost} {ended} in its busiest thread ({tid})
-- needs: waits
-- evidence: dump wait --process {pid} --thread {tid} --chain --all-waits
-- spot: ask wait --process {pid} --thread {tid} --chain --all-waits
WITH focused AS (
  SELECT process_key, sum(duration_ns) AS focus_ns FROM focus_change WHERE level = 'process' AND process_key IS NOT NULL GROUP BY process_key
), ran AS (
  SELECT process_key, thread_key, sum(run_ns) AS run_ns FROM context_switch WHERE process_key IS NOT NULL GROUP BY process_key, thread_key
), program AS ( -- what had the focus longest; else what computed most, of programs that do not belong to Windows if there is one
  SELECT p.process_key, max(f.focus_ns) AS focus_ns, sum(r.run_ns) AS run_ns,
    bool_or(lower(m.path) NOT LIKE '%\\windows\\%') AS is_own
  FROM process p JOIN ran r ON r.process_key = p.process_key LEFT JOIN focused f ON f.process_key = p.process_key
  LEFT JOIN module m ON m.process_key = p.process_key AND lower(m.name) = lower(p.name)
  WHERE p.pid NOT IN (0, 4)
  GROUP BY p.process_key
  ORDER BY focus_ns DESC NULLS LAST, is_own DESC NULLS LAST, run_ns DESC NULLS LAST, p.process_key
  LIMIT 1
), working AS ( -- its thread that computed most: others may wait for work all the time
  SELECT r.thread_key, g.focus_ns, g.is_own FROM ran r JOIN program g ON g.process_key = r.process_key
  ORDER BY r.run_ns DESC NULLS LAST, r.thread_key
  LIMIT 1
), waits AS ( -- one that was still open lasted at least until the end
  SELECT w.process_key, w.thread_key, w.last_out_ns, w.is_open_wait,
    coalesce(w.wait_ns, CASE WHEN w.is_open_wait THEN e.end_ns - w.last_out_ns END) AS length_ns
  FROM context_switch w JOIN working k ON k.thread_key = w.thread_key
  CROSS JOIN (SELECT least(min(range_end_ns), max(kernel_end_ns), max(duration_ns)) AS end_ns FROM trace) e
  WHERE w.is_open_wait OR w.in_ns IS NOT NULL
)
SELECT coalesce(p.name, 'process') || ' (' || p.pid || ')' AS culprit, CASE WHEN k.focus_ns > 0 THEN 'the program in the foreground'
    WHEN k.is_own THEN 'the busiest program that is not a part of Windows' ELSE 'the busiest program' END AS why,
  CASE WHEN w.is_open_wait THEN 'had been waiting for' ELSE 'waited up to' END AS waited,
  CASE WHEN w.is_open_wait THEN 'when the recording ended,' ELSE 'at a time' END AS ended,
  t.tid, w.process_key, w.length_ns AS cost_ns, w.length_ns AS longest_ns, w.thread_key, w.last_out_ns AS at_ns
FROM waits w JOIN working k ON k.thread_key = w.thread_key JOIN process p ON p.process_key = w.process_key
JOIN thread t ON t.thread_key = w.thread_key
WHERE w.length_ns > 0
ORDER BY w.length_ns DESC, w.last_out_ns
LIMIT 1
