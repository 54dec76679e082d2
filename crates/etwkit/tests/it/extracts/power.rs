//! Power settings.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::support::{Extract, made_with};
use crate::support::{Exit, run};

/// What the truth calls the settings of the list.
const NAMES: [(&str, &str); 12] = [
    ("active_scheme", "ActiveProfile"),
    ("base_profile", "Base Profile"),
    ("max_throttle_percent", "MaxThrottleFrequency"),
    (
        "max_throttle_percent_class1",
        "MaxThrottleFrequency Class 1",
    ),
    ("min_throttle_percent", "MinThrottleFrequency"),
    (
        "min_throttle_percent_class1",
        "MinThrottleFrequency Class 1",
    ),
    ("autonomous_mode", "Autonomous Mode"),
    ("hetero_policy", "HeteroPolicyInEffect"),
    ("thread_scheduling", "HeteroPolicyThreadScheduling"),
    (
        "thread_scheduling_short",
        "HeteroPolicyThreadSchedulingShort",
    ),
    ("energy_preference_percent", "EnergyPreference"),
    (
        "energy_preference_percent_class1",
        "EnergyPreference Class 1",
    ),
];

#[test]
fn both_captures_are_those_of_the_truth() {
    for (trace, truth) in made_with("power") {
        let extract = Extract::of(&[&trace], &[]);
        let answer = run(&["dump", "power", "--json", &extract.path]);
        assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
        let rows: Vec<Value> = answer
            .out
            .lines()
            .skip(1)
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(
            rows.iter().all(|row| row["snapshot"].as_i64().unwrap() < 2),
            "{trace}: there are two captures"
        );
        for (number, capture) in ["first_capture", "second_capture"].into_iter().enumerate() {
            let of: BTreeMap<&str, &Value> = rows
                .iter()
                .filter(|row| row["snapshot"] == number)
                .map(|row| (row["name"].as_str().unwrap(), row))
                .collect();
            let truth = truth["power"][capture].as_object().unwrap();
            for (name, ours) in NAMES {
                let row = of
                    .get(ours)
                    .unwrap_or_else(|| panic!("{trace} {capture} {ours}"));
                match truth.get(&format!("{name}_name")) {
                    Some(scheme) => assert_eq!(&row["value"], scheme, "{trace} {capture} {name}"),
                    None => assert_eq!(row["number"], truth[name], "{trace} {capture} {name}"),
                }
            }
        }
        let changes = extract.ask("select count(*) from power_setting where kind = 'change'");
        assert_eq!(
            json!(changes[0][0]),
            truth["power"]["changes"]["rows"].as_array().unwrap().len(),
            "{trace}"
        );
        let profile = extract.ask("select previous, profile from power_profile");
        assert_eq!(
            profile[0][..],
            truth["power"]["profile_change"].as_array().unwrap()[1..],
            "{trace}"
        );
    }
}
