//! The drive C: of the lines: traces under the names that the lines use, and extracts of them.

use std::path::Path;
use std::sync::OnceLock;

use crate::support::{Answer, Exit, run, trace};

/// Extracts: where, and of which trace: a scenario, one that is built here (`built:` and what differs), or a
/// small trace that others made.
const EXTRACTS: &[(&str, &str)] = &[
    ("temp/Extract/SlowSystem", "slow-system"),
    (
        "temp/Extract/ManySlowCalls_MAGNON.03-07-2023.23-21-41",
        "many-slow-calls",
    ),
    ("browsing/SlowBrowsing_Skyrmion", "slow-browsing"),
    ("temp/Extract/SlowBrowsing_Skyrmion", "dns-5.etl"),
    // Lines that extract write into temp/Extract meanwhile.
    ("options/SlowSystem", "git-bash"),
    ("options/Browsing", "dns-5.etl"),
    ("more/Browsing", "dns-5.etl"),
    ("more/Connections", "tcp-5.etl"),
    ("more/Handles", "handles-5.etl"),
    ("more/Shop", "dotnet-5.etl"),
    ("more/Marks", "sched-5.etl"),
    ("power/Win10_Balanced", "power-5.etl"),
    ("power/Win10_Other", "power-5.etl"),
    ("cores/Hybrid", "pe-cores"),
    ("perf/Test_NormalPrio", "load-stress"),
    // On fewer processors than it has threads.
    ("perf/Test_NormalPrio8Cores", "load-stress --cpus 8"),
    (
        "perf/WebBrowsingRouterOn_SKYRMION.10-06-2022.19-46-16",
        "slow-browsing",
    ),
    ("runs/Open_100msCLIENT.20200717-120000", "power-5.etl"),
    ("runs/Open_100msSERVER.20200717-120100", "power-5.etl"),
    ("runs/Open_450msCLIENT.20200717-121000", "power-5.etl"),
    ("runs/Close_200msCLIENT.20200718-090000", "power-5.etl"),
    ("runs/NoTest", "power-5.etl"),
    // The milliseconds are those that the program took.
    (super::rows::SERIAL, "file-writer"),
    (super::rows::PARALLEL, "file-writer-parallel"),
    (super::rows::TAKE_1, "file-writer"),
    (super::rows::TAKE_2, "file-writer-quiet"),
    (super::rows::TESTS, "serializer-tests"),
    ("built/Shop", "built:300"),
    ("built/ShopLater", "built:700"),
];

/// Traces that lines extract.
const TRACES: &[(&str, &str)] = &[
    ("temp/test.etl", "dotnet-5.etl"),
    ("temp/SlowBrowsing_Skyrmion.etl", "dns-5.etl"),
    ("temp/FileCreateSerial.etl", "file-writer"),
    ("temp/FileCreateParallel.etl", "file-writer-parallel"),
    (
        "Source/git/SerializerTests/SerializerTestResults/_0_14_06/First.etl",
        "serializer-tests",
    ),
    (
        "Source/git/SerializerTests/SerializerTestResults/_0_14_06/Second.etl",
        "tcp-5.etl",
    ),
];

/// The folder, made once.
pub(super) fn drive() -> &'static Path {
    static DRIVE: OnceLock<tempfile::TempDir> = OnceLock::new();
    DRIVE.get_or_init(make).path()
}

fn make() -> tempfile::TempDir {
    let drive = tempfile::tempdir().unwrap();
    let at = |name: &str| {
        let path = drive.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    for (name, of) in TRACES {
        let trace = at(name);
        make_trace(of, &trace);
        // Only the trace is there.
        let _ = std::fs::remove_file(trace.with_extension("truth.json"));
        let _ = std::fs::remove_dir_all(trace.with_extension("symbols"));
    }
    let hybrid = at("sources/Hybrid.etl");
    ours(&[
        "synth",
        "write",
        "pe-cores",
        "--cpus",
        "2",
        "--out",
        text(&hybrid),
    ]);
    for (name, of) in EXTRACTS {
        let source = if *of == "pe-cores" {
            hybrid.clone()
        } else {
            // The name of a trace is that of its extract.
            let source = at(&format!("sources/{name}.etl"));
            make_trace(of, &source);
            source
        };
        let target = at(&format!("{name}.etwx"));
        ours(&["extract", "--out", text(&target), text(&source)]);
    }
    crate::names::write_services(&at("names/Services.etwx"));
    // An extract of ETWAnalyzer, which alone can name the parts of a product.
    let mut product = etwkit_testkit::etwanalyzer::small();
    product.main["ModuleVersions"] = serde_json::json!([
        {"Version": "1.2.2404.2901", "Module": "Base", "ModuleFile": "base.dll"},
        {"Version": "1.2.2405.0100", "Module": "App", "ModuleFile": "app.dll"},
    ]);
    let folder = at("product/Product.json");
    let _ = product.write(folder.parent().unwrap(), "Product");
    drive
}

/// Writes a scenario, builds a trace, or copies a small one.
fn make_trace(of: &str, to: &Path) {
    if let Some(more) = of.strip_prefix("built:") {
        super::built::write(to, more.parse().unwrap());
    } else if of.ends_with(".etl") {
        std::fs::copy(trace(of), to).unwrap();
    } else {
        let words: Vec<&str> = of.split(' ').collect();
        ours(
            &[
                &["synth", "write", "--compressed", "--out", text(to)],
                &words[..],
            ]
            .concat(),
        );
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[track_caller]
fn ours(args: &[&str]) {
    let Answer { err, exit, .. } = run(args);
    assert_eq!(exit, Exit::Answered, "{args:?}: {err}");
}
