//! What a file of regions defines, as it is read.

/// The regions of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// Parents before their children.
    pub(super) regions: Vec<Region>,
    /// Events that regions begin and end with.
    pub(super) events: Vec<EventPattern>,
}

/// A region.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Region {
    pub(super) guid: String,
    pub(super) name: String,
    pub(super) friendly_name: Option<String>,
    /// Place of the region around it.
    pub(super) parent: Option<usize>,
    /// Begin and end; a region without them contains its children.
    pub(super) ends: Option<(Endpoint, Endpoint)>,
    /// What begin and end have in common.
    pub(super) of_events: Same,
    /// What a region has in common with the one around it.
    pub(super) of_parent: Same,
    /// What a region has in common with one of its own kind that it lies in, if that makes it a child of it.
    pub(super) self_nest: Option<Same>,
    pub(super) filters: Vec<Filter>,
    pub(super) naming: Option<Naming>,
    pub(super) metadata: Vec<(String, String)>,
    /// Where it is defined.
    pub(super) at: usize,
}

/// Where a region begins or ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Endpoint {
    /// At an event.
    Event(usize),
    /// At the begin or end of each region of that GUID.
    Region(String, Side),
    /// As long before or after the other end as a field of an event says.
    Duration {
        event: usize,
        field: String,
        /// Nanoseconds of one of its units.
        nanoseconds: f64,
    },
}

/// Begin or end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Start,
    Stop,
}

/// An event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct EventPattern {
    /// GUID in lower case, without braces.
    pub(super) provider: String,
    pub(super) id: Option<i32>,
    pub(super) version: Option<i32>,
    pub(super) opcode: Option<i32>,
    /// Of events without an id.
    pub(super) name: Option<String>,
    /// Field, value, and whether it has to be equal; else it may not be contained.
    pub(super) payload: Vec<(String, String, bool)>,
}

/// What two ends have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Same {
    pub(super) thread: bool,
    pub(super) process: bool,
    pub(super) activity: bool,
    /// Fields of both.
    pub(super) fields: Vec<(String, String)>,
}

/// When instances count.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filter {
    /// Instances that the condition holds for are kept; else they are left out.
    pub(super) keeps: bool,
    pub(super) when: When,
    pub(super) trigger: Trigger,
}

/// Where the trigger lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Anywhere in the trace.
    Anywhere,
    /// One of them in front of the instance.
    Before,
    /// The first one of them behind the instance.
    After,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Trigger {
    Event(usize),
    Region(String),
}

/// What instances are called.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Naming {
    /// After a field of the begin or end.
    Field {
        name: String,
        /// Begin first, then end, if missing.
        side: Option<Side>,
        /// It is a process id: the name of the process.
        is_pid: bool,
    },
    /// After whether there is such a region.
    Region { guid: String, present: String, absent: String },
}

impl Manifest {
    /// Place of the region of a GUID.
    pub(super) fn place(&self, guid: &str) -> Option<usize> {
        self.regions.iter().position(|region| region.guid == guid)
    }

    /// Providers that its events are of.
    #[must_use]
    pub fn providers(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.events.iter().map(|event| event.provider.as_str()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
