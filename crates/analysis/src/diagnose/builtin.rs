//! The rules that come with the program: files of `crates/analysis/rules`.

use std::sync::LazyLock;

use super::rule::Rule;

macro_rules! rules {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../rules/", $name, ".sql")))),+]
    };
}

/// Names and texts, in the order in which they are listed.
const TEXTS: &[(&str, &str)] = rules![
    "filter-scan",
    "user-lock",
    "cfg-start",
    "write-cache-off",
    "low-priority-io",
    "wrong-cores",
    "odd-status",
    "undecoded-events",
    "syscall-tax",
    "logger-taken",
    "spin",
    "ntfs-checkpoint",
    "antivirus-cpu",
    "hard-faults",
    "cpi",
    "cache-absorbs",
    "dns-timeout",
    "object-leak",
    "ui-hang",
    "unused-start",
    "switch-cpu-only",
    "samples-missing",
    "registry-storm",
    "tracing-cost",
    "certificate-wait",
    "network-share",
    "zombies",
    "timer-resolution",
    "dpc-storm",
    "jit-start",
    "rundown-stall",
    "lock-convoy",
    "priority-inversion",
    "busy-processors",
    "parked-processors",
    "busy-disk",
    "gc-pause",
    "driver-callback",
    "slow-disk",
    "retransmits",
    "pool-starvation",
    "write-throttle",
    "slow-processors",
    "slow-server",
    "proxy-search",
    "start-loop",
    "amsi-scan",
];

// A rule without a title or sentence is skipped rather than a panic; a test below keeps that from happening.
static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    TEXTS
        .iter()
        .filter_map(|(name, text)| Some(Rule::read(name, text)?.in_library(text)))
        .collect()
});

/// All rules of the program.
#[must_use]
pub fn rules() -> &'static [Rule] {
    &RULES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_complete_rule() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| {
                file.unwrap()
                    .path()
                    .file_stem()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        let mut names: Vec<&str> = rules().iter().map(|rule| rule.name.as_str()).collect();
        files.sort();
        names.sort_unstable();
        assert_eq!(files, names, "each file is listed, and each is a rule");
        for rule in rules() {
            assert!(
                !rule.text().contains("p.name || ' ('"),
                "{}: a process without a name makes its text empty",
                rule.name
            );
            let texts = [
                &rule.title,
                &rule.sentence,
                &rule.why,
                &rule.fix,
                &rule.not_proved,
                &rule.cards,
            ];
            assert!(
                texts.iter().all(|text| !text.is_empty()),
                "{}: a line of its header is missing",
                rule.name
            );
            // Only texts about one finding have values of its row.
            let of_all = [&rule.title, &rule.why, &rule.not_proved];
            assert!(
                of_all.iter().all(|text| !text.contains('{')),
                "{}: a column would be printed as its name",
                rule.name
            );
            assert!(
                !rule.needs.is_empty() && !rule.evidence.is_empty(),
                "{}",
                rule.name
            );
            // The page does not guess where a finding is seen.
            assert!(!rule.spots.is_empty(), "{}: it has no spot", rule.name);
            assert_eq!(rule.wrong_spot(), None, "{}", rule.name);
            let bare = rule
                .thresholds()
                .find(|param| param.doc.is_empty() || param.default.is_none());
            assert!(
                bare.is_none(),
                "{}: a threshold needs a value and its reason: {bare:?}",
                rule.name
            );
        }
    }

    #[test]
    fn rules_that_read_waits_need_the_events_that_end_them() {
        /// Rules that other events decide; waits only say more about what these show.
        const BY_OTHER_EVENTS: [&str; 3] = ["dns-timeout", "pool-starvation", "registry-storm"];
        for rule in rules() {
            let sql: String = rule
                .text()
                .lines()
                .filter(|line| !line.starts_with("--"))
                .collect();
            let has_column = ["wait_ns", "ready_ns", "readied_ns"]
                .iter()
                .any(|column| sql.contains(column));
            let is_on_waits = sql.contains("context_switch")
                && has_column
                && !BY_OTHER_EVENTS.contains(&rule.name.as_str());
            let needs_waits = rule
                .needs
                .iter()
                .chain(&rule.needs_to_exclude)
                .any(|need| need.contains("waits"));
            assert_eq!(needs_waits, is_on_waits, "{}", rule.name);
        }
    }

    /// Without names of functions such a rule finds nothing, which then proves nothing.
    #[test]
    fn rules_that_look_for_functions_name_their_modules() {
        /// Rules that find the same in modules without names, or in events.
        const WITHOUT_NAMES: [&str; 2] = ["network-share", "pool-starvation"];
        for rule in rules() {
            let has_function = |line: &str| {
                let mut behind = line.split('!').skip(1);
                behind.any(|rest| rest.starts_with(char::is_alphabetic))
            };
            let looks_for_functions = rule
                .text()
                .lines()
                .filter(|line| !line.starts_with("--"))
                .any(has_function);
            let is_named = !rule.names.is_empty() || WITHOUT_NAMES.contains(&rule.name.as_str());
            assert!(is_named || !looks_for_functions, "{}", rule.name);
        }
    }

    /// A ring of buffers has the end of a long session, of which the length says nothing.
    #[test]
    fn rules_that_read_the_start_of_the_part_know_that_of_a_ring() {
        for rule in rules() {
            let sql = rule.text();
            let knows_ring = sql.contains("ring_start_ns") || sql.contains("kernel_start_ns");
            assert!(
                !sql.contains("range_start_ns") || knows_ring,
                "{}",
                rule.name
            );
        }
    }

    #[test]
    fn what_happened_once_did_not_happen_1_times() {
        for rule in rules() {
            assert!(!rule.sentence.contains("} times"), "{}", rule.name);
        }
    }

    #[test]
    fn rules_have_room_for_a_change() {
        const ROOM: usize = 25;
        for rule in rules() {
            let room = rule.query().room();
            assert!(
                room >= ROOM,
                "{}: {room} more operators, and a change of a rule needs up to {ROOM}",
                rule.name
            );
        }
    }

    #[test]
    fn causes_of_a_rule_are_rules_whose_pieces_can_be_compared() {
        for rule in rules().iter().filter(|rule| rule.has_causes()) {
            assert!(rule.pieces().is_some(), "{}", rule.name);
            for cause in &rule.symptom_of {
                let cause = rules().iter().find(|other| other.name == *cause);
                let cause = cause.unwrap_or_else(|| panic!("{}: no such rule", rule.name));
                assert!(cause.pieces().is_some(), "{}", cause.name);
                assert_ne!(cause.name, rule.name);
            }
        }
    }
}
