#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

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

/// The Python to read files with; without one the test says that it is skipped.
fn python(test: &str) -> Option<std::ffi::OsString> {
    let python = std::env::var_os("ETWKIT_PYTHON");
    if python.is_none() {
        let missing =
            "ETWKIT_PYTHON does not name a Python with the packages of scripts/requirements.txt";
        etwkit_testkit::skip(&format!("{test}: {missing}"));
    }
    python
}
