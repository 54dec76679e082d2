//! Everything: the bytes of a trace → summary, fields of all events, rows of all tables.

#![no_main]

use etwkit_etl::Session;
use etwkit_fuzz::passes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(session) = Session::open(vec![Box::new(data.to_vec())]) else {
        return;
    };
    // One thing at a time is faster; which one is a matter of chance that replays.
    match data.len() % 4 {
        0 => passes::decode(&session),
        1 => passes::summary(&session),
        _ => drop(passes::tables(&session)),
    }
});
