-- Bytes and transfers of each process over TCP and UDP.
-- param process: text = '' – only processes that fit, as for process_match
SELECT /*+ n.trace_id, */ p.name AS process, p.pid, n.protocol,
       count(*) FILTER (WHERE n.kind = 'send') AS sends, sum(CASE WHEN n.kind = 'send' THEN n.size_bytes ELSE 0 END) AS sent_bytes,
       count(*) FILTER (WHERE n.kind = 'receive') AS receives,
       sum(CASE WHEN n.kind = 'receive' THEN n.size_bytes ELSE 0 END) AS received_bytes,
       count(*) FILTER (WHERE n.kind IN ('connect', 'accept')) AS connections,
       count(*) FILTER (WHERE n.kind = 'retransmit') AS retransmits, count(DISTINCT n.remote_address) AS remote_addresses
FROM net_io n LEFT JOIN process p ON p.process_key = n.process_key /*+ AND p.trace_id = n.trace_id */
WHERE process_match(p.name, p.pid, $process)
GROUP BY /*+ n.trace_id, */ n.process_key, p.name, p.pid, n.protocol
ORDER BY sent_bytes + received_bytes DESC, n.process_key, n.protocol /*+ , n.trace_id */
