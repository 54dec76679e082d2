//! Measurements of a workload: rows of the same columns, for people and as CSV.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use etwkit_terminal::errors::advised;
use etwkit_terminal::{Lines, Table};

/// Rows below a heading.
#[derive(Debug)]
pub(crate) struct Rows<const N: usize> {
    pub(crate) heading: &'static str,
    /// Name of each column. The names of numeric columns end with `>`.
    pub(crate) columns: [&'static str; N],
    pub(crate) rows: Vec<[String; N]>,
}

impl<const N: usize> Rows<N> {
    /// Prints the rows, and writes them into the file.
    pub(crate) fn print(self, lines: &mut Lines<'_>, csv: Option<File>) -> Result<()> {
        lines.heading(self.heading)?;
        let titles = self.columns.join("|").replace('_', " ");
        lines.table(&Table::of(&titles, self.rows.clone()))?;
        let Some(csv) = csv else { return Ok(()) };
        let mut csv = csv::Writer::from_writer(csv);
        csv.write_record(self.columns.iter().map(|name| name.trim_end_matches('>')))?;
        self.rows.iter().try_for_each(|row| csv.write_record(row))?;
        csv.flush().context("cannot write the CSV file")
    }
}

/// Creates a file that must not exist yet.
pub(crate) fn create(path: &Path) -> Result<File> {
    File::create_new(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            advised(format!("{} exists", path.display()), "give another name")
        }
        _ => anyhow::Error::new(error).context(format!("cannot write {}", path.display())),
    })
}
