//! The ready-made questions: a request becomes SQL, and its answer typed rows, with sums and
//! shares.
//!
//! Command line, HTTP and MCP fill the same requests and print the same rows, so that a number that
//! is shown in several places is computed in one. Rows come in ascending order: the largest one is
//! the last. A request queries one extract; front ends merge answers of several extracts.

pub mod alpc;
pub mod boot;
pub mod clock;
pub mod cores;
pub mod cpu;
pub mod disk;
pub mod dns;
pub mod dpc;
pub mod events;
pub mod exception;
pub mod file;
pub mod focus;
pub mod gc;
pub mod gdi_user;
pub mod hard_fault;
pub mod heap;
pub mod jit;
pub mod lbr;
pub mod logger;
pub mod mark;
pub mod memory;
pub mod method;
pub mod metrics;
pub mod mini_filter;
pub mod net;
pub mod object_ref;
pub mod overview;
pub mod page_fault;
mod parts;
pub mod pmc;
pub mod pool;
pub mod power;
pub mod process;
pub mod providers;
pub mod questions;
pub mod ready;
pub mod registry;
pub mod screenshot;
pub mod service;
pub mod stack;
pub mod standby;
pub mod start;
pub mod stats;
pub mod strace;
pub mod syscall;
pub mod tcp;
pub mod thread_pool;
pub mod time;
pub mod timer;
pub mod trace;
pub mod trace_log;
pub mod trace_stats;
pub mod ui_delay;
pub mod user_lock;
pub mod version;
pub mod virtual_alloc;

pub use error::{Error, Result};
pub use group::{Group, Grouped, Top, TopProcesses};
pub use parts::{any_rows, cut, error, first_last, group, path, rows, sql, tag_query, zero};
pub use rows::FromRows;
pub use sql::ProcessQuery;

use crate::Session;

/// Returns all rows of an answer.
///
/// # Errors
/// The query fails, or its columns differ from the row type.
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
        // The SQL is part of this program and works for all numbers of a recording: a number that
        // makes it fail cannot come from one.
        Err(error @ crate::Error::Failed { .. }) => Err(session
            .strange_number()
            .map_or(error, crate::Error::Extract)
            .into()),
        Err(error) => Err(error.into()),
    }
}

declare! {
    /// A number of rows.
    row Count {
        rows: i64 = "Rows.",
    }
}

/// Returns `true` if a table has rows.
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

/// Returns the path, version, product and company of a module, as far as they are known.
#[must_use]
pub fn module_text(parts: [&Option<String>; 4]) -> String {
    parts
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The recording that a question needs.
pub struct Recorded {
    /// Table of sums.
    pub sums: &'static str,
    /// Table of single rows; equal to `sums` if there are no sums of them.
    pub rows: &'static str,
    /// Name of the single rows.
    pub single: &'static str,
    /// The missing data, for the error if there are neither sums nor single rows.
    pub what: &'static str,
    /// The recording that has it.
    pub how: &'static str,
}

impl Recorded {
    /// Data that is recorded in a table of single rows, without a table of sums.
    #[must_use]
    pub const fn rows(table: &'static str, what: &'static str, how: &'static str) -> Self {
        Self {
            sums: table,
            rows: table,
            single: what,
            what,
            how,
        }
    }

    /// Checks that the data was recorded, and that there are single rows if these are needed.
    ///
    /// # Errors
    /// It was not; an extract of sums was made of it, and single rows are needed; the query fails.
    pub fn check(&self, session: &Session, single_rows: bool) -> Result<()> {
        let has_sums = has_rows(session, self.sums)?;
        match has_sums && !single_rows || has_rows(session, self.rows)? {
            true => Ok(()),
            false if has_sums => Err(Error::NeedsRows { what: self.single }),
            false => Err(Error::NotRecorded {
                what: self.what,
                how: self.how,
            }),
        }
    }
}
