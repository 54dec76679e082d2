-- A program needs more cycles for the same instructions while another one runs
-- card: 14
-- sentence: {victim} ran {total} longer while {culprit} was running: {cpi} cycles per instruction instead of {alone_cpi}
-- why: Processors share caches and memory. A program that fills them makes others wait for memory, which looks like
--   computing: the CPU time grows while the instructions stay the same.
-- fix: Do not let the two run at the same time, or measure again without the other one before you compare runs.
-- not proved: That the other program is the cause: the two may only be busy at the same times.
-- needs: pmc, context_switch
-- evidence: dump pmc --process {pid} --range {at_s}..{at_end_s}
-- evidence: dump pmc --process {pid}
-- shows: one time with {culprit}, and the mean of all times; without {culprit} it is {alone_cpi}
-- spot: ask pmc --process {pid}
-- param min_total_ms: float = 100 – less is noise of any measurement
-- param min_change_percent: float = 10 – more cycles per instruction; less comes and goes with frequency and input
-- param min_correlation: float = 0.7 – between the share of the other one and the cycles per instruction
-- param min_slices: int = 8 – fewer correlate by chance
-- param min_slice_ms: float = 5 – in shorter ones the caches fill, whether or not the other one runs
WITH counters AS (
  SELECT min(CASE WHEN name IN ('InstructionRetired', 'InstructionsRetiredFixed') THEN position END) AS instructions,
    min(CASE WHEN name IN ('TotalCycles', 'UnhaltedCoreCycles', 'UnhaltedCoreCyclesFixed') THEN position END) AS cycles
  FROM pmc_counter WHERE position IS NOT NULL
), counted AS (
  SELECT p.process_key, p.thread_key, p.ts_ns - p.run_ns AS from_ns, p.ts_ns AS to_ns, p.run_ns, p.stack_id,
    CASE c.instructions WHEN 0 THEN value_0 WHEN 1 THEN value_1 WHEN 2 THEN value_2 WHEN 3 THEN value_3
      WHEN 4 THEN value_4 WHEN 5 THEN value_5 WHEN 6 THEN value_6 END AS instructions,
    CASE c.cycles WHEN 0 THEN value_0 WHEN 1 THEN value_1 WHEN 2 THEN value_2 WHEN 3 THEN value_3
      WHEN 4 THEN value_4 WHEN 5 THEN value_5 WHEN 6 THEN value_6 END AS cycles
  FROM pmc p CROSS JOIN counters c
  WHERE p.run_ns >= $min_slice_ms * 1000000
), slices AS ( -- long ones, of processes that have enough of them
  SELECT s.*, CAST(s.cycles AS DOUBLE) / s.instructions AS cpi
  FROM counted s JOIN process p ON p.process_key = s.process_key
  WHERE s.instructions > 0 AND s.cycles > 0 AND p.pid <> 0
    AND (SELECT count(*) FROM counted o WHERE o.process_key = s.process_key) >= $min_slices
), others AS (
  SELECT process_key, in_ns, out_ns FROM context_switch
  WHERE run_ns >= 1000000 AND in_ns IS NOT NULL AND out_ns IS NOT NULL
), beside AS ( -- how much of a slice another process ran, too
  SELECT s.process_key, s.from_ns, o.process_key AS other_key,
    sum(least(s.to_ns, o.out_ns) - greatest(s.from_ns, o.in_ns)) AS beside_ns
  FROM slices s JOIN others o ON o.in_ns < s.to_ns AND o.out_ns > s.from_ns
  WHERE o.process_key <> s.process_key
  GROUP BY s.process_key, s.from_ns, o.process_key
), pairs AS (SELECT DISTINCT process_key, other_key FROM beside), shares AS (
  SELECT s.*, q.other_key, least(1.0, coalesce(b.beside_ns, 0) * 1.0 / s.run_ns) AS share
  FROM slices s JOIN pairs q ON q.process_key = s.process_key
  LEFT JOIN beside b ON b.process_key = s.process_key AND b.from_ns = s.from_ns AND b.other_key = q.other_key
), alone AS (
  SELECT process_key, other_key, sum(cycles) * 1.0 / sum(instructions) AS cpi
  FROM shares WHERE share < 0.1 GROUP BY process_key, other_key
), found AS (
  SELECT h.process_key, h.other_key, a.cpi AS alone_cpi, corr(h.share, h.cpi) AS correlation,
    sum(CASE WHEN h.share >= 0.5 THEN h.cycles END) * 1.0
      / sum(CASE WHEN h.share >= 0.5 THEN h.instructions END) AS cpi,
    -- also for slices that the other one shared only in part: their counters are measured as a whole
    CAST(sum(CASE WHEN h.share >= 0.1 THEN h.run_ns * (1 - a.cpi / h.cpi) END) AS BIGINT) AS cost_ns,
    count(CASE WHEN h.share >= 0.5 THEN 1 END) AS count,
    max(CASE WHEN h.share >= 0.5 THEN h.run_ns END) AS longest_ns,
    min(CASE WHEN h.share >= 0.5 THEN h.from_ns END) AS from_ns,
    max(CASE WHEN h.share >= 0.5 THEN h.to_ns END) AS to_ns,
    first_value(h.stack_id ORDER BY CASE WHEN h.share >= 0.5 THEN h.run_ns ELSE 0 END DESC, h.from_ns) AS stack_id,
    first_value(h.thread_key ORDER BY CASE WHEN h.share >= 0.5 THEN h.run_ns ELSE 0 END DESC, h.from_ns) AS thread_key,
    first_value(h.from_ns ORDER BY CASE WHEN h.share >= 0.5 THEN h.run_ns ELSE 0 END DESC, h.from_ns) AS at_ns
  FROM shares h JOIN alone a ON a.process_key = h.process_key AND a.other_key = h.other_key
  GROUP BY h.process_key, h.other_key, a.cpi
), best AS (
  SELECT *, row_number() OVER (PARTITION BY process_key ORDER BY correlation DESC, other_key) AS place FROM found
  WHERE correlation >= $min_correlation AND cpi >= alone_cpi * (1 + $min_change_percent / 100)
    AND cost_ns >= $min_total_ms * 1000000
)
SELECT coalesce(p.name, 'process') || ' (' || p.pid || ')' AS culprit, b.process_key,
  max(b.cost_ns) OVER (PARTITION BY b.other_key) AS total_ns, b.count, b.longest_ns, b.cost_ns,
  round(b.cpi, 2) AS cpi, round(b.alone_cpi, 2) AS alone_cpi, b.from_ns, b.to_ns, b.stack_id, b.thread_key, b.at_ns,
  CAST(CAST(ceil(b.at_ns / 1e3) / 1e6 AS DECIMAL(18, 6)) AS VARCHAR) AS at_s,
  CAST(CAST(ceil((b.at_ns + b.longest_ns) / 1e3) / 1e6 AS DECIMAL(18, 6)) AS VARCHAR) AS at_end_s
FROM best b JOIN process p ON p.process_key = b.other_key
WHERE b.place = 1
ORDER BY total_ns DESC, b.other_key, b.cost_ns DESC, b.process_key
