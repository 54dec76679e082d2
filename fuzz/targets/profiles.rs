//! Files of recording profiles: the bytes of a file → what its profiles record, the questions that this answers.

#![no_main]

use std::hint::black_box;

use etwkit_record::wprp::{Wprp, answers};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(file) = Wprp::read("own.wprp", data) else {
        return;
    };
    assert!(!file.profiles.is_empty());
    assert!(file.warnings.lines().len() <= 21);
    for profile in &file.profiles {
        black_box(answers(profile));
    }
});
