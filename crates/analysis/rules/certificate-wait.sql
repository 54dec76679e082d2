-- Checking a signature waits for a server
-- card: 24
-- sentence: {victim} waited {total} while the chain of a certificate was checked, {count|once|# times up to {longest}}:
--   usually for a {culprit}
-- why: To check a signature, Windows may ask a server whether the certificate was revoked, or fetch a certificate. If that
--   server cannot be reached, each attempt waits for its timeout, usually 15 s.
-- fix: Let the machine reach the server (proxy, firewall), give it the revocation lists, or let the program check without asking
--   (CERT_CHAIN_REVOCATION_CHECK_CACHE_ONLY; for .NET generatePublisherEvidence).
-- not proved: That a server was waited for, and which one: names that were looked up at that time show it (dump dns), if
--   they were recorded.
-- needs: waits with stacks
-- names: crypt32.dll
-- pieces: culprit, process_key, from_ns, to_ns FROM waits
-- evidence: dump wait --process {named_pid} --method '*CertGetCertificateChain*;*CryptRetrieveObjectByUrl*;*CertVerifyRevocation*' --details
-- evidence: dump wait --process {named_pid} --method '*CertGetCertificateChain*;*CryptRetrieveObjectByUrl*;*CertVerifyRevocation*' --chain
-- evidence: dump wait --process {nameless_pid} --method 'cryptnet.dll*' --details
-- evidence: dump wait --process {nameless_pid} --method 'cryptnet.dll*' --chain
-- evidence of dns_query: dump dns --process {pid}
-- spot: flame --weight wait --process {nameless_pid} --module cryptnet.dll
-- spot: flame --weight wait --process {pid} --method '*CertGetCertificateChain*;*CryptRetrieveObject*;crypt32.dll*'
-- param min_single_ms: float = 500 – a server that answers does so within half a second
-- param max_gap_ms: float = 5 – a thread that goes on waiting after less than this is in the same wait: it only looked at its progress
WITH parts AS (
  SELECT process_key, thread_key, stack_id, last_out_ns AS from_ns, coalesce(in_ns, readied_ns) AS to_ns, wait_ns, is_named
  FROM (
    SELECT *,
      stack_contains(stack_id, '*!CertGetCertificateChain*;*!CryptRetrieveObjectByUrl*;*!CertVerifyRevocation*') AS is_named
    FROM context_switch WHERE wait_ns > 0)
  -- Without names the library that fetches from servers is enough, since nothing else uses it.
  WHERE is_named OR stack_contains(stack_id, 'cryptnet.dll+*')
), firsts AS (
  SELECT *, CASE WHEN from_ns - lag(to_ns) OVER (PARTITION BY thread_key ORDER BY from_ns) <= $max_gap_ms * 1000000
    THEN 0 ELSE 1 END AS is_first FROM parts
), numbered AS (
  SELECT *, sum(is_first) OVER (PARTITION BY thread_key ORDER BY from_ns) AS number FROM firsts
), whole AS (
  SELECT *, sum(wait_ns) OVER (PARTITION BY thread_key, number) AS whole_ns,
    min(from_ns) OVER (PARTITION BY thread_key, number) AS start_ns
  FROM numbered
), waits AS (
  SELECT 'revocation server' AS culprit, * FROM whole WHERE whole_ns >= $min_single_ms * 1000000
), total AS (
  SELECT union_duration(from_ns, to_ns) AS total_ns, sum(is_first) AS count, max(whole_ns) AS longest_ns,
    first_value(stack_id ORDER BY whole_ns DESC, start_ns, thread_key, wait_ns DESC) AS stack_id,
    first_value(thread_key ORDER BY whole_ns DESC, start_ns, thread_key) AS thread_key,
    first_value(start_ns ORDER BY whole_ns DESC, start_ns, thread_key) AS at_ns FROM waits
)
SELECT w.culprit, w.process_key, t.total_ns, t.count, t.longest_ns, union_duration(w.from_ns, w.to_ns) AS cost_ns,
  min(w.from_ns) AS from_ns, max(w.to_ns) AS to_ns, t.stack_id,
  t.thread_key, t.at_ns,
  CASE WHEN bool_or(w.is_named) THEN max(v.pid) END AS named_pid,
  CASE WHEN bool_or(NOT w.is_named) THEN max(v.pid) END AS nameless_pid
FROM waits w CROSS JOIN total t LEFT JOIN process v ON v.process_key = w.process_key
GROUP BY w.culprit, w.process_key, t.total_ns, t.count, t.longest_ns, t.stack_id, t.thread_key, t.at_ns
ORDER BY cost_ns DESC, w.process_key
