-- A program compiles large methods while it runs
-- card: 30
-- sentence: {victim} spent {total} compiling {count|one method|# methods} at run time, longest {longest} for {culprit}
-- why: .NET compiles a method when it is called first. Long ones, such as static constructors that fill large tables and code that
--   serializers generate, take much longer to compile than to run. The program waits until they are compiled, most often at its start.
-- fix: Read large tables from data in place of code, split the method, let it run only where it is needed (Lazy<T>), or compile the
--   library beforehand (ReadyToRun, NGen).
-- not proved: That a user waited for it: other threads of the program go on while one compiles. That the compiler worked all the
--   time: the runtime also loads the libraries and types that a method names while it compiles it.
-- needs: jit
-- pieces: u.culprit, j.process_key, j.start_ns AS from_ns, j.ts_ns AS to_ns FROM waited j JOIN large u ON u.process_key = j.process_key
-- evidence: dump jit --process {pid} --details
-- shows: single methods, and their sum; the finding counts methods at the same time once, without those that the runtime
--   compiles in the background
-- spot: jit --process {pid}
-- param min_single_ms: float = 50 – of one method; a usual one takes less than 5 ms
-- param min_large_ms: float = 10 – of a method that is large; many of them cost as much as one of 50 ms
-- param min_total_ms: float = 200 – of all methods of a program that has a method of 50 ms, or of its large methods
-- param min_many_ms: float = 1000 – of all methods, where few are large
-- param min_burst_ms: float = 400 – of all methods, where the program does little else from the first one to the last
-- param min_burst_percent: float = 60 – of that time
WITH background AS ( -- threads of a runtime that compile methods again, while the older code runs
  SELECT thread_key FROM jit
  GROUP BY thread_key
  HAVING 2 * sum(CASE WHEN tier IN ('tier1', 'tier1_instrumented') THEN 1 ELSE 0 END) > count(*)
), waited AS ( -- what other threads compile, and need before they can go on
  SELECT j.* FROM jit j LEFT JOIN background b ON b.thread_key = j.thread_key
  WHERE b.thread_key IS NULL AND j.duration_ns IS NOT NULL AND j.process_key IS NOT NULL
), compiled AS (
  SELECT process_key, union_duration(start_ns, ts_ns) AS cost_ns, max(duration_ns) AS longest_ns,
    sum(CASE WHEN duration_ns >= $min_large_ms * 1000000 THEN duration_ns ELSE 0 END) AS large_ns,
    min(start_ns) AS from_ns, max(ts_ns) AS to_ns, first_value(method ORDER BY duration_ns DESC, start_ns) AS culprit
  FROM waited
  GROUP BY process_key
), large AS (
  SELECT * FROM compiled
  WHERE cost_ns >= $min_total_ms * 1000000 AND (longest_ns >= $min_single_ms * 1000000 OR large_ns >= $min_total_ms * 1000000)
    OR cost_ns >= $min_many_ms * 1000000
    OR cost_ns >= $min_burst_ms * 1000000 AND cost_ns >= $min_burst_percent / 100 * (to_ns - from_ns)
), totals AS ( -- processes of one program can have the same longest method
  SELECT l.culprit, union_duration(w.start_ns, w.ts_ns) AS total_ns, count(*) AS count, max(w.duration_ns) AS longest_ns,
    first_value(w.start_ns ORDER BY w.duration_ns DESC, w.start_ns) AS at_ns,
    first_value(w.thread_key ORDER BY w.duration_ns DESC, w.start_ns) AS thread_key
  FROM large l JOIN waited w ON w.process_key = l.process_key
  GROUP BY l.culprit
)
SELECT l.culprit, l.process_key, t.total_ns, l.cost_ns, t.count, t.longest_ns, l.from_ns, l.to_ns,
  CAST(NULL AS INT) AS stack_id, t.thread_key, t.at_ns
FROM large l JOIN totals t ON t.culprit = l.culprit
ORDER BY t.total_ns DESC, l.culprit, l.cost_ns DESC, l.process_key
