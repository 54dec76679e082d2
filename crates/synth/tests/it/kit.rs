//! Traces in memory, and the session that reads them.

use std::io::Cursor;
use std::ops::ControlFlow;

use etwkit_etl::source::ByteSource;
use etwkit_etl::{Order, RawEvent, Session};
use etwkit_synth::{Options, Truth, find};

/// The scenarios whose code has names.
pub(crate) const SCRIPTED: [&str; 20] = [
    "git-bash",
    "wait-chain",
    "priority-inversion",
    "starvation",
    "pe-cores",
    "file-writer",
    "file-writer-quiet",
    "file-writer-parallel",
    "load-stress",
    "serializer-tests",
    "file-filters",
    "memory",
    "services",
    "process-starts",
    "timers",
    "system-calls",
    "name-lookup",
    "desktop",
    "tracing",
    "collections",
];

pub(crate) fn written(scenario: &str, options: &Options) -> (Vec<u8>, Truth) {
    let (sink, truth) = find(scenario)
        .unwrap()
        .write(Cursor::new(Vec::new()), options)
        .unwrap();
    assert_eq!(sink.position(), sink.get_ref().len() as u64);
    (sink.into_inner(), truth)
}

pub(crate) fn office(options: &Options) -> (Vec<u8>, Truth) {
    written("office", options)
}

pub(crate) fn seeded(seed: u64, compressed: bool) -> Options {
    Options {
        seed,
        compressed,
        ..Options::default()
    }
}

pub(crate) fn open(trace: Vec<u8>) -> Session {
    let session = Session::open(vec![Box::new(trace) as Box<dyn ByteSource>]).unwrap();
    assert!(session.damage().is_empty());
    session
}

pub(crate) fn visit(session: &Session, mut each: impl FnMut(&RawEvent<'_>)) {
    let pass = session.for_each(Order::Time, |event| {
        each(event);
        ControlFlow::Continue(())
    });
    assert!(pass.unwrap().damage.is_empty());
}
