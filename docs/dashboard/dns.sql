-- DNS timeouts: names for which a server did not answer in time, or that were not found.
SELECT lower(q.name) AS name, count(*) AS queries, count(DISTINCT q.run_id) AS runs,
       count(*) FILTER (WHERE q.is_timed_out) AS timed_out, count(*) FILTER (WHERE q.status <> 0) AS failed,
       sum(q.duration_ns) AS duration_ns, max(q.duration_ns) AS max_duration_ns
FROM dns_query q
GROUP BY lower(q.name)
HAVING count(*) FILTER (WHERE q.is_timed_out) > 0 OR count(*) FILTER (WHERE q.status <> 0) > 0
ORDER BY timed_out DESC, duration_ns DESC NULLS LAST, name
