//! PDB files: the bytes of a file → identity, table of symbols, names of all its functions.

#![no_main]

use std::io::Cursor;

use etwkit_fuzz::apart;
use etwkit_symbols::pdb::Pdb;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    apart(|| {
        let Ok(mut pdb) = Pdb::open(Cursor::new(data)) else {
            return;
        };
        let Ok(table) = pdb.table() else { return };
        let mut end = 0;
        let mut rvas = Vec::new();
        for symbol in table.functions() {
            assert!(
                symbol.start_rva >= end,
                "functions are sorted and do not overlap"
            );
            end = symbol.start_rva.saturating_add(symbol.size.unwrap_or(1));
            rvas.extend([symbol.start_rva, end - 1, end]);
        }
        rvas.sort_unstable();
        let all = table.resolve_sorted(&rvas);
        let one = rvas.iter().map(|rva| table.resolve(*rva));
        // The rows of a long function are read again for each address.
        assert!(all.len() > 200 || one.eq(all));
        if let Ok(part) = pdb.table_of(&rvas) {
            drop(part.resolve_sorted(&rvas));
        }
    });
});
