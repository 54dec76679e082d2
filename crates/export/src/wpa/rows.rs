//! The rows of an answer as CSV: a line of titles, lines that end as on Windows, UTF-8.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, Result};
use etwkit_sql::Session;
use etwkit_sql::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use etwkit_sql::arrow::compute::cast;
use etwkit_sql::arrow::datatypes::{DataType, Float64Type, Int64Type};
use etwkit_sql::frames::Frames;

use crate::wpa::catalog::ValueKind;
use crate::wpa::format::{self, Unit};
use crate::wpa::plan::{OutputColumn, Plan};

/// Text for a stack that was not recorded.
const NO_STACK: &str = "n/a";

/// Largest size of the texts of stacks that are kept for later rows, in bytes.
const MAX_KEPT: usize = 64 << 20;

/// Runs the query of a plan and writes its rows. Returns their number.
///
/// # Errors
/// The query fails, or the file cannot be written.
pub(crate) fn write(
    plan: &Plan,
    capacity_ns: f64,
    delimiter: u8,
    session: &Session,
    out: &mut dyn Write,
) -> Result<u64> {
    // Names of frames are loaded only for a column that writes them, since they may be most of an
    // extract.
    let has_stacks = plan
        .columns
        .iter()
        .any(|column| column.kind == ValueKind::Stack);
    let frames = has_stacks.then(|| session.frames()).transpose()?;
    let mut cells = Cells {
        capacity_ns,
        stacks: Stacks {
            frames,
            ..Stacks::default()
        },
    };
    let mut csv = csv::WriterBuilder::new()
        .delimiter(delimiter)
        .terminator(csv::Terminator::CRLF)
        .from_writer(out);
    csv.write_record(plan.columns.iter().map(|column| column.title.as_str()))?;
    let mut rows = 0;
    // Batch by batch: the single rows of a long trace may not fit into memory.
    for batch in session
        .sql(&plan.sql)
        .with_context(|| format!("the question for {}", plan.graph.name))?
    {
        let batch = batch?;
        let columns: Vec<Values> = plan
            .columns
            .iter()
            .zip(batch.columns())
            .map(|(column, array)| Values::of(column, array))
            .collect::<Result<_>>()?;
        for row in 0..batch.num_rows() {
            for column in &columns {
                csv.write_field(cells.cell(column, row))?;
            }
            csv.write_record(None::<&[u8]>)?;
        }
        rows += rows_of(&batch);
    }
    csv.flush()?;
    Ok(rows)
}

fn rows_of(batch: &RecordBatch) -> u64 {
    batch.num_rows() as u64
}

/// The values of a column.
struct Values<'p> {
    column: &'p OutputColumn,
    array: ArrayRef,
}

impl<'p> Values<'p> {
    /// Converts the values to the few types that cells have.
    fn of(column: &'p OutputColumn, array: &ArrayRef) -> Result<Self> {
        // The engine may use other types of text and number than the declared ones; sums for
        // instance are wider.
        let to = match (column.kind, array.data_type()) {
            (ValueKind::Text | ValueKind::Process(_), _) => DataType::Utf8,
            (_, DataType::Float64) => DataType::Float64,
            _ => DataType::Int64,
        };
        Ok(Self {
            column,
            array: cast(array, &to)?,
        })
    }
}

struct Cells {
    capacity_ns: f64,
    stacks: Stacks,
}

impl Cells {
    fn cell(&mut self, values: &Values<'_>, row: usize) -> String {
        let Values {
            column: OutputColumn { kind, unit, .. },
            array,
        } = values;
        // An empty cell instead of 0: an unrecorded value may have been anything.
        if array.is_null(row) {
            return if *kind == ValueKind::Stack {
                NO_STACK.to_owned()
            } else {
                String::new()
            };
        }
        if let Some(texts) = array.as_string_opt::<i32>() {
            return texts.value(row).to_owned();
        }
        if let Some(numbers) = array.as_primitive_opt::<Float64Type>() {
            let number = numbers.value(row);
            return match kind {
                ValueKind::Percent => format::percent(number, self.capacity_ns),
                _ => format::fraction(number, *unit),
            };
        }
        let Some(numbers) = array.as_primitive_opt::<Int64Type>() else {
            return String::new();
        };
        let number = numbers.value(row);
        match kind {
            ValueKind::Percent => format::percent(number as f64, self.capacity_ns),
            ValueKind::Stack => self.stacks.text(number),
            ValueKind::Number if *unit != Unit::Hex => number.to_string(),
            _ => format::whole(number, *unit),
        }
    }
}

/// Stacks as one cell: frames with `/` between, the outermost first.
#[derive(Default)]
struct Stacks {
    frames: Option<Arc<Frames>>,
    known: HashMap<i64, String>,
    kept_bytes: usize,
}

impl Stacks {
    fn text(&mut self, stack_id: i64) -> String {
        if let Some(known) = self.known.get(&stack_id) {
            return known.clone();
        }
        // Frames come one per line, the innermost first; Windows Performance Analyzer writes them
        // in the opposite order.
        let mut lines = String::new();
        let frames = self.frames.as_deref().and_then(|frames| frames.trace(0));
        if let (Some(frames), Ok(id)) = (frames, i32::try_from(stack_id)) {
            frames.write_stack(id, &mut lines);
        }
        let outermost_first: Vec<&str> = lines.lines().rev().collect();
        let text = if outermost_first.is_empty() {
            NO_STACK.to_owned()
        } else {
            outermost_first.join("/")
        };
        // Bounded, since texts of stacks may be long and there may be millions of them; the others
        // are assembled again each time.
        if self.kept_bytes < MAX_KEPT {
            self.kept_bytes += text.len();
            self.known.insert(stack_id, text.clone());
        }
        text
    }
}
