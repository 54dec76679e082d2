//! Test inputs and helpers.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use etwkit_etl::{HeaderKind, Order};
use etwkit_extract::{Error, Input, Options, open};
pub(crate) use etwkit_testkit::files::{Folder, made_bytes as made};

pub(crate) fn open_one(path: &Path) -> Result<Input, Error> {
    open(&[path.to_owned()], &Options::default())
}

/// The error of an input that must not open, as the user sees it: message, causes, hint.
#[track_caller]
pub(crate) fn refused(result: Result<Input, Error>) -> String {
    let Err(error) = result else {
        panic!("the input was opened")
    };
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(next) = cause {
        text += &format!(" | {next}");
        cause = next.source();
    }
    format!("{text} | hint: {}", error.hint().unwrap_or("none"))
}

#[track_caller]
pub(crate) fn assert_refused(result: Result<Input, Error>, parts: &[&str]) {
    let text = refused(result);
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

pub(crate) fn labels(input: &Input) -> Vec<String> {
    input
        .parts()
        .iter()
        .map(etwkit_extract::SessionFile::label)
        .collect()
}

/// Results that two ways to read a trace must share: kinds, and a checksum over all records in
/// order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) events: u64,
    kinds: BTreeMap<HeaderKind, u64>,
    checksum: u64,
    damage: String,
}

pub(crate) fn summary(input: &Input, order: Order) -> Summary {
    let mut kinds = BTreeMap::new();
    let mut checksum = 0xcbf2_9ce4_8422_2325u64;
    let pass = input.session().for_each(order, |event| {
        *kinds.entry(event.kind).or_default() += 1;
        for word in event.record.chunks(8) {
            let word = word
                .iter()
                .fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
            checksum = (checksum ^ word).wrapping_mul(0x0100_0000_01b3);
        }
        ControlFlow::Continue(())
    });
    let pass = pass.unwrap();
    let damage = format!("{:?} {:?}", input.session().damage(), pass.damage);
    Summary {
        events: pass.events,
        kinds,
        checksum,
        damage,
    }
}
