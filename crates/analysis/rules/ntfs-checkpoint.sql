-- File operations waited for a checkpoint of NTFS
-- card: 11
-- sentence: {victim} waited {total} while NTFS wrote a checkpoint of the volume ({culprit}),
--   {count|once|# times up to {longest}}
-- why: From time to time a thread of System writes a checkpoint of the volume, and holds the volume until it is done. After
--   many files were deleted, it has long lists to go through, and each operation that needs the volume waits for it.
-- fix: Let the lists be worked off before what is measured or hurried: delete many files earlier and wait a few
--   seconds, or delete and write on different volumes.
-- not proved: Which deletions made the lists long; they can be older than the trace.
-- needs: waits with stacks
-- names: ntfs.sys
-- pieces: 'NtfsCheckpointVolume' AS culprit, process_key, from_ns, to_ns FROM delays
-- evidence: dump wait --process {pid} --method 'Ntfs*' --details
-- spot: flame --weight wait --process {pid} --method '*!Ntfs*'
-- param min_single_ms: float = 10 – a checkpoint that has little to do holds the volume for less than that
-- param min_total_ms: float = 50 – a smaller total goes unnoticed
WITH direct AS ( -- the thread that wrote the checkpoint ended the wait
  SELECT process_key, thread_key, stack_id, last_out_ns AS from_ns, coalesce(in_ns, readied_ns) AS to_ns, wait_ns
  FROM context_switch
  WHERE wait_ns >= 1000000 AND NOT is_readied_by_dpc
    AND stack_contains(readying_stack_id, '*!NtfsCheckpointVolume*')
    AND NOT stack_contains(stack_id, '*!NtfsCheckpoint*Volume*')
), holds AS ( -- waits that end with the same checkpoint overlap
  SELECT min(from_ns) AS from_ns, max(to_ns) AS to_ns
  FROM (
    SELECT from_ns, to_ns, sum(is_new) OVER (ORDER BY from_ns, to_ns) AS hold FROM (
      SELECT from_ns, to_ns, CASE WHEN from_ns <= max(to_ns) OVER (
        ORDER BY from_ns, to_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) THEN 0 ELSE 1 END AS is_new
      FROM direct))
  GROUP BY hold
), behind AS ( -- threads that waited for the volume behind one of these
  SELECT w.process_key, w.thread_key, w.stack_id, w.last_out_ns AS from_ns, coalesce(w.in_ns, w.readied_ns) AS to_ns,
    w.wait_ns
  FROM context_switch w CROSS JOIN holds h
  WHERE w.wait_ns >= 1000000 AND w.wait_reason IN (13, 27, 34) AND NOT w.is_readied_by_dpc
    AND least(w.readied_ns, h.to_ns) - greatest(w.last_out_ns, h.from_ns) >= 0.8 * w.wait_ns
    AND stack_contains(w.stack_id, 'ntfs.sys!*;ntfs.sys+*')
    AND NOT stack_contains(w.stack_id, '*!NtfsCheckpoint*Volume*')
    AND NOT stack_contains(w.readying_stack_id, '*!NtfsCheckpointVolume*')
), delays AS (
  SELECT * FROM direct UNION ALL SELECT * FROM behind
), totals AS (
  SELECT union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(wait_ns) AS longest_ns,
    first_value(stack_id ORDER BY wait_ns DESC, from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY wait_ns DESC, from_ns, thread_key) AS thread_key,
    first_value(from_ns ORDER BY wait_ns DESC, from_ns, thread_key) AS at_ns FROM delays
)
SELECT 'NtfsCheckpointVolume' AS culprit, d.process_key, t.total_ns, t.count, t.longest_ns,
  union_duration(d.from_ns, d.to_ns) AS cost_ns, min(d.from_ns) AS from_ns, max(d.to_ns) AS to_ns,
  t.stack_id,
  t.thread_key,
  t.at_ns
FROM delays d CROSS JOIN totals t
WHERE t.total_ns >= $min_total_ms * 1000000 AND t.longest_ns >= $min_single_ms * 1000000
GROUP BY d.process_key, t.total_ns, t.count, t.longest_ns, t.stack_id, t.thread_key, t.at_ns
ORDER BY cost_ns DESC, d.process_key
