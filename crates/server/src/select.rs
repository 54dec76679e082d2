//! Translation of selections to SQL conditions. Names of columns come from declarations, never from
//! requests. Values become literals.

use etwkit_sql::Session;
use etwkit_sql::literal::quoted;
use etwkit_trace::table::{ColumnKind, Table};

use crate::cells::{self, whole};
use crate::problem::{Problem, Result};
use crate::tables;
use crate::tags;
use crate::times::{self, Times};
use crate::wire::{Cell, Chip, ColumnFilter, Field, Range, Selection};

/// Largest number of chips in a selection or of filters, and of values in each.
const MOST: usize = 1_000;

/// A selection, resolved for a table.
#[derive(Debug)]
pub(crate) struct Selected {
    /// Conditions that all hold.
    conditions: Vec<String>,
    /// The part of the trace, if rows of the table have a position in time.
    pub(crate) range: Option<Range>,
    /// The position of the table's rows in time.
    pub(crate) times: Times,
    /// Chips that could not be applied.
    pub(crate) not_applied: Vec<Field>,
    /// Other parts of the selection that could not be applied.
    pub(crate) notes: Vec<String>,
}

/// Escapes a text for `LIKE`, with `ESCAPE '\'`, so that it matches literally.
pub(crate) fn like(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for letter in value.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    quoted(&format!("%{escaped}%"))
}

fn too_many() -> Problem {
    Problem::bad(format!(
        "a selection has at most {MOST} chips, and a chip as many values"
    ))
}

/// Resolves a selection for the table that is called `t`.
pub(crate) fn select(
    session: &Session,
    table: &'static Table,
    selection: &Selection,
) -> Result<Selected> {
    if selection.chips.len() > MOST || selection.chips.iter().any(|chip| chip.values.len() > MOST) {
        return Err(too_many());
    }
    let times = times::of(table).of_trace(session)?;
    // Two layers: a part may be chosen, and rows of the table may have a position in time.
    let within = selection.range.map(|range| times.within(range));
    let mut selected = Selected {
        conditions: Vec::new(),
        range: selection.range.filter(|_| times != Times::Nowhere),
        times,
        not_applied: Vec::new(),
        notes: Vec::new(),
    };
    match within {
        Some(Some(condition)) => selected.conditions.push(condition),
        Some(None) => selected.notes.push(format!(
            "rows of {} are of the whole trace: the selected part of it is not applied",
            table.name
        )),
        None => {}
    }
    for chip in &selection.chips {
        match condition(session, table, chip)? {
            Some(one) => selected.and_unless(chip.exclude, one),
            None if selected.not_applied.contains(&chip.field) => {}
            None => selected.not_applied.push(chip.field),
        }
    }
    Ok(selected)
}

impl Selected {
    /// Adds a condition.
    pub(crate) fn and(&mut self, condition: impl Into<String>) {
        self.conditions.push(condition.into());
    }

    /// Adds a condition, or its opposite.
    fn and_unless(&mut self, exclude: bool, condition: String) {
        // A comparison with a missing value is neither true nor false, and its opposite isn't
        // either: rows without a process would vanish when one process is left out.
        self.and(if exclude {
            format!("NOT coalesce({condition}, false)")
        } else {
            condition
        });
    }

    /// Adds conditions on columns of the table.
    pub(crate) fn and_filters(
        &mut self,
        table: &'static Table,
        filters: &[ColumnFilter],
    ) -> Result<()> {
        if filters.len() > MOST || filters.iter().any(|filter| filter.values.len() > MOST) {
            return Err(too_many());
        }
        for filter in filters {
            let column = tables::column(table, &filter.column)?;
            let declared = column.declared().ok_or_else(|| {
                Problem::bad(format!("rows cannot be filtered by {:?}", filter.column))
            })?;
            let what = format!("t.{}", declared.name);
            self.and_unless(
                filter.exclude,
                one_of(&what, declared.kind, &filter.values)?,
            );
        }
        Ok(())
    }

    /// Returns ` WHERE …`; empty if all rows count.
    pub(crate) fn sql(&self) -> String {
        if self.conditions.is_empty() {
            return String::new();
        }
        format!(" WHERE ({})", self.conditions.join(") AND ("))
    }
}

/// Returns the condition of a chip; `None` if the table has no column to compare.
fn condition(session: &Session, table: &'static Table, chip: &Chip) -> Result<Option<String>> {
    let has = |name: &str| table.column(name).is_some();
    let values = &chip.values;
    Ok(match chip.field {
        Field::Process => of_processes(table, &keys(values)?),
        Field::ProcessName => of_processes(table, &processes(session, values)?),
        Field::Thread if has("thread_key") => Some(is_in("t.thread_key", &numbers(values)?)),
        Field::Core if has("cpu") => Some(is_in("t.cpu", &numbers(values)?)),
        Field::Tag if has("stack_id") => Some(is_in(
            &tags::expression(session, "t.stack_id"),
            &texts(values),
        )),
        Field::Tag if has("tag") => Some(is_in("t.tag", &texts(values))),
        Field::File if has("path") => {
            // Names of files on Windows are compared regardless of case.
            let lower: Vec<String> = texts(values)
                .iter()
                .map(|value| format!("lower({value})"))
                .collect();
            Some(is_in("lower(t.path)", &lower))
        }
        Field::Module if has("stack_id") => {
            // Frames are written as module!method, or module+offset without a name: both belong to
            // the module.
            let patterns = values.iter().map(|value| literal(value));
            Some(contains(
                patterns.map(|module| format!("{module}!*;{module}+*")),
            ))
        }
        Field::Method if has("stack_id") => {
            Some(contains(values.iter().map(|value| literal(value))))
        }
        _ => None,
    })
}

/// Returns the condition that a row is of one of these processes.
fn of_processes(table: &Table, keys: &[i32]) -> Option<String> {
    let has = |name: &str| table.column(name).is_some();
    let keys: Vec<String> = keys.iter().map(i32::to_string).collect();
    if has("process_key") {
        return Some(is_in("t.process_key", &keys));
    }
    if !has("thread_key") {
        return None;
    }
    // An empty list of processes lets no row through.
    if keys.is_empty() {
        return Some("false".to_owned());
    }
    // A table that only has threads is restricted by the threads of the processes.
    let of = is_in("process_key", &keys);
    Some(format!(
        "t.thread_key IN (SELECT thread_key FROM thread WHERE {of})"
    ))
}

fn is_in(column: &str, values: &[String]) -> String {
    if values.is_empty() {
        return "false".to_owned();
    }
    format!("{column} IN ({})", values.join(", "))
}

fn texts(values: &[String]) -> Vec<String> {
    values.iter().map(|value| quoted(value)).collect()
}

fn numbers(values: &[String]) -> Result<Vec<String>> {
    Ok(keys(values)?.iter().map(i32::to_string).collect())
}

/// Returns the condition that one frame matches one of these patterns.
fn contains(patterns: impl Iterator<Item = String>) -> String {
    let patterns: Vec<String> = patterns.collect();
    if patterns.is_empty() {
        return "false".to_owned();
    }
    format!(
        "stack_contains(t.stack_id, {})",
        quoted(&patterns.join(";"))
    )
}

/// Returns a pattern that matches a name. Patterns cannot escape `;` or a leading `!`, so `?`
/// replaces these characters.
fn literal(name: &str) -> String {
    let name = name.replace(';', "?");
    match name.strip_prefix('!') {
        Some(rest) => format!("?{rest}"),
        None => name,
    }
}

/// Parses the whole numbers of a chip.
pub(crate) fn keys(values: &[String]) -> Result<Vec<i32>> {
    let number = |value: &String| {
        value
            .trim()
            .parse()
            .map_err(|_| Problem::bad(format!("expected a whole number, found {value:?}")))
    };
    values.iter().map(number).collect()
}

/// Returns the keys of processes with a name that matches one of these filters.
pub(crate) fn processes(session: &Session, filters: &[String]) -> Result<Vec<i32>> {
    if filters.is_empty() {
        return Ok(Vec::new());
    }
    // Uses the function of the SQL library, so that a name means the same here and on the command
    // line.
    let fits: Vec<String> = filters
        .iter()
        .map(|filter| format!("process_match(name, pid, {})", quoted(filter)))
        .collect();
    let sql = format!(
        "SELECT process_key FROM process WHERE {} ORDER BY process_key",
        fits.join(" OR ")
    );
    Ok(cells::keys(session, &sql, 100_000)?)
}

/// Returns the condition that a column has the value of an answer.
pub(crate) fn equals(what: &str, kind: ColumnKind, value: &Cell) -> Result<String> {
    if *value == Cell::Missing(()) {
        return Ok(format!("{what} IS NULL"));
    }
    Ok(format!(
        "{} = {}",
        compared(what, kind),
        constant(kind, value)?
    ))
}

/// Returns the condition that a column has one of the values of answers.
fn one_of(what: &str, kind: ColumnKind, values: &[Cell]) -> Result<String> {
    let is_missing = |value: &&Cell| **value == Cell::Missing(());
    let known = values.iter().filter(|value| !is_missing(value));
    let constants: Vec<String> = known
        .map(|value| constant(kind, value))
        .collect::<Result<_>>()?;
    let has_value = is_in(&compared(what, kind), &constants);
    Ok(if values.iter().any(|value| is_missing(&value)) {
        format!("{what} IS NULL OR {has_value}")
    } else {
        has_value
    })
}

/// Returns a column as it is compared with constants.
fn compared(what: &str, kind: ColumnKind) -> String {
    match kind {
        // A time of day was sent to the page as text, so it is compared as that text.
        ColumnKind::Timestamp => format!("CAST({what} AS VARCHAR)"),
        _ => what.to_owned(),
    }
}

/// Returns a value of an answer as SQL.
fn constant(kind: ColumnKind, value: &Cell) -> Result<String> {
    let constant = match (kind, value) {
        (ColumnKind::Int32 | ColumnKind::Int64, value) => {
            whole(value).map(|number| number.to_string())
        }
        (ColumnKind::Float64, Cell::Whole(number)) => Some(number.to_string()),
        (ColumnKind::Float64, Cell::Number(number)) => Some(format!("{number:?}")),
        (ColumnKind::Boolean, Cell::Flag(flag)) => Some(flag.to_string()),
        (ColumnKind::Text | ColumnKind::Timestamp, Cell::Text(value)) => Some(quoted(value)),
        _ => None,
    };
    constant.ok_or_else(|| Problem::bad("a value is not of the type of its column"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::table;

    fn selected(of: &str, selection: &Selection) -> Selected {
        let session = Session::from_batches(Vec::new()).unwrap();
        select(&session, table(of).unwrap(), selection).unwrap()
    }

    fn chip(field: Field, value: &str, exclude: bool) -> Chip {
        Chip {
            field,
            values: vec![value.to_owned()],
            exclude,
        }
    }

    #[test]
    fn what_a_table_lacks_is_not_applied() {
        let range = Some(Range {
            from_ns: 5,
            to_ns: 9,
        });
        let chips = vec![
            chip(Field::Core, "3", false),
            chip(Field::File, r"C:\a", false),
        ];
        let of = selected("cpu_sample", &Selection { range, chips });
        assert_eq!(
            of.sql(),
            " WHERE (t.ts_ns >= 5 AND t.ts_ns < 9) AND (t.cpu IN (3))"
        );
        assert_eq!(of.not_applied, [Field::File]);
        let of = selected(
            "cpu_process",
            &Selection {
                range,
                chips: Vec::new(),
            },
        );
        assert_eq!((of.sql().as_str(), of.range, of.notes.len()), ("", None, 1));
    }

    #[test]
    fn columns_have_the_values_of_filters() {
        let filter = |column: &str, values: &[Cell], exclude| ColumnFilter {
            column: column.to_owned(),
            values: values.to_vec(),
            exclude,
        };
        let text = |text: &str| Cell::Text(text.to_owned());
        let events = table("generic_event").unwrap();
        let mut of = selected("generic_event", &Selection::default());
        of.and_filters(
            events,
            &[
                filter("provider", &[text("it's"), Cell::Missing(())], false),
                filter("level", &[Cell::Whole(4), Cell::Whole(5)], true),
                filter("name", &[], false),
            ],
        )
        .unwrap();
        assert_eq!(
            of.sql(),
            " WHERE (t.provider IS NULL OR t.provider IN ('it''s')) \
             AND (NOT coalesce(t.level IN (4, 5), false)) AND (false)"
        );
        for wrong in [
            filter("level", &[text("4) OR (true")], false),
            filter("process", &[Cell::Whole(1)], false),
            filter("level; DROP", &[], false),
        ] {
            assert!(of.and_filters(events, &[wrong]).is_err());
        }
    }

    #[test]
    fn values_stay_values() {
        let chips = vec![chip(Field::Tag, "a' OR 'b", true)];
        let of = selected("cpu_sample", &Selection { range: None, chips });
        assert_eq!(
            of.sql(),
            " WHERE (NOT coalesce(stack_tag(t.stack_id, 'default') IN ('a'' OR ''b'), false))"
        );
        assert_eq!(like(r"50%_\'"), r"'%50\%\_\\''%'");
        let session = Session::from_batches(Vec::new()).unwrap();
        let chips = vec![chip(Field::Thread, "1) OR (true", false)];
        assert!(
            select(
                &session,
                table("cpu_sample").unwrap(),
                &Selection { range: None, chips }
            )
            .is_err()
        );
    }
}
