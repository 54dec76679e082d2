//! The check of a lake: each run is there as a whole, and nothing twice.

use std::collections::BTreeMap;
use std::fmt;

use crate::lake::layout::RUN;
use crate::lake::log::{File, Log};
use crate::lake::read::{Key, Keys};
use crate::lake::{Lake, Result, Run};
use crate::manifest::DERIVED_VERSION;

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// Runs.
    pub runs: usize,
    /// Tables, `run` among them.
    pub tables: usize,
    /// Files of the tables.
    pub files: usize,
    /// Rows of runs.
    pub rows: u64,
    /// Rows that belong to no run.
    pub dead_rows: u64,
    /// Names of runs whose computed tables another version made.
    pub other_versions: Vec<String>,
    /// Everything that is wrong.
    pub problems: Vec<Problem>,
}

/// Something that is wrong with a lake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The table.
    pub table: String,
    /// The file or the run, and what is wrong with it.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.table, self.what)
    }
}

impl Checked {
    fn wrong(&mut self, table: &str, what: String) {
        self.problems.push(Problem {
            table: table.to_owned(),
            what,
        });
    }
}

impl Lake {
    /// Checks that each file has its size and its rows, and that each run has all of its rows once.
    ///
    /// # Errors
    /// The table of runs, or a log, cannot be read. Other damage is a problem that is returned.
    pub fn check(&self) -> Result<Checked> {
        let runs = self.runs()?;
        let mut checked = Checked {
            runs: runs.len(),
            ..Checked::default()
        };
        // Rows of another version are right for what it computed; a question that compares runs has
        // to know it.
        let is_other = |run: &&Run| {
            let version = run.derived().map(|derived| derived.derived_version);
            version != Some(DERIVED_VERSION)
        };
        let others = runs.iter().filter(is_other);
        checked.other_versions = others.map(|run| run.name().to_owned()).collect();
        let tables = self.tables()?;
        for run in &runs {
            for (table, rows) in run.tables() {
                // The table may have been deleted by hand. Without this every run would report it
                // once for each file.
                if tables.iter().all(|known| known != table) {
                    let what = format!(
                        "rows of the run {}: expected {rows}, but the table is missing",
                        run.name()
                    );
                    checked.wrong(table, what);
                }
            }
        }
        for table in &tables {
            self.check_table(table, &runs, &mut checked)?;
        }
        Ok(checked)
    }

    fn check_table(&self, table: &str, runs: &[Run], checked: &mut Checked) -> Result<()> {
        let log = Log::load(&self.store, table)?;
        if let Some(damage) = log.damage() {
            checked.wrong(table, damage.to_owned());
        }
        let mut counts: BTreeMap<Key, u64> = BTreeMap::new();
        // Only live files are checked; others belong to no table and are left to vacuum.
        for file in log.live() {
            checked.files += 1;
            for (key, rows) in self.check_file(table, file, checked)? {
                *counts.entry(key).or_insert(0) += rows;
            }
        }
        checked.tables += 1;
        for run in runs {
            // Taken out, so that what remains afterwards are rows of no run.
            let found = counts.remove(&run.key()).unwrap_or(0);
            // Each run has one row in the table of runs, whatever its manifest says.
            let expected = if table == RUN { 1 } else { run.rows(table) };
            checked.rows += found;
            if found != expected {
                let name = run.name();
                let what = format!("rows of the run {name}: expected {expected}, found {found}");
                checked.wrong(table, what);
            }
        }
        // Rows of no run are no damage: they come from attempts that were interrupted, and
        // compaction drops them.
        let dead: u64 = counts.values().sum();
        if table == RUN && dead > 0 {
            checked.wrong(table, format!("runs with more than one row: {dead}"));
        }
        checked.dead_rows += dead;
        Ok(())
    }

    /// Returns the keys of a file; none if it is damaged.
    fn check_file(
        &self,
        table: &str,
        file: &File,
        checked: &mut Checked,
    ) -> Result<BTreeMap<Key, u64>> {
        let name = file.name_in(table);
        let (expected, found) = (file.size, self.store.size(&name)?);
        // A file of another size is not opened, since the decoder would fail with a message that
        // says less.
        if found != Some(expected) {
            let found = found.map_or_else(
                || "it is missing".to_owned(),
                |size| format!("found {size}"),
            );
            checked.wrong(
                table,
                format!("{} has {expected} bytes, {found}", file.name),
            );
            return Ok(BTreeMap::new());
        }
        let keys = match Keys::read(&self.store, &name) {
            Ok(keys) => keys,
            Err(error) => {
                checked.wrong(table, error.to_string());
                return Ok(BTreeMap::new());
            }
        };
        let rows: u64 = keys.counts.values().sum();
        // Both counts have to agree: the one of the commit, and the one of the file itself.
        if rows != keys.rows || file.rows.is_some_and(|expected| expected != rows) {
            let expected = file.rows.unwrap_or(keys.rows);
            checked.wrong(
                table,
                format!("rows of {}: expected {expected}, found {rows}", file.name),
            );
        }
        Ok(keys.counts)
    }
}
