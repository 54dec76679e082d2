-- Threads that wait in a loop keep processors from others
-- card: 10
-- sentence: {is_alone|{culprit} kept processors busy for {total} with threads that waited in a loop|{victim} lost
--   {total} of processors to threads of {culprit} that waited in a loop} ({how}), which took {spin_ns} of CPU in all
-- why: OpenMP threads stay on their processors for a while when a parallel region is over, to start the next one
--   sooner. Threads that call SwitchToThread or Sleep(0) again and again also keep theirs. Others then get their turn late.
-- fix: Set OMP_WAIT_POLICY=PASSIVE or KMP_BLOCKTIME=0 in the environment of {culprit}, or give it fewer threads
--   (OMP_NUM_THREADS); in own code wait for an event instead of asking in a loop.
-- not proved: That the loop could have been left sooner: a thread in it may have waited for something that was near.
-- needs: context_switch, cpu_sample, samples with stacks
-- needs to exclude: waits
-- names: ntdll.dll or kernelbase.dll or nt*krnl*.exe
-- evidence: dump cpu --process {culprit_pid} --methods '*' --include-dll --top-methods 20
-- evidence: dump ready --process {pid}
-- shows: the CPU of {culprit} by function, and who ran while others were ready; the finding counts the times in which a
--   loop ran in place of them
-- spot: flame --weight cpu --process {culprit_pid}
-- param min_share_percent: float = 20 – of the CPU of its process; a little waiting in loops is usual and cheap
-- param min_total_ms: float = 100 – a smaller total goes unnoticed
-- param min_alone_percent: float = 50 – of the CPU of its process: then most of its CPU is wasted
-- param min_alone_ms: float = 1000 – of wasted CPU: as much as a person would see in a list of programs by CPU
-- param min_wasted_ms: float = 20 – that others lost to a program that wastes so much: a pause that a person notices
-- param min_ready_us: float = 500 – shorter turns of others are everyday scheduling
-- param min_run_us: float = 50 – a thread that looks once and sleeps again keeps no other thread off
WITH hits AS (
  SELECT process_key, thread_key, stack_id, sum(weight_ns) AS cpu_ns
  FROM cpu_sample WHERE NOT is_idle AND NOT is_dpc_isr AND process_key IS NOT NULL
  GROUP BY process_key, thread_key, stack_id
), suspects AS ( -- stacks that have a runtime of OpenMP, a yield or a sleep in them: a thread that sleeps has no samples
  SELECT stack_id,
    -- What the recording of a call costs is no loop.
    stack_contains(stack_id, '*!*NtYieldExecution*;*!SwitchToThread*;*!NtDelayExecution*')
      AND NOT stack_contains(stack_id, '*!PerfInfoLogSysCall*') AS yields,
    stack_contains(stack_id, '*!NtDelayExecution*') AS sleeps
  FROM (SELECT DISTINCT stack_id FROM hits)
  WHERE stack_contains(stack_id, 'libiomp5*;libomp*;vcomp*;libgomp*;*!__kmp_*;*!gomp_*;*!*NtYieldExecution*;*!SwitchToThread*;*!NtDelayExecution*')
), own AS ( -- the innermost frame that belongs neither to the kernel nor to the libraries below every program
  SELECT f.stack_id, f.depth, lower(m.name) AS module, n.name AS method
  FROM suspects s
  JOIN stack_frame f ON f.stack_id = s.stack_id
  JOIN frame r ON r.frame_id = f.frame_id
  JOIN module m ON m.module_id = r.module_id
  LEFT JOIN method n ON n.method_id = r.method_id
  WHERE m.process_key IS NOT NULL AND lower(m.name) NOT IN ('ntdll.dll', 'kernelbase.dll', 'kernel32.dll')
), spins AS (
  SELECT s.stack_id, first_value(o.module ORDER BY o.depth) AS module,
    first_value(o.method ORDER BY o.depth) AS method, bool_or(s.yields) AS yields, bool_or(s.sleeps) AS sleeps
  FROM suspects s LEFT JOIN own o ON o.stack_id = s.stack_id
  GROUP BY s.stack_id
), loops AS (
  -- A runtime that is linked into the program is known by the names of its functions.
  SELECT *, module LIKE 'libiomp5%' OR module LIKE 'libomp%' OR module LIKE 'vcomp%' OR module LIKE 'libgomp%'
    OR coalesce(method LIKE '\_\_kmp\_%' OR method LIKE 'gomp\_%', false) AS is_openmp
  FROM spins
), threads AS (
  SELECT h.process_key, h.thread_key, sum(h.cpu_ns) AS cpu_ns,
    sum(CASE WHEN l.is_openmp OR l.yields THEN h.cpu_ns ELSE 0 END) AS spin_ns,
    coalesce(max(CASE WHEN l.is_openmp THEN 'OpenMP, ' || l.module END), max(CASE WHEN l.sleeps THEN 'Sleep' END)) AS runtime,
    first_value(CASE WHEN l.is_openmp OR l.yields THEN h.stack_id END ORDER BY
      CASE WHEN l.is_openmp OR l.yields THEN h.cpu_ns ELSE 0 END DESC) AS stack_id
  FROM hits h LEFT JOIN loops l ON l.stack_id = h.stack_id
  GROUP BY h.process_key, h.thread_key
), spinners AS (
  -- By the alphabet OpenMP precedes Sleep.
  SELECT process_key, sum(spin_ns) AS spin_ns, min(runtime) AS runtime, 100.0 * sum(spin_ns) / sum(cpu_ns) AS share,
    first_value(stack_id ORDER BY spin_ns DESC) AS stack_id
  FROM threads GROUP BY process_key
  HAVING sum(spin_ns) >= $min_share_percent / 100 * sum(cpu_ns) AND sum(spin_ns) >= $min_total_ms * 1000000
), looping AS ( -- threads whose turns were mostly such waiting
  SELECT t.thread_key, s.process_key, s.spin_ns, s.runtime, s.stack_id
  FROM threads t JOIN spinners s ON s.process_key = t.process_key
  WHERE t.spin_ns >= 0.5 * t.cpu_ns AND t.spin_ns > 0
), slices AS ( -- slices of these threads, and which of them come after a gap
  SELECT l.process_key, w.in_ns, w.out_ns, w.priority,
    CASE WHEN w.in_ns <= max(w.out_ns) OVER (PARTITION BY l.process_key, w.priority ORDER BY w.in_ns, w.out_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) + 100000 THEN 0 ELSE 1 END AS is_new
  FROM looping l JOIN context_switch w ON w.thread_key = l.thread_key
  WHERE w.run_ns >= $min_run_us * 1000 AND w.in_ns IS NOT NULL AND w.out_ns IS NOT NULL
), numbered AS (
  SELECT *, sum(is_new) OVER (PARTITION BY process_key, priority ORDER BY in_ns, out_ns) AS spell FROM slices
), spells AS ( -- times in which one of them had a processor
  SELECT process_key, priority, min(in_ns) AS from_ns, max(out_ns) AS to_ns FROM numbered
  GROUP BY process_key, priority, spell
), ready AS (
  SELECT process_key, thread_key, in_ns - ready_ns AS from_ns, in_ns AS to_ns, priority
  FROM context_switch
  WHERE ready_ns >= $min_ready_us * 1000 AND in_ns IS NOT NULL AND process_key IS NOT NULL
    AND thread_key NOT IN (SELECT thread_key FROM looping)
), wasted AS ( -- times of samples in such loops, of programs that do little else, and which of them come after a gap
  SELECT s.process_key, s.spin_ns, s.runtime, x.thread_key, x.stack_id, x.ts_ns - x.weight_ns AS from_ns, x.ts_ns AS to_ns,
    CASE WHEN x.ts_ns - x.weight_ns <= max(x.ts_ns) OVER (PARTITION BY s.process_key ORDER BY x.ts_ns - x.weight_ns, x.ts_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) THEN 0 ELSE 1 END AS is_new
  FROM spinners s JOIN cpu_sample x ON x.process_key = s.process_key JOIN loops l ON l.stack_id = x.stack_id
  -- A thread that sleeps lets others run: it wastes only what others lose.
  WHERE s.share >= $min_alone_percent AND (l.is_openmp OR l.yields AND NOT l.sleeps) AND NOT x.is_idle AND NOT x.is_dpc_isr
), wasters AS (
  SELECT process_key, union_duration(from_ns, to_ns) AS cost_ns FROM wasted
  GROUP BY process_key
  HAVING union_duration(from_ns, to_ns) >= $min_alone_ms * 1000000
), delays AS (
  -- A loop of higher priority is left out: threads of lower priority are meant to stand back.
  SELECT r.process_key, r.thread_key, s.process_key AS culprit_key, s.spin_ns, s.runtime, s.stack_id,
    greatest(r.from_ns, t.from_ns) AS from_ns, least(r.to_ns, t.to_ns) AS to_ns,
    least(r.to_ns, t.to_ns) - greatest(r.from_ns, t.from_ns) AS ready_ns
  FROM ready r JOIN spells t ON t.from_ns < r.to_ns AND t.to_ns > r.from_ns
  JOIN spinners s ON s.process_key = t.process_key
  -- What a program does to itself is its own choice.
  WHERE t.priority <= r.priority AND r.process_key <> s.process_key
), culprits AS (
  SELECT culprit_key, union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(ready_ns) AS longest_ns,
    first_value(stack_id ORDER BY ready_ns DESC, from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY ready_ns DESC, from_ns, thread_key) AS thread_key,
    first_value(from_ns ORDER BY ready_ns DESC, from_ns, thread_key) AS at_ns
  FROM delays GROUP BY culprit_key
  HAVING union_duration(from_ns, to_ns) >= $min_total_ms * 1000000
    OR union_duration(from_ns, to_ns) >= $min_wasted_ms * 1000000
      AND culprit_key IN (SELECT process_key FROM wasters)
), numbered_wasted AS (
  SELECT *, sum(is_new) OVER (PARTITION BY process_key ORDER BY from_ns, to_ns
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS spell FROM wasted
), wasted_spells AS ( -- times in which at least one thread was in such a loop
  SELECT process_key, spin_ns, runtime, min(from_ns) AS from_ns, max(to_ns) AS to_ns,
    first_value(thread_key ORDER BY from_ns, thread_key) AS thread_key,
    first_value(stack_id ORDER BY from_ns, thread_key) AS stack_id
  FROM numbered_wasted GROUP BY process_key, spin_ns, runtime, spell
), alone AS ( -- where no other program waits for the processors, only the time and the energy are wasted
  SELECT w.process_key, w.cost_ns, count(*) AS count, max(s.to_ns - s.from_ns) AS longest_ns, s.spin_ns, s.runtime,
    min(s.from_ns) AS from_ns, max(s.to_ns) AS to_ns,
    first_value(s.stack_id ORDER BY s.to_ns - s.from_ns DESC, s.from_ns) AS stack_id,
    first_value(s.thread_key ORDER BY s.to_ns - s.from_ns DESC, s.from_ns) AS thread_key,
    first_value(s.from_ns ORDER BY s.to_ns - s.from_ns DESC, s.from_ns) AS at_ns
  FROM wasters w JOIN wasted_spells s ON s.process_key = w.process_key
  WHERE w.process_key NOT IN (SELECT culprit_key FROM culprits)
  GROUP BY w.process_key, w.cost_ns, s.spin_ns, s.runtime
), lost AS (
  SELECT d.culprit_key, d.process_key, 0 AS is_alone, c.total_ns, c.count, c.longest_ns, max(d.spin_ns) AS spin_ns,
    max(d.runtime) AS runtime, union_duration(d.from_ns, d.to_ns) AS cost_ns, min(d.from_ns) AS from_ns,
    max(d.to_ns) AS to_ns, c.stack_id, c.thread_key, c.at_ns
  FROM delays d JOIN culprits c ON c.culprit_key = d.culprit_key
  GROUP BY d.culprit_key, d.process_key, c.total_ns, c.count, c.longest_ns, c.stack_id, c.thread_key, c.at_ns
  UNION ALL
  SELECT process_key AS culprit_key, CAST(NULL AS INT) AS victim_key, 1 AS is_alone, cost_ns AS total_ns, count, longest_ns,
    spin_ns, runtime, cost_ns, from_ns, to_ns, stack_id, thread_key, at_ns
  FROM alone
)
SELECT coalesce(p.name, 'process') || ' (' || p.pid || ')' AS culprit, r.process_key, r.total_ns, r.count, r.longest_ns,
  p.pid AS culprit_pid, r.is_alone, r.spin_ns, coalesce(r.runtime, 'SwitchToThread') AS how, r.cost_ns, r.from_ns,
  r.to_ns, r.stack_id, r.thread_key, r.at_ns
FROM lost r JOIN process p ON p.process_key = r.culprit_key
ORDER BY r.total_ns DESC, culprit, r.cost_ns DESC, r.process_key
