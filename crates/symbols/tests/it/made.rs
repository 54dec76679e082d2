//! PDB files taken apart, changed, and reassembled, for structures that clang and lld do not write.

use std::io::Cursor;

use etwkit_symbols::Error;
use etwkit_symbols::pdb::Pdb;
use etwkit_symbols::table::SymbolTable;

use crate::fixture;
use crate::pdb::shown;

pub(crate) const NAME: &str = "shapes-x86_64.pdb";
const PAGE: usize = 4096;
const INFO: usize = 1;
const IDS: usize = 4;
pub(crate) const DBI: usize = 3;

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// The streams of a PDB whose directory fits in a page.
pub(crate) fn streams(pdb: &[u8]) -> Vec<Vec<u8>> {
    let directory_at = u32_at(pdb, u32_at(pdb, 52) * PAGE) * PAGE;
    let directory = &pdb[directory_at..directory_at + u32_at(pdb, 44)];
    let count = u32_at(directory, 0);
    let mut page = 4 + 4 * count;
    let mut one = |nth: usize| {
        let len = u32_at(directory, 4 + 4 * nth);
        let mut stream = Vec::new();
        for _ in 0..len.div_ceil(PAGE) {
            let at = u32_at(directory, page) * PAGE;
            stream.extend(&pdb[at..at + PAGE]);
            page += 4;
        }
        stream.truncate(len);
        stream
    };
    (0..count).map(&mut one).collect()
}

/// The reverse: the file of these streams.
pub(crate) fn pdb(streams: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![0; 3 * PAGE];
    let mut directory = u32::try_from(streams.len()).unwrap().to_le_bytes().to_vec();
    for stream in streams {
        directory.extend(u32::try_from(stream.len()).unwrap().to_le_bytes());
    }
    for stream in streams {
        for page in stream.chunks(PAGE) {
            directory.extend(u32::try_from(bytes.len() / PAGE).unwrap().to_le_bytes());
            bytes.extend(page);
            bytes.resize(bytes.len().next_multiple_of(PAGE), 0);
        }
    }
    let directory_page = u32::try_from(bytes.len() / PAGE).unwrap();
    let directory_len = u32::try_from(directory.len()).unwrap();
    assert!(directory.len() <= PAGE);
    bytes.extend(directory);
    bytes.resize(bytes.len().next_multiple_of(PAGE), 0);
    let page_count = u32::try_from(bytes.len() / PAGE).unwrap();
    bytes[..32].copy_from_slice(b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0");
    for (at, number) in [
        (32, PAGE as u32),
        (36, 1),
        (40, page_count),
        (44, directory_len),
        (52, 2),
    ] {
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
    bytes[2 * PAGE..2 * PAGE + 4].copy_from_slice(&directory_page.to_le_bytes());
    bytes
}

pub(crate) fn table(streams: &[Vec<u8>]) -> SymbolTable {
    Pdb::open(Cursor::new(pdb(streams)))
        .unwrap()
        .table()
        .unwrap()
}

pub(crate) fn name(table: &SymbolTable, rva: u32) -> String {
    shown(table.resolve(rva).as_ref())
}

/// Offset of the numbers of the debug streams in the debug information.
pub(crate) fn debug_streams_at(dbi: &[u8]) -> usize {
    64 + [24, 28, 32, 36, 40, 52]
        .map(|at| u32_at(dbi, at))
        .iter()
        .sum::<usize>()
}

#[test]
fn taken_apart_and_put_together_it_says_the_same() {
    let streams = streams(&fixture(NAME));
    assert_eq!(
        table(&streams).as_bytes(),
        crate::pdb::table(NAME).as_bytes()
    );
}

#[test]
fn the_age_is_that_of_the_debug_information() {
    let mut streams = streams(&fixture(NAME));
    let age = |streams: &[Vec<u8>]| Pdb::open(Cursor::new(pdb(streams))).unwrap().identity().1;
    assert_eq!(age(&streams), 1);
    streams[INFO][8] = 7;
    assert_eq!(age(&streams), 1, "a tool that edited the file");
    streams[DBI][8] = 3;
    assert_eq!(age(&streams), 3);
    streams[DBI].clear();
    assert_eq!(age(&streams), 7, "no debug information");
    let error = Pdb::open(Cursor::new(pdb(&streams)))
        .unwrap()
        .table()
        .err()
        .unwrap();
    assert!(matches!(error, Error::Unsupported(_)), "{error}");
}

/// Native images of .NET have no section headers: the section map has their lengths, and sections
/// follow each other page by page.
#[test]
fn sections_of_native_images_come_from_the_section_map() {
    let whole = streams(&fixture(NAME));
    let map_at = 64 + u32_at(&whole[DBI], 24) + u32_at(&whole[DBI], 28);
    let debug_at = debug_streams_at(&whole[DBI]);
    let headers = usize::from(u16_at(&whole[DBI], debug_at + 2 * 5));
    // The fixture has both, with equal contents.
    let sections = whole[headers].len() / 40;
    let mut rva = 0x1000;
    for nth in 0..sections {
        let (header, entry) = (
            &whole[headers][40 * nth..],
            &whole[DBI][map_at + 4 + 20 * nth..],
        );
        assert_eq!(
            (u32_at(header, 12), u32_at(header, 8)),
            (rva, u32_at(entry, 16)),
            "section {nth}"
        );
        rva += u32_at(entry, 16).next_multiple_of(0x1000);
    }
    let mut native = whole.clone();
    native[DBI][debug_at + 2 * 5..debug_at + 2 * 6].fill(0xFF);
    assert_eq!(table(&native).as_bytes(), table(&whole).as_bytes());

    // A map that does not number its sections, or contains parts of them, does not belong to a
    // native image.
    for (at, value) in [
        (map_at + 4 + 6, 3),
        (map_at + 4 + 12, 0x10),
        (map_at + 4 + 19, 0xFF),
    ] {
        let mut other = native.clone();
        other[DBI][at] = value;
        let error = Pdb::open(Cursor::new(pdb(&other)))
            .unwrap()
            .table()
            .err()
            .unwrap();
        assert!(
            error.to_string().contains("does not say which sections"),
            "{error}"
        );
    }
}

/// `srcsrv` contains commands that fetch source files, which debuggers run. They are not read, and
/// names stay unchanged.
#[test]
fn commands_of_source_servers_are_not_read() {
    let whole = streams(&fixture(NAME));
    let folder = tempfile::tempdir().unwrap();
    let touched = folder.path().join("touched");
    let commands = format!(
        "SRCSRV: ini\r\nVERSION=2\r\nVERCTRL=http\r\nSRCSRV: variables\r\nSRCSRVTRG={0}\r\n\
         SRCSRVCMD=sh -c \"touch {0}\"\r\nSRCSRV: source files\r\n\
         c:\\src\\shapes.cpp*\\\\host\\share\\shapes.cpp\r\nSRCSRV: end\r\n",
        touched.display()
    );
    let mut streams = whole.clone();
    // A named stream gets another name; the table after the names has the numbers of the named
    // streams.
    let names_at = 28 + 4;
    let names_len = u32_at(&whole[INFO], 28);
    let names = &whole[INFO][names_at..names_at + names_len];
    let name = names.windows(9).position(|it| it == b"/LinkInfo").unwrap();
    streams[INFO][names_at + name..names_at + name + 9].copy_from_slice(b"srcsrv\0\0\0");
    let mut at = names_at + names_len + 8;
    for _ in 0..2 {
        at += 4 + 4 * u32_at(&whole[INFO], at);
    }
    let pairs = whole[INFO][at..]
        .chunks_exact(8)
        .map(|pair| (u32_at(pair, 0), u32_at(pair, 4)));
    let (_, stream) = pairs.clone().find(|(of, _)| *of == name).unwrap();
    streams[stream] = commands.into_bytes();
    let changed = table(&streams);
    assert_eq!(changed.as_bytes(), table(&whole).as_bytes());
    assert!(!touched.exists());
    let files: Vec<_> = changed.functions().filter_map(|it| it.file).collect();
    assert!(
        !files.is_empty() && files.iter().all(|file| file == "c:\\src\\shapes.cpp"),
        "{files:?}"
    );
}

/// The table of file names is empty, so lines refer to places after its end: they are kept, and their
/// file is unknown, which is not a file with an empty name.
#[test]
fn a_file_without_a_name_is_unknown() {
    let mut streams = streams(&fixture(NAME));
    let places = |streams: &[Vec<u8>]| -> (Vec<Option<String>>, Vec<Option<u32>>) {
        table(streams)
            .functions()
            .map(|function| (function.file, function.line))
            .unzip()
    };
    let (files, lines) = places(&streams);
    assert!(files.iter().any(Option::is_some) && lines.iter().any(Option::is_some));
    let names = stream_of_names(&streams);
    streams[names][8..12].fill(0);
    let (files_without, lines_without) = places(&streams);
    assert_eq!(files_without, vec![None; files.len()]);
    assert_eq!(lines_without, lines);
}

/// Number of the stream with the string table, by its signature.
fn stream_of_names(streams: &[Vec<u8>]) -> usize {
    streams
        .iter()
        .position(|stream| stream.starts_with(&[0xFE, 0xEF, 0xFE, 0xEF]))
        .unwrap()
}

/// Scopes that lead back to themselves, IDs that are not functions, and no list of positions in the
/// stream.
#[test]
fn ids_that_make_no_sense() {
    let whole = streams(&fixture(NAME));
    let scaled = |streams: &[Vec<u8>]| {
        table(streams).resolve(0x1014).unwrap().inlined[0]
            .name
            .clone()
    };
    assert_eq!(scaled(&whole), "geometry::scaled");
    // The second record: kind LF_FUNC_ID, then its scope, which is the first record, 0x1000.
    let header = u32_at(&whole[IDS], 4);
    let second = header + 2 + usize::from(u16_at(&whole[IDS], header));
    assert_eq!(
        (
            u16_at(&whole[IDS], second + 2),
            u32_at(&whole[IDS], second + 4)
        ),
        (0x1601, 0x1000)
    );
    for (scope, expected) in [
        (0_u32, "scaled"),
        (0x1001, "scaled"),
        (0x9999_9999, "scaled"),
        (0x1004, "scaled"),
    ] {
        let mut streams = whole.clone();
        streams[IDS][second + 4..second + 8].copy_from_slice(&scope.to_le_bytes());
        let name = scaled(&streams);
        assert!(
            name.ends_with(expected) && name.len() < 500,
            "{scope:#x}: {name}"
        );
    }
    let mut streams = whole.clone();
    streams[IDS][second + 2] = 9;
    assert_eq!(scaled(&streams), "<unnamed inlined function>");
    let mut streams = whole;
    streams[IDS][44..48].fill(0);
    assert_eq!(scaled(&streams), "geometry::scaled", "without a skip list");
}

/// Whole-program optimization names functions of other object files: through the imports of one and
/// the exports of the other.
#[test]
fn inlined_functions_of_other_object_files() {
    let mut streams = streams(&fixture(NAME));
    let object = usize::from(u16_at(&streams[DBI], 64 + 34));
    let (symbols_len, lines_len) = (
        u32_at(&streams[DBI], 64 + 36),
        u32_at(&streams[DBI], 64 + 44),
    );
    let site = (4..symbols_len)
        .find(|at| streams[object][*at..].starts_with(&[0x4D, 0x11]))
        .unwrap();
    // Inlinee 0x1001 of the first site becomes the second import from the first object file.
    assert_eq!(u32_at(&streams[object], site + 10), 0x1001);
    streams[object][site + 10..site + 14].copy_from_slice(&0x8000_0001_u32.to_le_bytes());
    // Its name is in the string table: the name of this object file itself, appended.
    let file = String::from_utf8_lossy(&streams[DBI][64 + 64..])
        .split('\0')
        .next()
        .unwrap()
        .to_owned();
    let names = stream_of_names(&streams);
    let len = u32_at(&streams[names], 8);
    let mut text = file.into_bytes();
    text.push(0);
    let grown = u32::try_from(len + text.len()).unwrap();
    streams[names][8..12].copy_from_slice(&grown.to_le_bytes());
    streams[names].splice(12 + len..12 + len, text);
    let name_at = u32::try_from(len).unwrap();
    let mut more = Vec::new();
    for words in [
        vec![0xF7, 16, name_at, 2, 77, 78],
        vec![0xF8, 8, 78, 0x1001],
    ] {
        words
            .into_iter()
            .for_each(|word: u32| more.extend(word.to_le_bytes()));
    }
    let grown = u32::try_from(lines_len + more.len()).unwrap();
    streams[DBI][64 + 44..64 + 48].copy_from_slice(&grown.to_le_bytes());
    let end = symbols_len + lines_len;
    streams[object].splice(end..end, more);
    let symbol = table(&streams).resolve(0x1014).unwrap();
    // Its start is reported under the other number, so it has no line.
    assert_eq!(symbol.inlined[0].name, "geometry::scaled");
}

/// Twenty thousand functions at one place with fifty thousand lines: all lines of all functions
/// would be a billion.
#[test]
fn functions_that_overlap_have_bounded_lines() {
    let mut streams = streams(&fixture(NAME));
    let object = usize::from(u16_at(&streams[DBI], 64 + 34));
    let mut symbols = 4_u32.to_le_bytes().to_vec();
    for nth in 0..20_000_u32 {
        // Length, kind, parent, end, next; then the length of the code, three numbers, offset,
        // section, flags and name.
        symbols.extend([42, 0, 0x10, 0x11]);
        let numbers = [0, 0, 0, 0x100, 0, 0, 0, nth % 0x100];
        numbers
            .iter()
            .for_each(|number: &u32| symbols.extend(number.to_le_bytes()));
        symbols.extend([1, 0, 0]);
        symbols.extend(b"f\0\0\0\0");
        symbols.extend([2, 0, 6, 0]);
    }
    let count = 50_000_u32;
    let mut lines = Vec::new();
    let len = 24 + 8 * count;
    for word in [0xF2, len, 0, 1, 0x100, 0, count, 12 + 8 * count] {
        lines.extend(word.to_le_bytes());
    }
    for nth in 0..count {
        lines.extend((nth % 0x100).to_le_bytes());
        lines.extend((nth + 1).to_le_bytes());
    }
    for (at, len) in [(36, symbols.len()), (44, lines.len())] {
        streams[DBI][64 + at..64 + at + 4]
            .copy_from_slice(&u32::try_from(len).unwrap().to_le_bytes());
    }
    symbols.extend(lines);
    streams[object] = symbols;
    let table = table(&streams);
    assert_eq!(table.resolve(0x1000).unwrap().name, "f");
    assert!(
        table.as_bytes().len() < 8 << 20,
        "{}",
        table.as_bytes().len()
    );
}
