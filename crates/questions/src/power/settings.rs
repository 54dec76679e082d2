//! The list of power settings with names: the order in which they are shown.
//!
//! GUIDs and numbers come from the Windows headers and the documentation of power settings; units
//! and names of values come from `powercfg`. If these do not define the meaning of a value of an
//! event, it stays a number.

use super::catalog::{CatalogSetting, Form, Section};

const PERCENT: Form = Form::Number(" %");
const INTERVALS: Form = Form::Number(" check intervals");
const ON_OFF: Form = Form::Names(&["off", "on"]);
const CHANGE: Form = Form::Names(&["Ideal", "Single", "Rocket", "IdealAggressive"]);
const PARKING: Form = Form::Names(&["Ideal", "Single", "Rocket", "MultiStep"]);
const THREADS: Form = Form::Names(&[
    "AllProcessors",
    "PerformantProcessors",
    "PreferPerformantProcessors",
    "EfficientProcessors",
    "PreferEfficientProcessors",
    "Automatic",
]);
/// Windows shows the number alone; the names come from its kernel.
const HETERO: Form = Form::Numbered(&["None", "Manual", "SmallOnly", "LargeOnly", "Dynamic"]);
const PARKED: Form = Form::Names(&["NoPreference", "Deepest", "Lightest"]);
const TOPOLOGY: Form = Form::Names(&["Disabled", "RoundRobin", "Sequential"]);
const CLASS: Form = Form::Number("");
const SECONDS: Form = Form::Number(" s");
const MS: Form = Form::Number(" ms");
const US: Form = Form::Number(" us");
const NO_YES: Form = Form::Names(&["no", "yes"]);
/// Numbers of `POWER_ACTION`, which settings of buttons have as their values.
const ACTION: Form = Form::Coded(&[
    (0, "Nothing"),
    (2, "Sleep"),
    (3, "Hibernate"),
    (6, "ShutDown"),
    (8, "TurnOffDisplay"),
]);
const USER: Form = Form::Coded(&[(0, "Present"), (2, "Inactive")]);
const SCREEN: Form = Form::Names(&["off", "on", "dimmed"]);
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
        pub static KNOWN: &[CatalogSetting] = &[$(
            CatalogSetting { section: Section::$section, name: $name, alias: $alias, guid: $guid,
                form: $form, help: $help },
        )+];
    };
}

known! {
    Cpu "ActiveProfile" "" "31f9f286-5084-42fe-b720-2b0264993763" Form::Scheme, "The power scheme that is in force.";
    Cpu "Base Profile" "" "245d8541-3943-4422-b025-13a784f679b7" Form::Scheme, "The scheme of Windows that the one in force was made from.";
    Cpu "Autonomous Mode" "PERFAUTONOMOUS" "8baa4a8a-14c6-4451-8e8b-14bdbd197537" ON_OFF, "Whether the processor chooses its speed by itself.";
    Cpu "HeteroPolicyInEffect" "HETEROPOLICY" "7f2f5cfa-f10c-4823-b5e1-e93ae85f46b5" HETERO, "Which kinds of cores are parked: all by hand, or only small or large ones are used, or as the load asks.";
    Cpu "HeteroPolicyThreadScheduling" "SCHEDPOLICY" "93b8b6dc-0698-4d1c-9ee4-0644e900c85d" THREADS, "Which kinds of cores threads get that run for long.";
    Cpu "HeteroPolicyThreadSchedulingShort" "SHORTSCHEDPOLICY" "bae08b81-2d5e-4688-ad6a-13243356654b" THREADS, "Which kinds of cores threads get that run shortly.";
    Cpu "DecreaseLevelThreshold Class 1" "HETERODECREASETHRESHOLD" "f8861c27-95e7-475c-865b-13c0cb3f9d6b" Form::Bytes, "Load below which one core more of class 1 is parked, by number of cores that are not.";
    Cpu "DecreaseLevelThreshold Class 2" "HETERODECREASETHRESHOLD1" "f8861c27-95e7-475c-865b-13c0cb3f9d6c" Form::Bytes, "Load below which one core more of class 2 is parked, by number of cores that are not.";
    Cpu "ShortVsLongThreadThreshold" "SHORTTHREADRUNTIMETHRESHOLD" "d92998c2-6a48-49ca-85d4-8cceec294570" Form::Number(" us"), "Threads that run longer than this count as long running.";
    Cpu "LongRunningThreadsLowerArchitectureLimit" "LONGTHREADARCHCLASSLOWERTHRESHOLD" "43f278bc-0f8a-46d0-8b31-9a23e615d713" Form::Number(""), "Lowest class of cores that long running threads get.";
    Cpu "EnergyPreference" "PERFEPP" "36687f9e-e3a5-4dbf-b1dc-15eb381c6863" PERCENT, "What a processor that chooses its speed prefers: 0 speed, 100 saving energy.";
    Cpu "EnergyPreference Class 1" "PERFEPP1" "36687f9e-e3a5-4dbf-b1dc-15eb381c6864" PERCENT, "What cores of class 1 that choose their speed prefer: 0 speed, 100 saving energy.";
    Cpu "BoostMode" "PERFBOOSTMODE" "be337238-0d82-4146-a960-4f3749d470c7" BOOST, "How readily processors run faster than their nominal speed.";
    Cpu "BoostPolicy" "PERFBOOSTPOL" "45bcc044-d885-43e2-8605-ee0ec6e96b59" PERCENT, "How much of the boost may be used.";
    Cpu "DecreasePolicy" "PERFDECPOL" "40fbefc7-2e9d-4d25-a185-0cfd8574bac6" CHANGE, "By how much the speed is lowered at once.";
    Cpu "DecreaseStabilizationInterval" "PERFDECTIME" "d8edeb9b-95cf-4f95-a73c-b061973693c8" INTERVALS, "Shortest time between two changes before the speed is lowered.";
    Cpu "DecreaseThreshold" "PERFDECTHRESHOLD" "12a0ab44-fe28-4fa9-b3bd-4b64f44960a6" PERCENT, "Load below which the speed is lowered.";
    Cpu "IncreasePolicy" "PERFINCPOL" "465e1f50-b610-473a-ab58-00d1077dc418" CHANGE, "By how much the speed is raised at once.";
    Cpu "IncreasePolicy Class 1" "PERFINCPOL1" "465e1f50-b610-473a-ab58-00d1077dc419" CHANGE, "By how much the speed of cores of class 1 is raised at once.";
    Cpu "IncreaseStabilizationInterval" "PERFINCTIME" "984cf492-3bed-4488-a8f9-4286c97bf5aa" INTERVALS, "Shortest time between two changes before the speed is raised.";
    Cpu "IncreaseStabilizationInterval Class 1" "PERFINCTIME1" "984cf492-3bed-4488-a8f9-4286c97bf5ab" INTERVALS, "Shortest time between two changes before the speed of cores of class 1 is raised.";
    Cpu "IncreaseThreshold" "PERFINCTHRESHOLD" "06cadf0e-64ed-448a-8927-ce7bf90eb35d" PERCENT, "Load above which the speed is raised.";
    Cpu "IncreaseThreshold Class 1" "HETEROINCREASETHRESHOLD" "b000397d-9b0b-483d-98c9-692a6060cfbf" Form::Bytes, "Load above which one core more of class 1 is unparked, by number of cores that are.";
    Cpu "IncreaseThreshold Class 2" "HETEROINCREASETHRESHOLD1" "b000397d-9b0b-483d-98c9-692a6060cfc0" Form::Bytes, "Load above which one core more of class 2 is unparked, by number of cores that are.";
    Cpu "StabilizationInterval" "PERFCHECK" "4d2b0152-7d5c-498b-88e2-34345392a2c5" Form::Number(" ms"), "Time between two checks of the load: the check interval.";
    Cpu "LatencySensitivity" "LATENCYHINTPERF" "619b7505-003b-4e82-b7a6-4dd29c300971" PERCENT, "Speed while something asks for quick answers.";
    Cpu "MaxFrequency Class 0" "PROCFREQMAX" "75b0ae3f-bce0-45a7-8c89-c9611c25e100" Form::Number(" MHz"), "Highest speed; 0 means no limit.";
    Cpu "MaxFrequency Class 1" "PROCFREQMAX1" "75b0ae3f-bce0-45a7-8c89-c9611c25e101" Form::Number(" MHz"), "Highest speed of cores of class 1; 0 means no limit.";
    Cpu "MaxThrottleFrequency" "PROCTHROTTLEMAX" "bc5038f7-23e0-4960-96da-33abaf5935ec" PERCENT, "Highest speed, of the nominal one.";
    Cpu "MaxThrottleFrequency Class 1" "PROCTHROTTLEMAX1" "bc5038f7-23e0-4960-96da-33abaf5935ed" PERCENT, "Highest speed of cores of class 1, of the nominal one.";
    Cpu "MinThrottleFrequency" "PROCTHROTTLEMIN" "893dee8e-2bef-41e0-89c6-b55d0929964c" PERCENT, "Lowest speed, of the nominal one.";
    Cpu "MinThrottleFrequency Class 1" "PROCTHROTTLEMIN1" "893dee8e-2bef-41e0-89c6-b55d0929964d" PERCENT, "Lowest speed of cores of class 1, of the nominal one.";
    Cpu "SystemCoolingPolicy" "SYSCOOLPOL" "94d3a615-a899-4ac5-ae2b-e4d8f634367f" Form::Names(&["Passive", "Active"]), "Whether a hot machine is slowed down before its fan turns faster (passive) or after that (active).";
    Cpu "ThrottlePolicy" "THROTTLING" "3b04d4fd-1cc7-4f23-ab1c-d1337819c4bb" Form::Names(&["Disabled", "Enabled", "Automatic"]), "Whether processors may be slowed down by leaving out clock ticks.";
    Cpu "TimeWindowSize" "PERFHISTORY" "7d24baa7-0b84-480f-840c-1b0743c00f5f" INTERVALS, "Length of the time whose mean load counts.";
    Cpu "EnergyPreference Class 2" "PERFEPP2" "36687f9e-e3a5-4dbf-b1dc-15eb381c6865" PERCENT, "What cores of class 2 prefer that choose their speed: 0 speed, 100 saving energy.";
    Cpu "DecreasePolicy Class 1" "PERFDECPOL1" "40fbefc7-2e9d-4d25-a185-0cfd8574bac7" CHANGE, "By how much the speed of cores of class 1 is lowered at once.";
    Cpu "DecreaseStabilizationInterval Class 1" "PERFDECTIME1" "d8edeb9b-95cf-4f95-a73c-b061973693c9" INTERVALS, "Shortest time between two changes before the speed of cores of class 1 is lowered.";
    Cpu "DecreaseThreshold Class 1" "PERFDECTHRESHOLD1" "12a0ab44-fe28-4fa9-b3bd-4b64f44960a7" PERCENT, "Load below which the speed of cores of class 1 is lowered.";
    Cpu "SpeedIncreaseThreshold Class 1" "PERFINCTHRESHOLD1" "06cadf0e-64ed-448a-8927-ce7bf90eb35e" PERCENT, "Load above which the speed of cores of class 1 is raised.";
    Cpu "TimeWindowSize Class 1" "PERFHISTORY1" "7d24baa7-0b84-480f-840c-1b0743c00f60" INTERVALS, "Length of the time whose mean load counts for cores of class 1.";
    Cpu "MaxFrequency Class 2" "PROCFREQMAX2" "75b0ae3f-bce0-45a7-8c89-c9611c25e102" Form::Number(" MHz"), "Highest speed of cores of class 2; 0 means no limit.";
    Cpu "MaxThrottleFrequency Class 2" "PROCTHROTTLEMAX2" "bc5038f7-23e0-4960-96da-33abaf5935ee" PERCENT, "Highest speed of cores of class 2, of the nominal one.";
    Cpu "MinThrottleFrequency Class 2" "PROCTHROTTLEMIN2" "893dee8e-2bef-41e0-89c6-b55d0929964e" PERCENT, "Lowest speed of cores of class 2, of the nominal one.";
    Cpu "ActivityWindow" "PERFAUTONOMOUSWINDOW" "cfeda3d0-7697-4566-a922-a9086cd49dfa" US, "Time that a processor which chooses its speed looks back.";
    Cpu "DutyCycling" "PERFDUTYCYCLING" "4e4450b3-6179-4e91-b8f1-5bb9938f81a1" ON_OFF, "Whether processors may be halted part of the time to save energy.";
    Cpu "FloorPerformanceClass0" "HETEROCLASS0FLOORPERF" "fddc842b-8364-4edc-94cf-c17f60de1c80" PERCENT, "Lowest speed of cores of class 0 while one of class 1 is unparked.";
    Cpu "LatencySensitivity Class 1" "LATENCYHINTPERF1" "619b7505-003b-4e82-b7a6-4dd29c300972" PERCENT, "Speed of cores of class 1 while something asks for quick answers.";
    Cpu "LatencySensitivity Class 2" "" "619b7505-003b-4e82-b7a6-4dd29c300973" PERCENT, "Speed of cores of class 2 while something asks for quick answers.";
    Cpu "LatencySensitivityEnergyPreference" "" "4b70f900-cdd9-4e66-aa26-ae8417f98173" PERCENT, "Energy preference while something asks for quick answers.";
    Cpu "LatencySensitivityEnergyPreference Class 1" "" "4b70f900-cdd9-4e66-aa26-ae8417f98174" PERCENT, "Energy preference of cores of class 1 while something asks for quick answers.";
    Cpu "LatencySensitivityEnergyPreference Class 2" "" "4b70f900-cdd9-4e66-aa26-ae8417f98175" PERCENT, "Energy preference of cores of class 2 while something asks for quick answers.";
    Cpu "ResourcePriority" "" "603fe9ce-8d01-4b48-a968-1d706c28fd5c" PERCENT, "Share of the common resources that cores of class 0 get.";
    Cpu "ResourcePriority Class 1" "" "603fe9ce-8d01-4b48-a968-1d706c28fd5d" PERCENT, "Share of the common resources that cores of class 1 get.";
    Cpu "ResourcePriority Class 2" "" "603fe9ce-8d01-4b48-a968-1d706c28fd5e" PERCENT, "Share of the common resources that cores of class 2 get.";
    Cpu "LongRunningThreadsUpperArchitectureLimit" "LONGTHREADARCHCLASSUPPERTHRESHOLD" "bf903d33-9d24-49d3-a468-e65e0325046a" CLASS, "Highest class of cores that long running threads get.";
    Cpu "ShortRunningThreadsLowerArchitectureLimit" "SHORTTHREADARCHCLASSLOWERTHRESHOLD" "53824d46-87bd-4739-aa1b-aa793fac36d6" CLASS, "Lowest class of cores that short running threads get.";
    Cpu "ShortRunningThreadsUpperArchitectureLimit" "SHORTTHREADARCHCLASSUPPERTHRESHOLD" "828423eb-8662-4344-90f7-52bf15870f5a" CLASS, "Highest class of cores that short running threads get.";
    Cpu "ResponsivenessDisableThreshold" "" "38b8383d-cce0-4c79-9e3e-56a4f17cc480" Form::Number(""), "Load below which cores of class 0 stop being kept responsive.";
    Cpu "ResponsivenessDisableThreshold Class 1" "" "38b8383d-cce0-4c79-9e3e-56a4f17cc481" Form::Number(""), "Load below which cores of class 1 stop being kept responsive.";
    Cpu "ResponsivenessEnableThreshold" "" "3d44e256-7222-4415-a9ed-9c45fa3dd830" Form::Number(""), "Load above which cores of class 0 are kept responsive.";
    Cpu "ResponsivenessEnableThreshold Class 1" "" "3d44e256-7222-4415-a9ed-9c45fa3dd831" Form::Number(""), "Load above which cores of class 1 are kept responsive.";
    Cpu "ResponsivenessDisableTime" "" "f565999f-3fb0-411a-a226-3f0198dec130" Form::Number(""), "How long the load is below that threshold before cores of class 0 stop being kept responsive.";
    Cpu "ResponsivenessDisableTime Class 1" "" "f565999f-3fb0-411a-a226-3f0198dec131" Form::Number(""), "How long the load is below that threshold before cores of class 1 stop being kept responsive.";
    Cpu "ResponsivenessEnableTime" "" "3d915188-7830-49ae-a79a-0fb0a1e5a200" Form::Number(""), "How long the load is above that threshold before cores of class 0 are kept responsive.";
    Cpu "ResponsivenessEnableTime Class 1" "" "3d915188-7830-49ae-a79a-0fb0a1e5a201" Form::Number(""), "How long the load is above that threshold before cores of class 1 are kept responsive.";
    Cpu "ResponsivenessEnergyPreferenceCeiling" "" "4427c73b-9756-4a5c-b84b-c7bda79c7320" PERCENT, "Highest energy preference of cores of class 0 that are kept responsive.";
    Cpu "ResponsivenessEnergyPreferenceCeiling Class 1" "" "4427c73b-9756-4a5c-b84b-c7bda79c7321" PERCENT, "Highest energy preference of cores of class 1 that are kept responsive.";
    Cpu "ResponsivenessPerformanceFloor" "" "ce8e92ee-6a86-4572-bfe0-20c21d03cd40" PERCENT, "Lowest speed of cores of class 0 that are kept responsive.";
    Cpu "ResponsivenessPerformanceFloor Class 1" "" "ce8e92ee-6a86-4572-bfe0-20c21d03cd41" PERCENT, "Lowest speed of cores of class 1 that are kept responsive.";
    Idle "DeepestIdleState" "IDLESTATEMAX" "9943e905-9a30-4ec1-9b99-44dd3b76f7a2" Form::Number(""), "Deepest idle state that is used; 0 means no limit.";
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
    Parking "ParkingPerformanceState" "CPPERF" "447235c7-6a8d-4cc0-8e24-9eaf70b96e2b" PARKED, "Speed of a parked core.";
    Parking "InitialPerformanceClass1" "HETEROCLASS1INITIALPERF" "1facfc65-a930-4bc5-9f38-504ec097bbc0" PERCENT, "Speed of a core of class 1 when it is unparked.";
    Parking "SoftParkLatency" "SOFTPARKLATENCY" "97cfac41-2217-47eb-992d-618b1977c907" Form::Number(" us"), "Longest wait for another core before a softly parked one is used.";
    Parking "ParkingPolicy" "CPDECREASEPOL" "71021b41-c749-4d21-be74-a00f335d582b" PARKING, "How many cores are parked at once.";
    Parking "UnparkingPolicy" "CPINCREASEPOL" "c7be0679-2817-4d69-9d02-519a537ed0c6" PARKING, "How many cores are unparked at once.";
    Parking "UtilityDistributionEnabled" "DISTRIBUTEUTIL" "e0007330-f589-42ed-a401-5ddb10e785d3" ON_OFF, "Whether work is spread over unparked cores before more are unparked.";
    Parking "UtilityDistributionThreshold" "CPDISTRIBUTION" "4bdaf4e9-d103-46d7-a5f0-6280121616ef" PERCENT, "Load that the core with the least work must have before more are unparked.";
    Parking "ParkingPerformanceState Class 1" "CPPERF1" "447235c7-6a8d-4cc0-8e24-9eaf70b96e2c" PARKED, "Speed of a parked core of class 1.";
    Parking "MinUnparkedDurationClass1" "HETERODECREASETIME" "7f2492b6-60b1-45e5-ae55-773f8cd5caec" INTERVALS, "Shortest time before cores of class 1 are parked.";
    Parking "MinParkedDurationClass1" "HETEROINCREASETIME" "4009efa7-e72d-4cba-9edf-91084ea8cbc3" INTERVALS, "Shortest time before cores of class 1 are unparked.";
    Parking "LatencySensitivityMinUnparked" "LATENCYHINTUNPARK" "616cdaa5-695e-4545-97ad-97dc2d1bdd88" PERCENT, "Fewest cores that stay unparked while something asks for quick answers.";
    Parking "LatencySensitivityMinUnparked Class 1" "LATENCYHINTUNPARK1" "616cdaa5-695e-4545-97ad-97dc2d1bdd89" PERCENT, "Fewest cores of class 1 that stay unparked while something asks for quick answers.";
    Parking "ModuleUnparkPolicy" "MODULEUNPARKPOLICY" "b0deaf6b-59c0-4523-8a45-ca7f40244114" TOPOLOGY, "In which order modules of cores are unparked.";
    Parking "ComplexUnparkPolicy" "COMPLEXUNPARKPOLICY" "b669a5e9-7b1d-4132-baaa-49190abcfeb6" TOPOLOGY, "In which order complexes of cores are unparked.";
    Parking "SmtUnparkPolicy" "SMTUNPARKPOLICY" "b28a6829-c5f7-444e-8f61-10e24e85c532" Form::Names(&["Core", "CorePerThread", "RoundRobin", "Sequential"]), "In which order the logical processors of a core are unparked.";
    Parking "CoreOverride" "" "a55612aa-f624-42c6-a443-7397d064c04f" ON_OFF, "Whether at least one core of each node stays unparked.";
    Parking "ParkingHistory" "" "77d7f282-8f1a-42cd-8537-45450a839be8" INTERVALS, "Length of the time whose mean load counts for parking.";
    Parking "IncreaseThresholdOfParking" "" "df142941-20f3-4edf-9a4a-9c83d3d717d1" PERCENT, "Load above which cores are unparked, before Windows 8.";
    Parking "DecreaseThresholdOfParking" "" "68dd2f27-a4ce-4e11-8487-3794e4135dfa" PERCENT, "Load below which cores are parked, before Windows 8.";
    Parking "ContainmentPolicy" "" "60fbe21b-efd9-49f2-b066-8674d8e9f423" Form::Number(""), "How work is contained on cores of some kinds.";
    Parking "ContainmentDecreaseTime" "" "6ff13aeb-7897-4356-9999-dd9930af065f" INTERVALS, "Shortest time before work is contained on fewer kinds of cores.";
    Parking "ContainmentIncreaseTime" "" "64fcee6b-5b1f-45a4-a76a-19b2c36ee290" INTERVALS, "Shortest time before work is let out to more kinds of cores.";
    Parking "ContainmentEfficiencyThreshold" "" "69439b22-221b-4830-bd34-f7bcece24583" Form::Number(""), "Load up to which work is contained on E-cores.";
    Parking "ContainmentHybridThreshold" "" "6788488b-1b90-4d11-8fa7-973e470dff47" Form::Number(""), "Load up to which work is contained on cores of both kinds.";
    Interrupts "InterruptSteeringMode" "MODE" "2bfc24f9-5ea2-4801-8213-3dbae01aa39d" Form::Names(&["Default", "AnyProcessor", "AnyUnparkedProcessorWithDelay", "AnyUnparkedProcessor", "LockRouting", "Processor0", "Processor1"]), "Which processors take interrupts of devices.";
    Interrupts "InterruptTargetLoad" "PERPROCLOAD" "73cde64d-d720-4bb2-a860-c755afe77ef2" Form::Number(" tenths of a percent"), "Time in interrupts that a processor may have before others take them.";
    Interrupts "InterruptUnparkedTime" "UNPARKTIME" "d6ba4903-386f-4c2c-8adb-5c21b3328d25" MS, "How long a processor is unparked before it takes interrupts.";
    General "PasswordOnWakeup" "CONSOLELOCK" "0e796bdb-100d-47d6-a2d5-f7d2daa51f51" NO_YES, "Whether a password is required when the machine wakes up.";
    General "DeviceIdlePolicy" "DEVICEIDLE" "4faab71a-92e5-4726-b531-224559672d19" Form::Names(&["Performance", "PowerSavings"]), "Whether idle devices are rather quick or rather off.";
    General "ConnectivityInStandby" "CONNECTIVITYINSTANDBY" "f15576e8-98b7-4186-b944-eafa664402d9" Form::Names(&["Disabled", "Enabled", "ManagedByWindows"]), "Whether there is a network in standby.";
    General "DisconnectedStandbyMode" "DISCONNECTEDSTANDBYMODE" "68afb2d9-ee95-47a8-8f50-4115088073b1" Form::Names(&["Normal", "Aggressive"]), "How much is turned off in standby without a network.";
    Sleep "SleepAfter" "STANDBYIDLE" "29f6c1db-86da-48c5-9fdb-f2b67b1f44da" SECONDS, "Idle time before the machine sleeps; 0 is never.";
    Sleep "UnattendedSleepAfter" "UNATTENDSLEEP" "7bc4a2f9-d8fc-4469-b07b-33eb785aaca0" SECONDS, "Idle time before the machine sleeps again that woke up by itself; 0 is never.";
    Sleep "HibernateAfter" "HIBERNATEIDLE" "9d7815a6-7ee4-497e-8888-515a05f02364" SECONDS, "Time before the machine hibernates; 0 is never.";
    Sleep "HybridSleep" "HYBRIDSLEEP" "94ac6d29-73ce-41a6-809f-6363ba21b47e" ON_OFF, "Whether memory is written to disk before the machine sleeps.";
    Sleep "WakeTimers" "RTCWAKE" "bd3b718a-0680-4d9d-8ab2-e1d2b4ac806d" Form::Names(&["Disabled", "Enabled", "ImportantOnly"]), "Whether timers may wake the machine.";
    Sleep "StandbyStates" "ALLOWSTANDBY" "abfc2519-3608-4c2a-94ea-171b0ed546ab" ON_OFF, "Whether the machine may sleep at all.";
    Sleep "AwayMode" "AWAYMODE" "25dfa149-5dd1-4736-b5ab-e8a37b5b8187" NO_YES, "Whether programs may have the machine look asleep and run.";
    Sleep "SystemRequired" "SYSTEMREQUIRED" "a4b195f5-8225-47d8-8012-9d41369786e2" NO_YES, "Whether programs may keep the machine from sleeping.";
    Sleep "SleepWithRemoteOpens" "REMOTEFILESLEEP" "d4c1d4c8-d5cc-43d3-b83e-fc51215cb04d" ON_OFF, "Whether the machine may sleep while others have its files open.";
    Sleep "LegacyRtcMitigation" "LEGACYRTCMITIGATION" "1a34bdc3-7e6b-442e-a9d0-64b6ef378e84" ON_OFF, "Whether sleep avoids faults of old real-time clocks.";
    Sleep "SleepIdleThreshold" "" "81cd32e0-7833-44f3-8737-7081f38d1f70" PERCENT, "Idleness of processors above which the machine counts as idle.";
    Sleep "CriticalPowerTransition" "" "b7a27025-e569-46c2-a504-2b96cad225a1" NO_YES, "Whether the machine may sleep without asking programs.";
    Resiliency "ExecutionRequiredTimeout" "EXECTIME" "3166bc41-7e98-4e03-b34e-ec0f5f2b218e" SECONDS, "How long a program may keep itself running in standby.";
    Resiliency "IoCoalescingTimeout" "COALTIME" "c36f0eb4-2988-4a70-8eee-0884fc2c2433" MS, "How long input and output of disks is put off to be done at once.";
    Resiliency "ProcessorTimerResolution" "PROCIR" "c42b79aa-aa3a-484b-a98f-2cf32aa90a28" MS, "Resolution of timers while the machine is resilient.";
    Resiliency "DeepSleep" "DEEPSLEEP" "d502f7ee-1dc7-4efd-a55d-f04b6f5c0545" ON_OFF, "Whether the machine may sleep deeply while it idles.";
    Presence "HumanPresenceDisplayTimeout" "HUPRVIDEOIDLE" "0a7d6ab6-ac83-4ad1-8282-eca5b58308f3" SECONDS, "Time before the display is turned off when a sensor sees that no person is there.";
    Presence "HumanPresenceDimTimeout" "HUPRVIDEODIM" "cf8c6097-12b8-4279-bbdd-44601ee5209d" SECONDS, "Time before the display is dimmed when a sensor sees that no person looks.";
    Presence "InattentiveDisplayTimeout" "" "ee16691e-6ab3-4619-bb48-1c77c9357e5a" SECONDS, "Time before the display is turned off when a sensor sees that no person looks.";
    Presence "AwayDimTimeout" "" "a79c8e0e-f271-482d-8f8a-5db9a18312de" SECONDS, "Time before the display is dimmed when a sensor sees that no person is there.";
    Presence "InputPresenceTimeout" "NSENINPUTPRETIME" "5adbbfbc-074e-4da1-ba38-db8b36b2c8f3" SECONDS, "How long a person counts as present after the last input.";
    Presence "UserPresencePrediction" "USERPRESENCEPREDICTION" "82011705-fb95-4d46-8d35-4042b1d20def" ON_OFF, "Whether it is predicted when a person comes.";
    Presence "StandbyBudgetGracePeriod" "STANDBYBUDGETGRACEPERIOD" "60c07fe1-0556-45cf-9903-d56e32210242" SECONDS, "Time in standby before what it takes of the battery counts.";
    Presence "StandbyBudgetPercent" "STANDBYBUDGETPERCENT" "9fe527be-1b70-48da-930d-7bcf17b44990" PERCENT, "Share of the battery that standby may take.";
    Presence "StandbyBudgetRefreshCount" "" "aca8648e-c4b1-4baa-8cce-9390ad647f8c" Form::Number(""), "How often that share is given again.";
    Presence "StandbyBudgetRefreshInterval" "" "61f45dfe-1919-4180-bb46-8cc70e0b38f1" SECONDS, "Time after which that share is given again.";
    Presence "StandbyReserveGracePeriod" "STANDBYRESERVEGRACEPERIOD" "c763ee92-71e8-4127-84eb-f6ed043a3e3d" SECONDS, "Time in standby before the reserve counts.";
    Presence "StandbyReserveTime" "STANDBYRESERVETIME" "468fe7e5-1158-46ec-88bc-5b96c9e44fd0" SECONDS, "Time of use that standby leaves in the battery.";
    Presence "StandbyResetPercent" "STANDBYRESETPERCENT" "49cb11a5-56e2-4afb-9d38-3df47872e21b" PERCENT, "Charge at which budget and reserve start anew.";
    Display "DimDisplayAfter" "VIDEODIM" "17aaa29b-8b43-4b94-aafe-35f64daaf1ee" SECONDS, "Idle time before the display is dimmed; 0 is never.";
    Display "TurnOffDisplayAfter" "VIDEOIDLE" "3c0bc021-c8a8-4e07-a973-6b14cbcb2b7e" SECONDS, "Idle time before the display is turned off; 0 is never.";
    Display "ConsoleLockDisplayTimeout" "VIDEOCONLOCK" "8ec4b3a5-6868-48c2-be75-4f3044be88a7" SECONDS, "Idle time before the display of a locked machine is turned off.";
    Display "AdaptiveDisplay" "VIDEOADAPT" "90959d22-d6a1-49b9-af93-bce885ad335b" ON_OFF, "Whether these times follow what a person does when the display goes off.";
    Display "AdaptiveAnnoyanceTimeout" "VIDEOANNOY" "82dbcf2d-cd67-40c5-bfdc-9f1a5ccd4663" SECONDS, "Input sooner than this after the display goes off makes the time longer.";
    Display "AdaptiveIncrease" "VIDEOADAPTINC" "eed904df-b142-4183-b10b-5a1197a37864" PERCENT, "By how much the time becomes longer.";
    Display "DisplayRequired" "ALLOWDISPLAY" "a9ceb8da-cd46-44fb-a98b-02af69de4623" NO_YES, "Whether programs may keep the display on.";
    Display "DisplayBrightness" "VIDEONORMALLEVEL" "aded5e82-b909-4619-9949-f5d71dac0bcb" PERCENT, "Brightness of the display.";
    Display "DimmedDisplayBrightness" "" "f1fbfde2-a960-4165-9f88-50667911ce96" PERCENT, "Brightness of the dimmed display.";
    Display "AdaptiveBrightness" "ADAPTBRIGHT" "fbd9aa66-9553-4097-ba44-ed6e9d65eab8" ON_OFF, "Whether brightness follows the light around.";
    Display "AdvancedColorQualityBias" "ADVANCEDCOLORQUALITYBIAS" "684c3e69-a4f7-4014-8754-d45179a56167" Form::Names(&["PowerSaving", "VisualQuality"]), "What advanced color prefers.";
    Graphics "GpuPreferencePolicy" "GPUPREFERENCEPOLICY" "dd848b2a-8a5d-4451-9ae2-39cd41658f6c" Form::Names(&["None", "LowPower"]), "Which graphics processor is preferred.";
    Media "WhenSharingMedia" "" "03680956-93bc-4294-bba6-4e0f09bb717f" Form::Names(&["AllowSleep", "PreventSleep", "AllowAwayMode"]), "Whether the machine sleeps while it shares media.";
    Media "WhenPlayingVideo" "" "34c7b99f-9a6d-4b3c-8dc7-b6693b78cef4" Form::Names(&["OptimizeQuality", "Balanced", "OptimizePower"]), "What playing video prefers.";
    Media "VideoQualityBias" "" "10778347-1370-4ee0-8bbd-33bdacaade49" Form::Names(&["PowerSaving", "Performance"]), "Whether playing video prefers saving power or quality.";
    Media "SlideShow" "" "309dce9b-bef4-4119-9921-a851fb12f0f4" Form::Names(&["Available", "Paused"]), "Whether the background of the desktop changes.";
    Media "JavaScriptTimerFrequency" "" "4c793e7d-a264-42e1-87d3-7a0d2f523ccd" Form::Names(&["MaximumPowerSavings", "MaximumPerformance"]), "How often timers of pages run in Internet Explorer.";
    Disk "TurnOffDiskAfter" "DISKIDLE" "6738e2c4-e8a5-4a42-b16a-e040e769756e" SECONDS, "Idle time before disks are turned off; 0 is never.";
    Disk "DiskBurstIgnoreTime" "DISKBURSTIGNORE" "80e3c60e-bb94-4ad8-bbe0-0d3195efc663" SECONDS, "Activity that is shorter does not end this time.";
    Disk "DiskMaxPower" "DISKMAXPOWER" "51dea550-bb38-4bc4-991b-eacf37be5ec8" PERCENT, "Highest power of disks.";
    Disk "AhciLinkPower" "" "0b2d69d7-a2a1-449c-9680-f91c70521c60" Form::Names(&["Active", "HIPM", "HIPM+DIPM", "DIPM", "Lowest"]), "Who may turn down the link to a disk: host, device, or both.";
    Disk "AhciLinkPowerAdaptive" "" "dab60367-53fe-4fbc-825e-521d069d2456" MS, "Idle time before the link to a disk is turned down further.";
    Disk "NvmePrimaryIdleTimeout" "NVMEPRIMARYIDLETIMEOUT" "d639518a-e56d-4345-8af2-b9f32fb26109" MS, "Idle time before an NVMe disk goes to the first saving state.";
    Disk "NvmeSecondaryIdleTimeout" "" "d3d55efd-c1ff-424e-9dc3-441be7833010" MS, "Idle time before an NVMe disk goes to the second saving state.";
    Disk "NvmePrimaryLatencyTolerance" "" "fc95af4d-40e7-4b6d-835a-56d131dbc80e" MS, "Longest time that leaving the first saving state may take.";
    Disk "NvmeSecondaryLatencyTolerance" "" "dbc9e238-6de9-49e3-92cd-8c2b4946b472" MS, "Longest time that leaving the second saving state may take.";
    Disk "NvmeNoppme" "DISKNVMENOPPME" "fc7372b6-ab2d-43ee-8797-15e9841f2cca" ON_OFF, "Whether NVMe disks may use more power than usual while they idle.";
    Disk "AdaptiveDiskPowerDown" "" "396a32e1-499a-40b2-9124-a96afe707667" ON_OFF, "Whether the time before disks are turned off follows their use.";
    Pci "LinkStatePowerManagement" "ASPM" "ee12f906-d277-404b-b6da-e5fa1a576df5" Form::Names(&["Off", "ModerateSavings", "MaximumSavings"]), "How far idle links are turned down.";
    Usb "UsbSelectiveSuspend" "" "48e6b7a6-50f5-4782-a5d4-53bb8f07e226" ON_OFF, "Whether single idle devices are suspended.";
    Usb "HubSelectiveSuspendTimeout" "" "0853a681-27c8-4100-a2fd-82013e970683" MS, "Idle time before a hub is suspended.";
    Usb "Usb3LinkPower" "" "d4e98f31-5ffe-4ce1-be31-1b38b384c009" Form::Names(&["Off", "MinimumSavings", "ModerateSavings", "MaximumSavings"]), "How far idle links of USB 3 are turned down.";
    Usb "InterruptOnAllTransfers" "" "498c044a-201b-4631-a522-5c744ed4e678" ON_OFF, "Whether each transfer descriptor ends with an interrupt.";
    Wireless "WirelessPowerSaving" "" "12bbebe6-58d6-4636-95bb-3217ef867c1a" Form::Names(&["MaximumPerformance", "LowSaving", "MediumSaving", "MaximumSaving"]), "How much a wireless adapter saves.";
    Buttons "LidCloseAction" "LIDACTION" "5ca83367-6e45-459f-a27b-476b1d01c936" ACTION, "What closing the lid does.";
    Buttons "LidOpenAction" "LIDOPENWAKE" "99ff10e7-23b1-4c07-a9d1-5c3206d741b4" Form::Number(""), "Whether opening the lid turns on the display, as a number.";
    Buttons "PowerButtonAction" "PBUTTONACTION" "7648efa3-dd9c-4e3e-b566-50f929386280" ACTION, "What the power button does.";
    Buttons "SleepButtonAction" "SBUTTONACTION" "96996bc0-ad50-47ec-923b-6f41874dd9eb" ACTION, "What the sleep button does.";
    Buttons "StartMenuPowerButton" "UIBUTTON_ACTION" "a7066653-8d6c-40a8-910e-a1f54b84c7e5" Form::Number(""), "What the power button of the start menu does, as a number.";
    Buttons "ForcedShutdown" "SHUTDOWN" "833a6b62-dfa4-46d1-82f8-e09e34d029d6" ON_OFF, "Whether button and lid shut down without asking programs.";
    Battery "CriticalBatteryAction" "BATACTIONCRIT" "637ea02f-bbcb-4015-8e2c-a1c7b9c0b546" Form::Number(""), "What a critical charge does, as a number.";
    Battery "CriticalBatteryLevel" "BATLEVELCRIT" "9a66d8d7-4ff7-4ef9-b5a2-5a326ca2a469" PERCENT, "Charge that is critical.";
    Battery "CriticalBatteryNotification" "BATFLAGSCRIT" "5dbb7c9f-38e9-40d2-9749-4f8a0e9f640f" ON_OFF, "Whether a critical charge is reported.";
    Battery "LowBatteryAction" "BATACTIONLOW" "d8742dcb-3e6a-4b3c-b3fe-374623cdcf06" Form::Number(""), "What a low charge does, as a number.";
    Battery "LowBatteryLevel" "BATLEVELLOW" "8183ba9a-e910-48da-8769-14ae6dc1170a" PERCENT, "Charge that is low.";
    Battery "LowBatteryNotification" "BATFLAGSLOW" "bcded951-187b-4d05-bccc-f7e51960c258" ON_OFF, "Whether a low charge is reported.";
    Battery "BatteryAction2" "" "421cba38-1a8e-4881-ac89-e33a8b04ece4" Form::Number(""), "What a third level of charge does, as a number.";
    Battery "BatteryLevel2" "" "07a07ca2-adaf-40d7-b077-533aaded1bfa" PERCENT, "The third level of charge.";
    Battery "BatteryFlags2" "" "7fd2f0c4-feb7-4da3-8117-e3fbedc46582" Form::Number(""), "Whether the third level of charge is reported.";
    Battery "BatteryAction3" "" "80472613-9780-455e-b308-72d3003cf2f8" Form::Number(""), "What a fourth level of charge does, as a number.";
    Battery "BatteryLevel3" "" "58afd5a6-c2dd-47d2-9fbf-ef70cc5c5965" PERCENT, "The fourth level of charge.";
    Battery "BatteryFlags3" "" "73613ccf-dbfa-4279-8356-4935f6bf62f3" Form::Number(""), "Whether the fourth level of charge is reported.";
    Saver "EnergySaverBrightness" "ESBRIGHTNESS" "13d09884-f74e-474a-a852-b6bde8ad03a8" PERCENT, "Brightness of the display while energy is saved, of the usual one.";
    Saver "EnergySaverPolicy" "ESPOLICY" "5c5bb349-ad29-4ee2-9d0b-2b25270f7a81" Form::Names(&["User", "Aggressive"]), "Who says when energy is saved.";
    Saver "EnergySaverBatteryThreshold" "ESBATTTHRESHOLD" "e69653ca-cf7f-4f05-aa73-cb833fa90ad4" PERCENT, "Charge below which energy is saved.";
    State "PowerSource" "" "5d3e9a59-e9d5-4b00-a6bd-ff34ff516548" Form::Names(&["AC", "DC", "Hot"]), "Where power comes from: outside, the battery, or for a short time an uninterruptible supply.";
    State "BatteryPercentageRemaining" "" "a7ad8041-b45a-4cae-87a3-eecbb468a9e1" PERCENT, "Charge of the battery.";
    State "BatteryCount" "" "7d263f15-fca4-49e5-854b-a9f2bfbd5c24" Form::Number(""), "How many batteries there are.";
    State "LidSwitch" "" "ba3e0f4d-b817-4094-a2d1-d56379e6a0f3" Form::Names(&["closed", "open"]), "Whether the lid is open.";
    State "LidSwitchReliability" "" "ae4c4ff1-d361-43f4-80aa-bbb6eb03de94" Form::Number(""), "Whether the switch of the lid can be relied on.";
    State "MonitorPower" "" "02731015-4510-4526-99e6-e5a17ebd1aea" SCREEN, "Whether the primary monitor is on.";
    State "ConsoleDisplayState" "" "6fe69556-704a-47a0-8f24-c28d936fda47" SCREEN, "Whether the display of the console is on.";
    State "SessionDisplayStatus" "" "2b84c20e-ad23-4ddf-93db-05ffbd7efca5" SCREEN, "Whether the display of the session is on.";
    State "CurrentMonitorBrightness" "" "8ffee2c6-2d01-46be-adb9-398addc5b4ff" PERCENT, "Brightness of the monitor now.";
    State "GlobalUserPresence" "" "786e8a1d-b427-4344-9207-09e70bdcbea9" USER, "Whether a person is at the machine in any session.";
    State "SessionUserPresence" "" "3c0f4548-c03f-4c4d-b9f2-237ede686376" USER, "Whether a person is there in the session.";
    State "SystemAwayMode" "" "98a7f580-01f7-48aa-9c0f-44352c29e5c0" ON_OFF, "Whether the machine looks asleep and runs.";
    State "PowerSavingStatus" "" "e00958c0-c213-4ace-ac77-fecced2eeea5" ON_OFF, "Whether energy is saved now.";
    State "EnergySaverStatus" "" "550e8400-e29b-41d4-a716-446655440000" Form::Number(""), "How much energy is saved now, as a number.";
    State "MixedRealityMode" "" "1e626b4e-cf04-4f8d-9cc7-c97c5b0f2391" Form::Number(""), "Whether mixed reality runs.";
}
