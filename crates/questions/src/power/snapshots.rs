//! Power settings over time: a snapshot after all settings were reported, and one after each
//! change.

use etwkit_question::declare;
use std::collections::{BTreeMap, BTreeSet};

use super::PowerRow;
use super::catalog::{self, KNOWN, Section};

declare! {
    /// A setting as the extract has it.
    pub(super) row SettingRow {
        ts_ns: i64 = "When.",
        kind: String = "`rundown` or `change`.",
        setting_guid: String = "GUID of the setting.",
        name: Option<String> = "Name, if the event has it.",
        value: Option<i64> = "Value as a number.",
        value_guid: Option<String> = "Value as a GUID.",
        value_hex: String = "Bytes of the value.",
        profile: Option<i64> = "Profile of the processor driver.",
        power_source: Option<String> = "`ac` or `dc`.",
        efficiency_class: Option<i64> = "Class of cores.",
    }

    /// Profiles of the processor driver that were in force.
    pub(super) row InForce {
        ts_ns: i64 = "When it changed.",
        previous: i64 = "The profile before.",
        profile: i64 = "The new one.",
    }
}

/// All settings in force at a point in time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// Time of the first report of one of its settings, in nanoseconds.
    pub ts_ns: i64,
    /// Its settings, in the order of the list.
    pub rows: Vec<PowerRow>,
}

impl Snapshot {
    /// Groups the rows of a trace into snapshots.
    pub(super) fn of<'r>(rows: impl Iterator<Item = &'r PowerRow>) -> Vec<Self> {
        let rows: Vec<&PowerRow> = rows.collect();
        let snapshot = |rows: &[&PowerRow]| Self {
            ts_ns: rows.first().map_or(0, |row| row.ts_ns),
            rows: rows.iter().map(|row| (*row).clone()).collect(),
        };
        rows.chunk_by(|a, b| a.snapshot == b.snapshot)
            .map(snapshot)
            .collect()
    }

    /// Returns the value of a setting.
    #[must_use]
    pub fn value(&self, setting_guid: &str) -> Option<&PowerRow> {
        self.rows
            .iter()
            .find(|row| row.setting_guid == setting_guid)
    }

    /// Returns `true` if both have the same settings with the same values.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let values = |snapshot: &Self| -> BTreeMap<String, String> {
            snapshot
                .rows
                .iter()
                .map(|row| (row.setting_guid.clone(), row.value_hex.clone()))
                .collect()
        };
        values(self) == values(other)
    }
}

/// Maximum number of columns of a trace. Later states are left out, except for the last one.
const MAX_SNAPSHOTS: usize = 64;

/// Maximum number of settings. Windows has some hundreds; a damaged or malicious trace can name any
/// number of GUIDs.
const MAX_SETTINGS: usize = 1024;

/// Follows the settings through a trace.
#[derive(Default)]
struct Follower<'a> {
    state: BTreeMap<&'a str, &'a SettingRow>,
    /// Settings reported by the running capture, and its start.
    captured: BTreeSet<&'a str>,
    begin_ns: i64,
    done: Vec<(i64, BTreeMap<&'a str, &'a SettingRow>)>,
}

impl<'a> Follower<'a> {
    fn take(&mut self, setting: &'a SettingRow) {
        let guid = setting.setting_guid.as_str();
        if self.state.len() >= MAX_SETTINGS && !self.state.contains_key(guid) {
            return;
        }
        let is_change = setting.kind == "change";
        // A capture reports each setting once, and nothing marks its end: it is over when a setting
        // is reported again, or when a change follows.
        if self.captured.contains(guid) || (is_change && !self.captured.is_empty()) {
            self.close();
        }
        if self.captured.is_empty() && !is_change {
            self.begin_ns = setting.ts_ns;
        }
        if is_change {
            self.begin_ns = setting.ts_ns;
        } else {
            self.captured.insert(guid);
        }
        self.state.insert(guid, setting);
    }

    fn close(&mut self) {
        self.captured.clear();
        // One place stays free for the state at the end, which matters more than any earlier one.
        if self.done.len() < MAX_SNAPSHOTS - 1 {
            self.end();
        }
    }

    fn end(&mut self) {
        self.done.push((self.begin_ns, self.state.clone()));
    }
}

/// Returns the snapshots of a trace, without those that equal the previous one.
pub(super) fn snapshots(settings: &[SettingRow], in_force: &[InForce]) -> Vec<Snapshot> {
    let mut follower = Follower::default();
    settings
        .iter()
        .filter(|setting| setting.profile.is_none())
        .for_each(|setting| follower.take(setting));
    follower.end();
    // A capture takes a while and has the time of its first event, so settings of profiles belong
    // to it up to the start of the next one.
    let ends = follower
        .done
        .iter()
        .skip(1)
        .map(|(ts_ns, _)| *ts_ns)
        .chain([i64::MAX]);
    let mut all: Vec<Snapshot> = Vec::new();
    for ((ts_ns, state), end_ns) in follower.done.iter().zip(ends) {
        let next = snapshot(
            all.len(),
            *ts_ns,
            state,
            &of_profile(settings, in_force, (*ts_ns, end_ns)),
        );
        if !next.rows.is_empty() && all.last().is_none_or(|last| !last.is_same(&next)) {
            all.push(next);
        }
    }
    all
}

/// The profile of a trace in which none is named.
const FIRST_PROFILE: i64 = 0;

/// The class of the cores that a setting without a class is for.
const CLASS_0: i64 = 0;

/// Returns the processor-driver profile in force at a time, and its AC values that were reported
/// before an end time.
fn of_profile<'a>(
    settings: &'a [SettingRow],
    in_force: &[InForce],
    (ts_ns, end_ns): (i64, i64),
) -> (i64, Vec<&'a SettingRow>) {
    // The profile that is in force at the start of a trace is named only by the first change, as
    // the one that it replaced; without any change it is taken to be 0.
    let before = in_force
        .iter()
        .rev()
        .find(|change| change.ts_ns <= ts_ns)
        .map(|change| change.profile);
    let profile = before
        .or(in_force.first().map(|change| change.previous))
        .unwrap_or(FIRST_PROFILE);
    let is_of = |setting: &&SettingRow| {
        setting.profile == Some(profile)
            && setting.power_source.as_deref() == Some("ac")
            && setting.ts_ns < end_ns
    };
    // The last value of each setting for each kind of cores.
    let mut latest: BTreeMap<(&str, i64), &SettingRow> = BTreeMap::new();
    for setting in settings.iter().filter(is_of) {
        let key = (
            setting.setting_guid.as_str(),
            setting.efficiency_class.unwrap_or(CLASS_0),
        );
        if latest.len() < MAX_SETTINGS || latest.contains_key(&key) {
            latest.insert(key, setting);
        }
    }
    (profile, latest.into_values().collect())
}

fn snapshot(
    number: usize,
    ts_ns: i64,
    state: &BTreeMap<&str, &SettingRow>,
    (profile, of_profile): &(i64, Vec<&SettingRow>),
) -> Snapshot {
    let row = |section: Section,
               name: &str,
               alias: Option<&str>,
               guid: &str,
               setting: &SettingRow,
               origin: String| {
        let form = catalog::find(guid).map_or(catalog::Form::Number(""), |known| known.form);
        PowerRow {
            snapshot: i64::try_from(number).unwrap_or(i64::MAX),
            ts_ns,
            section: section.title().to_owned(),
            name: name.to_owned(),
            alias: alias.filter(|alias| !alias.is_empty()).map(str::to_owned),
            setting_guid: guid.to_owned(),
            value: form.text(
                setting.value,
                setting.value_guid.as_deref(),
                &setting.value_hex,
            ),
            number: setting.value,
            value_hex: setting.value_hex.clone(),
            origin,
        }
    };
    let mut rows = Vec::new();
    for known in KNOWN {
        let of = |setting: &&&SettingRow| is_meant(setting, known);
        if let Some(setting) = state.get(known.guid) {
            rows.push(row(
                known.section,
                known.name,
                Some(known.alias),
                known.guid,
                setting,
                "system".into(),
            ));
        // The values are sorted by GUID. In reverse order, a setting of class 1 finds its own GUID
        // before the GUID of class 0 that is listed with the class.
        } else if let Some(setting) = of_profile.iter().rev().find(of) {
            let origin = format!("profile {profile}");
            rows.push(row(
                known.section,
                known.name,
                Some(known.alias),
                known.guid,
                setting,
                origin,
            ));
        }
    }
    for (guid, setting) in state
        .iter()
        .filter(|(guid, _)| catalog::find(guid).is_none())
    {
        let name = setting.name.as_deref().unwrap_or(guid);
        rows.push(row(
            Section::Other,
            name,
            None,
            guid,
            setting,
            "system".into(),
        ));
    }
    Snapshot { ts_ns, rows }
}

/// Returns `true` if a row shows a setting of a profile. Profiles report settings of class-1 cores
/// with the GUID of class 0 and the class; the system uses a separate GUID for them: the next one.
fn is_meant(setting: &SettingRow, known: &catalog::CatalogSetting) -> bool {
    let is_of_class_1 = known.name.ends_with("Class 1") || known.name.contains("Class1");
    let class = setting.efficiency_class.unwrap_or(CLASS_0);
    if setting.setting_guid == known.guid {
        return class == 0 || is_of_class_1;
    }
    is_of_class_1 && class == 1 && is_next(&setting.setting_guid, known.guid)
}

/// Returns `true` if `next` is the GUID that follows `guid`.
fn is_next(guid: &str, next: &str) -> bool {
    let parts = |guid: &str| {
        let (head, tail) = guid.rsplit_once('-')?;
        Some((head.to_owned(), u64::from_str_radix(tail, 16).ok()?))
    };
    match (parts(guid), parts(next)) {
        (Some((head, tail)), Some((next_head, next_tail))) => {
            head == next_head && tail.checked_add(1) == Some(next_tail)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPP: &str = "36687f9e-e3a5-4dbf-b1dc-15eb381c6863";

    fn setting(ts_ns: i64, kind: &str, setting_guid: &str, value: i64) -> SettingRow {
        SettingRow {
            ts_ns,
            kind: kind.into(),
            setting_guid: setting_guid.into(),
            value: Some(value),
            value_hex: format!("{value:02x}"),
            ..SettingRow::default()
        }
    }

    fn values(all: &[Snapshot]) -> Vec<(i64, Vec<&str>)> {
        all.iter()
            .map(|one| {
                (
                    one.ts_ns,
                    one.rows.iter().map(|row| row.value.as_str()).collect(),
                )
            })
            .collect()
    }

    #[test]
    fn changes_show_when_everything_is_reported_again_or_at_the_end() {
        let capture = [
            setting(1, "rundown", EPP, 50),
            setting(2, "rundown", "unknown", 1),
        ];
        assert_eq!(values(&snapshots(&capture, &[])), [(1, vec!["50 %", "1"])]);
        let changed = [&capture[..], &[setting(5, "change", EPP, 60)]].concat();
        assert_eq!(
            values(&snapshots(&changed, &[])),
            [(1, vec!["50 %", "1"]), (5, vec!["60 %", "1"])]
        );
        let again = [
            &changed[..],
            &[
                setting(9, "rundown", EPP, 60),
                setting(9, "rundown", "unknown", 1),
            ],
        ]
        .concat();
        assert_eq!(
            values(&snapshots(&again, &[])).len(),
            2,
            "the last capture reports nothing new"
        );
        let other = [
            &changed[..],
            &[
                setting(9, "rundown", EPP, 70),
                setting(9, "rundown", "unknown", 1),
            ],
        ]
        .concat();
        assert_eq!(values(&snapshots(&other, &[]))[1], (9, vec!["70 %", "1"]));
    }

    #[test]
    fn what_the_system_does_not_report_comes_from_the_profile_in_force() {
        let of = |profile, class, value| SettingRow {
            profile: Some(profile),
            power_source: Some("ac".into()),
            efficiency_class: Some(class),
            ..setting(1, "rundown", EPP, value)
        };
        let all = [
            of(0, 0, 10),
            of(0, 1, 11),
            of(5, 0, 20),
            setting(1, "rundown", "unknown", 1),
        ];
        let first = |in_force: &[InForce]| {
            let row = &snapshots(&all, in_force)[0].rows[0];
            (row.value.clone(), row.origin.clone())
        };
        // Class 1 has a row of its own.
        assert_eq!(
            values(&snapshots(&all, &[])),
            [(1, vec!["10 %", "11 %", "1"])]
        );
        assert_eq!(first(&[]), ("10 %".into(), "profile 0".into()));
        assert_eq!(
            first(&[InForce {
                ts_ns: 0,
                previous: 0,
                profile: 5
            }]),
            ("20 %".into(), "profile 5".into())
        );
        assert_eq!(
            first(&[InForce {
                ts_ns: 9,
                previous: 5,
                profile: 0
            }]),
            ("20 %".into(), "profile 5".into())
        );
    }

    #[test]
    fn endless_captures_are_cut() {
        let all: Vec<SettingRow> = (0..1000).map(|n| setting(n, "rundown", EPP, n)).collect();
        let snapshots = snapshots(&all, &[]);
        let last = snapshots.last().unwrap();
        assert_eq!(
            (snapshots.len(), &*last.rows[0].value),
            (MAX_SNAPSHOTS, "999 %")
        );
        let many: Vec<SettingRow> = (0..5000)
            .map(|n| setting(n, "rundown", &format!("{n:04}"), n))
            .collect();
        assert_eq!(super::snapshots(&many, &[])[0].rows.len(), MAX_SETTINGS);
    }
}
