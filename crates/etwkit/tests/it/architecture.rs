//! The rules of ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::extracts::support::WRITERS;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Asks Windows for the time zone of the machine. Arrow needs it through chrono; nothing of ours does.
const TIME_ZONE: &str = "iana-time-zone";

/// All crates that each crate of the workspace needs to be built, its own name included, without what
/// [`TIME_ZONE`] needs.
fn closures() -> BTreeMap<String, BTreeSet<String>> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let ask = |network: &[&str]| {
        let mut command = std::process::Command::new(&cargo);
        command
            .args(["metadata", "--format-version", "1", "--locked"])
            .args(network)
            .current_dir(root());
        command.output().unwrap().stdout
    };
    let mut answer = ask(&["--offline"]);
    if answer.is_empty() {
        // Crates that only other systems need are not there yet.
        answer = ask(&[]);
    }
    let metadata: Value = serde_json::from_slice(&answer).expect("cargo metadata");
    let name_of: BTreeMap<&str, &str> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["id"].as_str().unwrap(), p["name"].as_str().unwrap()))
        .collect();
    let needs: BTreeMap<&str, Vec<&str>> = metadata["resolve"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| {
            // What libraries of others use of Windows on Windows is their own business.
            let is_ours = name_of[node["id"].as_str().unwrap()].starts_with("etwkit");
            let is_windows = |kind: &Value| {
                kind["target"]
                    .as_str()
                    .is_some_and(|target| target.contains("windows"))
            };
            let normal = |dep: &&Value| {
                let mut kinds = dep["dep_kinds"].as_array().unwrap().iter();
                kinds.any(|kind| kind["kind"] != "dev" && (is_ours || !is_windows(kind)))
            };
            let deps = node["deps"].as_array().unwrap().iter().filter(normal);
            (
                node["id"].as_str().unwrap(),
                deps.map(|d| d["pkg"].as_str().unwrap()).collect(),
            )
        })
        .collect();
    let members = metadata["workspace_members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m.as_str().unwrap());
    let closure = |member: &str| {
        let (mut found, mut open) = (BTreeSet::new(), vec![member]);
        while let Some(id) = open.pop() {
            if found.insert(name_of[id].to_owned()) && name_of[id] != TIME_ZONE {
                open.extend(&needs[id]);
            }
        }
        found
    };
    members
        .map(|member| (name_of[member].to_owned(), closure(member)))
        .collect()
}

/// Kept extracts answer for the crates that wrote them, and for no others, or each change of a help
/// text would make them all again.
#[test]
fn extracts_are_kept_by_the_crates_that_write_them() {
    let closures = closures();
    let both = closures["etwkit-extract"].union(&closures["etwkit-synth"]);
    let writers: Vec<&str> = both
        .filter_map(|needed| needed.strip_prefix("etwkit-"))
        .collect();
    assert_eq!(writers, WRITERS);
    let script = std::fs::read_to_string(root().join("scripts/test")).unwrap();
    let sources = format!("crates/{{{}}}/src", WRITERS.join(","));
    assert!(script.contains(&sources), "scripts/test lacks {sources}");
}

#[test]
fn inner_crates_need_no_runtime_no_engine_and_no_windows() {
    let closures = closures();
    for member in [
        "etwkit-etl",
        "etwkit-decode",
        "etwkit-trace",
        "etwkit-symbols",
    ] {
        for needed in &closures[member] {
            let forbidden = needed.starts_with("tokio")
                || needed.starts_with("datafusion")
                || needed.starts_with("windows")
                || needed == "winapi"
                || needed == "memmap2";
            assert!(!forbidden, "{member} needs {needed}");
        }
    }
}

#[test]
fn crates_do_not_know_what_lies_above_them() {
    let closures = closures();
    let layers = [
        "etwkit-base",
        "etwkit-etl",
        "etwkit-decode",
        "etwkit-trace",
        "etwkit-sql",
        "etwkit-question",
        "etwkit-questions",
        "etwkit-analysis",
        "etwkit-engine",
        "etwkit",
    ];
    assert_eq!(closures["etwkit-base"].len(), 1, "base needs a crate");
    for (below, member) in layers.iter().enumerate() {
        for above in &layers[below + 1..] {
            assert!(
                !closures[*member].contains(*above),
                "{member} knows {above}"
            );
        }
    }
    for member in [
        "etwkit-etl",
        "etwkit-decode",
        "etwkit-trace",
        "etwkit-extract",
        "etwkit-synth",
        "etwkit-cut",
    ] {
        assert!(
            !closures[member].contains("datafusion"),
            "{member} knows SQL"
        );
    }
    for known in [
        "etwkit-decode",
        "etwkit-trace",
        "etwkit-extract",
        "arrow-array",
    ] {
        assert!(
            !closures["etwkit-symbols"].contains(known),
            "symbols knows {known}"
        );
    }
    // It knows the declared tables of `trace`, which decodes events, but decodes none itself.
    let manifest = std::fs::read_to_string(root().join("crates/extract/Cargo.toml")).unwrap();
    assert!(
        !manifest.contains("etwkit-decode"),
        "extract looks into events"
    );
    // What the binary shows of events it gets as typed reports.
    let manifest = std::fs::read_to_string(root().join("crates/etwkit/Cargo.toml")).unwrap();
    let (needs, _) = manifest.split_once("[dev-dependencies]").unwrap();
    for reader in ["etwkit-etl", "etwkit-decode"] {
        assert!(!needs.contains(reader), "etwkit knows {reader}");
    }
    let manifest = std::fs::read_to_string(root().join("crates/analysis/Cargo.toml")).unwrap();
    // It declares none, but makes the rows of the tables of a diagnosis, which `trace` declares.
    for reader in ["etwkit-etl", "etwkit-decode", "etwkit-extract"] {
        assert!(
            !manifest.contains(reader),
            "analysis reads tables through queries, not {reader}"
        );
    }
    let manifest = std::fs::read_to_string(root().join("crates/export/Cargo.toml")).unwrap();
    let (needs, _) = manifest.split_once("[dev-dependencies]").unwrap();
    for reader in [
        "etwkit-etl",
        "etwkit-decode",
        "etwkit-trace",
        "etwkit-extract",
    ] {
        assert!(
            !needs.contains(reader),
            "export reads tables through queries, not {reader}"
        );
    }
    for reader in ["etwkit-decode", "etwkit-trace", "etwkit-extract"] {
        assert!(
            !closures["etwkit-synth"].contains(reader),
            "synth knows {reader}"
        );
    }
    // What asks questions for a page or a service has no use for arguments and terminals; what reads command
    // lines of others has none for ours.
    for of_terminals in [
        "clap",
        "indicatif",
        "console",
        "anstream",
        "anstyle",
        "rustyline",
        "terminal_size",
        "ctrlc",
    ] {
        for member in ["etwkit-engine", "etwkit-compat"] {
            assert!(
                !closures[member].contains(of_terminals),
                "{member} needs {of_terminals}"
            );
        }
    }
    for (member, needed) in &closures {
        let is_kit = member == "etwkit-testkit";
        assert!(
            is_kit || !needed.contains("etwkit-testkit"),
            "{member} ships test code"
        );
    }
}

#[test]
fn only_sql_names_the_query_engine() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        files.push(entry.unwrap().path().join("Cargo.toml"));
    }
    let names = |text: &str| {
        text.lines().any(|line| {
            line.trim_start().starts_with("datafusion") || line.contains("datafusion::")
        })
    };
    let naming: BTreeSet<String> = files
        .iter()
        // This file has the word in it.
        .filter(|file| !file.ends_with("tests/it/architecture.rs"))
        .filter(|file| names(&std::fs::read_to_string(file).unwrap()))
        .map(|file| {
            let inside = file.strip_prefix(root().join("crates")).unwrap();
            inside
                .components()
                .next()
                .unwrap()
                .as_os_str()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(naming, BTreeSet::from(["sql".to_owned()]));
}

pub(crate) fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn unsafe_code_is_one_block_in_extract() {
    let members = [
        "base",
        "etl",
        "decode",
        "trace",
        "cut",
        "symbols",
        "synth",
        "sql",
        "question",
        "questions",
        "analysis",
        "engine",
        "export",
        "compat",
        "record",
        "terminal",
        "etwkit",
        "server",
    ];
    for member in members {
        let lib =
            std::fs::read_to_string(root().join(format!("crates/{member}/src/lib.rs"))).unwrap();
        assert!(lib.contains("#![forbid(unsafe_code)]"), "{member}");
    }
    let (mut files, mut blocks) = (Vec::new(), Vec::new());
    sources(&root().join("crates"), &mut files);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let in_code = |line: &&str| {
            let code = line.split("//").next().unwrap_or_default();
            code.contains("unsafe {") && !code.contains('"')
        };
        blocks.extend(
            text.lines()
                .filter(in_code)
                .map(|line| format!("{}: {line}", file.display())),
        );
    }
    assert_eq!(blocks.len(), 1, "{blocks:#?}");
    assert!(blocks[0].contains("crates/extract/src"), "{blocks:#?}");
}

/// Whoever reads one file of a circle has to read all of them.
#[test]
fn files_do_not_import_each_other_in_wide_circles() {
    const MOST: usize = 3;
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        for circle in crate::imports::circles(&entry.unwrap().path().join("src")) {
            assert!(
                circle.len() <= MOST,
                "these import each other in a circle: {circle:?}"
            );
        }
    }
}

/// Modules that could be crates, and what the rest of a crate leaves to one of them.
#[test]
fn modules_do_not_know_all_that_their_crate_knows() {
    let of_terminals = [
        "clap::",
        "etwkit_terminal",
        "etwkit_compat",
        "rmcp::",
        "mcp::",
    ];
    let of_files = ["clap::", "etwkit_terminal", "etwkit_engine", "wpa::"];
    let of_traces = ["etwkit_etl", "etwkit_symbols", "crate::convert", "json7z"];
    for (folder, but_for, unknown) in [
        ("extract/src/json7z", None, &["etwkit_etl", "parquet::"][..]),
        ("extract/src", Some("json7z"), &["json7z::"]),
        ("extract/src/lake", None, &of_traces),
        ("extract/src", Some("lake"), &["lake::"]),
        ("server/src", Some("mcp"), &of_terminals),
        ("export/src", Some("wpa"), &of_files),
    ] {
        let folder = root().join("crates").join(folder);
        let mut files = Vec::new();
        sources(&folder, &mut files);
        files.retain(|file| !but_for.is_some_and(|part| file.starts_with(folder.join(part))));
        assert!(files.len() > 10, "{files:?}");
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            for word in unknown {
                assert!(!text.contains(word), "{} has {word}", file.display());
            }
        }
    }
}

/// Each could be a crate of its own, for every program that has use for it.
#[test]
fn workloads_and_test_runs_know_nothing_of_recording() {
    for module in ["lab", "test_runs"] {
        let mut files = Vec::new();
        sources(&root().join("crates/record/src").join(module), &mut files);
        assert!(files.len() > 5, "{files:?}");
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let own = format!("crate::{module}::");
            let foreign = text.matches("crate::").count() - text.matches(&own).count();
            assert_eq!(foreign, 0, "{}", file.display());
            assert!(!text.contains("etwkit_trace"), "{}", file.display());
        }
    }
    let mut files = Vec::new();
    sources(&root().join("crates/record/src/lab_data"), &mut files);
    assert!(files.len() > 5, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for word in ["etwkit_record", "etwkit_base", "etwkit_trace"] {
            assert!(!text.contains(word), "{} has {word}", file.display());
        }
    }
}

#[test]
fn every_crate_has_its_line_in_the_architecture() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            page.contains(&format!("| `{name}` |")),
            "{name} is missing in ARCHITECTURE.md"
        );
    }
}

/// Numbers of text follow the locale in lines of ETWAnalyzer, so that no dump may write one by hand.
#[test]
fn dumps_write_numbers_in_one_place() {
    const PLACE: &str = "text.rs";
    let folder = root().join("crates/etwkit/src/commands/dump");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name == PLACE {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines() {
            // `{:.1}`, `{percent:.0}` and `{number:.digits$}`; `{:.n$}` cuts texts, too, and none does.
            let is_fraction = line
                .match_indices(":.")
                .any(|(at, _)| line[..at].contains('{') && line[at..].contains('}'));
            let by_hand = is_fraction
                || ["time_format::seconds", "TimeWriter, seconds}", " grouped("]
                    .iter()
                    .any(|word| line.contains(word));
            assert!(!by_hand, "{name} writes a number by hand: {line}");
        }
    }
}
