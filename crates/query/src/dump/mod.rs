//! The ready-made questions: a request becomes SQL, its answer typed rows, sums and shares included.
//!
//! Command line, HTTP and MCP fill the same requests and print the same rows, so that a number that is shown in several places
//! is computed in one. Rows come in ascending order: the largest one is the last. A request asks one extract; answers of several
//! extracts are put together by who asks.

#[macro_use]
pub mod rows;

pub mod call_tree;
pub mod clock;
pub mod core_kinds;
pub mod cores;
mod cores_rows;
pub mod cpu;
mod cpu_fact;
pub mod cpu_question;
mod cpu_range;
pub mod cpu_source;
pub mod cut;
pub mod disk;
mod disk_range;
mod disk_rows;
pub mod dns;
mod dns_rows;
pub mod error;
pub mod exception;
pub mod exception_filter;
pub mod file;
mod file_sql;
pub mod first_last;
pub mod focus;
pub mod gdi_user;
mod gdi_user_rows;
pub mod group;
pub mod lbr;
pub mod logger;
pub mod mark;
pub mod memory;
pub mod method;
mod method_rows;
pub mod object_ref;
mod object_rows;
mod object_sql;
mod object_view;
pub mod overview;
pub mod path;
pub mod pmc;
pub mod power;
pub mod power_catalog;
pub mod process;
pub mod process_merge;
pub mod providers;
pub mod questions;
pub mod ready;
pub mod registry;
mod registry_rows;
pub mod screenshot;
pub mod sql;
pub mod stack_tree;
pub mod standby;
pub mod stats;
pub mod syscall;
mod syscall_rows;
pub mod tcp;
mod tcp_order;
pub mod tcp_post;
mod tcp_rows;
mod tcp_view;
pub mod thread_pool;
pub mod trace;
pub mod trace_log;
pub mod ui_delay;
pub mod user_lock;
pub mod version;
pub mod virtual_alloc;
mod virtual_alloc_rows;
mod virtual_alloc_sql;
pub mod zero;

pub use error::{Error, Result};
pub use group::{Group, Grouped, Top, TopProcesses};
pub use rows::FromRows;
pub use sql::ProcessQuery;

use crate::Session;
use crate::range::Range;

/// All rows of an answer.
///
/// # Errors
/// The query fails, or its columns are not those of the row type.
pub fn ask<R: FromRows>(session: &Session, sql: &str) -> Result<Vec<R>> {
    let (mut rows, mut held) = (Vec::new(), crate::Held::default());
    let mut read = || -> crate::Result<()> {
        for batch in session.sql(sql)? {
            let batch = batch?;
            held.add(&batch)?;
            rows.extend(R::read(&batch)?);
        }
        Ok(())
    };
    match read() {
        Ok(()) => Ok(rows),
        // The SQL is ours and computes with whatever a recording holds: numbers that it cannot compute with are none of a recording.
        Err(error @ crate::Error::Failed { .. }) => {
            Err(session.strange_number().map_or(error, crate::Error::Extract).into())
        }
        Err(error) => Err(error.into()),
    }
}

rows! {
    /// How many rows there are.
    struct Count {
        /// Rows.
        rows: i64,
    }
}

/// Whether a table has rows.
///
/// # Errors
/// The query fails.
pub fn has_rows(session: &Session, table: &str) -> Result<bool> {
    if let Some(known) = session.has_rows(table) {
        return Ok(known);
    }
    let counts: Vec<Count> = ask(session, &format!("SELECT count(*) AS rows FROM {table}"))?;
    Ok(counts.iter().any(|count| count.rows > 0))
}

/// Path, version, product and company of a module, as far as they are known.
#[must_use]
pub fn module_text(parts: [&Option<String>; 4]) -> String {
    parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Whether a table has rows; where it has none, `what` was not recorded, and `how` tells what would do that.
fn check_recorded(session: &Session, table: &str, what: &'static str, how: &'static str) -> Result<()> {
    if has_rows(session, table)? { Ok(()) } else { Err(Error::NotRecorded { what, how }) }
}

/// Whether a table has the single rows that a question needs, which an extract with sums alone lacks.
fn check_rows(session: &Session, table: &str, is_needed: bool, what: &'static str) -> Result<()> {
    if is_needed && !has_rows(session, table)? { Err(Error::NeedsRows { what }) } else { Ok(()) }
}

/// What has to be there for a question about operations.
struct Recorded {
    /// Table of their sums.
    sums: &'static str,
    /// Table of single ones.
    rows: &'static str,
    /// What single ones are called.
    operations: &'static str,
    /// What was not recorded, if there is neither.
    what: &'static str,
    /// How to record it.
    how: &'static str,
}

impl Recorded {
    /// Whether there are sums, and single operations if a part of the trace is asked.
    fn check(&self, session: &Session, time: Range) -> Result<()> {
        let has_sums = has_rows(session, self.sums)?;
        match (time.is_unlimited(), has_sums) {
            (true, true) => Ok(()),
            (false, _) if has_rows(session, self.rows)? => Ok(()),
            (false, true) => Err(Error::NeedsRows { what: self.operations }),
            _ => Err(Error::NotRecorded { what: self.what, how: self.how }),
        }
    }
}
