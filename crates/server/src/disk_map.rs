//! Positions of disk operations over time, and the operations in one part of this picture.
//!
//! Both count operations that were complete in a range, at the position where they begin. Each
//! operation counts once, regardless of the size of the picture.

use etwkit_sql::Session;
use etwkit_trace::table::Table;

use crate::api::Call;
use crate::cells::{asked, count_at, key, one_row, sum_at, text_at, whole, whole_at};
use crate::pivot_series::Buckets;
use crate::problem::{Problem, Result};
use crate::select::{Selected, select};
use crate::tables;
use crate::wire::{
    Cell, DiskCellAnswer, DiskCellFile, DiskCellRequest, DiskMapAnswer, DiskMapRequest, DiskOnMap,
    Range, Selection, Source,
};

/// Largest number of cells in a picture: with two counts each, an answer stays below 200 kB.
const MOST_CELLS: u32 = 10_000;
/// Largest number of listed disks.
const MOST_DISKS: usize = 64;
/// Largest number of files for a part.
const MOST_FILES: u32 = 20;

/// A disk of the trace.
struct Disk {
    number: i32,
    operations: u64,
    /// Lowest and highest position.
    ends: Option<(i64, i64)>,
}

/// Returns the numbers in a column of the cells of a picture.
fn numbers(rows: &[Vec<Cell>], column: usize) -> Result<Vec<u32>> {
    let number = |row: &Vec<Cell>| {
        u32::try_from(whole_at(row, column)?)
            .map_err(|_| Problem::lacking(&format!("a small number in column {column}")))
    };
    rows.iter().map(number).collect()
}

/// Returns the disks of the trace, those with most operations first.
fn disks(session: &Session) -> Result<Vec<Disk>> {
    let sql = "SELECT disk, count(*) AS operations, min(offset_bytes), max(offset_bytes) FROM disk_io \
               GROUP BY disk \
               ORDER BY operations DESC, disk";
    let mut disks = Vec::new();
    for row in asked(session, sql, MOST_DISKS)?.rows {
        let ends = row.get(2).and_then(whole).zip(row.get(3).and_then(whole));
        // Operations without a disk are on no map.
        if let Some(number) = row.first().and_then(key) {
            disks.push(Disk {
                number,
                operations: count_at(&row, 1)?,
                ends,
            });
        }
    }
    Ok(disks)
}

/// Returns the operations of a disk that were complete in a range.
fn operations(
    session: &Session,
    chips: &Selection,
    disk: i32,
    range: Range,
) -> Result<(Selected, &'static Table)> {
    let table = tables::table("disk_io")?;
    // The range is the range of the picture and compares completion times. The range of the
    // selection is not applied as well: it counts every operation that touches it.
    let selection = Selection {
        range: None,
        chips: chips.chips.clone(),
    };
    let mut selected = select(session, table, &selection)?;
    let Range {
        from_ns: a,
        to_ns: z,
    } = range;
    selected.and(format!(
        "t.disk = {disk} AND t.complete_ns >= {a} AND t.complete_ns < {z}"
    ));
    Ok((selected, table))
}

pub(crate) fn map(call: &Call<'_>, request: &DiskMapRequest) -> Result<DiskMapAnswer> {
    let cells = request.columns.saturating_mul(request.rows);
    if cells == 0 || cells > MOST_CELLS {
        return Err(Problem::bad(format!(
            "expected 1 to {MOST_CELLS} cells, columns times rows"
        )));
    }
    let columns = Buckets::of(request.range, request.columns)?;
    let ready = call.ready(request.trace)?;
    let session = call.session(&ready)?;
    let disks = disks(&session)?;
    let disk = chosen(&disks, request.disk)?;
    // A disk whose operations have no position has an empty picture.
    let (lowest, highest) = disk.ends.unwrap_or((0, 0));
    // One byte more, so that the last position is inside a row and not at its end.
    let positions = Range {
        from_ns: lowest,
        to_ns: highest.saturating_add(1),
    };
    let rows = Buckets::of(positions, request.rows)?;
    let (selected, table) = operations(&session, &request.selection, disk.number, columns.range)?;
    // Both counts in one statement: the second one leaves out operations whose position is null.
    let of_all = format!(
        "SELECT count(*), count(t.offset_bytes) FROM {} t{}",
        table.name,
        selected.sql()
    );
    let of_all = one_row(&session, &of_all)?;
    let all = count_at(&of_all, 0)?;
    let with_offset = count_at(&of_all, 1)?;
    let sql = cells_sql(&columns, &rows, lowest, table, &selected);
    let found = asked(&session, &sql, MOST_CELLS as usize)?.rows;
    // Operations without a position are in no cell. They are counted so that the picture can be
    // compared with other sums.
    let without_offset = all.saturating_sub(with_offset);
    let source = Source {
        not_applied: selected.not_applied,
        notes: selected.notes,
        ..call.of_sql(&ready, sql, all)
    };
    Ok(DiskMapAnswer {
        disk: disk.number,
        range: columns.range,
        columns: columns.count,
        offset_from: rows.range.from_ns,
        offset_to: rows.range.to_ns,
        rows: rows.count,
        cells: numbers(&found, 0)?,
        reads: numbers(&found, 1)?,
        writes: numbers(&found, 2)?,
        without_offset,
        disks: disks
            .iter()
            .map(|one| DiskOnMap {
                disk: one.number,
                operations: one.operations,
            })
            .collect(),
        source,
    })
}

/// Returns the disk with this number, by default the disk with most operations, which is the first.
fn chosen(disks: &[Disk], number: Option<i32>) -> Result<&Disk> {
    let wanted = |one: &&Disk| number.is_none_or(|number| number == one.number);
    disks.iter().find(wanted).ok_or_else(|| match number {
        Some(disk) if !disks.is_empty() => {
            Problem::not_found(format!("nothing was recorded of disk {disk}"))
        }
        _ => Problem::not_recorded("no disk operations were recorded"),
    })
}

/// Returns SQL for the cells of a picture. They are numbered row by row, so that one number
/// identifies a cell.
fn cells_sql(
    columns: &Buckets,
    rows: &Buckets,
    lowest: i64,
    table: &Table,
    selected: &Selected,
) -> String {
    format!(
        "SELECT (t.offset_bytes - {lowest}) / {} * {} + (t.complete_ns - {}) / {} AS cell, \
         count(*) FILTER (WHERE t.kind = 'read') AS reads, count(*) FILTER (WHERE t.kind = 'write') AS \
         writes \
         FROM {} t{} AND t.offset_bytes IS NOT NULL GROUP BY cell ORDER BY cell",
        rows.width,
        columns.count,
        columns.range.from_ns,
        columns.width,
        table.name,
        selected.sql()
    )
}

pub(crate) fn cell(call: &Call<'_>, request: &DiskCellRequest) -> Result<DiskCellAnswer> {
    if request.limit == 0 || request.limit > MOST_FILES {
        return Err(Problem::bad(format!(
            "expected a limit from 1 to {MOST_FILES}"
        )));
    }
    let DiskCellRequest { disk, range, .. } = *request;
    let ready = call.ready(request.trace)?;
    let session = call.session(&ready)?;
    let (mut selected, table) = operations(&session, &request.selection, disk, range)?;
    selected.and(format!(
        "t.offset_bytes >= {} AND t.offset_bytes < {}",
        request.offset_from, request.offset_to
    ));
    let sums = sums_sql(disk, range, &selected);
    let row = one_row(&session, &sums)?;
    let (files, total) = files(&session, table, &selected, request.limit)?;
    let reads = count_at(&row, 0)?;
    let writes = count_at(&row, 1)?;
    let source = Source {
        not_applied: selected.not_applied,
        notes: selected.notes,
        ..call.of_sql(&ready, sums, reads.saturating_add(writes))
    };
    Ok(DiskCellAnswer {
        reads,
        writes,
        read_bytes: sum_at(&row, 2)?,
        write_bytes: sum_at(&row, 3)?,
        in_sequence: count_at(&row, 4)?,
        seeks: count_at(&row, 5)?,
        seek_bytes: row.get(6).and_then(whole),
        files,
        total,
        source,
    })
}

/// Returns SQL for the sums of the operations in a part of a disk, and the distance of each
/// operation from the previous one.
fn sums_sql(disk: i32, range: Range, selected: &Selected) -> String {
    // The operation before the first one of the range is the start of its seek.
    let before = format!(
        "SELECT max(complete_ns) FROM disk_io WHERE disk = {disk} AND complete_ns < {} AND offset_bytes \
         IS NOT NULL",
        range.from_ns
    );
    let steps = format!(
        "WITH w AS (SELECT *, abs(offset_bytes - lag(offset_bytes + size_bytes) \
         OVER (ORDER BY complete_ns, init_ns, offset_bytes)) AS distance FROM disk_io WHERE disk = {disk} \
         AND offset_bytes IS NOT NULL AND complete_ns < {} AND complete_ns >= coalesce(({before}), 0))",
        range.to_ns
    );
    format!(
        "{steps} SELECT count(*) FILTER (WHERE kind = 'read') AS reads, count(*) FILTER (WHERE kind = \
         'write') AS writes, \
         sum(CASE WHEN kind = 'read' THEN size_bytes END) AS read_bytes, \
         sum(CASE WHEN kind = 'write' THEN size_bytes END) AS write_bytes, \
         count(*) FILTER (WHERE distance = 0) AS in_sequence, count(*) FILTER (WHERE distance > 0) AS seeks, \
         CAST(avg(CASE WHEN distance > 0 THEN distance END) AS BIGINT) AS seek_bytes FROM w t{}",
        selected.sql()
    )
}

/// Returns the processes and files of operations, and their number.
fn files(
    session: &Session,
    table: &Table,
    selected: &Selected,
    limit: u32,
) -> Result<(Vec<DiskCellFile>, u64)> {
    let sql = format!(
        "WITH g AS (SELECT t.process_key, t.path, count(*) AS operations, sum(t.size_bytes) AS bytes \
         FROM {} t{} \
         GROUP BY t.process_key, t.path) \
         SELECT CASE WHEN p.pid IS NOT NULL THEN {} END AS process, g.path, g.operations, g.bytes, \
         count(*) OVER () AS total FROM g LEFT JOIN process p ON p.process_key = g.process_key \
         ORDER BY g.bytes DESC, g.operations DESC, g.process_key, g.path LIMIT {limit}",
        table.name,
        selected.sql(),
        tables::process_label("p")
    );
    let rows = asked(session, &sql, limit as usize)?.rows;
    // Each row has the number of all: without rows there are none.
    let total = rows.first().map_or(Ok(0), |row| count_at(row, 4))?;
    let of = |row: &Vec<Cell>| -> Result<DiskCellFile> {
        Ok(DiskCellFile {
            process: text_at(row, 0),
            path: text_at(row, 1),
            operations: count_at(row, 2)?,
            bytes: sum_at(row, 3)?,
        })
    };
    Ok((rows.iter().map(of).collect::<Result<_>>()?, total))
}

#[cfg(test)]
mod tests {
    use etwkit_trace::table::DiskIo;

    use super::*;
    use crate::pivot_series::tests::disk_session;

    #[test]
    fn the_example_of_the_page_has_one_seek_and_one_in_sequence() {
        let io = |from, to, offset, size| DiskIo {
            kind: "read",
            init_ns: from,
            complete_ns: to,
            offset_bytes: Some(offset),
            size_bytes: size,
            ..DiskIo::default()
        };
        let session = disk_session(&[io(5, 35, 0, 100), io(12, 14, 100, 50), io(38, 60, 100, 10)]);
        let sums = |from_ns: i64, to_ns: i64| {
            let range = Range { from_ns, to_ns };
            let (selected, _) = operations(&session, &Selection::default(), 0, range).unwrap();
            let row = one_row(&session, &sums_sql(0, range, &selected)).unwrap();
            (
                count_at(&row, 0).unwrap(),
                sum_at(&row, 2).unwrap(),
                count_at(&row, 4).unwrap(),
                count_at(&row, 5).unwrap(),
                row.get(6).and_then(whole),
            )
        };
        assert_eq!(sums(0, 61), (3, 160, 1, 1, Some(150)));
        // The operation before the first one of a part counts for any part.
        assert_eq!(sums(20, 61), (2, 110, 1, 1, Some(150)));
        assert_eq!(sums(36, 61), (1, 10, 1, 0, None));
        assert_eq!(sums(0, 15), (1, 50, 0, 0, None));
    }
}
