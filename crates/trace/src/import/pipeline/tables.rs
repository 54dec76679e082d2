//! Rows of the tables that are written while events are read.

use std::any::{Any, TypeId};

use rustc_hash::FxHashMap;

use crate::declared::Filled;
use crate::out::Out;
use crate::sink::{Sink, SinkError};
use crate::table::{Row, Table};

/// One collector for each table with rows, created with the first row.
#[derive(Default)]
pub(crate) struct Tables {
    /// Places of tables by the type of their rows.
    places: FxHashMap<TypeId, usize>,
    /// In the order of their first rows, which is the order of the trace.
    outs: Vec<Box<dyn Flush>>,
    /// The tables that the importer at work has declared.
    declared: Option<&'static [Filled]>,
}

/// The rows of a table.
trait Flush: Any {
    fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError>;
}

impl<R: Row> Flush for Out<R> {
    fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        Self::flush(self, sink)
    }
}

impl Tables {
    /// Takes a row.
    pub(crate) fn push<R: Row>(&mut self, row: &R, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.check(R::TABLE);
        let outs = &mut self.outs;
        let place = *self.places.entry(TypeId::of::<R>()).or_insert_with(|| {
            outs.push(Box::new(Out::<R>::default()));
            outs.len() - 1
        });
        let out: Option<&mut dyn Any> = self
            .outs
            .get_mut(place)
            .map(|out| &mut **out as &mut dyn Any);
        // Cannot fail: the collector was created for rows of this type.
        out.and_then(|out| out.downcast_mut::<Out<R>>())
            .ok_or("no collector of rows")?
            .push(row, sink)
    }

    /// Takes rows.
    pub(crate) fn push_all<R: Row>(
        &mut self,
        rows: impl IntoIterator<Item = R>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        rows.into_iter().try_for_each(|row| self.push(&row, sink))
    }

    /// Sets the tables that the current importer has declared.
    #[inline]
    pub(crate) fn declare(&mut self, tables: &'static [Filled]) {
        self.declared = Some(tables);
    }

    /// An importer must declare each table it writes; the extract, the reference page, and the
    /// summary are built from these declarations.
    #[inline]
    pub(crate) fn check(&self, table: &'static Table) {
        debug_assert!(
            self.declared
                .is_none_or(|tables| tables.iter().any(|filled| filled.table.name == table.name)),
            "{} is filled by an importer that has not declared it",
            table.name
        );
    }

    /// Passes on the remaining rows.
    pub(crate) fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.outs.iter_mut().try_for_each(|out| out.flush(sink))
    }
}
