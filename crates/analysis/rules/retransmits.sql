-- Packets are lost and have to be sent again
-- card: 24
-- sentence: {victim} lost {total} since packets to {culprit} had to be sent again: {count|once|# times}, up to {longest} without any data
-- why: TCP notices only after a while that a packet was lost: it waits for 300 ms at first and twice as long each time, and the connection
--   carries no data until then.
-- fix: Look for the place where packets are lost: Wi-Fi, a cable, a VPN, a firewall or a line that is full (pktmon, dump tcp).
-- not proved: That the program waited for this connection in that time.
-- needs: net_io
-- pieces: culprit, process_key, from_ns, to_ns FROM silent
-- evidence: dump net --process {pid}
-- param min_single_ms: float = 100 – without data around a packet that was sent again; where others arrive, it hurts little
-- param min_total_ms: float = 300 – a smaller total goes unnoticed
-- param min_count: int = 2 – a single lost packet is usual
WITH again AS (
  SELECT process_key, remote_address, remote_port, local_port, ts_ns FROM net_io
  WHERE protocol = 'tcp' AND kind = 'retransmit' AND process_key IS NOT NULL
), around AS ( -- the last data before, and the first data after it
  SELECT a.process_key, a.remote_address, a.ts_ns, max(CASE WHEN n.ts_ns < a.ts_ns THEN n.ts_ns END) AS from_ns,
    min(CASE WHEN n.ts_ns > a.ts_ns THEN n.ts_ns END) AS to_ns
  FROM again a JOIN net_io n ON n.process_key = a.process_key AND n.remote_address = a.remote_address AND n.remote_port = a.remote_port
    AND n.local_port = a.local_port
  WHERE n.protocol = 'tcp' AND n.kind IN ('send', 'receive', 'connect', 'accept', 'disconnect')
  GROUP BY a.process_key, a.remote_address, a.remote_port, a.local_port, a.ts_ns
), silent AS (
  SELECT remote_address AS culprit, process_key, from_ns, to_ns
  FROM around WHERE to_ns - from_ns >= $min_single_ms * 1000000
  GROUP BY remote_address, process_key, from_ns, to_ns
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
