//! Power settings: one row for each snapshot. Settings are found by their GUIDs.

use super::Columns;
use crate::csv::cell::Cell::*;

/// The scheme in force.
const ACTIVE: &str = "31f9f286-5084-42fe-b720-2b0264993763";

/// The time of a test comes from its name; ETWAnalyzer writes the start of the session there.
pub(crate) const HEAD: Columns = &[
    ("CSVOptions", Line),
    ("TestCase", TestCase),
    ("Test Time in ms", TestTime),
    ("SourceJsonFile", Source),
    ("Machine", Machine),
];

pub(crate) const CPU: Columns = &[
    ("Active Profile", SchemeName(ACTIVE)),
    ("Active Profile Guid", SchemeGuid(ACTIVE)),
    (
        "Base Profile",
        SchemeName("245d8541-3943-4422-b025-13a784f679b7"),
    ),
    (
        "Autonomous Mode",
        Setting("8baa4a8a-14c6-4451-8e8b-14bdbd197537"),
    ),
    (
        "Hetero Policy In Effect",
        Setting("7f2f5cfa-f10c-4823-b5e1-e93ae85f46b5"),
    ),
    (
        "Hetero Policy Thread Scheduling",
        Setting("93b8b6dc-0698-4d1c-9ee4-0644e900c85d"),
    ),
    (
        "Hetero Policy Thread Scheduling Short",
        Setting("bae08b81-2d5e-4688-ad6a-13243356654b"),
    ),
    ("BoostMode", Setting("be337238-0d82-4146-a960-4f3749d470c7")),
    (
        "Boost Policy %",
        Setting("45bcc044-d885-43e2-8605-ee0ec6e96b59"),
    ),
    (
        "DecreasePolicy",
        Setting("40fbefc7-2e9d-4d25-a185-0cfd8574bac6"),
    ),
    (
        "DecreaseStabilizationInterval",
        Setting("d8edeb9b-95cf-4f95-a73c-b061973693c8"),
    ),
    (
        "DecreaseThreshold %",
        Setting("12a0ab44-fe28-4fa9-b3bd-4b64f44960a6"),
    ),
    (
        "DecreaseLevelThreshold Class 1 %",
        Setting("f8861c27-95e7-475c-865b-13c0cb3f9d6b"),
    ),
    (
        "DecreaseLevelThreshold Class 2 %",
        Setting("f8861c27-95e7-475c-865b-13c0cb3f9d6c"),
    ),
    (
        "IncreasePolicy",
        Setting("465e1f50-b610-473a-ab58-00d1077dc418"),
    ),
    (
        "IncreasePolicy Class 1",
        Setting("465e1f50-b610-473a-ab58-00d1077dc419"),
    ),
    (
        "IncreaseStabilizationInterval",
        Setting("984cf492-3bed-4488-a8f9-4286c97bf5aa"),
    ),
    (
        "IncreaseStabilizationInterval Class 1",
        Setting("984cf492-3bed-4488-a8f9-4286c97bf5ab"),
    ),
    (
        "IncreaseThreshold %",
        Setting("06cadf0e-64ed-448a-8927-ce7bf90eb35d"),
    ),
    (
        "IncreaseThreshold % Class 1",
        Setting("b000397d-9b0b-483d-98c9-692a6060cfbf"),
    ),
    (
        "IncreaseThreshold % Class 2",
        Setting("b000397d-9b0b-483d-98c9-692a6060cfc0"),
    ),
    (
        "LatencySensitivityPerformance %",
        Setting("619b7505-003b-4e82-b7a6-4dd29c300971"),
    ),
    (
        "MaxEfficiencyFrequency MHz Class 0",
        Setting("75b0ae3f-bce0-45a7-8c89-c9611c25e100"),
    ),
    (
        "MaxEfficiencyFrequency MHz Class 1",
        Setting("75b0ae3f-bce0-45a7-8c89-c9611c25e101"),
    ),
    (
        "MaxThrottlingFrequency %",
        Setting("bc5038f7-23e0-4960-96da-33abaf5935ec"),
    ),
    (
        "MaxThrottlingFrequency % Class 1",
        Setting("bc5038f7-23e0-4960-96da-33abaf5935ed"),
    ),
    (
        "MinThrottlingFrequency %",
        Setting("893dee8e-2bef-41e0-89c6-b55d0929964c"),
    ),
    (
        "MinThrottlingFrequency Class 1 %",
        Setting("893dee8e-2bef-41e0-89c6-b55d0929964d"),
    ),
    (
        "StabilizationInterval",
        Setting("4d2b0152-7d5c-498b-88e2-34345392a2c5"),
    ),
    (
        "SystemCoolingPolicy",
        Setting("94d3a615-a899-4ac5-ae2b-e4d8f634367f"),
    ),
    (
        "ThrottlePolicy",
        Setting("3b04d4fd-1cc7-4f23-ab1c-d1337819c4bb"),
    ),
    (
        "TimeWindowSize",
        Setting("7d24baa7-0b84-480f-840c-1b0743c00f5f"),
    ),
    (
        "EnergyPreference %",
        Setting("36687f9e-e3a5-4dbf-b1dc-15eb381c6863"),
    ),
    (
        "EnergyPreference % Class 1",
        Setting("36687f9e-e3a5-4dbf-b1dc-15eb381c6864"),
    ),
    (
        "Long Running Threads Lower Architecture Limit",
        Setting("43f278bc-0f8a-46d0-8b31-9a23e615d713"),
    ),
    (
        "Short vs Long Thread Threshold us",
        Setting("d92998c2-6a48-49ca-85d4-8cceec294570"),
    ),
];

pub(crate) const PARKING: Columns = &[
    (
        "Parking - InitialPerformance % Class 1",
        Setting("1facfc65-a930-4bc5-9f38-504ec097bbc0"),
    ),
    (
        "Parking - SoftParkLatency us",
        Setting("97cfac41-2217-47eb-992d-618b1977c907"),
    ),
    (
        "Parking - ConcurrencyHeadroomThreshold %",
        Setting("f735a673-2066-4f80-a0c5-ddee0cf1bf5d"),
    ),
    (
        "Parking - ConcurrencyThreshold %",
        Setting("2430ab6f-a520-44a2-9601-f7f23b5134b1"),
    ),
    (
        "Parking - MaxEfficiencyUnparkedProcessor % Class 1",
        Setting("ea062031-0e34-4ff1-9b6d-eb1059334029"),
    ),
    (
        "Parking - MaxUnparkedProcessor %",
        Setting("ea062031-0e34-4ff1-9b6d-eb1059334028"),
    ),
    (
        "Parking - MinEfficiency UnparkedProcessor % Class 1",
        Setting("0cc5b647-c1df-4637-891a-dec35c318584"),
    ),
    (
        "Parking - MinParkedDuration",
        Setting("2ddd5a84-5a71-437e-912a-db0b8c788732"),
    ),
    (
        "Parking - MinUnparkedDuration",
        Setting("dfd10d17-d5eb-45dd-877a-9a34ddd15c82"),
    ),
    (
        "Parking - MinUnparkedProcessor %",
        Setting("0cc5b647-c1df-4637-891a-dec35c318583"),
    ),
    (
        "Parking - OverUtilizationThreshold %",
        Setting("943c8cb6-6f93-4227-ad87-e9a3feec08d1"),
    ),
    (
        "Parking - ParkingPerformanceState",
        Setting("447235c7-6a8d-4cc0-8e24-9eaf70b96e2b"),
    ),
    (
        "Parking - ParkingPolicy",
        Setting("71021b41-c749-4d21-be74-a00f335d582b"),
    ),
    (
        "Parking - UnparkingPolicy",
        Setting("c7be0679-2817-4d69-9d02-519a537ed0c6"),
    ),
    (
        "Parking - UtilityDistributionEnabled",
        Setting("e0007330-f589-42ed-a401-5ddb10e785d3"),
    ),
    (
        "Parking - UtilityDistributionThreshold %",
        Setting("4bdaf4e9-d103-46d7-a5f0-6280121616ef"),
    ),
];

pub(crate) const IDLE: Columns = &[
    (
        "Idle - DeepestIdleState",
        Setting("9943e905-9a30-4ec1-9b99-44dd3b76f7a2"),
    ),
    (
        "Idle - DemoteThreshold %",
        Setting("4b92d758-5a24-4851-a470-815d78aee119"),
    ),
    (
        "Idle - Enabled",
        Setting("5d76a2ca-e8c0-402f-a133-2158492d58ad"),
    ),
    (
        "Idle - MinimumDurationBetweenChecks",
        Setting("c4581c31-89ab-4597-8e2b-9c9cab440e6b"),
    ),
    (
        "Idle - PromoteThreshold %",
        Setting("7b224883-b3cc-4d79-819f-8374152cbe7c"),
    ),
    (
        "Idle - ScalingEnabled",
        Setting("6c2993b0-8f48-481f-bcc6-00dd2742aa06"),
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use etwkit_questions::power::catalog::find;

    use super::*;

    #[test]
    fn settings_are_known_and_stand_once() {
        let mut seen = HashSet::new();
        for (title, cell) in [CPU, PARKING, IDLE].into_iter().flatten() {
            match cell {
                Setting(guid) => {
                    assert!(seen.insert(guid), "{title}");
                    assert!(find(guid).is_some(), "{title}");
                }
                SchemeName(guid) | SchemeGuid(guid) => assert!(find(guid).is_some(), "{title}"),
                _ => panic!("{title}"),
            }
        }
    }
}
