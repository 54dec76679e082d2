//! Properties of the recording and the machine.

use std::collections::BTreeSet;

use super::trace::TraceInfo;
use super::{Result, ask};
use crate::Session;
use crate::filter::TextFilter;
use crate::question::Format::Word;
use crate::question::{
    Above, Answer, Column, Form, Line, OptionError, Question, Ranked, Sets, Shows, View, option,
};
use crate::test_run::{TestName, TestStatus};

declare! {
    /// Which properties.
    #[derive(Eq)]
    pub request StatsRequest {
        /// Only these properties: names with , ; or blanks between (*, ?, ! excludes)
        properties: Option<String> = option("NAMES"),
        /// All properties of an extract on one line
        one_line: bool = option("").called("one-line").shape(),
    }

    /// A value alone.
    pub row Value {
        value: String = "The value as text.",
    }

    /// A property.
    pub row Property {
        name: String = "Name.",
        value: String = "Value as text; times are UTC.",
    }
}

type PropertyColumn = Column<StatsRequest, Property>;

const PROPERTIES: View<StatsRequest, Property> = View::new(
    &[
        PropertyColumn::new("Name", "Name", Word, |_, row| row.name.clone().into()),
        PropertyColumn::new("Value", "Value", Word, |_, row| row.value.clone().into()),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No)
.with_total(|asked, rows, of_several| {
    let all: Vec<String> = rows.iter().map(|row| format!("{}: {}", row.name, row.value)).collect();
    let line = (asked.one_line && !of_several).then(|| Line::new(format!("  {}", all.join("; "))));
    line.into_iter().collect()
});

/// The names that there are, among what an answer says beside its rows.
const KNOWN: &str = "properties";

impl Question for StatsRequest {
    const NAME: &'static str = "stats";
    const SENTENCE: &'static str = "Properties of the recording and the machine";

    fn form(&self) -> Form<Self> {
        Form::made::<Property>(self.sql(), |asked: &Self, session| {
            let rows = asked.ask(session)?;
            let known = match &asked.properties {
                // Whoever misspelt a name gets a list of those that there are.
                Some(names) if rows.is_empty() && !is_known(names) => Self::default().ask(session)?,
                _ => Vec::new(),
            };
            let known = known.into_iter().map(|property| property.name).collect();
            let shows = if asked.one_line { Shows::Sums } else { Shows::Untitled };
            let answer = Answer::rows(asked, &PROPERTIES, rows).showing(shows);
            Ok(answer.with_sets(Sets::from([(KNOWN, known)])))
        })
    }

    fn compares(&self) -> bool {
        self.properties.is_some()
    }

    /// A name that no extract knows is a mistake. One that they could know and do not is no answer.
    fn across(&self, all: &mut [(&TraceInfo, &mut Answer)]) -> Result<Option<Answer>> {
        if all.iter().any(|(_, answer)| !answer.is_empty()) {
            return Ok(None);
        }
        let known = all.iter().flat_map(|(_, answer)| answer.sets.get(KNOWN)).flatten();
        let known: BTreeSet<&str> = known.map(String::as_str).collect();
        if !known.is_empty() {
            let asked = self.properties.as_deref().unwrap_or_default();
            let known: Vec<&str> = known.into_iter().collect();
            let problem = format!("no such property: {asked:?}; there are: {}", known.join(" "));
            return Err(OptionError::Value { option: "properties", problem }.into());
        }
        for (_, answer) in all {
            answer.above = Above::Nothing;
            answer.parts.clear();
        }
        Ok(None)
    }
}

/// Name of a property and the SQL of its value in `trace`.
const OF_TRACE: &[(&str, &str)] = &[
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

/// Where the file does not say, 0 is no number.
const LOST_EVENTS: &str =
    "CASE WHEN (SELECT count(*) FROM diagnostic WHERE kind = 'loss_unknown') = 0 THEN lost_events END";
const LOST_BUFFERS: &str =
    "CASE WHEN (SELECT count(*) FROM diagnostic WHERE kind = 'loss_unknown') = 0 THEN lost_buffers END";

/// Names that ETWAnalyzer gives to groups of properties or to one that has another name here, and ours.
const OTHER_NAMES: [(&str, &str); 5] = [
    ("Disk", "Disk*;Volume*"),
    ("ModuleVersions", "module_version*"),
    ("BootToSessionStart", "BootToSessionStartS"),
    ("ExtractStartTime", "ExtractStartTimeS"),
    ("ExtractEndTime", "ExtractEndTimeS"),
];

/// Properties that the name of a file gives.
const OF_FILE_NAME: [&str; 4] = ["TestCase", "TestTimeMs", "PerformedAt", "TestStatus"];

/// Properties of machines that only some recordings and extracts have, in any order.
const OF_MACHINE: &[&str] =
    &["UsedExtractOptions", "WinSatOSName", "IsDomainJoined", "MainModuleVersion", "Displays", "Network"];

/// Whether a filter names a property that there is, whether an extract has it or not.
#[must_use]
pub fn is_known(properties: &str) -> bool {
    let filter = filter_of(properties);
    // Names of disks, volumes and modules have a number or letter of the machine; one of each stands for all.
    let others = ["Source", "Disk0", "VolumeC:", "module_version1.name"];
    let of_trace = OF_TRACE.iter().map(|(name, _)| *name);
    let all = of_trace.chain(OF_FILE_NAME).chain(others).chain(OF_MACHINE.iter().copied());
    all.into_iter().any(|name| filter.matches(Some(name)))
}

/// Facts of `system_config` under the names of properties. Those of traces and of imported extracts are
/// called differently.
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

/// How many processors each class has, on machines with several.
pub(super) const CLASSES: &str = "(SELECT string_agg(concat('class ', efficiency_class, ': ', cores), ', ' ORDER BY efficiency_class)
    FROM (SELECT efficiency_class, count(*) AS cores FROM cpu_core WHERE efficiency_class IS NOT NULL GROUP BY efficiency_class)
    HAVING count(*) > 1)";

/// How fast they are without boost.
const CLASS_SPEEDS: &str = "(SELECT string_agg(concat('class ', efficiency_class, ': ', mhz), ', ' ORDER BY efficiency_class)
    FROM (SELECT efficiency_class, max(nominal_mhz) AS mhz FROM cpu_core WHERE efficiency_class IS NOT NULL GROUP BY efficiency_class)
    HAVING count(*) > 1)";

/// A time in units of 100 ns since 1601 as text.
// The constant is the time from 1601 to 1970, where the time stamps of SQL start.
fn utc(filetime: &str) -> String {
    format!(
        "concat(to_char(to_timestamp_micros(({filetime} - 116444736000000000) / 10), '%Y-%m-%dT%H:%M:%S%.6f'), 'Z')"
    )
}

/// What the file name says about a test.
fn of_test(name: TestName) -> Vec<Property> {
    let status = name.status.map(|status| match status {
        TestStatus::Passed => "Passed",
        TestStatus::Failed => "Failed",
    });
    let all = [
        ("TestCase", Some(name.test_case)),
        ("TestTimeMs", Some(name.duration_ms.to_string())),
        ("PerformedAt", name.performed_at.map(|at| at.format("%Y-%m-%dT%H:%M:%S").to_string())),
        ("TestStatus", status.map(str::to_owned)),
    ];
    let property =
        |(name, value): (&str, Option<String>)| Some(Property { name: name.to_owned(), value: value? });
    all.into_iter().filter_map(property).collect()
}

/// The names or patterns of a list of properties.
fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.split([',', ' ', ';']).filter(|entry| !entry.is_empty())
}

/// The patterns that an entry means among our names.
fn of_our_names(entry: &str) -> String {
    let (not, name) = entry.strip_prefix('!').map_or(("", entry), |name| ("!", name));
    match OTHER_NAMES.iter().find(|(theirs, _)| theirs.eq_ignore_ascii_case(name)) {
        None => entry.to_owned(),
        Some((_, ours)) => ours.split(';').map(|one| format!("{not}{one}")).collect::<Vec<_>>().join(";"),
    }
}

/// The filter on our names that a list of names or patterns means.
fn filter_of(properties: &str) -> TextFilter {
    let ours: Vec<String> = entries(properties).map(of_our_names).collect();
    TextFilter::parse(&ours.join(";"))
}

impl StatsRequest {
    /// The question, in which `||` gives nothing where a part is missing: all properties with a value, those
    /// of the machine's parts as `topic.name` or `topic1.name`.
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

    /// Asks. A pattern that no property matches gives no rows.
    ///
    /// # Errors
    /// The query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<Property>> {
        let mut all: Vec<Property> = ask(session, &self.sql())?;
        let file = all.iter().find(|property| property.name == "SourceETLFileName");
        let of_test = file.and_then(|file| TestName::parse(&file.value)).map(of_test).unwrap_or_default();
        all.splice(0..0, of_test);
        if let Some(filter) = &self.properties {
            let filter = filter_of(filter);
            all.retain(|property| filter.matches(Some(&property.name)));
        }
        Ok(all)
    }
}
