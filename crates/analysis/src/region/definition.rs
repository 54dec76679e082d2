//! Definitions in a file of regions.

use std::hash::{Hash, Hasher};

use etwkit_base::index::{Idx, IndexVec};
use etwkit_sql::xml::Warnings;
use regex::{Regex, RegexBuilder};

/// The regions of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// Parents before their children.
    pub(super) regions: IndexVec<Region>,
    /// Events with which regions start and end.
    pub(super) events: IndexVec<EventPattern>,
    /// Regions in the order of their GUIDs.
    pub(super) by_guid: Vec<Idx<Region>>,
    /// What could not be followed in the file.
    pub(super) warnings: Warnings,
}

/// A region.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Region {
    pub(super) guid: String,
    pub(super) name: String,
    pub(super) friendly_name: Option<String>,
    /// The region around it.
    pub(super) parent: Option<Idx<Self>>,
    /// Start and end; a region without them contains its children.
    pub(super) ends: Option<(Endpoint, Endpoint)>,
    /// The values that start and end must share.
    pub(super) of_events: Same,
    /// The values that an instance must share with its parent.
    pub(super) of_parent: Same,
    /// The values that an instance must share with a surrounding instance of the same region to
    /// become its child; `None` if regions do not nest in themselves.
    pub(super) self_nest: Option<Same>,
    pub(super) filters: Vec<Filter>,
    pub(super) naming: Option<Naming>,
    pub(super) metadata: Vec<(String, String)>,
    /// Its position in the file.
    pub(super) at: usize,
}

/// The start or the end of a region.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Endpoint {
    /// At an event.
    Event(Idx<EventPattern>),
    /// At the start or end of each instance of the region with that GUID.
    Region(String, Side),
    /// At the distance from the other end that a field of an event has.
    Duration {
        event: Idx<EventPattern>,
        field: String,
        /// Nanoseconds in one unit of the field.
        nanoseconds: f64,
    },
}

/// Start or end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Start,
    Stop,
}

/// An event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct EventPattern {
    /// GUID in lower case, without braces.
    pub(super) provider: String,
    pub(super) id: Option<i32>,
    pub(super) version: Option<i32>,
    pub(super) opcode: Option<i32>,
    /// Name, for events without an id.
    pub(super) name: Option<String>,
    /// What its fields must be.
    pub(super) payload: Vec<Condition>,
}

/// A condition on a field.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Condition {
    pub(super) field: String,
    pub(super) test: Test,
    /// True if a value must not pass the test; a field that is missing passes none.
    pub(super) is_not: bool,
}

/// A test of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Test {
    /// It is this text or number.
    Equals(String),
    /// It contains this text.
    Contains(String),
    /// Some part of it fits a regular expression.
    Fits(Expression),
}

/// A regular expression. Its time grows with the text alone, whatever the expression is.
#[derive(Debug, Clone)]
pub(super) struct Expression(Regex);

/// Bytes that an expression may need when it is compiled.
// One MiB is far more than any expression of a person needs, and small enough that hundreds of them
// fit into memory.
const MAX_EXPRESSION: usize = 1 << 20;

impl Expression {
    /// Compiles an expression; the error says why it cannot be.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let expression = RegexBuilder::new(text)
            .size_limit(MAX_EXPRESSION)
            .dfa_size_limit(MAX_EXPRESSION)
            .build();
        expression.map(Self).map_err(|error| match error {
            regex::Error::CompiledTooBig(most) => format!("it needs more than {most} bytes"),
            // The last line has the reason; those before it show the place.
            other => {
                let text = other.to_string();
                text.lines()
                    .last()
                    .unwrap_or("")
                    .trim_start_matches("error: ")
                    .to_owned()
            }
        })
    }

    pub(super) fn fits(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    pub(super) fn text(&self) -> &str {
        self.0.as_str()
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Expression {}

impl Hash for Expression {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text().hash(state);
    }
}

/// The values that two ends share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Same {
    pub(super) thread: bool,
    pub(super) process: bool,
    pub(super) activity: bool,
    /// Pairs of fields, one of each end, whose values must be equal.
    pub(super) fields: Vec<(String, String)>,
}

/// A condition under which instances count.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filter {
    /// True if instances for which the condition holds are kept; otherwise they are left out.
    pub(super) keeps: bool,
    pub(super) when: When,
    pub(super) trigger: Trigger,
}

/// The position of the trigger relative to an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Anywhere in the trace.
    Anywhere,
    /// Some trigger ends before the instance starts.
    Before,
    /// The first trigger comes after the end of the instance.
    After,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Trigger {
    Event(Idx<EventPattern>),
    Region(String),
}

/// The source of the names of instances.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Naming {
    /// A field of the event at the start or end.
    Field {
        name: String,
        /// The side of the event; if missing, the start is tried first, then the end.
        side: Option<Side>,
        /// True if the field is a process id, which is replaced with the name of the process.
        is_pid: bool,
    },
    /// One of two names, depending on whether the trace has an instance of that region.
    Region {
        guid: String,
        present: String,
        absent: String,
    },
}

impl Manifest {
    /// The region with a GUID.
    pub(super) fn place(&self, guid: &str) -> Option<Idx<Region>> {
        let guid_of = |place: &Idx<Region>| self.regions[*place].guid.as_str();
        let found = self.by_guid.binary_search_by_key(&guid, guid_of).ok()?;
        self.by_guid.get(found).copied()
    }

    /// What could not be followed in the file.
    #[must_use]
    pub const fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// Providers of its events.
    #[must_use]
    pub fn providers(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self
            .events
            .iter()
            .map(|event| event.provider.as_str())
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
