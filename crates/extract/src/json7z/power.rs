//! `PowerConfiguration`: power settings at moments of the recording.

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

/// Power schemes of Windows, indexed by their number in the file. Number 0 means another scheme.
const SCHEMES: [&str; 5] = [
    "",
    "a1841308-3541-4fab-bc81-f71556f20b4a",
    "381b4222-f694-41f0-9685-ff5bb260df2e",
    "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c",
    "e9a42b02-d5df-448d-aa00-03f14749eb61",
];

/// Members, and the GUIDs that Windows documents for these settings. Intervals that Windows counts
/// in checks are written as if a check were a millisecond.
const SETTINGS: [(&str, &str, Form); 50] = [
    (
        "ActivePowerProfileGuid",
        "31f9f286-5084-42fe-b720-2b0264993763",
        Form::Guid,
    ),
    (
        "BaseProfile",
        "245d8541-3943-4422-b025-13a784f679b7",
        Form::Scheme,
    ),
    (
        "AutonomousMode",
        "8baa4a8a-14c6-4451-8e8b-14bdbd197537",
        Form::Flag,
    ),
    (
        "HeteroPolicyInEffect",
        "7f2f5cfa-f10c-4823-b5e1-e93ae85f46b5",
        Form::Number,
    ),
    (
        "HeteroPolicyThreadScheduling",
        "93b8b6dc-0698-4d1c-9ee4-0644e900c85d",
        Form::Number,
    ),
    (
        "HeteroPolicyThreadSchedulingShort",
        "bae08b81-2d5e-4688-ad6a-13243356654b",
        Form::Number,
    ),
    (
        "DecreaseLevelThresholdClass1",
        "f8861c27-95e7-475c-865b-13c0cb3f9d6b",
        Form::Number,
    ),
    (
        "DecreaseLevelThresholdClass2",
        "f8861c27-95e7-475c-865b-13c0cb3f9d6c",
        Form::Number,
    ),
    (
        "ShortVsLongThreadThreshold",
        "d92998c2-6a48-49ca-85d4-8cceec294570",
        Form::Number,
    ),
    (
        "LongRunningThreadsLowerArchitectureLimit",
        "43f278bc-0f8a-46d0-8b31-9a23e615d713",
        Form::Number,
    ),
    (
        "EnergyPreferencePercent",
        "36687f9e-e3a5-4dbf-b1dc-15eb381c6863",
        Form::Number,
    ),
    (
        "EnergyPreferencePercentClass1",
        "36687f9e-e3a5-4dbf-b1dc-15eb381c6864",
        Form::Number,
    ),
    (
        "BoostMode",
        "be337238-0d82-4146-a960-4f3749d470c7",
        Form::Number,
    ),
    (
        "BoostPolicyPercent",
        "45bcc044-d885-43e2-8605-ee0ec6e96b59",
        Form::Number,
    ),
    (
        "DecreasePolicy",
        "40fbefc7-2e9d-4d25-a185-0cfd8574bac6",
        Form::Number,
    ),
    (
        "DecreaseStabilizationInterval",
        "d8edeb9b-95cf-4f95-a73c-b061973693c8",
        Form::Ms,
    ),
    (
        "DecreaseThresholdPercent",
        "12a0ab44-fe28-4fa9-b3bd-4b64f44960a6",
        Form::Number,
    ),
    (
        "IncreasePolicy",
        "465e1f50-b610-473a-ab58-00d1077dc418",
        Form::Number,
    ),
    (
        "IncreasePolicyClass1",
        "465e1f50-b610-473a-ab58-00d1077dc419",
        Form::Number,
    ),
    (
        "IncreaseStabilizationInterval",
        "984cf492-3bed-4488-a8f9-4286c97bf5aa",
        Form::Ms,
    ),
    (
        "IncreaseStabilizationIntervalClass1",
        "984cf492-3bed-4488-a8f9-4286c97bf5ab",
        Form::Number,
    ),
    (
        "IncreaseThresholdPercent",
        "06cadf0e-64ed-448a-8927-ce7bf90eb35d",
        Form::Number,
    ),
    (
        "IncreaseThresholdPercentClass1",
        "b000397d-9b0b-483d-98c9-692a6060cfbf",
        Form::Number,
    ),
    (
        "IncreaseThresholdPercentClass2",
        "b000397d-9b0b-483d-98c9-692a6060cfc0",
        Form::Number,
    ),
    (
        "StabilizationInterval",
        "4d2b0152-7d5c-498b-88e2-34345392a2c5",
        Form::Ms,
    ),
    (
        "LatencySensitivityPerformancePercent",
        "619b7505-003b-4e82-b7a6-4dd29c300971",
        Form::Number,
    ),
    (
        "MaxEfficiencyClass0Frequency",
        "75b0ae3f-bce0-45a7-8c89-c9611c25e100",
        Form::Number,
    ),
    (
        "MaxEfficiencyClass1Frequency",
        "75b0ae3f-bce0-45a7-8c89-c9611c25e101",
        Form::Number,
    ),
    (
        "MaxThrottlingFrequencyPercent",
        "bc5038f7-23e0-4960-96da-33abaf5935ec",
        Form::Number,
    ),
    (
        "MaxThrottlingFrequencyClass1Percent",
        "bc5038f7-23e0-4960-96da-33abaf5935ed",
        Form::Number,
    ),
    (
        "MinThrottlingFrequencyPercent",
        "893dee8e-2bef-41e0-89c6-b55d0929964c",
        Form::Number,
    ),
    (
        "MinThrottlingFrequencyPercentClass1",
        "893dee8e-2bef-41e0-89c6-b55d0929964d",
        Form::Number,
    ),
    // The enumeration of ETWAnalyzer has active cooling as 0, Windows has it as 1.
    (
        "SystemCoolingPolicy",
        "94d3a615-a899-4ac5-ae2b-e4d8f634367f",
        Form::Swapped,
    ),
    (
        "ThrottlePolicy",
        "3b04d4fd-1cc7-4f23-ab1c-d1337819c4bb",
        Form::Number,
    ),
    (
        "TimeWindowSize",
        "7d24baa7-0b84-480f-840c-1b0743c00f5f",
        Form::Number,
    ),
    (
        "IdleConfiguration.DeepestIdleState",
        "9943e905-9a30-4ec1-9b99-44dd3b76f7a2",
        Form::Number,
    ),
    (
        "IdleConfiguration.DemoteThresholdPercent",
        "4b92d758-5a24-4851-a470-815d78aee119",
        Form::Number,
    ),
    // The setting of Windows is the opposite: it disables idle states.
    (
        "IdleConfiguration.Enabled",
        "5d76a2ca-e8c0-402f-a133-2158492d58ad",
        Form::NotFlag,
    ),
    (
        "IdleConfiguration.MinimumDurationBetweenChecks",
        "c4581c31-89ab-4597-8e2b-9c9cab440e6b",
        Form::Us,
    ),
    (
        "IdleConfiguration.PromoteThresholdPercent",
        "7b224883-b3cc-4d79-819f-8374152cbe7c",
        Form::Number,
    ),
    (
        "IdleConfiguration.ScalingEnabled",
        "6c2993b0-8f48-481f-bcc6-00dd2742aa06",
        Form::Flag,
    ),
    (
        "ProcessorParkingConfiguration.ConcurrencyHeadroomThresholdPercent",
        "f735a673-2066-4f80-a0c5-ddee0cf1bf5d",
        Form::Number,
    ),
    (
        "ProcessorParkingConfiguration.ConcurrencyThresholdPercent",
        "2430ab6f-a520-44a2-9601-f7f23b5134b1",
        Form::Number,
    ),
    (
        "ProcessorParkingConfiguration.MinParkedDuration",
        "2ddd5a84-5a71-437e-912a-db0b8c788732",
        Form::Ms,
    ),
    (
        "ProcessorParkingConfiguration.MinUnparkedDuration",
        "dfd10d17-d5eb-45dd-877a-9a34ddd15c82",
        Form::Ms,
    ),
    (
        "ProcessorParkingConfiguration.OverUtilizationThresholdPercent",
        "943c8cb6-6f93-4227-ad87-e9a3feec08d1",
        Form::Number,
    ),
    (
        "ProcessorParkingConfiguration.ParkingPerformanceState",
        "447235c7-6a8d-4cc0-8e24-9eaf70b96e2b",
        Form::Number,
    ),
    (
        "ProcessorParkingConfiguration.ParkingPolicy",
        "71021b41-c749-4d21-be74-a00f335d582b",
        Form::Number,
    ),
    (
        "ProcessorParkingConfiguration.UnparkingPolicy",
        "c7be0679-2817-4d69-9d02-519a537ed0c6",
        Form::Number,
    ),
    (
        "ProcessorParkingConfiguration.SoftParkLatencyUs",
        "97cfac41-2217-47eb-992d-618b1977c907",
        Form::Number,
    ),
];

/// More members, in `ProcessorParkingConfiguration`, in the form of [`SETTINGS`].
const PARKING: [(&str, &str, Form); 7] = [
    (
        "ProcessorParkingConfiguration.MaxEfficiencyClass1UnparkedProcessorPercent",
        "ea062031-0e34-4ff1-9b6d-eb1059334029",
        Form::Number,
    ),
    (
        "ProcessorParkingConfiguration.MaxUnparkedProcessorPercent",
        "ea062031-0e34-4ff1-9b6d-eb1059334028",
        Form::Number,
    ),
    (
        "ProcessorParkingConfiguration.MinEfficiencyClass1UnparkedProcessorPercent",
        "0cc5b647-c1df-4637-891a-dec35c318584",
        Form::Number,
    ),
    (
        "ProcessorParkingConfiguration.MinUnparkedProcessorPercent",
        "0cc5b647-c1df-4637-891a-dec35c318583",
        Form::Number,
    ),
    (
        "ProcessorParkingConfiguration.InitialPerformancePercentClass1",
        "1facfc65-a930-4bc5-9f38-504ec097bbc0",
        Form::Number,
    ),
    (
        "ProcessorParkingConfiguration.UtilityDistributionEnabled",
        "e0007330-f589-42ed-a401-5ddb10e785d3",
        Form::Flag,
    ),
    (
        "ProcessorParkingConfiguration.UtilityDistributionThresholdPercent",
        "4bdaf4e9-d103-46d7-a5f0-6280121616ef",
        Form::Number,
    ),
];

/// Reads the section and writes `power_setting`.
pub(crate) fn read(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    let mut rows: Vec<PowerSetting> = Vec::new();
    reader.list(|reader| {
        let (mut ts_ns, begin) = (0, rows.len());
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
    let name = OTHER_NAMES
        .iter()
        .find(|(other, _)| *other == name)
        .map_or(name, |(_, known)| known);
    let Some((_, guid, form)) = SETTINGS
        .iter()
        .chain(&PARKING)
        .find(|(known, ..)| *known == name)
    else {
        return reader.unknown();
    };
    let number = match form {
        Form::Number => reader.int()?.filter(|number| *number != -1),
        Form::Flag => reader.flag()?.map(i64::from),
        Form::NotFlag => reader.flag()?.map(|flag| i64::from(!flag)),
        Form::Swapped => reader
            .int()?
            .filter(|number| *number != -1)
            .map(|number| i64::from(number == 0)),
        Form::Ms => reader.span()?.map(|ns| ns / 1_000_000),
        Form::Us => reader.span()?.map(|ns| ns / 1000),
        Form::Guid | Form::Scheme => {
            let text = if matches!(form, Form::Guid) {
                reader.filled_text()?
            } else {
                let scheme = reader
                    .int()?
                    .and_then(|number| SCHEMES.get(usize::try_from(number).ok()?));
                scheme
                    .filter(|guid| !guid.is_empty())
                    .map(|guid| (*guid).to_owned())
            };
            rows.extend(text.map(|text| PowerSetting {
                value_hex: guid_bytes(&text),
                value_guid: Some(text.to_lowercase()),
                ..row(guid)
            }));
            return Ok(());
        }
    };
    rows.extend(number.map(|number| {
        PowerSetting {
            value: Some(number),
            value_hex: (number as u32)
                .to_le_bytes()
                .map(|byte| format!("{byte:02x}"))
                .concat(),
            ..row(guid)
        }
    }));
    Ok(())
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
        let all: Vec<_> = SETTINGS.iter().chain(&PARKING).collect();
        let names: std::collections::HashSet<_> = all.iter().map(|(name, ..)| name).collect();
        let guids: std::collections::HashSet<_> = all.iter().map(|(_, guid, _)| guid).collect();
        assert_eq!((names.len(), guids.len()), (all.len(), all.len()));
    }
}
