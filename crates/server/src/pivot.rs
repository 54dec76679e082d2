//! Groups of rows, one level at a time.

use etwkit_sql::Session;
use etwkit_trace::table::Table;

use crate::api::Call;
use crate::cells::{asked, count_at, one_row};
use crate::frame_levels::{FrameLevel, levels};
use crate::problem::{Problem, Result};
use crate::select::{Selected, select};
use crate::tables;
use crate::wire::{Cell, Measure, PivotAnswer, PivotRequest, PivotRow, Source};

/// Largest number of groups in an answer.
const MOST_ROWS: u32 = 1_000;
/// Largest number of levels; a level of frames counts for up to two outer ones.
const MOST_LEVELS: usize = 16;
/// Measures, at most.
const MOST_MEASURES: usize = 16;

/// The SQL of a level.
struct Level<'r> {
    request: &'r PivotRequest,
    asked: FrameLevel,
    /// `WITH` the rows of the level and their groups.
    with: String,
    /// The measures, each with its name.
    measures: Vec<String>,
}

pub(crate) fn pivot(call: &Call<'_>, request: &PivotRequest) -> Result<PivotAnswer> {
    check(request)?;
    let table = tables::table(&request.table)?;
    let ready = call.ready(request.trace)?;
    let session = call.session(&ready)?;
    let mut selected = select(&session, table, &request.selection)?;
    selected.and_filters(table, &request.filters)?;
    let of_level = levels(
        &session,
        table,
        (&request.group_by, &request.path),
        &mut selected,
    )?;
    let level = Level::new(&session, request, (table, &selected), of_level)?;
    let sql = level.groups_sql();
    let mut rows = asked(&session, &sql, request.limit as usize)?
        .rows
        .into_iter()
        .map(split)
        .collect::<Vec<_>>();
    level.asked.name(&session, &mut rows)?;
    // Totals come from a query and are not added up from groups: averages and distinct counts
    // cannot be added up, and groups after the limit are missing.
    let of_all = one_row(&session, &level.total_sql())?;
    let rows_read = count_at(&of_all, 0)?;
    let groups = count_at(&of_all, 1)?;
    let total = PivotRow {
        value: Cell::Missing(()),
        label: "all".to_owned(),
        measures: of_all.into_iter().skip(2).collect(),
    };
    let others = if groups > u64::from(request.limit) {
        let measures = one_row(&session, &level.others_sql())?;
        Some(PivotRow {
            value: Cell::Missing(()),
            label: "others".to_owned(),
            measures,
        })
    } else {
        None
    };
    let source = Source {
        not_applied: selected.not_applied,
        notes: selected.notes,
        ..call.of_sql(&ready, sql, rows_read)
    };
    Ok(PivotAnswer {
        rows,
        others,
        total,
        groups,
        source,
    })
}

fn check(request: &PivotRequest) -> Result<()> {
    let levels = request.group_by.len();
    if levels == 0 || levels > MOST_LEVELS || request.path.len().saturating_add(1) != levels {
        return Err(Problem::bad(format!(
            "groups have 1 to {MOST_LEVELS} levels, and a value for each outer one"
        )));
    }
    if request.limit == 0 || request.limit > MOST_ROWS {
        return Err(Problem::bad(format!(
            "expected a limit from 1 to {MOST_ROWS}"
        )));
    }
    if request.measures.is_empty() || request.measures.len() > MOST_MEASURES {
        return Err(Problem::bad(format!(
            "expected 1 to {MOST_MEASURES} measures"
        )));
    }
    Ok(())
}

impl<'r> Level<'r> {
    fn new(
        session: &Session,
        request: &'r PivotRequest,
        (table, selected): (&'static Table, &Selected),
        asked: FrameLevel,
    ) -> Result<Self> {
        let mut columns = vec![format!("{} AS value", asked.value)];
        let counted = selected.times.counted(selected.range);
        columns.push(format!(
            "{} AS is_counted",
            counted.as_deref().unwrap_or("true")
        ));
        let mut measures = Vec::new();
        for (number, measure) in request.measures.iter().enumerate() {
            let (column, computed) = computed(session, (table, selected), number, measure)?;
            columns.extend(column);
            measures.push(format!("{computed} AS m{number}"));
        }
        // Groups, totals and others start with the same text, so that all three cover the same
        // rows.
        let with = format!(
            "WITH r AS (SELECT {} FROM {} t{}), g AS (SELECT value, {} FROM r GROUP BY value)",
            columns.join(", "),
            table.name,
            selected.sql(),
            measures.join(", ")
        );
        Ok(Self {
            request,
            asked,
            with,
            measures,
        })
    }

    /// Returns the order of groups; equal ones are ordered by their value.
    fn order(&self, label: &str) -> String {
        // Equal groups are ordered by their value, so that the groups above the limit and the
        // others below it are the same in each statement.
        let direction = if self.request.sort.descending {
            "DESC"
        } else {
            "ASC"
        };
        let by = match self.request.sort.by.parse::<usize>() {
            Ok(place) if place < self.measures.len() => format!("g.m{place}"),
            _ => label.to_owned(),
        };
        format!(
            "ORDER BY {by} {direction} NULLS LAST, g.value NULLS LAST LIMIT {}",
            self.request.limit
        )
    }

    fn groups_sql(&self) -> String {
        let (label, joins) = self.asked.shown.label("g.value", 0);
        let measures: Vec<String> = (0..self.measures.len())
            .map(|number| format!("g.m{number}"))
            .collect();
        format!(
            "{} SELECT g.value, CAST({label} AS VARCHAR) AS label, {} FROM g{joins} {}",
            self.with,
            measures.join(", "),
            self.order(&label)
        )
    }

    /// Returns SQL for the number of rows and groups, and the measures of all rows together.
    fn total_sql(&self) -> String {
        let names: Vec<String> = (0..self.measures.len())
            .map(|number| format!("a.m{number}"))
            .collect();
        format!(
            "{} SELECT a.all_rows, b.all_groups, {} FROM (SELECT count(*) AS all_rows, {} FROM r) a \
             CROSS JOIN (SELECT count(*) AS all_groups FROM g) b",
            self.with,
            names.join(", "),
            self.measures.join(", ")
        )
    }

    /// Returns SQL for the measures of all rows whose groups are left out.
    fn others_sql(&self) -> String {
        let (label, joins) = self.asked.shown.label("g.value", 0);
        format!(
            "{}, top AS (SELECT g.value AS kept, true AS is_kept FROM g{joins} {}) \
             SELECT {} FROM r LEFT JOIN top ON r.value IS NOT DISTINCT FROM top.kept WHERE top.is_kept IS NULL",
            self.with,
            self.order(&label),
            self.measures.join(", ")
        )
    }
}

/// Returns the value that a measure needs from each row, if any, and the expression that computes
/// the measure.
pub(crate) fn computed(
    session: &Session,
    (table, selected): (&'static Table, &Selected),
    number: usize,
    Measure { function, column }: &Measure,
) -> Result<(Option<String>, String)> {
    if function == "count" {
        return Ok((None, "count(*) FILTER (WHERE is_counted)".to_owned()));
    }
    let shown = tables::column(table, column)?;
    let info = shown.info();
    let value = match shown.declared() {
        Some(declared) => selected.times.clipped(declared.name, selected.range),
        None => shown.group(session),
    };
    let call = match function.as_str() {
        "distinct" if info.can_group && !shown.is_frames() => format!("count(DISTINCT c{number})"),
        "sum" | "avg" if info.can_sum => format!("{function}(c{number})"),
        "max" | "min" if shown.declared().is_some() => format!("{function}(c{number})"),
        "sum" | "avg" | "max" | "min" | "distinct" => {
            return Err(Problem::bad(format!(
                "there is no {function} of {column:?}"
            )));
        }
        _ => {
            return Err(Problem::bad(format!("there is no measure {function:?}"))
                .with_hint("count, sum, max, min, avg, distinct"));
        }
    };
    Ok((Some(format!("{value} AS c{number}")), call))
}

/// Splits a row of groups into value, label, and measures.
pub(crate) fn split(row: Vec<Cell>) -> PivotRow {
    let mut cells = row.into_iter();
    let value = cells.next().unwrap_or(Cell::Missing(()));
    // A group without a label, such as the one of missing values, has an empty one.
    let label = match cells.next() {
        Some(Cell::Text(label)) => label,
        _ => String::new(),
    };
    PivotRow {
        value,
        label,
        measures: cells.collect(),
    }
}
