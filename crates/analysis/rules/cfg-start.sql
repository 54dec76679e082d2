-- Programs start slowly because of Control Flow Guard
-- card: 3
-- sentence: {victim} spent {total} of CPU time starting {culprit}, where the kernel prepared Control
--   Flow Guard, {count|1 start|# starts}
-- why: When a program starts, the kernel computes which functions of its executable may be called through pointers. In
--   some versions of Windows 10 that takes time with the square of the number of functions.
-- fix: Build executables that are started often, such as tests, without /guard:cf, put their code into a library,
--   which is prepared once only, and update Windows.
-- not proved: That the time grows with the square of the number of functions: that takes executables of several sizes.
-- needs: cpu_sample, samples with stacks, process
-- names: nt*krnl*.exe
-- pieces: culprit, process_key, from_ns, to_ns FROM delays
-- evidence: dump start --process {culprit}
-- evidence: dump cpu --process {pid} --methods '*!Mi*Cfg*;*!NtCreateUserProcess' --include-dll
-- shows: how long these starts took, and the CPU of the starts of all programs; the finding is the part of this CPU
--   that is for {culprit}
-- spot: flame --weight cpu --process {pid} --method '*!Mi*Cfg*;*!NtCreateUserProcess'
-- param min_single_ms: float = 20 – for one start; a small executable takes less than 1 ms
-- param min_total_ms: float = 100 – a smaller total goes unnoticed
WITH hits AS (
  SELECT process_key, thread_key, stack_id, ts_ns - weight_ns AS from_ns, ts_ns AS to_ns, weight_ns
  FROM cpu_sample
  WHERE NOT is_idle AND NOT is_dpc_isr AND process_key IS NOT NULL
    AND stack_contains(stack_id, 'nt*!Mi*Cfg*')
    AND stack_contains(stack_id, '*!NtCreateUserProcess*;*!PspAllocateProcess*;*!NtCreateProcess*')
), starts AS ( -- the process that the thread starts next
  SELECT h.thread_key, h.to_ns, min(p.start_ns) AS start_ns
  FROM hits h JOIN process p ON p.creator_thread_key = h.thread_key
  WHERE p.start_ns BETWEEN h.to_ns AND h.to_ns + 30000000000
  GROUP BY h.thread_key, h.to_ns
), delays AS (
  SELECT h.*, p.name AS culprit, p.process_key AS child_key
  FROM hits h
  JOIN starts s ON s.thread_key = h.thread_key AND s.to_ns = h.to_ns
  JOIN process p ON p.creator_thread_key = h.thread_key AND p.start_ns = s.start_ns
), children AS (
  SELECT culprit, child_key, sum(weight_ns) AS cpu_ns, min(from_ns) AS from_ns,
    first_value(stack_id ORDER BY from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY from_ns, thread_key) AS thread_key
  FROM delays GROUP BY culprit, child_key
), longest AS (
  SELECT culprit, max(cpu_ns) AS longest_ns, count(*) AS count,
    first_value(stack_id ORDER BY cpu_ns DESC, from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY cpu_ns DESC, from_ns, thread_key) AS thread_key,
    first_value(from_ns ORDER BY cpu_ns DESC, from_ns, thread_key) AS at_ns
  FROM children GROUP BY culprit
), culprits AS (
  SELECT d.culprit, l.longest_ns, l.count, l.stack_id, l.thread_key, l.at_ns,
    union_duration(d.from_ns, d.to_ns) AS total_ns
  FROM delays d JOIN longest l ON l.culprit = d.culprit
  GROUP BY d.culprit, l.longest_ns, l.count, l.stack_id, l.thread_key, l.at_ns
)
SELECT d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns,
  union_duration(d.from_ns, d.to_ns) AS cost_ns, min(d.from_ns) AS from_ns, max(d.to_ns) AS to_ns,
  c.stack_id, c.thread_key, c.at_ns
FROM delays d JOIN culprits c ON c.culprit = d.culprit
WHERE c.total_ns >= $min_total_ms * 1000000 AND c.longest_ns >= $min_single_ms * 1000000
GROUP BY d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns, c.stack_id, c.thread_key, c.at_ns
ORDER BY c.total_ns DESC, d.culprit, cost_ns DESC, d.process_key
