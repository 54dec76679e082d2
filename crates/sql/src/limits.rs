//! What a question may take at once, and how it asks for less.
//!
//! Sorting, grouping and joining reserve memory before they use it; functions and joins make the
//! rows of a batch without asking. So the bytes of a batch are bounded, too. A question whose rows
//! are too wide for that starts again with fewer rows in a batch.

use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, LogicalPlan};

use crate::stop::Stop;

/// Parts of the memory of a question that are the values of a function for a batch.
// Each thread has a batch, and an expression holds a few values at a time.
const BATCH_SHARE: usize = 16;

/// Parts of the memory of a question that are one text.
// Functions that split a text hold some forty bytes for each of its bytes.
const TEXT_SHARE: usize = 128;

/// Bytes of a text that functions take with however little memory: the longest text of a table is
/// that of a stack, 1 MiB.
const MIN_TEXT: usize = 2 << 20;

/// Bytes of a text of a plan that are too few to count.
const LONG: u128 = 1 << 10;

/// The limits of one question; copies have the same switch.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// Bytes of the values of a function for the rows of a batch.
    pub(crate) batch_bytes: u128,
    /// Bytes of one text.
    pub(crate) text_bytes: u128,
    /// Ends functions between slices of rows.
    pub(crate) stop: Stop,
}

impl Limits {
    /// Returns the limits of a question that has this memory.
    pub(crate) fn new(memory_bytes: usize, stop: Stop) -> Self {
        let text = (memory_bytes / TEXT_SHARE).max(MIN_TEXT);
        let batch = (memory_bytes / BATCH_SHARE).max(MIN_TEXT * 2);
        Self {
            batch_bytes: batch as u128,
            text_bytes: text as u128,
            stop,
        }
    }

    /// Checks what the rows of a batch would take.
    ///
    /// # Errors
    /// More than a batch may.
    pub(crate) fn batch(&self, name: &str, rows: usize, bytes: u128) -> Result<()> {
        check(
            || format!("{name} would make"),
            rows,
            bytes,
            self.batch_bytes,
        )
    }

    /// Checks the size of a text that a function would make.
    ///
    /// # Errors
    /// It is larger than one may be.
    pub(crate) fn made(&self, name: &str, bytes: u128) -> Result<()> {
        check(
            || format!("{name} would make a text of"),
            1,
            bytes,
            self.text_bytes,
        )
    }

    /// Checks the size of a text that a function is given.
    ///
    /// # Errors
    /// It is larger than one may be.
    pub(crate) fn given(&self, name: &str, bytes: u128) -> Result<()> {
        check(
            || format!("{name} would read a text of"),
            1,
            bytes,
            self.text_bytes,
        )
    }

    /// Returns the number of rows in a batch with which the texts that a plan names fit into a
    /// batch: each of them stands in every row.
    pub(crate) fn rows(&self, plan: &LogicalPlan, usual: usize) -> Result<usize> {
        let mut bytes = 1_u128;
        plan.apply_with_subqueries(|node| {
            node.apply_expressions(|expr| {
                expr.apply(|part| {
                    if let Expr::Literal(value, _) = part
                        && size(value) > LONG
                    {
                        bytes = bytes.saturating_add(size(value));
                    }
                    Ok(TreeNodeRecursion::Continue)
                })
            })
        })?;
        let fitting = usize::try_from(self.batch_bytes / bytes).unwrap_or(usual);
        Ok(fitting.clamp(1, usual))
    }
}

/// Returns the bytes of a value beyond those that each value has.
pub(crate) fn size(value: &ScalarValue) -> u128 {
    value.size().saturating_sub(size_of::<ScalarValue>()) as u128
}

fn check(does: impl Fn() -> String, rows: usize, bytes: u128, limit: u128) -> Result<()> {
    if bytes <= limit {
        return Ok(());
    }
    Err(DataFusionError::External(Box::new(TooWide {
        does: does(),
        rows,
        bytes,
        limit,
    })))
}

/// The error of rows that take more memory than they may have.
// Rounded up, so that the message never says that nothing was too much.
#[derive(Debug, thiserror::Error)]
#[error(
    "{does} {} MiB at once, and {} MiB is the limit",
    bytes.div_ceil(1 << 20),
    limit >> 20
)]
pub(crate) struct TooWide {
    does: String,
    rows: usize,
    bytes: u128,
    limit: u128,
}

impl TooWide {
    /// Returns the number of rows in a batch with which they would fit; `None` if a single row does
    /// not, or if batches have one row.
    pub(crate) fn narrower(&self, rows: usize) -> Option<usize> {
        let fits_never = self.rows <= 1 || rows <= 1;
        // Half of what would fit, since rows of one table differ in width.
        let fitting = self.limit.saturating_mul(self.rows as u128) / self.bytes.max(1) / 2;
        let fitting = usize::try_from(fitting).unwrap_or(usize::MAX);
        (!fits_never).then(|| fitting.clamp(1, rows - 1))
    }
}

/// The error of work that cannot be interrupted and would take long.
#[derive(Debug, thiserror::Error)]
#[error(
    "{name} would take {} million steps for one row, and {} million is the limit",
    steps.div_ceil(1_000_000),
    limit / 1_000_000
)]
pub(crate) struct TooLong {
    pub(crate) name: String,
    pub(crate) steps: u128,
    pub(crate) limit: u128,
}
