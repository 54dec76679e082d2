//! Extracts of ETWAnalyzer: files and archives, damaged inputs, and imported data.

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use etwkit_extract::json7z::{
    JsonInput, import_json, is_json_archive, is_json_extract, is_json_part,
    looks_like_json_extract, open_all_json, open_json, read_json,
};
use etwkit_extract::manifest::Detail;
use etwkit_extract::{ConvertError, Extract, Limits, Options, WriterOptions};
use etwkit_testkit::etwanalyzer::{JsonExtract, small, write_large};
use etwkit_testkit::files::{Folder, made_bytes, seven_zipped, zipped};
use etwkit_trace::sink::{Sink, SinkError};
use etwkit_trace::table::Table;
use serde_json::{Value, json};

/// Keeps an extract that is there.
const KEEPS: WriterOptions = WriterOptions {
    no_overwrite: true,
    run_id: 0,
    no_empty: false,
};

fn import(path: &Path, target: &Path) -> Result<Extract, String> {
    let input =
        open_json(path, &Options::default()).map_err(|error| chain(&error, error.hint()))?;
    import_json(&input, target, WriterOptions::default(), BTreeMap::new())
        .map_err(|error| chain(&error, error.hint()))?;
    Ok(Extract::open(target).unwrap())
}

fn chain(error: &dyn std::error::Error, hint: Option<&str>) -> String {
    format!("{error} | hint: {}", hint.unwrap_or("none"))
}

/// Rows of each table.
fn rows(extract: &Extract) -> BTreeMap<String, u64> {
    extract
        .tables()
        .map(|table| (table.name.clone(), table.rows))
        .collect()
}

/// Count, position and message of each diagnostic of a kind.
fn diagnostics(extract: &Extract, kind: &str) -> Vec<String> {
    let all = extract.manifest().diagnostics.iter();
    all.filter(|d| d.kind == kind)
        .map(|d| {
            let position = d.position.as_deref().unwrap_or("");
            format!("{} {position} {}", d.count, d.message)
        })
        .collect()
}

#[test]
fn a_packed_and_a_plain_extract_become_the_same() {
    let folder = Folder::new();
    let root = folder.path("");
    let plain = small().write(&root, "run");
    let archive = small().write_packed(&root, "packed");
    assert!(is_json_extract(&plain) && is_json_extract(&archive));
    let from_plain = import(&plain, &folder.path("plain.etwx")).unwrap();
    let from_packed = import(&archive, &folder.path("packed.etwx")).unwrap();
    assert_eq!(rows(&from_plain), rows(&from_packed));
    let manifest = from_packed.manifest();
    assert_eq!(manifest.detail, Detail::Summary);
    let origin = manifest.imported_from.as_ref().unwrap();
    assert_eq!(origin.format, "etwanalyzer-json");
    assert_eq!(
        origin.trace.as_deref(),
        Some("C:\\traces\\Reading_3117msPC-1.20240501-120000.etl")
    );
    assert_eq!(manifest.source.files.len(), 10);
    assert_eq!(manifest.source.files[0].name, "packed.json");
    assert_eq!(
        manifest.source.files[0].archive.as_deref(),
        Some("packed.json7z")
    );
    assert_eq!(manifest.clock.start_utc, "2024-05-01T10:00:00.0000000Z");
    assert_eq!(
        (
            manifest.machine.computer.as_deref(),
            manifest.machine.processors
        ),
        (Some("PC-1"), 8)
    );
    let topics: Vec<&str> = manifest
        .topics
        .iter()
        .map(|topic| topic.topic.as_str())
        .collect();
    for topic in [
        "CPU samples",
        "context switches",
        "disk I/O",
        "file I/O",
        "DNS queries",
        "TCP connections",
        "handles",
    ] {
        assert!(topics.contains(&topic), "{topic} is not in {topics:?}");
    }
    for (table, count) in [
        ("process", 5),
        ("cpu_process", 4),
        ("cpu_method", 5),
        ("cpu_tag", 3),
        ("exception", 4),
        ("module", 7),
    ] {
        assert!(rows(&from_packed)[table] >= count, "{table}");
    }
}

/// Imports into a plain sink give the same rows and the facts of the manifest.
#[test]
fn rows_go_to_any_sink() {
    let folder = Folder::new();
    let path = small().write(&folder.path(""), "run");
    let mut sink: Vec<(&'static Table, RecordBatch)> = Vec::new();
    let found = read_json(&open_json(&path, &Options::default()).unwrap(), &mut sink).unwrap();
    let extract = import(&path, &folder.path("run.etwx")).unwrap();
    let mut counts = BTreeMap::new();
    for (table, rows) in sink.iter().filter(|(_, rows)| rows.num_rows() > 0) {
        *counts.entry(table.name.to_owned()).or_insert(0) += rows.num_rows() as u64;
    }
    let mut written = rows(&extract);
    written.retain(|name, _| !found.computed.contains(&name.as_str()));
    assert_eq!(counts, written);
    let topics: Vec<&str> = extract
        .manifest()
        .topics
        .iter()
        .map(|topic| topic.topic.as_str())
        .collect();
    assert_eq!((found.topics, found.tagged_by), (topics, "ETWAnalyzer"));
}

/// A full sink ends the import with its own error.
#[test]
fn a_sink_that_fails_ends_the_import() {
    struct Full;
    impl Sink for Full {
        fn write(&mut self, _: &'static Table, _: RecordBatch) -> Result<(), SinkError> {
            Err("the disk is full".into())
        }
    }
    let folder = Folder::new();
    let path = small().write(&folder.path(""), "run");
    let error = read_json(&open_json(&path, &Options::default()).unwrap(), &mut Full).unwrap_err();
    assert_eq!(
        std::error::Error::source(&error).unwrap().to_string(),
        "the disk is full"
    );
}

#[test]
fn the_same_file_gives_the_same_bytes() {
    let folder = Folder::new();
    let path = small().write_packed(&folder.path(""), "run");
    let content = |name: &str| {
        let target = folder.path(name);
        import(&path, &target).unwrap();
        let mut files: Vec<(String, Vec<u8>)> = Vec::new();
        for folder in [target.clone(), target.join("derived")] {
            for entry in std::fs::read_dir(folder)
                .unwrap()
                .map(Result::unwrap)
                .filter(|entry| entry.path().is_file())
            {
                files.push((
                    entry.file_name().into_string().unwrap(),
                    std::fs::read(entry.path()).unwrap(),
                ));
            }
        }
        files.sort();
        files
    };
    assert_eq!(content("a.etwx"), content("b.etwx"));
}

#[test]
fn what_an_extract_cannot_hold_is_reported() {
    let folder = Folder::new();
    let path = small().write(&folder.path(""), "run");
    let extract = import(&path, &folder.path("run.etwx")).unwrap();
    let of = |kind: &str| diagnostics(&extract, kind);
    assert_eq!(
        of("unknown_member"),
        ["1 NewMember a member of the file that is not known was passed over"]
    );
    let dropped = of("not_imported").join("\n");
    for what in [
        "1  CPU.TimeLine",
        "2  CPUExtended.EnabledCPUsAvg",
        "4  Disk: threads that issued I/O",
    ] {
        assert!(dropped.contains(what), "{what} is not in:\n{dropped}");
    }
    assert!(
        of("not_in_json")
            .iter()
            .any(|text| text.contains("disk_file: reads, writes and flushes as numbers"))
    );
    assert_eq!(of("unknown_process"), Vec::<String>::new());
    assert_eq!(of("no_value"), Vec::<String>::new());
}

/// Null that counts as 0 is reported with its member. A row that lost its time, its process or its
/// name is left out and counted.
#[test]
fn values_that_are_missing_are_counted() {
    let folder = Folder::new();
    let mut holes = small();
    for pointer in [
        "/NumberOfProcessors",
        "/Processes/3/ProcessID",
        "/Network/TcpData/Connections/0/BytesSent",
        "/Network/TcpData/Connections/1/BytesSent",
        "/Network/TcpData/Retransmissions/0/RetransmitTime",
        "/Network/TcpData/Retransmissions/0/SendTime",
        "/ETWMarks/0/Time",
        "/MemoryUsage/WorkingSetsAtStart/0/Process",
    ] {
        *holes.main.pointer_mut(pointer).expect(pointer) = Value::Null;
    }
    for (name, pointer, value) in [
        (
            "Modules",
            "/Modules/0/ModuleAndPid",
            json!("0 -2 2 3 4 5 6 #0 #1"),
        ),
        (
            "TraceLogging",
            "/EventsByProvider/My-Provider/Events/0/TimeStamp",
            Value::Null,
        ),
    ] {
        let mut parts = holes.parts.iter_mut();
        let (_, part) = parts.find(|(part, _)| *part == name).expect(name);
        *part.pointer_mut(pointer).expect(pointer) = value;
    }
    let whole = import(
        &small().write(&folder.path(""), "whole"),
        &folder.path("whole.etwx"),
    )
    .unwrap();
    let extract = import(
        &holes.write(&folder.path(""), "holes"),
        &folder.path("holes.etwx"),
    )
    .unwrap();
    let no_value = "a member has no value: it counts as 0 or as an empty text";
    assert_eq!(
        diagnostics(&extract, "no_value"),
        [
            format!("2 Network.TcpData.Connections[].BytesSent {no_value}"),
            format!("1 Processes[].ProcessID {no_value}"),
        ]
    );
    let dropped = diagnostics(&extract, "not_imported");
    for what in [
        "ETWMarks: marks without a time",
        "MemoryUsage: memory of a process without an ID",
        "Modules: modules without a name",
        "Network.TcpData: retransmissions without a time",
        "TraceLogging: events without a time",
    ] {
        let text = format!("1  {what}: the extract has no place for it");
        assert!(dropped.contains(&text), "{what} is not in {dropped:#?}");
    }
    let lacking = diagnostics(&extract, "not_in_json");
    let processors = "1  trace: processors: the file does not have it";
    assert!(
        lacking.iter().any(|text| text == processors),
        "{lacking:#?}"
    );
    let (before, after) = (rows(&whole), rows(&extract));
    for table in ["mark", "memory_sample", "tcp_retransmit", "generic_event"] {
        assert_eq!(after[table] + 1, before[table], "{table}");
    }
    assert_eq!(before["tcp_connection"], after["tcp_connection"]);
    assert_eq!(after.get("cpu_core").copied().unwrap_or(0), 0);
}

#[test]
fn a_part_beside_is_found_and_one_alone_is_refused() {
    let folder = Folder::new();
    let root = folder.path("");
    let path = small().write(&root, "run");
    let without = import(
        &JsonExtract {
            parts: Vec::new(),
            ..small()
        }
        .write(&root, "bare"),
        &folder.path("bare.etwx"),
    )
    .unwrap();
    assert!(!rows(&without).contains_key("file_file") && !rows(&without).contains_key("handle"));
    assert!(rows(&import(&path, &folder.path("run.etwx")).unwrap()).contains_key("file_file"));
    let part = folder.path("run_Derived_FileIO.json");
    assert!(is_json_part(&part) && !looks_like_json_extract(&part));
    assert!(!is_json_part(&path) && looks_like_json_extract(&path));
    let error = import(&part, &folder.path("x.etwx")).unwrap_err();
    assert!(
        error.contains("is one part of an extract") && error.contains("main file"),
        "{error}"
    );
}

#[test]
fn everything_in_one_file_is_read_too() {
    let folder = Folder::new();
    let mut all = small();
    for (part, value) in std::mem::take(&mut all.parts) {
        let member = match part {
            "CPUExtended" => {
                all.main["CPU"]["ExtendedCPUMetrics"] = value;
                continue;
            }
            "Handle" => "HandleData",
            "VirtualAlloc" => "VirtualAllocData",
            "HandleStacks" | "VirtualAllocStacks" | "TraceLogStacks" => {
                let owner = ["HandleData", "VirtualAllocData", "TraceLogging"][[
                    "HandleStacks",
                    "VirtualAllocStacks",
                    "TraceLogStacks",
                ]
                .iter()
                .position(|name| *name == part)
                .unwrap()];
                all.main[owner]["Stacks"] = value;
                continue;
            }
            other => other,
        };
        all.main[member] = value;
    }
    let one = import(
        &all.write(&folder.path(""), "one"),
        &folder.path("one.etwx"),
    )
    .unwrap();
    let parts = import(
        &small().write(&folder.path(""), "parts"),
        &folder.path("parts.etwx"),
    )
    .unwrap();
    assert_eq!(rows(&one), rows(&parts));
}

/// The error of a main file with one member replaced.
fn with(pointer: &str, value: Value) -> String {
    let folder = Folder::new();
    let mut changed = small();
    *changed.main.pointer_mut(pointer).unwrap() = value;
    let path = changed.write(&folder.path(""), "run");
    import(&path, &folder.path("run.etwx")).expect_err(pointer)
}

#[test]
fn a_member_of_the_wrong_type_is_named_with_its_place() {
    for (pointer, value, expected) in [
        (
            "/CPU/PerProcessCPUConsumptionInMs/Idle(0)",
            json!("x"),
            "CPU.PerProcessCPUConsumptionInMs.Idle(0) (line ",
        ),
        (
            "/Network/TcpData/Connections/1/Tcb",
            json!([]),
            "Network.TcpData.Connections[1].Tcb (line ",
        ),
        (
            "/Processes/2/ProcessID",
            json!({}),
            "Processes[2].ProcessID (line ",
        ),
        (
            "/SessionEnd",
            json!("tomorrow"),
            "expected a date and time as 2020-01-01T15:55:03.1234567+01:00, found the text \"tomorrow\"",
        ),
        ("/CPU", json!(7), "CPU (line "),
        (
            "/CPU/PerProcessMethodCostsInclusive/MethodStatsPerProcess/0/CostsAsString/1",
            json!("1 2 x"),
            "MethodStatsPerProcess[0].CostsAsString[1] (line ",
        ),
        (
            "/Exceptions/Stacks/Stack2Messages/No Stack/0/Times",
            json!([]),
            "expected as many processes as threads and times, found 1, 1 and 0",
        ),
        (
            "/SummaryStackTags/Stats/1/Key",
            json!("worker"),
            "expected a process as cmd.exe(4711), found the text \"worker\"",
        ),
        (
            "/PMC/LBRData/Costs/0",
            json!("1 2 3"),
            "expected a branch as \"0 1 2 3\"",
        ),
        (
            "/PMC/LBRData/Costs/0",
            Value::Null,
            "expected a branch as \"0 1 2 3\", found null",
        ),
    ] {
        let error = with(pointer, value);
        assert!(
            error.contains("run.json:") && error.contains(expected),
            "{pointer}: {error}"
        );
        assert!(error.contains("hint: was the file changed"), "{error}");
    }
}

#[test]
fn another_json_file_is_no_extract() {
    let folder = Folder::new();
    for (name, text, expected) in [
        ("empty.json", "{}", "no SessionStart"),
        ("list.json", "[1]", "expected an object, found a list"),
        (
            "half.json",
            "{\"SessionStart\": \"2024-05-01T12:00:00Z\"}",
            "no Processes",
        ),
        (
            "two.json",
            "{} {}",
            "expected the end of the file, found an object",
        ),
        ("text.json", "hello", "expected an object, found 'h'"),
    ] {
        let path = folder.write(name, text.as_bytes());
        let error = import(&path, &folder.path("x.etwx")).unwrap_err();
        assert!(error.contains(expected), "{name}: {error}");
        assert!(!folder.path("x.etwx").exists());
    }
}

#[test]
fn a_file_that_is_cut_anywhere_is_an_error_and_leaves_nothing() {
    let folder = Folder::new();
    let text = serde_json::to_vec(&small().main).unwrap();
    let mut checked = 0;
    for length in (1..text.len()).step_by(97) {
        let path = folder.write("cut.json", &text[..length]);
        let error = import(&path, &folder.path("cut.etwx")).unwrap_err();
        assert!(
            error.contains("cut.json: ") && error.contains("hint: "),
            "{length}: {error}"
        );
        checked += 1;
    }
    assert!(checked > 50);
    assert!(!folder.path("cut.etwx").exists());
}

#[test]
fn broken_bytes_end_with_an_error_or_an_extract() {
    let folder = Folder::new();
    let text = serde_json::to_vec(&small().main).unwrap();
    let mut errors = 0;
    for at in (0..text.len()).step_by(211) {
        let mut broken = text.clone();
        broken[at] = [b'"', b'{', b'9', 0xFF, b'-', b']'][at % 6];
        let path = folder.write("broken.json", &broken);
        if let Err(error) = import(&path, &folder.path("broken.etwx")) {
            assert!(error.contains("hint: "), "{at}: {error}");
            errors += 1;
        }
    }
    assert!(errors > 10, "{errors}");
}

#[test]
fn numbers_without_sense_do_no_harm() {
    let folder = Folder::new();
    let mut odd = small();
    odd.main["NumberOfProcessors"] = json!(2_000_000_000);
    odd.main["CPU"]["PerProcessCoreUsage"]["0"] = json!([i64::MAX, i64::MIN, -1]);
    odd.main["CPU"]["PerProcessCPUConsumptionInMs"]["gone.exe(4242)"] = json!(i64::MAX);
    odd.main["Network"]["DnsClient"]["Events"][0]["Duration"] = json!("10675199.02:48:05.4775807");
    odd.main["Network"]["TcpData"]["Retransmissions"][0]["ConnectionIdx"] = json!(-5);
    odd.main["Exceptions"]["Stacks"]["Stack2Messages"]["No Stack"][0]["Processes"] = json!([99]);
    odd.main["Network"]["TcpData"]["Connections"][0]["Statistics"] =
        json!({"SendPostedPosted": i64::MAX, "SendPostedInjected": 1});
    let extract = import(
        &odd.write(&folder.path(""), "odd"),
        &folder.path("odd.etwx"),
    )
    .unwrap();
    assert!(rows(&extract)["cpu_core"] <= 4096);
    let missing = extract
        .manifest()
        .diagnostics
        .iter()
        .find(|d| d.kind == "unknown_process")
        .unwrap();
    assert_eq!((missing.severity.as_str(), missing.count), ("warning", 2));
}

#[test]
fn archives_without_one_main_file_are_refused() {
    let folder = Folder::new();
    let root = folder.path("");
    let parts = small().parts;
    let first = parts[0].1.clone();
    // Two main files: the second one has its own name.
    let two = JsonExtract {
        main: small().main,
        parts: Vec::new(),
    }
    .write_packed(&root, "ok");
    assert!(open_json(&two, &Options::default()).is_ok());
    let trace = made_bytes("power-5.etl");
    let other = folder.write("trace.json7z", &seven_zipped(&[("power-5.etl", &trace)]));
    let error = import(&other, &folder.path("x.etwx")).unwrap_err();
    assert!(
        error.contains(
            "expected one .json file of ETWAnalyzer in trace.json7z, which holds power-5.etl"
        ),
        "{error}"
    );
    // JSON of another program next to an extract is skipped; several extracts are an error.
    let (text, main) = (
        serde_json::to_vec(&first).unwrap(),
        serde_json::to_vec(&small().main).unwrap(),
    );
    let pack = |name, members: &[(&str, &[u8])]| folder.write(name, &seven_zipped(members));
    let foreign = pack("foreign.json7z", &[("a.json", &text), ("b.json", &main)]);
    assert_eq!(
        open_json(&foreign, &Options::default()).unwrap().name(),
        "b.json"
    );
    let many = pack("many.json7z", &[("a.json", &main), ("b.json", &main)]);
    let error = import(&many, &folder.path("x.etwx")).unwrap_err();
    assert!(error.contains("2 of them: a.json, b.json"), "{error}");
    let only_parts = pack("parts.json7z", &[("a_Derived_FileIO.json", &text)]);
    let error = import(&only_parts, &folder.path("x.etwx")).unwrap_err();
    assert!(error.contains("no main file"), "{error}");
    // The limit for unpacked bytes also applies to these archives.
    let limits = Limits {
        total_bytes: 100,
        ..Limits::default()
    };
    let error = open_json(
        &two,
        &Options {
            limits,
            ..Options::default()
        },
    )
    .unwrap_err();
    assert!(
        error.to_string().contains("of the limit of 100 are left"),
        "{error}"
    );
}

/// Files of 2019 do not record whether context switches were traced, and their methods may have no
/// waits.
#[test]
fn waits_of_tags_alone_show_that_there_were_switches() {
    let folder = Folder::new();
    let mut old = small();
    let costs = &mut old.main["CPU"]["PerProcessMethodCostsInclusive"];
    costs.as_object_mut().unwrap().remove("HasCSwitchData");
    costs["MethodStatsPerProcess"] =
        json!([{"Process": "worker.exe(200)", "CostsAsString": ["0 200 0 0.5000 8.0000 1 4"]}]);
    let extract = import(
        &old.write(&folder.path(""), "old"),
        &folder.path("old.etwx"),
    )
    .unwrap();
    assert!(
        extract
            .manifest()
            .topics
            .iter()
            .any(|topic| topic.topic == "context switches")
    );
    let waits = |extract: &Extract| -> Vec<Option<i64>> {
        let table = extract
            .tables()
            .find(|table| table.name == "cpu_tag")
            .unwrap();
        let mut waits = Vec::new();
        for batch in table.batches(Some(&["wait_sum_ns"])).unwrap() {
            waits.extend(batch.unwrap().column(0).as_primitive::<Int64Type>().iter());
        }
        waits.sort();
        waits
    };
    assert_eq!(
        waits(&extract),
        [Some(0), Some(5_000_000), Some(1_900_000_000)]
    );
    // No waits anywhere: there were none.
    for stat in old.main["SummaryStackTags"]["Stats"]
        .as_array_mut()
        .unwrap()
    {
        stat["Value"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(|tag| tag["WaitDurationInMs"] = json!(0));
    }
    let extract = import(
        &old.write(&folder.path(""), "none"),
        &folder.path("none.etwx"),
    )
    .unwrap();
    assert_eq!(waits(&extract), [None; 3]);
}

#[test]
fn an_archive_with_many_extracts_is_read_as_several() {
    let folder = Folder::new();
    let main = serde_json::to_vec(&small().main).unwrap();
    let file_io = serde_json::to_vec(&small().parts[0].1).unwrap();
    let trace = made_bytes("power-5.etl");
    let members: [(&str, &[u8]); 6] = [
        ("night/b.json", &main),
        ("night/b_Derived_FileIO.json", &file_io),
        ("day/b.json", &main),
        ("a.json", &main),
        ("a_Derived_FileIO.json", &file_io),
        ("settings.json", b"{\"color\": 1}"),
    ];
    let inner = seven_zipped(&[("c.json", &main)]);
    let nested: [(&str, &[u8]); 2] = [("x/one.json7z", &inner), ("y/one.json7z", &inner)];
    for (name, bytes, expected) in [
        (
            "all.7z",
            seven_zipped(&members),
            &["a.json", "b.json", "b.json"][..],
        ),
        ("all.zip", zipped(&members), &["a.json", "b.json", "b.json"]),
        ("one.7z", seven_zipped(&members[..2]), &["b.json"]),
        ("nested.zip", zipped(&nested), &["c.json", "c.json"]),
    ] {
        let path = folder.write(name, &bytes);
        let all = open_all_json(&path, &Options::default()).unwrap();
        let names: Vec<&str> = all.iter().map(JsonInput::name).collect();
        assert_eq!(names, expected, "{name}");
        if name == "all.7z" {
            // Each has separate parts.
            let with_files = |at: usize| {
                let target = folder.path(&format!("{at}.etwx"));
                import_json(&all[at], &target, WriterOptions::default(), BTreeMap::new()).unwrap();
                rows(&Extract::open(&target).unwrap()).contains_key("file_file")
            };
            assert_eq!([0, 1, 2].map(with_files), [true, false, true]);
        }
    }
    // The check for extracts in an archive does not unpack it.
    for (name, bytes, expected) in [
        ("m.7z", seven_zipped(&members), true),
        ("m.zip", zipped(&members), true),
        (
            "t.zip",
            zipped(&[("a.etl", &trace), ("a.json", &main)]),
            false,
        ),
        (
            "p.zip",
            zipped(&[("x/a.etl.gz", &trace), ("a.json", &main)]),
            false,
        ),
        ("n.zip", zipped(&[("readme.txt", b"x")]), false),
        ("plain.7z", b"7z\xBC\xAF\x27\x1C broken".to_vec(), false),
        ("a.json", main.clone(), false),
    ] {
        assert_eq!(
            is_json_archive(&folder.write(name, &bytes)),
            expected,
            "{name}"
        );
    }
    assert!(!is_json_archive(&folder.path("")) && !is_json_archive(&folder.path("gone.7z")));
}

#[test]
fn an_extract_of_the_same_file_is_kept_if_that_is_wanted() {
    let folder = Folder::new();
    let path = small().write(&folder.path(""), "run");
    let (input, target) = (
        open_json(&path, &Options::default()).unwrap(),
        folder.path("run.etwx"),
    );
    assert!(
        !import_json(&input, &target, KEEPS, BTreeMap::new())
            .unwrap()
            .written
            .kept
    );
    assert!(
        import_json(&input, &target, KEEPS, BTreeMap::new())
            .unwrap()
            .written
            .kept
    );
    // An existing file that is not an extract stays.
    let foreign = folder.write("foreign.etwx", b"mine");
    assert!(matches!(
        import_json(&input, &foreign, WriterOptions::default(), BTreeMap::new()),
        Err(ConvertError::Store(_))
    ));
}

/// Prints time and memory for a file of some hundred megabytes; run by hand: `cargo test -p
/// etwkit-extract --test it -- --ignored large_json --nocapture`.
#[test]
#[ignore = "writes a file of some hundred megabytes"]
fn a_large_json_file_is_read_in_pieces() {
    let folder = Folder::new();
    let path = folder.path("large.json");
    let bytes = write_large(&path, 300, 6000);
    let start = std::time::Instant::now();
    let extract = import(&path, &folder.path("large.etwx")).unwrap();
    let peak = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = peak
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap_or("")
        .to_owned();
    println!(
        "{bytes} bytes, {:.1} s, {peak}, {} methods",
        start.elapsed().as_secs_f64(),
        rows(&extract)["cpu_method"]
    );
}
