-- CPU is known from context switches alone
-- card: 21
-- severity: note
-- sentence: This trace has context switches but {culprit}: {run_ns} of CPU is known by thread, not by function
-- why: A context switch has the stack with which a thread went on, not the stacks in which it then computed. CPU by
--   function that is derived from it is wrong if a function computes for long without waiting.
-- fix: Also record samples (keyword PROFILE of the kernel logger, with stacks).
-- not proved: Which function computed.
-- needs: context_switch
-- evidence: dump cpu
-- spot: cpu-precise
-- param min_run_ms: float = 100 – where nothing computed, there is nothing to attribute to functions
WITH sums AS (
  SELECT sum(s.run_ns) AS run_ns, count(*) AS count, min(s.in_ns) AS from_ns, max(s.out_ns) AS to_ns
  FROM context_switch s JOIN process p ON p.process_key = s.process_key
  WHERE p.pid <> 0 AND s.run_ns IS NOT NULL
)
SELECT 'no CPU samples' AS culprit, CAST(NULL AS INT) AS process_key, CAST(NULL AS BIGINT) AS cost_ns,
  CAST(NULL AS BIGINT) AS total_ns, s.count, CAST(NULL AS BIGINT) AS longest_ns, s.run_ns, s.from_ns, s.to_ns,
  CAST(NULL AS INT) AS stack_id, CAST(NULL AS INT) AS thread_key, s.from_ns AS at_ns
FROM sums s
WHERE s.run_ns >= $min_run_ms * 1000000
  AND NOT EXISTS (SELECT 1 FROM topic WHERE topic = 'CPU samples' AND is_recorded)
  -- Where samples were enabled and none came, `samples-missing` says so.
  AND NOT EXISTS (SELECT 1 FROM logger WHERE is_of_trace AND '+' || kernel_keywords || '+' LIKE '%+PROFILE+%')
