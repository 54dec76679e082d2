//! The addresses in stacks, by symbol file.

use std::collections::BTreeMap;

use etwkit_etl::Guid;
use etwkit_symbols::{Identity, ImageIdentity};
use etwkit_trace::derive::TableSource;
use etwkit_trace::derive::columns::{Get, int32, int64, text};
use etwkit_trace::sink::SinkError;
use etwkit_trace::table::{Frame, Method, Module, Row, Stack};

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

/// A symbol file, and the addresses to resolve with it.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) sought: Sought,
    /// File name of the module, and the first of the modules that have it.
    pub(super) module: String,
    pub(super) module_id: i32,
    /// Offsets in the module that frames have, ascending, each once.
    pub(super) frames: Vec<u32>,
    /// Offsets to look up: the offsets of `frames`, and for callers also the byte before.
    pub(super) rvas: Vec<u32>,
}

/// All addresses to resolve.
#[derive(Debug, Default)]
pub(super) struct AllWanted {
    pub(super) files: Vec<Wanted>,
    /// Symbol file of each module, by position in the table.
    pub(super) of_module: Vec<Option<usize>>,
    /// Names of modules without a known symbol file, with the number of their addresses.
    pub(super) unknown: BTreeMap<String, usize>,
    /// True for .NET methods, by position in the table.
    is_managed: Vec<bool>,
    /// True for frames that called another frame, by position in the table: their address is the
    /// return address.
    is_caller: Vec<bool>,
}

impl AllWanted {
    /// Reads modules, methods and frames.
    pub(super) fn read(source: &dyn TableSource) -> Result<Self, SinkError> {
        let mut all = Self::default();
        let names = all.read_modules(source)?;
        source.scan(Method::TABLE, &["process_key"], &mut |batch| {
            let process = int32(batch, "process_key")?;
            all.is_managed
                .extend((0..batch.num_rows()).map(|row| process.get(row).is_some()));
            Ok(())
        })?;
        all.read_callers(source)?;
        let mut next = 0;
        source.scan(
            Frame::TABLE,
            &["module_id", "rva", "method_id"],
            &mut |batch| {
                let (module, rva) = (int32(batch, "module_id")?, int64(batch, "rva")?);
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
        for file in &mut all.files {
            for rvas in [&mut file.frames, &mut file.rvas] {
                rvas.sort_unstable();
                rvas.dedup();
            }
        }
        Ok(all)
    }

    fn read_callers(&mut self, source: &dyn TableSource) -> Result<(), SinkError> {
        let mut frame_of_node: Vec<i32> = Vec::new();
        source.scan(Stack::TABLE, &["parent_id", "frame_id"], &mut |batch| {
            let (parent, frame) = (int32(batch, "parent_id")?, int32(batch, "frame_id")?);
            for row in 0..batch.num_rows() {
                // Parents come before their children, so the frame of a caller is known when its
                // callee is reached.
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

    /// True if a frame called another one in some stack.
    pub(super) fn is_caller(&self, frame: usize) -> bool {
        self.is_caller
            .get(frame)
            .is_some_and(|is_caller| *is_caller)
    }

    fn read_modules(&mut self, source: &dyn TableSource) -> Result<Vec<String>, SinkError> {
        let (mut names, mut places) = (Vec::new(), BTreeMap::new());
        let columns = [
            "name",
            "pdb_guid",
            "pdb_age",
            "pdb_name",
            "time_date_stamp",
            "size",
        ];
        source.scan(Module::TABLE, &columns, &mut |batch| {
            let (name, guid) = (text(batch, "name")?, text(batch, "pdb_guid")?);
            let (age, pdb) = (int32(batch, "pdb_age")?, text(batch, "pdb_name")?);
            let (stamp, size) = (int32(batch, "time_date_stamp")?, int64(batch, "size")?);
            for row in 0..batch.num_rows() {
                let is_reported = guid.get(row).is_some();
                let guid = guid.get(row).and_then(|guid| guid.parse::<Guid>().ok());
                let age = age.get(row).unwrap_or_default().cast_unsigned();
                let identity = pdb
                    .get(row)
                    .zip(guid)
                    .and_then(|(pdb, guid)| Identity::new(pdb, guid, age));
                let name = name.get(row).unwrap_or_default().to_owned();
                let module_id = names.len() as i32;
                let image = || {
                    let size = size.get(row).and_then(|size| u32::try_from(size).ok())?;
                    let stamp = stamp.get(row).unwrap_or_default().cast_unsigned();
                    // The image is searched only if the trace names no symbol file. If the trace
                    // names one by a text that cannot be a file name, another file must not be used
                    // for it.
                    ImageIdentity::new(&name, stamp, size).filter(|_| !is_reported)
                };
                let sought = identity
                    .map(Sought::Symbols)
                    .or_else(|| image().map(Sought::ByImage));
                self.of_module.push(sought.map(|sought| {
                    *places.entry(sought.clone()).or_insert_with(|| {
                        self.files.push(Wanted {
                            sought,
                            module: name.clone(),
                            module_id,
                            frames: Vec::new(),
                            rvas: Vec::new(),
                        });
                        self.files.len() - 1
                    })
                }));
                names.push(name);
            }
            Ok(())
        })?;
        Ok(names)
    }

    fn frame(&mut self, names: &[String], frame: usize, (module, rva, method): FrameAt) {
        if self.is_managed(method) {
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

    /// Symbol file of a module.
    pub(super) fn file_of(&self, module: Option<i32>) -> Option<usize> {
        self.of_module
            .get(usize::try_from(module?).ok()?)
            .copied()
            .flatten()
    }

    fn is_managed(&self, method: Option<i32>) -> bool {
        let method = method.and_then(|id| self.is_managed.get(usize::try_from(id).ok()?));
        method.is_some_and(|is_managed| *is_managed)
    }
}
