-- Packets are lost and have to be sent again
-- card: 24
-- sentence: {victim} lost {total} since packets to {culprit} had to be sent again: {count|once|# times}, up to {longest} without any data
-- why: TCP notices only after a while that a packet was lost. It waits for 300 ms at first and twice as long each time, and the connection
--   carries no data until then.
-- fix: Look for the place where packets are lost: Wi-Fi, a cable, a VPN, a firewall or a line that is full (pktmon, dump tcp).
-- not proved: That the program waited for this connection in that time, or had data for it: a connection without any is also silent.
-- needs: net_io
-- pieces: culprit, process_key, from_ns, to_ns FROM silent
-- evidence: dump net --process {pid}
-- spot: network --process {pid} --remote-address {culprit}
-- param min_single_ms: float = 100 – without data around a packet that was sent again; where others arrive, it hurts little
-- param min_total_ms: float = 300 – a smaller total goes unnoticed
-- param min_count: int = 2 – a single lost packet is usual
WITH lossy AS ( -- connections that sent something again
  SELECT DISTINCT process_key, remote_address, remote_port, local_port FROM net_io
  WHERE protocol = 'tcp' AND kind = 'retransmit' AND process_key IS NOT NULL
), moments AS ( -- of these connections
  SELECT n.process_key, n.remote_address, n.remote_port, n.local_port, n.ts_ns,
    bool_or(n.kind = 'retransmit') AS is_again, bool_or(n.kind <> 'retransmit') AS is_data
  FROM net_io n JOIN lossy l ON l.process_key = n.process_key AND l.remote_address = n.remote_address AND l.remote_port = n.remote_port
    AND l.local_port = n.local_port
  WHERE n.protocol = 'tcp'
  GROUP BY n.process_key, n.remote_address, n.remote_port, n.local_port, n.ts_ns
), around AS ( -- the last data before, and the first data after it
  SELECT *, max(CASE WHEN is_data THEN ts_ns END) OVER (PARTITION BY process_key, remote_address, remote_port, local_port
      ORDER BY ts_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS from_ns,
    min(CASE WHEN is_data THEN ts_ns END) OVER (PARTITION BY process_key, remote_address, remote_port, local_port
      ORDER BY ts_ns DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS to_ns
  FROM moments
), silent AS ( -- TCP would have sent a packet again by twice that time: a longer silence has another reason
  SELECT remote_address AS culprit, process_key, from_ns, max(least(to_ns, ts_ns + (ts_ns - from_ns))) AS to_ns
  FROM around WHERE is_again AND to_ns IS NOT NULL
  GROUP BY remote_address, remote_port, local_port, process_key, from_ns
  HAVING max(least(to_ns, ts_ns + (ts_ns - from_ns))) - from_ns >= $min_single_ms * 1000000
), culprits AS (
  SELECT culprit, union_duration(from_ns, to_ns) AS total_ns, count(*) AS count, max(to_ns - from_ns) AS longest_ns,
    first_value(from_ns ORDER BY to_ns - from_ns DESC, from_ns) AS at_ns
  FROM silent GROUP BY culprit
)
SELECT s.culprit, s.process_key, c.total_ns, c.count, c.longest_ns, union_duration(s.from_ns, s.to_ns) AS cost_ns,
  min(s.from_ns) AS from_ns, max(s.to_ns) AS to_ns, CAST(NULL AS INT) AS stack_id, CAST(NULL AS INT) AS thread_key, c.at_ns
FROM silent s JOIN culprits c ON c.culprit = s.culprit
WHERE c.total_ns >= $min_total_ms * 1000000 AND c.count >= $min_count
GROUP BY s.culprit, s.process_key, c.total_ns, c.count, c.longest_ns, c.at_ns
ORDER BY c.total_ns DESC, s.culprit, cost_ns DESC, s.process_key
