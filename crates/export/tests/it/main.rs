#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    missing_docs
)]

use std::ffi::OsStr;
use std::path::Path;

use serde_json::Value;

mod hostile_names;
mod made_stacks;
mod otlp;
mod packets;
mod pictures;
mod pprof;
mod profiles;
mod timeline_rows;
mod timelines;
mod traces;
mod wpa;

/// Returns the JSON that a script in the folder of these tests prints for some files. `None` where Python
/// is missing and the test is skipped.
fn run_reader<S: AsRef<OsStr>>(
    test: &str,
    script: &str,
    words: impl IntoIterator<Item = S>,
) -> Option<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../export/tests/it");
    let mut reader = etwkit_testkit::python(test)?;
    reader.arg(folder.join(script)).args(words);
    let printed = etwkit_testkit::output_of(&mut reader);
    Some(serde_json::from_str(&printed).unwrap())
}
