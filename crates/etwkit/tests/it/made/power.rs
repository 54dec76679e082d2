//! Power settings and processor profiles.

use serde_json::{Map, Value, json};

use super::{Event, Sums, Trace, agree, bytes, check, without};

/// The settings that the truth has, by GUID as Windows documents them.
const SETTINGS: [(&str, &str); 12] = [
    ("31f9f286-5084-42fe-b720-2b0264993763", "active_scheme"),
    ("245d8541-3943-4422-b025-13a784f679b7", "base_profile"),
    (
        "bc5038f7-23e0-4960-96da-33abaf5935ec",
        "max_throttle_percent",
    ),
    (
        "bc5038f7-23e0-4960-96da-33abaf5935ed",
        "max_throttle_percent_class1",
    ),
    (
        "893dee8e-2bef-41e0-89c6-b55d0929964c",
        "min_throttle_percent",
    ),
    (
        "893dee8e-2bef-41e0-89c6-b55d0929964d",
        "min_throttle_percent_class1",
    ),
    ("8baa4a8a-14c6-4451-8e8b-14bdbd197537", "autonomous_mode"),
    ("7f2f5cfa-f10c-4823-b5e1-e93ae85f46b5", "hetero_policy"),
    ("93b8b6dc-0698-4d1c-9ee4-0644e900c85d", "thread_scheduling"),
    (
        "bae08b81-2d5e-4688-ad6a-13243356654b",
        "thread_scheduling_short",
    ),
    (
        "36687f9e-e3a5-4dbf-b1dc-15eb381c6863",
        "energy_preference_percent",
    ),
    (
        "36687f9e-e3a5-4dbf-b1dc-15eb381c6864",
        "energy_preference_percent_class1",
    ),
];

fn setting(event: &Event) -> String {
    let guid = event.text("SettingGuid");
    let known = SETTINGS.iter().find(|(known, _)| *known == guid);
    known.map_or_else(|| guid.to_owned(), |(_, name)| (*name).to_owned())
}

/// A scheme, else a number.
fn value(event: &Event) -> Value {
    let data = bytes(event.text("Data"));
    assert_eq!(event.number("DataSize"), data.len() as u64);
    assert!(!event.value("Override").as_bool().unwrap());
    match <[u8; 16]>::try_from(&*data) {
        Ok(guid) => etwkit_etl::Guid::from_bytes(guid).to_string().into(),
        Err(_) => u32::from_le_bytes(data.try_into().unwrap()).into(),
    }
}

fn check_power(trace: &Trace) -> usize {
    let rundown: Vec<&Event> = trace.all("Microsoft-Windows-Kernel-Power 111").collect();
    let (first, second) = rundown.split_at(rundown.len() / 2);
    let capture = |events: &[&Event]| -> Map<String, Value> {
        events
            .iter()
            .map(|event| (setting(event), value(event)))
            .collect()
    };
    let changes = trace.all("Microsoft-Windows-Kernel-Power 112");
    let mut profiles = Sums::default();
    for event in trace.all("Microsoft-Windows-Kernel-Processor-Power 106") {
        let number = u32::from_le_bytes(bytes(event.text("Value")).try_into().unwrap());
        let profile = profiles.at(&[&event.number("ProfileId").to_string()]);
        let values = profile
            .entry(event.text("Name"))
            .or_insert_with(|| json!([null, null]));
        values[event.number("Class") as usize] = number.into();
    }
    let profile_change = |event: &Event| {
        json!([
            event.us,
            event.number("PreviousProfileId"),
            event.number("NextProfileId")
        ])
    };
    let ours = json!({
        "first_capture": capture(first),
        "second_capture": capture(second),
        "changes": {"rows": changes.map(|event| json!([event.us, setting(event), value(event)])).collect::<Value>()},
        "processor_profiles": profiles.0,
        "profile_change": profile_change(trace.all("Microsoft-Windows-Kernel-Processor-Power 104").next().unwrap()),
    });
    // The names of schemes are no part of events.
    let truth = without(
        &trace.truth["power"],
        &["active_scheme_name", "base_profile_name", "columns"],
    );
    let captured = truth["first_capture_before_us"].as_f64().unwrap();
    assert!(
        first.iter().all(|event| event.us <= captured)
            && second.iter().all(|event| event.us > captured)
    );
    agree(
        &format!("{}/power", trace.name),
        &without(&truth, &["first_capture_before_us"]),
        &ours,
    )
}

#[test]
fn power_settings_and_profiles() {
    check(&["power"], check_power);
}
