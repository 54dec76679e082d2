//! The SQL of properties of a trace.

use super::{StatsRequest, utc};

/// Name of a property and the SQL of its value in `trace`.
pub(crate) const OF_TRACE: &[(&str, &str)] = &[
    ("SourceETLFileName", "file_name"),
    ("Files", "files"),
    ("SizeBytes", "size_bytes"),
    ("SessionName", "session_name"),
    ("Machine", "computer"),
    ("OSName", "os_name"),
    ("OSVersion", "os_version"),
    (
        "OSBuild",
        "coalesce((SELECT max(value) FROM system_config WHERE topic = 'machine' AND name = 'build_lab'),
  nullif(split_part(os_version, '.', 3), ''))",
    ),
    ("OSRevision", "os_revision"),
    ("VirtualMachine", "CASE WHEN is_virtual_machine THEN 'yes' WHEN NOT is_virtual_machine THEN 'no' END"),
    // Millions of bytes, as everywhere.
    ("MemorySizeMB", "memory_bytes / 1000000"),
    ("NumberOfProcessors", "processors"),
    ("EfficiencyClasses", CLASSES),
    ("CPUSpeedMHz", "cpu_mhz"),
    ("CPUSpeedByClassMHz", CLASS_SPEEDS),
    ("CPUVendor", "(SELECT min(vendor) FROM cpu_core)"),
    ("CPUName", "(SELECT min(name) FROM cpu_core)"),
    ("CPUProcessorGroups", "(SELECT nullif(count(DISTINCT processor_group), 0) FROM cpu_core)"),
    (
        "HyperThreading",
        "(SELECT CASE WHEN bool_or(is_hyper_threaded) THEN 'on' WHEN NOT bool_or(is_hyper_threaded) THEN 'off' END FROM cpu_core)",
    ),
    (
        "Model",
        "(SELECT string_agg(value, ' ' ORDER BY name) FROM system_config WHERE topic = 'platform' AND name IN ('manufacturer', 'product'))",
    ),
    ("AdDomain", "(SELECT max(value) FROM system_config WHERE topic = 'cpu' AND name = 'domain_name')"),
    ("PointerSize", "pointer_size"),
    ("SessionStart", "start_utc"),
    ("SessionEnd", "end_utc"),
    ("SessionDurationS", "duration_ns / 1000000000"),
    ("TimeZoneBiasMinutes", "time_zone_bias_minutes"),
    ("ExtractStartTimeS", "range_start_ns / 1e9"),
    ("ExtractEndTimeS", "range_end_ns / 1e9"),
    ("BootTime", "boot_utc"),
    ("BootToSessionStartS", "(start_filetime - boot_filetime) / 10000000"),
    ("Clock", "clock"),
    ("SampleIntervalUs", "sample_interval_ns / 1000"),
    // An imported extract does not know how many there were.
    ("Events", "nullif(events, 0)"),
    ("LostEvents", LOST_EVENTS),
    ("LostBuffers", LOST_BUFFERS),
];

/// Lost events. If the file does not give their number, 0 is not a number but a missing one.
const LOST_EVENTS: &str = "CASE WHEN (SELECT count(*) FROM diagnostic WHERE kind = 'loss_unknown') = 0 THEN lost_events END";

const LOST_BUFFERS: &str = "CASE WHEN (SELECT count(*) FROM diagnostic WHERE kind = 'loss_unknown') = 0 THEN lost_buffers END";

/// Facts of `system_config` under the names of properties. Traces and imported extracts have
/// different names for them.
const FACTS: &str = "SELECT 50 AS at,
  CASE replace(lower(name), '_', '') WHEN 'winsatosname' THEN 'WinSatOSName'
  WHEN 'isdomainjoined' THEN 'IsDomainJoined' ELSE 'UsedExtractOptions' END AS name, value FROM system_config
WHERE replace(lower(name), '_', '') IN ('winsatosname', 'isdomainjoined', 'usedextractoptions')
UNION ALL
SELECT 51, 'MainModuleVersion', value FROM system_config
WHERE topic = 'main_module_version' AND name = 'version'
UNION ALL
SELECT 52, 'Displays', concat_ws(', ', max(value) FILTER (WHERE name = 'display_name'),
  concat_ws(' x ', max(value) FILTER (WHERE name = 'horizontal_resolution'),
    max(value) FILTER (WHERE name = 'vertical_resolution')),
  max(value) FILTER (WHERE name = 'graphics_card_memory_size_mi_b') || ' MiB')
FROM system_config WHERE topic = 'video' GROUP BY item
UNION ALL
SELECT 53, 'Network', concat_ws(', ', max(value) FILTER (WHERE name IN ('description', 'nic_description')),
  nullif(max(value) FILTER (WHERE name IN ('mac', 'physical_address')), ''),
  'address ' || nullif(max(value) FILTER (WHERE name IN ('addresses', 'ip_addresses')), ''),
  'DNS ' || nullif(max(value) FILTER (WHERE name IN ('dns', 'dns_server_addresses')), ''))
FROM system_config WHERE topic IN ('nic', 'nics') GROUP BY item";

/// Number of processors of each class, on machines with several classes.
pub(crate) const CLASSES: &str = "(SELECT string_agg(concat('class ', efficiency_class, ': ', cores), ', ' ORDER BY efficiency_class)
    FROM (SELECT efficiency_class, count(*) AS cores FROM cpu_core WHERE efficiency_class IS NOT NULL GROUP BY efficiency_class)
    HAVING count(*) > 1)";

/// Nominal speed of each class, without boost.
const CLASS_SPEEDS: &str = "(SELECT string_agg(concat('class ', efficiency_class, ': ', mhz), ', ' ORDER BY efficiency_class)
    FROM (SELECT efficiency_class, max(nominal_mhz) AS mhz FROM cpu_core WHERE efficiency_class IS NOT NULL GROUP BY efficiency_class)
    HAVING count(*) > 1)";

impl StatsRequest {
    /// Returns the SQL for all properties with a value; those of the machine's parts are named
    /// `topic.name` or `topic1.name`. `||` gives null if a part is missing.
    #[must_use]
    pub fn sql(&self) -> String {
        let of_trace: Vec<String> = (0..)
            .zip(OF_TRACE)
            .map(|(at, (name, value)): (i32, _)| {
                format!("SELECT {at} AS at, '{name}' AS name, CAST({value} AS VARCHAR) AS value FROM traced")
            })
            .collect();
        format!(
            "WITH traced AS (
  SELECT *, {boot} AS boot_utc, {end} AS end_utc FROM trace
)
SELECT name, value FROM (
SELECT -1 AS at, 'Source' AS name, path AS value FROM extract
UNION ALL
{}
UNION ALL
{FACTS}
UNION ALL
SELECT 100, concat('Disk', disk), concat_ws(', ', model, CAST(size_bytes / 1073741824 AS VARCHAR) || ' GiB',
  'drive ' || boot_drive_letter, CASE WHEN is_write_cache_enabled THEN 'write cache on'
  WHEN NOT is_write_cache_enabled THEN 'write cache off' END) FROM disk
UNION ALL
SELECT 101, concat('Volume', coalesce(drive, nt_path, '')), concat_ws(', ', file_system,
  CAST(free_bytes / 1073741824 AS VARCHAR) || ' of ' || CAST(size_bytes / 1073741824 AS VARCHAR) || ' GiB free') FROM volume
UNION ALL
SELECT 110, concat('Fact.', name), value FROM machine_fact
UNION ALL
SELECT 200 + item, concat(topic, CASE WHEN item > 0 THEN CAST(item AS VARCHAR) ELSE '' END, '.', name), value FROM system_config
)
WHERE value IS NOT NULL AND value <> ''
ORDER BY at, name, value",
            of_trace.join("\nUNION ALL\n"),
            boot = format_args!("CASE WHEN boot_filetime IS NOT NULL THEN {} END", utc("boot_filetime")),
            end = utc("(start_filetime + duration_ns / 100)"),
        )
    }
}
