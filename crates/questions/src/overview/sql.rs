//! The SQL of an overview.

pub(super) const TOPICS: &str = "SELECT topic, events FROM topic WHERE is_recorded";

pub(super) const COUNTS: &str = "SELECT what, count, coalesce(more, 0) AS more, of FROM (
SELECT 1 AS at, 'processes' AS what, count(*) AS count, count(start_ns) AS more, 'started in the trace' AS of
  FROM process
UNION ALL SELECT 2, 'threads', count(*), count(start_ns), 'started in the trace' FROM thread
UNION ALL SELECT 3, 'modules', count(*), count(DISTINCT path), 'different files' FROM module
UNION ALL SELECT 4, 'network transfers', count(*), sum(size_bytes), 'bytes' FROM net_io
UNION ALL SELECT 5, 'TCP connections', count(*), NULL, '' FROM tcp_connection
UNION ALL SELECT 6, 'DNS queries', count(*), count(DISTINCT lower(name)), 'names' FROM dns_query
UNION ALL SELECT 7, '.NET collections', count(*), sum(suspended_ns) / 1000, 'us in which programs were suspended'
  FROM gc
UNION ALL SELECT 8, '.NET methods compiled', count(*), NULL, '' FROM jit
UNION ALL SELECT 9, '.NET exceptions', count(*), count(DISTINCT exception_type), 'types' FROM exception
UNION ALL SELECT 10, 'operations on files', sum(count), count(DISTINCT path), 'files' FROM file_file
UNION ALL SELECT 11, 'hard page faults', count(*), sum(size_bytes), 'bytes' FROM hard_fault
UNION ALL SELECT 12, 'marks', count(*), NULL, '' FROM mark
UNION ALL SELECT 13, 'other events', count(*), count(DISTINCT provider_guid), 'providers' FROM generic_event
) WHERE count > 0 ORDER BY at";

pub(super) const PROVIDERS: &str =
    "SELECT coalesce(provider, provider_guid) AS provider, count(*) AS events FROM generic_event
GROUP BY 1 ORDER BY 2 DESC, 1";

pub(super) const NOTES: &str = "SELECT severity, count, position, message FROM diagnostic WHERE severity <> 'info' ORDER BY severity, count DESC";

/// Methods of the whole trace.
pub(super) const METHODS: &str =
    "SELECT p.name AS process, p.pid, c.module, c.method, c.exclusive_ns, c.cpu_ns, c.wait_ns
FROM cpu_method c LEFT JOIN process p ON p.process_key = c.process_key
WHERE c.exclusive_ns > 0 ORDER BY c.exclusive_ns DESC, c.process_key, c.module, c.method";

/// CPU of each module, by path in any case, since Windows ignores the case of paths. Only code that
/// .NET compiled at run time has a name without a file: names of native functions come from the
/// symbols of a module.
pub(super) const MODULES: &str = "SELECT kind, min(module) AS module, min(module_path) AS module_path, sum(exclusive_ns) AS exclusive_ns
FROM (
  SELECT module, module_path, exclusive_ns,
    CASE WHEN module IS NOT NULL THEN 'module' WHEN starts_with(method, '+') OR starts_with(method, '0x') THEN 'unknown' ELSE 'dotnet' END AS kind
  FROM cpu_method
) m
GROUP BY kind, lower(coalesce(module_path, module))
HAVING sum(exclusive_ns) > 0
ORDER BY exclusive_ns DESC, kind, module_path, module";

// A summary has no single rows, so the stored sums are queried wherever there are some. An extract
// that was made of sums can have waits for methods only.
pub(super) const RECORDING: &str = "SELECT file_name, computer, os_name, os_version, processors,
       CLASSES AS core_classes, cpu_mhz, memory_bytes, start_utc, duration_ns, range_start_ns, range_end_ns, events,
       (SELECT count(switches) FROM cpu_process) + (SELECT count(wait_ns) FROM cpu_method) > 0 AS has_switches,
       (SELECT coalesce(sum(samples), 0) + coalesce(max(cpu_ns), 0) FROM cpu_process) > 0 AS has_samples,
       (SELECT count(*) FROM dns_query) > 0 AS has_dns, (SELECT count(*) FROM tcp_connection) > 0 AS has_tcp,
       (SELECT coalesce(sum(failures), 0) FROM syscall_function) > 0 AS has_failed_syscalls,
       (SELECT coalesce(sum(leaked), 0) FROM handle_type) > 0 AS has_leaks,
       (SELECT coalesce(sum(outstanding_bytes), 0) FROM virtual_alloc_process) > 0 AS has_outstanding_memory
FROM trace";
