//! The SQL reference, `docs/sql.md`, written from the declarations of tables, functions and the
//! library.

use std::fmt::Write;

use etwkit_trace::table::{Column, ColumnKind, DERIVED, Table};
use etwkit_trace::topics::TABLES;

use crate::functions;
use crate::functions::Reference;
use crate::library::Query;
use crate::tables;

/// An exemplary question: its description and its SQL.
pub type Question = (&'static str, &'static str);

/// Questions that combine tables, functions and stacks.
pub const QUESTIONS: &[Question] = &[
    (
        "Which processes used the CPU, in milliseconds?",
        "SELECT p.name, p.pid, ms(c.cpu_ns) AS cpu_ms, c.cores
FROM cpu_process c JOIN process p USING (process_key)
ORDER BY cpu_ms DESC
LIMIT 10",
    ),
    (
        "For how long did processes other than explorer flush files, counting time once when flushes overlap?",
        "SELECT p.name, ms(union_duration(f.start_ns, f.end_ns)) AS flushing_ms, count(*) AS flushes
FROM file_io f JOIN process p USING (process_key)
WHERE f.kind = 'flush' AND NOT process_match(p.name, p.pid, 'explorer')
GROUP BY p.name
ORDER BY flushing_ms DESC",
    ),
    (
        "Which stacks used most CPU in a driver?",
        "WITH top AS (
    SELECT stack_id, sum(weight_ns) AS cpu_ns
    FROM cpu_sample
    WHERE NOT is_idle AND stack_contains(stack_id, '*.sys!*;*.sys+*')
    GROUP BY stack_id
    ORDER BY cpu_ns DESC
    LIMIT 5
)
SELECT ms(top.cpu_ns) AS cpu_ms, t.text
FROM top JOIN stack_text t USING (stack_id)
ORDER BY cpu_ms DESC",
    ),
    (
        "CPU of each method, counted once for each stack, in ten seconds of the trace:",
        "WITH by_stack AS (
    SELECT stack_id, sum(weight_ns) AS cpu_ns
    FROM cpu_sample
    WHERE NOT is_idle AND ts_ns BETWEEN 0 AND 10000000000
    GROUP BY stack_id
)
SELECT m.name, ms(sum(s.cpu_ns)) AS cpu_ms
FROM by_stack s
JOIN stack_frame f ON f.stack_id = s.stack_id AND f.first
JOIN frame USING (frame_id)
JOIN method m USING (method_id)
GROUP BY m.name
ORDER BY cpu_ms DESC
LIMIT 20",
    ),
    (
        "Who woke the threads of a process after waits of more than 10 ms?",
        "SELECT r.name AS readied_by, wait_reason_name(c.wait_reason) AS wait_reason, count(*) AS waits, ms(sum(c.wait_ns)) AS wait_ms
FROM context_switch c
JOIN process p ON p.process_key = c.process_key
LEFT JOIN thread t ON t.thread_key = c.readying_thread_key
LEFT JOIN process r ON r.process_key = t.process_key
WHERE c.wait_ns > 10000000 AND process_match(p.name, p.pid, 'cmd')
GROUP BY r.name, c.wait_reason
ORDER BY wait_ms DESC",
    ),
    (
        "When, on the clock of the machine, was a disk slower than 50 ms?",
        "SELECT local_time(t.start_filetime, t.time_zone_bias_minutes, d.init_ns) AS at, d.kind, d.path, ms(d.io_ns) AS io_ms, ms(d.service_ns) AS service_ms
FROM disk_io d CROSS JOIN trace t
WHERE d.io_ns > 50000000
ORDER BY d.init_ns",
    ),
];

/// Returns the page, in Markdown, with the questions of that library.
#[must_use]
pub fn page<'q>(library: impl Iterator<Item = &'q Query>) -> String {
    let mut page = String::from(INTRODUCTION);
    page.push_str("\n## Questions\n");
    for (title, sql) in QUESTIONS {
        // Writing into text does not fail, here and below.
        let _ = write!(page, "\n{title}\n\n```sql\n{sql}\n```\n");
    }
    page.push_str("\n## Functions\n");
    functions::references()
        .iter()
        .for_each(|function| write_function(&mut page, function));
    page.push_str(LIBRARY);
    library.for_each(|query| write_query(&mut page, query));
    page.push_str("\n## Tables of an extract\n");
    TABLES
        .iter()
        .for_each(|table| write_table(&mut page, table));
    page.push_str("\n## Tables that are computed from them\n");
    DERIVED
        .iter()
        .for_each(|table| write_table(&mut page, table));
    page.push_str("\n## Tables of the session\n");
    // `tables` lists the tables of the session after the others.
    tables()
        .skip(TABLES.len() + DERIVED.len())
        .for_each(|table| write_table(&mut page, table));
    page
}

const INTRODUCTION: &str = "\
# SQL reference

`etwkit sql EXTRACT SQL` answers questions about extracts. The SQL is that of [DataFusion](https://datafusion.apache.org), with the tables and
functions below. Only questions are answered (SELECT, WITH, VALUES, EXPLAIN, SHOW, DESCRIBE); nothing can be changed. `etwkit sql --show-schema`
prints the tables, with a name behind it one of them.

All times are nanoseconds since the start of the trace, in columns that end in `_ns`; sizes are bytes, in columns that end in `_bytes`. Addresses are
bit patterns of signed numbers: `hex(address)` writes them. A table that an extract does not hold is empty. Idle is not CPU: the process with
id 0 has only DPCs and interrupts in the computed tables, and its samples have `is_idle`.

Each table has a column `trace_id` in front, the number of the extract: 0 if there is only one. The table `extract` says
which number is which extract. Behind it stands `run_id`, a number made of the content of the trace: it is in the files of
an extract, too, so that it is the same in every session and in other programs, and distinguishes extracts as `trace_id` does
where no two of them are of one trace. Keys such as `process_key` or `stack_id` count anew in each extract, so with several of
them joins and groups need it: `JOIN process USING (trace_id, process_key)`, `GROUP BY trace_id, process_key`. A question
that would mix extracts is refused; joins on anything else, as on names, are not. The same extract cannot be named twice,
and extracts of one trace, as a full one and a summary, are noted: what is in both counts twice.

[sql-use.md](sql-use.md) says where SQL can come from, what parameters it has, what the engine does where others do
something else, and how other engines ask many extracts; [files.md](files.md) says how extracts are named.

Rows that go to a file or a pipe keep all characters; on a terminal controls are escaped. `--out FILE` writes CSV, JSON
lines, Parquet or Arrow by the ending of the file. What does not fit into memory goes to temporary files without a name, in
`ETWKIT_TMP` or the system's folder. The memory of a question (2 GiB, `--memory`) bounds functions, too: each
makes or reads texts of at most a 128th of it (16 MiB), and makes a 16th (128 MiB) for the rows of a batch, which has fewer
rows where they are wide. A function that cannot pause takes at most 400 million steps for a row: mostly the product of the
lengths of its two longest texts. `array_agg` and `string_agg` keep an eighth (256 MiB). More is an error that says
what would be made.
";

const LIBRARY: &str = "
## Library

`etwkit sql EXTRACT \"@NAME\"` asks a question that is asked often; `--param NAME=VALUE` sets its parameters. They are in
`crates/sql/library`, to be read and copied, and also work with several extracts; `--library FOLDER` adds questions of your own.

Questions below `@rules` are those that `etwkit diagnose` asks, one for each rule, with its thresholds as parameters: they find
the cause by hand. They are in `crates/analysis/rules` and ask one extract at a time; [diagnose.md](diagnose.md) says what their
rows mean.

";

fn write_function(page: &mut String, function: &Reference) {
    let Reference {
        call,
        returns,
        doc,
        example,
        answer,
        ..
    } = function;
    let _ = write!(
        page,
        "\n### `{call}` → {returns}\n\n{doc}\n\n```sql\n{example}\n-- {}\n```\n",
        answer.replace('|', " | ")
    );
}

fn write_query(page: &mut String, query: &Query) {
    let _ = writeln!(
        page,
        "* `@{}` {}.",
        query.name,
        query.doc().trim_end_matches('.')
    );
    for param in query.params() {
        let default = param
            .default
            .filter(|default| !default.is_empty())
            .unwrap_or("empty");
        let _ = writeln!(
            page,
            "  * `{}` ({}, {default} if not given): {}.",
            param.name, param.kind, param.doc
        );
    }
}

fn write_table(page: &mut String, table: &Table) {
    let _ = write!(
        page,
        "\n### {}\n\n{}\n\n",
        table.name,
        table.doc.trim().replace("\n ", "\n")
    );
    if !table.order.is_empty() {
        let _ = write!(
            page,
            "Rows are in the order of `{}`.\n\n",
            table.order.join("`, `")
        );
    }
    page.push_str("| column | type | unit | |\n|---|---|---|---|\n");
    for column in table.columns {
        let Column { name, unit, .. } = column;
        let _ = writeln!(
            page,
            "| `{name}` | {} | {unit} | {} |",
            type_text(column),
            cell(column.doc)
        );
    }
}

/// Returns the type of a column for people: `?` means that values may be missing.
#[must_use]
pub fn type_text(column: &Column) -> String {
    let kind = match column.kind {
        ColumnKind::Int32 => "Int32",
        ColumnKind::Int64 => "Int64",
        ColumnKind::Float64 => "Float64",
        ColumnKind::Boolean => "Boolean",
        ColumnKind::Text => "Utf8",
        ColumnKind::Binary => "Binary",
        ColumnKind::Timestamp => "Timestamp",
    };
    format!("{kind}{}", if column.nullable { "?" } else { "" })
}

fn cell(doc: &str) -> String {
    doc.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}
