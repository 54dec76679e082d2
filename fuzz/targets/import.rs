//! Everything: the bytes of a trace → summary, fields of all events, rows of all tables.

#![no_main]

use etwkit_etl::Session;
use etwkit_fuzz::walks;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(session) = Session::open(vec![Box::new(data.to_vec())]) else { return };
    // One thing at a time is faster; which one is a matter of chance that replays.
    match data.len() % 4 {
        0 => walks::decode(&session),
        1 => walks::summary(&session),
        _ => drop(walks::tables(&session)),
    }
});
