//! The SQL that groups sums of waits.

use super::WaitBy;

/// The SQL of `--by`: joins, and the columns by which rows are grouped.
pub(super) struct Grouping {
    pub(super) join: &'static str,
    /// Expression and name of each key.
    pub(super) keys: &'static [(&'static str, &'static str)],
}

/// Columns of [`super::WaitSum`] that only some groupings fill, with their types.
const OPTIONAL: &[(&str, &str)] = &[
    ("thread_key", "INT"),
    ("tid", "INT"),
    ("module", "VARCHAR"),
    ("method", "VARCHAR"),
    ("tag_set", "VARCHAR"),
    ("tag", "VARCHAR"),
    ("wait_reason", "VARCHAR"),
    ("ended_by", "VARCHAR"),
    ("readying_pid", "INT"),
    ("readying_process", "VARCHAR"),
    ("readying_tid", "INT"),
];

const THREAD_OF_READYING: &str = "
LEFT JOIN thread rt ON rt.thread_key = w.readying_thread_key AND w.ended_by = 'thread'
LEFT JOIN process rp ON rp.process_key = rt.process_key";

impl Grouping {
    pub(super) const fn of(by: WaitBy) -> Self {
        match by {
            WaitBy::Process | WaitBy::Wait => Self {
                join: "",
                keys: &[],
            },
            WaitBy::Thread => Self {
                join: "\nLEFT JOIN thread t ON t.thread_key = w.thread_key",
                keys: &[("w.thread_key", "thread_key"), ("t.tid", "tid")],
            },
            WaitBy::Method => Self {
                join: "\nJOIN in_stack s ON s.stack_id = w.stack_id",
                keys: &[("s.module", "module"), ("s.method", "method")],
            },
            WaitBy::Module => Self {
                join: "\nJOIN in_stack s ON s.stack_id = w.stack_id",
                keys: &[("s.module", "module")],
            },
            WaitBy::Tag => Self {
                join: "",
                keys: &[("w.tag_set", "tag_set"), ("w.tag", "tag")],
            },
            WaitBy::Reason => Self {
                join: "",
                keys: &[("w.reason", "wait_reason")],
            },
            WaitBy::Readying => Self {
                join: THREAD_OF_READYING,
                keys: &[
                    ("w.ended_by", "ended_by"),
                    ("rp.pid", "readying_pid"),
                    ("rp.name", "readying_process"),
                ],
            },
            WaitBy::ReadyingThread => Self {
                join: THREAD_OF_READYING,
                keys: &[
                    ("w.ended_by", "ended_by"),
                    ("rp.pid", "readying_pid"),
                    ("rp.name", "readying_process"),
                    ("rt.tid", "readying_tid"),
                ],
            },
        }
    }

    /// Returns the selected columns, and the ones by which rows are grouped.
    pub(super) fn columns(&self) -> (String, String) {
        let select: Vec<String> = OPTIONAL
            .iter()
            .map(
                |(name, kind)| match self.keys.iter().find(|(_, key)| key == name) {
                    Some((expression, _)) => format!("{expression} AS {name}"),
                    // Columns of other groupings are null, so that all groupings have the same
                    // columns.
                    None => format!("CAST(NULL AS {kind}) AS {name}"),
                },
            )
            .collect();
        let group: String = self
            .keys
            .iter()
            .map(|(expression, _)| format!(", {expression}"))
            .collect();
        (select.join(", "), group)
    }
}

/// Methods in stacks, each once for a stack.
pub(super) const METHODS: &str = "in_stack AS (
  SELECT DISTINCT s.stack_id, coalesce(m.name, mm.name) AS module,
    coalesce(d.name, '+' || hex(CASE WHEN f.module_id IS NULL THEN f.address ELSE f.rva END)) AS method
  FROM stack_frame s
  JOIN frame f ON f.frame_id = s.frame_id
  LEFT JOIN module m ON m.module_id = f.module_id
  LEFT JOIN method d ON d.method_id = f.method_id
  LEFT JOIN module mm ON mm.module_id = d.module_id
  WHERE s.first AND s.stack_id IN (SELECT stack_id FROM wait)
)";

/// Modules in stacks, each once for a stack.
pub(super) const MODULES: &str = "in_stack AS (
  SELECT DISTINCT s.stack_id, coalesce(m.name, mm.name) AS module
  FROM stack_frame s
  JOIN frame f ON f.frame_id = s.frame_id
  LEFT JOIN module m ON m.module_id = f.module_id
  LEFT JOIN method d ON d.method_id = f.method_id
  LEFT JOIN module mm ON mm.module_id = d.module_id
  WHERE s.stack_id IN (SELECT stack_id FROM wait)
)";
