//! Pieces of SQL that several dumps use.

use crate::range::Range;
use crate::zero::ZeroTime;
use crate::{Among, option};
use etwkit_sql::filter::split;
use etwkit_sql::literal::quoted;

/// Value of a text column that a kind of rows lacks.
pub const NO_TEXT: &str = "CAST(NULL AS VARCHAR)";

/// Value of a number column that a kind of rows lacks: a key, an id, a number of an enumeration.
pub const NO_NUMBER: &str = "CAST(NULL AS INT)";

/// Command lines of processes.
const COMMAND_LINES: Among = Among::Texts(
    "command line",
    "command lines",
    "SELECT command_line AS text FROM process",
);

declare! {
    /// Filters on processes.
    #[derive(Eq)]
    pub request ProcessQuery {
        /// Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
        /// excludes)
        process: Option<String> = option("NAMES").of(Among::Processes),
        /// Only processes with this command line (*, ?, several with ;, ! excludes)
        command_line: Option<String> = option("TEXT").called("cmdline").of(COMMAND_LINES),
        /// Only processes that 0: neither started nor ended, 1: started, -1: ended, 2: started and
        /// did not end, -2: ended and did not start in the trace
        new_process: Option<i8> = option("N").called("new-process").between(-2, 2),
        /// Only processes of these terminal sessions
        session: Option<String> = option("NUMBERS"),
        /// Only processes of these users, by security id
        user: Option<String> = option("SIDS"),
    }
}

impl ProcessQuery {
    /// Returns conditions on a `process` named `p`.
    #[must_use]
    pub fn conditions(&self) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(filter) = &self.process {
            all.push(format!("process_match(p.name, p.pid, {})", quoted(filter)));
        }
        all.extend(text_condition(
            "p.command_line",
            self.command_line.as_deref(),
        ));
        all.extend(text_condition(
            "CAST(p.session_id AS VARCHAR)",
            self.session.as_deref(),
        ));
        all.extend(text_condition("p.sid", self.user.as_deref()));
        all.extend(self.new_process.map(|new| {
            let condition = match new {
                // Rows whose process is not known also lack both times, but are not processes that
                // ran throughout.
                0 => "p.start_ns IS NULL AND p.stop_ns IS NULL AND p.process_key IS NOT NULL",
                1 => "p.start_ns IS NOT NULL",
                2 => "p.start_ns IS NOT NULL AND p.stop_ns IS NULL",
                -2 => "p.stop_ns IS NOT NULL AND p.start_ns IS NULL",
                _ => "p.stop_ns IS NOT NULL",
            };
            condition.to_owned()
        }));
        all
    }
}

/// Returns [`PROCESS_COLUMNS`] with moved times.
#[must_use]
pub fn process_columns_from(zero: &ZeroTime) -> String {
    format!(
        "p.pid, p.name AS process, p.command_line, p.session_id, {} AS process_start_ns, {} AS process_stop_ns",
        zero.moved("p.start_ns"),
        zero.moved("p.stop_ns")
    )
}

/// The columns of a `process` named `p` that rows of other dumps carry.
pub const PROCESS_COLUMNS: &str = "p.pid, p.name AS process, p.command_line, p.session_id, \
     p.start_ns AS process_start_ns, p.stop_ns AS process_stop_ns";

/// Joins path and versions of the executable of a `process` named `p`, as `v`. The process may have
/// another name.
// Grouped by process, since two modules can have the name of the executable and would double the
// row.
pub const EXECUTABLES: &str = "
LEFT JOIN (
  SELECT m.process_key, max(m.path) AS path, max(m.file_version) AS file_version, max(m.product_name) AS product_name,
    max(m.company) AS company, max(m.product_version) AS product_version, max(m.description) AS description
  FROM module m JOIN process_recorded r ON r.process_key = m.process_key AND lower(r.name) = lower(m.name)
  GROUP BY m.process_key
) v ON v.process_key = p.process_key";

/// The text that a filter on executables is compared with.
pub const EXECUTABLE_TEXT: &str =
    "concat_ws(', ', v.path, v.file_version, v.product_name, v.company)";

/// Returns the process columns for rows of the table named `table`; they are null if rows are not
/// grouped by process.
#[must_use]
pub fn process_columns(table: &str, per_process: bool) -> String {
    if per_process {
        return format!("{table}.process_key, {PROCESS_COLUMNS}");
    }
    "CAST(NULL AS INT) AS process_key, CAST(NULL AS INT) AS pid, CAST(NULL AS VARCHAR) AS process, \
     CAST(NULL AS VARCHAR) AS command_line, CAST(NULL AS INT) AS session_id, \
     CAST(NULL AS BIGINT) AS process_start_ns, CAST(NULL AS BIGINT) AS process_stop_ns"
        .to_owned()
}

/// Returns the condition that a text passes a filter.
#[must_use]
pub fn text_condition(column: &str, filter: Option<&str>) -> Option<String> {
    filter.map(|filter| format!("wildcard_match({column}, {})", quoted(filter)))
}

/// Returns the condition that one of several texts passes a filter: a positive part has to match
/// one of them, and no excluding part may match any.
#[must_use]
pub fn any_text_condition(columns: &[&str], filter: Option<&str>) -> Option<String> {
    let (positive, negative) = split(filter?);
    let each = |filter: &String, word: &str| {
        let all: Vec<String> = columns
            .iter()
            .filter_map(|column| text_condition(column, Some(filter)))
            .collect();
        format!("({})", all.join(word))
    };
    let conditions = [
        positive.as_ref().map(|f| each(f, " OR ")),
        negative.as_ref().map(|f| each(f, " AND ")),
    ];
    Some(
        conditions
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" AND "),
    )
    .filter(|all| !all.is_empty())
}

/// Returns the condition that a stack passes a filter: a positive part has to match one of its
/// frames, and no excluding part may match any.
#[must_use]
pub fn stack_condition(stack: &str, filter: Option<&str>) -> Option<String> {
    let (positive, negative) = split(filter?);
    let contains = |filter: &str| {
        format!(
            "coalesce(stack_contains({stack}, {}), FALSE)",
            quoted(filter)
        )
    };
    // Only the mark of exclusion is removed: within a pattern `!` separates module and method.
    let unmarked = |filter: String| {
        filter
            .split(';')
            .map(|part| part.trim_start_matches('!'))
            .collect::<Vec<_>>()
            .join(";")
    };
    let negative = negative.map(unmarked);
    let conditions = [
        positive.map(|f| contains(&f)),
        negative.map(|f| format!("NOT {}", contains(&f))),
    ];
    Some(
        conditions
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" AND "),
    )
    .filter(|all| !all.is_empty())
}

/// Returns the column `stack` with the frames of a stack, innermost first, and the join that it
/// needs; no text unless `wanted`.
#[must_use]
pub fn stack_text(stack: &str, name: &str, wanted: bool) -> (String, String) {
    if !wanted {
        return (format!("{NO_TEXT} AS {name}"), String::new());
    }
    (
        format!("{name}_text.text AS {name}"),
        format!("\nLEFT JOIN stack_text {name}_text ON {name}_text.stack_id = {stack}"),
    )
}

/// Returns the condition that a number is known and in a range; empty for no limit.
// A missing number is not 0 here, unlike in `range_condition`: an unknown value does not match
// `..5`.
#[must_use]
pub fn known_condition(expression: &str, range: Range) -> Vec<String> {
    let within = range_condition(expression, range);
    within
        .into_iter()
        .flat_map(|within| [format!("{expression} IS NOT NULL"), within])
        .collect()
}

/// Returns the condition that a time is in a range of the trace; `None` for the whole trace.
#[must_use]
pub fn time_condition(moment: &str, time: Range) -> Option<String> {
    let (from, to) = ends(time);
    (!time.is_unlimited()).then(|| format!("{moment} BETWEEN {from} AND {to}"))
}

/// Returns the condition that an interval from `start` to `end` overlaps a range of the trace;
/// `None` for the whole trace.
#[must_use]
pub fn overlap_condition(start: &str, end: &str, time: Range) -> Option<String> {
    let (from, to) = ends(time);
    (!time.is_unlimited()).then(|| format!("{start} <= {to} AND {end} >= {from}"))
}

/// Returns the thread of a row of the table named `table`, as `t`; null if rows are not grouped by
/// thread.
#[must_use]
pub fn thread_columns(table: &str, per_thread: bool) -> String {
    if per_thread {
        return format!("{table}.thread_key, t.tid");
    }
    "CAST(NULL AS INT) AS thread_key, CAST(NULL AS INT) AS tid".to_owned()
}

/// Returns the condition that a number is in a range; a missing number is 0.
#[must_use]
pub fn range_condition(expression: &str, range: Range) -> Option<String> {
    let value = format!("coalesce({expression}, 0)");
    match (range.min, range.max) {
        (i64::MIN, i64::MAX) => None,
        (min, i64::MAX) => Some(format!("{value} >= {min}")),
        (i64::MIN, max) => Some(format!("{value} <= {max}")),
        (min, max) => Some(format!("{value} BETWEEN {min} AND {max}")),
    }
}

/// Returns `WHERE` with all conditions; empty if there are none.
#[must_use]
pub fn filtered(conditions: &[String]) -> String {
    if conditions.is_empty() {
        String::new()
    } else {
        format!("\nWHERE {}", conditions.join("\n  AND "))
    }
}

/// Returns the condition that an NTSTATUS passes a filter: numbers (`0`, `0xc0000022`), names with
/// or without `STATUS_` and with wildcards, `failed` for errors and warnings.
#[must_use]
pub fn status_condition(column: &str, filter: &str) -> Option<String> {
    let one = |part: &str| {
        let part = part.trim_start_matches('!');
        if part.eq_ignore_ascii_case("failed") {
            return format!("{column} < 0");
        }
        // Tables have an NTSTATUS as a signed number; people write its bits: as hexadecimal digits
        // or as an unsigned number.
        let digits = part.strip_prefix("0x").or_else(|| part.strip_prefix("0X"));
        let number = match digits {
            Some(digits) => u32::from_str_radix(digits, 16).ok().map(u32::cast_signed),
            None => part.parse::<i64>().ok().and_then(|n| {
                i32::try_from(n)
                    .ok()
                    .or_else(|| u32::try_from(n).ok().map(u32::cast_signed))
            }),
        };
        let name = part
            .get(7..)
            .filter(|_| part.to_ascii_uppercase().starts_with("STATUS_"))
            .unwrap_or(part);
        number.map_or_else(
            || format!("wildcard_match(ntstatus_name({column}), {})", quoted(name)),
            |number| format!("{column} = {number}"),
        )
    };
    let (positive, negative) = split(filter);
    let any = |parts: &str| parts.split(';').map(one).collect::<Vec<_>>().join(" OR ");
    let conditions = [
        positive.map(|parts| format!("({})", any(&parts))),
        negative.map(|parts| format!("NOT ({})", any(&parts))),
    ];
    Some(
        conditions
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" AND "),
    )
    .filter(|all| !all.is_empty())
    .map(|all| format!("{column} IS NOT NULL AND {all}"))
}

/// Returns the ends of a time range as SQL numbers. The largest ones are kept small enough for
/// additions.
#[must_use]
pub fn ends(range: Range) -> (i64, i64) {
    const LIMIT: i64 = i64::MAX / 4;
    (
        range.min.clamp(-LIMIT, LIMIT),
        range.max.clamp(-LIMIT, LIMIT),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_excludes_may_match_none_of_several_texts() {
        assert_eq!(
            any_text_condition(&["a", "b"], Some("x;!y;z")).as_deref(),
            Some(
                "(wildcard_match(a, 'x;z') OR wildcard_match(b, 'x;z')) AND (wildcard_match(a, '!y') AND wildcard_match(b, '!y'))"
            )
        );
        assert_eq!(
            stack_condition("s", Some("!y")).as_deref(),
            Some("NOT coalesce(stack_contains(s, 'y'), FALSE)")
        );
        // The mark between module and method is part of the name.
        assert_eq!(
            stack_condition("s", Some("!a.dll!Run")).as_deref(),
            Some("NOT coalesce(stack_contains(s, 'a.dll!Run'), FALSE)")
        );
        assert_eq!(
            (
                any_text_condition(&["a"], Some(";")),
                stack_condition("s", None)
            ),
            (None, None)
        );
    }

    #[test]
    fn filters_become_conditions() {
        let query = ProcessQuery {
            process: Some("cmd;!7".into()),
            session: Some("1".into()),
            new_process: Some(2),
            ..ProcessQuery::default()
        };
        assert_eq!(
            query.conditions(),
            [
                "process_match(p.name, p.pid, 'cmd;!7')",
                "wildcard_match(CAST(p.session_id AS VARCHAR), '1')",
                "p.start_ns IS NOT NULL AND p.stop_ns IS NULL",
            ]
        );
        assert_eq!(filtered(&[]), "");
    }

    #[test]
    fn ranges_become_conditions() {
        for (min, max, condition) in [
            (i64::MIN, i64::MAX, None),
            (5, i64::MAX, Some("coalesce(x, 0) >= 5")),
            (i64::MIN, 5, Some("coalesce(x, 0) <= 5")),
            (-1, 5, Some("coalesce(x, 0) BETWEEN -1 AND 5")),
        ] {
            assert_eq!(
                range_condition("x", Range { min, max }).as_deref(),
                condition
            );
        }
    }

    #[test]
    fn results_are_numbers_names_or_failures() {
        for (filter, condition) in [
            ("0", "s.status IS NOT NULL AND (s.status = 0)"),
            ("!0", "s.status IS NOT NULL AND NOT (s.status = 0)"),
            (
                "0xC0000022;258",
                "s.status IS NOT NULL AND (s.status = -1073741790 OR s.status = 258)",
            ),
            (
                "3221225506",
                "s.status IS NOT NULL AND (s.status = -1073741790)",
            ),
            (
                "failed;!STATUS_NO_*",
                "s.status IS NOT NULL AND (s.status < 0) AND NOT (wildcard_match(ntstatus_name(s.status), 'NO_*'))",
            ),
        ] {
            assert_eq!(
                status_condition("s.status", filter).as_deref(),
                Some(condition),
                "{filter}"
            );
        }
        assert_eq!(status_condition("s", ";"), None);
    }
}
