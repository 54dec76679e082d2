//! Properties, modules, missing symbol files.

use etwkit_question::Question;
use etwkit_question::trace::TraceInfo;
use etwkit_questions::stats::{StatsRequest, is_known};
use etwkit_questions::version::{VersionRequest, missing_pdbs};
use etwkit_sql::Session;
use etwkit_trace::table::{
    CpuCore, CpuMethod, Disk, Frame, Module, SystemConfigItem, Trace, Volume,
};

use super::super::support::rows;
use super::{MS, process, trace};

fn session() -> Session {
    let disk = Disk {
        disk: 0,
        model: Some("SSD".into()),
        size_bytes: Some(100 << 30),
        is_write_cache_enabled: Some(true),
        ..Disk::default()
    };
    let volume = Volume {
        drive: Some("C:".into()),
        size_bytes: Some(99 << 30),
        free_bytes: Some(3 << 30),
        ..Volume::default()
    };
    let item = |item, name: &str, value: Option<&str>| SystemConfigItem {
        topic: "nic".into(),
        item,
        name: name.into(),
        value: value.map(str::to_owned),
    };
    let items = [
        item(0, "description", Some("Ethernet")),
        item(1, "description", Some("WLAN")),
        item(1, "mac", None),
    ];
    let module = |key: Option<i32>, name: &str, pdb: Option<&str>| Module {
        process_key: key,
        path: format!("C:\\{name}"),
        name: name.into(),
        pdb_name: pdb.map(str::to_owned),
        pdb_guid: pdb.map(|pdb| format!("guid of {pdb}")),
        pdb_age: pdb.map(|_| 1),
        file_version: Some("1.2".into()),
        company: Some("Corp".into()),
        ..Module::default()
    };
    let modules = [
        module(None, "nt.exe", Some("nt.pdb")),
        module(Some(1), "b.dll", Some(r"d:\build\b.pdb")),
        module(Some(1), "a.exe", None),
    ];
    let method = CpuMethod {
        process_key: Some(1),
        module: Some("b.dll".into()),
        module_path: Some("C:\\b.dll".into()),
        method: "+0x10".into(),
        cpu_ns: 3 * MS,
        ..CpuMethod::default()
    };
    Session::from_batches(vec![
        rows(&[trace()]),
        rows(&[disk]),
        rows(&[volume]),
        rows(&items),
        rows(&modules),
        rows(&[method]),
        rows(&[process(1, 4, "a.exe")]),
    ])
    .unwrap()
}

#[test]
fn properties_with_a_value_are_listed() {
    let request = StatsRequest::default();
    let all = request
        .ask(&session())
        .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
    let value = |name: &str| {
        all.iter()
            .find(|p| p.name == name)
            .map(|p| p.value.as_str())
    };
    for (name, expected) in [
        ("Machine", Some("DESK")),
        ("OSBuild", Some("19041")),
        ("OSName", None),
        // 8 GiB in millions of bytes.
        ("MemorySizeMB", Some("8589")),
        ("SessionStart", Some("2024-05-01T10:00:00.1234567Z")),
        ("SessionEnd", Some("2024-05-01T10:00:10.123456Z")),
        ("SessionDurationS", Some("10")),
        ("BootTime", Some("2024-05-01T09:58:20.123456Z")),
        ("BootToSessionStartS", Some("100")),
        ("Disk0", Some("SSD, 100 GiB, write cache on")),
        ("VolumeC:", Some("3 of 99 GiB free")),
        ("nic.description", Some("Ethernet")),
        ("nic1.description", Some("WLAN")),
        ("nic1.mac", None),
    ] {
        assert_eq!(value(name), expected, "{name}");
    }
}

#[test]
fn properties_are_chosen_by_name() {
    let names = |filter: &str| -> Vec<String> {
        let request = StatsRequest {
            properties: Some(filter.into()),
            ..Default::default()
        };
        request
            .ask(&session())
            .unwrap()
            .into_iter()
            .map(|property| property.name)
            .collect()
    };
    assert_eq!(
        names("machine,Session*"),
        ["Machine", "SessionStart", "SessionEnd", "SessionDurationS"]
    );
    assert!(
        !names("!Session*")
            .iter()
            .any(|name| name.starts_with("Session"))
    );
    assert!(names("nosuch").is_empty());
}

#[test]
fn modules_stand_below_their_process() {
    let request = VersionRequest::default();
    let groups = request
        .ask(&session())
        .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
    let names: Vec<Vec<&str>> = groups
        .iter()
        .map(|group| group.rows.iter().map(|row| row.module.as_str()).collect())
        .collect();
    assert_eq!(names, [vec!["nt.exe"], vec!["a.exe", "b.dll"]]);
    let some = VersionRequest {
        dll: Some("b*".into()),
        version: Some("*corp*".into()),
        ..VersionRequest::default()
    };
    let groups = some.ask(&session()).unwrap();
    assert_eq!(
        (groups.len(), groups[0].rows.len(), groups[0].total),
        (1, 1, 2)
    );
}

#[test]
fn modules_may_be_in_no_stack() {
    let module = |module_id: i32, process_key: i32, name: &str| Module {
        module_id,
        process_key: Some(process_key),
        name: name.into(),
        ..Module::default()
    };
    // The same file in two processes is two modules, and ran in one of them.
    let modules = [
        module(0, 1, "app.exe"),
        module(1, 1, "help.dll"),
        module(2, 2, "app.exe"),
    ];
    let frame = |frame_id: i32, module_id: Option<i32>| Frame {
        frame_id,
        module_id,
        ..Frame::default()
    };
    let of = |frames: &[Frame]| {
        Session::from_batches(vec![
            rows(&[trace()]),
            rows(&[process(1, 10, "app.exe"), process(2, 20, "app.exe")]),
            rows(&modules),
            rows(frames),
        ])
        .unwrap()
    };
    let asked = VersionRequest {
        in_no_stack: true,
        ..VersionRequest::default()
    };
    let groups = asked
        .ask(&of(&[frame(0, Some(0)), frame(1, None)]))
        .unwrap();
    let names: Vec<(Option<i64>, &str)> = groups
        .iter()
        .flat_map(|group| &group.rows)
        .map(|row| (row.pid, row.module.as_str()))
        .collect();
    assert_eq!(names, [(Some(10), "help.dll"), (Some(20), "app.exe")]);
    // Without stacks nothing is known.
    let error = asked.ask(&of(&[])).unwrap_err();
    assert!(error.is_nothing(), "{error}");
}

#[test]
fn symbol_files_are_missing_where_code_has_cpu_and_no_names() {
    let missing = missing_pdbs(&session(), None).unwrap().rows;
    assert_eq!(missing.len(), 1);
    assert_eq!(
        (
            missing[0].pdb.as_str(),
            missing[0].cpu_ns,
            missing[0].all_pdbs
        ),
        ("b.pdb", 3 * MS, 2)
    );
    let none = missing_pdbs(&session(), Some("x*")).unwrap();
    assert!(
        none.rows.is_empty() && none.all_pdbs > 0 && !none.is_imported,
        "{none:?}"
    );
}

#[test]
fn parts_of_a_product_have_the_versions_of_their_markers() {
    let fact = |topic: &str, item, name: &str, value: &str| SystemConfigItem {
        topic: topic.into(),
        item,
        name: name.into(),
        value: Some(value.into()),
    };
    let facts = [
        fact("main_module_version", 0, "version", "1.2.2405.0103"),
        fact("main_module_version", 0, "module", "App"),
        fact("module_version", 1, "module", "App"),
        fact("module_version", 1, "version", "1.2.2405.0103"),
        fact("module_version", 1, "module_file", "app.dll"),
        fact("module_version", 0, "module", "Base"),
        fact("module_version", 0, "version", "1.2.2404.2901"),
        fact("module_version", 2, "module", "Other"),
        fact("module_version", 2, "version", "7.0"),
    ];
    let session = Session::from_batches(vec![rows(&facts), rows(&[trace()])]).unwrap();
    let asked = |names: &str| VersionRequest {
        marked: Some(names.into()),
        ..VersionRequest::default()
    };
    let parts = asked("*").ask_marked(&session).unwrap();
    let shown: Vec<_> = parts
        .iter()
        .map(|row| (&*row.part, row.built.as_deref(), row.days_before_main))
        .collect();
    assert_eq!(
        shown,
        [
            ("Base", Some("2024-04-29"), Some(2)),
            ("App", Some("2024-05-01"), Some(0)),
            ("Other", None, None),
        ]
    );
    assert!(
        parts
            .iter()
            .all(|row| row.main_version.as_deref() == Some("1.2.2405.0103"))
    );
    assert_eq!(parts[1].marker.as_deref(), Some("app.dll"));
    assert_eq!(asked("!base;!o*").ask_marked(&session).unwrap().len(), 1);
    assert!(asked("none").ask_marked(&session).unwrap().is_empty());
    let traces = asked("*").ask_marked(&self::session()).unwrap_err();
    assert!(traces.is_nothing(), "{traces}");
}

#[test]
fn names_of_tests_and_kinds_of_cores_are_properties() {
    let core = |cpu, class, mhz| CpuCore {
        cpu,
        processor_group: Some(0),
        efficiency_class: Some(class),
        nominal_mhz: Some(mhz),
        name: Some("Chip 9".into()),
        vendor: Some("Acme".into()),
        is_hyper_threaded: Some(cpu == 0),
        ..CpuCore::default()
    };
    let name = "Open_3117ms_PC_CLT_TestStatus-Passed_20200717-124447.etl";
    let platform = |name: &str, value: &str| SystemConfigItem {
        topic: "platform".into(),
        item: 0,
        name: name.into(),
        value: Some(value.into()),
    };
    let session = Session::from_batches(vec![
        rows(&[Trace {
            file_name: name.into(),
            ..trace()
        }]),
        rows(&[core(0, 1, 3000), core(1, 0, 2000), core(2, 0, 2000)]),
        rows(&[
            platform("manufacturer", "ASUS"),
            platform("product", "Board 7"),
        ]),
    ])
    .unwrap();
    let request = StatsRequest::default();
    let all = request
        .ask(&session)
        .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
    let value = |name: &str| {
        all.iter()
            .find(|p| p.name == name)
            .map(|p| p.value.as_str())
    };
    for (name, expected) in [
        ("TestCase", "Open"),
        ("TestTimeMs", "3117"),
        ("PerformedAt", "2020-07-17T12:44:47"),
        ("TestStatus", "Passed"),
        ("EfficiencyClasses", "class 0: 2, class 1: 1"),
        ("CPUSpeedByClassMHz", "class 0: 2000, class 1: 3000"),
        ("CPUVendor", "Acme"),
        ("CPUName", "Chip 9"),
        ("CPUProcessorGroups", "1"),
        ("HyperThreading", "on"),
        ("Model", "ASUS Board 7"),
    ] {
        assert_eq!(value(name), Some(expected), "{name}");
    }
}

/// Names of tests and machines come from the name of the file, and the machine of the recording goes
/// first.
#[test]
fn names_of_files_give_what_the_recording_lacks() {
    let machine = |name: &str, computer: Option<&str>| {
        let recorded = Trace {
            computer: computer.map(str::to_owned),
            file_name: name.into(),
            ..trace()
        };
        let session = Session::from_batches(vec![rows(&[recorded])]).unwrap();
        let request = StatsRequest {
            properties: Some("TestCase;Machine".into()),
            ..Default::default()
        };
        let rows = request.ask(&session).unwrap();
        rows.into_iter().map(|row| row.value).collect::<Vec<_>>()
    };
    let name = "Open_5msMY_PC-1.etl";
    assert_eq!(machine(name, None), ["Open", "MY_PC-1"]);
    assert_eq!(machine(name, Some("OTHER")), ["Open", "OTHER"]);
    assert!(machine("x.etl", None).is_empty());
}

#[test]
fn properties_of_machines_have_the_same_names_whatever_reports_them() {
    let fact = |topic: &str, item, name: &str, value: &str| SystemConfigItem {
        topic: topic.into(),
        item,
        name: name.into(),
        value: Some(value.into()),
    };
    let facts = [
        fact("cpu", 0, "is_domain_joined", "true"),
        fact("platform", 0, "win_sat_os_name", "Windows 10"),
        fact("main_module_version", 0, "version", "5.1"),
        fact("video", 0, "display_name", "Panel"),
        fact("video", 0, "horizontal_resolution", "1920"),
        fact("video", 0, "vertical_resolution", "1080"),
        fact("nics", 0, "description", "Card"),
        fact("nics", 0, "addresses", "10.0.0.1"),
        fact("nic", 1, "nic_description", "Other"),
    ];
    let session = Session::from_batches(vec![rows(&facts), rows(&[trace()])]).unwrap();
    let ask = |names: &str| -> Vec<(String, String)> {
        let request = StatsRequest {
            properties: Some(names.into()),
            ..Default::default()
        };
        let rows = request
            .ask(&session)
            .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
        rows.into_iter().map(|row| (row.name, row.value)).collect()
    };
    let named = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        ask("IsDomainJoined,WinSatOSName,MainModuleVersion,Displays,Network"),
        [
            named("IsDomainJoined", "true"),
            named("WinSatOSName", "Windows 10"),
            named("MainModuleVersion", "5.1"),
            named("Displays", "Panel, 1920 x 1080"),
            named("Network", "Card, address 10.0.0.1"),
            named("Network", "Other"),
        ]
    );
    assert_eq!(ask("UsedExtractOptions"), []);
    assert!(is_known("UsedExtractOptions") && is_known("AdDomain") && !is_known("NoSuch"));
}

/// A name that no trace has is an error; one that only other traces have gives no rows.
#[test]
fn a_name_that_no_trace_has_is_a_mistake() {
    let session = session();
    let across = |names: &str| {
        let request = StatsRequest {
            properties: Some(names.into()),
            ..Default::default()
        };
        let mut answer = request.answer(&session).unwrap();
        let info = TraceInfo::default();
        request
            .across(&mut [(&info, &mut answer)])
            .map(|_| answer.len())
    };
    assert_eq!(across("Machine").unwrap(), 1);
    assert_eq!(across("WinSatOSName").unwrap(), 0);
    let error = across("NoSuch").unwrap_err().to_string();
    assert!(
        error.starts_with("--properties: there is no property \"NoSuch\"; there are: "),
        "{error}"
    );
}
