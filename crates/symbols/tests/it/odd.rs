//! PDB files of other tools than today's compilers and linkers: rearranged images, stubs, old
//! LLVM, assemblers, and damage that leaves a file readable.

use std::io::Cursor;

use etwkit_symbols::pdb::Pdb;
use etwkit_symbols::table::SymbolTable;

use crate::fixture;
use crate::made::{DBI, NAME, debug_streams_at, name, pdb, streams, table, u16_at, u32_at};

fn u32_of(len: usize) -> u32 {
    u32::try_from(len).unwrap()
}

/// Which of the two lists of original section headers a rearranged file has.
#[derive(Clone, Copy)]
enum Headers {
    Original,
    OfTheImage,
}

/// The fixture with two lists of moves.
fn rearranged(
    to_source: &[(u32, u32)],
    from_source: &[(u32, u32)],
    headers: Headers,
) -> Vec<Vec<u8>> {
    let list = |pairs: &[(u32, u32)]| -> Vec<u8> {
        let bytes = |(from, to): &(u32, u32)| [from.to_le_bytes(), to.to_le_bytes()].concat();
        pairs.iter().flat_map(bytes).collect()
    };
    let mut streams = streams(&fixture(NAME));
    let at = debug_streams_at(&streams[DBI]);
    let first = u16::try_from(streams.len()).unwrap();
    streams.extend([list(to_source), list(from_source)]);
    let sections = match headers {
        Headers::Original => u16_at(&streams[DBI], at + 2 * 5),
        Headers::OfTheImage => u16::MAX,
    };
    for (nth, stream) in [(3, first), (4, first + 1), (10, sections)] {
        streams[DBI][at + 2 * nth..at + 2 * nth + 2].copy_from_slice(&stream.to_le_bytes());
    }
    streams
}

/// `plain_c`, 0x11 bytes at 0x1030, moved to 0x1400; `with_arguments` is gone.
#[test]
fn modules_that_were_rearranged_are_followed() {
    let to_source = [
        (0x1000, 0x1000),
        (0x1030, 0),
        (0x1050, 0x1050),
        (0x1060, 0),
        (0x1070, 0x1070),
        (0x1400, 0x1030),
        (0x1411, 0),
    ];
    let from_source = [
        (0x1000, 0x1000),
        (0x1030, 0x1400),
        (0x1041, 0),
        (0x1050, 0x1050),
        (0x1060, 0),
        (0x1070, 0x1070),
    ];
    for headers in [Headers::Original, Headers::OfTheImage] {
        let streams = rearranged(&to_source, &from_source, headers);
        let table = table(&streams);
        assert_eq!(name(&table, 0x1400), "plain_c shapes.cpp:50");
        assert_eq!(name(&table, 0x1410), "plain_c shapes.cpp:51");
        assert_eq!(table.resolve(0x1410).unwrap().start_rva, 0x1400);
        assert_eq!(name(&table, 0x1411), "-");
        assert_eq!(name(&table, 0x1030), "-");
        assert_eq!(name(&table, 0x1060), "-");
        assert_eq!(
            name(&table, 0x1050),
            "geometry::`anonymous namespace'::hidden shapes.cpp:42"
        );
        let part = Pdb::open(Cursor::new(pdb(&streams)))
            .unwrap()
            .table_of(&[0x1400])
            .unwrap();
        assert_eq!(name(&part, 0x1400), "plain_c shapes.cpp:50");
        let names: Vec<String> = table.functions().map(|it| it.name).collect();
        assert!(
            names.contains(&"plain_c".to_owned()) && !names.contains(&"with_arguments".to_owned()),
            "{names:?}"
        );
        // The table of an earlier run has the moves, too.
        let copy = SymbolTable::open(table.as_bytes().to_vec()).unwrap();
        assert_eq!(copy.resolve(0x1410), table.resolve(0x1410));
    }
}

/// Of `area`, 0x2F bytes at 0x1000, the part from 0xB on moved to 0x1500, and `plain_c` lies behind
/// its first piece.
#[test]
fn pieces_of_a_function_have_its_name_and_no_others() {
    let to_source = [
        (0x1000, 0x1000),
        (0x100B, 0x1030),
        (0x101C, 0),
        (0x1500, 0x100B),
        (0x1524, 0),
    ];
    let known = [(0x1000, 0x1000), (0x100B, 0x1500), (0x1030, 0x100B)];
    // Some tools mark the starts of blocks as nowhere.
    let nowhere = [
        (0x1000, 0x8000_0000),
        (0x100B, 0x8000_0000),
        (0x1030, 0x100B),
    ];
    for (from_source, start) in [(known, 0x1000), (nowhere, 0x1000)] {
        let table = table(&rearranged(&to_source, &from_source, Headers::OfTheImage));
        for (rva, expected) in [
            (0x100A, "geometry::Shape::area shapes.cpp:36"),
            (0x100B, "plain_c shapes.cpp:50"),
            (0x101B, "plain_c shapes.cpp:51"),
            (0x101C, "-"),
            (0x102E, "-"),
            (
                0x1509,
                "geometry::scaled shapes.cpp:31 < geometry::Shape::area shapes.cpp:37",
            ),
            (0x1523, "geometry::Shape::area shapes.cpp:38"),
            (0x1524, "-"),
        ] {
            assert_eq!(name(&table, rva), expected, "{rva:#x}");
        }
        let piece = table.resolve(0x1523).unwrap();
        assert_eq!((piece.start_rva, piece.size), (start, Some(0x2F)));
    }
}

/// The symbols of a compiland, which count offsets from the start of the code.
#[derive(Default)]
struct Symbols(Vec<u8>);

impl Symbols {
    fn record(&mut self, kind: u16, content: &[u8]) -> &mut Self {
        let len = content.len().next_multiple_of(4) + 2;
        self.0.extend(u16::try_from(len).unwrap().to_le_bytes());
        self.0.extend(kind.to_le_bytes());
        self.0.extend(content);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    fn open(&mut self, offset: u32, len: u32, name: &str) -> &mut Self {
        let numbers = [0, 0, 0, len, 0, 0, 0, offset];
        let mut content: Vec<u8> = numbers
            .iter()
            .flat_map(|it: &u32| it.to_le_bytes())
            .collect();
        content.extend([1, 0, 0]);
        content.extend(name.as_bytes());
        content.push(0);
        self.record(0x1110, &content)
    }

    fn end(&mut self) -> &mut Self {
        self.record(6, &[])
    }

    fn inlined(&mut self, program: &[u8]) -> &mut Self {
        let inlinee = 0x1001_u32.to_le_bytes();
        self.record(0x114D, &[&[0; 8], &inlinee[..], program].concat());
        self.record(0x114E, &[])
    }

    fn stub(&mut self, from: u32, to: u32) -> &mut Self {
        let mut content = vec![0, 0, 5, 0];
        content.extend(from.to_le_bytes());
        content.extend(to.to_le_bytes());
        content.extend([1, 0, 1, 0]);
        self.record(0x112C, &content)
    }

    /// The fixture with these symbols in place of those of its compiland.
    fn in_fixture(&self, fixture_name: &str) -> Vec<Vec<u8>> {
        let mut streams = streams(&fixture(fixture_name));
        let object = usize::from(u16_at(&streams[DBI], 64 + 34));
        let old = u32_at(&streams[DBI], 64 + 36);
        streams[object].splice(4..old, self.0.iter().copied());
        let len = u32_of(self.0.len() + 4);
        streams[DBI][64 + 36..64 + 40].copy_from_slice(&len.to_le_bytes());
        streams
    }
}

/// A program whose ranges are right only if a length does not move the offset on: code at 2 to 6
/// and 8 to 12.
const OLD: [u8; 8] = [3, 2, 4, 4, 3, 6, 4, 4];

#[test]
fn inlined_calls_of_old_compilers_end_in_their_function() {
    let inlined = |len: u32| -> Vec<u32> {
        let mut symbols = Symbols::default();
        symbols.open(0, len, "f").inlined(&OLD).end();
        let table = table(&symbols.in_fixture(NAME));
        (0x1000..0x1000 + len)
            .filter(|rva| !table.resolve(*rva).unwrap().inlined.is_empty())
            .map(|rva| rva - 0x1000)
            .collect()
    };
    assert_eq!(inlined(12), [2, 3, 4, 5, 8, 9, 10, 11], "old");
    assert_eq!(inlined(16), [2, 3, 4, 5, 12, 13, 14, 15], "new");
    // Both readings end behind it.
    assert_eq!(inlined(9), [2, 3, 4, 5], "neither");
}

#[test]
fn stubs_of_incremental_linking_have_the_names_of_their_targets() {
    let mut symbols = Symbols::default();
    symbols.open(0, 16, "f").end();
    symbols.stub(0x105, 0).stub(0x10A, 0x30).stub(0x114, 0x35);
    let table = table(&symbols.in_fixture(NAME));
    for (rva, expected) in [
        (0x1105, "ILT+0(f)"),
        (0x1109, "ILT+0(f)"),
        // A public symbol; and an address inside of a function.
        (0x110A, "ILT+5(plain_c)"),
        (0x1114, "ILT+15"),
    ] {
        assert_eq!(table.resolve(rva).unwrap().name, expected, "{rva:#x}");
    }
    let stub = table.resolve(0x1107).unwrap();
    assert_eq!((stub.start_rva, stub.size), (0x1105, Some(5)));
}

/// Assemblers write the decorated names of C functions into private symbols.
#[test]
fn a_function_has_one_name_in_private_and_public_symbols() {
    for private in ["with_arguments", "_with_arguments@4"] {
        let mut symbols = Symbols::default();
        symbols.open(0x50, 15, private).end();
        let symbol = table(&symbols.in_fixture("shapes-i686.pdb"))
            .resolve(0x1055)
            .unwrap();
        assert_eq!(symbol.name, "with_arguments", "{private}");
        assert_eq!(symbol.decorated.as_deref(), Some("_with_arguments@4"));
        assert!(!symbol.is_public);
    }
}

/// All public symbols of the fixture at one address.
#[test]
fn the_declaration_is_that_of_the_function() {
    let declared = |private: &str| {
        let mut symbols = Symbols::default();
        symbols.open(0, 16, private).end();
        let mut streams = symbols.in_fixture(NAME);
        let records = usize::from(u16_at(&streams[DBI], 20));
        let mut at = 0;
        while at < streams[records].len() {
            let len = usize::from(u16_at(&streams[records], at));
            if u16_at(&streams[records], at + 2) == 0x110E {
                streams[records][at + 8..at + 12].fill(0);
            }
            at += 2 + len;
        }
        table(&streams).resolve(0x1000).unwrap().decorated
    };
    let area = declared("geometry::Shape::area");
    assert_eq!(area.as_deref(), Some("?area@Shape@geometry@@UEAAII@Z"));
    let other = declared("operator delete");
    assert!(
        other.as_ref().is_some_and(|it| it.starts_with("??3@")),
        "{other:?}"
    );
    assert_eq!(declared("geometry::Shape::volume"), None);
}

/// Assemblers write lines, and no functions.
#[test]
fn public_symbols_have_the_lines_of_their_object_file() {
    let table = table(&Symbols::default().in_fixture(NAME));
    for (rva, expected) in [
        (0x1000, "geometry::Shape::area shapes.cpp:35"),
        (0x100A, "geometry::Shape::area shapes.cpp:36"),
        (0x1030, "plain_c shapes.cpp:50"),
    ] {
        assert_eq!(name(&table, rva), expected, "{rva:#x}");
        assert!(table.resolve(rva).unwrap().is_public);
    }
}

/// Two functions that touch, and a gap behind them.
#[test]
fn where_functions_touch_the_next_one_begins() {
    let mut symbols = Symbols::default();
    symbols.open(0, 0x10, "f").end().open(0x10, 0x10, "g").end();
    let table = table(&symbols.in_fixture(NAME));
    for (rva, expected) in [
        (0x0FFF, None),
        (0x1000, Some("f")),
        (0x100F, Some("f")),
        (0x1010, Some("g")),
        (0x101F, Some("g")),
        (0x1020, None),
        (0x102F, None),
        (0x1030, Some("plain_c")),
    ] {
        let found = table.resolve(rva).map(|it| it.name);
        assert_eq!(found.as_deref(), expected, "{rva:#x}");
    }
}

/// A wrong length of a record takes the records behind it along. The public symbols in front of
/// the functions that are lost must not take their code.
#[test]
fn damaged_symbols_are_told_and_not_covered_by_others() {
    let mut whole = Symbols::default();
    whole.open(0, 0x2F, "f").end().open(0x30, 0x11, "g").end();
    let mut cut = Symbols::default();
    cut.open(0, 0x2F, "f").end();
    let behind = cut.0.len();
    cut.open(0x30, 0x11, "g").end();
    cut.0[behind] = 0xF0;
    let mut unclosed = Symbols::default();
    unclosed.open(0, 0x2F, "f").end().open(0x30, 0x11, "g");
    let mut padded = Symbols(whole.0.clone());
    padded.0.extend([0; 4]);
    for (symbols, is_damaged) in [
        (&whole, false),
        (&padded, false),
        (&cut, true),
        (&unclosed, true),
    ] {
        let bytes = pdb(&symbols.in_fixture(NAME));
        let mut pdb = Pdb::open(Cursor::new(bytes)).unwrap();
        let table = pdb.table().unwrap();
        assert_eq!(pdb.damage().len(), usize::from(is_damaged));
        assert_eq!(table.resolve(0x1000).unwrap().name, "f");
        // A public symbol, and code behind its first byte.
        let expected = "geometry::Vector<int>::push_back";
        assert_eq!(table.resolve(0x1120).unwrap().name, expected);
        let inside = table.resolve(0x1121).map(|it| it.name);
        assert_eq!(inside.as_deref(), (!is_damaged).then_some(expected));
    }
}
