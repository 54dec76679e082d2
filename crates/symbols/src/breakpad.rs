//! Text symbols of Breakpad (`.sym`), which symbol servers of browsers have in addition to PDB
//! files, or instead of them.
//!
//! Layout: the page "symbol files" of the Breakpad documentation. Addresses and sizes are
//! hexadecimal, counted from the base of the module; line numbers and file numbers are decimal. A
//! name used at several places is marked with `m`.

use std::collections::HashMap;
use std::io::{BufRead, Read};

use etwkit_etl::Guid;

use crate::identity::parse_key;
use crate::table::{Frame, MAX_DEPTH, Moves, NamedAddress, SymbolTable, Writer, lay_out};
use crate::undecorate::{self, Decorated};
use crate::{Error, Result};

/// First bytes of the file.
pub const MAGIC: &[u8] = b"MODULE ";

/// Frames that may be written for each byte of text. Real files need far fewer: a line has more
/// characters than calls around it.
const FRAMES_PER_BYTE: usize = 4;
/// Maximum length of a line in bytes. A longer line is ignored.
const MAX_LINE: u64 = 1 << 20;

/// Reads GUID and age from the first line.
///
/// # Errors
/// If the first line is not a module line.
pub fn identity(file: &mut impl BufRead) -> Result<(Guid, u32)> {
    let mut line = Vec::new();
    file.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
    let line = String::from_utf8_lossy(&line);
    let id = line.split_ascii_whitespace().nth(3);
    id.and_then(parse_key)
        .filter(|_| line.starts_with("MODULE "))
        .ok_or_else(|| Error::damaged("first line", 0_u64, "it has no GUID and age"))
}

/// All symbols of the file. Invalid lines are skipped.
///
/// # Errors
/// If it cannot be read, or does not contain its identity.
pub fn table(mut file: impl BufRead) -> Result<SymbolTable> {
    let (guid, age) = identity(&mut file)?;
    let mut reader = Reader::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        if file.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        reader.budget = reader.budget.saturating_add(FRAMES_PER_BYTE * line.len());
        reader.line(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']));
    }
    reader.end_function();
    let Reader {
        writer,
        functions,
        mut publics,
        ..
    } = reader;
    publics.sort_by_key(|public| public.start);
    // The text has no sections, so only the next name limits how far a public symbol reaches.
    let functions = lay_out(functions, &publics, |_| Some(u32::MAX));
    SymbolTable::open(writer.finish(guid, age, &functions, &Moves::default())?)
}

#[derive(Default)]
struct Reader {
    writer: Writer,
    files: HashMap<u32, u32>,
    origins: HashMap<u32, u32>,
    functions: Vec<NamedAddress>,
    publics: Vec<NamedAddress>,
    /// The function that the following lines belong to.
    open: Option<NamedAddress>,
    lines: Vec<LineRange>,
    inlines: Vec<Inline>,
    /// Frames that may still be written, in proportion to the bytes read.
    budget: usize,
}

#[derive(Clone, Copy)]
struct LineRange {
    start: u32,
    end: u32,
    line: u32,
    file: u32,
}

/// A range of an inlined call: the call site and the function.
#[derive(Clone, Copy)]
struct Inline {
    start: u32,
    end: u32,
    depth: usize,
    line: u32,
    file: u32,
    origin: u32,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        // Lines that are not complete are skipped.
        let _: Option<()> = match kind {
            "FILE" => numbered(rest).map(|(number, name)| {
                self.files.insert(number, self.writer.string(name));
            }),
            "INLINE_ORIGIN" => numbered(rest).map(|(number, name)| {
                let name = undecorate::name(name, Decorated::default());
                self.origins.insert(number, self.writer.string(&name));
            }),
            "FUNC" => self.function(rest),
            "PUBLIC" => self.public(rest),
            "INLINE" => self.inline(rest),
            "STACK" | "INFO" => None,
            _ => self.source(line),
        };
    }

    fn named(&mut self, start: u32, len: u32, name: &str) -> NamedAddress {
        let plain = undecorate::name(name, Decorated::default());
        let decorated = (plain != name).then(|| self.writer.string(name));
        NamedAddress {
            start,
            len,
            name: self.writer.string(&plain),
            decorated,
            rows: None,
            is_preferred: false,
        }
    }

    fn function(&mut self, rest: &str) -> Option<()> {
        self.end_function();
        // `m` marks an address that several functions share.
        let rest = rest.strip_prefix("m ").unwrap_or(rest);
        let mut parts = rest.splitn(4, ' ');
        let start = hex(parts.next()?)?;
        let len = hex(parts.next()?)?;
        // The size of the parameters is before the name.
        let name = parts.nth(1)?;
        // A function without bytes contains no address.
        self.open = (len > 0).then(|| self.named(start, len, name));
        Some(())
    }

    fn public(&mut self, rest: &str) -> Option<()> {
        self.end_function();
        let rest = rest.strip_prefix("m ").unwrap_or(rest);
        let mut parts = rest.splitn(3, ' ');
        let start = hex(parts.next()?)?;
        let public = self.named(start, 0, parts.nth(1)?);
        self.publics.push(public);
        Some(())
    }

    fn inline(&mut self, rest: &str) -> Option<()> {
        let mut parts = rest.split_ascii_whitespace();
        let mut next = || parts.next()?.parse().ok();
        let depth = next()?;
        let line = next()?;
        let file = next()?;
        let origin = next()?;
        let depth = usize::try_from(depth)
            .ok()
            .filter(|depth| *depth + 1 < MAX_DEPTH)?;
        while let (Some(start), Some(len)) =
            (parts.next().and_then(hex), parts.next().and_then(hex))
        {
            self.inlines.push(Inline {
                start,
                end: start.saturating_add(len),
                depth,
                line,
                file,
                origin,
            });
        }
        Some(())
    }

    fn source(&mut self, text: &str) -> Option<()> {
        let mut parts = text.split_ascii_whitespace();
        let start = hex(parts.next()?)?;
        let len = hex(parts.next()?)?;
        let line = parts.next()?.parse().ok()?;
        let file = parts.next()?.parse().ok()?;
        self.lines.push(LineRange {
            start,
            end: start.saturating_add(len),
            line,
            file,
        });
        Some(())
    }

    fn end_function(&mut self) {
        let mut lines = std::mem::take(&mut self.lines);
        let mut inlines = std::mem::take(&mut self.inlines);
        let Some(mut function) = self.open.take() else {
            return;
        };
        lines.sort_by_key(|line| line.start);
        inlines.sort_by_key(|inline| (inline.start, inline.depth));
        let end = function.start.saturating_add(function.len);
        let offsets = offsets(&lines, &inlines, function.start..end);
        let mut lines = lines.iter().peekable();
        let mut inlines = inlines.iter().peekable();
        let mut line = None;
        let mut open: Vec<Option<Inline>> = Vec::new();
        let mut rows: Vec<(u32, Vec<Frame>)> = Vec::new();
        for at in offsets {
            while let Some(next) = lines.next_if(|line| line.start <= at) {
                line = Some(next);
            }
            while let Some(next) = inlines.next_if(|inline| inline.start <= at) {
                open.resize(open.len().max(next.depth + 1), None);
                if let Some(place) = open.get_mut(next.depth) {
                    *place = Some(*next);
                }
            }
            // A call is nested in all calls around it, so the chain ends at the first depth without
            // a call at this address.
            let calls = open
                .iter()
                .map_while(|call| call.filter(|call| at < call.end));
            let frames = self.frames(calls, line.filter(|line| at < line.end));
            // Rows times depth grows faster than the text that describes them; the budget keeps the
            // table in proportion to the file.
            let Some(budget) = self.budget.checked_sub(frames.len()) else {
                break;
            };
            self.budget = budget;
            rows.push((at - function.start, frames));
        }
        function.rows = self
            .writer
            .rows(rows.iter().map(|(at, frames)| (*at, frames.as_slice())));
        self.functions.push(function);
    }

    /// From the outside in: each frame has the place of the call to the next one, the last one the
    /// line itself.
    fn frames(&self, calls: impl Iterator<Item = Inline>, line: Option<&LineRange>) -> Vec<Frame> {
        let file = |number: u32| self.files.get(&number).copied();
        let mut frames = Vec::new();
        let mut name = 0;
        for call in calls {
            let Some(origin) = self.origins.get(&call.origin) else {
                break;
            };
            frames.push(Frame {
                name,
                file: file(call.file),
                line: call.line,
            });
            name = *origin;
        }
        frames.push(Frame {
            name,
            file: line.and_then(|line| file(line.file)),
            line: line.map_or(0, |line| line.line),
        });
        frames
    }
}

fn numbered(text: &str) -> Option<(u32, &str)> {
    let (number, name) = text.split_once(' ')?;
    Some((number.parse().ok()?, name))
}

fn hex(text: &str) -> Option<u32> {
    u32::from_str_radix(text, 16).ok()
}

/// Returns the addresses in a function at which a line or a call starts or ends.
fn offsets(lines: &[LineRange], inlines: &[Inline], function: std::ops::Range<u32>) -> Vec<u32> {
    let of_lines = lines.iter().flat_map(|line| [line.start, line.end]);
    let of_inlines = inlines.iter().flat_map(|inline| [inline.start, inline.end]);
    let mut offsets: Vec<u32> = of_lines.chain(of_inlines).collect();
    offsets.retain(|at| function.contains(at));
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "MODULE windows x86_64 44E4EC8C2F41492B9369D6B9A059577C2 app.pdb
INFO CODE_ID 5CF2591C6859 app.exe
FILE 0 c:\\src\\a.cpp
FILE 1 c:\\src\\b.h
INLINE_ORIGIN 0 ns::inner(int)
INLINE_ORIGIN 1 ?outer@ns@@YAHH@Z
FUNC 1000 30 0 ns::f
INLINE 0 11 0 1 1010 10
INLINE 1 21 1 0 1014 4
1000 10 10 0
1010 4 20 1
1014 4 31 1
1018 8 22 1
1020 8 12 0
FUNC m 1040 8 0 static folded(int, char)
nonsense
1040 zz 1 0
PUBLIC 1050 0 ?g@ns@@YAHXZ
PUBLIC m 1060 0 h
STACK CFI INIT 1000 30 .cfa: $rsp 8 +
";

    fn at(rva: u32) -> Option<String> {
        let symbol = table(TEXT.as_bytes()).unwrap().resolve(rva)?;
        let file = symbol.file.as_deref().map_or("?", |file| &file[7..]);
        let outer = format!("{} {file}:{}", symbol.name, symbol.line.unwrap_or(0));
        let inner = symbol.inlined.iter().map(|it| {
            format!(
                "{} {}:{}",
                it.name,
                &it.file.as_deref().unwrap()[7..],
                it.line.unwrap()
            )
        });
        Some(inner.chain([outer]).collect::<Vec<_>>().join(" < "))
    }

    #[test]
    fn an_address_has_its_line_and_the_calls_around_it() {
        assert_eq!(at(0x100F).unwrap(), "ns::f a.cpp:10");
        assert_eq!(at(0x1010).unwrap(), "ns::outer b.h:20 < ns::f a.cpp:11");
        assert_eq!(
            at(0x1017).unwrap(),
            "ns::inner(int) b.h:31 < ns::outer b.h:21 < ns::f a.cpp:11"
        );
        assert_eq!(at(0x1018).unwrap(), "ns::outer b.h:22 < ns::f a.cpp:11");
        assert_eq!(at(0x1020).unwrap(), "ns::f a.cpp:12");
        assert_eq!(at(0x1028).unwrap(), "ns::f ?:0");
        assert_eq!(at(0x1030), None, "behind the end");
        assert_eq!(at(0xFFF), None);
        assert_eq!(at(0x1044).unwrap(), "static folded(int, char) ?:0");
        assert_eq!(at(0x105F).unwrap(), "ns::g ?:0");
        assert_eq!(at(0x1060).unwrap(), "h ?:0");
    }

    #[test]
    fn the_first_line_has_the_identity() {
        let guid = "44e4ec8c-2f41-492b-9369-d6b9a059577c".parse().unwrap();
        assert_eq!(identity(&mut TEXT.as_bytes()).unwrap(), (guid, 2));
        for text in [
            "",
            "MODULE",
            "MODULE windows x86 12 a.pdb",
            "FILE 0 a",
            "MODULE w x 44E4EC8C2F41492B9369D6B9A059577Cü1 a",
        ] {
            assert!(identity(&mut text.as_bytes()).is_err(), "{text}");
        }
    }
}
