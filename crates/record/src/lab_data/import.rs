//! Inserts rows into a SQLite database, in each folder and with each way to wait for the disk. The
//! time of the same inserts into memory is the floor. The distance of a folder from it is the cost
//! of its disk, and the distance between the ways is the value of the disk's write cache.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use etwkit_terminal::interrupt;
use rusqlite::{Connection, params};
use tempfile::TempDir;

use crate::rows::Rows;

/// SQLite's `synchronous` setting: the moments at which it waits until data is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sync {
    /// Behind each part of a transaction
    Full,
    /// Less often: a power cut may undo the last transactions
    Normal,
    /// Never: a power cut may destroy the database
    Off,
}

/// SQLite's journal mode: the place of the data that can undo a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Journal {
    /// In a file that each transaction makes and deletes
    Delete,
    /// In a log that is written first
    Wal,
}

/// Number of rows, and the folders and settings to measure.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Folders, on different disks or in memory (/dev/shm, a RAM disk); the databases are removed
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Rows that are put in
    #[arg(long, value_name = "N", default_value_t = 200_000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    rows: u32,
    /// Rows of a transaction
    #[arg(long, value_name = "N", default_value_t = 1_000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    batch: u32,
    /// Settings for waiting for the disk
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "full,normal,off"
    )]
    sync: Vec<Sync>,
    /// Journal mode, by which transactions are undone
    #[arg(long, value_enum, default_value = "delete")]
    journal: Journal,
}

impl ImportArgs {
    /// Runs the workload. `progress` gets the number of inserted rows and the total.
    pub(crate) fn run(&self, progress: &dyn Fn(u64, u64)) -> Result<Rows<7>> {
        let mut rows = Vec::new();
        let all = (self.folders.len() * self.sync.len()) as u64 * u64::from(self.rows);
        for folder in &self.folders {
            for sync in &self.sync {
                let before = rows.len() as u64 * u64::from(self.rows);
                let (took, bytes) = self.import(folder, *sync, &|done| {
                    progress(before + u64::from(done), all);
                })?;
                let rate = f64::from(self.rows) / took.as_secs_f64();
                rows.push([
                    folder.display().to_string(),
                    word(sync),
                    word(&self.journal),
                    self.rows.to_string(),
                    format!("{:.3}", took.as_secs_f64()),
                    format!("{rate:.0}"),
                    bytes.to_string(),
                ]);
            }
        }
        Ok(Rows {
            heading: "Import into SQLite",
            columns: [
                "folder",
                "sync",
                "journal",
                "rows>",
                "seconds>",
                "rows_per_second>",
                "bytes>",
            ],
            rows,
        })
    }

    /// Imports the rows once and returns the time that it took and the size of the database in
    /// bytes.
    fn import(&self, folder: &Path, sync: Sync, look: &dyn Fn(u32)) -> Result<(Duration, u64)> {
        let cannot = || format!("cannot make a folder in {}", folder.display());
        let own = TempDir::with_prefix_in(".etwkit-import-", folder).with_context(cannot)?;
        let file = own.path().join("import.db");
        // Ctrl-C ends the process without dropping the folder, so each file that SQLite may have
        // created is registered.
        for ending in ["", "-journal", "-wal", "-shm"] {
            interrupt::remove_at_the_end(&own.path().join(format!("import.db{ending}")));
        }
        let mut database =
            Connection::open(&file).with_context(|| format!("cannot open {}", file.display()))?;
        database.pragma_update(None, "journal_mode", word(&self.journal))?;
        database.pragma_update(None, "synchronous", word(&sync))?;
        // The index makes inserts touch pages in random order, as in real tables.
        let schema = "CREATE TABLE import (id INTEGER PRIMARY KEY, name TEXT, value REAL);\n\
                      CREATE INDEX by_name ON import (name)";
        database.execute_batch(schema)?;
        let begun = Instant::now();
        let mut next = 0;
        while next < self.rows {
            let end = next.saturating_add(self.batch).min(self.rows);
            let transaction = database.transaction()?;
            {
                let mut insert =
                    transaction.prepare_cached("INSERT INTO import VALUES (?1, ?2, ?3)")?;
                for id in next..end {
                    // Names in random order, like the names of customers.
                    let name = format!("{:08x}", id.wrapping_mul(0x9e37_79b9));
                    insert.execute(params![id, name, f64::from(id) / 7.0])?;
                }
            }
            transaction.commit().context("cannot end a transaction")?;
            next = end;
            look(next);
        }
        let took = begun.elapsed();
        let (count, sum): (i64, i64) =
            database.query_row("SELECT count(*), sum(id) FROM import", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        let count_wanted = i64::from(self.rows);
        // Ids count from 0: their sum shows that each row is there, and once.
        let wanted = (count_wanted, count_wanted * (count_wanted - 1) / 2);
        ensure!(
            (count, sum) == wanted,
            "the database holds {count} rows instead of {}",
            self.rows
        );
        // SQLite writes and removes its journal when the last connection closes; the size is
        // measured on the closed database.
        drop(database);
        let bytes = file
            .metadata()
            .with_context(|| format!("cannot read {}", file.display()))?
            .len();
        own.close().context("cannot remove the database")?;
        Ok((took, bytes))
    }
}

/// Returns the value in the words of SQLite and the command line, which hides none of them.
fn word(value: &impl ValueEnum) -> String {
    value
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}
