-- The disk that was busiest
-- sentence: disk {disk} was busy for {cost}, {file_ns} of it with {file}
-- needs: disk I/O
-- evidence: dump disk --per-process
WITH files AS (
  SELECT disk, coalesce(path, 'files without a name') AS file,
    sum(read_service_ns + write_service_ns + flush_service_ns) AS file_ns
  FROM disk_file GROUP BY disk, coalesce(path, 'files without a name')
)
SELECT 'disk ' || disk AS culprit, disk, CAST(NULL AS INT) AS process_key, sum(file_ns) AS cost_ns, max(file_ns) AS file_ns,
  first_value(file ORDER BY file_ns DESC, file) AS file
FROM files GROUP BY disk
ORDER BY cost_ns DESC, disk
LIMIT 1
