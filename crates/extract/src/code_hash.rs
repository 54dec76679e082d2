//! Numbers that are equal for equal code, whatever trace it is in: `method_hash` and `stack_hash`.
//!
//! Methods and stacks are numbered anew in each extract, so that what two traces have in common can only be
//! found by name. That of a method is hashed once here, where all names are known; that of a stack follows
//! from its caller's. `docs/FORMAT.md` says exactly what is hashed, so that other programs can do the same.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use etwkit_trace::derive::TableSource;
use etwkit_trace::derive::columns::{Get, int32, int64, text};
use etwkit_trace::sink::SinkError;
use etwkit_trace::table::{Frame, Method, Module, Row, Stack, Table};
use etwkit_trace::topics::TABLES;

use crate::Writer;
use crate::sealed::Sealed;

/// FNV-1a with 64 bits: a few lines in any language.
#[derive(Debug, Clone, Copy)]
struct Fnv(u64);

impl Fnv {
    const START: Self = Self(0xCBF2_9CE4_8422_2325);

    fn add(self, bytes: &[u8]) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
        Self(bytes.iter().fold(self.0, step))
    }

    const fn value(self) -> i64 {
        self.0.cast_signed()
    }
}

/// The beginning of the text that stands for code of a module: its file name, A to Z as a to z, and `!`.
fn of_module(name: &str) -> Fnv {
    Fnv::START.add(name.to_ascii_lowercase().as_bytes()).add(b"!")
}

/// A method by name: `file.dll!Namespace.Type.Method`.
fn of_method(module: &str, name: &str) -> i64 {
    of_module(module).add(name.as_bytes()).value()
}

/// Code without a name: `file.dll!+0x1a2b`, or `?` where its module is not known either, since addresses mean
/// something else in each trace.
fn of_offset(module: Option<&str>, rva: Option<i64>) -> i64 {
    match module.zip(rva) {
        Some((module, rva)) => of_module(module).add(format!("+{rva:#x}").as_bytes()).value(),
        None => Fnv::START.add(b"?").value(),
    }
}

/// A stack: the hash of its caller's stack, 0 for the outermost frame, and that of its code.
fn of_stack(caller: i64, code: i64) -> i64 {
    Fnv::START.add(&caller.to_le_bytes()).add(&code.to_le_bytes()).value()
}

/// Fills the columns of hashes by the names that are known now, for methods that frames have and for stacks
/// that rows have: they are as large as all other columns of a stack together, and most nodes are callers
/// alone. Where rows are in tables that are not sealed, `all_stacks` are asked for.
pub(crate) fn write(sealed: Sealed, writer: &mut Writer, all_stacks: bool) -> Result<Sealed, SinkError> {
    if !sealed.0.contains_key(Method::TABLE.name) && !sealed.0.contains_key(Stack::TABLE.name) {
        return Ok(sealed);
    }
    let names = module_names(&sealed)?;
    let module = |id: Option<i32>| at(&names, id).map(String::as_str);
    let methods = methods(&sealed, &module)?;
    let mut is_in_frame = vec![false; methods.len()];
    let mut frames: Vec<i64> = Vec::new();
    sealed.scan(Frame::TABLE, &["module_id", "rva", "method_id"], &mut |batch| {
        let (of, rva) = (int32(batch, "module_id")?, int64(batch, "rva")?);
        let method = int32(batch, "method_id")?;
        for row in 0..batch.num_rows() {
            mark(&mut is_in_frame, method.get(row));
            let named = at(&methods, method.get(row)).copied();
            frames.push(named.unwrap_or_else(|| of_offset(module(of.get(row)), rva.get(row))));
        }
        Ok(())
    })?;
    let mut first = 0;
    writer.rewrite(&sealed, Method::TABLE, &mut |batch| {
        let hash = |row| methods.get(row).copied().filter(|_| is_in_frame.get(row) == Some(&true));
        let hashes = (first..first + batch.num_rows()).map(hash).collect();
        first += batch.num_rows();
        with_column(Method::TABLE, batch, "method_hash", hashes)
    })?;
    let is_of_row = if all_stacks { None } else { Some(stacks_of_rows(&sealed)?) };
    let mut stacks: Vec<i64> = Vec::new();
    writer.rewrite(&sealed, Stack::TABLE, &mut |batch| {
        let (parent, frame) = (int32(batch, "parent_id")?, int32(batch, "frame_id")?);
        let mut hashes = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            // What a damaged file claims is a caller that comes later is none.
            let caller = at(&stacks, parent.get(row)).copied().unwrap_or_default();
            let code = at(&frames, frame.get(row)).copied().unwrap_or_else(|| of_offset(None, None));
            let is_of_row = is_of_row.as_ref().is_none_or(|named| named.get(stacks.len()) == Some(&true));
            stacks.push(of_stack(caller, code));
            hashes.push(stacks.last().copied().filter(|_| is_of_row));
        }
        with_column(Stack::TABLE, batch, "stack_hash", hashes)
    })?;
    Ok(Sealed(writer.seal()?))
}

fn at<T>(list: &[T], id: Option<i32>) -> Option<&T> {
    list.get(usize::try_from(id?).ok()?)
}

fn mark(list: &mut [bool], id: Option<i32>) {
    if let Some(place) = id.and_then(|id| list.get_mut(usize::try_from(id).ok()?)) {
        *place = true;
    }
}

/// The hashes of all methods.
fn methods<'m>(
    sealed: &Sealed,
    module: &dyn Fn(Option<i32>) -> Option<&'m str>,
) -> Result<Vec<i64>, SinkError> {
    let mut hashes = Vec::new();
    sealed.scan(Method::TABLE, &["module_id", "name"], &mut |batch| {
        let (of, name) = (int32(batch, "module_id")?, text(batch, "name")?);
        let hash =
            |row| of_method(module(of.get(row)).unwrap_or_default(), name.get(row).unwrap_or_default());
        hashes.extend((0..batch.num_rows()).map(hash));
        Ok(())
    })?;
    Ok(hashes)
}

/// Which nodes are stacks of rows, in whatever column a table has them.
fn stacks_of_rows(sealed: &Sealed) -> Result<Vec<bool>, SinkError> {
    let count = sealed.0.get(Stack::TABLE.name).map_or(0, |file| file.rows);
    let mut named = vec![false; usize::try_from(count)?];
    for table in TABLES.iter().filter(|table| table.name != Stack::TABLE.name) {
        let names = table.columns.iter().map(|column| column.name);
        let columns: Vec<&str> = names.filter(|name| is_stack(name)).collect();
        if columns.is_empty() {
            continue;
        }
        sealed.scan(table, &columns, &mut |batch| {
            for name in &columns {
                let stacks = int32(batch, name)?;
                (0..batch.num_rows()).for_each(|row| mark(&mut named, stacks.get(row)));
            }
            Ok(())
        })?;
    }
    Ok(named)
}

/// Whether a column has numbers of stacks.
fn is_stack(column: &str) -> bool {
    column == "stack_id" || column.ends_with("_stack_id")
}

fn module_names(sealed: &Sealed) -> Result<Vec<String>, SinkError> {
    let mut names = Vec::new();
    sealed.scan(Module::TABLE, &["name"], &mut |batch| {
        let name = text(batch, "name")?;
        names.extend((0..batch.num_rows()).map(|row| name.get(row).unwrap_or_default().to_owned()));
        Ok(())
    })?;
    Ok(names)
}

/// Rows of a table with other values in one column.
fn with_column(
    table: &Table,
    batch: &RecordBatch,
    name: &str,
    values: Vec<Option<i64>>,
) -> Result<RecordBatch, SinkError> {
    let values: ArrayRef = Arc::new(Int64Array::from(values));
    let column = |column: &etwkit_trace::table::Column| {
        if column.name == name { Some(values.clone()) } else { batch.column_by_name(column.name).cloned() }
    };
    let all: Option<Vec<ArrayRef>> = table.columns.iter().map(column).collect();
    Ok(RecordBatch::try_new(table.schema(), all.ok_or("the table lacks a column")?)?)
}

#[cfg(test)]
mod tests {
    use etwkit_trace::table::ContextSwitch;

    use super::*;

    #[test]
    fn stacks_of_rows_are_in_all_columns_that_name_them() {
        let columns = ContextSwitch::TABLE.columns.iter().map(|column| column.name);
        let stacks: Vec<&str> = columns.filter(|name| is_stack(name)).collect();
        assert!(stacks.contains(&"stack_id") && stacks.contains(&"readying_stack_id"), "{stacks:?}");
        assert!(!is_stack("frame_id"));
    }

    /// Numbers that any implementation of FNV-1a has for these texts.
    #[test]
    fn hashes_are_fnv_1a_of_what_the_page_says() {
        let fnv = |text: &str| Fnv::START.add(text.as_bytes()).value();
        assert_eq!(fnv(""), 0xCBF2_9CE4_8422_2325_u64.cast_signed());
        assert_eq!(fnv("a"), 0xAF63_DC4C_8601_EC8C_u64.cast_signed());
        assert_eq!(of_method("NTDLL.dll", "RtlUserThreadStart"), fnv("ntdll.dll!RtlUserThreadStart"));
        assert_eq!(of_method("", "Shop.Cart.Add"), fnv("!Shop.Cart.Add"));
        assert_ne!(of_method("a.dll", "Run"), of_method("a.dll", "run"), "names of methods keep their case");
        assert_eq!(of_offset(Some("A.dll"), Some(0x1A2B)), fnv("a.dll!+0x1a2b"));
        assert_eq!(of_offset(None, None), fnv("?"));
        let bytes = [0, 0, 0, 0, 0, 0, 0, 0, 0x15, 0x81, 0, 0, 0, 0, 0, 0];
        assert_eq!(of_stack(0, 0x8115), Fnv::START.add(&bytes).value());
        assert_ne!(of_stack(1, 2), of_stack(2, 1));
    }
}
