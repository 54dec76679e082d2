-- Processors run slower than they could while a program computes
-- card: 24
-- severity: note
-- sentence: {victim} computed on processors at {mhz} of {nominal} MHz, which took about {total} of its {used} of CPU time
-- why: A processor lowers its speed when it is hot, when its power is limited (battery, energy saver, firmware, dock) or when the power
--   plan asks for it. The same work takes longer then.
-- fix: Look at the power plan and its maximum processor state, at the power supply, and at temperature and fans. Update the firmware.
-- not proved: Why they were slow: Windows also slows programs whose windows are hidden or that ask for efficiency (EcoQoS), which no
--   event shows. That the work would take less by exactly this time: memory and disks do not get faster with the processor.
-- needs: cpu_frequency
-- evidence: dump cores --table processes --process {pid}
-- spot: flame --weight cpu --process {pid}
-- param min_cpu_ms: float = 1000 – of CPU time; less is soon over
-- param min_lost_percent: float = 30 – of the CPU time; speeds also vary a little on healthy machines
-- param min_busy_percent: float = 80 – of one processor: with less to do, Windows saves energy on purpose
-- param max_low_priority: int = 4 – of a thread in efficiency or background mode, which Windows slows to save energy
-- param max_low_percent: float = 50 – of the running time at this priority
-- param min_measured_percent: float = 80 – of the CPU time, whose speed was recorded
WITH used AS ( -- speeds are relative to the nominal one of each kind of core
  SELECT process_key, sum(cpu_ns) AS cpu_ns, sum(cpu_ns - normalized_ns) AS lost_ns, sum(measured_ns) AS measured_ns,
    sum(mean_mhz * cpu_ns) AS mhz_ns, sum(nominal_mhz * cpu_ns) AS nominal_mhz_ns, min(first_ns) AS from_ns, max(last_ns) AS to_ns
  FROM cpu_class
  WHERE process_key IS NOT NULL AND normalized_ns IS NOT NULL AND mean_mhz IS NOT NULL AND nominal_mhz IS NOT NULL
  GROUP BY process_key
), low AS ( -- without context switches, nothing is known about priorities
  SELECT process_key, sum(run_ns) AS run_ns, sum(CASE WHEN priority <= $max_low_priority THEN run_ns ELSE 0 END) AS low_ns
  FROM cpu_class_priority
  WHERE process_key IS NOT NULL
  GROUP BY process_key
), slow AS (
  SELECT u.*
  FROM used u JOIN process p ON p.process_key = u.process_key LEFT JOIN low l ON l.process_key = u.process_key
  WHERE p.pid <> 0 AND u.cpu_ns >= $min_cpu_ms * 1000000
    AND u.lost_ns >= $min_lost_percent / 100 * u.cpu_ns
    AND u.cpu_ns >= $min_busy_percent / 100 * (u.to_ns - u.from_ns)
    AND u.measured_ns >= $min_measured_percent / 100 * u.cpu_ns
    AND coalesce(l.low_ns <= $max_low_percent / 100 * l.run_ns, true)
), total AS (
  SELECT CAST(sum(lost_ns) AS BIGINT) AS total_ns, CAST(sum(cpu_ns) AS BIGINT) AS used_ns, count(*) AS count,
    CAST(round(sum(mhz_ns) / sum(cpu_ns)) AS BIGINT) AS mhz, CAST(round(sum(nominal_mhz_ns) / sum(cpu_ns)) AS BIGINT) AS nominal
  FROM slow
)
SELECT 'processor frequency' AS culprit, s.process_key, CAST(NULL AS BIGINT) AS cost_ns, t.total_ns, t.used_ns, t.count,
  CAST(NULL AS BIGINT) AS longest_ns, t.mhz, t.nominal, s.from_ns, s.to_ns, CAST(NULL AS INT) AS stack_id,
  CAST(NULL AS INT) AS thread_key, s.from_ns AS at_ns
FROM slow s CROSS JOIN total t
ORDER BY s.lost_ns DESC, s.process_key
