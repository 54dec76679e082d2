//! The power settings that have names here: what `powercfg` calls them, what they mean, how their values
//! read.
//!
//! GUIDs, aliases and numbers of values are those that Windows documents for its power settings.

/// How a value reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A GUID: a power scheme.
    Scheme,
    /// A number with a unit behind it, if there is one.
    Number(&'static str),
    /// A number for each byte of it.
    Bytes,
    /// One of these names.
    Names(&'static [&'static str]),
}

/// A part of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Speed of processors and where threads run.
    Cpu,
    /// Idle states.
    Idle,
    /// Parked cores.
    Parking,
    /// Settings without a name here.
    Other,
}

impl Section {
    /// Its heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Cpu => "CPU power",
            Self::Idle => "Idle states",
            Self::Parking => "Core parking",
            Self::Other => "Other settings",
        }
    }
}

/// A setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Part of the list.
    pub section: Section,
    /// Name.
    pub name: &'static str,
    /// What `powercfg` calls it; empty if it does not know it.
    pub alias: &'static str,
    /// GUID, in lower case.
    pub guid: &'static str,
    /// How its value reads.
    pub form: Form,
    /// What it does.
    pub help: &'static str,
}

const PERCENT: Form = Form::Number(" %");
const INTERVALS: Form = Form::Number(" check intervals");
const ON_OFF: Form = Form::Names(&["off", "on"]);
const CHANGE: Form = Form::Names(&["Ideal", "Single", "Rocket", "IdealAggressive"]);
const PARKING: Form = Form::Names(&["Ideal", "Single", "Rocket"]);
const THREADS: Form = Form::Names(&[
    "AllProcessors",
    "PerformantProcessors",
    "PreferPerformantProcessors",
    "EfficientProcessors",
    "PreferEfficientProcessors",
    "Automatic",
]);
const BOOST: Form = Form::Names(&[
    "Disabled",
    "Enabled",
    "Aggressive",
    "EfficientEnabled",
    "EfficientAggressive",
    "AggressiveAtGuaranteed",
    "EfficientAggressiveAtGuaranteed",
]);

macro_rules! known {
    ($($section:ident $name:literal $alias:literal $guid:literal $form:expr, $help:literal;)+) => {
        /// All settings with names, in the order in which they are listed.
        pub static KNOWN: &[Known] = &[$(
            Known { section: Section::$section, name: $name, alias: $alias, guid: $guid,
                form: $form, help: $help },
        )+];
    };
}

known! {
    Cpu "ActiveProfile" "" "31f9f286-5084-42fe-b720-2b0264993763" Form::Scheme, "The power scheme that is in force.";
    Cpu "Base Profile" "" "245d8541-3943-4422-b025-13a784f679b7" Form::Scheme, "The scheme of Windows that the one in force was made from.";
    Cpu "Autonomous Mode" "PERFAUTONOMOUS" "8baa4a8a-14c6-4451-8e8b-14bdbd197537" ON_OFF, "Whether the processor chooses its speed by itself.";
    Cpu "HeteroPolicyInEffect" "HETEROPOLICY" "7f2f5cfa-f10c-4823-b5e1-e93ae85f46b5" Form::Number(""), "How cores of several kinds are parked, as a number.";
    Cpu "HeteroPolicyThreadScheduling" "SCHEDPOLICY" "93b8b6dc-0698-4d1c-9ee4-0644e900c85d" THREADS, "Which kinds of cores threads get that run for long.";
    Cpu "HeteroPolicyThreadSchedulingShort" "SHORTSCHEDPOLICY" "bae08b81-2d5e-4688-ad6a-13243356654b" THREADS, "Which kinds of cores threads get that run shortly.";
    Cpu "DecreaseLevelThreshold Class 1" "HETERODECREASETHRESHOLD" "f8861c27-95e7-475c-865b-13c0cb3f9d6b" Form::Bytes, "Load below which one core more of class 1 is parked, by number of cores that are not.";
    Cpu "DecreaseLevelThreshold Class 2" "HETERODECREASETHRESHOLD1" "f8861c27-95e7-475c-865b-13c0cb3f9d6c" Form::Bytes, "The same for cores of class 2.";
    Cpu "ShortVsLongThreadThreshold" "SHORTTHREADRUNTIMETHRESHOLD" "d92998c2-6a48-49ca-85d4-8cceec294570" Form::Number(" us"), "Threads that run longer than this count as long running.";
    Cpu "LongRunningThreadsLowerArchitectureLimit" "LONGTHREADARCHCLASSLOWERTHRESHOLD" "43f278bc-0f8a-46d0-8b31-9a23e615d713" Form::Number(""), "Lowest class of cores that long running threads get.";
    Cpu "EnergyPreference" "PERFEPP" "36687f9e-e3a5-4dbf-b1dc-15eb381c6863" PERCENT, "What a processor that chooses its speed prefers: 0 speed, 100 saving energy.";
    Cpu "EnergyPreference Class 1" "PERFEPP1" "36687f9e-e3a5-4dbf-b1dc-15eb381c6864" PERCENT, "The same for cores of class 1.";
    Cpu "BoostMode" "PERFBOOSTMODE" "be337238-0d82-4146-a960-4f3749d470c7" BOOST, "How readily processors run faster than their nominal speed.";
    Cpu "BoostPolicy" "PERFBOOSTPOL" "45bcc044-d885-43e2-8605-ee0ec6e96b59" PERCENT, "How much of the boost may be used.";
    Cpu "DecreasePolicy" "PERFDECPOL" "40fbefc7-2e9d-4d25-a185-0cfd8574bac6" CHANGE, "By how much the speed is lowered at once.";
    Cpu "DecreaseStabilizationInterval" "PERFDECTIME" "d8edeb9b-95cf-4f95-a73c-b061973693c8" INTERVALS, "Shortest time between two changes before the speed is lowered.";
    Cpu "DecreaseThreshold" "PERFDECTHRESHOLD" "12a0ab44-fe28-4fa9-b3bd-4b64f44960a6" PERCENT, "Load below which the speed is lowered.";
    Cpu "IncreasePolicy" "PERFINCPOL" "465e1f50-b610-473a-ab58-00d1077dc418" CHANGE, "By how much the speed is raised at once.";
    Cpu "IncreasePolicy Class 1" "PERFINCPOL1" "465e1f50-b610-473a-ab58-00d1077dc419" CHANGE, "The same for cores of class 1.";
    Cpu "IncreaseStabilizationInterval" "PERFINCTIME" "984cf492-3bed-4488-a8f9-4286c97bf5aa" INTERVALS, "Shortest time between two changes before the speed is raised.";
    Cpu "IncreaseStabilizationInterval Class 1" "PERFINCTIME1" "984cf492-3bed-4488-a8f9-4286c97bf5ab" INTERVALS, "The same for cores of class 1.";
    Cpu "IncreaseThreshold" "PERFINCTHRESHOLD" "06cadf0e-64ed-448a-8927-ce7bf90eb35d" PERCENT, "Load above which the speed is raised.";
    Cpu "IncreaseThreshold Class 1" "HETEROINCREASETHRESHOLD" "b000397d-9b0b-483d-98c9-692a6060cfbf" Form::Bytes, "Load above which one core more of class 1 is unparked, by number of cores that are.";
    Cpu "IncreaseThreshold Class 2" "HETEROINCREASETHRESHOLD1" "b000397d-9b0b-483d-98c9-692a6060cfc0" Form::Bytes, "The same for cores of class 2.";
    Cpu "StabilizationInterval" "PERFCHECK" "4d2b0152-7d5c-498b-88e2-34345392a2c5" Form::Number(" ms"), "Time between two checks of the load: the check interval.";
    Cpu "LatencySensitivity" "LATENCYHINTPERF" "619b7505-003b-4e82-b7a6-4dd29c300971" PERCENT, "Speed while something asks for quick answers.";
    Cpu "MaxFrequency Class 0" "PROCFREQMAX" "75b0ae3f-bce0-45a7-8c89-c9611c25e100" Form::Number(" MHz"), "Highest speed; 0 is no limit.";
    Cpu "MaxFrequency Class 1" "PROCFREQMAX1" "75b0ae3f-bce0-45a7-8c89-c9611c25e101" Form::Number(" MHz"), "The same for cores of class 1.";
    Cpu "MaxThrottleFrequency" "PROCTHROTTLEMAX" "bc5038f7-23e0-4960-96da-33abaf5935ec" PERCENT, "Highest speed, of the nominal one.";
    Cpu "MaxThrottleFrequency Class 1" "PROCTHROTTLEMAX1" "bc5038f7-23e0-4960-96da-33abaf5935ed" PERCENT, "The same for cores of class 1.";
    Cpu "MinThrottleFrequency" "PROCTHROTTLEMIN" "893dee8e-2bef-41e0-89c6-b55d0929964c" PERCENT, "Lowest speed, of the nominal one.";
    Cpu "MinThrottleFrequency Class 1" "PROCTHROTTLEMIN1" "893dee8e-2bef-41e0-89c6-b55d0929964d" PERCENT, "The same for cores of class 1.";
    Cpu "SystemCoolingPolicy" "SYSCOOLPOL" "94d3a615-a899-4ac5-ae2b-e4d8f634367f" Form::Names(&["Passive", "Active"]), "Whether a hot machine is slowed down before its fan turns faster (passive) or behind that (active).";
    Cpu "ThrottlePolicy" "THROTTLING" "3b04d4fd-1cc7-4f23-ab1c-d1337819c4bb" Form::Names(&["Disabled", "Enabled", "Automatic"]), "Whether processors may be slowed down by leaving out clock ticks.";
    Cpu "TimeWindowSize" "PERFHISTORY" "7d24baa7-0b84-480f-840c-1b0743c00f5f" INTERVALS, "Length of the time whose mean load counts.";
    Idle "DeepestIdleState" "IDLESTATEMAX" "9943e905-9a30-4ec1-9b99-44dd3b76f7a2" Form::Number(""), "Deepest idle state that is used; 0 is no limit.";
    Idle "DemoteThreshold" "IDLEDEMOTE" "4b92d758-5a24-4851-a470-815d78aee119" PERCENT, "Idleness below which a lighter idle state is used.";
    Idle "Enabled" "IDLEDISABLE" "5d76a2ca-e8c0-402f-a133-2158492d58ad" Form::Names(&["on", "off"]), "Whether idle states are used.";
    Idle "MinimumDurationBetweenChecks" "IDLECHECK" "c4581c31-89ab-4597-8e2b-9c9cab440e6b" Form::Number(" us"), "Time between two looks at how idle a processor was.";
    Idle "PromoteThreshold" "IDLEPROMOTE" "7b224883-b3cc-4d79-819f-8374152cbe7c" PERCENT, "Idleness above which a deeper idle state is used.";
    Idle "ScalingEnabled" "IDLESCALING" "6c2993b0-8f48-481f-bcc6-00dd2742aa06" ON_OFF, "Whether these two thresholds follow the speed of the processor.";
    Parking "ConcurrencyHeadroomThreshold" "CPHEADROOM" "f735a673-2066-4f80-a0c5-ddee0cf1bf5d" PERCENT, "Load that one core more would have to reach so that it is unparked.";
    Parking "ConcurrencyThreshold" "CPCONCURRENCY" "2430ab6f-a520-44a2-9601-f7f23b5134b1" PERCENT, "Share of the time by which it is judged how many cores were busy at once.";
    Parking "MaxEfficiencyClass1UnparkedProcessor" "CPMAXCORES1" "ea062031-0e34-4ff1-9b6d-eb1059334029" PERCENT, "Most cores of class 1 that may be unparked.";
    Parking "MaxUnparkedProcessor" "CPMAXCORES" "ea062031-0e34-4ff1-9b6d-eb1059334028" PERCENT, "Most cores that may be unparked.";
    Parking "MinEfficiencyClass1UnparkedProcessor" "CPMINCORES1" "0cc5b647-c1df-4637-891a-dec35c318584" PERCENT, "Fewest cores of class 1 that stay unparked.";
    Parking "MinUnparkedProcessor" "CPMINCORES" "0cc5b647-c1df-4637-891a-dec35c318583" PERCENT, "Fewest cores that stay unparked.";
    Parking "MinParkedDuration" "CPINCREASETIME" "2ddd5a84-5a71-437e-912a-db0b8c788732" INTERVALS, "Shortest time before cores are unparked.";
    Parking "MinUnparkedDuration" "CPDECREASETIME" "dfd10d17-d5eb-45dd-877a-9a34ddd15c82" INTERVALS, "Shortest time before cores are parked.";
    Parking "OverUtilizationThreshold" "CPOVERUTIL" "943c8cb6-6f93-4227-ad87-e9a3feec08d1" PERCENT, "Load above which a parked core counts as needed.";
    Parking "ParkingPerformanceState" "CPPERF" "447235c7-6a8d-4cc0-8e24-9eaf70b96e2b" Form::Names(&["NoPreference", "Deepest", "Lightest"]), "Speed of a parked core.";
    Parking "InitialPerformanceClass1" "HETEROCLASS1INITIALPERF" "1facfc65-a930-4bc5-9f38-504ec097bbc0" PERCENT, "Speed of a core of class 1 when it is unparked.";
    Parking "SoftParkLatency" "SOFTPARKLATENCY" "97cfac41-2217-47eb-992d-618b1977c907" Form::Number(" us"), "Longest wait for another core before a softly parked one is used.";
    Parking "ParkingPolicy" "CPDECREASEPOL" "71021b41-c749-4d21-be74-a00f335d582b" PARKING, "How many cores are parked at once.";
    Parking "UnparkingPolicy" "CPINCREASEPOL" "c7be0679-2817-4d69-9d02-519a537ed0c6" PARKING, "How many cores are unparked at once.";
    Parking "UtilityDistributionEnabled" "DISTRIBUTEUTIL" "e0007330-f589-42ed-a401-5ddb10e785d3" ON_OFF, "Whether work is spread over unparked cores before more are unparked.";
    Parking "UtilityDistributionThreshold" "CPDISTRIBUTION" "4bdaf4e9-d103-46d7-a5f0-6280121616ef" PERCENT, "Load that the core with the least work must have before more are unparked.";
}

/// Schemes of Windows.
const SCHEMES: [(&str, &str); 4] = [
    ("381b4222-f694-41f0-9685-ff5bb260df2e", "Balanced"),
    ("8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c", "HighPerformance"),
    ("a1841308-3541-4fab-bc81-f71556f20b4a", "PowerSaver"),
    ("e9a42b02-d5df-448d-aa00-03f14749eb61", "UltimatePerformance"),
];

/// The setting with that GUID.
#[must_use]
pub fn find(guid: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.guid.eq_ignore_ascii_case(guid))
}

/// Name of a power scheme; `Custom` for those that are none of Windows.
#[must_use]
pub fn scheme(guid: &str) -> &'static str {
    SCHEMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(guid)).map_or("Custom", |(_, name)| name)
}

/// The GUID of a scheme of Windows.
#[must_use]
pub fn scheme_guid(name: &str) -> Option<&'static str> {
    SCHEMES.iter().find(|(_, known)| *known == name).map(|(guid, _)| *guid)
}

impl Form {
    /// A value as text: the number, the GUID, or the bytes in hexadecimal digits, whichever fits.
    #[must_use]
    pub fn text(self, number: Option<i64>, guid: Option<&str>, hex: &str) -> String {
        match (self, number, guid) {
            (Self::Scheme, _, Some(guid)) => match scheme(guid) {
                "Custom" => format!("Custom {guid}"),
                name => name.to_owned(),
            },
            (Self::Bytes, Some(number), _) => {
                let bytes = number.to_le_bytes();
                let count = hex.len() / 2;
                let numbers: Vec<String> = bytes.iter().take(count).map(ToString::to_string).collect();
                numbers.join(",")
            }
            (Self::Names(names), Some(number), _) => {
                let name = usize::try_from(number).ok().and_then(|number| names.get(number));
                name.map_or_else(|| number.to_string(), |name| (*name).to_owned())
            }
            (Self::Number(unit), Some(number), _) => format!("{number}{unit}"),
            (_, Some(number), _) => number.to_string(),
            (_, _, Some(guid)) => guid.to_owned(),
            _ => format!("0x{hex}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn settings_are_named_once() {
        let guids: HashSet<&str> = KNOWN.iter().map(|known| known.guid).collect();
        let names: HashSet<&str> = KNOWN.iter().map(|known| known.name).collect();
        assert_eq!((guids.len(), names.len()), (KNOWN.len(), KNOWN.len()));
        for known in KNOWN {
            assert_eq!(known.guid.len(), 36, "{}", known.name);
            assert!(known.guid.chars().all(|c| c == '-' || c.is_ascii_digit() || ('a'..='f').contains(&c)));
            assert!(known.help.ends_with('.'), "{}", known.name);
        }
    }

    #[test]
    fn values_read_as_their_kind_says() {
        for (form, number, guid, hex, text) in [
            (PERCENT, Some(50), None, "32000000", "50 %"),
            (BOOST, Some(2), None, "02000000", "Aggressive"),
            (BOOST, Some(77), None, "4d000000", "77"),
            (Form::Bytes, Some(0x0403_0201), None, "01020304", "1,2,3,4"),
            (Form::Scheme, None, Some("381B4222-f694-41f0-9685-ff5bb260df2e"), "", "Balanced"),
            (
                Form::Scheme,
                None,
                Some("00000000-0000-0000-0000-000000000001"),
                "",
                "Custom 00000000-0000-0000-0000-000000000001",
            ),
            (PERCENT, None, None, "010203", "0x010203"),
        ] {
            assert_eq!(form.text(number, guid, hex), text);
        }
    }
}
