//! The rows of `method` and `frame` with the names and lines of symbols.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use etwkit_symbols::Symbol;
use etwkit_symbols::portable::SourceLine;
use etwkit_trace::derive::TableSource;
use etwkit_trace::derive::columns::{Get, int32, int64, text, whole_int64};
use etwkit_trace::sink::SinkError;
use etwkit_trace::table::{Columns, Frame, Method, Row};

use super::load::Answer;
use super::wanted::{AllWanted, Point};

/// Names between inlined functions; no name of a function has it.
const BETWEEN_INLINED: &str = "; ";

/// The answers of the symbol files.
pub(super) struct Names<'a> {
    pub(super) wanted: &'a AllWanted,
    /// Answers by symbol file.
    pub(super) answers: &'a [Answer],
}

/// Positions of methods in the new table.
#[derive(Default)]
pub(super) struct MethodIds {
    /// By position in the old table; `None` for those that symbols name again.
    of_old: Vec<Option<i32>>,
    /// Methods by symbol file, start and name.
    of_symbol: HashMap<(usize, u32, String), i32>,
}

impl Names<'_> {
    /// True if a file has symbols now. Otherwise names of earlier runs stay.
    fn is_answered(&self, file: Option<usize>) -> bool {
        file.and_then(|file| self.answers.get(file))
            .is_some_and(|answer| answer.symbols.is_some())
    }

    fn symbol(&self, (file, rva): (usize, u32)) -> Option<&Symbol> {
        let place = self.wanted.files.get(file)?.rvas.binary_search(&rva).ok()?;
        self.answers
            .get(file)?
            .symbols
            .as_ref()?
            .get(place)?
            .as_ref()
    }

    /// The rows of `method`: first the unchanged rows of .NET and of modules without symbols, then
    /// one row for each function that a frame has.
    pub(super) fn methods(
        &self,
        source: &dyn TableSource,
    ) -> Result<(RecordBatch, MethodIds), SinkError> {
        let mut ids = MethodIds::default();
        let mut rows = <Method as Row>::Columns::default();
        source.scan(Method::TABLE, &COLUMNS_OF_METHOD, &mut |batch| {
            // Every method gets a new number, as those that are named again vanish.
            for mut method in old_methods(batch)? {
                // A method with a process is .NET code, whose name is in the trace; symbols of its
                // module do not contain it.
                let is_named_again = method.process_key.is_none()
                    && self.is_answered(self.wanted.file_of(method.module_id));
                ids.of_old.push((!is_named_again).then(|| {
                    method.method_id = rows.len() as i32;
                    rows.push(&method);
                    method.method_id
                }));
            }
            Ok(())
        })?;
        for (file, wanted) in self.wanted.files.iter().enumerate() {
            for symbol in wanted
                .frames
                .iter()
                .filter_map(|rva| self.symbol((file, *rva)))
            {
                let id = rows.len() as i32;
                // One row for a function, however many addresses are in it.
                let key = (file, symbol.start_rva, symbol.name.clone());
                if *ids.of_symbol.entry(key).or_insert(id) == id {
                    rows.push(&Method {
                        method_id: id,
                        module_id: Some(wanted.module_id),
                        name: symbol.name.clone(),
                        signature: symbol.signature(),
                        size_bytes: symbol.size.map(i64::from),
                        ..Method::default()
                    });
                }
            }
        }
        Ok((rows.take()?, ids))
    }

    /// The rows of `frame`, in their order.
    pub(super) fn frames(
        &self,
        source: &dyn TableSource,
        ids: &MethodIds,
    ) -> Result<RecordBatch, SinkError> {
        let mut rows = <Frame as Row>::Columns::default();
        source.scan(Frame::TABLE, &COLUMNS_OF_FRAME, &mut |batch| {
            for mut frame in old_frames(batch, rows.len())? {
                let place = self
                    .wanted
                    .place(frame.module_id, frame.rva, frame.method_id);
                // A file without symbols leaves the names of an earlier run in place.
                match place.filter(|(file, _)| self.is_answered(Some(*file))) {
                    Some(place) => self.give_name(&mut frame, place, ids),
                    None => frame.method_id = frame.method_id.and_then(|old| ids.old(old)),
                }
                if let Some(found) = self.line(frame.frame_id) {
                    // A .NET frame may have lost its line, if the symbol file is another one now.
                    frame.source_file = found.map(|line| line.file.clone());
                    frame.line = found.and_then(|line| i32::try_from(line.line).ok());
                }
                rows.push(&frame);
            }
            Ok(())
        })?;
        Ok(rows.take()?)
    }

    /// Line of a .NET frame: the outer `None` if no symbol file was asked that has lines.
    fn line(&self, frame: i32) -> Option<Option<&SourceLine>> {
        let (file, point): (usize, Point) = self.wanted.point(frame)?;
        let lines = self.answers.get(file)?.lines.as_ref()?;
        let points = &self.wanted.files.get(file)?.points;
        Some(lines.get(points.binary_search(&point).ok()?)?.as_ref())
    }

    fn give_name(&self, frame: &mut Frame, place: (usize, u32), ids: &MethodIds) {
        // The name is part of the key, because identical code of several functions is folded into
        // one.
        let symbol = self.symbol(place);
        let key = symbol.map(|symbol| (place.0, symbol.start_rva, symbol.name.clone()));
        frame.method_id = key.and_then(|key| ids.of_symbol.get(&key).copied());
        // A caller's address is the return address, after the call: line and inlined functions are
        // taken from the call. The name is not, because a function can be interrupted at its first
        // instruction.
        let before = u32::from(self.wanted.is_caller(frame.frame_id as usize));
        let call = self.symbol((place.0, place.1.saturating_sub(before)));
        // If the byte before is in another function, there was no call: the thread was interrupted
        // at the first instruction, and line and inlined functions are those at the address itself.
        let symbol = call
            .filter(|call| symbol.is_some_and(|s| s.start_rva == call.start_rva))
            .or(symbol);
        frame.source_file = symbol.and_then(|symbol| symbol.file.clone());
        frame.line = symbol
            .and_then(|symbol| symbol.line)
            .and_then(|line| i32::try_from(line).ok());
        let inlined = symbol.map_or_else(Vec::new, |s| {
            s.inlined.iter().map(|i| i.name.as_str()).collect()
        });
        frame.inlined = (!inlined.is_empty()).then(|| inlined.join(BETWEEN_INLINED));
    }
}

impl MethodIds {
    fn old(&self, method: i32) -> Option<i32> {
        self.of_old
            .get(usize::try_from(method).ok()?)
            .copied()
            .flatten()
    }
}

const COLUMNS_OF_METHOD: [&str; 6] = [
    "module_id",
    "name",
    "signature",
    "process_key",
    "address",
    "size_bytes",
];

fn old_methods(batch: &RecordBatch) -> Result<Vec<Method>, SinkError> {
    let module = int32(batch, "module_id")?;
    let process = int32(batch, "process_key")?;
    let name = text(batch, "name")?;
    let signature = text(batch, "signature")?;
    let address = int64(batch, "address")?;
    let size = int64(batch, "size_bytes")?;
    let method = |row| Method {
        method_id: 0,
        module_id: module.get(row),
        name: name.get(row).unwrap_or("").to_owned(),
        signature: signature.get(row).map(str::to_owned),
        process_key: process.get(row),
        address: address.get(row),
        size_bytes: size.get(row),
        ..Method::default()
    };
    Ok((0..batch.num_rows()).map(method).collect())
}

const COLUMNS_OF_FRAME: [&str; 7] = [
    "module_id",
    "rva",
    "address",
    "method_id",
    "source_file",
    "line",
    "inlined",
];

/// Frames from number `first` on. Extracts of earlier versions have no lines.
fn old_frames(batch: &RecordBatch, first: usize) -> Result<Vec<Frame>, SinkError> {
    let module = int32(batch, "module_id")?;
    let rva = int64(batch, "rva")?;
    let addresses = whole_int64(batch, "address")?;
    let method = int32(batch, "method_id")?;
    let file = text(batch, "source_file").ok();
    let inlined = text(batch, "inlined").ok();
    let line = int32(batch, "line").ok();
    let frame = |(row, address): (usize, &i64)| Frame {
        frame_id: (first + row) as i32,
        module_id: module.get(row),
        rva: rva.get(row),
        address: *address,
        method_id: method.get(row),
        source_file: file.and_then(|file| file.get(row)).map(str::to_owned),
        line: line.and_then(|line| line.get(row)),
        inlined: inlined
            .and_then(|inlined| inlined.get(row))
            .map(str::to_owned),
    };
    Ok(addresses.iter().enumerate().map(frame).collect())
}
