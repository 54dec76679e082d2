//! `stack_hash`: numbers of stacks that are equal in every trace.

use super::TableSource;
use super::columns::{Get, int32, int64, text};
use crate::code_hash::{of_method, of_offset, of_stacks};
use crate::sink::{Sink, SinkError};
use crate::table::{Columns, Frame, Method, Module, Row, Stack, StackHash};
use crate::topics::TABLES;

/// Rows of a batch.
const BATCH: usize = 1 << 14;

/// Writes the hashes of the stacks that rows have: most nodes of the tree are only callers.
///
/// # Errors
/// The errors of the source and the sink.
pub fn stack_hashes(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut nodes: Vec<(Option<i32>, i64)> = Vec::new();
    let frames = frames(source)?;
    source.scan(Stack::TABLE, &["parent_id", "frame_id"], &mut |batch| {
        let parent = int32(batch, "parent_id")?;
        let frame = int32(batch, "frame_id")?;
        let code = |row| {
            at(&frames, frame.get(row))
                .copied()
                // A node without a known frame has the hash of code outside all modules.
                .unwrap_or_else(|| of_offset(None, None))
        };
        nodes.extend((0..batch.num_rows()).map(|row| (parent.get(row), code(row))));
        Ok(())
    })?;
    let is_of_row = stacks_of_rows(source, nodes.len())?;
    let hashes = of_stacks(nodes.into_iter());
    let mut rows = <StackHash as Row>::Columns::default();
    for ((stack_id, stack_hash), _) in (0..)
        .zip(hashes)
        .zip(is_of_row)
        .filter(|(_, is_of_row)| *is_of_row)
    {
        rows.push(&StackHash {
            stack_id,
            stack_hash,
        });
        if rows.len() >= BATCH {
            sink.write(StackHash::TABLE, rows.take()?)?;
        }
    }
    if rows.is_empty() {
        Ok(())
    } else {
        sink.write(StackHash::TABLE, rows.take()?)
    }
}

fn at<T>(list: &[T], id: Option<i32>) -> Option<&T> {
    list.get(usize::try_from(id?).ok()?)
}

/// The hashes of the code of all frames.
fn frames(source: &dyn TableSource) -> Result<Vec<i64>, SinkError> {
    let mut names: Vec<String> = Vec::new();
    source.scan(Module::TABLE, &["name"], &mut |batch| {
        let name = text(batch, "name")?;
        names.extend((0..batch.num_rows()).map(|row| name.get(row).unwrap_or("").to_owned()));
        Ok(())
    })?;
    let module = |id: Option<i32>| at(&names, id).map(String::as_str);
    let mut methods: Vec<i64> = Vec::new();
    source.scan(Method::TABLE, &["module_id", "name"], &mut |batch| {
        let of = int32(batch, "module_id")?;
        let name = text(batch, "name")?;
        let hash = |row| {
            of_method(
                module(of.get(row)).unwrap_or(""),
                name.get(row).unwrap_or(""),
            )
        };
        methods.extend((0..batch.num_rows()).map(hash));
        Ok(())
    })?;
    let mut frames: Vec<i64> = Vec::new();
    source.scan(
        Frame::TABLE,
        &["module_id", "rva", "method_id"],
        &mut |batch| {
            let of = int32(batch, "module_id")?;
            let rva = int64(batch, "rva")?;
            let method = int32(batch, "method_id")?;
            for row in 0..batch.num_rows() {
                let named = at(&methods, method.get(row)).copied();
                // Code without a name is identified by its offset in the module.
                frames.push(named.unwrap_or_else(|| of_offset(module(of.get(row)), rva.get(row))));
            }
            Ok(())
        },
    )?;
    Ok(frames)
}

/// Marks the nodes that are stacks of rows, in any column of any table. `count` is the number of
/// nodes.
fn stacks_of_rows(source: &dyn TableSource, count: usize) -> Result<Vec<bool>, SinkError> {
    let mut named = vec![false; count];
    // In the table of stacks itself every node names a stack, its own.
    for table in TABLES
        .iter()
        .filter(|table| table.name != Stack::TABLE.name)
    {
        let names = table.columns.iter().map(|column| column.name);
        let columns: Vec<&str> = names.filter(|name| is_stack(name)).collect();
        if columns.is_empty() {
            continue;
        }
        source.scan(table, &columns, &mut |batch| {
            for name in &columns {
                let stacks = int32(batch, name)?;
                let ids =
                    (0..batch.num_rows()).filter_map(|row| usize::try_from(stacks.get(row)?).ok());
                for id in ids {
                    if let Some(named) = named.get_mut(id) {
                        *named = true;
                    }
                }
            }
            Ok(())
        })?;
    }
    Ok(named)
}

/// True if a column contains stack IDs.
#[must_use]
pub fn is_stack(column: &str) -> bool {
    column == "stack_id" || column.ends_with("_stack_id")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{ContextSwitch, CpuSample, Table};

    #[test]
    fn stacks_of_rows_are_in_all_columns_that_name_them() {
        let columns = ContextSwitch::TABLE
            .columns
            .iter()
            .map(|column| column.name);
        let stacks: Vec<&str> = columns.filter(|name| is_stack(name)).collect();
        assert!(
            stacks.contains(&"stack_id") && stacks.contains(&"readying_stack_id"),
            "{stacks:?}"
        );
        assert!(!is_stack("frame_id"));
    }

    fn batch<R: Row>(rows: &[R]) -> (&'static Table, arrow_array::RecordBatch) {
        let mut columns = R::Columns::default();
        rows.iter().for_each(|row| columns.push(row));
        (R::TABLE, columns.take().unwrap())
    }

    #[test]
    fn stacks_that_rows_have_get_numbers_by_the_names_of_their_code() {
        let module = Module {
            name: "A.dll".to_owned(),
            ..Module::default()
        };
        let method = Method {
            module_id: Some(0),
            name: "Run".to_owned(),
            ..Method::default()
        };
        let named = Frame {
            method_id: Some(0),
            ..Frame::default()
        };
        let unnamed = Frame {
            frame_id: 1,
            module_id: Some(0),
            rva: Some(0x1A2B),
            ..Frame::default()
        };
        let stack = |stack_id, parent_id, frame_id| Stack {
            stack_id,
            parent_id,
            frame_id,
            depth: 0,
        };
        let source = vec![
            batch(&[module]),
            batch(&[method]),
            batch(&[named, unnamed]),
            batch(&[stack(0, None, 0), stack(1, Some(0), 1)]),
            batch(&[CpuSample {
                stack_id: 1,
                ..CpuSample::default()
            }]),
        ];
        let mut written: Vec<(&'static Table, arrow_array::RecordBatch)> = Vec::new();
        stack_hashes(&source, &mut written).unwrap();
        let [(table, rows)] = written.as_slice() else {
            panic!("{}", written.len())
        };
        assert_eq!(
            (table.name, rows.num_rows()),
            ("stack_hash", 1),
            "the outermost node is a caller alone"
        );
        let code = [
            of_method("a.dll", "Run"),
            of_offset(Some("a.dll"), Some(0x1A2B)),
        ];
        let expected = of_stacks([(None, code[0]), (Some(0), code[1])].into_iter())[1];
        assert_eq!(int32(rows, "stack_id").unwrap().get(0), Some(1));
        assert_eq!(int64(rows, "stack_hash").unwrap().get(0), Some(expected));
    }
}
