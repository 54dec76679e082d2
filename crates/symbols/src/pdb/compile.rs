//! Compilation of a PDB into a table. Compilands are read one after the other, so memory holds only
//! one of them in addition to the results.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use etwkit_etl::bytes::{Cursor, front, tail};
use rustc_hash::FxHashMap;

use super::Pdb;
use super::dbi::{Compiland, Dbi};
use super::inlines::{Lengths, Range, Site, add_ranges};
use super::lines::{FileLine, Lines};
use super::records::{self, Record, Records};
use super::rows::{Naming, sweep};
use super::streams::Streams;
use super::stubs::{self, Stub};
use super::types::Names;
use crate::Result;
use crate::table::{Frame, Function, NamedAddress, SymbolTable, Writer, lay_out};
use crate::undecorate::{self, Decorated};

/// Symbol records are read in pieces of this size.
const PIECE: u32 = 4 << 20;
/// Signature before the symbols of a compiland.
const SIGNATURE_LEN: usize = 4;
/// Lines and frames of a compiland, for each byte of its stream; compilers write less than one.
const FRAMES_PER_BYTE: usize = 4;
/// Maximum number of inlined calls of one function; no compiler generates as many.
const MAX_SITES: usize = 1 << 20;

pub(super) fn table(pdb: &mut Pdb<'_>, wanted: Option<&[u32]>) -> Result<SymbolTable> {
    let dbi = Dbi::read(&mut pdb.msf)?;
    let mut found = CompilandSymbols {
        functions: Vec::new(),
        publics: Vec::new(),
        stubs: Vec::new(),
        damage: BTreeMap::new(),
        writer: Writer::default(),
    };
    // Public symbols come first: functions take their decorated names from those at the same
    // address.
    pdb.damage.clear();
    if !publics(&mut pdb.msf, &dbi, &mut found)? {
        pdb.damage.push("public symbols".to_owned());
    }
    // Opened before compilands, as inlined functions are named by it.
    let types = Names::open(&mut pdb.msf)?;
    let mut reader = Reader {
        dbi: &dbi,
        types,
        found,
        files: FxHashMap::default(),
        exports: FxHashMap::default(),
        by_name: None,
    };
    // Every compiland has a stream of its own; one stream that thousands of them share would take
    // forever to read.
    let mut seen = BTreeSet::new();
    let needed = wanted.map(|rvas| needed(&dbi, rvas));
    for (number, compiland) in dbi.compilands.iter().enumerate() {
        let is_needed = needed
            .as_ref()
            .is_none_or(|needed| needed.get(number) == Some(&true));
        // A stream is read once, whatever the directory claims.
        if is_needed && seen.insert(compiland.stream) {
            reader.compiland(&mut pdb.msf, number, compiland)?;
        }
    }
    let CompilandSymbols {
        mut functions,
        publics,
        stubs,
        damage,
        mut writer,
    } = reader.found;
    // Stubs are named after all functions, since they carry the names of their targets.
    let stubs = stubs::named(&stubs, &mut functions, &publics, &mut writer);
    functions.extend(stubs);
    let functions = merge(&dbi, functions, &publics, &damage);
    // Damage of functions does not end the file; the reader says which compilands have it.
    pdb.damage.extend(damage.into_values());
    let bytes = writer.finish(pdb.guid, pdb.age, &functions, &dbi.moves)?;
    SymbolTable::open(bytes)
}

/// Marks the compilands that contain one of the addresses. Addresses outside of all contributions
/// have at most a public symbol.
fn needed(dbi: &Dbi, rvas: &[u32]) -> Vec<bool> {
    // Without contributions nothing tells where code came from, so that all compilands are read.
    let mut needed = vec![dbi.contributions.is_empty(); dbi.compilands.len()];
    // Back to the address before the image was rearranged, as compilands have it.
    let source = rvas.iter().filter_map(|rva| dbi.moves.source(*rva));
    for contribution in source.filter_map(|rva| dbi.contribution(rva)) {
        if let Some(needed) = needed.get_mut(usize::from(contribution.compiland)) {
            *needed = true;
        }
    }
    needed
}

struct CompilandSymbols {
    functions: Vec<NamedAddress>,
    /// Sorted by address.
    publics: Vec<NamedAddress>,
    stubs: Vec<Stub>,
    /// Compilands whose symbols cannot be read to the end, with their names.
    damage: BTreeMap<usize, String>,
    writer: Writer,
}

/// Returns true if all public symbols can be read.
fn publics(msf: &mut Streams<'_>, dbi: &Dbi, found: &mut CompilandSymbols) -> Result<bool> {
    let len = msf.len(dbi.records);
    let mut at = 0;
    let mut is_whole = true;
    while at < len {
        let piece = msf.part(dbi.records, at, PIECE)?;
        let mut records = Records(Cursor::new(&piece));
        let mut whole = 0;
        while let Some(record) = records.next() {
            // The position after the last whole record, where the next piece starts.
            whole = records.0.position();
            let Record::Public {
                section,
                offset,
                name,
            } = record
            else {
                continue;
            };
            // Public symbols of data are not of interest: addresses of stacks are code.
            let Some(start) = dbi.code_rva(section, offset) else {
                continue;
            };
            let name = String::from_utf8_lossy(name);
            let plain = undecorate::name(&name, Decorated { is_x86: dbi.is_x86 });
            // The decorated name is kept as well: it has the arguments of a function.
            let decorated = (plain != name).then(|| found.writer.string(&name));
            let name = found.writer.string(&plain);
            found.publics.push(NamedAddress {
                start,
                len: 0,
                name,
                decorated,
                rows: None,
                is_preferred: false,
            });
        }
        // A record cannot be longer than a piece: the position after it is unknown.
        let Some(whole) = u32::try_from(whole).ok().filter(|whole| *whole > 0) else {
            is_whole = !records.is_cut_off();
            break;
        };
        at = at.saturating_add(whole);
    }
    // A stable sort: of several names at one address the first stays first.
    found.publics.sort_by_key(|public| public.start);
    Ok(is_whole)
}

impl CompilandSymbols {
    /// The public symbols at an address.
    fn publics_at(&self, start: Option<u32>) -> &[NamedAddress] {
        let Some(start) = start else { return &[] };
        let first = self.publics.partition_point(|public| public.start < start);
        let rest = tail(&self.publics, first);
        let same = rest.iter().take_while(|public| public.start == start);
        front(rest, same.count())
    }
}

/// The code of functions, which has lines of its own.
struct Covered {
    /// Sorted by start.
    ranges: Vec<(u32, u32)>,
    /// The range that was found last. Lines of one function follow each other, so it is seldom
    /// another one.
    last: std::ops::Range<u32>,
}

impl Covered {
    fn of(functions: &[NamedAddress]) -> Self {
        let mut ranges: Vec<(u32, u32)> = functions
            .iter()
            .map(|function| (function.start, function.start.saturating_add(function.len)))
            .collect();
        ranges.sort_unstable();
        Self { ranges, last: 0..0 }
    }

    fn contains(&mut self, rva: u32) -> bool {
        if self.last.contains(&rva) {
            return true;
        }
        let below = self.ranges.partition_point(|(start, _)| *start <= rva);
        let range = below.checked_sub(1).and_then(|at| self.ranges.get(at));
        self.last = range.map_or(0..0, |(start, end)| *start..*end);
        self.last.contains(&rva)
    }
}

struct Reader<'d> {
    dbi: &'d Dbi,
    types: Names,
    found: CompilandSymbols,
    /// Number of a string by offset in the string table of the PDB.
    files: FxHashMap<u32, u32>,
    /// IDs that a compiland exports to others, by compiland number.
    exports: FxHashMap<usize, HashMap<u32, u32>>,
    /// Numbers of compilands by their names in lower case.
    by_name: Option<HashMap<String, usize>>,
}

impl Reader<'_> {
    fn compiland(
        &mut self,
        msf: &mut Streams<'_>,
        number: usize,
        compiland: &Compiland,
    ) -> Result<()> {
        let bytes = msf.stream(compiland.stream)?;
        let usize_of = |len: u32| usize::try_from(len).unwrap_or(usize::MAX);
        let symbols = front(&bytes, usize_of(compiland.symbols_len));
        let lines_at =
            // Lines of the old form lie between and are skipped.
            usize_of(compiland.symbols_len).saturating_add(usize_of(compiland.old_lines_len));
        let lines = tail(&bytes, lines_at);
        let lines = Lines::read(front(lines, usize_of(compiland.lines_len)));
        let symbols = tail(symbols, SIGNATURE_LEN);
        let is_short = bytes.len() < usize_of(compiland.symbols_len);
        let first = self.found.functions.len();
        let mut read = |reader: &mut Self, lengths| {
            let mut names = Inlinees {
                msf: &mut *msf,
                reader,
                lines: &lines,
                known: FxHashMap::default(),
                budget: bytes.len().saturating_mul(FRAMES_PER_BYTE),
                lengths,
                overruns: 0,
                is_damaged: is_short,
            };
            names.records(number, symbols);
            (names.overruns, names.is_damaged)
        };
        let (overruns, is_damaged) = read(self, Lengths::Advance);
        // The compiler is not known by its name: the reading that stays inside of the functions is
        // the right one.
        if overruns > 0 {
            let after = self.found.functions.len();
            // The second reading is thrown away if it is no better.
            let (others, _) = read(self, Lengths::Stay);
            if others < overruns {
                self.found.functions.drain(first..after);
            } else {
                self.found.functions.truncate(after);
            }
        }
        if is_damaged {
            self.found.damage.insert(number, compiland.name.clone());
        }
        self.lines_of_publics(number, &lines, first);
        Ok(())
    }

    /// Gives their lines to public symbols whose object file has lines but no functions, as
    /// assemblers write them.
    fn lines_of_publics(&mut self, number: usize, lines: &Lines<'_>, first: usize) {
        let mut covered = Covered::of(tail(&self.found.functions, first));
        let dbi = self.dbi;
        let placed = lines.lines.iter().filter_map(|line| {
            let rva = dbi.code_rva(line.section, line.offset)?;
            (!covered.contains(rva)).then_some((rva, line.place))
        });
        let mut of_public: BTreeMap<usize, Vec<(u32, Option<FileLine>)>> = BTreeMap::new();
        for (rva, place) in placed {
            if let Some((nth, start)) = self.public_of(rva, number) {
                of_public.entry(nth).or_default().push((rva - start, place));
            }
        }
        for (nth, rows) in of_public {
            let frames: Vec<(u32, Frame)> = rows
                .into_iter()
                .map(|(offset, place)| (offset, self.frame(lines, place)))
                .collect();
            let rows = frames
                .iter()
                .map(|(offset, frame)| (*offset, std::slice::from_ref(frame)));
            let rows = self.found.writer.rows(rows);
            // Of several public symbols at one address any may be the one that is taken.
            if let Some(start) = self.found.publics.get(nth).map(|public| public.start) {
                let to_this = self.found.publics.iter_mut().take(nth + 1);
                to_this
                    .rev()
                    .take_while(|public| public.start == start)
                    .for_each(|public| public.rows = rows);
            }
        }
    }

    /// The nearest public symbol at or before a line that may have it, and the start of the symbol.
    fn public_of(&self, rva: u32, number: usize) -> Option<(usize, u32)> {
        let publics = &self.found.publics;
        let below = publics.partition_point(|public| public.start <= rva);
        let nth = below.checked_sub(1)?;
        let public = publics.get(nth)?;
        let of = self.dbi.contribution(public.start)?;
        // Only if both are of this compiland: a line behind the end of another one is not its line.
        let is_own = usize::from(of.compiland) == number && rva < of.end_rva;
        (is_own && public.rows.is_none()).then_some((nth, public.start))
    }

    /// The outermost frame at a place.
    fn frame(&mut self, lines: &Lines<'_>, place: Option<FileLine>) -> Frame {
        let (file, line) = self.place(lines, place);
        Frame {
            name: 0,
            file,
            line,
        }
    }

    /// File and line of a place.
    fn place(&mut self, lines: &Lines<'_>, place: Option<FileLine>) -> (Option<u32>, u32) {
        let Some(place) = place else { return (None, 0) };
        let Some(at) = lines.file_name(place.file) else {
            return (None, place.line);
        };
        let number = self.file(at);
        (number, place.line)
    }

    /// Number of a file's name by its offset in the string table; `None` if the table ends before
    /// the offset, as of a damaged file.
    fn file(&mut self, at: u32) -> Option<u32> {
        // Names of files repeat for each line.
        if let Some(number) = self.files.get(&at) {
            return Some(*number);
        }
        let name = Cursor::new(tail(&self.dbi.names, at as usize)).ansi();
        if name.is_empty() {
            // An offset past the end has no name.
            return None;
        }
        let number = self.found.writer.string(&String::from_utf8_lossy(name));
        self.files.insert(at, number);
        Some(number)
    }
}

/// Names the functions and inlinees of one compiland.
struct Inlinees<'a, 'd, 'f> {
    msf: &'a mut Streams<'f>,
    reader: &'a mut Reader<'d>,
    lines: &'a Lines<'a>,
    /// Names of inlined functions by ID.
    known: FxHashMap<u32, u32>,
    /// Lines and frames that may still be used: functions that overlap would repeat all lines for
    /// each of them.
    budget: usize,
    lengths: Lengths,
    /// Sites that depend on `lengths` and end behind their function.
    overruns: usize,
    /// True if the records do not end where the symbols end.
    is_damaged: bool,
}

impl Inlinees<'_, '_, '_> {
    fn records(&mut self, number: usize, symbols: &[u8]) {
        let mut last: Option<(u32, u32, Option<u32>)> = None;
        let mut records = Records(Cursor::new(symbols));
        while let Some(record) = records.next() {
            match record {
                Record::Function(function) => last = self.function(number, function, &mut records),
                Record::Stub { from, to, len } => self.stub(from, to, len),
                Record::Separated {
                    section,
                    offset,
                    len,
                } => {
                    // A part belongs to the function before it, and has no name of its own.
                    // Compilers move seldom-used code away from its function.
                    let Some((name, decorated)) =
                        last.map(|(_, name, decorated)| (name, decorated))
                    else {
                        continue;
                    };
                    let function = records::Function {
                        section,
                        offset,
                        len,
                        name: b"",
                    };
                    self.body(number, function, name, decorated, &mut records);
                }
                _ => {}
            }
        }
        self.is_damaged |= records.is_cut_off();
    }

    fn stub(&mut self, from: (u16, u32), to: (u16, u32), len: u32) {
        let dbi = self.reader.dbi;
        // A stub without a length covers no code.
        let start = dbi.code_rva(from.0, from.1).filter(|_| len > 0);
        if let Some(start) = start {
            self.reader.found.stubs.push(Stub {
                start,
                len,
                target: dbi.code_rva(to.0, to.1),
            });
        }
    }

    fn function(
        &mut self,
        compiland: usize,
        function: records::Function<'_>,
        records: &mut Records<'_>,
    ) -> Option<(u32, u32, Option<u32>)> {
        let text = String::from_utf8_lossy(function.name);
        let found = &mut self.reader.found;
        let start = self
            .reader
            .dbi
            .code_rva(function.section, function.offset)
            .filter(|_| function.len > 0);
        let publics = found.publics_at(start);
        let plain = undecorate::name(&text, Decorated { is_x86: false });
        // Assemblers write decorated names of C functions also into private symbols.
        // They begin with the sign of the calling convention.
        let is_decorated = plain == text && text.starts_with(['_', '@']);
        let same = publics.iter().find(|public| {
            let decorated = public.decorated.filter(|_| is_decorated);
            // The public symbol already has both forms of the name.
            decorated.is_some_and(|it| found.writer.text(it) == Some(&*text))
        });
        let (name, decorated) = if let Some(public) = same {
            (public.name, public.decorated)
        } else {
            let name = found.writer.string(&plain);
            // Of the public symbols at the address, the one of this function has its declaration.
            let public = found
                .publics_at(start)
                .iter()
                .find(|public| public.name == name);
            let declared = public.and_then(|public| public.decorated);
            let own = (plain != text).then(|| found.writer.string(&text));
            (name, own.or(declared))
        };
        self.body(compiland, function, name, decorated, records);
        start.map(|start| (start, name, decorated))
    }

    /// Reads the records of a function up to its end, and returns its inlined calls with their code.
    fn inlined(&mut self, len: u32, records: &mut Records<'_>) -> (Vec<Site>, Vec<Range>) {
        let mut sites = Vec::<Site>::new();
        let mut ranges = Vec::<Range>::new();
        let mut overruns = 0;
        // Scopes inside of the function, each with the site that applies in it.
        let mut scopes: Vec<Option<u32>> = vec![None];
        for record in records.by_ref() {
            let inside = scopes.last().copied().flatten();
            match record {
                Record::End => {
                    scopes.pop();
                }
                // Current compilers create no functions inside functions. The contents of such a
                // function belong to the outer one.
                Record::Scope | Record::Function(_) | Record::Separated { .. } => {
                    scopes.push(inside);
                }
                Record::InlineSite {
                    inlinee,
                    annotations,
                } => {
                    // Depth is counted, as a chain without an end would be followed forever.
                    let depth = inside
                        .and_then(|site| sites.get(usize::try_from(site).ok()?))
                        .map_or(0, |site| site.depth.saturating_add(1));
                    let number = u32::try_from(sites.len()).unwrap_or(u32::MAX);
                    // Beyond the limit scopes are still followed, so that the end of the function
                    // is found.
                    if sites.len() < MAX_SITES {
                        sites.push(Site {
                            parent: inside,
                            inlinee,
                            depth,
                        });
                        let first = ranges.len();
                        let is_ambiguous = add_ranges(
                            annotations,
                            number,
                            inlinee,
                            self.lines,
                            self.lengths,
                            &mut ranges,
                        );
                        let own = tail(&ranges, first);
                        // Ranges outside of the function show the wrong reading of lengths.
                        let is_beyond = own.iter().any(|range| range.end > len);
                        overruns += usize::from(is_ambiguous && is_beyond);
                    }
                    scopes.push(Some(number));
                }
                Record::Public { .. } | Record::Stub { .. } | Record::Other => {}
            }
            if scopes.is_empty() {
                break;
            }
        }
        self.overruns += overruns;
        // The end of the function is missing: it was in the records that cannot be read.
        self.is_damaged |= !scopes.is_empty();
        (sites, ranges)
    }

    /// Reads the records up to the end of the function, which describe its inlined calls.
    fn body(
        &mut self,
        compiland: usize,
        function: records::Function<'_>,
        name: u32,
        decorated: Option<u32>,
        records: &mut Records<'_>,
    ) {
        let (sites, mut ranges) = self.inlined(function.len, records);
        let Some(start) = self
            // A function without an address was dropped by the linker.
            .reader
            .dbi
            .code_rva(function.section, function.offset)
            .filter(|_| function.len > 0)
        else {
            return;
        };
        let end = function.offset.saturating_add(function.len);
        let lines = self.lines.within(function.section, function.offset, end);
        // A function without lines is still named, which matters more than its lines.
        let lines = if lines.len() > self.budget {
            &[]
        } else {
            lines
        };
        // Each compiland has a budget by its size, so that a small file cannot make a huge table.
        let budget = self.budget - lines.len();
        let mut rows: Vec<(u32, std::ops::Range<usize>)> = Vec::new();
        let mut frames = Vec::new();
        sweep(
            function.offset,
            function.len,
            lines,
            &sites,
            &mut ranges,
            self,
            &mut |offset, chain| {
                let first = frames.len();
                if first + chain.len() <= budget {
                    frames.extend_from_slice(chain);
                    rows.push((offset, first..frames.len()));
                }
            },
        );
        self.budget = budget - frames.len();
        let found = &mut self.reader.found;
        let rows = rows
            .into_iter()
            .filter_map(|(offset, range)| Some((offset, frames.get(range)?)));
        let rows = found.writer.rows(rows);
        let contribution = self.reader.dbi.contribution(start);
        // If the linker folded several functions into one, the function of the object file that it
        // kept is preferred.
        let is_preferred = contribution.is_some_and(|it| usize::from(it.compiland) == compiland);
        found.functions.push(NamedAddress {
            start,
            len: function.len,
            name,
            decorated,
            rows,
            is_preferred,
        });
    }
}

impl Naming for Inlinees<'_, '_, '_> {
    fn place(&mut self, place: Option<FileLine>) -> (Option<u32>, u32) {
        self.reader.place(self.lines, place)
    }

    fn inlinee(&mut self, id: u32) -> u32 {
        // The same functions are inlined again and again.
        if let Some(number) = self.known.get(&id) {
            return *number;
        }
        let name = self
            // The call is there even if its name cannot be read.
            .name_of(id)
            .unwrap_or_else(|| "<unnamed inlined function>".to_owned());
        let number = self.reader.found.writer.string(&name);
        self.known.insert(id, number);
        number
    }
}

/// Set in IDs that belong to another compiland, as whole-program optimization writes them.
const FOREIGN: u32 = 0x8000_0000;

impl Inlinees<'_, '_, '_> {
    fn name_of(&mut self, id: u32) -> Option<String> {
        let id = if id & FOREIGN == 0 {
            id
        } else {
            self.foreign(id)?
        };
        let name = self.reader.types.function(self.msf, id).ok()??;
        Some(undecorate::name(&name, Decorated { is_x86: false }).into_owned())
    }

    /// Number in the ID stream of an ID of another compiland: eleven bits say which one, twenty
    /// which of the IDs used of it.
    fn foreign(&mut self, id: u32) -> Option<u32> {
        let module = id >> 20 & 0x7FF;
        let nth = id & 0xF_FFFF;
        // Imports are listed by compiland, and IDs name them by place.
        let (name, ids) = self.lines.imports.get(usize::try_from(module).ok()?)?;
        let local = *ids.get(usize::try_from(nth).ok()?)?;
        let compiland = self.compiland_of(*name)?;
        if !self.reader.exports.contains_key(&compiland) {
            // Without exports if they cannot be read, so that they are not read again for each call.
            // The inlined function then stays without a name.
            let exports = self.exports_of(compiland).unwrap_or_default();
            self.reader.exports.insert(compiland, exports);
        }
        self.reader.exports.get(&compiland)?.get(&local).copied()
    }

    fn compiland_of(&mut self, name: u32) -> Option<usize> {
        let dbi = self.reader.dbi;
        let text = Cursor::new(dbi.names.get(usize::try_from(name).ok()?..)?).ansi();
        let by_name = self.reader.by_name.get_or_insert_with(|| {
            // In reverse, so that of several compilands with one name the first stays in the map.
            let names = dbi.compilands.iter().enumerate().rev();
            names
                .map(|(number, compiland)| (compiland.name.to_ascii_lowercase(), number))
                .collect()
        });
        by_name
            .get(&String::from_utf8_lossy(text).to_ascii_lowercase())
            .copied()
    }

    fn exports_of(&mut self, compiland: usize) -> Option<HashMap<u32, u32>> {
        let compiland = self.reader.dbi.compilands.get(compiland)?;
        let start = compiland.symbols_len.checked_add(compiland.old_lines_len)?;
        let bytes = self
            .msf
            .part(compiland.stream, start, compiland.lines_len)
            .ok()?;
        Some(Lines::read(&bytes).exports)
    }
}

/// All names as one list.
fn merge(
    dbi: &Dbi,
    functions: Vec<NamedAddress>,
    publics: &[NamedAddress],
    damage: &BTreeMap<usize, String>,
) -> Vec<Function> {
    let limit = |named: &NamedAddress| {
        let section_end = dbi.section_end(named.start)?;
        // A public symbol has no length. It ends at the latest with the object file that it came
        // from. Otherwise padding and unnamed code after it would get its name.
        let contribution = (named.len == 0)
            // A function with a length needs no limit by its object file.
            .then(|| dbi.contribution(named.start))
            .flatten();
        let is_damaged =
            contribution.is_some_and(|it| damage.contains_key(&usize::from(it.compiland)));
        // The code behind it may be that of functions whose symbols are lost.
        if is_damaged {
            return Some(named.start.saturating_add(1));
        }
        Some(contribution.map_or(section_end, |it| it.end_rva.min(section_end)))
    };
    lay_out(functions, publics, limit)
}
