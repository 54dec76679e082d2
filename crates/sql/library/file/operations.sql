-- Operations on files by process and kind: how many, how long, how many failed.
-- param process: text = '' – only processes that fit, as for process_match
-- param path: text = '' – only paths that fit, as for wildcard_match
SELECT /*+ f.trace_id, */ p.name AS process, p.pid, f.kind, sum(f.count) AS count, sum(f.duration_ns) AS duration_ns,
       max(f.max_duration_ns) AS max_duration_ns, sum(f.size_bytes) AS size_bytes, sum(f.result_bytes) AS result_bytes,
       sum(f.failures) AS failures, count(DISTINCT f.path) AS files
FROM file_file f LEFT JOIN process p ON p.process_key = f.process_key /*+ AND p.trace_id = f.trace_id */
WHERE process_match(p.name, p.pid, $process) AND wildcard_match(f.path, $path)
GROUP BY /*+ f.trace_id, */ f.process_key, p.name, p.pid, f.kind
ORDER BY duration_ns DESC, f.process_key, f.kind /*+ , f.trace_id */
