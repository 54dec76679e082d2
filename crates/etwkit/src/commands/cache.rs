//! `etwkit cache`: lists and removes the contents of the cache.

use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use etwkit_engine::{CacheEntry, Settings, StoredQuery};
use etwkit_sql::filter::TextFilter;
use etwkit_terminal::{Exit, Table};
use serde_json::json;

use crate::printer::{Printer, grouped};

#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    command: CacheCommand,
}

#[derive(Debug, Subcommand)]
enum CacheCommand {
    /// List the contents of the cache
    List(CacheQuery),
    /// Remove the contents; they are made again when they are needed
    Clear(CacheQuery),
}

#[derive(Debug, Args)]
struct CacheQuery {
    /// Only entries with these names (*, ?, several with ;, ! excludes)
    #[arg(value_name = "NAMES", default_value = "")]
    names: String,
    /// Only what was not asked for so many days
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(..=36_500))]
    older_than: Option<u32>,
    /// Print a line that names the command and the format, then one JSON object for each entry
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &CacheArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let (CacheCommand::List(asked) | CacheCommand::Clear(asked)) = &args.command;
    let settings = Settings::from_environment();
    let query = StoredQuery {
        names: TextFilter::parse(&asked.names),
        older_than: asked
            .older_than
            .map(|days| Duration::from_secs(u64::from(days) * 86_400)),
    };
    let (entries, left, verb) = match args.command {
        CacheCommand::List(_) => (settings.stored(&query)?, Vec::new(), "entries"),
        CacheCommand::Clear(_) => {
            let cleared = settings.clear(&query)?;
            (cleared.removed, cleared.left, "removed")
        }
    };
    if asked.json {
        printer.json_start(if verb == "removed" {
            "cache clear"
        } else {
            "cache list"
        });
        entries
            .iter()
            .try_for_each(|entry| printer.json(&json!({ "entry": entry })))?;
    } else {
        let folder = settings
            .cache
            .as_ref()
            .map_or_else(String::new, |folder| folder.display().to_string());
        print(&entries, verb, &folder, printer)?;
    }
    for (entry, error) in left {
        let context = format!("{} could not be removed", entry.name);
        printer.failed(anyhow::Error::new(error).context(context));
    }
    Ok(if entries.is_empty() {
        Exit::Nothing
    } else {
        Exit::Answered
    })
}

fn print(
    entries: &[CacheEntry],
    verb: &str,
    folder: &str,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    let now = SystemTime::now();
    let bytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
    let rows = entries.iter().map(|entry| {
        let days = entry
            .age(now)
            .map_or_else(String::new, |age| (age.as_secs() / 86_400).to_string());
        let kind = serde_json::to_value(entry.kind)
            .ok()
            .and_then(|kind| kind.as_str().map(str::to_owned));
        [
            bytes(entry.bytes),
            days,
            kind.unwrap_or_default(),
            entry.name.clone(),
        ]
    });
    if !entries.is_empty() {
        printer.table(&Table::of("MB>|days unused>|what|name", rows))?;
    }
    let total = bytes(entries.iter().map(|entry| entry.bytes).sum());
    let count = grouped(entries.len() as u64);
    Ok(printer.line(&format!("{count} {verb}, {total} MB, in {folder}"))?)
}
