//! Extracts of ETWAnalyzer: every dump prints the numbers that are in the JSON.

use std::path::PathBuf;
use std::sync::OnceLock;

use etwkit_testkit::etwanalyzer::{small, write_many};
use serde_json::{Value, json};

use crate::support::{Answer, Exit, run};

/// The extract that the small file becomes, made once.
fn extract() -> &'static str {
    static EXTRACT: OnceLock<String> = OnceLock::new();
    EXTRACT.get_or_init(|| {
        let folder = folder("once");
        let json = small().write_packed(&folder, "Reading_3117msPC-1.20240501-120000");
        let answer = run(&["extract", json.to_str().unwrap()]);
        assert_eq!((answer.exit, answer.err.as_str()), (Exit::Answered, ""));
        assert!(
            answer
                .out
                .contains("imported from an extract of ETWAnalyzer"),
            "{}",
            answer.out
        );
        folder
            .join("Reading_3117msPC-1.20240501-120000.etwx")
            .to_str()
            .unwrap()
            .to_owned()
    })
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("json7z")
        .join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The rows of a dump of the extract.
#[track_caller]
fn dump(args: &[&str]) -> Vec<Value> {
    let answer = run(&[&["dump"], args, &["--json", extract()]].concat());
    assert_eq!(
        (answer.exit, answer.other_errors().as_str()),
        (Exit::Answered, ""),
        "{args:?}: {}",
        answer.out
    );
    answer
        .out
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Some columns of rows.
fn columns(rows: &[Value], names: &[&str]) -> Value {
    Value::Array(
        rows.iter()
            .map(|row| names.iter().map(|name| row[*name].clone()).collect())
            .collect(),
    )
}

#[track_caller]
fn assert_rows(args: &[&str], names: &[&str], expected: &Value) {
    // In whatever order: what is expected stands as people look it up in the file.
    let sorted = |rows: &Value| {
        let mut rows = rows.as_array().unwrap().clone();
        rows.sort_by_key(Value::to_string);
        rows
    };
    let found = columns(&dump(args), names);
    assert_eq!(sorted(&found), sorted(expected), "dump {args:?}: {names:?}");
}

#[track_caller]
fn sql(question: &str) -> Value {
    let answer = run(&["sql", "--format", "json", extract(), question]);
    assert_eq!(answer.other_errors(), "", "{question}");
    let rows = answer
        .out
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    Value::Array(
        rows.map(|row| row.as_object().unwrap().values().cloned().collect())
            .collect(),
    )
}

#[test]
fn processes_have_their_lives() {
    assert_rows(
        &["process"],
        &[
            "pid",
            "name",
            "start_ns",
            "stop_ns",
            "exit_code",
            "parent",
            "session_id",
            "sid",
            "command_line",
        ],
        &json!([
            [
                7,
                "explorer.exe",
                null,
                null,
                null,
                "System",
                null,
                null,
                null
            ],
            [0, "Idle", null, null, null, null, null, null, null],
            [4, "System", null, null, null, "Idle", null, null, null],
            [
                200,
                "worker.exe",
                null,
                9_000_000_000i64,
                -1_073_741_819,
                "explorer.exe",
                1,
                null,
                "worker.exe"
            ],
            [
                100,
                "worker.exe",
                1_000_000_000,
                null,
                null,
                "explorer.exe",
                1,
                "PC-1\\anna",
                "worker.exe --fast"
            ],
        ]),
    );
    assert_rows(&["process", "--crash"], &["pid"], &json!([[200]]));
}

#[test]
fn cpu_of_processes_is_that_of_the_file() {
    // Time of the idle process is no CPU.
    assert_rows(
        &["cpu"],
        &[
            "pid",
            "cpu_ns",
            "priority",
            "cores",
            "core_count",
            "first_ns",
            "last_ns",
        ],
        &json!([
            [4, 40_000_000, null, "", 0, 0, 10_000_000_000i64],
            [200, 250_000_000, 8.0, "3", 1, 500_000_000, 8_000_000_000i64],
            [
                100,
                1_500_000_000,
                8.5,
                "0-2,6",
                4,
                1_000_000_000,
                9_500_000_000i64
            ],
        ]),
    );
}

#[test]
fn costs_of_methods_are_those_of_the_file() {
    let names = [
        "pid",
        "name",
        "module_path",
        "cpu_ns",
        "exclusive_ns",
        "wait_ns",
        "ready_ns",
        "ready_avg_ns",
        "switches",
        "threads",
        "depth",
        "first_ns",
        "last_ns",
    ];
    assert_rows(
        &["cpu", "--methods", "*", "--include-dll"],
        &names,
        &json!([
            [
                200,
                "<UnknownMethod>",
                null,
                20_000_000,
                null,
                0,
                0,
                null,
                null,
                1,
                1.0,
                750_000_000,
                800_000_000
            ],
            [
                200,
                "app.dll!App.Main",
                "C:\\app\\app.dll",
                200_000_000,
                null,
                11_000_000,
                7_000_000,
                null,
                null,
                1,
                4.0,
                500_000_000,
                8_000_000_000i64
            ],
            [
                100,
                "ntdll.dll!NtWaitForSingleObject",
                "C:\\Windows\\System32\\ntdll.dll",
                0,
                null,
                2_500_000_000i64,
                30_000_000,
                90_000,
                900,
                2,
                0.0,
                1_100_000_000,
                9_400_000_000i64
            ],
            [
                100,
                "app.dll+0x1a2b",
                "C:\\app\\app.dll",
                40_000_000,
                null,
                0,
                0,
                0,
                0,
                1,
                0.0,
                2_250_000_000i64,
                2_300_000_000i64
            ],
            [
                100,
                "app.dll!App.Main",
                "C:\\app\\app.dll",
                1_200_000_000,
                null,
                300_000_000,
                20_000_000,
                150_000,
                400,
                3,
                5.0,
                1_000_000_000,
                9_500_000_000i64
            ],
        ]),
    );
    assert_rows(
        &["cpu", "--methods", "*wait*", "--wait", "2s.."],
        &["name", "wait_ns"],
        &json!([["NtWaitForSingleObject", 2_500_000_000i64]]),
    );
    assert_rows(
        &["cpu", "--methods", "*Main", "--process", "100"],
        &[
            "class_1_cpu_ns",
            "class_1_normalized_ns",
            "class_1_mean_mhz",
            "class_0_normalized_ns",
            "class_0_used_cores",
        ],
        // 1000 ms at 3600 of 3000 MHz, 200 ms at 1000 of 2000 MHz.
        &json!([[1_000_000_000, 1_200_000_000, 3600.0, 100_000_000, 1]]),
    );
    assert_eq!(
        sql(
            "SELECT is_deep_sleep, count, min_ns, p50_ns, p99_ns, max_ns, sum_ns, longest_sum_ns FROM ready_percentile WHERE process_key = 0 ORDER BY 1"
        ),
        json!([
            [
                false, 400, 500, 10_000, 500_000, 900_250, 60_000_000, 2_000_000
            ],
            [true, 60, 20_000, 40_000, 79_000, 80_000, 2_700_000, 0],
        ])
    );
    assert_eq!(
        sql("SELECT method, count, sum_ns FROM ready_percentile WHERE process_key = 1"),
        json!([["<UnknownMethod>", 51, 77_000]])
    );
    assert_eq!(
        sql("SELECT cpu, start_ns, stop_ns, mhz FROM cpu_frequency ORDER BY 2"),
        json!([
            [0, 0, 5_000_000_000i64, 3600],
            [0, 5_000_000_000i64, 10_000_000_000i64, 1500]
        ])
    );
}

#[test]
fn stack_tags_are_those_of_the_file() {
    assert_rows(
        &["cpu", "--stack-tags", "*"],
        &[
            "pid",
            "tag_set",
            "name",
            "cpu_ns",
            "wait_ns",
            "wait_sum_ns",
            "first_ns",
            "last_ns",
        ],
        &json!([
            [
                200,
                "default",
                "Other",
                250_000_000,
                5_000_000,
                5_000_000,
                500_000_000,
                2_500_000_000i64
            ],
            [
                100,
                "default",
                "Serializer\\Xml",
                700_000_000,
                1_900_000_000,
                1_900_000_000,
                1_500_000_000,
                9_000_000_000i64
            ],
            [
                100,
                "default",
                "Other",
                800_000_000,
                0,
                0,
                1_000_000_000,
                1_000_000_000
            ],
        ]),
    );
}

#[test]
fn disk_io_is_that_of_the_file() {
    let names = [
        "path",
        "read_bytes",
        "read_service_ns",
        "write_bytes",
        "write_service_ns",
        "flush_service_ns",
    ];
    assert_rows(
        &["disk", "--dir-level", "100"],
        &names,
        &json!([
            [null, 0, 0, 0, 0, 2_000_000],
            ["C:\\data\\small.txt", 512, 100_000, 0, 0, 0],
            ["C:\\data\\big.bin", 1_048_576, 1_500_000, 4096, 250_000, 0],
        ]),
    );
    // Reads of big.bin are of one process, its writes of two.
    assert_rows(
        &["disk", "--dir-level", "100", "--process", "100"],
        &["path", "read_bytes", "write_bytes", "flush_service_ns"],
        &json!([
            [null, 0, 0, 2_000_000],
            ["C:\\data\\big.bin", 1_048_576, 0, 0]
        ]),
    );
    // Its writes are counted for each of the two if that is asked.
    assert_rows(
        &[
            "disk",
            "--dir-level",
            "100",
            "--process",
            "100",
            "--shared",
            "--operation",
            "write",
        ],
        &["path", "read_bytes", "write_bytes"],
        &json!([["C:\\data\\big.bin", 1_048_576, 4096]]),
    );
    assert_rows(
        &["disk", "--dir-level", "100", "--operation", "write"],
        &["path", "write_bytes"],
        &json!([["C:\\data\\big.bin", 4096]]),
    );
    assert_eq!(
        sql(
            "SELECT path, disk, process_key, process_keys, priority FROM disk_file ORDER BY path, priority"
        ),
        json!([
            ["C:\\data\\big.bin", 0, null, "0 1", 3],
            ["C:\\data\\big.bin", 0, 0, null, 3],
            ["C:\\data\\small.txt", 0, 1, null, 0],
            [null, 1, 0, null, 3]
        ])
    );
    assert_eq!(
        sql("SELECT model, size_bytes, is_write_cache_enabled FROM disk"),
        json!([["SSD 1", 107_374_182_400i64, true]])
    );
    assert_eq!(
        sql("SELECT drive, file_system FROM volume"),
        json!([["C", "NTFS"]])
    );
    // How many operations there were is not in the file: nothing is printed, and where there were none, none.
    assert_rows(
        &["disk", "--dir-level", "100"],
        &["reads", "writes", "flushes"],
        &json!([[0, 0, null], [null, 0, 0], [null, null, 0]]),
    );
}

#[test]
fn file_io_is_that_of_the_file() {
    let names = [
        "pid",
        "path",
        "reads",
        "read_bytes",
        "read_ns",
        "read_max_position_bytes",
        "writes",
        "write_bytes",
        "opens",
        "open_ns",
        "closes",
        "cleanups",
        "close_ns",
        "deletes",
        "renames",
        "failure_statuses",
    ];
    let mut rows = dump(&["file", "--dir-level", "100", "--per-process"]);
    rows.sort_by_key(|row| (row["pid"].as_i64(), row["path"].to_string()));
    assert_eq!(
        columns(&rows, &names),
        json!([
            [
                100,
                "C:\\data\\big.bin",
                32,
                2_097_152,
                5_000_000,
                1_048_576,
                0,
                0,
                3,
                300_000,
                2,
                2,
                40_000,
                0,
                1,
                "0xc0000034"
            ],
            [
                200,
                "C:\\data\\big.bin",
                0,
                0,
                0,
                0,
                1,
                4096,
                0,
                0,
                0,
                0,
                0,
                4,
                0,
                ""
            ],
            [
                200,
                "C:\\data\\small.txt",
                1,
                512,
                9000,
                512,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                ""
            ],
        ])
    );
    assert_eq!(
        sql("SELECT process_key, count FROM file_file WHERE kind = 'set_security'"),
        json!([[1, 2]])
    );
}

#[test]
fn exceptions_have_their_stacks() {
    assert_rows(
        &["exception"],
        &[
            "pid",
            "exception_type",
            "message",
            "count",
            "threads",
            "first_ns",
            "tids",
            "times_ns",
        ],
        &json!([
            [
                100,
                "System.IO.FileNotFoundException",
                "not there",
                2,
                2,
                3_000_000_000i64,
                "12 11",
                "3000000000 3500000000"
            ],
            [
                200,
                "System.IO.FileNotFoundException",
                "not there",
                1,
                1,
                4_000_000_000i64,
                "21",
                "4000000000"
            ],
            [
                200,
                "System.NullReferenceException",
                "null",
                1,
                1,
                8_000_000_000i64,
                "21",
                "8000000000"
            ],
        ]),
    );
    let stack = sql("SELECT DISTINCT t.text FROM exception e JOIN stack_text t USING (stack_id)");
    assert_eq!(
        stack,
        json!([["clr.dll!IL_Throw\napp.dll!App.Load\napp.dll!App.Main"]])
    );
    assert_eq!(
        dump(&["exception", "--stack-filter", "*App.Load*"]).len(),
        2
    );
}

#[test]
fn modules_have_their_versions() {
    // Modules that only a stack names have no version.
    assert_rows(
        &["version", "--process", "100"],
        &[
            "module",
            "path",
            "file_version",
            "product_version",
            "product_name",
            "description",
        ],
        &json!([
            ["advapi32.dll", "advapi32.dll", null, null, null, null],
            [
                "app.dll",
                "C:\\app\\app.dll",
                "1.2.3 (main)",
                "1.2",
                "The App",
                "Does it"
            ],
            ["clr.dll", "clr.dll", null, null, null, null],
            [
                "ntdll.dll",
                "C:\\Windows\\System32\\ntdll.dll",
                "1.2.3.4",
                null,
                null,
                null
            ],
            [
                "worker.exe",
                "C:\\app\\worker.exe",
                "1.2.3 (main)",
                "1.2",
                "The App",
                "Does it"
            ],
        ]),
    );
    assert_eq!(
        sql("SELECT DISTINCT pdb_guid, pdb_age, pdb_name FROM module WHERE pdb_name IS NOT NULL"),
        json!([["11111111-2222-3333-4444-555555555555", 2, "my app.pdb"]])
    );
    assert_eq!(
        sql("SELECT driver, category FROM driver_category"),
        json!([["WdFilter.sys", "antivirus"]])
    );
}

#[test]
fn dns_queries_and_connections_are_those_of_the_file() {
    // 2.0 to 2.25 s and 2.1 to 2.4 s.
    assert_rows(
        &["dns"],
        &[
            "name",
            "count",
            "sum_ns",
            "union_ns",
            "min_ns",
            "max_ns",
            "timed_out",
            "return_codes",
            "adapters",
        ],
        &json!([[
            "www.example.com",
            2,
            550_000_000,
            400_000_000,
            250_000_000,
            300_000_000,
            1,
            "DNS_ERROR_RCODE_NAME_ERROR",
            "Ethernet"
        ]]),
    );
    let names = [
        "pid",
        "tcb",
        "local",
        "remote",
        "received_packets",
        "received_bytes",
        "sent_packets",
        "sent_bytes",
        "open_ns",
        "close_ns",
        "retransmit_timeout_ns",
        "template",
        "max_send_gap_ns",
        "last_send_ns",
        "last_receive_ns",
        "send_bytes_per_s",
        "stat_in_bytes",
        "stat_out_packets",
        "retransmits",
        "client_retransmits",
        "retransmit_max_ns",
        "keep_alives",
        "abort_ns",
        "posts",
        "injects",
    ];
    let mut rows = dump(&["tcp"]);
    rows.sort_by_key(|row| row["connection_id"].as_i64());
    assert_eq!(
        columns(&rows, &names),
        json!([
            [
                100,
                "0xffffac0000000000",
                "10.0.0.5:50000",
                "93.184.216.34:443",
                5,
                5000,
                4,
                700,
                2_500_000_000i64,
                7_000_000_000i64,
                6_500_000_000i64,
                "Internet",
                1_250_000_000,
                6_000_000_000i64,
                5_000_000_000i64,
                1234.5,
                6000,
                8,
                2,
                1,
                300_000_000,
                1,
                6_750_000_000i64,
                4,
                1
            ],
            [
                null,
                "0x2",
                "[::1]:1000",
                "[::1]:1001",
                0,
                0,
                0,
                0,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                0,
                0,
                null,
                0,
                null,
                0,
                0
            ],
        ])
        .as_array()
        .map(|rows| {
            // The address as the file has it.
            let mut rows = rows.clone();
            rows[0][1] = json!(format!("{:#x}", 18_446_677_618_096_345_104u64));
            Value::Array(rows)
        })
        .unwrap()
    );
}

#[test]
fn sends_that_were_let_go_too_late_are_found_again() {
    assert_rows(
        &["tcp", "--issue", "post"],
        &[
            "issue",
            "role",
            "pid",
            "ts_ns",
            "size_bytes",
            "sequence",
            "sequence_difference",
        ],
        &json!([
            [1, "captured", 100, 3_000_000_000i64, 100, 1000, null],
            [1, "overtaking", 100, 3_001_000_000i64, 50, 1000, null],
            [1, "injected", 100, 3_002_000_000i64, 100, 1050, 50],
        ]),
    );
}

#[test]
fn events_of_one_kind_each_are_there() {
    assert_rows(
        &["mark"],
        &["ts_ns", "text"],
        &json!([[1_000_000_000, "begin"], [2_500_000_000i64, "half"]]),
    );
    assert_rows(
        &["thread-pool"],
        &["pid", "ts_ns", "worker_threads", "since_last_ns", "reason"],
        &json!([
            [100, 5_000_000_000i64, 9, null, "Starvation"],
            [100, 5_500_000_000i64, 10, 500_000_000, "Starvation"]
        ]),
    );
    let events = dump(&["tracelog", "--by", "event"]);
    assert_eq!(
        columns(
            &events,
            &[
                "ts_ns",
                "pid",
                "tid",
                "provider",
                "provider_guid",
                "event",
                "event_id",
                "message"
            ]
        ),
        json!([
            [
                3_500_000_000i64,
                200,
                21,
                "My-Provider",
                "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
                "Loaded",
                3,
                "name=b.txt"
            ],
            [
                4_500_000_000i64,
                100,
                11,
                "My-Provider",
                "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
                "Loaded",
                3,
                "name=a.txt size=12 ids=[1; 2]"
            ],
        ])
    );
    assert_eq!(
        sql("SELECT t.text FROM generic_event e JOIN stack_text t USING (stack_id)"),
        json!([["advapi32.dll!EventWrite\napp.dll!App.Main"]])
    );
}

#[test]
fn memory_and_power_are_those_of_the_file() {
    const MIB: i64 = 1 << 20;
    let mut rows = dump(&["memory"]);
    rows.sort_by_key(|row| (row["pid"].as_i64(), row["working_set_bytes"].as_i64()));
    assert_eq!(
        columns(
            &rows,
            &[
                "pid",
                "commit_bytes",
                "commit_diff_bytes",
                "working_set_bytes",
                "private_working_set_bytes",
                "shared_commit_bytes"
            ]
        ),
        json!([
            [1, 0, 0, 6 * MIB, 3 * MIB, 3 * MIB],
            [1, 0, 0, 32 * MIB, 16 * MIB, 3 * MIB],
            [1, 0, 0, 400 * MIB, 200 * MIB, 3 * MIB],
            [100, 25 * MIB, 0, 20 * MIB, 10 * MIB, 3 * MIB],
            [200, 90 * MIB, 20 * MIB, 60 * MIB, 30 * MIB, 3 * MIB]
        ])
    );
    // Parts of the system have one id, and names of their own.
    assert_eq!(
        columns(&rows[..3], &["process", "working_set_diff_bytes"]),
        json!([
            ["SystemPteWs", 0],
            ["PagedPoolWs", 2 * MIB],
            ["SystemCacheWs", -100 * MIB]
        ])
    );
    assert_eq!(
        sql("SELECT in_use_bytes, commit_bytes FROM memory_machine ORDER BY ts_ns"),
        json!([[3000 * MIB, 4000 * MIB], [2900 * MIB, 4100 * MIB]])
    );
    let power = dump(&["power"]);
    let value = |name: &str| {
        power
            .iter()
            .find(|row| row["name"] == name)
            .map_or(Value::Null, |row| row["value"].clone())
    };
    for (name, expected) in [
        ("ActiveProfile", json!("HighPerformance")),
        ("Base Profile", json!("HighPerformance")),
        ("BoostMode", json!("Aggressive")),
        ("EnergyPreference", json!("33 %")),
        ("StabilizationInterval", json!("50 ms")),
        ("DecreaseStabilizationInterval", json!("1 check intervals")),
        ("SystemCoolingPolicy", json!("Active")),
        ("Enabled", json!("on")),
        ("MinimumDurationBetweenChecks", json!("50000 us")),
        ("DecreaseLevelThreshold Class 1", json!("50,50,50,50")),
        ("MinUnparkedProcessor", json!("100 %")),
        ("MaxThrottleFrequency", Value::Null),
        ("ShortVsLongThreadThreshold", json!("5000 us")),
    ] {
        assert_eq!(value(name), expected, "{name}");
    }
}

#[test]
fn counters_and_branches_are_those_of_the_file() {
    assert_rows(
        &["pmc"],
        &["pid", "instructions", "cycles", "cpi"],
        &json!([[200, 1000, 4000, 4.0], [100, 8_000_000, 4_000_000, 0.5]]),
    );
    let mut rows = dump(&["lbr", "--show-caller", "--include-dll", "--methods", "*"]);
    rows.sort_by_key(|row| row["count"].as_i64());
    assert_eq!(
        columns(&rows, &["pid", "caller", "callee", "count"]),
        json!([
            [200, "app.dll!App.Main", "app.dll!App.Load", 5],
            [100, "app.dll!App.Load", "clr.dll!JIT_New", 30],
            [100, "app.dll!App.Main", "app.dll!App.Load", 70],
        ])
    );
}

#[test]
fn virtual_memory_and_objects_are_those_of_the_file() {
    assert_rows(
        &["virtual-alloc"],
        &[
            "pid",
            "commits",
            "commit_bytes",
            "max_commit_bytes",
            "frees",
            "freed_bytes",
            "outstanding_commits",
            "outstanding_bytes",
        ],
        &json!([[100, 10, 1_000_000, 500_000, 8, 930_368, 2, 69632]]),
    );
    assert_eq!(
        sql(
            "SELECT a.ts_ns, a.size_bytes, t.text FROM virtual_alloc a LEFT JOIN stack_text t USING (stack_id) ORDER BY 1"
        ),
        json!([
            [
                1_500_000_000,
                65536,
                "ntdll.dll!NtAllocateVirtualMemory\napp.dll!App.Load"
            ],
            [2_500_000_000i64, 4096, null]
        ])
    );
    assert_eq!(
        sql(
            "SELECT type_name, name, created_ns, deleted_ns, address FROM object ORDER BY object_id"
        ),
        json!([
            [
                "Event",
                "\\BaseNamedObjects\\go",
                null,
                null,
                -58_411_555_223_472i64
            ],
            ["File", null, null, null, 4096]
        ])
    );
    assert_eq!(
        sql(
            "SELECT process_key, handle, origin, outcome, open_ns, close_ns, lifetime_ns FROM handle ORDER BY open_ns"
        ),
        json!([
            [
                0,
                0x1a4,
                "create",
                "closed",
                1_500_000_000,
                2_500_000_000i64,
                1_000_000_000
            ],
            [1, 0x50, "create", "open", 3_000_000_000i64, null, null]
        ])
    );
    assert_eq!(
        sql("SELECT type_name, created, closed, leaked FROM handle_type ORDER BY 1"),
        json!([["Event", 1, 1, 0], ["File", 1, 0, 1]])
    );
    assert_eq!(
        sql("SELECT kind, count FROM object_ref ORDER BY ts_ns"),
        json!([["reference", 2], ["dereference", 1]])
    );
    assert_eq!(
        sql("SELECT address, size_bytes, lifetime_ns, outcome FROM file_map"),
        json!([[65536, 8192, 250_000_000, "unmapped"]])
    );
    assert_eq!(
        dump(&["objectref", "--leak"]).len(),
        1,
        "the creation of the leaked handle"
    );
    assert_eq!(
        dump(&["objectref", "--show-ref", "--leak"]).len(),
        3,
        "and two changes of references"
    );
}

#[test]
fn the_recording_and_the_machine_are_reported() {
    assert_eq!(
        sql(
            "SELECT file_name, computer, os_name, os_version, start_utc, time_zone_bias_minutes, duration_ns, processors, memory_bytes, lost_events, lost_buffers FROM trace"
        ),
        json!([[
            "Reading_3117msPC-1.20240501-120000.etl",
            "PC-1",
            "Windows 10 Pro",
            "10.0.19043",
            "2024-05-01T10:00:00.0000000Z",
            -120,
            10_000_000_000i64,
            8,
            17_120_000_000i64,
            3,
            1
        ]])
    );
    let stats = dump(&["stats"]);
    let value = |name: &str| {
        stats
            .iter()
            .find(|row| row["name"] == name)
            .map_or(Value::Null, |row| row["value"].clone())
    };
    assert_eq!(
        (value("TestCase"), value("TestTimeMs")),
        (json!("Reading"), json!("3117"))
    );
    assert_eq!(
        (value("CPUName"), value("HyperThreading"), value("Model")),
        (json!("A processor"), json!("on"), json!("MS-7846"))
    );
    assert_eq!(value("EfficiencyClasses"), json!("class 0: 1, class 1: 1"));
    // The values stand as the file has them.
    assert_eq!(
        (value("MemorySizeMB"), value("OSBuild")),
        (json!("17120"), json!("vb_release"))
    );
    assert_eq!(
        (value("LostEvents"), value("Events")),
        (json!("3"), Value::Null)
    );
    assert!(
        value("VolumeC").as_str().unwrap().starts_with("NTFS, "),
        "{}",
        value("VolumeC")
    );
    // The names that ETWAnalyzer gives to properties are known, whether a file has them or not.
    for (asked, expected) in [
        ("UsedExtractOptions", &["UsedExtractOptions"][..]),
        ("Disk", &["Disk0", "VolumeC"]),
        ("MainModuleVersion OSName", &["OSName", "MainModuleVersion"]),
        ("Network,IsDomainJoined", &["IsDomainJoined", "Network"]),
        ("Displays", &["Displays"]),
        ("BootToSessionStart", &["BootToSessionStartS"]),
    ] {
        let found = dump(&["stats", "--properties", asked]);
        let names: Vec<&str> = found
            .iter()
            .map(|row| row["name"].as_str().unwrap())
            .collect();
        assert!(
            expected.iter().all(|name| names.contains(name)),
            "{asked}: {names:?}"
        );
    }
    let without = run(&[
        "dump",
        "stats",
        "--properties",
        "!Disk",
        "--json",
        extract(),
    ])
    .out;
    assert!(
        without.contains("OSName") && !without.contains("VolumeC"),
        "{without}"
    );
    let missing = run(&[
        "dump",
        "stats",
        "--properties",
        "WinSatOSName ExtractStartTime",
        extract(),
    ]);
    let said = format!(
        "note: nothing in {} matches --properties WinSatOSName ExtractStartTime\n",
        extract()
    );
    assert_eq!(
        (missing.exit, missing.other_errors()),
        (Exit::Nothing, said),
        "{}",
        missing.out
    );
    assert_eq!(
        run(&["dump", "stats", "--properties", "Nonsense", extract()]).exit,
        Exit::Error
    );
    assert_eq!(
        (
            value("nic.nic_description"),
            value("main_module_version.version")
        ),
        (json!("Ethernet"), json!("1.2.2405.0100"))
    );
    // The names that ETWAnalyzer has for these properties are understood as well.
    for (name, expected) in [
        ("MainModuleVersion", "1.2.2405.0100"),
        ("IsDomainJoined", "false"),
        ("Displays", "Screen, 3840"),
        ("Network", "Ethernet, DNS 10.0.0.53;10.0.0.54"),
        (
            "UsedExtractOptions",
            r"ETWAnalyzer.exe -extract all -fd C:\traces\x.etl",
        ),
    ] {
        assert_eq!(value(name), json!(expected), "{name}");
    }
    let runs = run(&["dump", "test-run", "--json", extract()]);
    assert_eq!(runs.exit, Exit::Answered, "{}", runs.err);
    assert!(
        runs.out.contains("\"test_case\":\"Reading\"") && runs.out.contains("\"duration_ms\":3117"),
        "{}",
        runs.out
    );
    let overview = run(&["dump", "overview", extract()]);
    assert_eq!(overview.exit, Exit::Answered, "{}", overview.err);
    assert!(overview.out.contains("worker.exe"), "{}", overview.out);
}

#[test]
fn what_etwanalyzer_does_not_store_says_so() {
    for args in [
        &["cpu", "--range", "1..2"][..],
        &["cpu", "--methods", "*", "--range", "1..2"],
        &["cpu", "--stacks"],
        &["cpu", "--by", "thread", "--methods", "*"],
        &["disk", "--range", "1..2"],
        &["file", "--range", "1..2"],
        &["wait"],
        &["wait", "--chain"],
        &["syscall"],
        &["pmc", "--range", "1..2"],
    ] {
        let answer = run(&[&["dump"], args, &[extract()]].concat());
        let Answer { out, exit, .. } = &answer;
        assert_eq!(
            (*exit, answer.other_errors().as_str()),
            (Exit::Nothing, ""),
            "{args:?}: {out}"
        );
        assert!(
            out.contains("this extract was imported from one of ETWAnalyzer (JSON)"),
            "{args:?}: {out}"
        );
        assert!(out.contains("extract the trace itself"), "{args:?}: {out}");
    }
    let path = run(&["critical-path", "--process", "100", extract()]);
    assert_eq!(path.exit, Exit::Nothing, "{}", path.err);
    assert!(
        path.out.contains("imported from one of ETWAnalyzer"),
        "{}",
        path.out
    );
}

#[test]
fn a_dump_of_the_file_itself_imports_it_into_the_cache() {
    let folder = folder("cache");
    let json = small().write(&folder, "plain");
    let path = json.to_str().unwrap();
    let first = run(&["dump", "cpu", "--json", path]);
    assert_eq!(first.exit, Exit::Answered, "{}", first.err);
    let again = run(&["dump", "cpu", "--json", path]);
    assert_eq!(
        (&first.out, again.other_errors().as_str()),
        (&again.out, "")
    );
    let compat = run(&["-dump", "cpu", "-fd", path]);
    assert_eq!(
        (compat.exit, compat.other_errors().as_str()),
        (Exit::Answered, ""),
        "{}",
        compat.out
    );
    assert!(compat.out.contains("worker.exe"), "{}", compat.out);
    // The folder has one extract in ten files.
    let listed = run(&["-dump", "process", "-fd", folder.to_str().unwrap()]);
    assert_eq!(
        (listed.exit, listed.other_errors().as_str()),
        (Exit::Answered, ""),
        "{}",
        listed.out
    );
    assert_eq!(
        listed.out.matches("explorer.exe").count(),
        1,
        "{}",
        listed.out
    );
}

/// What the file does not say is no fact: whether events were lost, how many there were of anything.
#[test]
fn unknown_is_reported_as_unknown() {
    let folder = folder("unknown");
    let mut bare = small();
    bare.main.as_object_mut().unwrap().remove("TraceHeader");
    bare.main["ThreadPool"]["PerProcessThreadPoolStarvations"] = json!({});
    let path = bare.write(&folder, "bare");
    let path = path.to_str().unwrap();
    let overview = run(&["dump", "overview", path]);
    assert_eq!(overview.exit, Exit::Answered, "{}", overview.err);
    assert!(
        overview
            .out
            .contains("whether events were lost while recording is not in the file"),
        "{}",
        overview.out
    );
    assert!(
        !overview.out.contains("nothing was lost"),
        "{}",
        overview.out
    );
    let files: Vec<&str> = overview
        .out
        .lines()
        .filter(|line| line.contains("big.bin"))
        .collect();
    assert!(files.iter().any(|line| line.contains(" ? ")), "{files:?}");
    let stats = run(&["dump", "stats", "--properties", "Lost*", "--json", path]);
    assert!(!stats.out.contains("LostEvents"), "{}", stats.out);
    // Thread pools were recorded, and none starved.
    let pools = run(&["dump", "thread-pool", path]);
    assert!(
        pools
            .out
            .contains("thread pools were recorded, and no starvation"),
        "{}",
        pools.out
    );
    let lost = run(&["dump", "overview", extract()]).out;
    assert!(
        lost.contains("events were lost while recording") && lost.contains("(3"),
        "{lost}"
    );
}

#[test]
fn archives_with_many_extracts_are_several() {
    let folder = folder("many");
    let archive = folder.join("night.7z");
    write_many(&archive, &["first.json", "sub/second.json"]);
    let path = archive.to_str().unwrap();
    let asked = run(&["dump", "process", "--json", path]);
    assert_eq!(asked.exit, Exit::Answered, "{}", asked.err);
    assert_eq!(asked.out.matches("\"pid\":200").count(), 2, "{}", asked.out);
    let rows = run(&[
        "sql",
        "--format",
        "json",
        path,
        "SELECT count(*) AS n FROM process",
    ]);
    assert!(rows.out.contains("10"), "{}{}", rows.out, rows.err);
    let made = run(&["extract", path]);
    assert_eq!(
        (made.exit, made.err.as_str()),
        (Exit::Answered, ""),
        "{}",
        made.out
    );
    assert!(
        folder.join("first.etwx").is_dir() && folder.join("second.etwx").is_dir(),
        "{}",
        made.out
    );
    assert!(made.out.contains("night.7z: second.json"), "{}", made.out);
    // A question to one extract says what to do.
    let one = run(&["export", path]);
    assert_eq!(one.exit, Exit::Error);
    assert!(
        one.err.contains("2 of them: first.json, second.json") && one.err.contains("hint: "),
        "{}",
        one.err
    );
}

#[test]
fn options_that_need_events_and_broken_files_are_errors() {
    let folder = folder("errors");
    let json = small().write(&folder, "run");
    let path = json.to_str().unwrap();
    for (args, expected) in [
        (
            &["extract", "--range", "1..2", path][..],
            "--range needs single events",
        ),
        (
            &["extract", "--one-session", path, path],
            "--one-session puts traces together",
        ),
        (&["info", path], "cannot read run.json as an event trace"),
    ] {
        let answer = run(args);
        assert_eq!(answer.exit, Exit::Error, "{args:?}");
        assert!(answer.err.contains(expected), "{args:?}: {}", answer.err);
    }
    std::fs::write(
        &json,
        "{\"SessionStart\": \"2024-05-01T12:00:00Z\", \"Processes\": [{\"ProcessID\": \"x\"}]}",
    )
    .unwrap();
    let answer = run(&["extract", path]);
    assert_eq!(answer.exit, Exit::Error);
    assert!(
        answer
            .err
            .contains("error: run.json: Processes[0].ProcessID (line 1, column "),
        "{}",
        answer.err
    );
    assert!(
        answer
            .err
            .contains("expected a whole number of 64 bits, found a text")
            || answer.err.contains("expected a whole number"),
        "{}",
        answer.err
    );
    assert!(answer.err.contains("hint: "), "{}", answer.err);
    assert!(!folder.join("run.etwx").exists());
}
