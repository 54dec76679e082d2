//! Tables that a session adds to the tables of an extract.

use etwkit_trace::table::{
    Column, ColumnKind, DERIVED, ExtractInfo, Process, RUN_ID, Row, Table, TopicInfo,
};
use etwkit_trace::topics::TABLES;

/// Columns of [`EXTRACT`] that only a session knows, before the columns that each extract has.
const OF_SESSION: [Column; 4] = [
    column(
        "trace_id",
        ColumnKind::Int32,
        "key",
        "Number of the extract, from 0; each table has this column in front.",
    ),
    RUN_ID,
    column("name", ColumnKind::Text, "", "File name without `.etwx`."),
    column("path", ColumnKind::Text, "", "Path, as it was named."),
];

#[expect(
    clippy::indexing_slicing,
    reason = "done when this is compiled: what is outside does not compile"
)]
// Combined here, so that a new column of the table in files is also a column in the session.
static OF_EXTRACT: [Column; OF_SESSION.len() + ExtractInfo::TABLE.columns.len()] = {
    let mut all = [RUN_ID; OF_SESSION.len() + ExtractInfo::TABLE.columns.len()];
    let mut at = 0;
    while at < all.len() {
        let own = OF_SESSION.len();
        let of_extract = ExtractInfo::TABLE.columns;
        all[at] = if at < own {
            OF_SESSION[at]
        } else {
            of_extract[at - own]
        };
        at += 1;
    }
    all
};

/// The extracts of the session.
pub(crate) static EXTRACT: Table = Table {
    name: ExtractInfo::TABLE.name,
    doc: "The extracts of the session, in the order in which they were named: the name of each in this session, \
          its trace, when and where the trace was recorded, and the program that made it. The file of the table \
          has `run_id` and the columns from `computer` on.",
    order: &["trace_id"],
    columns: &OF_EXTRACT,
};

/// Processes with the names of their executables.
pub(crate) static PROCESS_RECORDED: Table = Table {
    name: "process_recorded",
    doc: "The table `process` with the names of executables: `--rename-rules` does not change them.",
    order: Process::TABLE.order,
    columns: Process::TABLE.columns,
};

/// The frames of stacks.
pub(crate) static STACK_FRAME: Table = Table {
    name: "stack_frame",
    doc: "A frame of a stack. It is computed while it is read: choose stacks by `stack_id` (or join with few), since all stacks together can \
          have very many frames. Of a stack the 4,096 innermost frames are there: no stack that Windows \
          recorded has more.",
    order: &[],
    columns: &[
        column("stack_id", ColumnKind::Int32, "key", "The stack."),
        column("frame_id", ColumnKind::Int32, "key", "The frame."),
        column(
            "depth",
            ColumnKind::Int32,
            "",
            "0 for the innermost frame, 1 for its caller, and so on.",
        ),
        column(
            "first",
            ColumnKind::Boolean,
            "",
            "Whether no frame further in is of the same method: a named one, otherwise the code at one offset of a file, otherwise an address. Counting \
             only these counts a method once for each stack.",
        ),
    ],
};

/// The texts of stacks.
pub(crate) static STACK_TEXT: Table = Table {
    name: "stack_text",
    doc: "A stack as text. It is computed while it is read: choose stacks by `stack_id`.",
    order: &[],
    columns: &[
        column("stack_id", ColumnKind::Int32, "key", "The stack."),
        column(
            "text",
            ColumnKind::Text,
            "",
            "A line for each frame, innermost first: `module!method`; `module+0x1a2b` without a name; `?!method` or `?!0x7ff812345678` \
             without a module. Where frames are left out, since there are more than 4,096 or their text is \
             longer than 1 MiB, the last line says so.",
        ),
    ],
};

const fn column(
    name: &'static str,
    kind: ColumnKind,
    unit: &'static str,
    doc: &'static str,
) -> Column {
    Column {
        name,
        kind,
        nullable: false,
        unit,
        doc,
    }
}

/// Returns all tables that can be named: tables of an extract, tables computed from them, and
/// tables of the session.
pub fn tables() -> impl Iterator<Item = &'static Table> {
    TABLES.iter().chain(DERIVED).copied().chain([
        &EXTRACT,
        TopicInfo::TABLE,
        &PROCESS_RECORDED,
        &STACK_FRAME,
        &STACK_TEXT,
    ])
}
