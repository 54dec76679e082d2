//! Tables that a session adds to those of an extract.

use etwkit_trace::table::{Column, DERIVED, Kind, Process, Row, Table};
use etwkit_trace::topics::TABLES;

/// The extracts of the session.
pub(crate) static EXTRACT: Table = Table {
    name: "extract",
    doc: "The extracts of the session, in the order in which they were named.",
    order: &["trace_id"],
    columns: &[
        column(
            "trace_id",
            Kind::Int32,
            "key",
            "Number of the extract, from 0; each table has this column in front.",
        ),
        column("name", Kind::Text, "", "File name without `.etwx`."),
        column("path", Kind::Text, "", "Path, as it was named."),
    ],
};

/// What the traces recorded.
pub(crate) static TOPIC: Table = Table {
    name: "topic",
    doc: "A kind of information, and whether the trace recorded it: a table without rows is empty because \
          nothing happened only if its topic was recorded.",
    order: &[],
    columns: &[
        column("topic", Kind::Text, "", "What is recorded, as `etwkit info` names it."),
        column("is_recorded", Kind::Boolean, "", "Whether the trace has any of it."),
        nullable("events", Kind::Int64, "", "Events in the trace; null where that is not known."),
        column("rows", Kind::Int64, "", "Rows in the tables of the topic, as far as the extract keeps them."),
        column(
            "tables",
            Kind::Text,
            "",
            "Tables that the topic fills, with `;` between them; empty if it only adds columns to others.",
        ),
        nullable(
            "recorded_by",
            Kind::Text,
            "",
            "What records it: keywords of the kernel logger, or a provider; null if it was recorded.",
        ),
    ],
};

/// Processes with the names of their executables.
pub(crate) static PROCESS_RECORDED: Table = Table {
    name: "process_recorded",
    doc: "The table `process` with the names of executables, whatever `--rename-rules` calls processes.",
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
        column("stack_id", Kind::Int32, "key", "The stack."),
        column("frame_id", Kind::Int32, "key", "The frame."),
        column("depth", Kind::Int32, "", "0 for the innermost frame, 1 for its caller, and so on."),
        column(
            "first",
            Kind::Boolean,
            "",
            "Whether no frame further in is of the same method: a named one, else the code at one offset of a file, else an address. Counting \
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
        column("stack_id", Kind::Int32, "key", "The stack."),
        column(
            "text",
            Kind::Text,
            "",
            "A line for each frame, innermost first: `module!method`; `module+0x1a2b` without a name; `?!method` or `?!0x7ff812345678` \
             without a module. Where frames are left out, since there are more than 4,096 or their text is \
             longer than 1 MiB, the last line says so.",
        ),
    ],
};

const fn column(name: &'static str, kind: Kind, unit: &'static str, doc: &'static str) -> Column {
    Column { name, kind, nullable: false, unit, doc }
}

const fn nullable(name: &'static str, kind: Kind, unit: &'static str, doc: &'static str) -> Column {
    Column { name, kind, nullable: true, unit, doc }
}

/// All tables that can be named: those of an extract, those that are computed from them, those of the
/// session.
pub fn tables() -> impl Iterator<Item = &'static Table> {
    TABLES.iter().chain(DERIVED).copied().chain([
        &EXTRACT,
        &TOPIC,
        &PROCESS_RECORDED,
        &STACK_FRAME,
        &STACK_TEXT,
    ])
}
