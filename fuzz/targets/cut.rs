//! Cutting: the bytes of a trace → a part of it, redacted or not, which can be read.
//!
//! Layout of an input: what is done (1 byte): the first bit asks for a part of the time, the next two for a
//! redaction. Start and length of the part in microseconds (4 bytes each), then the trace.

#![no_main]

use std::hint::black_box;
use std::io::Cursor;
use std::ops::ControlFlow;

use etwkit_cut::{Options, Redaction, cut};
use etwkit_etl::{Order, Session};
use etwkit_fuzz::input::Input;
use etwkit_fuzz::passes::read;
use etwkit_trace::import::Range;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let what = input.u8();
    let (start, length) = (i64::from(input.u32()), i64::from(input.u32()));
    let range = Range {
        start_ns: start * 1000,
        end_ns: (start + length) * 1000,
    };
    let options = Options {
        range: (what & 1 == 1).then_some(range),
        redact: match what >> 1 & 3 {
            0 => None,
            1 => Some(Redaction::Private),
            _ => Some(Redaction::All),
        },
        ..Options::default()
    };
    let Ok(session) = Session::open(vec![Box::new(input.0.to_vec())]) else {
        return;
    };
    let sink = Cursor::new(Vec::new());
    let done = cut(&session, &options, sink, &mut |_| ControlFlow::Continue(()));
    let Ok((done, sink)) = done else {
        return;
    };
    let part = Session::open(vec![Box::new(sink.into_inner())]);
    black_box(read(&part.expect("a part is a trace"), Order::File));
    assert_eq!(done.texts.is_some(), options.redact.is_some());
});
