//! A preset as one SELECT over the tables of an extract.
//!
//! ```text
//! WITH picked AS (SELECT value AS v0, … FROM table r JOIN … WHERE only, part of the trace, filter)
//! SELECT v0 AS c0, sum(v1) AS c1, … FROM picked GROUP BY v0 ORDER BY …
//! ```
//!
//! Columns left of the golden bar are keys. Without a visible one there, each row is written
//! separately.

use crate::wpa::catalog::{self, Column, Graph, Time, ValueKind};
use crate::wpa::filter;
use crate::wpa::format::Unit;
use crate::wpa::part::View;
use crate::wpa::profile::{Aggregation, ColumnOption, Preset, PresetColumn};

/// More frames than stacks have, so that `stack_root` takes all of them: stacks of the same methods
/// become one, regardless of addresses.
const ALL_FRAMES: u32 = 4096;

/// The table whose sizes were measured: the largest of them is the most at any measured time. Sizes
/// of other tables are changes, and what they add up to at a time is not computed.
const MEASURED: &str = "memory_sample";

/// The query for a preset, and the columns to write.
#[derive(Debug)]
pub struct Plan {
    /// The graph.
    pub graph: &'static Graph,
    /// The question.
    pub sql: String,
    /// The columns of its answer, in their order.
    pub columns: Vec<OutputColumn>,
    /// The parts of the preset that are left out, in words.
    pub left_out: Vec<String>,
}

/// A column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputColumn {
    /// Its title.
    pub title: String,
    /// Kind of its values.
    pub kind: ValueKind,
    /// The unit in which they are written, of times and sizes.
    pub unit: Unit,
}

/// A known column that is shown.
struct Picked<'p> {
    shown: &'p PresetColumn,
    name: &'static str,
    kind: ValueKind,
    sql: String,
    is_key: bool,
}

/// Returns the graph of a preset: by its GUID, by its name, by the element of version 1, or by the
/// columns that no other graph has.
#[must_use]
pub(crate) fn graph(preset: &Preset) -> Option<&'static Graph> {
    // From certain to guessed: a GUID, a name, the element of old profiles, and finally the
    // columns, if all known ones belong to one graph.
    let is_other = preset
        .graph_guid
        .as_deref()
        .is_some_and(|guid| catalog::other(guid).is_some());
    named_graph(preset).or_else(|| by_columns(preset).filter(|_| !is_other))
}

/// True if only its columns tell the graph of a preset.
#[must_use]
pub(crate) fn is_guessed(preset: &Preset) -> bool {
    named_graph(preset).is_none()
}

/// Returns the graph that a preset names.
fn named_graph(preset: &Preset) -> Option<&'static Graph> {
    let guid = preset
        .graph_guid
        .as_deref()
        .map(|guid| guid.trim_matches(['{', '}']));
    guid.and_then(catalog::by_guid)
        .or_else(|| preset.graph_name.as_deref().and_then(catalog::by_name))
        .or_else(|| preset.element.as_deref().and_then(catalog::by_element))
}

/// Returns the graph on which all columns with a GUID that is unique to one graph agree.
fn by_columns(preset: &Preset) -> Option<&'static Graph> {
    let mut of = preset
        .columns
        .iter()
        .filter_map(|shown| catalog::by_column(&shown.guid));
    let first = of.next()?;
    of.all(|graph| graph.name == first.name).then_some(first)
}

/// Plans a preset. With `single_rows` nothing is added up.
///
/// # Errors
/// Nothing of it can be written, or its filter is not supported. The error explains it in words.
pub fn plan(
    preset: &Preset,
    graph: &'static Graph,
    view: &View,
    single_rows: bool,
) -> Result<Plan, String> {
    let mut left_out = Vec::new();
    let mut picked = Vec::new();
    // Hidden columns also have a place: the golden bar counts all of them.
    for (place, shown) in preset
        .columns
        .iter()
        .enumerate()
        .filter(|(_, shown)| shown.is_visible)
    {
        match pick(shown, graph, place < preset.keys) {
            Ok(column) => picked.push(column),
            Err(why) => left_out.push(why),
        }
    }
    let is_grouped = !single_rows && picked.iter().any(|column| column.is_key);
    // A column that cannot be added up is left out and named, instead of being written with the
    // value of an arbitrary row.
    if is_grouped {
        picked.retain(|column| match why_not(column, graph) {
            Some(why) => {
                left_out.push(format!("{}: {why}", named(column.shown)));
                false
            }
            None => true,
        });
    }
    if picked.is_empty() {
        return Err(match left_out.as_slice() {
            [] => "it shows no column".to_owned(),
            all => format!("none of its columns can be written ({})", all.join("; ")),
        });
    }
    let condition = condition(preset, graph, view)?;
    let sql = select(graph, &picked, &condition, is_grouped, view);
    let tags = picked
        .iter()
        .filter(|column| column.shown.option == ColumnOption::FrameTags);
    left_out.extend(
        tags.map(|column| format!("{}: frames are written without tags", named(column.shown))),
    );
    Ok(Plan {
        graph,
        sql,
        columns: written(&picked, is_grouped),
        left_out,
    })
}

/// Formats a column of a profile for people.
fn named(shown: &PresetColumn) -> String {
    format!("column \"{}\" {{{}}}", shown.name, shown.guid)
}

/// Returns the catalog's column for a visible column of a profile.
fn pick<'p>(
    shown: &'p PresetColumn,
    graph: &'static Graph,
    is_key: bool,
) -> Result<Picked<'p>, String> {
    // A column without a GUID of its own is found by its name. A column with another GUID is
    // another column, even if it has the same name.
    let by_name = || {
        graph
            .by_name(&shown.name)
            .filter(|known| known.guid.is_none() || shown.guid.is_empty())
    };
    let known: &'static Column = graph
        .by_guid(&shown.guid)
        .or_else(by_name)
        .ok_or_else(|| why_missing(shown, graph))?;
    let (kind, sql) = match (shown.option, known.kind) {
        (ColumnOption::StackTag, ValueKind::Stack) => {
            (ValueKind::Text, filter::stack_tag(known.sql))
        }
        (ColumnOption::NoPid, ValueKind::Process(name)) => (known.kind, name.to_owned()),
        (_, kind) => (kind, known.sql.to_owned()),
    };
    Ok(Picked {
        shown,
        name: known.name,
        kind,
        sql,
        is_key,
    })
}

/// Returns the reason why a column of a profile is not in the catalog.
fn why_missing(shown: &PresetColumn, graph: &Graph) -> String {
    match graph.unfilled(&shown.guid, &shown.name) {
        Some(known) => format!("column \"{}\": not in extracts: {}", known.name, known.why),
        None => format!("{} is not known here", named(shown)),
    }
}

/// Returns the reason why groups of rows have no value for a column; `None` if they have one.
fn why_not(column: &Picked<'_>, graph: &Graph) -> Option<String> {
    // Digits of an address are not an amount: their sum would mean nothing.
    let is_number = !matches!(
        column.kind,
        ValueKind::Text | ValueKind::Process(_) | ValueKind::Stack | ValueKind::Hex
    );
    match &column.shown.aggregation {
        _ if column.is_key => None,
        Aggregation::Other(word) => Some(format!("aggregation \"{word}\" is not known here")),
        Aggregation::Peak if column.kind != ValueKind::Bytes || graph.table != MEASURED => {
            Some("the most at any time is only computed of sizes that were measured".to_owned())
        }
        Aggregation::Sum | Aggregation::Average | Aggregation::WeightedAverage if !is_number => {
            Some("it cannot be added up".to_owned())
        }
        Aggregation::WeightedAverage if matches!(graph.time, Time::Moment(_)) => {
            Some("its rows are moments, which have no length to weigh values by".to_owned())
        }
        _ => None,
    }
}

/// Returns the condition that rows have to meet, with the ends of the part filled in.
fn condition(preset: &Preset, graph: &'static Graph, view: &View) -> Result<String, String> {
    let mut all: Vec<String> = graph.only.into_iter().map(str::to_owned).collect();
    if view.is_part {
        all.push(view.fill(&match graph.time {
            // Rows that only overlap the part are also in it.
            Time::Moment(at) => format!("{at} BETWEEN $from AND $to"),
            Time::Span(start, end) => format!("{end} >= $from AND {start} <= $to"),
        }));
    }
    if !preset.filter.is_empty() {
        let sql = filter::sql(&preset.filter, graph, &preset.columns, &|sql| {
            view.fill(sql)
        })
        .map_err(|why| format!("its filter cannot be followed: {why}"))?;
        // A filter is never null, so that `NOT` of it keeps exactly the other rows.
        all.push(if preset.filter_keeps {
            sql
        } else {
            format!("NOT {sql}")
        });
    }
    Ok(if all.is_empty() {
        "true".to_owned()
    } else {
        all.join(" AND ")
    })
}

fn select(
    graph: &Graph,
    picked: &[Picked<'_>],
    condition: &str,
    is_grouped: bool,
    view: &View,
) -> String {
    let numbered = || picked.iter().enumerate();
    let mut values: Vec<String> = numbered()
        .map(|(n, column)| format!("{} AS v{n}", value(column, is_grouped, view)))
        .collect();
    if let Time::Span(start, end) = graph.time
        && is_grouped
        && picked
            .iter()
            .any(|column| column.shown.aggregation == Aggregation::WeightedAverage)
    {
        values.push(format!("{} AS weight", view.length(start, end)));
    }
    let outputs: Vec<String> = numbered()
        .map(|(n, column)| output(n, column, is_grouped))
        .collect();
    let keys: Vec<String> = numbered()
        .filter(|(_, column)| column.is_key)
        .map(|(n, _)| format!("v{n}"))
        .collect();
    let group = if is_grouped {
        format!("\nGROUP BY {}", keys.join(", "))
    } else {
        String::new()
    };
    // Only tables that the columns or the condition name are joined: each join costs a pass over a
    // table.
    let joins = view.fill(&joins(graph, &format!("{} {condition}", values.join(" "))));
    format!(
        "WITH {}picked AS (
SELECT {}
FROM {} r{joins}
WHERE {condition})
SELECT {}
FROM picked{group}
ORDER BY {}",
        view.tables(graph),
        values.join(", "),
        source(graph),
        outputs.join(", "),
        order(picked)
    )
}

/// Returns the rows of a graph, for a `FROM`.
fn source(graph: &Graph) -> String {
    match graph.rows {
        Some(select) => format!("({select})"),
        None => graph.table.to_owned(),
    }
}

/// Returns the SQL for a value of a row.
fn value(column: &Picked<'_>, is_grouped: bool, view: &View) -> String {
    let sql = match column.shown.option {
        ColumnOption::Whole => view.fill_whole(&column.sql),
        _ => view.fill(&column.sql),
    };
    // Stacks that differ only in the address of a call within a method are one group, since methods
    // are shown.
    if column.kind == ValueKind::Stack && is_grouped {
        format!("stack_root({sql}, {ALL_FRAMES})")
    } else {
        sql
    }
}

/// Returns the SQL for a value of the file.
fn output(n: usize, column: &Picked<'_>, is_grouped: bool) -> String {
    let value = if !is_grouped || column.is_key {
        format!("v{n}")
    } else {
        match column.shown.aggregation {
            Aggregation::Sum => format!("sum(v{n})"),
            Aggregation::Average => format!("avg(CAST(v{n} AS DOUBLE))"),
            // Rows without a length or a value weigh nothing.
            Aggregation::WeightedAverage => format!(
                "sum(CAST(v{n} AS DOUBLE) * weight) / nullif(sum(CASE WHEN v{n} IS NOT NULL THEN weight END), 0)"
            ),
            Aggregation::Min => format!("min(v{n})"),
            Aggregation::Max | Aggregation::Peak => format!("max(v{n})"),
            Aggregation::Count => "count(*)".to_owned(),
            Aggregation::UniqueCount => format!("count(DISTINCT v{n})"),
            Aggregation::None | Aggregation::Other(_) => {
                // A value that all rows of a group share is shown. If they differ, none of them
                // would be right, so the cell is empty.
                format!(
                    "CASE WHEN count(v{n}) = count(*) AND min(v{n}) = max(v{n}) THEN min(v{n}) END"
                )
            }
        }
    };
    format!("{value} AS c{n}")
}

/// Returns the joins whose tables the SQL names, or another needed join.
fn joins(graph: &Graph, sql: &str) -> String {
    let mut needed: Vec<&str> = Vec::new();
    let mut seen = sql.to_owned();
    // Backwards, since a join may need an earlier one, which its own text names.
    for join in graph.joins.iter().rev().filter(|join| join.alias != "r") {
        if names(&seen, join.alias) {
            seen.push(' ');
            seen.push_str(join.sql);
            needed.push(join.sql);
        }
    }
    needed.iter().rev().map(|sql| format!("\n{sql}")).collect()
}

/// True if SQL names a column of the table with this alias. A literal may look like one: then a
/// table is joined needlessly, which changes nothing.
fn names(sql: &str, alias: &str) -> bool {
    let needle = format!("{alias}.");
    sql.match_indices(&needle).any(|(at, _)| {
        // The alias has to be a whole word: `p.` also ends other names.
        let before = sql.get(..at).and_then(|before| before.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.')
    })
}

/// Returns the sort order: first the sort columns of the preset, then all columns, so that the same
/// trace gives the same file.
fn order(picked: &[Picked<'_>]) -> String {
    let mut sorted: Vec<(u32, usize, bool)> = Vec::new();
    for (n, column) in picked.iter().enumerate() {
        sorted.extend(
            column
                .shown
                .sort
                .map(|(priority, is_descending)| (priority, n, is_descending)),
        );
    }
    sorted.sort_unstable();
    let by_preset = sorted
        .iter()
        .map(|(_, n, is_descending)| (*n, *is_descending));
    // All columns follow as the last criterion, so that two runs write the same order.
    let rest = (0..picked.len()).map(|n| (n, false));
    let terms = by_preset.chain(rest).map(|(n, is_descending)| {
        format!(
            "c{n}{} NULLS LAST",
            if is_descending { " DESC" } else { "" }
        )
    });
    terms.collect::<Vec<_>>().join(", ")
}

/// Titles and units.
fn written(picked: &[Picked<'_>], is_grouped: bool) -> Vec<OutputColumn> {
    let mut written: Vec<OutputColumn> = Vec::new();
    for column in picked {
        let aggregation = &column.shown.aggregation;
        let counts = is_grouped
            && !column.is_key
            && matches!(aggregation, Aggregation::Count | Aggregation::UniqueCount);
        let kind = if counts {
            ValueKind::Number
        } else {
            column.kind
        };
        let unit = unit(kind, column.shown.unit);
        let mut title = title(column, kind, unit);
        // Profiles show a column several times with different aggregations. Readers of CSV find
        // values by title.
        if written.iter().any(|other| other.title == title) {
            title = format!("{title} ({})", aggregation.word());
        }
        written.push(OutputColumn { title, kind, unit });
    }
    written
}

/// Returns the unit in which values are written: the unit of the profile if it measures the same
/// quantity.
fn unit(kind: ValueKind, asked: Option<Unit>) -> Unit {
    let usual = match kind {
        ValueKind::Moment => Unit::Seconds,
        ValueKind::Duration(unit) => unit,
        ValueKind::Hex => Unit::Hex,
        _ => Unit::Bytes,
    };
    let fits = |asked: &Unit| match kind {
        ValueKind::Moment | ValueKind::Duration(_) => asked.is_time(),
        ValueKind::Bytes => asked.is_size(),
        ValueKind::Number => *asked == Unit::Hex,
        _ => false,
    };
    asked.filter(fits).unwrap_or(usual)
}

fn title(column: &Picked<'_>, kind: ValueKind, unit: Unit) -> String {
    let name = match (column.shown.option, column.kind) {
        (ColumnOption::StackTag, _) => format!("{} Tag", column.name),
        (ColumnOption::NoPid, ValueKind::Process(_)) => format!("{} (Name)", column.name),
        // The option shows the whole duration, so the title must not contain `(in view)`.
        (ColumnOption::Whole, _) => column.name.replace(" (in view)", ""),
        _ => column.name.to_owned(),
    };
    let has_unit = matches!(
        kind,
        ValueKind::Moment | ValueKind::Duration(_) | ValueKind::Bytes
    );
    let suffix = format!(" ({})", unit.word());
    if has_unit && !name.ends_with(&suffix) {
        format!("{name}{suffix}")
    } else {
        name
    }
}
