//! Truth about the registry, and about handles and objects.

use std::collections::BTreeMap;

use serde::Serialize;

/// Operations of the registry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Registry {
    /// By process id and operation: `open_key`, `query_value` and so on.
    pub by_process: BTreeMap<String, BTreeMap<String, RegistrySums>>,
    /// By path of the key, as the kernel names it.
    pub by_key: BTreeMap<String, RegistrySums>,
}

/// Sums over operations of the registry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RegistrySums {
    /// Number of operations.
    pub count: u64,
    /// Operations that ended with an error.
    pub failed: u64,
    /// From their start to their end.
    pub duration_ns: i64,
}

/// Handles and objects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Handles {
    /// By id of the process that has them.
    pub by_process: BTreeMap<String, HandleSums>,
    /// By type of their objects.
    pub by_type: BTreeMap<String, HandleSums>,
    /// Objects of the handles.
    pub objects: Objects,
}

/// Sums over handles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct HandleSums {
    /// Handles that were opened.
    pub opened: u64,
    /// Handles that a process got from another one.
    pub duplicated: u64,
    /// Handles that were closed.
    pub closed: u64,
    /// Closed handles that were open before the trace.
    pub closed_of_earlier: u64,
    /// From opening to closing, of the handles that were opened and closed in the trace.
    pub lifetime_ns: i64,
    /// Handles that are open when the trace ends.
    pub open_at_end: u64,
}

/// Sums over objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Objects {
    /// Objects that were created in the trace.
    pub created: u64,
    /// Objects that were deleted in the trace.
    pub deleted: u64,
    /// Deleted objects that existed before the trace.
    pub deleted_of_earlier: u64,
    /// From creation to deletion, of the objects that were created and deleted in the trace.
    pub lifetime_ns: i64,
    /// Objects that exist when the trace ends, as far as handles to them were seen.
    pub live_at_end: u64,
}
