//! What wpr knows: elements and their order, keywords, stacks.

use etwkit_trace::xml::{Warnings, clipped};

use super::misspelled;
use super::tree::{Element, File};

/// Elements, their attributes, and their children in the order that wpr wants.
const ELEMENTS: &[(&str, &str, &str)] = &[
    (
        "WindowsPerformanceRecorder",
        "Version Author Team Copyright Company Comments Tag",
        "Profiles TraceMergeProperties OnOffTransitionConfigurations",
    ),
    (
        "Profiles",
        "",
        "SystemCollector EventCollector HeapEventCollector SystemProvider EventProvider \
         HeapEventProvider HardwareCounter Profile",
    ),
    (
        "SystemCollector",
        "Id Base Name FileName Realtime HostGuestCorrelation",
        COLLECTOR,
    ),
    (
        "EventCollector",
        "Id Base Name FileName Realtime HostGuestCorrelation Private ProcessPrivate Secure",
        COLLECTOR,
    ),
    (
        "HeapEventCollector",
        "Id Base Name FileName Realtime Secure",
        COLLECTOR,
    ),
    ("BufferSize", "Value Operation", ""),
    (
        "Buffers",
        "Value PercentageOfTotalMemory MaximumBufferSpace Operation",
        "",
    ),
    ("StackCaching", "BucketCount CacheSize Operation", ""),
    ("MaximumFileSize", "Value FileMode Operation", ""),
    ("FileName", "Value Operation", ""),
    ("SystemProvider", "Id Base", "Keywords Stacks PoolTags"),
    (
        "EventProvider",
        "Id Base Name Level NonPagedMemory Stack SID TSID CaptureStateOnly Strict ProcessExeFilter \
         EventKey",
        "Keywords CaptureStateOnStart CaptureStateOnSave CaptureStateOnDemand EventFilters \
         StackFilters StackKeywordLevelFilter EventNameFilters StackEventNameFilters Stacks",
    ),
    (
        "HeapEventProvider",
        "Id Base",
        "HeapProcessIds HeapProcessNames",
    ),
    ("Keywords", "Operation", "Keyword CustomKeyword"),
    ("Keyword", "Value Strict", ""),
    ("CustomKeyword", "Value Strict", ""),
    ("Stacks", "Operation", "Stack CustomStack"),
    ("Stack", "Value Strict", ""),
    ("CustomStack", "Value Strict", ""),
    ("PoolTags", "Operation", "PoolTag"),
    ("PoolTag", "Value", ""),
    ("CaptureStateOnStart", "Operation", "Keyword"),
    ("CaptureStateOnSave", "Operation", "Keyword"),
    ("CaptureStateOnDemand", "Operation Timeout", "Keyword"),
    ("EventFilters", "FilterIn Operation", "EventId"),
    ("StackFilters", "FilterIn Operation", "EventId"),
    (
        "StackKeywordLevelFilter",
        "FilterIn Level Operation",
        "Keyword",
    ),
    (
        "EventNameFilters",
        "FilterIn Level Operation",
        "EventName Keyword",
    ),
    (
        "StackEventNameFilters",
        "FilterIn Level Operation",
        "EventName Keyword",
    ),
    ("EventId", "Value", ""),
    ("EventName", "Value", ""),
    (
        "HardwareCounter",
        "Id Base Strict",
        "SampledCounters Counters Events LastBranch ProcessorTrace",
    ),
    ("SampledCounters", "Operation", "SampledCounter"),
    ("SampledCounter", "Value Interval Strict", ""),
    ("Counters", "Operation", "Counter"),
    ("Counter", "Value Strict", ""),
    ("Events", "Operation", "Event"),
    ("Event", "Value", ""),
    ("LastBranch", "Operation", "Events LastBranchFilters"),
    (
        "Profile",
        "Id Base Name Description DetailLevel LoggingMode Internal Default Strict",
        "ProblemCategories Collectors TraceMergeProperties",
    ),
    ("ProblemCategories", "Operation", "ProblemCategory"),
    ("ProblemCategory", "Value", ""),
    (
        "Collectors",
        "Operation",
        "SystemCollectorId EventCollectorId HeapEventCollectorId SystemCollector EventCollector \
         HeapEventCollector",
    ),
    (
        "SystemCollectorId",
        "Value",
        "BufferSize Buffers StackCaching MaximumFileSize SystemProviderId SystemProvider \
         HardwareCounterId HardwareCounter",
    ),
    (
        "EventCollectorId",
        "Value",
        "BufferSize Buffers StackCaching MaximumFileSize EventProviders",
    ),
    (
        "HeapEventCollectorId",
        "Value",
        "BufferSize Buffers StackCaching MaximumFileSize HeapEventProviders",
    ),
    (
        "EventProviders",
        "Operation",
        "EventProviderId EventProvider",
    ),
    (
        "HeapEventProviders",
        "Operation",
        "HeapEventProviderId HeapEventProvider",
    ),
    ("SystemProviderId", "Value", "Keywords Stacks PoolTags"),
    ("HardwareCounterId", "Value", ""),
    ("EventProviderId", "Value", ""),
    ("HeapEventProviderId", "Value", ""),
];

const COLLECTOR: &str = "BufferSize Buffers StackCaching MaximumFileSize FileName";

/// Elements whose content is not looked at: it does not say which events are recorded.
const OTHERS: &str = "TraceMergeProperties OnOffTransitionConfigurations LastBranchFilters \
    ProcessorTrace HeapProcessIds HeapProcessNames MicroArchitecturalConfig \
    MicroArchitecturalConfigId";

/// Elements whose children have one order. Others are lists.
const ORDERED: &str = "WindowsPerformanceRecorder Profiles SystemCollector EventCollector \
    SystemProvider EventProvider";

/// Attributes that are true or false, of any element.
const FLAGS: &str = "Strict Internal Default Stack NonPagedMemory SID TSID CaptureStateOnly \
    Realtime HostGuestCorrelation Private ProcessPrivate Secure PercentageOfTotalMemory FilterIn";

/// Attributes that are whole numbers, and the largest number.
const NUMBERS: &[(&str, &str, u64)] = &[
    ("BufferSize", "Value", 0xFFFF_FFFF),
    ("Buffers", "Value", 0xFFFF_FFFF),
    ("Buffers", "MaximumBufferSpace", 0xFFFF_FFFF),
    ("MaximumFileSize", "Value", 0xFFFF_FFFF),
    ("StackCaching", "BucketCount", 0xFFFF_FFFF),
    ("StackCaching", "CacheSize", 0xFFFF_FFFF),
    ("SampledCounter", "Interval", 0xFFFF_FFFF),
    ("CustomKeyword", "Value", 0xFFFF_FFFF),
    ("CustomStack", "Value", 0xFFFF),
    ("EventId", "Value", 0xFFFF),
    ("EventProvider", "Level", 0xFF),
    ("StackKeywordLevelFilter", "Level", 0xFF),
    ("EventNameFilters", "Level", 0xFF),
    ("StackEventNameFilters", "Level", 0xFF),
];

/// Attributes that are one of a few words.
const WORDS: &[(&str, &str, &str)] = &[
    ("Profile", "DetailLevel", "Light Verbose"),
    ("Profile", "LoggingMode", "File Memory"),
    ("MaximumFileSize", "FileMode", "Circular Sequential"),
];

/// Collectors of wpr itself: files use them without a definition.
const OWN_COLLECTORS: &str = "SystemCollector_WPRSystemCollectorInFile \
    SystemCollector_WPRSystemCollectorInFileLarge SystemCollector_WPRSystemCollectorInMemory \
    EventCollector_WPREventCollectorInFile EventCollector_WPREventCollectorInFileLarge \
    EventCollector_WPREventCollectorInMemoryMedium EventCollector_WPREventCollectorInMemoryLarge \
    HeapCollector_WPRHeapCollector";

/// Providers of wpr itself: files use them without a definition.
const OWN_PROVIDERS: &str = "EventProvider_DotNetProvider SystemProvider_Base";

/// Keywords of the kernel.
const KEYWORDS: &str = "ProcessThread Loader ProcessCounter CSwitch CompactCSwitch DPC Interrupt \
    SystemCall DiskIO DiskIOInit ReadyThread AllFaults MemoryPageFaults HardFaults \
    VirtualAllocation VAMap NetworkTrace Registry DbgPrint Job Alpc SplitIO Drivers SampledProfile \
    FileIO FileIOInit Filename Memory FootPrint ReferenceSet Pool DPCQueue PmcProfile \
    ThreadPriority IdealProcessor ThreadAffinity SpinLock SynchronizationObjects MemoryInfo \
    ContiguousMemorygeneration Session MemoryInfoWS KernelQueue InterruptSteer AntiStarvation \
    ProcessFreeze Object Handle IdleStates CpuConfig Timer ClockInterrupt LoadBalancer KeClock \
    HalClock IdleSelection InterProcessorInterrupt RegistryHive RegistryNotify Power CC OpticalIO \
    OpticalIOInit WakeDrop WakeEvent WakeCounter FilterIOInit FilterIO FilterIOFastIO \
    FilterIOFailure WDFDPC WDFInterrupt CacheFlush HiberRundown ClusterOff";

/// Stacks, and the keywords without which they are never taken.
const STACKS: &[(&str, &str)] = &[
    ("SampledProfile", "SampledProfile"),
    ("CSwitch", "CSwitch"),
    ("ReadyThread", "ReadyThread"),
    (
        "ProcessCreate ProcessDelete ThreadCreate ThreadDelete",
        "ProcessThread",
    ),
    ("ImageLoad ImageUnload", "Loader"),
    ("SystemCallEnter SystemCallExit", "SystemCall"),
    ("DiskReadInit DiskWriteInit DiskFlushInit", "DiskIOInit"),
    (
        "FileCreate FileCleanup FileClose FileRead FileWrite FileSetInformation \
         FileQueryInformation FileDirEnum FileFlush FileDelete FileRename FileFSCTL FileDirNotify",
        "FileIOInit",
    ),
    ("HardFault", "HardFaults"),
    ("VirtualAllocation VirtualFree", "VirtualAllocation"),
    ("HandleCreate HandleClose HandleDuplicate", "Handle"),
    ("ObjectCreate ObjectDelete", "Object"),
    ("PoolAllocation PoolFree", "Pool"),
    ("ThreadSetPriority ThreadSetBasePriority", "ThreadPriority"),
];

/// Other stacks that Microsoft documents for wpr or xperf, those that wpr is known to accept, and
/// those of our own profiles.
const OTHER_STACKS: &str = "AlpcClosePort AlpcConnectFail AlpcConnectRequest AlpcConnectSuccess \
    AlpcReceiveMessage AlpcSendMessage AlpcUnwait AlpcWaitForNewMessage AlpcWaitForReply \
    CacheFlush CcCanIWriteFail CcFlushCache CcFlushSection CcLazyWriteScan CcReadAhead \
    CcWorkitemComplete CcWorkitemDequeue CcWorkitemEnqueue CcWriteBehind \
    ContiguousMemoryGeneration CritSecCollision DpcEnqueue DpcExecute ExecutiveResource FileOpEnd \
    HeapAlloc HeapAllocation HeapCreate HeapDestroy HeapFree HeapRangeCreate HeapRangeDestroy \
    HeapRangeRelease HeapRangeReserve HeapRealloc HeapReallocation KernelQueueDequeue \
    KernelQueueEnqueue KernelSignal KernelSignalInit KernelSync KernelSyncAll KernelWaitSync \
    KernelWaitSyncAll MapFile Mark MiniFilterPostOpInit MiniFilterPreOpInit ObjectDeReference \
    ObjectReference PageAccess PageAccessEx PageRangeAccess PageRangeRelease PageRelease \
    PageRemovedFromWorkingSet PagefaultAV PagefaultCopyOnWrite PagefaultDemandZero PagefaultGuard \
    PagefaultHard PagefaultTransition PagefileBackedImageMapping PagefileMappedSectionCreate \
    PagefileMappedSectionDelete PagefileMappedSectionObjectCreate \
    PagefileMappedSectionObjectDelete PmcInterrupt PoolAlloc PoolAllocSession \
    PoolAllocationSession PoolFreeSession PowerDeviceNotify PowerDeviceNotifyComplete \
    PowerIdleStateChange PowerPerfStateChange PowerPostSleep PowerPreSleep PowerSessionCallout \
    PowerSessionCalloutReturn PowerSetDevicesState PowerSetDevicesStateReturn PowerSetPowerAction \
    PowerSetPowerActionReturn PowerThermalConstraint ProcessFreeze ProcessResume Profile \
    ProfileSetInterval RegCloseKey RegCreateKey RegDeleteKey RegDeleteValue RegEnumerateKey \
    RegEnumerateValueKey RegFlush RegHiveDestroy RegHiveDirty RegHiveInit RegHiveLink RegKcbCreate \
    RegKcbDelete RegOpenKey RegQueryKey RegQueryMultipleValue RegQueryValue RegSetInformation \
    RegSetValue RegVirtualize RegistryCloseKey RegistryCreateKey RegistryDeleteKey \
    RegistryDeleteValue RegistryEnumerateKey RegistryEnumerateValueKey RegistryFlush \
    RegistryKcbCreate RegistryKcbDelete RegistryOpenKey RegistryQueryKey \
    RegistryQueryMultipleValue RegistryQuerySecurity RegistryQueryValue RegistrySetInformation \
    RegistrySetSecurity RegistrySetValue RegistryVirtualize SampledProfileSetInterval SplitIO \
    SyscallEnter SyscallExit ThreadDCEnd ThreadDCStart ThreadPoolCallbackCancel \
    ThreadPoolCallbackDequeue ThreadPoolCallbackEnqueue ThreadPoolCallbackStart \
    ThreadPoolCallbackStop ThreadPoolCancelNtTimer ThreadPoolClose ThreadPoolCreate \
    ThreadPoolSetMaxThreads ThreadPoolSetMinThreads ThreadPoolSetNtTimer ThreadPoolTimerCancelled \
    ThreadPoolTimerExpiration ThreadPoolTimerExpirationBegin ThreadPoolTimerExpirationEnd \
    ThreadPoolTimerSet ThreadSetIdealProcessor ThreadSetUserIdealProcessor TimerOneShot \
    TimerPeriodic TimerSetOneShot TimerSetPeriodic UnMapFile VirtualAlloc WakeChargeExecution \
    WakeChargeInstrumentation WakeChargeKernel WakeChargeUser WakeDropExecution \
    WakeDropInstrumentation WakeDropKernel WakeDropUser WakeEventExecution \
    WakeEventInstrumentation WakeEventKernel WakeEventUser WakeReleaseExecution \
    WakeReleaseInstrumentation WakeReleaseKernel WakeReleaseUser";

/// Returns the names of stacks that are known.
fn stacks() -> impl Iterator<Item = &'static str> {
    let with_keyword = STACKS.iter().map(|(stacks, _)| *stacks);
    with_keyword
        .chain([OTHER_STACKS])
        .flat_map(str::split_whitespace)
}

fn has_word(list: &str, word: &str) -> bool {
    list.split_whitespace()
        .any(|known| known.eq_ignore_ascii_case(word))
}

/// Returns `true` for the id of a collector that wpr has itself.
pub(super) fn is_own_collector(id: &str) -> bool {
    has_word(OWN_COLLECTORS, id)
}

/// Returns `true` for the id of a provider that wpr has itself.
pub(super) fn is_own_provider(id: &str) -> bool {
    has_word(OWN_PROVIDERS, id)
}

/// The keyword of the kernel as wpr spells it.
pub(super) fn keyword(name: &str) -> Option<&'static str> {
    KEYWORDS
        .split_whitespace()
        .find(|known| known.eq_ignore_ascii_case(name))
}

/// The keyword without which a stack is never taken.
pub(super) fn keyword_of_stack(stack: &str) -> Option<&'static str> {
    let found = STACKS.iter().find(|(stacks, _)| has_word(stacks, stack));
    found.map(|(_, keyword)| *keyword)
}

/// A number in decimal or, after `0x`, hexadecimal digits.
pub(super) fn number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match digits {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// True if the value of a flag is one of those that mean yes.
pub(super) fn is_yes(value: &str) -> bool {
    value == "1" || value.eq_ignore_ascii_case("true")
}

/// The values that an attribute can have, if it has another one.
fn wrong_value(element: &str, attribute: &str, value: &str) -> Option<String> {
    if value.is_empty() {
        return None;
    }
    let is_this =
        |known: &str, other: &str| known == element && other.eq_ignore_ascii_case(attribute);
    if has_word(FLAGS, attribute) {
        let is_flag = is_yes(value) || value == "0" || value.eq_ignore_ascii_case("false");
        return (!is_flag).then(|| "true or false".to_owned());
    }
    if let Some((.., most)) = NUMBERS.iter().find(|(e, a, _)| is_this(e, a)) {
        let is_number = number(value).is_some_and(|number| number <= *most);
        return (!is_number)
            .then(|| format!("a whole number from 0 to {most}, or 0x0 to {most:#x}"));
    }
    if let Some((.., words)) = WORDS.iter().find(|(e, a, _)| is_this(e, a)) {
        let list = || words.split_whitespace().collect::<Vec<_>>().join(" or ");
        return (!has_word(words, value)).then(list);
    }
    if is_this("PoolTag", "Value") {
        let is_tag = value.chars().count() <= 4;
        return (!is_tag).then(|| "a tag of 1 to 4 characters".to_owned());
    }
    // Names of stacks differ between versions of wpr, so only what cannot be a name is wrong.
    if is_this("Stack", "Value") {
        return (!is_stack_name(value)).then(|| "a name; <CustomStack> has numbers".to_owned());
    }
    None
}

/// Warns of elements, attributes and values that wpr does not know, and of an order that it
/// refuses.
pub(super) fn check(file: &File<'_>, document: &Element, warnings: &mut Warnings) {
    for root in &document.children {
        if root.is("WindowsPerformanceRecorder") {
            element(file, root, warnings);
        }
    }
}

/// Warns of stacks that are not known. A newer wpr may know them.
fn check_stacks(file: &File<'_>, provider: &Element, warnings: &mut Warnings) {
    let lists = provider.all("Stacks").flat_map(|list| &list.children);
    for stack in lists.filter(|child| child.is("Stack")) {
        let name = stack.get("Value").unwrap_or("").trim();
        let is_known = || stacks().any(|known| known.eq_ignore_ascii_case(name));
        if !is_stack_name(name) || is_known() {
            continue;
        }
        // Comparing names takes long, and most warnings of a faulty file are only counted.
        file.warn_of(warnings, stack.at, || {
            let meant = match misspelled::nearest(name, stacks()) {
                Some(meant) => format!("did you mean {meant}?"),
                None => "wpr may refuse the file".to_owned(),
            };
            format!("the stack {:?} is not well known: {meant}", clipped(name))
        });
    }
}

/// Returns `true` for what can be the name of a stack.
fn is_stack_name(value: &str) -> bool {
    value.starts_with(|letter: char| letter.is_ascii_alphabetic()) && value.is_ascii()
}

fn element(file: &File<'_>, found: &Element, warnings: &mut Warnings) {
    if has_word(OTHERS, &found.name) {
        return;
    }
    let Some((name, attributes, children)) = ELEMENTS.iter().find(|(name, ..)| found.is(name))
    else {
        let text = format!("<{}> is unknown and has no effect", clipped(&found.name));
        return file.warn(warnings, found.at, text);
    };
    for (attribute, _) in &found.attributes {
        if !has_word(attributes, attribute) {
            let text = format!(
                "{} of <{name}> is unknown and has no effect",
                clipped(attribute)
            );
            file.warn(warnings, found.at, text);
        }
    }
    for (attribute, value) in &found.attributes {
        if let Some(expected) = wrong_value(name, attribute, value.trim()) {
            let text = format!(
                "{} {:?} of <{name}> is not {expected}",
                clipped(attribute),
                clipped(value)
            );
            file.warn(warnings, found.at, text);
        }
    }
    if found.is("SystemProvider") || found.is("SystemProviderId") {
        check_stacks(file, found, warnings);
    }
    let place = |child: &Element| {
        children
            .split_whitespace()
            .position(|known| child.is(known))
    };
    // wpr accepts counters of the processor in front of other providers and behind them.
    let in_order = |child: &Element| place(child).filter(|_| !child.is("HardwareCounter"));
    let mut last = None;
    let mut is_told = !has_word(ORDERED, name);
    for child in &found.children {
        if place(child).is_none() && ELEMENTS.iter().any(|(known, ..)| child.is(known)) {
            let text = format!("<{}> does not belong into <{name}>", clipped(&child.name));
            file.warn(warnings, child.at, text);
        }
        let here = in_order(child);
        if here.is_some() && here < last && !is_told {
            is_told = true;
            let text = format!(
                "<{}> comes too late in <{name}>: wpr refuses the file (0xc5580701); the order is \
                 {}",
                clipped(&child.name),
                children.split_whitespace().collect::<Vec<_>>().join(", ")
            );
            file.warn(warnings, child.at, text);
        }
        last = last.max(here);
        element(file, child, warnings);
    }
}
