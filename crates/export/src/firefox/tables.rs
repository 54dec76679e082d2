//! Tables that all threads share: strings, stacks, frames, functions, and the files that hold them.

use std::collections::HashMap;
use std::io::Write;

use etwkit_base::path::file_name;
use etwkit_sql::frames::TraceFrames;

use crate::json::text;
use crate::stacks::method_name;
use crate::{Error, Result};

/// The tables, in the order in which their rows were first needed. They grow with distinct stacks.
#[derive(Default)]
pub(super) struct Tables {
    strings: Vec<String>,
    of_string: HashMap<String, usize>,
    /// Frame and caller, which is earlier in the list.
    stacks: Vec<(usize, Option<usize>)>,
    of_stack: HashMap<i32, usize>,
    /// Frames of the extract.
    frames: Vec<i32>,
    of_frame: HashMap<i32, usize>,
}

/// Returns the place of a value in a list; adds a new one.
fn place<T: Clone + Eq + std::hash::Hash>(
    value: &T,
    list: &mut Vec<T>,
    of: &mut HashMap<T, usize>,
) -> usize {
    if let Some(place) = of.get(value) {
        return *place;
    }
    list.push(value.clone());
    of.insert(value.clone(), list.len() - 1);
    list.len() - 1
}

impl Tables {
    /// Returns the number of a string.
    pub(super) fn string(&mut self, text: &str) -> usize {
        match self.of_string.get(text) {
            Some(place) => *place,
            None => place(&text.to_owned(), &mut self.strings, &mut self.of_string),
        }
    }

    /// Returns the number of a stack of the extract; `None` for a stack without a frame.
    pub(super) fn stack(&mut self, stack_id: i32, frames: &TraceFrames) -> Option<usize> {
        // From the innermost frame outward, up to the first known stack.
        let mut new = Vec::new();
        let mut caller = None;
        let mut next = Some(stack_id);
        while let Some(stack) = next {
            if let Some(known) = self.of_stack.get(&stack) {
                caller = Some(*known);
                break;
            }
            let Some((parent, frame)) = frames.node(stack) else {
                break;
            };
            new.push((stack, frame));
            next = parent;
        }
        // Callers first: a row of the table may refer only to earlier rows.
        for (stack, frame) in new.into_iter().rev() {
            let frame = place(&frame, &mut self.frames, &mut self.of_frame);
            self.stacks.push((frame, caller));
            let number = self.stacks.len() - 1;
            self.of_stack.insert(stack, number);
            caller = Some(number);
        }
        caller
    }

    /// Writes the tables as the members `shared` and `libs` of the profile.
    ///
    /// # Errors
    /// Nothing more can be written.
    pub(super) fn write(mut self, out: &mut dyn Write, frames: &TraceFrames) -> Result<()> {
        // Before anything is written, since names and files of functions are also strings, and the
        // table of strings comes last.
        let functions = Functions::of(&self.frames, frames);
        let names: Vec<usize> = functions
            .names
            .iter()
            .map(|name| self.string(name))
            .collect();
        let files: Vec<usize> = functions
            .files
            .iter()
            .map(|path| self.string(file_name(path)))
            .collect();
        let mut table = Table {
            out,
            is_first: true,
        };
        self.write_stacks(&mut table)?;
        self.write_frames(&mut table, &functions, frames)?;
        write_functions(&mut table, &functions, &names)?;
        write_files(&mut table, &files)?;
        list(table.out, self.strings.iter().map(|string| text(string)))?;
        table
            .out
            .write_all(b"},\n\"libs\":")
            .map_err(Error::Write)?;
        list(table.out, functions.files.iter().map(|path| library(path)))
    }

    fn write_stacks(&self, table: &mut Table<'_>) -> Result<()> {
        table.begin("\"shared\":{\"stackTable\"")?;
        table.column("frame", self.stacks.iter().map(|(frame, _)| frame))?;
        let callers = self.stacks.iter().map(|(_, caller)| maybe(*caller));
        table.column("prefix", callers)?;
        table.end(self.stacks.len(), ",\n\"frameTable\"")
    }

    fn write_frames(
        &self,
        table: &mut Table<'_>,
        functions: &Functions,
        frames: &TraceFrames,
    ) -> Result<()> {
        let length = self.frames.len();
        let address = |frame: &i32| frames.offset(*frame).map_or(-1, |offset| offset.max(0));
        table.column("address", self.frames.iter().map(address))?;
        for name in ["inlineDepth", "category", "subcategory"] {
            table.same(name, "0", length)?;
        }
        table.column("func", functions.of_frame.iter())?;
        table.same("nativeSymbol", "null", length)?;
        table.same("innerWindowID", "0", length)?;
        table.same("line", "null", length)?;
        table.same("column", "null", length)?;
        table.end(length, ",\n\"funcTable\"")
    }
}

/// Writes functions, with their names as numbers of strings.
fn write_functions(table: &mut Table<'_>, functions: &Functions, names: &[usize]) -> Result<()> {
    table.column("name", names.iter())?;
    table.same("isJS", "false", names.len())?;
    table.same("relevantForJS", "false", names.len())?;
    let files = functions.file_of.iter();
    let files = files.map(|file| file.map_or(-1, |file| file as i64));
    table.column("resource", files)?;
    for name in ["source", "lineNumber", "columnNumber"] {
        table.same(name, "null", names.len())?;
    }
    table.end(names.len(), ",\n\"resourceTable\"")
}

/// Writes files, with their names as numbers of strings, and the tables that stay empty.
fn write_files(table: &mut Table<'_>, files: &[usize]) -> Result<()> {
    table.column("lib", 0..files.len())?;
    table.column("name", files.iter())?;
    table.same("host", "null", files.len())?;
    // A library.
    table.same("type", "1", files.len())?;
    let empty = ",\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n\
        \"sources\":{\"length\":0,\"uuid\":[],\"filename\":[]},\n\"stringArray\"";
    table.end_with(files.len(), empty)
}

/// The functions of frames, and the files that hold their code.
#[derive(Default)]
struct Functions {
    of_frame: Vec<usize>,
    names: Vec<String>,
    /// Their files, as indices into the next list.
    file_of: Vec<Option<usize>>,
    /// Paths.
    files: Vec<String>,
}

impl Functions {
    /// Returns the functions of frames. Frames of one method have one function; a file is one, in
    /// all processes.
    fn of(all: &[i32], frames: &TraceFrames) -> Self {
        let (mut functions, mut known, mut paths) =
            (Self::default(), HashMap::new(), HashMap::new());
        for frame in all {
            let identity = frames.identity(*frame);
            let number = *known.entry(identity).or_insert_with(|| {
                let module = frames
                    .module_path(*frame)
                    .or_else(|| frames.module(*frame))
                    .map(str::to_owned);
                let file = module.map(|path| place(&path, &mut functions.files, &mut paths));
                functions.names.push(method_name(frames, *frame));
                functions.file_of.push(file);
                functions.names.len() - 1
            });
            functions.of_frame.push(number);
        }
        functions
    }
}

/// A file as `Lib`. Its identity on symbol servers is left empty: the names are
/// in the profile, so that the profiler need not look up any.
fn library(path: &str) -> String {
    let name = text(file_name(path));
    let path = text(path);
    format!(
        "{{\"arch\":\"\",\"name\":{name},\"path\":{path},\"debugName\":{name},\"debugPath\":{path},\
         \"breakpadId\":\"\",\"codeId\":null}}"
    )
}

/// Formats a number that may be missing.
pub(super) fn maybe(number: Option<usize>) -> String {
    number.map_or_else(|| "null".to_owned(), |number| number.to_string())
}

/// Writes a list of JSON values.
fn list<T: std::fmt::Display>(out: &mut dyn Write, values: impl Iterator<Item = T>) -> Result<()> {
    out.write_all(b"[").map_err(Error::Write)?;
    for (at, value) in values.enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(out, "{comma}{value}").map_err(Error::Write)?;
    }
    out.write_all(b"]").map_err(Error::Write)
}

/// A table of complete columns.
struct Table<'o> {
    out: &'o mut dyn Write,
    is_first: bool,
}

impl Table<'_> {
    fn begin(&mut self, name: &str) -> Result<()> {
        self.is_first = true;
        write!(self.out, "{name}:{{").map_err(Error::Write)
    }

    fn column<T: std::fmt::Display>(
        &mut self,
        name: &str,
        values: impl Iterator<Item = T>,
    ) -> Result<()> {
        let comma = if std::mem::replace(&mut self.is_first, false) {
            ""
        } else {
            ",\n"
        };
        write!(self.out, "{comma}\"{name}\":").map_err(Error::Write)?;
        list(self.out, values)
    }

    /// Writes a column with the same value in each row.
    fn same(&mut self, name: &str, value: &str, rows: usize) -> Result<()> {
        self.column(name, std::iter::repeat_n(value, rows))
    }

    /// Ends the table, and starts the next one.
    fn end(&mut self, rows: usize, next: &str) -> Result<()> {
        write!(self.out, ",\"length\":{rows}}}").map_err(Error::Write)?;
        self.begin(next)
    }

    /// Ends the last table.
    fn end_with(&mut self, rows: usize, more: &str) -> Result<()> {
        write!(self.out, ",\"length\":{rows}}}{more}:").map_err(Error::Write)
    }
}
