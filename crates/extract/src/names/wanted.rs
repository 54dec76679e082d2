//! The addresses in stacks, by symbol file.

use std::collections::{BTreeMap, HashMap};

use etwkit_etl::Guid;
use etwkit_symbols::{Identity, ImageIdentity};
use etwkit_trace::derive::TableSource;
use etwkit_trace::derive::columns::{Get, int32, int64, text};
use etwkit_trace::sink::SinkError;
use etwkit_trace::table::{Frame, IlOffset, Method, Module, Row, Stack};

use super::DotnetCode;

/// Maximum number of frames with a caller flag: far more than an extract has.
const MAX_FRAMES: usize = 1 << 28;

/// Module, offset in it and method of a frame.
type FrameAt = (Option<i32>, Option<i64>, Option<i32>);

/// The identity by which a symbol file is searched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sought {
    /// The trace identifies the symbol file.
    Symbols(Identity),
    /// The trace was never merged: the image identifies the symbol file.
    ByImage(ImageIdentity),
}

/// A place in IL: token of a method, and an offset in it.
pub(super) type Point = (u32, u32);

/// A row of `il_offset`: the point that gives the line of a frame, and the symbol file to ask.
#[derive(Debug)]
struct InIl {
    point: Option<Point>,
    identity: Option<Identity>,
}

/// A symbol file, and the addresses to resolve with it.
#[derive(Debug)]
pub(super) struct SymbolFileRequest {
    pub(super) sought: Sought,
    /// File name of the module, and the first of the modules that have it.
    pub(super) module: String,
    pub(super) module_id: i32,
    /// Offsets in the module that frames have, ascending, each once.
    pub(super) frames: Vec<u32>,
    /// Offsets to look up: the offsets of `frames`, and for callers also the byte before.
    pub(super) rvas: Vec<u32>,
    /// Number of .NET frames in methods with a map to IL.
    pub(super) mapped: usize,
    /// The point of each of these, unless its code was made of no IL.
    pub(super) in_il: Vec<Point>,
    /// Points to look up, ascending, each once.
    pub(super) points: Vec<Point>,
}

impl SymbolFileRequest {
    /// True if there is anything to look up.
    pub(super) fn is_asked(&self) -> bool {
        !self.rvas.is_empty() || self.mapped > 0
    }
}

/// All addresses to resolve.
#[derive(Debug, Default)]
pub(super) struct AllWanted {
    pub(super) files: Vec<SymbolFileRequest>,
    /// Symbol file of each module, by position in the table.
    pub(super) of_module: Vec<Option<usize>>,
    /// Names of modules without a known symbol file, with the number of their addresses.
    pub(super) unknown: BTreeMap<String, usize>,
    /// .NET code in stacks.
    pub(super) dotnet: DotnetCode,
    /// Symbol file and point of .NET frames, by position in the table.
    points: HashMap<usize, (usize, Point)>,
    /// Position of each symbol file in `files`.
    places: BTreeMap<Sought, usize>,
    /// Rows of `il_offset`, by the position of their frames.
    in_il: HashMap<usize, InIl>,
    /// True for .NET methods, by position in the table.
    is_managed: Vec<bool>,
    /// True for methods with a signature, by position in the table. Of those that a process has,
    /// functions of scripts and helpers of runtimes have none.
    has_signature: Vec<bool>,
    /// True for frames that called another frame, by position in the table: their address is the
    /// return address.
    is_caller: Vec<bool>,
}

impl AllWanted {
    /// Reads modules, methods and frames.
    pub(super) fn read(source: &dyn TableSource) -> Result<Self, SinkError> {
        let mut all = Self::default();
        let names = all.read_modules(source)?;
        source.scan(Method::TABLE, &["process_key", "signature"], &mut |batch| {
            let process = int32(batch, "process_key")?;
            let signature = text(batch, "signature")?;
            for row in 0..batch.num_rows() {
                all.is_managed.push(process.get(row).is_some());
                // Methods of .NET have a signature if the runtime described them, and then a line
                // can be found.
                all.has_signature.push(signature.get(row).is_some());
            }
            Ok(())
        })?;
        all.read_callers(source)?;
        all.read_il(source)?;
        let mut next = 0;
        source.scan(
            Frame::TABLE,
            &["module_id", "rva", "method_id"],
            &mut |batch| {
                let module = int32(batch, "module_id")?;
                let rva = int64(batch, "rva")?;
                let method = int32(batch, "method_id")?;
                for row in 0..batch.num_rows() {
                    all.frame(
                        &names,
                        next,
                        (module.get(row), rva.get(row), method.get(row)),
                    );
                    next += 1;
                }
                Ok(())
            },
        )?;
        // Sorted once, so that all addresses are found in one pass over the symbols.
        for file in &mut all.files {
            for rvas in [&mut file.frames, &mut file.rvas] {
                rvas.sort_unstable();
                rvas.dedup();
            }
            file.points.clone_from(&file.in_il);
            file.points.sort_unstable();
            file.points.dedup();
        }
        Ok(all)
    }

    fn read_callers(&mut self, source: &dyn TableSource) -> Result<(), SinkError> {
        let mut frame_of_node: Vec<i32> = Vec::new();
        source.scan(Stack::TABLE, &["parent_id", "frame_id"], &mut |batch| {
            let parent = int32(batch, "parent_id")?;
            let frame = int32(batch, "frame_id")?;
            for row in 0..batch.num_rows() {
                // Parents come before their children, so the frame of a caller is known when its
                // callee is reached.
                // A frame that is missing takes its place all the same: positions are numbers.
                frame_of_node.push(frame.get(row).unwrap_or(-1));
                let parent = parent
                    .get(row)
                    .and_then(|parent| usize::try_from(parent).ok());
                let caller =
                    parent.and_then(|parent| usize::try_from(*frame_of_node.get(parent)?).ok());
                // The claims of a damaged file must not exhaust memory.
                let Some(caller) = caller.filter(|caller| *caller < MAX_FRAMES) else {
                    continue;
                };
                // Grown on demand, since most frames of a small trace have small numbers.
                if self.is_caller.len() <= caller {
                    self.is_caller.resize(caller + 1, false);
                }
                if let Some(is_caller) = self.is_caller.get_mut(caller) {
                    *is_caller = true;
                }
            }
            Ok(())
        })
    }

    /// Reads the offsets in IL of .NET frames. Extracts of earlier versions have none.
    fn read_il(&mut self, source: &dyn TableSource) -> Result<(), SinkError> {
        let columns = [
            "frame_id",
            "method_token",
            "il_offset",
            "call_il_offset",
            "pdb_guid",
            "pdb_age",
            "pdb_name",
        ];
        source.scan(IlOffset::TABLE, &columns, &mut |batch| {
            let frame = int32(batch, "frame_id")?;
            let token = int32(batch, "method_token")?;
            let here = int32(batch, "il_offset")?;
            let call = int32(batch, "call_il_offset")?;
            let guid = text(batch, "pdb_guid")?;
            let pdb = text(batch, "pdb_name")?;
            let age = int32(batch, "pdb_age")?;
            for row in 0..batch.num_rows() {
                let Some(frame) = frame.get(row).and_then(|id| usize::try_from(id).ok()) else {
                    continue;
                };
                // A caller is at a return address, whose line is that of the next statement.
                let offset = if self.is_caller(frame) { call } else { here };
                let point = token.get(row).zip(offset.get(row));
                let names = (pdb.get(row), guid.get(row), age.get(row));
                let in_il = InIl {
                    point: point.map(|(token, il)| (token.cast_unsigned(), il.cast_unsigned())),
                    identity: identity_of(names),
                };
                self.in_il.insert(frame, in_il);
            }
            Ok(())
        })
    }

    /// True if a frame called another one in some stack.
    pub(super) fn is_caller(&self, frame: usize) -> bool {
        self.is_caller
            .get(frame)
            .is_some_and(|is_caller| *is_caller)
    }

    fn read_modules(&mut self, source: &dyn TableSource) -> Result<Vec<String>, SinkError> {
        let mut names = Vec::new();
        let columns = [
            "name",
            "pdb_guid",
            "pdb_age",
            "pdb_name",
            "time_date_stamp",
            "size",
        ];
        source.scan(Module::TABLE, &columns, &mut |batch| {
            let name = text(batch, "name")?;
            let guid = text(batch, "pdb_guid")?;
            let age = int32(batch, "pdb_age")?;
            let pdb = text(batch, "pdb_name")?;
            let stamp = int32(batch, "time_date_stamp")?;
            let size = int64(batch, "size")?;
            for row in 0..batch.num_rows() {
                let is_reported = guid.get(row).is_some();
                let identity = identity_of((pdb.get(row), guid.get(row), age.get(row)));
                let name = name.get(row).unwrap_or("").to_owned();
                let module_id = names.len() as i32;
                let image = || {
                    let size = size.get(row).and_then(|size| u32::try_from(size).ok())?;
                    let stamp = stamp.get(row)?.cast_unsigned();
                    // The image is searched only if the trace names no symbol file. If the trace
                    // names one by a text that cannot be a file name, another file must not be used
                    // for it.
                    ImageIdentity::new(&name, stamp, size).filter(|_| !is_reported)
                };
                // The symbol file that the trace names comes first; the image only says which one
                // it has.
                let sought = identity
                    .map(Sought::Symbols)
                    .or_else(|| image().map(Sought::ByImage));
                let file = sought.map(|sought| self.file(sought, &name, module_id));
                self.of_module.push(file);
                names.push(name);
            }
            Ok(())
        })?;
        Ok(names)
    }

    /// Position of a symbol file, which is added for the first module that has it.
    fn file(&mut self, sought: Sought, module: &str, module_id: i32) -> usize {
        let next = self.files.len();
        // Modules of several processes often share a file, and it is loaded once.
        let place = *self.places.entry(sought.clone()).or_insert(next);
        if place == next {
            self.files.push(SymbolFileRequest {
                sought,
                module: module.to_owned(),
                module_id,
                frames: Vec::new(),
                rvas: Vec::new(),
                mapped: 0,
                in_il: Vec::new(),
                points: Vec::new(),
            });
        }
        place
    }

    /// Takes a frame of .NET code, whose name is known. Only its line can be looked up.
    fn dotnet_frame(&mut self, names: &[String], frame: usize, module: Option<i32>) {
        self.dotnet.addresses += 1;
        // Taken out, as each frame has one point.
        let Some(InIl { point, identity }) = self.in_il.remove(&frame) else {
            return;
        };
        self.dotnet.mapped += 1;
        let name = module.and_then(|id| Some((id, names.get(usize::try_from(id).ok()?)?)));
        let Some((identity, (id, name))) = identity.zip(name) else {
            self.dotnet.unknown += 1;
            return;
        };
        let place = self.file(Sought::Symbols(identity), name, id);
        if let Some(file) = self.files.get_mut(place) {
            file.mapped += 1;
            file.in_il.extend(point);
            self.points
                .extend(point.map(|point| (frame, (place, point))));
        }
    }

    fn frame(&mut self, names: &[String], frame: usize, (module, rva, method): FrameAt) {
        if self.is_managed(method) {
            if is_true(&self.has_signature, method) {
                self.dotnet_frame(names, frame, module);
            }
            return;
        }
        let before = u32::from(self.is_caller(frame));
        let Some(module) = module.and_then(|id| usize::try_from(id).ok()) else {
            return;
        };
        let file = self
            .of_module
            .get(module)
            .copied()
            .flatten()
            .and_then(|file| self.files.get_mut(file));
        match (file, rva.and_then(|rva| u32::try_from(rva).ok())) {
            (Some(file), Some(rva)) => {
                file.frames.push(rva);
                // Both are requested: the address determines the function, and the byte before it,
                // where the call ends, its line.
                file.rvas.extend([rva, rva.saturating_sub(before)]);
            }
            (Some(_), None) => {}
            // Reported with the number of addresses, so that the user sees which file is worth a
            // search.
            (None, _) => {
                if let Some(name) = names.get(module) {
                    *self.unknown.entry(name.clone()).or_default() += 1;
                }
            }
        }
    }

    /// Symbol file and offset that name a frame; `None` for .NET code and where the symbol file is
    /// unknown.
    pub(super) fn place(
        &self,
        module: Option<i32>,
        rva: Option<i64>,
        method: Option<i32>,
    ) -> Option<(usize, u32)> {
        let file = self.file_of(module).filter(|_| !self.is_managed(method))?;
        Some((file, u32::try_from(rva?).ok()?))
    }

    /// Symbol file and point that give a .NET frame its line.
    pub(super) fn point(&self, frame: i32) -> Option<(usize, Point)> {
        let frame = usize::try_from(frame).ok()?;
        self.points.get(&frame).copied()
    }

    /// Symbol file of a module.
    pub(super) fn file_of(&self, module: Option<i32>) -> Option<usize> {
        self.of_module
            .get(usize::try_from(module?).ok()?)
            .copied()
            .flatten()
    }

    fn is_managed(&self, method: Option<i32>) -> bool {
        is_true(&self.is_managed, method)
    }
}

fn is_true(of_method: &[bool], method: Option<i32>) -> bool {
    let known = method.and_then(|id| of_method.get(usize::try_from(id).ok()?));
    known.is_some_and(|is_true| *is_true)
}

/// The identity that a row contains: name, GUID and age of a symbol file. Without an age there is
/// none, since age 0 would be another file.
fn identity_of(row: (Option<&str>, Option<&str>, Option<i32>)) -> Option<Identity> {
    let (name, guid, age) = row;
    let guid = guid?.parse::<Guid>().ok()?;
    Identity::new(name?, guid, age?.cast_unsigned())
}
