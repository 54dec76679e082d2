//! Conditions on rows, and the `WHERE` that they make.

use std::fmt;

use crate::range::Range;
use etwkit_sql::filter::split;
use etwkit_sql::literal::quoted;

/// Conditions that rows have to meet, all of them. They are written as a `WHERE` on a line of its
/// own, or as nothing if there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conditions(Vec<String>);

impl Conditions {
    /// Creates a list without conditions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a list with a condition.
    #[must_use]
    pub fn of(condition: &str) -> Self {
        Self(vec![condition.to_owned()])
    }

    /// Returns `true` if all rows meet them.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the condition that all are met; empty if there are none.
    #[must_use]
    pub fn joined(&self) -> String {
        self.0.join(" AND ")
    }

    /// Adds conditions, if there are any.
    #[must_use]
    pub fn and(mut self, more: impl IntoIterator<Item = String>) -> Self {
        self.0.extend(more);
        self
    }

    /// Adds a condition if an option asks for it.
    #[must_use]
    pub fn when(self, is_asked: bool, condition: &str) -> Self {
        self.and(is_asked.then(|| condition.to_owned()))
    }

    /// Adds the condition that a `process` of this name passes a filter on names and ids.
    #[must_use]
    pub fn process(self, process: &str, filter: Option<&str>) -> Self {
        let fits = |filter| {
            let filter = quoted(filter);
            format!("process_match({process}.name, {process}.pid, {filter})")
        };
        self.and(filter.map(fits))
    }

    /// Adds the condition that a text passes a filter.
    #[must_use]
    pub fn text(self, column: &str, filter: Option<&str>) -> Self {
        self.and(text_condition(column, filter))
    }

    /// Adds the condition that one of several texts passes a filter: a positive part has to match
    /// one of them, and no excluding part may match any.
    #[must_use]
    pub fn any_text(self, columns: &[&str], filter: Option<&str>) -> Self {
        self.and(any_text_condition(columns, filter))
    }

    /// Adds the condition that a text is this word.
    #[must_use]
    pub fn word(self, column: &str, word: Option<&str>) -> Self {
        self.and(word.map(|word| format!("{column} = {}", quoted(word))))
    }

    /// Adds the condition that a number has this value.
    #[must_use]
    pub fn number(self, column: &str, value: Option<impl fmt::Display>) -> Self {
        self.and(value.map(|value| format!("{column} = {value}")))
    }

    /// Adds the condition that a stack passes a filter: a positive part has to match one of its
    /// frames, and no excluding part may match any.
    #[must_use]
    pub fn stack(self, stack: &str, filter: Option<&str>) -> Self {
        self.and(stack_condition(stack, filter))
    }

    /// Adds the condition that an NTSTATUS passes a filter.
    #[must_use]
    pub fn status(self, column: &str, filter: Option<&str>) -> Self {
        self.and(filter.and_then(|filter| status_condition(column, filter)))
    }

    /// Adds the condition that a number is in a range; a missing number is 0.
    #[must_use]
    pub fn range(self, expression: &str, range: Range) -> Self {
        self.and(range_condition(expression, range))
    }

    /// Adds the condition of each of these ranges; see [`Self::range`].
    #[must_use]
    pub fn ranges<'c>(self, ranges: impl IntoIterator<Item = (&'c str, Range)>) -> Self {
        let add = |all: Self, (expression, range)| all.range(expression, range);
        ranges.into_iter().fold(self, add)
    }

    /// Adds the conditions that a number is known and in a range; none for no limit.
    // A missing number is not 0 here, unlike in `range`: an unknown value does not match `..5`.
    #[must_use]
    pub fn known(self, expression: &str, range: Range) -> Self {
        let is_known = format!("{expression} IS NOT NULL");
        self.when(!range.is_unlimited(), &is_known)
            .range(expression, range)
    }

    /// Adds the condition that a time is in a range of the trace.
    #[must_use]
    pub fn time(self, moment: &str, time: Range) -> Self {
        let (from, to) = ends(time);
        let is_in = format!("{moment} BETWEEN {from} AND {to}");
        self.when(!time.is_unlimited(), &is_in)
    }

    /// Adds the condition that an interval from `start` to `end` overlaps a range of the trace.
    #[must_use]
    pub fn overlap(self, start: &str, end: &str, time: Range) -> Self {
        let (from, to) = ends(time);
        let overlaps = format!("{start} <= {to} AND {end} >= {from}");
        self.when(!time.is_unlimited(), &overlaps)
    }
}

impl IntoIterator for Conditions {
    type Item = String;
    type IntoIter = std::vec::IntoIter<String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return Ok(());
        }
        write!(f, "\nWHERE {}", self.0.join("\n  AND "))
    }
}

/// Returns the condition that a text passes a filter.
#[must_use]
pub fn text_condition(column: &str, filter: Option<&str>) -> Option<String> {
    filter.map(|filter| format!("wildcard_match({column}, {})", quoted(filter)))
}

/// Returns the condition that one of several texts passes a filter: a positive part has to match
/// one of them, and no excluding part may match any.
pub(super) fn any_text_condition(columns: &[&str], filter: Option<&str>) -> Option<String> {
    let (positive, negative) = split(filter?);
    let each = |filter: &String, word: &str| {
        let all: Vec<String> = columns
            .iter()
            .filter_map(|column| text_condition(column, Some(filter)))
            .collect();
        format!("({})", all.join(word))
    };
    both([
        positive.as_ref().map(|f| each(f, " OR ")),
        negative.as_ref().map(|f| each(f, " AND ")),
    ])
}

/// Returns the condition that the positive and the excluding parts of a filter make.
fn both(parts: [Option<String>; 2]) -> Option<String> {
    let all: Vec<String> = parts.into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(" AND "))
}

/// Returns the condition that a stack passes a filter: a positive part has to match one of its
/// frames, and no excluding part may match any.
fn stack_condition(stack: &str, filter: Option<&str>) -> Option<String> {
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
    both([
        positive.map(|f| contains(&f)),
        negative.map(|f| format!("NOT {}", contains(&f))),
    ])
}

/// Returns the condition that a number is in a range; a missing number is 0.
fn range_condition(expression: &str, range: Range) -> Option<String> {
    let value = format!("coalesce({expression}, 0)");
    match (range.min, range.max) {
        (i64::MIN, i64::MAX) => None,
        (min, i64::MAX) => Some(format!("{value} >= {min}")),
        (i64::MIN, max) => Some(format!("{value} <= {max}")),
        (min, max) => Some(format!("{value} BETWEEN {min} AND {max}")),
    }
}

/// Returns the condition that an NTSTATUS passes a filter: numbers (`0`, `0xc0000022`), names with
/// or without `STATUS_` and with wildcards, `failed` for errors and warnings.
fn status_condition(column: &str, filter: &str) -> Option<String> {
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
    both([
        positive.map(|parts| format!("({})", any(&parts))),
        negative.map(|parts| format!("NOT ({})", any(&parts))),
    ])
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
    fn conditions_become_a_clause() {
        assert_eq!(Conditions::new().to_string(), "");
        let range = Range {
            min: 1,
            max: i64::MAX,
        };
        let all = Conditions::of("a")
            .when(false, "b")
            .number("c", Some(3))
            .word("d", None)
            .known("e", range)
            .time("f", Range::default());
        assert_eq!(
            all.to_string(),
            "\nWHERE a\n  AND c = 3\n  AND e IS NOT NULL\n  AND coalesce(e, 0) >= 1"
        );
    }

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
