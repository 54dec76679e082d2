//! Tables of substitutes and originals: an answer about a redacted trace → the same with the original names.
//!
//! Layout of an input: form of the answer (1 byte), the answer behind its length (2 bytes), then the table.

#![no_main]

use std::fs;
use std::io::Write as _;

use etwkit_cut::map::{Form, Originals, OriginalsWriter};
use etwkit_fuzz::input::Input;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let form = if input.u8() & 1 == 0 {
        Form::Text
    } else {
        Form::Csv
    };
    let answer = input.block();
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table.names");
    fs::write(&table, input.0).expect("a file");
    let Ok(originals) = Originals::read(&table) else {
        return;
    };
    let mut out = Vec::new();
    let mut named = OriginalsWriter::new(&mut out, &originals, form);
    // An answer comes in pieces.
    for piece in answer.chunks(100) {
        named.write_all(piece).expect("memory does not fail");
    }
    named.finish().expect("memory does not fail");
    let is_escape = |byte: &u8| *byte == 0x1B;
    assert!(
        answer.iter().any(is_escape) || !out.iter().any(is_escape),
        "a name controls the terminal"
    );
});
