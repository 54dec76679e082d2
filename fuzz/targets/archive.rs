//! Inputs: the bytes of a file that is a trace or an archive of any kind → session → events.

#![no_main]

use std::fs;

use etwkit_etl::Order;
use etwkit_extract::{Limits, Options, open};
use etwkit_fuzz::passes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.zip");
    fs::write(&file, data).expect("a file");
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
        for part in input.parts() {
            assert!(
                !part.name.contains('/'),
                "nothing of an archive's folders is used"
            );
        }
    }
});
