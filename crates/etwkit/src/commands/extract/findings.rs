//! `etwkit extract --findings` and `--features`: extracts are asked while they have all their rows.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use etwkit_engine::{KeptAnswers, Result, diagnosis_of};
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

/// Creates an extract that keeps answers. `at_once` extracts that are asked share the memory.
pub(super) fn diagnosed(
    (target, kept): (&Path, KeptAnswers),
    (options, sets): (ConvertOptions<'_>, &[TagSet]),
    (stoppable, at_once): (&Stoppable, usize),
    convert: &mut Convert<'_>,
) -> Result<Converted> {
    let diagnosing = Diagnosing::begin(target)?;
    // Rules and waits by reason need the rows that a summary leaves out.
    let full = ConvertOptions {
        detail: Detail::Full,
        no_overwrite: false,
        ..options
    };
    let converted = convert(&diagnosing.folder(), full)?;
    let diagnosis = ask((&diagnosing.folder(), kept), stoppable, at_once)?;
    let written = diagnosing.finish((options.detail, sets), diagnosis)?;
    Ok(Converted {
        written,
        ..converted
    })
}

/// Asks an extract, until Ctrl-C.
fn ask(
    (extract, kept): (&Path, KeptAnswers),
    stoppable: &Stoppable,
    at_once: usize,
) -> Result<Diagnosed> {
    let cancel = Cancel::default();
    thread::scope(|scope| {
        // The end of the answers, also by a panic, drops the sender and so ends the thread.
        let (done, is_done) = mpsc::channel::<()>();
        let canceled = &cancel;
        scope.spawn(move || {
            while is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if stoppable.is_asked_to_stop() {
                    canceled.ask();
                }
            }
        });
        let answers = diagnosis_of(extract, kept, (&cancel, at_once));
        drop(done);
        answers
    })
}
