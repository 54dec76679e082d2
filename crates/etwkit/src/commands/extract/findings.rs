//! `etwkit extract --findings`: extracts are diagnosed while they have all their rows.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use etwkit_engine::{Result, diagnosis_of};
use etwkit_extract::manifest::Detail;
use etwkit_extract::{ConvertError, ConvertOptions, Converted, Diagnosed, Diagnosing};
use etwkit_sql::Cancel;
use etwkit_terminal::interrupt::Stoppable;
use etwkit_trace::tags::TagSet;

/// Pause between two looks at Ctrl-C.
const LOOK: Duration = Duration::from_millis(100);

/// Converts a trace to an extract.
pub(super) type Convert<'c> =
    dyn FnMut(&Path, ConvertOptions<'_>) -> std::result::Result<Converted, ConvertError> + 'c;

/// Creates an extract with the findings of the rules. `at_once` diagnoses share the memory.
pub(super) fn diagnosed(
    target: &Path,
    (options, sets): (ConvertOptions<'_>, &[TagSet]),
    (stoppable, at_once): (&Stoppable, usize),
    convert: &mut Convert<'_>,
) -> Result<Converted> {
    let diagnosing = Diagnosing::begin(target)?;
    // Rules need the rows that a summary leaves out.
    let full = ConvertOptions {
        detail: Detail::Full,
        no_overwrite: false,
        ..options
    };
    let converted = convert(&diagnosing.folder(), full)?;
    let diagnosis = diagnose(&diagnosing.folder(), stoppable, at_once)?;
    let written = diagnosing.finish((options.detail, sets), diagnosis)?;
    Ok(Converted {
        written,
        ..converted
    })
}

/// Diagnoses an extract, until Ctrl-C.
fn diagnose(extract: &Path, stoppable: &Stoppable, at_once: usize) -> Result<Diagnosed> {
    let cancel = Cancel::default();
    thread::scope(|scope| {
        // The end of the diagnosis, also by a panic, drops the sender and so ends the thread.
        let (done, is_done) = mpsc::channel::<()>();
        let asked = &cancel;
        scope.spawn(move || {
            while is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if stoppable.is_asked_to_stop() {
                    asked.ask();
                }
            }
        });
        let diagnosis = diagnosis_of(extract, &cancel, at_once);
        drop(done);
        diagnosis
    })
}
