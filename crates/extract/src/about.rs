//! The description of an extract in tables: rows that follow from its manifest.

use etwkit_trace::table::{ExtractInfo, TopicInfo, UtcTime};
use etwkit_trace::topics;

use crate::manifest::{Manifest, Topic};

/// The number of a trace in the column `run_id`: the hash of its source as a signed number. Hashes
/// have 16 hexadecimal digits; any other text, which no writer creates, is hashed itself.
#[must_use]
pub fn run_id(source_hash: &str) -> i64 {
    let number = |text: &str| u64::from_str_radix(text, 16).ok().map(u64::cast_signed);
    let hashed = || number(&crate::digest(&[source_hash.as_bytes()]));
    // A digest is such a number.
    number(source_hash).or_else(hashed).unwrap_or_default()
}

/// The row of the table `extract`. `derived` is the version of the computed tables, if it has any.
#[must_use]
pub fn extract_row(manifest: &Manifest, derived: Option<u32>) -> ExtractInfo {
    let names: Vec<&str> = manifest
        .source
        .files
        .iter()
        .map(|file| file.name.as_str())
        .collect();
    let labels: Vec<String> = manifest
        .labels
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let start = Some(manifest.clock.start_filetime).filter(|start| *start != 0);
    ExtractInfo {
        computer: manifest.machine.computer.clone(),
        start_utc: start.map(UtcTime::of_filetime),
        source_name: names.join(";"),
        source_hash: manifest.source.hash.clone(),
        detail: manifest.detail.name().to_owned(),
        imported_from: manifest
            .imported_from
            .as_ref()
            .map(|from| from.format.clone()),
        format_version: manifest.format_version.to_string(),
        etwkit_version: manifest.etwkit_version.clone(),
        derived_version: derived.and_then(|version| i32::try_from(version).ok()),
        labels: (!labels.is_empty()).then(|| labels.join(";")),
    }
}

/// The rows of the table `topic`. `rows` returns the number of rows of a table.
pub fn topic_rows<'m>(
    manifest: &'m Manifest,
    rows: impl Fn(&str) -> u64 + 'm,
) -> impl Iterator<Item = TopicInfo> + 'm {
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    manifest.topics.iter().map(
        move |Topic {
                  topic,
                  recorded,
                  events,
                  hint,
              }| {
            let tables = topics::tables_of(topic);
            TopicInfo {
                topic: topic.clone(),
                is_recorded: *recorded,
                events: events.map(number),
                rows: number(
                    tables
                        .iter()
                        .map(|table| rows(table))
                        .fold(0, u64::saturating_add),
                ),
                tables: tables.join(";"),
                recorded_by: hint.clone(),
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_trace_is_its_hash_read_as_a_signed_number() {
        assert_eq!(run_id("0000000000000010"), 16);
        assert_eq!(run_id("ffffffffffffffff"), -1);
        assert_eq!(run_id("9f2c5b0e41d7a386"), -6_977_101_605_911_420_026);
        assert_ne!(run_id("no hash"), run_id("another"));
    }
}
