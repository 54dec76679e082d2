//! Columns of a table: each is a separate array in the file, while rows come one by one.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::PathBuf;

use crate::{Error, Result};

/// Maximum size of a column in memory, in bytes; the rest goes to a temporary file. Most threads
/// have few rows, whose columns never need one.
const HELD: usize = 64 << 10;

/// Columns by the names of their arrays.
pub(super) struct Columns {
    columns: Vec<Column>,
    rows: usize,
    folder: Option<PathBuf>,
}

struct Column {
    name: &'static str,
    held: String,
    /// Earlier rows, if they were too large for memory.
    file: Option<File>,
}

impl Columns {
    /// Creates columns without rows. `folder` is for temporary files; `None` is the folder of the
    /// system.
    pub(super) fn new(names: &[&'static str], folder: Option<PathBuf>) -> Self {
        let column = |name: &&'static str| Column {
            name,
            held: String::new(),
            file: None,
        };
        Self {
            columns: names.iter().map(column).collect(),
            rows: 0,
            folder,
        }
    }

    /// Adds a row: JSON for each column.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub(super) fn push<const N: usize>(&mut self, values: [String; N]) -> Result<()> {
        for (column, value) in self.columns.iter_mut().zip(values) {
            if self.rows > 0 {
                column.held.push(',');
            }
            column.held.push_str(&value);
            if column.held.len() >= HELD {
                column.spill(self.folder.as_ref()).map_err(Error::Spool)?;
            }
        }
        self.rows += 1;
        Ok(())
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Writes all rows as an object: the requested columns, and further members. No rows follow.
    ///
    /// # Errors
    /// The rows cannot be written, or not be read from their temporary file.
    pub(super) fn finish(
        &mut self,
        out: &mut dyn Write,
        wants: impl Fn(&str) -> bool,
        more: &str,
    ) -> Result<()> {
        out.write_all(b"{").map_err(Error::Write)?;
        for column in &mut self.columns {
            if wants(column.name) {
                write!(out, "\"{}\":[", column.name).map_err(Error::Write)?;
                column.copy(out)?;
                out.write_all(b"],\n").map_err(Error::Write)?;
            }
            // A column that is not written is cleared as well: otherwise its rows would appear in
            // the next thread.
            column.clear().map_err(Error::Spool)?;
        }
        write!(out, "\"length\":{}{more}}}", self.rows).map_err(Error::Write)?;
        self.rows = 0;
        Ok(())
    }
}

impl Column {
    fn spill(&mut self, folder: Option<&PathBuf>) -> io::Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => folder.map_or_else(tempfile::tempfile, tempfile::tempfile_in)?,
        };
        self.file.insert(file).write_all(self.held.as_bytes())?;
        self.held.clear();
        Ok(())
    }

    fn copy(&mut self, out: &mut dyn Write) -> Result<()> {
        if let Some(file) = &mut self.file {
            file.rewind().map_err(Error::Spool)?;
            io::copy(file, out).map_err(Error::Write)?;
        }
        out.write_all(self.held.as_bytes()).map_err(Error::Write)
    }

    /// Forgets its rows. The file is kept for the rows of the next table.
    fn clear(&mut self) -> io::Result<()> {
        self.held.clear();
        if let Some(file) = &mut self.file {
            file.rewind()?;
            file.set_len(0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rows_come_back_in_their_order_and_only_once() {
        let mut columns = Columns::new(&["a", "b", "c"], None);
        let finished = |columns: &mut Columns| {
            let mut out = Vec::new();
            columns
                .finish(&mut out, |name| name != "c", ",\"kind\":1")
                .unwrap();
            serde_json::from_slice::<serde_json::Value>(&out).unwrap()
        };
        for rows in [30_000, 0, 20_000, 2] {
            for row in 0..rows {
                columns
                    .push([row.to_string(), format!("\"{row}\""), "null".to_owned()])
                    .unwrap();
            }
            assert_eq!(columns.is_empty(), rows == 0);
            let numbers: Vec<usize> = (0..rows).collect();
            let texts: Vec<String> = numbers.iter().map(usize::to_string).collect();
            let json = serde_json::json!({"a": numbers, "b": texts, "length": rows, "kind": 1});
            assert!(finished(&mut columns) == json, "{rows}");
        }
    }
}
