//! The first levels of a tree, as SQL.

use etwkit_sql::Session;
use etwkit_sql::literal::quoted;

use super::NO_PROCESS;
use crate::tables::process_label;
use crate::tags;
use crate::wire::{Direction, FlameRequest};

/// Common table expression that names frames: `text` is a frame's own text, `name` the text of the
/// first frame of its method.
const NAMED: &str = "frames AS (
  SELECT f.frame_id, m.name AS method,
    CASE WHEN m.name IS NOT NULL THEN concat(coalesce(c.name, h.name, '?'), '!', m.name)
      WHEN c.name IS NOT NULL THEN concat(c.name, '+', hex(coalesce(f.rva, 0)))
      ELSE concat('?!', hex(f.address)) END AS text,
    min(f.frame_id) OVER (PARTITION BY f.method_id, CASE WHEN f.method_id IS NULL THEN lower(c.path) END,
      CASE WHEN f.method_id IS NOT NULL THEN 0
        WHEN c.path IS NOT NULL THEN coalesce(f.rva, 0) ELSE f.address END) AS first_id
  FROM frame f LEFT JOIN method m ON m.method_id = f.method_id
    LEFT JOIN module c ON c.module_id = f.module_id
    LEFT JOIN module h ON h.module_id = m.module_id), named AS (
  SELECT f.frame_id, f.method, f.text, r.text AS name
  FROM frames f JOIN frames r ON r.frame_id = f.first_id)";

/// Returns SQL with a row for each node of the first level of frames, with its process and tag: the
/// sum of all rows is the root. Rows without a frame end above that level.
///
/// `leaves` has columns `stack_id`, `process_key`, `weight` and `rows`.
pub(super) fn first_levels(session: &Session, leaves: &str, request: &FlameRequest) -> String {
    let mut levels = Vec::new();
    if request.by_process {
        let label = process_label("p");
        levels.push(format!(
            "CASE WHEN p.pid IS NOT NULL THEN {label} ELSE {} END AS process",
            quoted(NO_PROCESS)
        ));
    }
    if request.by_tag {
        levels.push(format!(
            "{} AS tag",
            tags::expression(session, "l.stack_id")
        ));
    }
    levels.push("n.name AS frame".to_owned());
    let groups: Vec<String> = (1..=levels.len()).map(|level| level.to_string()).collect();
    let processes = " LEFT JOIN process p ON p.process_key = l.process_key";
    format!(
        "WITH leaf AS (
  {leaves}), {NAMED}{}
SELECT {}, sum(l.weight) AS weight, sum(l.rows) AS rows
FROM leaf l{}
  LEFT JOIN named n ON n.frame_id = s.frame_id{}
GROUP BY {}
ORDER BY weight DESC",
        begins(request),
        levels.join(", "),
        frames(request),
        if request.by_process { processes } else { "" },
        groups.join(", "),
    )
}

/// Returns the starts of stacks: for each stack, as `b`, the depth of the frame before the first
/// one.
fn begins(request: &FlameRequest) -> String {
    match (&request.focus, request.direction) {
        (None, Direction::BottomUp) => String::new(),
        // A stack has as many callers as there are frames before its outermost one.
        (None, Direction::TopDown) => {
            ", b AS (\n  SELECT stack_id, depth + 1 AS depth FROM stack)".to_owned()
        }
        (Some(focus), _) => format!(
            ", b AS (
  SELECT f.stack_id, max(f.depth) AS depth FROM stack_frame f JOIN named n ON n.frame_id = f.frame_id
  WHERE n.name IN (SELECT name FROM named WHERE text = {focus} OR method = {focus})
    AND f.stack_id IN (SELECT stack_id FROM leaf) GROUP BY f.stack_id)",
            focus = quoted(focus)
        ),
    }
}

/// Returns SQL for the first frame of each stack, as `s`.
fn frames(request: &FlameRequest) -> String {
    let side = match (&request.focus, request.direction) {
        (None, Direction::BottomUp) => {
            return " LEFT JOIN stack s ON s.stack_id = l.stack_id".to_owned();
        }
        (_, Direction::TopDown) => "b.depth - 1",
        (_, Direction::BottomUp) => "b.depth + 1",
    };
    // Stacks without the focus are not in the tree. Rows without a stack are in the tree of all
    // rows.
    let join = if request.focus.is_some() {
        "JOIN"
    } else {
        "LEFT JOIN"
    };
    format!(
        " {join} b ON b.stack_id = l.stack_id
  LEFT JOIN stack_frame s ON s.stack_id = b.stack_id AND s.depth = {side}"
    )
}
