//! The recording that a question needs.

use etwkit_sql::Session;

use crate::{Error, Result, has_rows, is_recorded};

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
            false if is_recorded(session, self.rows)? || is_recorded(session, self.sums)? => Ok(()),
            false => Err(Error::NotRecorded {
                what: self.what,
                how: self.how,
                tables: vec![self.rows, self.sums],
            }),
        }
    }
}
