//! Facts about both sides besides numbers: machine, modules, settings; and the limits of a
//! comparison.

use std::collections::{BTreeMap, BTreeSet};

use etwkit_base::digits::counted;
use etwkit_question::ask;
use etwkit_questions::version::VersionRequest;

use super::DiffRequest;
use super::rows::Fact;
use super::side::{Recording, Side, Sides};
use crate::Result;

/// Maximum number of values that are listed for one name.
const MOST_VALUES: usize = 8;

etwkit_question::declare! {
    /// A setting.
    row Setting {
        topic: String = "What it belongs to.",
        name: String = "Its name.",
        value: String = "Its value as text.",
    }

    /// A recorded topic.
    row Topic {
        topic: String = "Its name.",
    }
}

/// Settings, without values that start again in each recording or change all the time (free space,
/// addresses).
pub(super) const SETTINGS: &str = "SELECT topic, name, value FROM (
SELECT 'disk' AS topic, concat('write cache of disk ', CAST(disk AS VARCHAR)) AS name,
  CASE WHEN is_write_cache_enabled THEN 'on' ELSE 'off' END AS value
FROM disk WHERE is_write_cache_enabled IS NOT NULL
UNION ALL SELECT 'disk', concat('model of disk ', CAST(disk AS VARCHAR)), model FROM disk
UNION ALL SELECT 'volume', concat('file system of ', drive), file_system FROM volume WHERE drive IS NOT NULL
UNION ALL SELECT 'fact', name, value FROM machine_fact
UNION ALL SELECT 'adapter', concat('DNS servers of ', coalesce(alias, description)), dns_servers FROM adapter
UNION ALL SELECT 'service', name, 'runs' FROM service
UNION ALL SELECT 'power',
  concat(coalesce(name, setting_guid), coalesce(concat(' of profile ', CAST(profile AS VARCHAR)), ''),
    coalesce(concat(' on ', power_source), ''),
    coalesce(concat(', class ', CAST(efficiency_class AS VARCHAR)), '')),
  coalesce(CAST(value AS VARCHAR), value_guid, value_hex)
FROM power_setting WHERE kind = 'rundown'
UNION ALL SELECT topic,
  CASE WHEN item = 0 THEN name ELSE concat(name, ' of ', CAST(item AS VARCHAR)) END, value
FROM system_config WHERE topic IN ('cpu', 'machine', 'platform')
  AND name NOT IN ('computer_name', 'kernel_base', 'service_events', 'pnp_devices', 'install_utc')
) WHERE value IS NOT NULL";

/// Topics that were recorded.
const TOPICS: &str = "SELECT topic FROM topic WHERE is_recorded";

/// Names of topics.
pub(super) type Topics = BTreeSet<String>;

/// Texts by topic and name.
pub(super) type Texts = BTreeMap<(String, String), BTreeSet<String>>;

/// Returns facts that describe both sides: trace, range, machine.
pub(super) fn sides(both: &Sides) -> Vec<Fact> {
    let [a, b] = &both.sides;
    let fact = |name: &str, text: &dyn Fn(&Side) -> Option<String>| Fact {
        topic: None,
        name: name.to_owned(),
        a: text(a),
        b: text(b),
    };
    let seconds = |ns| format!("{} s", etwkit_sql::time_format::seconds(ns, 3));
    let part = |side: &Side| {
        let (from, to) = side.bounds();
        let length = to.saturating_sub(from);
        Some(format!(
            "{} to {} ({})",
            seconds(from),
            seconds(to),
            seconds(length)
        ))
    };
    let windows = |side: &Side| {
        let names = [
            side.recording.os_name.as_deref(),
            side.recording.os_version.as_deref(),
        ];
        let names: Vec<&str> = names.into_iter().flatten().collect();
        Some(names.join(", ")).filter(|names| !names.is_empty())
    };
    let machine = |side: &Side| {
        let Recording {
            processors,
            cpu_mhz,
            memory_bytes,
            ..
        } = side.recording;
        let mhz = cpu_mhz.map_or_else(String::new, |mhz| format!(", {mhz} MHz"));
        let memory =
            memory_bytes.map_or_else(String::new, |bytes| format!(", {} MiB", bytes >> 20));
        Some(format!("{processors} processors{mhz}{memory}"))
    };
    vec![
        fact("Trace", &|side| Some(side.recording.file_name.clone())),
        fact("Compared", &part),
        fact("Wall time", &|side| Some(seconds(side.wall_ns))),
        fact("Recorded", &|side| Some(side.recording.start_utc.clone())),
        fact("Computer", &|side| side.recording.computer.clone()),
        fact("Windows", &windows),
        fact("Machine", &machine),
    ]
}

/// Returns remarks about differences that make the sides harder to compare.
pub(super) fn remarks(both: &Sides, topics: &[Topics; 2]) -> Result<Vec<String>> {
    let [a, b] = &both.sides;
    let mut all = Vec::new();
    if both.is_one_trace {
        return Ok(all);
    }
    let of_a = &a.recording;
    let of_b = &b.recording;
    let mut differs = |what: &str, a: Option<String>, b: Option<String>| {
        if let (Some(a), Some(b)) = (a, b)
            && a != b
        {
            all.push(format!("{what}: {a} in A, {b} in B"));
        }
    };
    differs(
        "They are of different computers",
        of_a.computer.clone(),
        of_b.computer.clone(),
    );
    differs(
        "Windows differs",
        of_a.os_version.clone(),
        of_b.os_version.clone(),
    );
    let number = |number: i64| Some(number.to_string());
    differs(
        "The number of processors differs",
        number(of_a.processors),
        number(of_b.processors),
    );
    let gigabytes = |bytes: Option<i64>| bytes.map(|bytes| format!("{} MiB", bytes >> 20));
    differs(
        "Memory differs",
        gigabytes(of_a.memory_bytes),
        gigabytes(of_b.memory_bytes),
    );
    let interval = |ns: Option<i64>| ns.map(|ns| format!("{} µs", ns / 1000));
    differs(
        "CPU was sampled at different intervals",
        interval(of_a.sample_interval_ns),
        interval(of_b.sample_interval_ns),
    );
    for (name, side) in [("A", of_a), ("B", of_b)] {
        if side.lost_events > 0 || side.lost_buffers > 0 {
            let Recording {
                lost_events,
                lost_buffers,
                ..
            } = side;
            all.push(format!(
                "{name} lost {} and {}: its sums are too small",
                counted(lost_events.unsigned_abs(), ["event", "events"]),
                counted(lost_buffers.unsigned_abs(), ["buffer", "buffers"])
            ));
        }
    }
    all.extend(recorded(topics));
    Ok(all)
}

/// Returns the topics that each side recorded.
pub(super) fn topics(both: &Sides) -> Result<[Topics; 2]> {
    let of = |side: &Side| -> Result<Topics> {
        let topics = ask::<Topic>(&side.session, TOPICS)?;
        Ok(topics.into_iter().map(|topic| topic.topic).collect())
    };
    let [a, b] = &both.sides;
    Ok([of(a)?, of(b)?])
}

/// Returns remarks about topics that only one side recorded.
fn recorded([of_a, of_b]: &[Topics; 2]) -> Vec<String> {
    let only = |this: &str, other: &str, topics: Vec<&String>| {
        let names = topics
            .into_iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ");
        (!names.is_empty())
            .then(|| format!("{this} alone recorded {names}: {other} is not compared in it"))
    };
    let in_a = only("A", "B", of_a.difference(of_b).collect());
    in_a.into_iter()
        .chain(only("B", "A", of_b.difference(of_a).collect()))
        .collect()
}

/// Returns the settings that differ, settings of disks first. A topic without settings on one side
/// was not recorded there.
pub(super) fn settings(_: &DiffRequest, both: &Sides) -> Result<Vec<Fact>> {
    let texts = |side: &Side| -> Result<Texts> {
        let mut texts = Texts::new();
        for Setting { topic, name, value } in ask::<Setting>(&side.session, SETTINGS)? {
            texts.entry((topic, name)).or_default().insert(value);
        }
        Ok(texts)
    };
    let [a, b] = &both.sides;
    let mut a = texts(a)?;
    let mut b = texts(b)?;
    let topics = |texts: &Texts| -> BTreeSet<String> {
        texts.keys().map(|(topic, _)| topic.clone()).collect()
    };
    let of_a = topics(&a);
    let of_b = topics(&b);
    // Otherwise every service or disk of a trace with this list would differ from a trace without
    // it.
    a.retain(|(topic, _), _| of_b.contains(topic));
    b.retain(|(topic, _), _| of_a.contains(topic));
    let mut all = differing(a, b);
    // A write cache that is off, or another model of disk, explains more than any other setting.
    all.sort_by_key(|fact| fact.topic.as_deref() != Some("disk"));
    Ok(all)
}

/// Returns the SQL for modules.
pub(super) fn versions_sql(asked: &DiffRequest) -> String {
    VersionRequest {
        processes: asked.processes.clone(),
        ..VersionRequest::default()
    }
    .sql()
}

/// Returns the versions and sizes of the modules of a side.
///
/// # Errors
/// The side has no modules; the query fails.
pub(super) fn versions(asked: &DiffRequest, side: &Side) -> Result<Texts> {
    let request = VersionRequest {
        processes: asked.processes.clone(),
        ..VersionRequest::default()
    };
    let mut texts = Texts::new();
    for row in request
        .ask(&side.session)?
        .into_iter()
        .flat_map(|group| group.rows)
    {
        texts
            .entry((String::new(), row.path.to_lowercase()))
            .or_default()
            .insert(build(row.file_version, row.size_bytes));
    }
    Ok(texts)
}

/// Formats `10.0.19041.1, 144 KiB`. Code that was compiled at run time has no size.
fn build(version: Option<String>, size_bytes: i64) -> String {
    let version = version.unwrap_or_else(|| "no version".to_owned());
    if size_bytes > 0 {
        format!("{version}, {} KiB", size_bytes >> 10)
    } else {
        version
    }
}

/// Returns modules whose versions differ, then those that only one side has.
pub(super) fn other_versions([a, b]: [Texts; 2]) -> Vec<Fact> {
    let mut all = differing(a, b);
    // Another version explains more than a file that was not loaded: there are always some of the
    // latter.
    all.sort_by_key(|fact| fact.a.is_none() || fact.b.is_none());
    all
}

/// Texts that differ.
fn differing(a: Texts, mut b: Texts) -> Vec<Fact> {
    let text = |values: BTreeSet<String>| {
        let more = values.len().saturating_sub(MOST_VALUES);
        let mut all: Vec<String> = values.into_iter().take(MOST_VALUES).collect();
        all.extend((more > 0).then(|| format!("{more} more")));
        all.join("; ")
    };
    let fact = |(topic, name): (String, String), a: Option<BTreeSet<String>>, b| Fact {
        topic: Some(topic).filter(|topic| !topic.is_empty()),
        name,
        a: a.map(text),
        b: Option::map(b, text),
    };
    let mut all = Vec::new();
    for (key, of_a) in a {
        match b.remove(&key) {
            Some(of_b) if of_a == of_b => {}
            of_b => all.push(fact(key, Some(of_a), of_b)),
        }
    }
    all.extend(b.into_iter().map(|(key, of_b)| fact(key, None, Some(of_b))));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_without_a_size_is_not_of_0_kib() {
        let version = || Some("10.0.19041.1".to_owned());
        assert_eq!(build(version(), 147_456), "10.0.19041.1, 144 KiB");
        assert_eq!(build(None, 0), "no version");
    }
}
