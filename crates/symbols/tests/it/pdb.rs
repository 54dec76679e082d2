//! Functions and lines of the fixtures. `tests/fixtures/shapes.cpp` is their source.

use std::io::Cursor;

use etwkit_symbols::Symbol;
use etwkit_symbols::pdb::Pdb;
use etwkit_symbols::table::SymbolTable;

use crate::fixture;

pub(crate) fn table(name: &str) -> SymbolTable {
    Pdb::open(Cursor::new(fixture(name)))
        .unwrap()
        .table()
        .unwrap()
}

/// `innermost line < … < outermost line`.
pub(crate) fn shown(symbol: Option<&Symbol>) -> String {
    let Some(symbol) = symbol else {
        return "-".to_owned();
    };
    let inlined = symbol
        .inlined
        .iter()
        .map(|it| (&it.name, &it.file, it.line));
    let all = inlined.chain([(&symbol.name, &symbol.file, symbol.line)]);
    let one = |(name, file, line): (&String, &Option<String>, Option<u32>)| match (file, line) {
        (Some(file), Some(line)) => {
            format!("{name} {}:{line}", file.rsplit(['\\', '/']).next().unwrap())
        }
        _ => name.clone(),
    };
    all.map(one).collect::<Vec<_>>().join(" < ")
}

/// The addresses and lines are those that `llvm-pdbutil dump -l -il -symbols` prints.
#[test]
fn functions_lines_and_inlined_calls() {
    let table = table("shapes-x86_64.pdb");
    for (rva, expected) in [
        (0x0FFF, "-"),
        (0x1000, "geometry::Shape::area shapes.cpp:35"),
        (0x100A, "geometry::Shape::area shapes.cpp:36"),
        (
            0x100B,
            "geometry::square shapes.cpp:25 < geometry::scaled shapes.cpp:30 < geometry::Shape::area shapes.cpp:37",
        ),
        (
            0x1013,
            "geometry::square shapes.cpp:26 < geometry::scaled shapes.cpp:30 < geometry::Shape::area shapes.cpp:37",
        ),
        (
            0x1014,
            "geometry::scaled shapes.cpp:31 < geometry::Shape::area shapes.cpp:37",
        ),
        (
            0x1020,
            "geometry::scaled shapes.cpp:32 < geometry::Shape::area shapes.cpp:37",
        ),
        (0x1021, "geometry::Shape::area shapes.cpp:38"),
        (0x102E, "geometry::Shape::area shapes.cpp:38"),
        // Between functions, although a public symbol is below.
        (0x102F, "-"),
        (0x1030, "plain_c shapes.cpp:50"),
        (
            0x1050,
            "geometry::`anonymous namespace'::hidden shapes.cpp:42",
        ),
        (0x1060, "with_arguments shapes.cpp:54"),
        (0x1070, "operator delete shapes.cpp:59"),
        (
            0x10C0,
            "geometry::Vector<int>::at shapes.cpp:13 < entry shapes.cpp:69",
        ),
        (0x1120, "geometry::Vector<int>::push_back shapes.cpp:10"),
        (0x1136, "-"),
        (u32::MAX, "-"),
    ] {
        assert_eq!(shown(table.resolve(rva).as_ref()), expected, "{rva:#x}");
    }
}

/// The end of a function is not part of it.
#[test]
fn a_function_has_its_first_byte_and_its_last_one_and_not_the_one_behind_it() {
    for name in ["shapes-x86_64.pdb", "shapes-i686.pdb"] {
        let table = table(name);
        let start_at = |rva: u32| table.resolve(rva).map(|symbol| symbol.start_rva);
        let mut gaps = 0;
        for function in table.functions() {
            let Some(size) = function.size else { continue };
            let start = function.start_rva;
            let end = start + size;
            assert_eq!(start_at(start), Some(start), "{name} {start:#x}");
            assert_eq!(start_at(end - 1), Some(start), "{name} {start:#x}");
            // Nothing, or the function that touches it.
            match start_at(end) {
                None => gaps += 1,
                next => assert_eq!(next, Some(end), "{name} {start:#x}"),
            }
        }
        assert!(gaps > 0, "{name}");
    }
}

#[test]
fn a_function_has_its_size_and_its_decorated_name() {
    let symbol = table("shapes-x86_64.pdb").resolve(0x1025).unwrap();
    assert_eq!(
        (symbol.start_rva, symbol.size, symbol.is_public),
        (0x1000, Some(47), false)
    );
    assert_eq!(
        symbol.decorated.as_deref(),
        Some("?area@Shape@geometry@@UEAAII@Z")
    );
    let signature = symbol.signature().unwrap();
    assert_eq!(
        signature,
        "public: virtual unsigned int __cdecl geometry::Shape::area(unsigned int)"
    );
    assert_eq!(symbol.file.as_deref(), Some("c:\\src\\shapes.cpp"));
}

#[test]
fn files_without_private_symbols_name_by_the_nearest_public_one() {
    let table = table("public-x86_64.pdb");
    let symbol = table.resolve(0x1014).unwrap();
    assert_eq!(
        (symbol.name.as_str(), symbol.size, symbol.is_public),
        ("geometry::Shape::area", None, true)
    );
    assert_eq!(
        (symbol.file, symbol.line, symbol.inlined.len()),
        (None, None, 0)
    );
    assert_eq!(
        shown(table.resolve(0x1120).as_ref()),
        "geometry::Vector<int>::push_back"
    );
    // After the code of the last function, and in a section without code.
    assert_eq!(table.resolve(0x1137), None);
    assert_eq!(table.resolve(0x2000), None);
    // `hidden` is not a public symbol. It is not the previous function, whose end the linker
    // recorded.
    assert_eq!(shown(table.resolve(0x1050).as_ref()), "-");
}

#[test]
fn c_names_of_32_bit_code() {
    let names: Vec<String> = table("shapes-i686.pdb")
        .functions()
        .map(|symbol| symbol.name)
        .collect();
    for name in ["entry", "plain_c", "with_arguments"] {
        assert!(names.iter().any(|it| it == name), "{name}: {names:?}");
    }
    let with_arguments = table("shapes-i686.pdb")
        .functions()
        .find(|it| it.name == "with_arguments")
        .unwrap();
    assert_eq!(
        with_arguments.decorated.as_deref(),
        Some("_with_arguments@4")
    );
}

#[test]
fn a_table_of_a_part_says_the_same() {
    for name in ["shapes-x86_64.pdb", "shapes-i686.pdb", "public-x86_64.pdb"] {
        let whole = table(name);
        let rvas: Vec<u32> = (0xFF0..0x1200).collect();
        let part = Pdb::open(Cursor::new(fixture(name)))
            .unwrap()
            .table_of(&rvas)
            .unwrap();
        assert_eq!(
            whole.resolve_sorted(&rvas),
            part.resolve_sorted(&rvas),
            "{name}"
        );
        let one_by_one: Vec<_> = rvas.iter().map(|rva| whole.resolve(*rva)).collect();
        assert_eq!(whole.resolve_sorted(&rvas), one_by_one, "{name}");
        // Unsorted addresses are only slower.
        let mut backwards: Vec<u32> = rvas.clone();
        backwards.reverse();
        let mut answers = whole.resolve_sorted(&backwards);
        answers.reverse();
        assert_eq!(answers, one_by_one, "{name}");
    }
}

#[test]
fn the_same_file_gives_the_same_table() {
    assert_eq!(
        table("shapes-x86_64.pdb").as_bytes(),
        table("shapes-x86_64.pdb").as_bytes()
    );
    let copy = SymbolTable::open(table("shapes-x86_64.pdb").as_bytes().to_vec()).unwrap();
    assert_eq!(
        copy.resolve(0x1014),
        table("shapes-x86_64.pdb").resolve(0x1014)
    );
}
