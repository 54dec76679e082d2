//! Other files with symbols, decorated names, and search paths.
//!
//! Layout of an input: which kind (1 byte), bytes of the file. Tables get the right checksum, so that what is
//! behind it is reached.

#![no_main]

use std::io::Cursor;

use etwkit_fuzz::apart;
use etwkit_symbols::breakpad;
use etwkit_symbols::image::Image;
use etwkit_symbols::portable::{Portable, embedded};
use etwkit_symbols::search_path::{Defaults, SearchPath};
use etwkit_symbols::table::SymbolTable;
use etwkit_symbols::undecorate::{self, Decorated};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((kind, bytes)) = data.split_first() else {
        return;
    };
    apart(|| match kind % 7 {
        0 => breakpad::table(bytes).map_or((), |table| ask(&table)),
        1 => summed(bytes).map_or((), |table| ask(&table)),
        2 => Portable::open(bytes.to_vec()).map_or((), |portable| lines(&portable)),
        3 => drop(embedded(bytes).map(|packed| packed.map(Portable::open))),
        5 => drop(Image::open(Cursor::new(bytes))),
        6 => search_path(&String::from_utf8_lossy(bytes)),
        _ => name(&String::from_utf8_lossy(bytes)),
    });
});

fn ask(table: &SymbolTable) {
    let mut rvas: Vec<u32> = table
        .functions()
        .flat_map(|it| [it.start_rva, it.start_rva.wrapping_add(1)])
        .collect();
    rvas.sort_unstable();
    drop(table.resolve_sorted(&rvas));
}

fn summed(bytes: &[u8]) -> Option<SymbolTable> {
    let mut bytes = bytes.to_vec();
    let sum = crc32fast::hash(bytes.get(16..)?);
    bytes.get_mut(12..16)?.copy_from_slice(&sum.to_le_bytes());
    SymbolTable::open(bytes).ok()
}

fn lines(portable: &Portable) {
    for row in 0..64 {
        for il_offset in [0, 1, 100, u32::MAX] {
            drop(portable.source_line(0x0600_0000 + row, il_offset));
        }
    }
}

fn name(text: &str) {
    for is_x86 in [false, true] {
        assert!(undecorate::name(text, Decorated { is_x86 }).len() <= text.len().max(1 << 15));
    }
    drop(undecorate::signature(text));
}

/// A path without servers names none.
fn search_path(text: &str) {
    for is_windows in [false, true] {
        let defaults = Defaults {
            cache: Some("cache".into()),
            nt_symbol_path: Some(text.to_owned()),
            is_windows,
            variables: [("A", "a;b"), ("B", "srv*c*https://d")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        };
        let path = SearchPath::parse([text, "NtSymbolPath"], &defaults);
        for element in path.elements() {
            std::hint::black_box(element.to_string());
        }
        assert!(!path.without_servers().has_server());
    }
}
