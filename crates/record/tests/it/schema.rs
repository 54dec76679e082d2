//! Schema of a file of recording profiles: elements, attributes, names. These are facts about wpr,
//! so that a profile which wpr would reject, or accept without recording anything, fails here.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// An element with its content.
#[derive(Debug, Clone, Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: BTreeMap<String, String>,
    pub(crate) children: Vec<Element>,
}

impl Element {
    fn of(start: &BytesStart<'_>) -> Self {
        let attributes = start.attributes().map(|attribute| {
            let attribute = attribute.unwrap();
            (
                attribute.key.as_ref().to_owned(),
                attribute.value.to_string(),
            )
        });
        Self {
            name: start.name().as_ref().to_owned(),
            attributes: attributes.collect(),
            children: Vec::new(),
        }
    }

    pub(crate) fn get(&self, attribute: &str) -> &str {
        self.attributes.get(attribute).map_or("", String::as_str)
    }

    pub(crate) fn all(&self, name: &str) -> Vec<&Element> {
        let mut found: Vec<&Element> = (self.name == name).then_some(self).into_iter().collect();
        found.extend(self.children.iter().flat_map(|child| child.all(name)));
        found
    }

    /// The values of all elements with that name.
    pub(crate) fn values(&self, name: &str) -> Vec<&str> {
        self.all(name)
            .into_iter()
            .map(|element| element.get("Value"))
            .collect()
    }
}

/// The root element of a text.
pub(crate) fn parse(text: &str) -> Element {
    let mut reader = Reader::from_str(text);
    let mut open = vec![Element::default()];
    let close = |open: &mut Vec<Element>| {
        let element = open.pop().unwrap();
        open.last_mut().unwrap().children.push(element);
    };
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => open.push(Element::of(&start)),
            Event::Empty(start) => {
                open.push(Element::of(&start));
                close(&mut open);
            }
            Event::End(_) => close(&mut open),
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(open.len(), 1);
    open.remove(0).children.remove(0)
}

/// Elements, their attributes and their permitted children.
const ELEMENTS: &[(&str, &str, &str)] = &[
    (
        "WindowsPerformanceRecorder",
        "Version Author Team Copyright Company Comments Tag",
        "Profiles TraceMergeProperties",
    ),
    (
        "Profiles",
        "",
        "SystemCollector EventCollector HeapEventCollector SystemProvider EventProvider HeapEventProvider \
         HardwareCounter Profile",
    ),
    (
        "SystemCollector",
        "Id Base Name Realtime",
        "BufferSize Buffers StackCaching MaximumFileSize FileName",
    ),
    (
        "EventCollector",
        "Id Base Name Realtime Private",
        "BufferSize Buffers StackCaching MaximumFileSize FileName",
    ),
    ("BufferSize", "Value Operation", ""),
    (
        "Buffers",
        "Value PercentageOfTotalMemory MaximumBufferSpace Operation",
        "",
    ),
    ("SystemProvider", "Id Base", "Keywords Stacks PoolTags"),
    (
        "EventProvider",
        "Id Base Name Level NonPagedMemory Stack CaptureStateOnly Strict ProcessExeFilter",
        "Keywords CaptureStateOnStart CaptureStateOnSave CaptureStateOnDemand EventFilters StackFilters",
    ),
    ("Keywords", "Operation", "Keyword CustomKeyword"),
    ("Keyword", "Value Strict", ""),
    ("Stacks", "", "Stack CustomStack"),
    ("Stack", "Value", ""),
    ("CustomStack", "Value", ""),
    ("CaptureStateOnSave", "", "Keyword"),
    ("StackFilters", "FilterIn", "EventId"),
    ("EventId", "Value", ""),
    (
        "HardwareCounter",
        "Id Base Strict",
        "SampledCounters Counters Events LastBranch ProcessorTrace",
    ),
    ("Counters", "", "Counter"),
    ("Counter", "Value", ""),
    ("Events", "", "Event"),
    ("Event", "Value", ""),
    ("LastBranch", "", "Events LastBranchFilters"),
    (
        "Profile",
        "Id Name Description DetailLevel LoggingMode Base Internal Default Strict",
        "ProblemCategories Collectors",
    ),
    (
        "Collectors",
        "Operation",
        "SystemCollectorId EventCollectorId HeapEventCollectorId",
    ),
    (
        "SystemCollectorId",
        "Value",
        "BufferSize Buffers SystemProviderId HardwareCounterId",
    ),
    (
        "EventCollectorId",
        "Value",
        "BufferSize Buffers EventProviders",
    ),
    ("EventProviders", "Operation", "EventProviderId"),
    ("SystemProviderId", "Value", ""),
    ("HardwareCounterId", "Value", ""),
    ("EventProviderId", "Value", ""),
];

/// Keywords of kernel events, as they are spelled in these files.
const KEYWORDS: &str = "\
    ProcessThread Loader ProcessCounter CSwitch CompactCSwitch DPC Interrupt SystemCall DiskIO \
    DiskIOInit ReadyThread AllFaults HardFaults VirtualAllocation VAMap NetworkTrace Registry Alpc \
    SplitIO Drivers SampledProfile FileIO FileIOInit Filename Memory FootPrint ReferenceSet Pool \
    DPCQueue PmcProfile ThreadPriority SpinLock SynchronizationObjects MemoryInfo \
    ContiguousMemorygeneration Session MemoryInfoWS KernelQueue InterruptSteer AntiStarvation \
    ProcessFreeze Object Handle IdleStates CpuConfig Timer ClockInterrupt LoadBalancer KeClock \
    HalClock IdleSelection InterProcessorInterrupt RegistryHive RegistryNotify Power CC OpticalIO \
    OpticalIOInit FilterIOInit FilterIO FilterIOFastIO FilterIOFailure WDFDPC WDFInterrupt \
    CacheFlush HiberRundown";

/// Names of stacks, and the keywords without which they are never taken.
const STACKS: &[(&str, &str)] = &[
    ("SampledProfile", "SampledProfile"),
    ("CSwitch", "CSwitch"),
    ("ReadyThread", "ReadyThread"),
    ("ProcessCreate ThreadCreate", "ProcessThread"),
    ("SystemCallEnter", "SystemCall"),
    ("DiskReadInit DiskWriteInit DiskFlushInit", "DiskIOInit"),
    (
        "FileCreate FileCleanup FileClose FileRead FileWrite FileSetInformation FileQueryInformation \
         FileDirEnum FileFlush FileDelete FileRename FileFSCTL",
        "FileIOInit",
    ),
    ("MiniFilterPreOpInit MiniFilterPostOpInit", "FilterIOInit"),
    ("HardFault", "HardFaults"),
    (
        "PagefaultDemandZero PagefaultCopyOnWrite PagefaultHard",
        "AllFaults",
    ),
    ("VirtualAllocation VirtualFree", "VirtualAllocation"),
    ("HandleCreate HandleClose HandleDuplicate", "Handle"),
    ("ObjectCreate ObjectDelete", "Object"),
    ("MapFile UnMapFile", "VAMap"),
    ("PoolAllocation PoolFree", "Pool"),
    ("ThreadSetPriority ThreadSetBasePriority", "ThreadPriority"),
];

/// Hooks of stacks by the group in their high byte, and the keyword of the group.
const HOOKS: &[(&str, &str)] = &[("0x09", "Registry"), ("0x1A", "Alpc")];

/// Counters that `wpr -pmcsources` lists on a processor of Intel.
const COUNTERS: &str = "TotalIssues BranchInstructions CacheMisses BranchMispredictions TotalCycles \
    UnhaltedCoreCycles InstructionRetired UnhaltedReferenceCycles LLCReference LLCMisses";

/// Everything that is wrong with a file.
pub(crate) fn faults(root: &Element) -> Vec<String> {
    let mut found = Vec::new();
    nesting(root, &mut found);
    order(root, &mut found);
    identities(root, &mut found);
    for provider in root.all("SystemProvider") {
        system_provider(provider, &mut found);
    }
    for provider in root.all("EventProvider") {
        let masks = provider.values("Keyword");
        let is_mask = |text: &str| {
            text.strip_prefix("0x")
                .is_some_and(|hex| u64::from_str_radix(hex, 16).is_ok())
        };
        found.extend(
            masks
                .into_iter()
                .filter(|mask| !is_mask(mask))
                .map(|mask| format!("{mask} is no mask")),
        );
    }
    for counter in root.values("Counter") {
        if !words(COUNTERS, counter) {
            found.push(format!("counter {counter}"));
        }
    }
    buffers(root, &mut found);
    found
}

fn words(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

fn nesting(element: &Element, found: &mut Vec<String>) {
    let Some((_, attributes, children)) = ELEMENTS.iter().find(|(name, ..)| *name == element.name)
    else {
        return found.push(format!("no element is called {}", element.name));
    };
    for attribute in element
        .attributes
        .keys()
        .filter(|attribute| !words(attributes, attribute))
    {
        found.push(format!("{} has no attribute {attribute}", element.name));
    }
    for child in &element.children {
        if !words(children, &child.name) {
            found.push(format!(
                "{} does not belong into {}",
                child.name, element.name
            ));
        }
        nesting(child, found);
    }
}

/// Declarations have one order; wpr refuses any other with 0xc5580701.
fn order(root: &Element, found: &mut Vec<String>) {
    for element in [
        "Profiles",
        "SystemCollector",
        "EventCollector",
        "SystemProvider",
        "EventProvider",
        "SystemCollectorId",
    ] {
        let allowed = ELEMENTS
            .iter()
            .find(|(name, ..)| *name == element)
            .unwrap()
            .2;
        let place = |child: &Element| {
            allowed
                .split_whitespace()
                .position(|name| name == child.name)
        };
        for parent in root
            .all(element)
            .into_iter()
            .filter(|parent| !parent.children.is_sorted_by_key(place))
        {
            found.push(format!(
                "children of {element} {} are out of order",
                parent.get("Id")
            ));
        }
    }
}

/// Each id is declared once, every reference is declared, and every declaration is used.
fn identities(root: &Element, found: &mut Vec<String>) {
    for kind in [
        "SystemCollector",
        "EventCollector",
        "SystemProvider",
        "EventProvider",
        "HardwareCounter",
    ] {
        let declared: Vec<&str> = root
            .all(kind)
            .into_iter()
            .map(|element| element.get("Id"))
            .collect();
        let reference = format!("{kind}Id");
        let used = root.values(&reference);
        for (at, id) in declared.iter().enumerate() {
            if declared[..at].contains(id) {
                found.push(format!("{kind} {id} is declared twice"));
            }
            if !used.contains(id) {
                found.push(format!("{kind} {id} is never used"));
            }
        }
        let missing = used.into_iter().filter(|id| !declared.contains(id));
        found.extend(missing.map(|id| format!("{kind} {id} is not declared")));
    }
    for based in [
        "SystemCollector",
        "EventCollector",
        "SystemProvider",
        "EventProvider",
        "Profile",
    ] {
        let all = root.all(based);
        let lacks =
            |base: &&str| !base.is_empty() && !all.iter().any(|element| element.get("Id") == *base);
        found.extend(
            all.iter()
                .map(|element| element.get("Base"))
                .filter(lacks)
                .map(|id| format!("no base {id}")),
        );
    }
}

/// Keywords have known names, and every requested stack belongs to a recorded event.
fn system_provider(provider: &Element, found: &mut Vec<String>) {
    let id = provider.get("Id");
    let keywords = provider.values("Keyword");
    let unknown = keywords.iter().filter(|keyword| !words(KEYWORDS, keyword));
    found.extend(unknown.map(|keyword| format!("{id}: no keyword is called {keyword}")));
    for needed in ["ProcessThread", "Loader"] {
        if !keywords.contains(&needed) {
            found.push(format!("{id}: without {needed} nothing has a name"));
        }
    }
    let named = provider.values("Stack").into_iter();
    let named = named.map(|stack| (stack, STACKS.iter().find(|(names, _)| words(names, stack))));
    let hooks = provider.values("CustomStack").into_iter();
    let hooks = hooks.map(|stack| {
        (
            stack,
            HOOKS
                .iter()
                .find(|(group, _)| stack.len() == 6 && stack.starts_with(group)),
        )
    });
    for (stack, known) in named.chain(hooks) {
        match known {
            None => found.push(format!("{id}: no stack is called {stack}")),
            Some((_, keyword)) if !keywords.contains(keyword) => {
                found.push(format!(
                    "{id}: the stack {stack} needs the keyword {keyword}"
                ));
            }
            Some(_) => {}
        }
    }
}

/// Buffers hold the largest event (64 KB) and no more than wpr takes; a ring has a bound in
/// megabytes.
fn buffers(root: &Element, found: &mut Vec<String>) {
    for size in root.values("BufferSize") {
        if !size
            .parse()
            .is_ok_and(|kilobytes: u32| (64..=16_384).contains(&kilobytes))
        {
            found.push(format!("buffers of {size} KB"));
        }
    }
    for buffers in root.all("Buffers") {
        let value: u32 = buffers.get("Value").parse().unwrap_or_default();
        let is_share = buffers.get("PercentageOfTotalMemory") == "true";
        let is_bounded = buffers
            .get("MaximumBufferSpace")
            .parse()
            .is_ok_and(|megabytes: u32| megabytes > 0);
        if value == 0 || is_share && (value > 50 || !is_bounded) {
            found.push(format!("buffers {:?}", buffers.attributes));
        }
    }
}

#[test]
fn what_wpr_refuses_is_found() {
    let ours = etwkit_record::profiles::WPRP;
    assert_eq!(faults(&parse(ours)), [""; 0]);
    for (from, to, want) in [
        (
            "<Keyword Value=\"CSwitch\"/>",
            "<Keyword Value=\"ContextSwitch\"/>",
            "no keyword is called ContextSwitch",
        ),
        (
            "<Keyword Value=\"SystemCall\"/>",
            "",
            "needs the keyword SystemCall",
        ),
        (
            "<Stack Value=\"DiskReadInit\"/>",
            "<Stack Value=\"DiskReadStart\"/>",
            "no stack is called DiskReadStart",
        ),
        (
            "<CustomStack Value=\"0x090B\"/>",
            "<CustomStack Value=\"0x0A0B\"/>",
            "no stack is called 0x0A0B",
        ),
        (
            "Id=\"EP_dns\"",
            "Id=\"EP_names\"",
            "EventProvider EP_dns is not declared",
        ),
        (
            "<BufferSize Value=\"1024\"/>",
            "<BufferSize Value=\"16\"/>",
            "buffers of 16 KB",
        ),
        (
            "NonPagedMemory",
            "NonPaged",
            "EventProvider has no attribute NonPaged",
        ),
        (
            "<Profiles>",
            "<Profiles><Profile Id=\"x\"/>",
            "children of Profiles  are out of order",
        ),
        (
            "Value=\"LLCMisses\"",
            "Value=\"L3Misses\"",
            "counter L3Misses",
        ),
        ("Value=\"0x42000\"", "Value=\"Focus\"", "Focus is no mask"),
    ] {
        assert!(ours.contains(from), "{from}");
        let found = faults(&parse(&ours.replace(from, to)));
        assert!(
            found.iter().any(|fault| fault.contains(want)),
            "{want}: {found:?}"
        );
    }
}
