//! Every profile is in the file as it is declared, and answers the questions that it names.

use std::collections::BTreeSet;

use etwkit_record::profiles::{
    ELSEWHERE, EVERY, PROFILES, WPRP, find, of_question, of_topic, to_answer,
};

use crate::schema::{Element, parse};

fn providers(profile: &Element) -> Vec<&str> {
    ["SystemProviderId", "EventProviderId", "HardwareCounterId"]
        .iter()
        .flat_map(|kind| profile.values(kind))
        .collect()
}

#[test]
fn profiles_are_in_the_file_as_they_are_declared() {
    let root = parse(WPRP);
    let in_file = root.all("Profile");
    let names: BTreeSet<&str> = in_file.iter().map(|profile| profile.get("Name")).collect();
    assert_eq!(names, PROFILES.iter().map(|profile| profile.name).collect());
    for profile in PROFILES {
        let variants: Vec<_> = in_file
            .iter()
            .filter(|found| found.get("Name") == profile.name)
            .collect();
        let modes: Vec<_> = variants
            .iter()
            .map(|variant| variant.get("LoggingMode"))
            .collect();
        assert_eq!(
            modes,
            if profile.file_only {
                vec!["File"]
            } else {
                vec!["File", "Memory"]
            },
            "{}",
            profile.name
        );
        for variant in &variants {
            let (detail, mode) = (variant.get("DetailLevel"), variant.get("LoggingMode"));
            assert_eq!(
                variant.get("Id"),
                format!("{}.{detail}.{mode}", profile.name)
            );
            assert_eq!(variant.get("Description"), profile.sentence);
            assert_eq!(
                providers(variant),
                providers(variants[0]),
                "{}: variants differ",
                profile.name
            );
            // The collectors of a variant are the collectors of its mode, so that profiles which
            // run together share them.
            let collectors = ["SystemCollectorId", "EventCollectorId"]
                .into_iter()
                .flat_map(|kind| variant.values(kind));
            assert!(
                collectors
                    .into_iter()
                    .all(|id| id.ends_with(&mode.to_lowercase())),
                "{}",
                profile.name
            );
        }
        let has_counters = !variants[0].values("HardwareCounterId").is_empty();
        assert_eq!(has_counters, profile.needs_counters, "{}", profile.name);
    }
}

/// Keywords and providers as the topics of extracts name them, and as profiles do.
const SPELLED: &[(&str, &str)] = &[
    ("PROFILE", "SampledProfile"),
    ("SYSCALL", "SystemCall"),
    ("POOL", "Pool"),
    ("DISK_IO", "DiskIO"),
    ("DISK_IO_INIT", "DiskIOInit"),
    ("FILENAME", "Filename"),
    ("FILE_IO", "FileIO"),
    ("FILE_IO_INIT", "FileIOInit"),
    ("HARD_FAULTS", "HardFaults"),
    ("OB_HANDLE", "Handle"),
    ("OB_OBJECT", "Object"),
    ("REGISTRY", "Registry"),
    ("PRIORITY", "ThreadPriority"),
    ("ALL_FAULTS", "AllFaults"),
    ("NETWORKTRACE", "NetworkTrace"),
    ("ALPC", "Alpc"),
    ("FLT_IO_INIT", "FilterIOInit"),
    ("FLT_IO", "FilterIO"),
    ("FLT_FASTIO", "FilterIOFastIO"),
    ("FLT_IO_FAILURE", "FilterIOFailure"),
    ("DPC", "DPC"),
    ("INTERRUPT", "Interrupt"),
    ("CSWITCH", "CSwitch"),
    ("DISPATCHER", "ReadyThread"),
    ("PROC_THREAD", "ProcessThread"),
    ("LOADER", "Loader"),
    ("VIRT_ALLOC", "VirtualAllocation"),
];

/// True if a profile records the events that a topic requires.
fn records(root: &Element, profile: &Element, recorded_by: &str) -> bool {
    let used = |kind: &str, of: &str| {
        let ids = profile.values(of);
        let all = root.all(kind).into_iter();
        all.filter(|provider| ids.contains(&provider.get("Id")))
            .cloned()
            .collect::<Vec<_>>()
    };
    let (kernel, events) = (
        used("SystemProvider", "SystemProviderId"),
        used("EventProvider", "EventProviderId"),
    );
    if recorded_by.starts_with("merge") {
        return true;
    }
    if recorded_by.starts_with("-stackwalk") {
        let has = |kind: &str| {
            kernel
                .iter()
                .any(|provider| !provider.values(kind).is_empty())
        };
        return has("Stack") || has("CustomStack");
    }
    if recorded_by.contains("Microsoft-") {
        return events
            .iter()
            .any(|provider| provider.get("Name") == recorded_by);
    }
    recorded_by.split('+').all(|flag| {
        let known = SPELLED.iter().find(|(xperf, _)| *xperf == flag);
        let (_, keyword) = known.unwrap_or_else(|| panic!("no spelling of {flag}"));
        kernel
            .iter()
            .any(|provider| provider.values("Keyword").contains(keyword))
    })
}

#[test]
fn a_profile_records_the_topics_that_it_names_and_no_topic_is_forgotten() {
    let root = parse(WPRP);
    let in_file = root.all("Profile");
    for topic in etwkit_trace::topics::all() {
        let elsewhere = ELSEWHERE.iter().any(|(name, _)| *name == topic.name);
        assert_eq!(
            of_topic(topic.name).next().is_none(),
            elsewhere,
            "{}",
            topic.name
        );
        if elsewhere {
            continue;
        }
        for profile in PROFILES {
            let variant = in_file
                .iter()
                .find(|found| found.get("Name") == profile.name)
                .unwrap();
            let names = profile.topics.contains(&topic.name) || EVERY.contains(&topic.name);
            assert_eq!(
                records(&root, variant, topic.recorded_by),
                names,
                "{} and {}: {}",
                profile.name,
                topic.name,
                topic.recorded_by
            );
        }
    }
    let known: Vec<&str> = etwkit_trace::topics::all()
        .iter()
        .map(|topic| topic.name)
        .collect();
    for topic in PROFILES
        .iter()
        .flat_map(|profile| profile.topics)
        .chain(EVERY)
    {
        assert!(known.contains(topic), "{topic}");
    }
}

#[test]
fn questions_exist_and_every_profile_answers_something() {
    let page = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/questions.md"
    ))
    .unwrap();
    for profile in PROFILES {
        assert!(
            !profile.questions.is_empty(),
            "{} answers nothing",
            profile.name
        );
        for question in profile.questions {
            assert!(
                page.lines().any(|line| line == format!("## {question}")),
                "{}: {question}",
                profile.name
            );
        }
    }
    assert_eq!(find("CSWITCH").unwrap().name, "cswitch");
    let names: Vec<&str> = of_question("dpc").map(|profile| profile.name).collect();
    assert_eq!(names, ["cpu", "cswitch"]);
}

#[test]
fn what_a_trace_lacks_has_a_profile_that_records_it() {
    for (question, missing, profile) in [
        ("dns", "DNS queries", Some("dns")),
        // Most recordings answer it from samples; it is the waits that are missing.
        ("cpu", "context switches", Some("cswitch")),
        (
            "cpu",
            "CPU samples and no context switches",
            Some("default"),
        ),
        ("strace", "system calls", Some("syscall")),
        ("no question", "nothing that a topic is called", None),
    ] {
        assert_eq!(
            to_answer(question, missing).map(|profile| profile.name),
            profile,
            "{question}: {missing}"
        );
    }
}
