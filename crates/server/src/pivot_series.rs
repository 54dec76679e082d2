//! A measure of a table's groups over time.
//!
//! The sum of a length of time is spread over the buckets in which it passed, so that a wait of a
//! second is not a peak at its end. Every other value counts at one moment of its row, see
//! [`Times::moment`].

use std::fmt::Write as _;

use etwkit_sql::Session;
use etwkit_trace::table::Table;

use crate::api::Call;
use crate::cells::{asked, count_at, whole_at};
use crate::frame_levels::name_stacks;
use crate::pivot::{computed, split};
use crate::problem::{Problem, Result};
use crate::select::{Selected, select};
use crate::tables::{self, NamedColumn};
use crate::wire::{
    Cell, PivotSeries, PivotSeriesAnswer, PivotSeriesRequest, Range, Selection, Source,
};

/// Largest number of buckets in an answer.
const MOST_BUCKETS: u32 = 600;
/// Largest number of series in an answer, without the series of the others.
const MOST_SERIES: u32 = 12;

/// Buckets with a whole number of nanoseconds.
#[derive(Clone, Copy)]
pub(crate) struct Buckets {
    pub(crate) range: Range,
    pub(crate) width: i64,
    pub(crate) count: u32,
}

impl Buckets {
    /// Divides a range into at most `most` buckets. The last one may end after the range.
    pub(crate) fn of(range: Range, most: u32) -> Result<Self> {
        let length = range.to_ns.saturating_sub(range.from_ns);
        if length <= 0 {
            return Err(Problem::bad("expected a range that ends after its start"));
        }
        let width = length.saturating_add(i64::from(most) - 1) / i64::from(most.max(1));
        let width = width.max(1);
        // Rounded up twice, so that neither a bucket nor a nanosecond at the end is missing.
        let count = length.saturating_add(width - 1) / width;
        let to_ns = range.from_ns.saturating_add(width.saturating_mul(count));
        Ok(Self {
            range: Range {
                from_ns: range.from_ns,
                to_ns,
            },
            width,
            count: u32::try_from(count).map_err(|_| Problem::internal("too many buckets"))?,
        })
    }
}

/// A request, translated to SQL.
struct Question {
    shown: NamedColumn,
    buckets: Buckets,
    top: u32,
    /// `WITH` the rows `r`, their groups `g`, and all groups in order as `ranked`.
    with: String,
    /// The measure of rows `r`.
    call: String,
    /// Rows have a beginning and an end, over which the measure is spread.
    is_spread: bool,
}

pub(crate) fn pivot_series(
    call: &Call<'_>,
    request: &PivotSeriesRequest,
) -> Result<PivotSeriesAnswer> {
    if request.buckets == 0
        || request.buckets > MOST_BUCKETS
        || request.top == 0
        || request.top > MOST_SERIES
    {
        return Err(Problem::bad(format!(
            "expected 1 to {MOST_BUCKETS} buckets and 1 to {MOST_SERIES} series"
        )));
    }
    let table = tables::table(&request.table)?;
    let ready = call.ready(request.trace)?;
    let session = call.session(&ready)?;
    // The range is the range of the buckets, which may end after the requested one.
    let selection = Selection {
        range: None,
        chips: request.selection.chips.clone(),
    };
    let mut selected = select(&session, table, &selection)?;
    selected.and_filters(table, &request.filters)?;
    let not_applied = selected.not_applied.clone();
    let notes = selected.notes.clone();
    let question = Question::new(&session, request, table, selected)?;
    let (mut series, rows, groups) = question.top(&session)?;
    // Without other groups, this series is omitted: an empty one would look like a value of 0.
    if groups > u64::from(request.top) {
        series.push(question.others(&session)?);
    }
    let sql = question.series_sql();
    fill(&session, &sql, &question, &mut series)?;
    let source = Source {
        not_applied,
        notes,
        ..call.of_sql(&ready, sql, rows)
    };
    Ok(PivotSeriesAnswer {
        range: question.buckets.range,
        unit: unit(table, request)?,
        adds_up: matches!(request.measure.function.as_str(), "count" | "sum"),
        series,
        groups,
        source,
    })
}

/// Unit of a measure.
fn unit(table: &'static Table, request: &PivotSeriesRequest) -> Result<String> {
    match request.measure.function.as_str() {
        "count" | "distinct" => Ok("count".to_owned()),
        _ => Ok(tables::column(table, &request.measure.column)?.info().unit),
    }
}

impl Question {
    fn new(
        session: &Session,
        request: &PivotSeriesRequest,
        table: &'static Table,
        mut selected: Selected,
    ) -> Result<Self> {
        let shown = tables::column(table, &request.group)?;
        if !shown.info().can_group {
            return Err(Problem::bad(format!(
                "rows cannot be grouped by {:?}",
                request.group
            )));
        }
        let Some(moment) = selected.times.moment() else {
            return Err(
                Problem::bad(format!("rows of {} do not have a time", table.name))
                    .with_hint("`has_time` of `schema` says which tables do"),
            );
        };
        let buckets = Buckets::of(request.range, request.buckets)?;
        let Range {
            from_ns: a,
            to_ns: z,
        } = buckets.range;
        let (column, computed) = computed(session, (table, &selected), 0, &request.measure)?;
        // Only sums can be spread: the largest or the mean of lengths is a property of whole rows.
        let is_sum = request.measure.function == "sum";
        let stretch = selected
            .times
            .stretch(&request.measure.column)
            .filter(|_| is_sum);
        let mut columns = vec![format!("{} AS value", shown.group(session))];
        let mut call = computed;
        if let Some((begin, end)) = &stretch {
            selected.and(format!("t.{} IS NOT NULL", request.measure.column));
            // Everything outside of the picture is cut off before it is put into buckets.
            selected.and(format!("{begin} < {z} AND {end} > {a} AND {end} > {begin}"));
            columns.push(format!(
                "greatest({begin}, {a}) AS s, least({end}, {z}) AS e"
            ));
            "sum(e - s)".clone_into(&mut call);
        } else {
            selected.and(format!("{moment} >= {a} AND {moment} < {z}"));
            columns.push(format!(
                "true AS is_counted, ({moment} - {a}) / {} AS bucket",
                buckets.width
            ));
            columns.extend(column);
        }
        let with = format!(
            "WITH r AS (SELECT {} FROM {} t{}), \
             g AS (SELECT value, count(*) AS n, {call} AS total FROM r GROUP BY value), \
             ranked AS (SELECT value, n, total, row_number() OVER (ORDER BY total DESC NULLS LAST, \
             value NULLS LAST) \
             AS place, sum(n) OVER () AS all_rows, count(*) OVER () AS all_groups FROM g)",
            columns.join(", "),
            table.name,
            selected.sql()
        );
        Ok(Self {
            shown,
            buckets,
            top: request.top,
            with,
            call,
            is_spread: stretch.is_some(),
        })
    }

    /// Returns SQL for the rows `r` with the places of their groups, 0 for all others.
    fn placed(&self, columns: &str) -> String {
        format!(
            "SELECT coalesce(k.place, 0) AS place, {columns} FROM r LEFT JOIN \
             (SELECT value, place FROM ranked WHERE place <= {}) k ON r.value IS NOT DISTINCT FROM k.value",
            self.top
        )
    }

    /// Returns the groups with a series, the number of rows, and the number of groups.
    fn top(&self, session: &Session) -> Result<(Vec<PivotSeries>, u64, u64)> {
        let (label, joins) = self.shown.label("g.value", 0);
        let sql = format!(
            "{} SELECT g.value, CAST({label} AS VARCHAR) AS label, g.total, g.all_rows, g.all_groups \
             FROM ranked g{joins} WHERE g.place <= {} ORDER BY g.place",
            self.with, self.top
        );
        let mut rows = Vec::new();
        let mut sums = (0, 0);
        for row in asked(session, &sql, self.top as usize)?.rows {
            sums = (count_at(&row, 3)?, count_at(&row, 4)?);
            let mut row = split(row);
            row.measures.truncate(1);
            rows.push(row);
        }
        name_stacks(session, &self.shown, None, &mut rows)?;
        let series = rows.into_iter().map(|row| PivotSeries {
            value: row.value,
            label: row.label,
            is_others: false,
            total: row.measures.into_iter().next().unwrap_or(Cell::Missing(())),
            values: self.nothing(),
        });
        Ok((series.collect(), sums.0, sums.1))
    }

    /// Returns all other groups together, without values.
    fn others(&self, session: &Session) -> Result<PivotSeries> {
        let sql = format!(
            "{}, k AS ({}) SELECT {} FROM k WHERE place = 0",
            self.with,
            self.placed("r.*"),
            self.call
        );
        let total = asked(session, &sql, 1)?.rows.into_iter().flatten().next();
        Ok(PivotSeries {
            value: Cell::Missing(()),
            label: "others".to_owned(),
            is_others: true,
            total: total.unwrap_or(Cell::Missing(())),
            values: self.nothing(),
        })
    }

    fn nothing(&self) -> Vec<Cell> {
        // Buckets without rows have no value, which is not the same as 0 for a mean or a smallest
        // value.
        vec![Cell::Missing(()); self.buckets.count as usize]
    }

    /// Returns SQL for the place of the group (0 for others), the number of the bucket, and the
    /// measure.
    fn series_sql(&self) -> String {
        let Self { with, call, .. } = self;
        if !self.is_spread {
            return format!(
                "{with}, k AS ({}) SELECT place, bucket, {call} AS value FROM k GROUP BY place, bucket \
                 ORDER BY place, bucket",
                self.placed("r.*")
            );
        }
        let Buckets {
            range: Range { from_ns: a, .. },
            width: w,
            count,
        } = self.buckets;
        // A length covers a part of its first bucket and a part of its last one. The buckets
        // between are full, and one step up and one step down describe any number of them.
        let mut sql = format!(
            "{with}, k AS ({}), ",
            self.placed(&format!(
                "s, e, (s - {a}) / {w} AS first, (e - 1 - {a}) / {w} AS last"
            ))
        );
        let _ = write!(
            sql,
            "p AS (SELECT place, unnest(make_array(first, first + 1, last)) AS bucket, \
             unnest(make_array(least(e, {a} + (first + 1) * {w}) - s, 0, \
             CASE WHEN last > first THEN e - ({a} + last * {w}) ELSE 0 END)) AS part, \
             unnest(make_array(0, CASE WHEN last > first THEN 1 ELSE 0 END, \
             CASE WHEN last > first THEN -1 ELSE 0 END)) AS step FROM k), \
             q AS (SELECT place, bucket, sum(part) AS part, sum(step) AS step FROM p GROUP BY place, \
             bucket), \
             x AS (SELECT place, bucket FROM (SELECT unnest(range(0, {})) AS place) CROSS JOIN \
             (SELECT unnest(range(0, {count})) AS bucket)) \
             SELECT x.place, x.bucket, coalesce(q.part, 0) + {w} * sum(coalesce(q.step, 0)) \
             OVER (PARTITION BY x.place ORDER BY x.bucket) AS value FROM x LEFT JOIN q \
             ON q.place = x.place AND q.bucket = x.bucket ORDER BY x.place, x.bucket",
            self.top.saturating_add(1)
        );
        sql
    }
}

/// Queries the values of the series.
fn fill(
    session: &Session,
    sql: &str,
    question: &Question,
    series: &mut [PivotSeries],
) -> Result<()> {
    // One more than the requested ones: place 0 is the sum of the others.
    let series_count = (question.top as usize).saturating_add(1);
    let most = series_count.saturating_mul(question.buckets.count as usize);
    for row in asked(session, sql, most)?.rows {
        let place = whole_at(&row, 0)?;
        let bucket = whole_at(&row, 1)?;
        let value = row
            .get(2)
            .ok_or_else(|| Problem::lacking("the value of a bucket"))?;
        let one = match usize::try_from(place) {
            Ok(0) => series.iter_mut().find(|one| one.is_others),
            Ok(place) => series.get_mut(place - 1),
            Err(_) => None,
        };
        let bucket = usize::try_from(bucket).ok();
        let to = one
            .zip(bucket)
            .and_then(|(one, bucket)| one.values.get_mut(bucket));
        if let Some(to) = to {
            *to = value.clone();
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use etwkit_trace::table::{Columns, DiskIo, Row};

    use super::*;
    use crate::cells::whole;
    use crate::wire::Measure;

    /// Returns a session over operations of disks.
    pub(crate) fn disk_session(rows: &[DiskIo]) -> Session {
        let mut columns = <DiskIo as Row>::Columns::default();
        rows.iter().for_each(|row| columns.push(row));
        Session::from_batches(vec![(DiskIo::TABLE, vec![columns.take().unwrap()])]).unwrap()
    }

    #[test]
    fn the_example_of_the_page_is_spread_or_stands_where_it_ends() {
        let io = |kind, from: i64, to: i64, size| DiskIo {
            kind,
            init_ns: from,
            complete_ns: to,
            io_ns: to - from,
            size_bytes: size,
            ..DiskIo::default()
        };
        let rows = [
            io("read", 5, 35, 100),
            io("read", 12, 14, 50),
            io("write", 38, 60, 10),
        ];
        let session = disk_session(&rows);
        let drawn = |function: &str, column: &str| {
            let request = PivotSeriesRequest {
                trace: 0,
                table: "disk_io".to_owned(),
                group: "kind".to_owned(),
                measure: Measure {
                    function: function.to_owned(),
                    column: column.to_owned(),
                },
                range: Range {
                    from_ns: 0,
                    to_ns: 40,
                },
                buckets: 4,
                top: 2,
                selection: Selection::default(),
                filters: Vec::new(),
            };
            let table = tables::table("disk_io").unwrap();
            let selected = select(&session, table, &request.selection).unwrap();
            let question = Question::new(&session, &request, table, selected).unwrap();
            let (mut series, _, _) = question.top(&session).unwrap();
            fill(&session, &question.series_sql(), &question, &mut series).unwrap();
            let values = |one: &PivotSeries| {
                // A bucket without rows has no value.
                let all = one.values.iter().map(|value| whole(value).unwrap_or(0));
                (one.label.clone(), all.collect::<Vec<_>>())
            };
            series.iter().map(values).collect::<Vec<_>>()
        };
        let of = |label: &str, values: [i64; 4]| (label.to_owned(), values.to_vec());
        assert_eq!(
            drawn("sum", "io_ns"),
            [of("read", [5, 12, 10, 5]), of("write", [0, 0, 0, 2])]
        );
        assert_eq!(drawn("sum", "size_bytes"), [of("read", [0, 50, 0, 100])]);
        assert_eq!(drawn("max", "io_ns"), [of("read", [0, 2, 0, 30])]);
    }

    #[test]
    fn buckets_are_whole_nanoseconds_and_hold_the_range() {
        let of = |to_ns, most| Buckets::of(Range { from_ns: 10, to_ns }, most).unwrap();
        let some = of(20, 3);
        assert_eq!((some.width, some.count, some.range.to_ns), (4, 3, 22));
        let many = of(12, 600);
        assert_eq!((many.width, many.count, many.range.to_ns), (1, 2, 12));
        assert!(
            Buckets::of(
                Range {
                    from_ns: 5,
                    to_ns: 5
                },
                4
            )
            .is_err()
        );
        let whole = Buckets::of(
            Range {
                from_ns: i64::MIN,
                to_ns: i64::MAX,
            },
            2,
        )
        .unwrap();
        assert!(whole.count <= 2);
    }
}
