//! Packed traces and cabinets: the first byte chooses the format, whose magic bytes replace those of
//! the data, so that each input reaches its unpacker.

#![no_main]

use std::fs;

use etwkit_etl::Order;
use etwkit_extract::{Limits, Options, open};
use etwkit_fuzz::passes;
use libfuzzer_sys::fuzz_target;

const MAGIC: [&[u8]; 6] = [
    b"\x1F\x8B\x08",
    b"\x28\xB5\x2F\xFD",
    b"\xFD7zXZ\0",
    b"BZh",
    b"\x04\x22\x4D\x18",
    b"MSCF",
];

fuzz_target!(|data: &[u8]| {
    let Some((format, data)) = data.split_first() else {
        return;
    };
    let magic = MAGIC[usize::from(*format) % MAGIC.len()];
    let rest = data.get(magic.len()..).unwrap_or_default();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.etl.gz");
    fs::write(&file, [magic, rest].concat()).expect("a file");
    let limits = Limits {
        total_bytes: 64 << 20,
        ratio_from_bytes: 1 << 20,
        ..Limits::default()
    };
    let options = Options {
        temp_dir: Some(folder.path().to_owned()),
        limits,
        ..Options::default()
    };
    if let Ok(input) = open(&[file], &options) {
        passes::read(input.session(), Order::Time);
    }
});
