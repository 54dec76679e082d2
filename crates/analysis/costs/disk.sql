-- The disk that was busiest
-- sentence: disk {disk} was busy for {cost}{part}
-- needs: disk I/O
-- evidence: dump disk --per-process
-- spot: disk
WITH files AS (
  SELECT disk, coalesce(path, 'files without a name') AS file,
    sum(read_service_ns + write_service_ns + flush_service_ns) AS file_ns
  FROM disk_file GROUP BY disk, coalesce(path, 'files without a name')
), disks AS (
  SELECT disk, sum(file_ns) AS cost_ns, max(file_ns) AS most_ns, first_value(file ORDER BY file_ns DESC, file) AS file
  FROM files GROUP BY disk
)
SELECT 'disk ' || disk AS culprit, disk, CAST(NULL AS INT) AS process_key, cost_ns,
  -- none of many files that are alike is the reason
  CASE WHEN most_ns >= 0.1 * cost_ns
    THEN ', ' || CAST(round(100.0 * most_ns / cost_ns) AS BIGINT) || ' % of it with ' || file ELSE '' END AS part
FROM disks
ORDER BY cost_ns DESC, disk
LIMIT 1
