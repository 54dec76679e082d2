//! Rows that wait in the line, and the stacks that they get when they leave it.

use std::fmt;

use rustc_hash::FxHashMap;

use super::arena::RawStack;
use super::line::{Seq, Texts};
use super::stacks::{Stacks, Viewpoint};
use super::tables::Tables;
use crate::sink::{Sink, SinkError};
use crate::table::{Row, Table};

/// An entry of the line.
#[derive(Debug)]
pub(crate) enum Pending {
    /// An event whose row comes later, with its end: only its stack is kept.
    Start,
    /// A start whose row will not come.
    Forgotten,
    /// A row.
    Row(Box<dyn Waiting>),
}

impl Texts for Pending {
    fn text_bytes(&self) -> usize {
        match self {
            Self::Row(row) => row.text_bytes(),
            Self::Start | Self::Forgotten => 0,
        }
    }
}

/// A row that waits until no stack can come for it any more.
pub(crate) trait Waiting: fmt::Debug + Send {
    /// Its table.
    fn table(&self) -> &'static Table;

    /// Bytes of its texts when it was queued.
    fn text_bytes(&self) -> usize;

    /// Takes its stacks. Runs once, on the thread that resolves them.
    fn resolve(&mut self, stacks: &mut RowStacks<'_, '_>);

    /// Puts it into the columns of its table, with its stacks. Runs on the thread that fills
    /// columns.
    fn put(&self, tables: &mut Tables, sink: &mut dyn Sink) -> Result<(), SinkError>;
}

/// A row, and the function that fills in its stacks.
struct Filling<R, F> {
    row: R,
    text_bytes: usize,
    /// `None` once the stacks are in.
    fill: Option<F>,
}

/// A waiting row. `fill` sets its stacks.
pub(crate) fn row<R: Row + fmt::Debug + Send>(
    row: R,
    fill: impl FnOnce(&mut R, &mut RowStacks<'_, '_>) + Send + 'static,
) -> Pending {
    Pending::Row(Box::new(Filling {
        // Measured once: the row may be large, and the line asks twice.
        text_bytes: row.text_bytes(),
        row,
        fill: Some(fill),
    }))
}

/// A row that has all its columns.
pub(crate) fn complete<R: Row + fmt::Debug + Send>(row: R) -> Box<dyn Waiting> {
    Box::new(Filling {
        text_bytes: row.text_bytes(),
        row,
        fill: None::<fn(&mut R, &mut RowStacks<'_, '_>)>,
    })
}

impl<R: fmt::Debug, F> fmt::Debug for Filling<R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.row.fmt(f)
    }
}

impl<R, F> Waiting for Filling<R, F>
where
    R: Row + fmt::Debug + Send,
    F: FnOnce(&mut R, &mut RowStacks<'_, '_>) + Send,
{
    fn table(&self) -> &'static Table {
        R::TABLE
    }

    fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    fn resolve(&mut self, stacks: &mut RowStacks<'_, '_>) {
        if let Some(fill) = self.fill.take() {
            fill(&mut self.row, stacks);
        }
    }

    fn put(&self, tables: &mut Tables, sink: &mut dyn Sink) -> Result<(), SinkError> {
        tables.push(&self.row, sink)
    }
}

/// The stacks that were found for a row.
pub(crate) struct RowStacks<'a, 'd> {
    pub(crate) stacks: &'a mut Stacks<'d>,
    /// Stacks of starts, until the rows that take them arrive.
    pub(crate) starts: &'a mut FxHashMap<Seq, i32>,
    /// The process and time for looking up addresses of the row.
    pub(crate) place: Viewpoint,
    pub(crate) kernel: RawStack,
    pub(crate) user: RawStack,
}

/// The stack of a sample.
pub(crate) struct Sampled {
    pub(crate) stack_id: i32,
    /// True if a stack was recorded; otherwise the stack is the one frame that was sampled.
    pub(crate) has_stack: bool,
    /// True if the kernel half of the stack is missing.
    pub(crate) is_incomplete: bool,
}

impl RowStacks<'_, '_> {
    /// The stack of the event itself.
    pub(crate) fn own(&mut self) -> Option<i32> {
        self.stacks.stack(self.place, self.kernel, self.user)
    }

    /// The stack of the start event of the row. It can be taken once.
    pub(crate) fn of(&mut self, start: Option<Seq>) -> Option<i32> {
        self.starts.remove(&start?)
    }

    /// The stack of a sample that was taken at an address.
    pub(crate) fn sampled(&mut self, address: u64) -> Sampled {
        // The user half alone would count the time for code of the program; the sampled address
        // shows that the kernel ran.
        let is_incomplete = self
            .stacks
            .lacks_kernel_half(address, self.kernel, self.user);
        let found = if is_incomplete {
            Some(
                self.stacks
                    .without_kernel_half(self.place, address, self.user),
            )
        } else {
            self.own()
        };
        // Without a recorded stack the sampled address still tells which code ran.
        let stack_id = found.unwrap_or_else(|| self.stacks.single(self.place, address));
        Sampled {
            stack_id,
            has_stack: found.is_some(),
            is_incomplete,
        }
    }

    /// The frame of an address in the process of the row.
    pub(crate) fn frame(&mut self, address: u64) -> i32 {
        self.stacks.frame(self.place, address) as i32
    }

    /// The frame of a kernel address, which is the same for all processes.
    pub(crate) fn kernel_frame(&mut self, address: u64) -> i32 {
        self.stacks.frame(
            Viewpoint {
                process: None,
                time: self.place.time,
            },
            address,
        ) as i32
    }
}
