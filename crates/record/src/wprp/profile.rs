//! What a profile records, with all that it inherits.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use etwkit_trace::xml::{Warnings, clipped};

use super::tree::{Element, File};
use super::{misspelled, schema};
use crate::profiles;

/// Definitions that one is derived from, one after the other.
const MAX_BASES: usize = 16;

/// Bytes of definitions that all profiles of a file use together. A definition counts for each profile
/// that uses it, so a small file could name any number of them.
const MAX_USED: usize = 64 << 20;

/// Definitions whose names are compared with well-known ones: each takes as long as reading thousands of others.
const MOST_NAMES: usize = 1000;

/// Ids that an error lists.
const MOST_IDS: usize = 20;

/// What a profile records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileContent {
    /// Name of the profile.
    pub name: String,
    /// Its id.
    pub id: String,
    /// `Light` or `Verbose`.
    pub detail: String,
    /// `File` or `Memory`.
    pub mode: String,
    /// Its description.
    pub description: String,
    /// True if the file marks it as the default one.
    pub is_default: bool,
    /// Profiles and providers of wpr itself that it uses: their events are not in the file.
    pub built_in: BTreeSet<String>,
    /// Keywords of the kernel.
    pub kernel: BTreeSet<String>,
    /// Events of the kernel with stacks.
    pub stacks: BTreeSet<String>,
    /// Providers by name or GUID.
    pub providers: BTreeMap<String, Provider>,
    /// Counters of the processor.
    pub counters: BTreeSet<String>,
    /// True if it has the last branches.
    pub branches: bool,
    /// True if it has heaps of processes.
    pub heaps: bool,
    /// References to definitions that are neither in the file nor in wpr. The first one also lists what
    /// the file has.
    pub broken: Vec<String>,
}

/// How a provider is recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Provider {
    /// Its keywords; 0 is all of them.
    pub keywords: u64,
    /// Its level; none is all.
    pub level: Option<u8>,
    /// True if its events have stacks.
    pub stacks: bool,
    /// True if it is not enabled and only describes its state, when the recording starts or ends.
    pub state_only: bool,
}

impl Provider {
    /// Adds a second use of the provider: two collectors may have it.
    fn add(&mut self, other: Self) {
        if self.state_only != other.state_only {
            // What is enabled has more events than a state.
            if self.state_only {
                *self = other;
            }
            return;
        }
        // No keyword is all of them.
        let is_all = self.keywords == 0 || other.keywords == 0;
        self.keywords = if is_all {
            0
        } else {
            self.keywords | other.keywords
        };
        // No level is all of them, and so is 0.
        self.level = match (self.level, other.level) {
            (Some(one), Some(two)) if one != 0 && two != 0 => Some(one.max(two)),
            _ => None,
        };
        self.stacks |= other.stacks;
    }
}

/// Definitions by kind and id.
struct Definitions<'e> {
    all: HashMap<(String, String), &'e Element>,
    /// Lists of ids for errors, by kind.
    ids: HashMap<&'static str, String>,
}

/// Kinds of definitions.
const KINDS: &[&str] = &[
    "SystemCollector",
    "EventCollector",
    "HeapEventCollector",
    "SystemProvider",
    "EventProvider",
    "HeapEventProvider",
    "HardwareCounter",
    "Profile",
];

/// Lists of the keywords with which a provider describes its state.
const STATES: &[&str] = &[
    "CaptureStateOnStart",
    "CaptureStateOnSave",
    "CaptureStateOnDemand",
];

/// The collectors of a profile, and the elements of it and its bases that configure each.
type Collectors<'e> = BTreeMap<(String, String), Vec<&'e Element>>;

/// Reads all profiles of a file.
pub(super) fn all(
    file: &File<'_>,
    document: &Element,
    warnings: &mut Warnings,
) -> Vec<ProfileContent> {
    let mut lists = Vec::new();
    find(document, &mut lists);
    let mut definitions = Definitions {
        all: HashMap::new(),
        ids: HashMap::new(),
    };
    for element in lists.iter().flat_map(|list| &list.children) {
        let Some(kind) = KINDS.iter().find(|kind| element.is(kind)) else {
            continue;
        };
        let Some(id) = element.get("Id") else {
            file.warn(
                warnings,
                element.at,
                format!("<{kind}> has no Id: nothing can name it"),
            );
            continue;
        };
        if id.contains([' ', ':']) {
            let text = format!(
                "the Id {:?} has a blank or a colon, which wpr does not accept",
                clipped(id)
            );
            file.warn(warnings, element.at, text);
        }
        let key = (kind.to_lowercase(), id.to_lowercase());
        if definitions.all.insert(key, element).is_some() {
            let text = format!(
                "a second <{kind}> with the Id {:?}: the last one is used",
                clipped(id)
            );
            file.warn(warnings, element.at, text);
        }
    }
    for kind in KINDS {
        let ids = definitions.list(kind);
        definitions.ids.insert(*kind, ids);
    }
    let mut profiles = Vec::new();
    let mut seen = BTreeSet::new();
    let mut read = BTreeSet::new();
    let mut left = MAX_USED;
    for element in lists.iter().flat_map(|list| list.all("Profile")) {
        let mut reader = Reader {
            file,
            warnings,
            definitions: &definitions,
            read: &mut read,
            left: &mut left,
        };
        let Some(found) = reader.profile(element) else {
            break;
        };
        let key = [&found.name, &found.detail, &found.mode].map(|text| text.to_lowercase());
        if !seen.insert(key) {
            let text = format!(
                "a second profile {}.{}.{}: wpr takes one of them",
                clipped(&found.name),
                found.detail,
                found.mode
            );
            file.warn(warnings, element.at, text);
        }
        profiles.push(found);
    }
    let mut reader = Reader {
        file,
        warnings,
        definitions: &definitions,
        read: &mut read,
        left: &mut left,
    };
    reader.unused();
    profiles
}

/// Finds the lists of definitions, whatever lies around them.
fn find<'e>(element: &'e Element, lists: &mut Vec<&'e Element>) {
    for child in &element.children {
        if child.is("Profiles") {
            lists.push(child);
        } else {
            find(child, lists);
        }
    }
}

struct Reader<'r, 'f, 'e> {
    file: &'r File<'f>,
    warnings: &'r mut Warnings,
    definitions: &'r Definitions<'e>,
    /// Bytes at which the definitions start that a profile uses.
    read: &'r mut BTreeSet<usize>,
    /// Bytes of definitions that may still be used.
    left: &'r mut usize,
}

impl<'e> Reader<'_, '_, 'e> {
    fn warn(&mut self, at: usize, text: impl Into<String>) {
        self.file.warn(self.warnings, at, text);
    }

    fn definition(&self, kind: &str, id: &str) -> Option<&'e Element> {
        let key = (kind.to_lowercase(), id.to_lowercase());
        self.definitions.all.get(&key).copied()
    }

    /// A definition and what it is derived from, the outermost base first. Nothing if the profiles of
    /// the file use too much.
    fn chain(&mut self, kind: &str, element: &'e Element) -> (Vec<&'e Element>, Option<String>) {
        let mut chain = vec![element];
        let mut outside = None;
        let mut last = element;
        while let Some(base) = last.get("Base") {
            let Some(next) = self.definition(kind, base) else {
                outside = Some(base.to_owned());
                break;
            };
            if chain.len() >= MAX_BASES || chain.iter().any(|known| std::ptr::eq(*known, next)) {
                let base = clipped(base);
                self.warn(
                    last.at,
                    format!("Base {base:?} leads in a circle, or too far: left out"),
                );
                break;
            }
            chain.push(next);
            last = next;
        }
        self.read.extend(chain.iter().map(|element| element.at));
        let weight: usize = chain.iter().map(|element| element.weight).sum();
        let Some(left) = self.left.checked_sub(weight) else {
            *self.left = 0;
            let most = MAX_USED >> 20;
            let text = format!("left out: the profiles use more than {most} MiB of definitions");
            self.warn(element.at, text);
            return (Vec::new(), None);
        };
        *self.left = left;
        chain.reverse();
        (chain, outside)
    }

    /// Checks the providers that no profile uses.
    fn unused(&mut self) {
        let mut providers: Vec<&'e Element> = self.definitions.all.values().copied().collect();
        providers.sort_by_key(|element| element.at);
        // What they would record is not part of any profile.
        let mut nothing = ProfileContent::default();
        for element in providers {
            if self.read.contains(&element.at) {
                continue;
            }
            if element.is("SystemProvider") {
                self.kernel(element, &mut nothing);
            } else if element.is("EventProvider") {
                self.event_provider(element, &mut nothing);
            }
        }
    }

    /// Notes a reference of a profile to a definition that does not exist.
    fn broken(&mut self, at: usize, kind: &str, text: String, found: &mut ProfileContent) {
        let ids = self.definitions.ids.get(kind);
        let listed = ids.filter(|_| found.broken.is_empty());
        let more = listed.map_or_else(String::new, |ids| format!("; the file has: {ids}"));
        found.broken.push(format!("{text}{more}"));
        self.warn(at, text);
    }

    /// Reads a profile; `None` if those before it use all that may be used.
    fn profile(&mut self, element: &'e Element) -> Option<ProfileContent> {
        let (chain, outside) = self.chain("Profile", element);
        if chain.is_empty() {
            return None;
        }
        // What a profile does not say its base says.
        let get = |name: &str| {
            let value = chain.iter().rev().find_map(|profile| profile.get(name));
            value.unwrap_or("").to_owned()
        };
        let mut found = ProfileContent {
            name: get("Name"),
            id: element.get("Id").unwrap_or("").to_owned(),
            detail: get("DetailLevel"),
            mode: get("LoggingMode"),
            description: get("Description"),
            is_default: element.get("Default").is_some_and(schema::is_yes),
            ..ProfileContent::default()
        };
        let expected = format!("{}.{}.{}", found.name, found.detail, found.mode);
        // Profiles that others are derived from, and nobody starts, have any id.
        let is_internal = element.get("Internal").is_some_and(schema::is_yes);
        if !is_internal && !found.id.eq_ignore_ascii_case(&expected) {
            let text = format!(
                "the Id {:?} is not Name.DetailLevel.LoggingMode, {:?}: wpr may refuse the profile",
                clipped(&found.id),
                clipped(&expected)
            );
            self.warn(element.at, text);
        }
        if let Some(base) = outside {
            if profiles::built_in(&base).is_some() {
                found.built_in.insert(base);
            } else {
                let text = format!(
                    "Base {:?} is not in the file, nor one of wpr",
                    clipped(&base)
                );
                self.broken(element.at, "Profile", text, &mut found);
            }
        }
        let mut collectors = Collectors::new();
        for profile in chain {
            for list in profile.all("Collectors") {
                self.collectors(list, &mut collectors);
            }
        }
        for ((kind, _), parts) in collectors {
            self.collector(&kind, &parts, &mut found);
        }
        self.check_stacks(element, &found);
        if found.is_empty() {
            self.warn(
                element.at,
                format!("the profile {:?} records nothing", clipped(&found.name)),
            );
        }
        Some(found)
    }

    fn collectors(&mut self, list: &'e Element, collectors: &mut Collectors<'e>) {
        let operation = self.operation(list);
        if operation == Operation::Set {
            collectors.clear();
        }
        for part in &list.children {
            let name = part.name.to_lowercase();
            let kind = name.strip_suffix("id").unwrap_or(&name);
            let Some(kind) = KINDS.iter().find(|known| known.eq_ignore_ascii_case(kind)) else {
                continue;
            };
            let id = id_of(part);
            let key = ((*kind).to_owned(), id.to_lowercase());
            if operation == Operation::Remove {
                collectors.remove(&key);
                continue;
            }
            let is_known = || self.definition(kind, id).is_some() || schema::is_own_collector(id);
            if name.ends_with("id") && !is_known() {
                let text = format!(
                    "there is no <{kind}> with the Id {:?} in the file: it has to be one of wpr",
                    clipped(id)
                );
                self.warn(part.at, text);
            }
            collectors.entry(key).or_default().push(part);
        }
    }

    fn collector(&mut self, kind: &str, parts: &[&'e Element], found: &mut ProfileContent) {
        match kind {
            "SystemCollector" => {
                for part in parts {
                    self.system(part, found);
                }
            }
            "EventCollector" => {
                let mut providers: Vec<(&'e Element, String)> = Vec::new();
                for list in parts.iter().flat_map(|part| part.all("EventProviders")) {
                    self.event_providers(list, &mut providers, found);
                }
                for (provider, _) in providers {
                    self.event_provider(provider, found);
                }
            }
            _ => found.heaps = true,
        }
    }

    fn system(&mut self, part: &'e Element, found: &mut ProfileContent) {
        for child in &part.children {
            let name = child.name.to_lowercase();
            let kind = name.strip_suffix("id").unwrap_or(&name);
            let kinds = ["SystemProvider", "HardwareCounter"];
            let Some(kind) = kinds
                .into_iter()
                .find(|known| known.eq_ignore_ascii_case(kind))
            else {
                continue;
            };
            // A definition can stand in the place of a reference to one.
            let id = child.get("Value").filter(|_| name.ends_with("id"));
            let named = id.map(|id| self.definition(kind, id));
            let element = match named {
                Some(Some(element)) => element,
                Some(None) if id.is_some_and(schema::is_own_provider) => {
                    found.built_in.extend(id.map(str::to_owned));
                    continue;
                }
                Some(None) => {
                    let id = clipped(id.unwrap_or(""));
                    let text = format!("there is no <{kind}> with the Id {id:?} in the file");
                    self.broken(child.at, kind, text, found);
                    continue;
                }
                None => child,
            };
            let (chain, outside) = self.chain(kind, element);
            self.outside(kind, element, outside);
            // A reference can add keywords to what it names.
            let more = Some(child).filter(|child| !std::ptr::eq(*child, element));
            let parts = chain.into_iter().chain(more);
            if kind == "SystemProvider" {
                // A list replaces that of a base of its provider. Providers of one collector add up.
                let mut own = ProfileContent::default();
                for part in parts {
                    self.kernel(part, &mut own);
                }
                found.kernel.append(&mut own.kernel);
                found.stacks.append(&mut own.stacks);
                continue;
            }
            for part in parts {
                let counters = part.values("Counters", "Counter");
                let sampled = part.values("SampledCounters", "SampledCounter");
                let names = counters.chain(sampled).map(|(name, _)| name.to_owned());
                found.counters.extend(names);
                found.branches |= part.all("LastBranch").next().is_some();
            }
        }
    }

    fn kernel(&mut self, part: &'e Element, found: &mut ProfileContent) {
        for list in part.all("Keywords") {
            let operation = self.operation(list);
            if operation == Operation::Set {
                found.kernel.clear();
            }
            for element in list.children.iter().filter(|e| e.get("Value").is_some()) {
                let name = element.get("Value").unwrap_or("");
                let known = schema::keyword(name);
                if known.is_none() && element.is("Keyword") {
                    let text = format!("{:?} is not a keyword that wpr knows", clipped(name));
                    self.warn(element.at, text);
                    continue;
                }
                let name = known.unwrap_or(name).to_owned();
                if operation == Operation::Remove {
                    found.kernel.remove(&name);
                } else {
                    found.kernel.insert(name);
                }
            }
        }
        for list in part.all("Stacks") {
            let operation = self.operation(list);
            if operation == Operation::Set {
                found.stacks.clear();
            }
            for name in list.children.iter().filter_map(|e| e.get("Value")) {
                if operation == Operation::Remove {
                    found.stacks.remove(name);
                } else {
                    found.stacks.insert(name.to_owned());
                }
            }
        }
    }

    fn event_providers(
        &mut self,
        list: &'e Element,
        providers: &mut Vec<(&'e Element, String)>,
        found: &mut ProfileContent,
    ) {
        let operation = self.operation(list);
        if operation == Operation::Set {
            providers.clear();
        }
        if operation == Operation::Remove {
            let ids = list
                .children
                .iter()
                .map(|child| id_of(child).to_lowercase());
            let removed: HashSet<String> = ids.collect();
            providers.retain(|(_, known)| !removed.contains(known));
            return;
        }
        for child in &list.children {
            let id = id_of(child);
            let key = id.to_lowercase();
            if child.is("EventProvider") {
                providers.push((child, key));
            } else if child.is("EventProviderId") {
                match self.definition("EventProvider", id) {
                    Some(element) => providers.push((element, key)),
                    None if schema::is_own_provider(id) => {
                        found.built_in.insert(id.to_owned());
                    }
                    None => {
                        let id = clipped(id);
                        let text = format!("there is no <EventProvider> with the Id {id:?}");
                        self.broken(child.at, "EventProvider", text, found);
                    }
                }
            }
        }
    }

    fn event_provider(&mut self, element: &'e Element, found: &mut ProfileContent) {
        // Once for each provider, however many profiles use it.
        let checks_name = self.read.len() < MOST_NAMES && !self.read.contains(&element.at);
        let (chain, outside) = self.chain("EventProvider", element);
        if chain.is_empty() {
            return;
        }
        self.outside("EventProvider", element, outside);
        let get = |name: &str| chain.iter().rev().find_map(|part| part.get(name));
        let Some(name) = get("Name") else {
            return self.warn(
                element.at,
                "<EventProvider> has no Name: it records nothing",
            );
        };
        if checks_name && let Some(meant) = misspelled::meant(name) {
            let text = format!(
                "the provider {:?} is not well known: did you mean {meant}?",
                clipped(name)
            );
            self.warn(element.at, text);
        }
        let level = get("Level")
            .and_then(schema::number)
            .and_then(|level| u8::try_from(level).ok());
        let stacks = get("Stack").is_some_and(schema::is_yes);
        let state_only = get("CaptureStateOnly").is_some_and(schema::is_yes);
        let lists: &[&str] = if state_only { STATES } else { &["Keywords"] };
        let mut keywords = 0;
        for list in lists {
            keywords |= self.mask(&chain, list);
        }
        let provider = Provider {
            keywords,
            level,
            stacks,
            state_only,
        };
        found
            .providers
            .entry(plain(name))
            .and_modify(|known| known.add(provider))
            .or_insert(provider);
    }

    /// Reads the keywords of the lists with this name in a provider and its bases.
    fn mask(&mut self, chain: &[&'e Element], name: &str) -> u64 {
        let mut mask = 0;
        for list in chain.iter().flat_map(|part| part.all(name)) {
            let operation = self.operation(list);
            if operation == Operation::Set {
                mask = 0;
            }
            for keyword in list.all("Keyword") {
                let text = keyword.get("Value").unwrap_or("");
                match schema::number(text) {
                    Some(bits) if operation == Operation::Remove => mask &= !bits,
                    Some(bits) => mask |= bits,
                    None => {
                        let text = format!("{:?} is not a mask like 0x10", clipped(text));
                        self.warn(keyword.at, text);
                    }
                }
            }
        }
        mask
    }

    fn outside(&mut self, kind: &str, element: &Element, outside: Option<String>) {
        if let Some(base) = outside {
            let text = format!(
                "Base {:?} of <{kind}> is not in the file: its content is not known here",
                clipped(&base)
            );
            self.warn(element.at, text);
        }
    }

    fn check_stacks(&mut self, element: &Element, found: &ProfileContent) {
        for stack in &found.stacks {
            if let Some(keyword) = schema::keyword_of_stack(stack)
                && !found.kernel.contains(keyword)
                && found.built_in.is_empty()
            {
                let text = format!(
                    "{}: the stack {} is never taken, since the keyword {keyword} is not recorded",
                    clipped(&found.id),
                    clipped(stack)
                );
                self.warn(element.at, text);
            }
        }
    }

    fn operation(&mut self, list: &Element) -> Operation {
        match list.get("Operation").map(str::to_lowercase).as_deref() {
            None | Some("set") => Operation::Set,
            Some("add") => Operation::Add,
            Some("remove") => Operation::Remove,
            Some(other) => {
                let text = format!(
                    "Operation is Set, Add or Remove, and here {:?}: Set is used",
                    clipped(other)
                );
                self.warn(list.at, text);
                Operation::Set
            }
        }
    }
}

/// What happens with a list that is inherited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Set,
    Add,
    Remove,
}

impl Definitions<'_> {
    /// Lists the ids of the definitions of a kind, for errors.
    fn list(&self, kind: &str) -> String {
        let of_kind = self.all.values().filter(|element| element.is(kind));
        let mut ids: Vec<&str> = of_kind.filter_map(|element| element.get("Id")).collect();
        if ids.is_empty() {
            return "none".to_owned();
        }
        ids.sort_unstable();
        let shown: Vec<_> = ids.into_iter().take(MOST_IDS).map(clipped).collect();
        shown.join(", ")
    }
}

impl ProfileContent {
    /// Returns `true` if wpr takes it for this name: `NAME`, `NAME.DETAIL` or its id.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let detailed = format!("{}.{}", self.name, self.detail);
        [&self.name, &detailed, &self.id]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Returns the reason why wpr refuses it; `None` if it can be recorded.
    pub(super) fn refusal(&self) -> Option<String> {
        let broken = self.broken.first().cloned();
        broken.or_else(|| self.is_empty().then(|| "it records nothing".to_owned()))
    }

    /// Returns `true` if it records nothing.
    pub(super) fn is_empty(&self) -> bool {
        let lists = [&self.kernel, &self.counters, &self.built_in];
        lists.iter().all(|list| list.is_empty())
            && self.providers.is_empty()
            && !self.branches
            && !self.heaps
    }
}

/// The id that an element has or refers to.
fn id_of(element: &Element) -> &str {
    let id = element.get("Value").or_else(|| element.get("Id"));
    id.unwrap_or("")
}

/// A name, or a GUID in lower case without braces.
fn plain(name: &str) -> String {
    let bare = name.trim_start_matches('{').trim_end_matches('}');
    let is_guid = bare.len() == 36 && bare.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
    if is_guid {
        bare.to_lowercase()
    } else {
        name.to_owned()
    }
}
