//! The columns of each sub command.

use serde_json::{Map, Value};

use super::cell::Cell::{self, *};

/// Titles and cells.
type Columns = &'static [(&'static str, Cell)];

/// Sub commands that have columns.
#[cfg(test)]
pub(super) const ALL: &[&str] = &["cpu", "process", "disk", "file", "version", "pmc", "lbr"];

/// The columns of a row of that sub command, in parts.
pub(super) fn of(dump: &str, row: &Map<String, Value>) -> Option<&'static [Columns]> {
    Some(match dump {
        "cpu" if row.contains_key("kind") => &[METHOD, READY],
        "cpu" => &[CPU],
        "process" => &[PROCESS],
        "disk" => &[DISK],
        "file" => &[FILE],
        "version" if row.contains_key("module") => &[VERSION],
        "version" => &[PDB],
        "pmc" => &[PMC],
        "lbr" => &[LBR],
        _ => return None,
    })
}

const CPU: Columns = &[
    ("CSVOptions", Line),
    ("TestCase", TestCase),
    ("Date", Date),
    ("Test Time in ms", Empty),
    ("CPU ms", Ms("cpu_ns")),
    ("Average Priority", Is("priority")),
    ("#Cores", Is("core_count")),
    ("Baseline", Empty),
    ("Process", Process("process", "pid")),
    ("ParentPid", Empty),
    ("ProcessName", Is("process")),
    ("Start Time", Time("process_start_ns")),
    ("CommandLine", Is("command_line")),
    ("SourceJsonFile", File),
    ("SourceDirectory", Empty),
    ("IsNewProcess", Has("process_start_ns")),
    ("FileVersion", Is("file_version")),
    ("VersionString", Is("file_version")),
    ("ProductVersion", Empty),
    ("ProductName", Is("product_name")),
    ("Description", Empty),
    ("Directory", Is("module_path")),
];

const METHOD: Columns = &[
    ("CSVOptions", Line),
    ("Test Case", TestCase),
    ("Date", Date),
    ("Test Time in ms", Empty),
    ("Module", Is("module")),
    ("Method", Is("name")),
    ("CPU ms", Ms("cpu_ns")),
    ("Wait ms", Ms("wait_ns")),
    ("Ready ms", Ms("ready_ns")),
    ("Ready Average us", Us("ready_avg_ns")),
    ("CPU ms Efficiency Class 0", Ms("class_0_cpu_ns")),
    ("Average Frequency Efficiency Class 0", Is("class_0_mean_mhz")),
    ("FrequencyRelativeToNominal % Efficiency Class 0", Is("class_0_frequency_percent")),
    ("UsedCores Class 0", Is("class_0_used_cores")),
    ("CPU ms Efficiency Class 1", Ms("class_1_cpu_ns")),
    ("Average Frequency Efficiency Class 1", Is("class_1_mean_mhz")),
    ("FrequencyRelativeToNominal % Efficiency Class 1", Is("class_1_frequency_percent")),
    ("UsedCores Class 1", Is("class_1_used_cores")),
    ("Enabled Cores", Is("class_0_enabled_cores")),
    ("# Threads", Is("threads")),
    ("Average Priority", Is("process_priority")),
    ("Baseline", Empty),
    ("Process", Process("process", "pid")),
    ("ProcessName", Is("process")),
    ("Session", Is("session_id")),
    ("Start Time", Time("process_start_ns")),
    ("StackDepth", Depth("cpu_ns", "depth")),
    ("FirstLastCall Duration in s", Seconds("duration_ns")),
    ("First Call time in s", Seconds("first_ns")),
    ("Last Call time in s", Seconds("last_ns")),
    ("CommandLine", Is("command_line")),
    ("SourceFile", File),
    ("IsNewProcess", Has("process_start_ns")),
    ("Module and Driver Info", Is("module_path")),
];

/// Times ready behind METHOD. ETWAnalyzer has deep-sleep values under the titles of the others in the four columns of sums; these are right.
const READY: Columns = &[
    ("DeepSleep Ready min us", Us("deep_sleep_ready_min_ns")),
    ("NonDeepSleep Ready min us", Us("other_ready_min_ns")),
    ("DeepSleep Ready max us", Us("deep_sleep_ready_max_ns")),
    ("NonDeepSleep Ready max us", Us("other_ready_max_ns")),
    ("DeepSleep Ready 5% Percentile us", Us("deep_sleep_ready_p5_ns")),
    ("NonDeepSleep Ready 5% Percentile us", Us("other_ready_p5_ns")),
    ("DeepSleep Ready 25% Percentile us", Us("deep_sleep_ready_p25_ns")),
    ("NonDeepSleep Ready 25% Percentile us", Us("other_ready_p25_ns")),
    ("DeepSleep Ready 50% Percentile (Median) us", Us("deep_sleep_ready_p50_ns")),
    ("NonDeepSleep Ready 50% Percentile (Median) us", Us("other_ready_p50_ns")),
    ("DeepSleep Ready 90% Percentile us", Us("deep_sleep_ready_p90_ns")),
    ("NonDeepSleep Ready 90% Percentile us", Us("other_ready_p90_ns")),
    ("DeepSleep Ready 95% Percentile us", Us("deep_sleep_ready_p95_ns")),
    ("NonDeepSleep Ready 95% Percentile us", Us("other_ready_p95_ns")),
    ("DeepSleep Ready 99% Percentile us", Us("deep_sleep_ready_p99_ns")),
    ("NonDeepSleep Ready 99% Percentile us", Us("other_ready_p99_ns")),
    ("NonDeepSleep Sum for > 99% Percentile us", Us("other_ready_longest_sum_ns")),
    ("DeepSleep Sum for > 99% Percentile us", Us("deep_sleep_ready_longest_sum_ns")),
    ("NonDeepSleep Sum us", Us("other_ready_sum_ns")),
    ("DeepSleep Sum us", Us("deep_sleep_ready_sum_ns")),
    ("DeepSleep Ready Count", Is("deep_sleep_ready_count")),
    ("NonDeepSleep Ready Count", Is("other_ready_count")),
    ("Context Switch Count", Is("switches")),
];

const PROCESS: Columns = &[
    ("CSVOptions", Line),
    ("TestCase", TestCase),
    ("TestDate", Date),
    ("ProcessName", Is("name")),
    ("ProcessName(pid)", Process("name", "pid")),
    ("Parent ProcessId", Is("parent_pid")),
    ("Session", Is("session_id")),
    ("Return Code", Is("exit_code")),
    ("NewProcess", Has("start_ns")),
    ("Start Time", Time("start_ns")),
    ("End Time", Time("stop_ns")),
    ("LifeTime in minutes", Minutes("duration_ns")),
    ("User", Is("sid")),
    ("CommandLine", Is("command_line")),
    ("Baseline", Empty),
    ("SourceFile", File),
];

const DISK: Columns = &[
    ("CSVOptions", Line),
    ("Date", Date),
    ("TestCase", TestCase),
    ("Test Time in ms", Empty),
    ("Baseline", Empty),
    ("Directory", Is("path")),
    ("DiskTotalTimeIOInus", Us("total_service_ns")),
    ("DiskReadTimeInus", Us("read_service_ns")),
    ("DiskWriteTimeInus", Us("write_service_ns")),
    ("DiskFlushTimeInus", Us("flush_service_ns")),
    ("DiskWrittenBytes", Is("write_bytes")),
    ("DiskReadBytes", Is("read_bytes")),
    ("DiskReadPerf MB/s", Rate("read_bytes", "read_service_ns")),
    ("DiskWritePerf MB/s", Rate("write_bytes", "write_service_ns")),
    ("% Active", Is("active_percent")),
    ("DiskNumber", Empty),
    ("Processes", Process("process", "pid")),
    ("SourceDirectory", Empty),
    ("SourceJsonFile", File),
];

const FILE: Columns = &[
    ("CSVOptions", Line),
    ("Date", Date),
    ("InputDirectory", Empty),
    ("SourceJsonFile", File),
    ("TestCase", TestCase),
    ("Test Time in ms", Empty),
    ("Baseline", Empty),
    ("ProcessName", Is("process")),
    ("Process", Process("process", "pid")),
    ("Session", Is("session_id")),
    ("Start Time", Time("process_start_ns")),
    ("CommandLine", Is("command_line")),
    ("File Directory", Is("path")),
    ("FileName", Is("path")),
    ("Open Count", Is("opens")),
    ("Open Duration us", Us("open_ns")),
    ("Open Status", Is("failure_statuses")),
    ("Close Count", Is("closes")),
    ("Close Duration us", Us("close_ns")),
    ("Read Count", Is("reads")),
    ("Read Duration us", Us("read_ns")),
    ("Read Accessed Bytes", Is("read_bytes")),
    ("Read MaxFilePosition", Is("read_max_position_bytes")),
    ("Write Count", Is("writes")),
    ("Write Duration us", Us("write_ns")),
    ("Write Accessed Bytes", Is("write_bytes")),
    ("Write MaxFilePosition", Is("write_max_position_bytes")),
    ("File Delete Count", Is("deletes")),
    ("File Rename Count", Is("renames")),
];

const VERSION: Columns = &[
    ("CSVOptions", Line),
    ("TestCase", TestCase),
    ("Test Time in ms", Empty),
    ("TestDate", Date),
    ("Process", Process("process", "pid")),
    ("DllName", Is("module")),
    ("Dll Path", Is("path")),
    ("Versions", Is("file_version")),
    ("SourceFile", File),
];

const PDB: Columns = &[
    ("CSVOptions", Line),
    ("TestCase", TestCase),
    ("Test Time in ms", Empty),
    ("TestDate", Date),
    ("PdbName", Is("pdb")),
    ("PdbAge", Is("pdb_age")),
    ("PdbId", Is("pdb_guid")),
    ("SourceFile", File),
];

const PMC: Columns = &[
    ("CSVOptions", Line),
    ("FileName", File),
    ("Date", Date),
    ("TestCase", TestCase),
    ("Test Time in ms", Empty),
    ("Baseline", Empty),
    ("Process", Process("process", "pid")),
    ("ProcessName", Is("process")),
    ("Instructions", Is("instructions")),
    ("Cycles", Is("cycles")),
    ("CPI", Is("cpi")),
    ("CacheMisses", Is("cache_misses")),
    ("LLCReferences", Is("llc_references")),
    ("% Cache Misses", Is("cache_miss_percent")),
    ("Branches", Is("branches")),
    ("BranchMispreditions", Is("branch_mispredictions")),
    ("% BranchMispredictions", Is("branch_mispredict_percent")),
    ("CommandLine", Is("command_line")),
];

const LBR: Columns = &[
    ("CSVOptions", Line),
    ("FileName", File),
    ("Date", Date),
    ("TestCase", TestCase),
    ("Test Time in ms", Empty),
    ("Baseline", Empty),
    ("Process", Process("process", "pid")),
    ("ProcessName", Is("process")),
    ("Caller", Is("caller")),
    ("MethodName", Is("callee")),
    ("Count", Is("count")),
    ("CommandLine", Is("command_line")),
];
