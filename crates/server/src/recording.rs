//! The recording that the page controls: one at a time. The recorder takes seconds for a start and
//! up to minutes for a file, so these steps run in the background and the page asks for progress.

use std::sync::Arc;
use std::time::{Duration, Instant};

use etwkit_base::lock::lock;
use etwkit_record::profiles::Profile;
use etwkit_record::{Control, Count, FailedStep};

use crate::api::{Call, Nothing};
use crate::opening;
use crate::problem::{Problem, Result};
use crate::recorder::{Progress, Recording};
use crate::state::Shared;
use crate::wire::{
    Failure, MarkRequest, RecordAnswer, RecordCount, RecordProfile, RecordRequest, RecordStep,
};

/// Shortest time between two queries of the recorder for its counts: each one starts a program.
const COUNT_PAUSE: Duration = Duration::from_secs(2);

/// Answers with the progress of the recording.
pub(crate) fn show(call: &Call<'_>, _: &Nothing) -> Result<RecordAnswer> {
    if let Some(recording) = &call.shared.recording {
        recording.count();
    }
    Ok(answer(call.shared))
}

/// Starts a recording.
pub(crate) fn start(call: &Call<'_>, request: &RecordRequest) -> Result<RecordAnswer> {
    Control::check(&request.profiles)
        .map_err(|failed| Problem::bad(failed.message).hinted(failed.hint))?;
    let request = request.clone();
    let from = RecordStep::Idle;
    let to = RecordStep::Starting;
    in_background(call.shared, from, to, move |recording, _| {
        recording.start(&request);
    })
}

/// Puts a mark into the recording.
pub(crate) fn mark(call: &Call<'_>, request: &MarkRequest) -> Result<RecordAnswer> {
    let recording = recording(call.shared)?;
    lock(&recording.progress).check(RecordStep::Recording)?;
    lock(&recording.control).mark(&request.text)?;
    lock(&recording.progress).marks += 1;
    Ok(answer(call.shared))
}

/// Stops the recording, writes it and opens it.
pub(crate) fn stop(call: &Call<'_>, _: &Nothing) -> Result<RecordAnswer> {
    let from = RecordStep::Recording;
    let to = RecordStep::Stopping;
    in_background(call.shared, from, to, Recording::stop)
}

/// Stops the recording and discards it.
pub(crate) fn cancel(call: &Call<'_>, _: &Nothing) -> Result<RecordAnswer> {
    let from = RecordStep::Recording;
    let to = RecordStep::Cancelling;
    in_background(call.shared, from, to, |recording, _| recording.cancel())
}

/// Takes a step in the background and answers with the progress so far.
fn in_background(
    shared: &Arc<Shared>,
    from: RecordStep,
    to: RecordStep,
    work: impl FnOnce(&Recording, &Arc<Shared>) + Send + 'static,
) -> Result<RecordAnswer> {
    let recording = recording(shared)?;
    recording.begin(from, to)?;
    let of_thread = shared.clone();
    let thread = std::thread::Builder::new().name("record".to_owned());
    let spawned = thread.spawn(move || {
        if let Some(recording) = &of_thread.recording {
            work(recording, &of_thread);
        }
    });
    if let Err(error) = spawned {
        lock(&recording.progress).step = from;
        return Err(error.into());
    }
    Ok(answer(shared))
}

fn recording(shared: &Shared) -> Result<&Recording> {
    let none = || {
        Problem::not_found("this machine cannot be recorded")
            .with_hint("recording runs on Windows: `etwkit record now` there")
    };
    shared.recording.as_ref().ok_or_else(none)
}

fn answer(shared: &Shared) -> RecordAnswer {
    let Some(recording) = &shared.recording else {
        return RecordAnswer::default();
    };
    let progress = lock(&recording.progress);
    let since = |begun: Instant| begun.elapsed().as_secs_f64();
    RecordAnswer {
        is_possible: true,
        profiles: Control::profiles().map(profile).collect(),
        folder: recording.folder.clone(),
        step: progress.step,
        recorded: progress.recorded.clone(),
        seconds: progress.begun.map_or(0.0, since),
        marks: progress.marks,
        counts: progress.counts.clone(),
        warnings: progress.warnings.clone(),
        written: progress.written.clone(),
        failure: progress.failure.clone(),
    }
}

fn profile(profile: &Profile) -> RecordProfile {
    let questions = profile.questions.iter();
    RecordProfile {
        name: profile.name.to_owned(),
        sentence: profile.sentence.to_owned(),
        questions: questions.map(|name| (*name).to_owned()).collect(),
        needs_counters: profile.needs_counters,
    }
}

fn count(count: Count) -> RecordCount {
    RecordCount {
        name: count.name,
        value: count.value,
    }
}

fn failure(failed: FailedStep) -> Option<Failure> {
    Some(Problem::from(failed).into_failure())
}

impl Recording {
    /// Returns the note for a user who ends the server now.
    pub(crate) fn note(&self) -> Option<&'static str> {
        match lock(&self.progress).step {
            RecordStep::Idle | RecordStep::Cancelling => None,
            RecordStep::Starting | RecordStep::Recording => Some(
                "the recording goes on: `etwkit record stop NAME` writes it, `etwkit record cancel` \
                 throws it away",
            ),
            RecordStep::Stopping => Some(
                "wpr completes the file of the recording; `etwkit record status` shows when it has \
                 finished",
            ),
        }
    }

    /// Goes from one step to the next, unless the recording is at another one.
    fn begin(&self, from: RecordStep, to: RecordStep) -> Result<()> {
        let mut progress = lock(&self.progress);
        progress.check(from)?;
        progress.step = to;
        progress.failure = None;
        Ok(())
    }

    fn start(&self, request: &RecordRequest) {
        let mut control = lock(&self.control);
        let started = control.start(&request.profiles, request.to_file);
        *lock(&self.progress) = match started {
            Ok(warning) => Progress {
                step: RecordStep::Recording,
                recorded: request.profiles.clone(),
                begun: Some(Instant::now()),
                warnings: warning.into_iter().collect(),
                ..Progress::default()
            },
            Err(failed) => Progress {
                failure: failure(failed),
                ..Progress::default()
            },
        };
    }

    fn stop(&self, shared: &Arc<Shared>) {
        let mut control = lock(&self.control);
        let written = match control.stop() {
            Ok(written) => written,
            Err(failed) => return self.not_ended(&mut control, failed),
        };
        // Opened first: a page that sees the path finds the trace among the open ones.
        let opened = opening::begin(shared, &written.file);
        *lock(&self.progress) = Progress {
            warnings: written.warnings,
            written: Some(written.file.display().to_string()),
            failure: opened.err().map(Problem::into_failure),
            ..Progress::default()
        };
    }

    fn cancel(&self) {
        let mut control = lock(&self.control);
        match control.cancel() {
            Ok(()) => *lock(&self.progress) = Progress::default(),
            Err(failed) => self.not_ended(&mut control, failed),
        }
    }

    /// Keeps the recording after a failed end if the recorder has it, so that it can be ended again.
    fn not_ended(&self, control: &mut Control, failed: FailedStep) {
        // A recorder that cannot be asked may be recording.
        let is_over = matches!(control.counts(), Ok(None));
        let mut progress = lock(&self.progress);
        if is_over {
            *progress = Progress::default();
        }
        progress.step = if is_over {
            RecordStep::Idle
        } else {
            RecordStep::Recording
        };
        progress.failure = failure(failed);
    }

    /// Updates the counts, unless the recorder is busy or was just queried.
    fn count(&self) {
        if !lock(&self.progress).is_count_due() {
            return;
        }
        let Ok(mut control) = self.control.try_lock() else {
            return;
        };
        let counts = control.counts();
        let mut progress = lock(&self.progress);
        // A stop that is waiting for the recorder has the next word.
        if progress.step != RecordStep::Recording {
            return;
        }
        progress.counted = Some(Instant::now());
        match counts {
            Ok(Some(counts)) => progress.counts = counts.into_iter().map(count).collect(),
            Ok(None) => {
                *progress = Progress {
                    failure: Some(ended_elsewhere()),
                    ..Progress::default()
                };
            }
            // The recording may well continue: its next step reports the failure.
            Err(_) => progress.counts.clear(),
        }
    }
}

fn ended_elsewhere() -> Failure {
    Problem::conflict("another program ended the recording")
        .with_hint("if that program wrote a file, open it by its path")
        .into_failure()
}

impl Progress {
    /// Checks that the recording is at a step.
    fn check(&self, wanted: RecordStep) -> Result<()> {
        if self.step == wanted {
            return Ok(());
        }
        Err(match (wanted, self.step) {
            (RecordStep::Idle, _) => Problem::conflict("a recording is running already")
                .with_hint("stop or cancel it first"),
            (_, RecordStep::Idle) => {
                Problem::conflict("nothing is being recorded").with_hint("start a recording first")
            }
            _ => Problem::conflict("the recording is being started or ended")
                .with_hint("try again when this is done"),
        })
    }

    fn is_count_due(&self) -> bool {
        let is_recent = |at: Instant| at.elapsed() < COUNT_PAUSE;
        self.step == RecordStep::Recording && !self.counted.is_some_and(is_recent)
    }
}
