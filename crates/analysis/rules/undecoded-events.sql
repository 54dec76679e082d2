-- Events of a provider cannot be decoded
-- card: 8
-- severity: note
-- sentence: Nothing describes {count} events of the provider {culprit} ({share_percent} of the trace): they cannot be read
-- why: Events of a provider with a manifest carry bare values. Their layout is in the manifest on the machine that
--   registered it, or in records that the recorder adds when it merges a trace; here neither is available.
-- fix: Name the manifest of the provider when you extract (--manifest), merge the trace on the machine that recorded it, or
--   leave the provider out.
-- not proved: That these events matter for your question.
-- needs: generic_event
-- evidence: dump events --provider {culprit}
-- spot: events --provider {name}
-- spot: events --provider-guid {guid}
-- param min_events: int = 100 – a handful of unknown events is in every trace
WITH counts AS (
  SELECT coalesce(provider, provider_guid) AS culprit, count(*) AS count,
    max(provider) AS name, CASE WHEN max(provider) IS NULL THEN max(provider_guid) END AS guid,
    min(ts_ns) AS from_ns, max(ts_ns) AS to_ns
  FROM generic_event
  WHERE described_by IS NULL OR described_by = 'names'
  GROUP BY coalesce(provider, provider_guid)
  HAVING count(*) >= $min_events
)
SELECT c.culprit, CAST(NULL AS INT) AS process_key, CAST(NULL AS BIGINT) AS cost_ns, CAST(NULL AS BIGINT) AS total_ns,
  c.count, CAST(NULL AS BIGINT) AS longest_ns, round(100.0 * c.count / nullif(t.events, 0), 2) AS share_percent,
  c.from_ns, c.to_ns, CAST(NULL AS INT) AS stack_id, CAST(NULL AS INT) AS thread_key, c.from_ns AS at_ns,
  c.name, c.guid
FROM counts c CROSS JOIN trace t
ORDER BY c.count DESC, c.culprit
