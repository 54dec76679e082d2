//! `PowerConfiguration`: power settings at moments of the recording.

use std::sync::LazyLock;

use etwkit_trace::table::PowerSetting;

use crate::json7z::error::Result;
use crate::json7z::import::Import;
use crate::json7z::reader::Reader;
use crate::json7z::rows::write_all;

/// The conversion from a value in the file to the value of a setting.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// The number of the file, unchanged; -1 means unknown.
    Number,
    /// True is 1.
    Flag,
    /// True is 0.
    NotFlag,
    /// 0 is 1, and 1 is 0.
    Swapped,
    /// A length of time in milliseconds.
    Ms,
    /// A length of time in microseconds.
    Us,
    /// A GUID.
    Guid,
    /// The number of a power scheme of Windows.
    Scheme,
}

impl Form {
    fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "number" => Self::Number,
            "flag" => Self::Flag,
            "not" => Self::NotFlag,
            "swapped" => Self::Swapped,
            "ms" => Self::Ms,
            "us" => Self::Us,
            "guid" => Self::Guid,
            "scheme" => Self::Scheme,
            _ => return None,
        })
    }
}

/// Power schemes of Windows, indexed by their number in the file. Number 0 means another scheme.
const SCHEMES: [&str; 5] = [
    "",
    "a1841308-3541-4fab-bc81-f71556f20b4a",
    "381b4222-f694-41f0-9685-ff5bb260df2e",
    "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c",
    "e9a42b02-d5df-448d-aa00-03f14749eb61",
];

/// Members of the section.
static SETTINGS: LazyLock<Vec<Setting>> =
    LazyLock::new(|| SETTINGS_FILE.lines().filter_map(parsed).collect());

const SETTINGS_FILE: &str = include_str!("power.tsv");

/// A member of the section, and the setting that it is.
struct Setting {
    name: &'static str,
    guid: &'static str,
    form: Form,
}

/// Parses a line: name, GUID and form, separated by tabs. Lines with `#` are comments.
fn parsed(line: &'static str) -> Option<Setting> {
    let mut fields = line.split('\t');
    Some(Setting {
        name: fields.next()?,
        guid: fields.next()?,
        form: Form::from_word(fields.next()?)?,
    })
}

/// Reads the section and writes `power_setting`.
pub(crate) fn read(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    let mut rows: Vec<PowerSetting> = Vec::new();
    reader.list(|reader| {
        let mut ts_ns = 0;
        let begin = rows.len();
        reader.object(|reader, name| match name {
            "TimeSinceTraceStartS" => {
                ts_ns = reader.given(Reader::seconds)?;
                Ok(())
            }
            // The GUID carries the same information.
            "ActivePowerProfile" => reader.skip(),
            "IdleConfiguration" | "ProcessorParkingConfiguration" => {
                reader.object(|reader, inner| {
                    setting(reader, &format!("{name}.{inner}"), &mut rows)
                })?;
                Ok(())
            }
            _ => setting(reader, name, &mut rows),
        })?;
        rows.iter_mut()
            .skip(begin)
            .for_each(|row| row.ts_ns = ts_ns);
        Ok(())
    })?;
    rows.sort_by_key(|row| row.ts_ns);
    write_all(rows, import.sink)
}

/// Other names of members in some versions, and the names above.
const OTHER_NAMES: [(&str, &str); 1] =
    [("ShortVsLongThreadThresholdUs", "ShortVsLongThreadThreshold")];

fn setting(reader: &mut Reader, name: &str, rows: &mut Vec<PowerSetting>) -> Result<()> {
    let name = known_name(name);
    let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
        return reader.unknown();
    };
    let row = match setting.form {
        Form::Guid => reader
            .filled_text()?
            .map(|text| with_guid(setting.guid, &text)),
        Form::Scheme => scheme(reader)?.map(|text| with_guid(setting.guid, text)),
        form => number(reader, form)?.map(|number| with_number(setting.guid, number)),
    };
    rows.extend(row);
    Ok(())
}

/// Returns the name in [`SETTINGS`] of a member.
fn known_name(name: &str) -> &str {
    OTHER_NAMES
        .iter()
        .find(|(other, _)| *other == name)
        .map_or(name, |(_, known)| known)
}

/// Reads a value that is a number for Windows.
fn number(reader: &mut Reader, form: Form) -> Result<Option<i64>> {
    Ok(match form {
        Form::Flag => reader.flag()?.map(i64::from),
        Form::NotFlag => reader.flag()?.map(|flag| i64::from(!flag)),
        Form::Swapped => known_number(reader)?.map(|number| i64::from(number == 0)),
        Form::Ms => reader.span()?.map(|ns| ns / 1_000_000),
        Form::Us => reader.span()?.map(|ns| ns / 1000),
        Form::Number | Form::Guid | Form::Scheme => known_number(reader)?,
    })
}

fn known_number(reader: &mut Reader) -> Result<Option<i64>> {
    Ok(reader.int()?.filter(|number| *number != -1))
}

/// Reads the number of a power scheme, and returns its GUID.
fn scheme(reader: &mut Reader) -> Result<Option<&'static str>> {
    let number = reader.int()?;
    let guid = number.and_then(|number| SCHEMES.get(usize::try_from(number).ok()?));
    Ok(guid.copied().filter(|guid| !guid.is_empty()))
}

fn with_guid(setting: &str, text: &str) -> PowerSetting {
    PowerSetting {
        value_hex: guid_bytes(text),
        value_guid: Some(text.to_lowercase()),
        ..row(setting)
    }
}

fn with_number(setting: &str, number: i64) -> PowerSetting {
    let bytes = (number as u32).to_le_bytes();
    PowerSetting {
        value: Some(number),
        value_hex: bytes.map(|byte| format!("{byte:02x}")).concat(),
        ..row(setting)
    }
}

fn row(guid: &str) -> PowerSetting {
    PowerSetting {
        kind: "rundown",
        setting_guid: guid.to_owned(),
        ..PowerSetting::default()
    }
}

/// The bytes of a GUID: the first three groups are numbers with their lowest byte first.
fn guid_bytes(text: &str) -> String {
    let reversed = |group: &str| -> String {
        let bytes: Vec<&str> = (0..group.len())
            .step_by(2)
            .filter_map(|at| group.get(at..at + 2))
            .collect();
        bytes.into_iter().rev().collect()
    };
    let groups = text.split('-').enumerate();
    groups
        .map(|(at, group)| {
            // The first three groups of a GUID are little-endian numbers, the others single bytes.
            if at < 3 {
                reversed(group)
            } else {
                group.to_owned()
            }
        })
        .collect::<String>()
        .to_lowercase()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_guid_is_stored_as_windows_does() {
        assert_eq!(
            guid_bytes("8C5E7FDA-e8bf-4a96-9a85-a6e23a8c635c"),
            "da7f5e8cbfe8964a9a85a6e23a8c635c"
        );
    }

    #[test]
    fn settings_are_named_once() {
        let lines = SETTINGS_FILE.lines().filter(|line| !line.starts_with('#'));
        let all = lines.count();
        let names: HashSet<_> = SETTINGS.iter().map(|setting| setting.name).collect();
        let guids: HashSet<_> = SETTINGS.iter().map(|setting| setting.guid).collect();
        assert_eq!((names.len(), guids.len()), (all, all));
    }
}
