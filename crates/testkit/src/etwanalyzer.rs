//! Extracts of ETWAnalyzer, generated from its data model: a small one whose numbers can be
//! calculated by hand, and one of any size.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sevenz_rust2::{ArchiveEntry, ArchiveWriter};

/// An extract: its main file, and the part files next to it.
#[derive(Debug, Clone)]
pub struct JsonExtract {
    /// The main file.
    pub main: Value,
    /// Name of each part, such as `FileIO`, and its content.
    pub parts: Vec<(&'static str, Value)>,
}

/// Time zero of the small extract, with the zone of its machine.
const START: &str = "2024-05-01T12:00:00+02:00";
const UNKNOWN_START: &str = "0001-01-01T00:00:00+00:00";
const UNKNOWN_END: &str = "9999-12-31T23:59:59.9999999+00:00";

/// Returns the time that is this many seconds after the start.
fn at(seconds: &str) -> String {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    format!("2024-05-01T12:00:{whole:0>2}.{fraction}+02:00")
}

/// Returns a recording of ten seconds with something in every section. Processes by index: 0
/// `worker.exe` (100) that starts in the trace, 1 the one with id 200 that crashes, 2 System, 3
/// Idle, 4 `explorer.exe`.
#[must_use]
pub fn small() -> JsonExtract {
    let main = json!({
        "SourceETLFileName": "C:\\traces\\Reading_3117msPC-1.20240501-120000.etl",
        "UsedExtractOptions": "ETWAnalyzer.exe -extract all -fd C:\\traces\\x.etl",
        "ComputerName": "PC-1", "OSName": "Windows 10 Pro", "OSBuild": "vb_release", "OSVersion": "10.0.19043",
        "MemorySizeMB": 17120, "NumberOfProcessors": 8, "CPUSpeedMHz": 3500, "CPUVendor": "GenuineIntel",
        "CPUName": "A processor", "CPUHyperThreadingEnabled": true,
        "SessionStart": START, "SessionEnd": at("10"), "BootTime": "2024-05-01T11:00:00+02:00",
        "TraceHeader": {"BufferSize": 524_288, "LogFileMode": "FILE_MODE_SEQUENTIAL", "EventsLost": 3, "BuffersLost": 1},
        "ETWMarks": [{"Time": at("2.5"), "MarkMessage": "half"}, {"Time": at("1"), "MarkMessage": "begin"}],
        "Model": "MS-7846", "AdDomain": "", "IsDomainJoined": false,
        "Displays": [{"HorizontalResolution": 3840, "IsPrimaryDevice": true, "DisplayName": "Screen"}],
        "PowerConfiguration": power(),
        "Processes": processes(),
        "CPU": cpu(),
        "Disk": disk(),
        "Exceptions": {"Stacks": {"Stack2Messages": {
            "clr.dll!IL_Throw\r\napp.dll!App.Load\r\napp.dll!App.Main\r\n": [
                {"Message": "not there", "Type": "System.IO.FileNotFoundException", "Processes": [0, 0, 1], "Threads": [11, 12, 21],
                 "Times": [at("3.5"), at("3"), at("4")]}],
            "No Stack": [{"Message": "null", "Type": "System.NullReferenceException", "Processes": [1], "Threads": [21], "Times": [at("8")]}],
        }}},
        "ThreadPool": {"PerProcessThreadPoolStarvations": {"worker.exe(100)2024-05-01T12:00:01.0000000+02:00": [
            {"NewWorkerThreadCount": 9, "DateTime": at("5"), "TotalSeconds": 5.0},
            {"NewWorkerThreadCount": 10, "DateTime": at("5.5"), "TotalSeconds": 5.5}]},
            "ThreadPoolEventCount": 17},
        "MainModuleVersion": {"Version": "1.2.2405.0100", "Module": "App", "ModuleFile": "app.dll"},
        "MemoryUsage": memory(),
        "SummaryStackTags": {"UsedStackTagFiles": ["C:\\x\\default.stacktags"], "Stats": [
            {"Key": {"Name": "worker.exe", "StartTime": at("1"), "Pid": 100}, "Value": [
                {"Stacktag": "Serializer\\Xml", "CPUInMs": 700, "WaitDurationInMs": 1900, "FirstOccurence": at("1.5"),
                 "FirstLastOccurenceDuration": "00:00:07.5"},
                {"Stacktag": "Other", "CPUInMs": 800, "WaitDurationInMs": 0, "FirstOccurence": at("1"), "FirstLastOccurenceDuration": "00:00:00"}]},
            {"Key": "worker.exe(200)", "Value": [
                {"Stacktag": "Other", "CPUInMs": 250, "WaitDurationInMs": 5, "FirstOccurence": at("0.5"), "FirstLastOccurenceDuration": "00:00:02"}]}]},
        "SpecialStackTags": {"UsedStackTagFiles": ["C:\\x\\Special.stacktags"], "Stats": []},
        "PMC": {"Counters": [
            {"CounterName": "InstructionRetired", "ProcessMap": {"0": 8_000_000, "1": 1000}},
            {"CounterName": "TotalCycles", "ProcessMap": {"0": 4_000_000, "1": 4000}}],
            "LBRData": {"Methods": ["app.dll!App.Main", "app.dll!App.Load", "clr.dll!JIT_New"],
                        "Costs": ["0 1 0 70", "1 2 0 30", "0 1 1 5"]}},
        "Network": network(),
        "NetworkInterfaces": [{"DnsServerAddresses": "10.0.0.53;10.0.0.54", "IPv4Index": 9, "NicDescription": "Ethernet"}],
        "NewMember": {"of": ["a", "later", "version"]},
    });
    let parts = vec![
        ("FileIO", file_io()),
        ("Modules", modules()),
        ("CPUExtended", cpu_extended()),
        ("Handle", handles()),
        (
            "HandleStacks",
            json!({"StackList": ["ntoskrnl.exe!NtCreateEvent\napp.dll!App.Main", "ntoskrnl.exe!NtClose\napp.dll!App.Main"]}),
        ),
        ("VirtualAlloc", virtual_alloc()),
        (
            "VirtualAllocStacks",
            json!({"StackList": ["ntdll.dll!NtAllocateVirtualMemory\napp.dll!App.Load"]}),
        ),
        ("TraceLogging", trace_logging()),
        (
            "TraceLogStacks",
            json!({"StackList": ["advapi32.dll!EventWrite\napp.dll!App.Main"]}),
        ),
    ];
    JsonExtract { main, parts }
}

fn processes() -> Value {
    json!([
        {"ProcessID": 100, "ProcessName": "worker.exe", "CmdLine": "worker.exe --fast", "StartTime": at("1"), "EndTime": UNKNOWN_END,
         "Identity": "PC-1\\anna", "SessionId": 1, "HasEnded": false, "IsNew": true, "ParentPid": 7},
        {"ProcessID": 200, "ProcessName": "worker.exe", "CmdLine": "worker.exe", "StartTime": UNKNOWN_START, "EndTime": at("9"),
         "SessionId": 1, "HasEnded": true, "IsNew": false, "ReturnCode": -1_073_741_819, "ParentPid": 7, "StartStopTags": " -"},
        {"ProcessID": 4, "ProcessName": "System", "StartTime": UNKNOWN_START, "EndTime": UNKNOWN_END, "HasEnded": false, "IsNew": false, "ParentPid": 0},
        {"ProcessID": 0, "ProcessName": "Idle", "StartTime": UNKNOWN_START, "EndTime": UNKNOWN_END, "HasEnded": false, "IsNew": false, "ParentPid": 0},
        {"ProcessID": 7, "ProcessName": "explorer.exe", "StartTime": UNKNOWN_START, "EndTime": UNKNOWN_END, "HasEnded": false, "IsNew": false, "ParentPid": 4},
    ])
}

fn cpu() -> Value {
    json!({
        "PerProcessCPUConsumptionInMs": {
            "Idle(0)": 8000, "worker.exe(100)2024-05-01T12:00:01.0000000+02:00": 1500, "worker.exe(200)": 250, "System(4)": 40},
        "PerProcessAvgCPUPriority": {"0": 8.5, "1": 8.0},
        "PerProcessCoreUsage": {"0": [0, 1, 2, 6], "1": [3]},
        "PerProcessMethodCostsInclusive": {
            "MethodNames": ["app.dll!App.Main", "app.dll+0x1a2b", "ntdll.dll!NtWaitForSingleObject", "<UnknownModule>!<UnknownMethod>"],
            "ContainsAllCPUData": false, "HasCSwitchData": true, "HasCPUSamplingData": true,
            "MethodStatsPerProcess": [
                {"Process": {"Name": "worker.exe", "StartTime": at("1"), "Pid": 100}, "CostsAsString": [
                    "0 1200 300 1.0000 9.5000 3 5 20 150 400", "1 40 0 2.2500 2.3000 1 0 0 0 0", "2 0 2500 1.1000 9.4000 2 0 30 90 900"]},
                {"Process": "worker.exe(200)", "CostsAsString": ["0 200 11 0.5000 8.0000 1 4 7", "3 20 0 0.7500 0.8000 1 1 0"]}]},
        "Topology": {
            "0": {"NominalFrequencyMHz": 3000, "RelativePerformancePercentage": 100, "EfficiencyClass": 1},
            "6": {"NominalFrequencyMHz": 2000, "RelativePerformancePercentage": 60, "EfficiencyClass": 0}},
        "TimeLine": {"ExtractionInveralS": 1.0, "ProcessTimeLines": {"worker.exe(200)": {"CPUMs": [1, 2]}}},
    })
}

fn cpu_extended() -> Value {
    json!({
        "CPUToFrequencyDurations": {"0": {"StartTimesS": [0.0, 5.0], "EndTimesS": [5.0, 10.0], "AverageFrequencyMHz": [3600, 1500]}},
        "MethodData": [
            {"Index": 0, "CPUConsumption": [
                {"EfficiencyClass": 1, "AverageMHz": 3600, "CPUMs": 1000, "UsedCores": 3, "EnabledCPUsAvg": 8, "FirstS": 1.0, "LastS": 9.5},
                {"EfficiencyClass": 0, "AverageMHz": 1000, "CPUMs": 200, "UsedCores": 1, "EnabledCPUsAvg": 8, "FirstS": 2.0, "LastS": 3.0}],
             "ReadyMetrics": {"Other": [1.0, 400, 0.5, 900.25, 1.5, 2.5, 10.0, 50.0, 75.5, 500.0, 60_000.0, 2000.0],
                              "DeepSleep": [1.0, 60, 20.0, 80.0, 21.0, 30.0, 40.0, 60.0, 70.0, 79.0, 2700.0]}},
            // The second method of the second process: its index << 20 | number.
            {"Index": 1_048_576 + 3, "ReadyMetrics": {"Other": [1.0, 51, 1.0, 2.0, 1.0, 1.0, 1.5, 2.0, 2.0, 2.0, 77.0]}}],
    })
}

fn disk() -> Value {
    let process = |pid: u32, start: &str| json!({"Key": pid, "Value": start});
    let (first, second) = (process(100, &at("1")), process(200, UNKNOWN_START));
    json!({
        "DiskInformation": [{"Type": 1, "Model": "SSD 1", "CapacityGiB": 100.0, "SectorSizeBytes": 512, "IsWriteCachingEnabled": true,
            "Partitions": [{"FileSystem": 0, "Drive": "C", "TotalSizeGiB": 90.0, "FreeSizeGiB": 10.5}]}],
        "DriveToPath": {
            "C": {"FilePathToDiskEvents": {
                "C:\\data\\big.bin": {
                    "Read": {"ThreadIDs": [11], "Processes": [first], "Priorities": 4, "DiskServiceTimeInus": 1500, "SizeInBytes": 1_048_576},
                    "Write": {"ThreadIDs": [11, 21], "Processes": [first, second], "Priorities": 6, "DiskServiceTimeInus": 250, "SizeInBytes": 4096}},
                "C:\\data\\small.txt": {
                    "Read": {"ThreadIDs": [21], "Processes": [second], "Priorities": 0, "DiskServiceTimeInus": 100, "SizeInBytes": 512}}}},
            "Id1": {"FilePathToDiskEvents": {
                "Flush": {"Flush": {"ThreadIDs": [], "Processes": [first], "Priorities": 4, "DiskServiceTimeInus": 2000, "SizeInBytes": 0}}}}},
        "TotalDiskServiceTimeInus": 3850, "TotalDiskReadTimeInus": 1600, "TotalDiskFlushTimeInus": 2000, "TotalDiskWriteTimeTimeInus": 250,
    })
}

fn file_io() -> Value {
    json!({"FileName2PerProcessMapping": {
        "C:\\data\\big.bin": {"Process": {
            "0": {"Open": {"NtStatus": [-1_073_741_772], "Durationus": 300, "Count": 3}, "Close": {"Durationus": 40, "Count": 2, "Cleanups": 2},
                  "Read": {"MaxFilePosition": 1_048_576, "AccessedBytes": 2_097_152, "Count": 32, "Durationus": 5000},
                  "Rename": {"Count": 1}},
            "1": {"Write": {"MaxFilePosition": 8192, "AccessedBytes": 4096, "Count": 1, "Durationus": 77},
                  "SetSecurity": {"Times": [at("3"), at("4")], "NtStatus": [0, 0]}, "Delete": {"Count": 4}}}},
        "C:\\data\\small.txt": {"Process": {"1": {"Read": {"MaxFilePosition": 512, "AccessedBytes": 512, "Count": 1, "Durationus": 9}}}},
    }})
}

fn modules() -> Value {
    json!({
        "TotalPdbCount": 5,
        "SharedStrings": {"Strings": ["C:\\app", "app.dll", "1.2.3 (main)", "1.2", "The App", "1.2.3.4", "Does it", "C:\\Windows\\System32", "ntdll.dll",
            "worker.exe", "C:\\Windows\\System32\\drivers", "WdFilter.sys"]},
        "UnresolvedPdbs": [{"Pdb": "11111111-2222-3333-4444-555555555555 2 my app.pdb"}],
        "Modules": [
            {"ModuleAndPid": "0 1 2 3 4 5 6 #0 #1", "PdbIdx": 0},
            {"ModuleAndPid": "7 8 -2 -2 -2 5 -2 #0 #1"},
            {"ModuleAndPid": "0 9 2 3 4 5 6 #0 #1"},
            {"ModuleAndPid": "10 11 -2 -2 -2 5 -2 #2"}],
    })
}

fn memory() -> Value {
    let set = |process: &str, working_set: u32, commit: u32| json!({"Process": process, "WorkingSetInMiB": working_set, "CommitInMiB": commit, "WorkingsetPrivateInMiB": working_set / 2, "SharedCommitSizeInMiB": 3});
    json!({
        "MachineCommitStartMiB": 4000, "MachineCommitEndMiB": 4100, "MachineCommitDiffMiB": 100,
        "MachineActiveStartMiB": 3000, "MachineActiveEndMiB": 2900, "MachineActiveDiffMiB": -100,
        "WorkingSetsAtStart": [
            set("worker.exe(200)", 50, 70),
            set("SystemCacheWs(1)", 500, 0), set("PagedPoolWs(1)", 30, 0), set("SystemPteWs(1)", 6, 0)],
        "WorkingSetsAtEnd": [
            set("worker.exe(200)", 60, 90), set("worker.exe(100)2024-05-01T12:00:01+02:00", 20, 25),
            set("SystemCacheWs(1)", 400, 0), set("PagedPoolWs(1)", 32, 0), set("SystemPteWs(1)", 6, 0)],
    })
}

fn network() -> Value {
    json!({
        "DnsClient": {"Events": [
            {"ProcessIdx": 0, "Query": "www.example.com", "Start": at("2"), "Duration": "00:00:00.2500000", "Result": "93.184.216.34;",
             "ServerList": "10.0.0.53", "TimedOut": false, "Adapters": "Ethernet", "QueryStatus": 0},
            {"ProcessIdx": 0, "Query": "www.example.com", "Start": at("2.1"), "Duration": "00:00:00.3000000", "TimedOut": true,
             "TimedOutServer": "10.0.0.54", "QueryStatus": 9003}]},
        "TcpData": {
            "Connections": [
                {"Tcb": 18_446_677_618_096_345_104u64, "LocalIpAndPort": {"Address": "10.0.0.5", "Port": 50000},
                 "RemoteIpAndPort": {"Address": "93.184.216.34", "Port": 443}, "TimeStampOpen": at("2.5"), "TimeStampClose": at("7"),
                 "LastTcpTemplate": "Internet", "BytesReceived": 5000, "DatagramsReceived": 5, "BytesSent": 700, "DatagramsSent": 4, "ProcessIdx": 0,
                 "RetransmitTimeout": at("6.5"),
                 "Statistics": {"KeepAlive": true, "MaxSendDelayS": 1.25, "MaxReceiveDelayS": 0.5, "LastSent": at("6"), "LastReceived": at("5"),
                                "DataBytesIn": 6000, "DataBytesOut": 800, "SegmentsIn": 9, "SegmentsOut": 8, "AverageSendRate": 1234.5,
                                "SendPostedPosted": 4, "SendPostedInjected": 1, "RstReceivedTime": at("6.75"),
                                "AggregatedAverageSendRate": 1.0}},
                {"Tcb": 2, "LocalIpAndPort": {"Address": "[::1]", "Port": 1000}, "RemoteIpAndPort": {"Address": "[::1]", "Port": 1001},
                 "BytesReceived": 0, "DatagramsReceived": 0, "BytesSent": 0, "DatagramsSent": 0, "ProcessIdx": -1, "Statistics": {}}],
            "Retransmissions": [
                {"ConnectionIdx": 0, "RetransmitTime": at("5.9"), "SendTime": at("5.6"), "SequenceNumber": 3_562_726_492u32, "NumBytes": 300},
                {"ConnectionIdx": 0, "RetransmitTime": at("4"), "SendTime": at("3.9"), "SequenceNumber": 7, "NumBytes": 100, "IsClientRetransmission": true}],
            "TcpIssues": {"PostIssues": [
                {"ConnectionIdx": 0,
                 "PreviousPosted": {"Time": at("3.0"), "InjectedReason": "Posted", "NumBytes": 100, "SndNext": 1000},
                 "OutOfOrderPost": {"Time": at("3.001"), "InjectedReason": "Posted", "NumBytes": 50, "SndNext": 1000},
                 "Injected": {"Time": at("3.002"), "InjectedReason": "Injected", "NumBytes": 100, "SndNext": 1050}}]}},
    })
}

fn power() -> Value {
    json!([{
        "TimeSinceTraceStartS": 9.5, "IncreasePolicy": 0, "BoostMode": 2, "BoostPolicyPercent": 100, "BaseProfile": 3,
        "DecreaseStabilizationInterval": "00:00:00.0010000", "MaxThrottlingFrequencyPercent": -1, "SystemCoolingPolicy": 0,
        "StabilizationInterval": "00:00:00.0500000",
        "IdleConfiguration": {"Enabled": true, "MinimumDurationBetweenChecks": "00:00:00.0500000", "PromoteThresholdPercent": 60},
        "ProcessorParkingConfiguration": {"MinUnparkedProcessorPercent": 100, "UtilityDistributionEnabled": false},
        "AutonomousMode": true, "ActivePowerProfile": 3, "ActivePowerProfileGuid": "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c",
        "DecreaseLevelThresholdClass1": 842_150_450, "EnergyPreferencePercent": 33, "ShortVsLongThreadThresholdUs": 5000,
    }])
}

fn handles() -> Value {
    let event = |ns: i64, process: i32, handle: u64, stack: i32| json!({"TimeNs": ns, "StackIdx": stack, "ProcessIdx": process, "ThreadId": 11, "HandleValue": handle});
    json!({
        "ObjectTypeMap": {"16": "Event", "37": "File"},
        "ObjectReferences": [
            {"ObjectPtr": -58_411_555_223_472i64, "ObjectType": 16, "Name": "\\BaseNamedObjects\\go",
             "CreateEvent": {"TimeNs": 1_500_000_000, "RefCountChange": 1, "StackIdx": 0, "ProcessIdx": 0, "ThreadId": 11},
             "DestroyEvent": {"TimeNs": 2_500_000_000i64, "RefCountChange": -1, "StackIdx": 1, "ProcessIdx": 0, "ThreadId": 11},
             "HandleCreateEvents": [event(1_500_000_000, 0, 0x1a4, 0)],
             "HandleCloseEvents": [event(2_500_000_000, 0, 0x1a4, 1)]},
            {"ObjectPtr": 4096, "ObjectType": 37, "HandleCreateEvents": [event(3_000_000_000, 1, 0x50, -1)],
             "RefChanges": [{"TimeNs": 3_100_000_000i64, "RefCountChange": 2, "StackIdx": -1, "ProcessIdx": 1, "ThreadId": 21},
                            {"TimeNs": 3_200_000_000i64, "RefCountChange": -1, "StackIdx": -1, "ProcessIdx": 1, "ThreadId": 21}]},
            {"ObjectPtr": 77, "ObjectType": 1000, "FileMapEvents": [
                {"TimeNs": 4_000_000_000i64, "StackIdx": -1, "ProcessIdx": 0, "ThreadId": 11, "ViewBase": 65536, "FileObject": 9, "ViewSize": 8192, "ByteOffset": 0}],
             "FileUnmapEvents": [
                {"TimeNs": 4_250_000_000i64, "StackIdx": -1, "ProcessIdx": 0, "ThreadId": 11, "ViewBase": 65536, "FileObject": 9, "ViewSize": 8192, "ByteOffset": 0}]}],
    })
}

fn virtual_alloc() -> Value {
    json!({
        "VirtualAllocEvents": [
            {"ProcessIdx": 0, "ThreadId": 11, "BaseAddress": 1_048_576, "Size": 65536, "Flags": 4096, "TimeInSecondsSinceTraceStart": 1.5, "StackIdx": 0},
            {"ProcessIdx": 0, "ThreadId": 12, "BaseAddress": 2_097_152, "Size": 4096, "Flags": 12288, "TimeInSecondsSinceTraceStart": 2.5, "StackIdx": -1}],
        "PerProcessStats": [
            {"ProcessIdx": 0, "CommitCount": 10, "CommittedSizeInBytes": 1_000_000, "FreedCount": 8, "FreedSizeInBytes": 930_368,
             "MaxCommitSizeInBytes": 500_000, "NotReleasedCommitCount": 2, "NotReleasedSizeInBytes": 69632}],
    })
}

fn trace_logging() -> Value {
    json!({"EventsByProvider": {"My-Provider": {
        "ProviderId": "AAAAAAAA-bbbb-cccc-dddd-eeeeeeeeeeee", "ProviderName": "My-Provider",
        "EventDescriptors": {"3": {"Name": "Loaded", "EventId": 3, "FieldNames": ["name", "size"], "ListNames": ["ids"]}},
        "Events": [
            {"EventId": 3, "ThreadId": 11, "StackIdx": 0, "ProcessIdx": 0, "TimeStamp": at("4.5"), "Fields": {"name": "a.txt", "size": "12"}, "Lists": {"ids": ["1", "2"]}},
            {"EventId": 3, "ThreadId": 21, "StackIdx": -1, "ProcessIdx": 1, "TimeStamp": at("3.5"), "Fields": {"name": "b.txt"}, "Lists": {}}]}}})
}

impl JsonExtract {
    /// Writes `NAME.json` and its parts into a folder. Returns the path of the main file.
    ///
    /// # Panics
    /// If they cannot be written.
    #[must_use]
    pub fn write(&self, folder: &Path, name: &str) -> PathBuf {
        for (file, bytes) in self.files(name) {
            std::fs::write(folder.join(file), bytes).unwrap();
        }
        folder.join(format!("{name}.json"))
    }

    /// Writes `NAME.json7z` into a folder. Returns its path.
    ///
    /// # Panics
    /// If it cannot be written.
    #[must_use]
    pub fn write_packed(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(format!("{name}.json7z"));
        let mut writer = ArchiveWriter::new(Cursor::new(Vec::new())).unwrap();
        for (file, bytes) in self.files(name) {
            writer
                .push_archive_entry(ArchiveEntry::new_file(&file), Some(bytes.as_slice()))
                .unwrap();
        }
        std::fs::write(&path, writer.finish().unwrap().into_inner()).unwrap();
        path
    }

    fn files(&self, name: &str) -> Vec<(String, Vec<u8>)> {
        let parts = self
            .parts
            .iter()
            .map(|(part, value)| (format!("{name}_Derived_{part}.json"), value));
        let main = (format!("{name}.json"), &self.main);
        std::iter::once(main)
            .chain(parts)
            .map(|(file, value)| (file, serde_json::to_vec_pretty(value).unwrap()))
            .collect()
    }
}

/// Writes a 7z archive with the small extract under each of the names.
///
/// # Panics
/// If it cannot be written.
pub fn write_many(path: &Path, names: &[&str]) {
    let main = serde_json::to_vec(&small().main).unwrap();
    let mut writer = ArchiveWriter::new(Cursor::new(Vec::new())).unwrap();
    for name in names {
        writer
            .push_archive_entry(ArchiveEntry::new_file(name), Some(main.as_slice()))
            .unwrap();
    }
    std::fs::write(path, writer.finish().unwrap().into_inner()).unwrap();
}

/// Writes an extract with this many processes, each with this many methods, files and DNS queries.
/// Returns the bytes of JSON.
///
/// # Panics
/// If it cannot be written.
pub fn write_large(path: &Path, processes: usize, methods: usize) -> u64 {
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let text = |list: &mut dyn Iterator<Item = String>| list.collect::<Vec<_>>().join(",\n");
    let process = |index: usize| {
        format!(
            "{{\"ProcessID\": {}, \"ProcessName\": \"p{index}.exe\", \"StartTime\": \"{UNKNOWN_START}\", \"EndTime\": \"{UNKNOWN_END}\", \"ParentPid\": 4}}",
            index * 4 + 8
        )
    };
    let total = |index: usize| format!("\"p{index}.exe({})\": {index}", index * 4 + 8);
    let name = |method: usize| {
        format!(
            "\"module{}.dll!Namespace.Of.Some.Length.Class{method}.Method\"",
            method % 97
        )
    };
    write!(
        out,
        "{{\"SessionStart\": \"{START}\", \"SessionEnd\": \"{}\", \"Processes\": [",
        at("10")
    )
    .unwrap();
    write!(
        out,
        "{}], \"CPU\": {{\"PerProcessCPUConsumptionInMs\": {{",
        text(&mut (0..processes).map(process))
    )
    .unwrap();
    write!(
        out,
        "{}}}, \"PerProcessMethodCostsInclusive\": {{\"MethodNames\": [",
        text(&mut (0..processes).map(total))
    )
    .unwrap();
    write!(
        out,
        "{}], \"HasCSwitchData\": true, \"MethodStatsPerProcess\": [",
        text(&mut (0..methods).map(name))
    )
    .unwrap();
    for index in 0..processes {
        let costs = (0..methods).map(|method| {
            format!(
                "\"{method} {} 12 0.1234 9.8765 3 7 1 20 300\"",
                method % 500
            )
        });
        let separator = if index == 0 { "" } else { "," };
        write!(
            out,
            "{separator}{{\"Process\": \"p{index}.exe({})\", \"CostsAsString\": [{}]}}",
            index * 4 + 8,
            text(&mut { costs })
        )
        .unwrap();
    }
    write!(out, "]}}}}, \"Network\": {{\"DnsClient\": {{\"Events\": [").unwrap();
    for index in 0..processes * methods / 4 {
        let separator = if index == 0 { "" } else { "," };
        let process = index % processes;
        writeln!(
            out,
            "{separator}{{\"ProcessIdx\": {process}, \"Query\": \"host{index}.example.com\", \"Start\": \"{}\", \"Duration\": \"00:00:00.0012345\", \"QueryStatus\": 0}}",
            at("2.5")
        )
        .unwrap();
    }
    write!(out, "]}}}}}}").unwrap();
    out.flush().unwrap();
    drop(out);
    std::fs::metadata(path).unwrap().len()
}
