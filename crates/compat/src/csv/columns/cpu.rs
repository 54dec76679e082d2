//! CPU: processes, methods, counters, branches.

use super::Columns;
use crate::csv::cell::Cell::*;

pub(crate) const CPU: Columns = &[
    ("CSVOptions", Line),
    ("TestCase", TestCase),
    ("Date", Date),
    ("Test Time in ms", TestTime),
    ("CPU ms", Ms("cpu_ns")),
    ("Average Priority", Is("priority")),
    ("#Cores", Is("core_count")),
    ("Baseline", Baseline),
    ("Process", Process("process", "pid")),
    ("ParentPid", Is("parent_pid")),
    ("ProcessName", Is("process")),
    ("Start Time", Time("process_start_ns")),
    ("CommandLine", Is("command_line")),
    ("SourceJsonFile", FileName),
    ("SourceDirectory", Directory),
    ("IsNewProcess", Has("process_start_ns")),
];

pub(crate) const METHOD: Columns = &[
    ("CSVOptions", Line),
    ("Test Case", TestCase),
    ("Date", Date),
    ("Test Time in ms", TestTime),
    ("Module", Is("module")),
    ("Method", Is("name")),
    ("CPU ms", Ms("cpu_ns")),
    ("Wait ms", Ms("wait_ns")),
    ("Ready ms", Ms("ready_ns")),
    ("Ready Average us", Us("ready_avg_ns")),
    ("CPU ms Efficiency Class 0", Ms("class_0_cpu_ns")),
    (
        "Average Frequency Efficiency Class 0",
        Is("class_0_mean_mhz"),
    ),
    (
        "FrequencyRelativeToNominal % Efficiency Class 0",
        Is("class_0_frequency_percent"),
    ),
    ("UsedCores Class 0", Is("class_0_used_cores")),
    ("CPU ms Efficiency Class 1", Ms("class_1_cpu_ns")),
    (
        "Average Frequency Efficiency Class 1",
        Is("class_1_mean_mhz"),
    ),
    (
        "FrequencyRelativeToNominal % Efficiency Class 1",
        Is("class_1_frequency_percent"),
    ),
    ("UsedCores Class 1", Is("class_1_used_cores")),
    ("Enabled Cores", Is("class_0_enabled_cores")),
    ("# Threads", Is("threads")),
    ("Average Priority", Is("process_priority")),
    ("Baseline", Baseline),
    ("Process", Process("process", "pid")),
    ("ProcessName", Is("process")),
    ("Session", Is("session_id")),
    ("Start Time", Time("process_start_ns")),
    ("StackDepth", Depth("cpu_ns", "depth")),
    ("FirstLastCall Duration in s", Seconds("duration_ns")),
    ("First Call time in {0}", CallTime("first_ns", 0)),
    ("Last Call time in {1}", CallTime("last_ns", 1)),
    ("CommandLine", Is("command_line")),
    ("SourceFile", Source),
    ("IsNewProcess", Has("process_start_ns")),
    ("Module and Driver Info", Driver("module_path")),
];

/// Ready times after METHOD. In the four columns of sums ETWAnalyzer has the values of deep sleep
/// under the titles of the others; here values and titles agree.
pub(crate) const READY: Columns = &[
    ("DeepSleep Ready Min us", Us("deep_sleep_ready_min_ns")),
    ("NonDeepSleep Ready Min us", Us("other_ready_min_ns")),
    ("DeepSleep Ready Max us", Us("deep_sleep_ready_max_ns")),
    ("NonDeepSleep Ready Max us", Us("other_ready_max_ns")),
    (
        "DeepSleep Ready 5% Percentile us",
        Us("deep_sleep_ready_p5_ns"),
    ),
    (
        "NonDeepSleep Ready 5% Percentile us",
        Us("other_ready_p5_ns"),
    ),
    (
        "DeepSleep Ready 25% Percentile us",
        Us("deep_sleep_ready_p25_ns"),
    ),
    (
        "NonDeepSleep Ready 25% Percentile us",
        Us("other_ready_p25_ns"),
    ),
    (
        "DeepSleep Ready 50% Percentile us (Median)",
        Us("deep_sleep_ready_p50_ns"),
    ),
    (
        "NonDeepSleep Ready 50% Percentile us (Median)",
        Us("other_ready_p50_ns"),
    ),
    (
        "DeepSleep Ready 90% Percentile us",
        Us("deep_sleep_ready_p90_ns"),
    ),
    (
        "NonDeepSleep Ready 90% Percentile us",
        Us("other_ready_p90_ns"),
    ),
    (
        "DeepSleep Ready 95% Percentile us",
        Us("deep_sleep_ready_p95_ns"),
    ),
    (
        "NonDeepSleep Ready 95% Percentile us",
        Us("other_ready_p95_ns"),
    ),
    (
        "DeepSleep Ready 99% Percentile us",
        Us("deep_sleep_ready_p99_ns"),
    ),
    (
        "NonDeepSleep Ready 99% Percentile us",
        Us("other_ready_p99_ns"),
    ),
    (
        "NonDeepSleep Sum for > 99% Percentile us",
        Us("other_ready_longest_sum_ns"),
    ),
    (
        "DeepSleep Sum for > 99% Percentile us",
        Us("deep_sleep_ready_longest_sum_ns"),
    ),
    ("NonDeepSleep Sum us", Us("other_ready_sum_ns")),
    ("DeepSleep Sum us", Us("deep_sleep_ready_sum_ns")),
    ("DeepSleep Ready Count", Is("deep_sleep_ready_count")),
    ("NonDeepSleep Ready Count", Is("other_ready_count")),
    ("Context Switch Count", Is("switches")),
];

pub(crate) const PMC: Columns = &[
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

pub(crate) const LBR: Columns = &[
    ("Process", Process("process", "pid")),
    ("ProcessName", Is("process")),
    ("Caller", Is("caller")),
    ("MethodName", Is("callee")),
    ("Count", Is("count")),
    ("CommandLine", Is("command_line")),
];
