-- Writers wait, since too much is in the cache that is not on the disk
-- card: 24
-- sentence: {victim} waited {total} until it could write into {culprit}, {count|once|# times up to {longest}}
-- why: Windows keeps written data in memory and writes it to the disk later. If a program writes faster than the disk for long, the cache has
--   too much of that data, and each further write waits until the disk has some of it.
-- fix: Write less or slower, past the cache (FILE_FLAG_NO_BUFFERING) or through it (FILE_FLAG_WRITE_THROUGH), or to a faster disk.
-- not proved: Who filled the cache: writers of all programs wait (dump file shows the bytes of each).
-- needs: waits with stacks
-- names: nt*krnl*.exe
-- pieces: culprit, process_key, from_ns, to_ns FROM delays
-- evidence: dump wait --process {pid} --method '*CcCanIWrite*;*CcpCanIWrite*' --details
-- spot: flame --weight wait --process {pid} --method '*CcCanIWrite*;*CcpCanIWrite*'
-- param min_total_ms: float = 200 – a smaller total goes unnoticed
WITH delays AS (
  SELECT 'the cache of written data' AS culprit, process_key, thread_key, stack_id, last_out_ns AS from_ns,
    coalesce(in_ns, readied_ns) AS to_ns, wait_ns
  FROM context_switch
  WHERE wait_ns > 0 AND process_key IS NOT NULL AND stack_contains(stack_id, 'nt*krnl*.exe!CcCanIWrite*;nt*krnl*.exe!CcpCanIWrite*')
), culprits AS (
  SELECT culprit, union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(wait_ns) AS longest_ns,
    first_value(stack_id ORDER BY wait_ns DESC, from_ns, thread_key) AS stack_id,
    first_value(thread_key ORDER BY wait_ns DESC, from_ns, thread_key) AS thread_key,
    first_value(from_ns ORDER BY wait_ns DESC, from_ns, thread_key) AS at_ns
  FROM delays GROUP BY culprit
)
SELECT d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns, union_duration(d.from_ns, d.to_ns) AS cost_ns,
  min(d.from_ns) AS from_ns, max(d.to_ns) AS to_ns, c.stack_id, c.thread_key, c.at_ns
FROM delays d JOIN culprits c ON c.culprit = d.culprit
WHERE c.total_ns >= $min_total_ms * 1000000
GROUP BY d.culprit, d.process_key, c.total_ns, c.count, c.longest_ns, c.stack_id, c.thread_key, c.at_ns
ORDER BY c.total_ns DESC, d.culprit, cost_ns DESC, d.process_key
