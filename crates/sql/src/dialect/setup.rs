//! Macros and views for DuckDB, which stand for the functions and the tables of etwkit.

use std::fmt::Write;
use std::path::Path;

use etwkit_base::path::stem_of;
use etwkit_trace::status;
use etwkit_trace::table::{
    Column, ColumnKind, DERIVED, ExtractInfo, RUN_ID, Row, Table, TopicInfo,
};
use etwkit_trace::topics::TABLES;

use crate::functions::lists_of_names;
use crate::literal::quoted;
use crate::nt_status;
use crate::provider::TRACE_ID;

/// Macros, and views over other views.
const MACROS: &str = include_str!("duckdb.sql");

/// Functions whose macros are made from tables of names.
const NAMES_OF_CODES: [&str; 2] = ["ntstatus_name", "win32_error_name"];

/// Returns `true` if there is a macro for a function.
pub(super) fn has_macro(name: &str) -> bool {
    MACROS.contains(&format!("MACRO {name}("))
        || NAMES_OF_CODES.contains(&name)
        || lists_of_names().any(|(function, _)| function == name)
}

/// Returns the statements that create all of them for the folder of an extract.
pub(super) fn duckdb(extract: &Path) -> String {
    let mut sql = String::from("-- The tables of the extract.\n");
    for table in TABLES.iter().copied().chain([TopicInfo::TABLE]) {
        view(&mut sql, table, extract, &format!("{}.parquet", table.name));
    }
    for table in DERIVED.iter().copied() {
        let file = format!("derived/{}.parquet", table.name);
        view(&mut sql, table, extract, &file);
    }
    about(&mut sql, extract);
    sql.push_str(MACROS);
    sql.push_str("-- Names of numbers.\n");
    for (function, names) in lists_of_names() {
        macro_of_list(&mut sql, function, names);
    }
    let of_status = nt_status::names().map(|(code, name)| (code.cast_signed(), name));
    macro_of_codes(
        &mut sql,
        "ntstatus_name",
        of_status,
        "printf('0x%08x', code::BIGINT & 4294967295)",
    );
    let of_error = status::win32_names().map(|(code, name)| (code.cast_signed(), name));
    macro_of_codes(&mut sql, "win32_error_name", of_error, "code::VARCHAR");
    sql
}

/// Appends the view of a table, which has no rows if its file is not there.
fn view(sql: &mut String, table: &Table, extract: &Path, file: &str) {
    let path = extract.join(file);
    let rows = if path.is_file() {
        format!("SELECT 0 AS {TRACE_ID}, * FROM {}", parquet(&path))
    } else {
        let columns: Vec<String> = [RUN_ID].iter().chain(table.columns).map(missing).collect();
        let columns = columns.join(", ");
        format!("SELECT 0 AS {TRACE_ID}, {columns} WHERE false")
    };
    create_view(sql, table.name, &rows);
}

/// Appends the view of the table about the extract, whose name and path are not in its file.
fn about(sql: &mut String, extract: &Path) {
    let table = ExtractInfo::TABLE.name;
    let path = extract.join(format!("{table}.parquet"));
    let name = stem_of(extract);
    let rows = format!(
        "SELECT 0 AS {TRACE_ID}, {run_id}, {} AS name, {} AS path, * EXCLUDE ({run_id}) FROM {}",
        quoted(&name),
        quoted(&extract.display().to_string()),
        parquet(&path),
        run_id = RUN_ID.name,
    );
    create_view(sql, table, &rows);
}

fn create_view(sql: &mut String, name: &str, rows: &str) {
    // Writing into text does not fail.
    let _ = writeln!(sql, "CREATE OR REPLACE VIEW \"{name}\" AS {rows};");
}

/// Returns a column without values.
fn missing(column: &Column) -> String {
    let kind = match column.kind {
        ColumnKind::Int32 => "INTEGER",
        ColumnKind::Int64 => "BIGINT",
        ColumnKind::Float64 => "DOUBLE",
        ColumnKind::Boolean => "BOOLEAN",
        ColumnKind::Text => "VARCHAR",
        ColumnKind::Binary => "BLOB",
        ColumnKind::Timestamp => "TIMESTAMPTZ",
    };
    format!("NULL::{kind} AS \"{}\"", column.name)
}

/// Returns the call that reads a file.
fn parquet(path: &Path) -> String {
    // Signs of a pattern are put in brackets, where they stand for themselves.
    let mut pattern = String::new();
    for sign in path.display().to_string().chars() {
        match sign {
            '*' | '?' | '[' => pattern.extend(['[', sign, ']']),
            sign => pattern.push(sign),
        }
    }
    // Otherwise the value in a folder like `pid=5` would replace the column of that name.
    format!(
        "read_parquet({}, hive_partitioning = false)",
        quoted(&pattern)
    )
}

/// Appends the macro of a function that names numbers from 0 on, and writes others as digits.
fn macro_of_list(sql: &mut String, function: &str, names: &[&str]) {
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    let names = names.join(", ");
    let _ = writeln!(
        sql,
        "CREATE OR REPLACE MACRO {function}(number) AS\n  \
         coalesce(CASE WHEN number >= 0 THEN list_extract([{names}], number + 1) END, number::VARCHAR);"
    );
}

/// Appends the macro of a function that names codes, with an expression for those without a name.
fn macro_of_codes<'n>(
    sql: &mut String,
    function: &str,
    names: impl Iterator<Item = (i32, &'n str)>,
    others: &str,
) {
    let (codes, names): (Vec<String>, Vec<String>) = names
        .map(|(code, name)| (code.to_string(), quoted(name)))
        .unzip();
    let codes = codes.join(", ");
    let names = names.join(", ");
    let _ = writeln!(
        sql,
        "CREATE OR REPLACE MACRO {function}(code) AS\n  \
         coalesce(list_extract([{names}], list_position([{codes}], code)), {others});"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_macros() {
        for name in [
            "process_match",
            "wait_reason_name",
            "ntstatus_name",
            "etwkit_hex",
        ] {
            assert!(has_macro(name), "{name}");
        }
        for name in ["stack_tag", "sum", "etwkit"] {
            assert!(!has_macro(name), "{name}");
        }
    }

    #[test]
    fn a_table_without_a_file_has_no_rows_and_paths_are_no_patterns() {
        let folder = tempfile::tempdir().unwrap();
        let extract = folder.path().join("it's [1].etwx");
        std::fs::create_dir(&extract).unwrap();
        std::fs::write(extract.join("process.parquet"), "").unwrap();
        let sql = duckdb(&extract);
        let view = |name: &str| {
            let start = format!("CREATE OR REPLACE VIEW \"{name}\" AS ");
            sql.lines().find(|line| line.starts_with(&start)).unwrap()
        };
        let process = view("process");
        assert!(
            process.contains("it''s [[]1].etwx")
                && process.ends_with("process.parquet', hive_partitioning = false);"),
            "{process}"
        );
        assert!(
            view("thread").contains("NULL::INTEGER AS \"tid\"")
                && view("thread").ends_with(" WHERE false;"),
            "{}",
            view("thread")
        );
        assert!(
            view("extract").contains("'it''s [1]' AS name"),
            "{}",
            view("extract")
        );
    }
}
