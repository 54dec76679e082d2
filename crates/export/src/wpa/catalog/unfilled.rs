//! Columns of Windows Performance Analyzer that are known by title and GUID, and that nothing in an
//! extract fills: a profile which shows one of them gets its name and the reason.

/// A column that cannot be filled.
#[derive(Debug)]
pub struct Unfilled {
    /// Its title, without a unit.
    pub name: &'static str,
    /// GUID of the column in profiles, in lower case.
    pub guid: &'static str,
    /// The reason why nothing fills it.
    pub why: &'static str,
}

/// Creates a column that cannot be filled.
pub(crate) const fn unfilled(
    name: &'static str,
    guid: &'static str,
    why: &'static str,
) -> Unfilled {
    Unfilled { name, guid, why }
}

/// Such columns that every graph may have, unless it fills them.
pub static EVERYWHERE: &[Unfilled] = &[
    unfilled(
        "Annotation",
        "2818954f-2d30-5569-4510-dade0a5a605c",
        "users of Windows Performance Analyzer write annotations there; no trace has them",
    ),
    unfilled(
        "Thread Activity Tag",
        "82ddfdff-ee93-5f35-08ac-4705069618dc",
        "users of Windows Performance Analyzer name these tags there; no trace has them",
    ),
    unfilled(
        "Table",
        "ce84d427-a0a7-58d9-0fde-e8d2e84770bc",
        "Windows Performance Analyzer numbers its own tables with it",
    ),
    unfilled(
        "Trace #",
        "6a67fd39-b79b-54c3-d192-12ded31c68b1",
        "Windows Performance Analyzer numbers the traces of a comparison with it; each trace has files of its own here",
    ),
    unfilled(
        "Thread Name",
        "cb796d44-2927-5ac1-d231-4b71904c18f5",
        "rows of this graph belong to no single thread",
    ),
];
