//! Damaged files, the same ones in every run. Nothing may panic or hang, and undamaged data stays
//! correct.

use std::io::Cursor;

use etwkit_symbols::pdb::Pdb;
use etwkit_symbols::table::SymbolTable;
use etwkit_symbols::{Symbol, breakpad};

use crate::fixture;
use crate::pdb::table;

const NAMES: [&str; 3] = ["shapes-x86_64.pdb", "shapes-i686.pdb", "public-x86_64.pdb"];

/// Pseudorandom numbers, the same in every run (xorshift).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

/// Changes some bytes, bits or words, or a block.
pub(crate) fn corrupt(bytes: &mut Vec<u8>, numbers: &mut Numbers) {
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len());
        match numbers.below(5) {
            0 => bytes[at] ^= 1 << numbers.below(8),
            1 => bytes[at] = u8::try_from(numbers.below(256)).unwrap(),
            2 => {
                let word =
                    [u32::MAX, 0, 1, 0x7FFF_FFFF, 0x8000_0000][numbers.below(5)].to_le_bytes();
                let end = (at + 4).min(bytes.len());
                bytes[at..end].copy_from_slice(&word[..end - at]);
            }
            3 => {
                let end = (at + numbers.below(512)).min(bytes.len());
                bytes[at..end].fill(0);
            }
            _ => bytes.truncate(at.max(1)),
        }
    }
}

#[test]
fn a_corrupted_pdb_is_an_error_or_a_table() {
    let rvas: Vec<u32> = (0x1000..0x1140).collect();
    let (mut tables, mut errors) = (0, 0);
    for name in NAMES {
        let whole = fixture(name);
        let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
        for _ in 0..400 {
            let mut bytes = whole.clone();
            corrupt(&mut bytes, &mut numbers);
            let opened = Pdb::open(Cursor::new(&bytes));
            let made = opened.and_then(|mut pdb| pdb.table_of(&rvas).and_then(|_| pdb.table()));
            match made {
                Ok(table) => {
                    let symbols = table.resolve_sorted(&rvas);
                    for (rva, symbol) in rvas.iter().zip(&symbols) {
                        let holds = |it: &Symbol| {
                            it.start_rva <= *rva
                                && it.size.is_none_or(|size| rva - it.start_rva < size)
                        };
                        assert!(symbol.as_ref().is_none_or(holds), "{symbol:?}");
                    }
                    tables += 1;
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    errors += 1;
                }
            }
        }
    }
    assert!(
        tables > 100 && errors > 100,
        "{tables} tables, {errors} errors: the corruptions are too weak or too strong"
    );
}

/// One record is damaged at a time: all other names stay unchanged.
#[test]
fn names_whose_records_are_not_touched_stay_right() {
    let whole = fixture("shapes-x86_64.pdb");
    let names: Vec<(u32, String)> = table("shapes-x86_64.pdb")
        .functions()
        .map(|it| (it.start_rva, it.name))
        .collect();
    let text = b"geometry::Shape::area\0";
    let mut touched = 0;
    for at in (0..whole.len() - text.len()).filter(|at| whole[*at..].starts_with(text)) {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at + 3] ^= 1 << bit;
            let Ok(damaged) = Pdb::open(Cursor::new(bytes)).and_then(|mut pdb| pdb.table()) else {
                continue;
            };
            for (rva, name) in names
                .iter()
                .filter(|(_, name)| name != "geometry::Shape::area")
            {
                assert_eq!(
                    damaged.resolve(*rva).map(|it| it.name).as_deref(),
                    Some(name.as_str())
                );
            }
            touched += usize::from(
                damaged
                    .resolve(0x1000)
                    .is_some_and(|it| it.name != "geometry::Shape::area"),
            );
        }
    }
    assert!(touched > 0, "the record was not found");
}

#[test]
fn a_cut_pdb_is_an_error() {
    let whole = fixture("shapes-x86_64.pdb");
    for at in (0..whole.len()).step_by(61) {
        assert!(Pdb::open(Cursor::new(&whole[..at])).is_err(), "cut at {at}");
    }
}

/// The checksum is corrected, so that the data after it is read.
#[test]
fn a_corrupted_table_is_an_error_or_answers() {
    let whole = table("shapes-x86_64.pdb").as_bytes().to_vec();
    let rvas: Vec<u32> = (0xFF0..0x1140).collect();
    let mut numbers = Numbers(42);
    let mut opened = 0;
    for nth in 0..4000 {
        let mut bytes = whole.clone();
        corrupt(&mut bytes, &mut numbers);
        if bytes == whole {
            continue;
        }
        assert!(
            SymbolTable::open(bytes.clone()).is_err(),
            "the checksum does not match"
        );
        if bytes.len() > 16 && nth % 2 == 0 {
            let sum = crc32fast::hash(&bytes[16..]).to_le_bytes();
            bytes[12..16].copy_from_slice(&sum);
            if let Ok(table) = SymbolTable::open(bytes) {
                drop(table.resolve_sorted(&rvas));
                table.functions().for_each(drop);
                opened += 1;
            }
        }
    }
    assert!(opened > 100, "{opened}");
}

#[test]
fn corrupted_text_symbols() {
    let whole = b"MODULE windows x86_64 44E4EC8C2F41492B9369D6B9A059577C2 app.pdb\nFILE 0 a.cpp\nINLINE_ORIGIN 0 f\nFUNC 1000 30 0 main\nINLINE 0 11 0 0 1010 10\n1000 30 10 0\nPUBLIC 1040 0 ?g@ns@@YAHXZ\n";
    let mut numbers = Numbers(7);
    for _ in 0..4000 {
        let mut bytes = whole.to_vec();
        corrupt(&mut bytes, &mut numbers);
        if let Ok(table) = breakpad::table(bytes.as_slice()) {
            drop(table.resolve_sorted(&[0, 0x1000, 0x1010, 0x102F, 0x1040, u32::MAX]));
        }
    }
}
