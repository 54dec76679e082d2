//! Files of stack tags: the bytes of a file → rules, the tag of a stack.
//!
//! Layout of an input: a stack behind its length (2 bytes), then the file. The stack is text: a frame a line,
//! the innermost one first, as `module!method`.

#![no_main]

use std::hint::black_box;

use etwkit_fuzz::input::Input;
use etwkit_trace::tags::TagSet;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let stack = String::from_utf8_lossy(input.block());
    let Ok(set) = TagSet::read("own", &[("own.stacktags", input.0)]) else {
        return;
    };
    let frames: Vec<_> = stack
        .lines()
        .take(200)
        .map(|frame| match frame.split_once('!') {
            Some((module, method)) => (Some(module), Some(method)),
            None => (Some(frame), None),
        })
        .collect();
    if let Some(tag) = set.tag(&frames) {
        assert!(
            set.tags().any(|known| tag.starts_with(known)),
            "{tag:?} is not in the file"
        );
    }
    assert!(set.warnings().lines().len() <= 21);
    black_box(set.fingerprint());
});
