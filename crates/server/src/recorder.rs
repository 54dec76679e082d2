//! State of the recording that the page controls.

use std::sync::Mutex;
use std::time::Instant;

use etwkit_record::Control;

use crate::wire::{Failure, RecordCount, RecordStep};

/// A recorder and the progress of its recording. Whoever locks both locks the recorder first.
pub(crate) struct Recording {
    /// Folder that recordings are written to.
    pub(crate) folder: String,
    pub(crate) control: Mutex<Control>,
    pub(crate) progress: Mutex<Progress>,
}

/// Progress of the recording that runs, or the outcome of the last one.
#[derive(Default)]
pub(crate) struct Progress {
    pub(crate) step: RecordStep,
    pub(crate) recorded: Vec<String>,
    pub(crate) begun: Option<Instant>,
    pub(crate) counted: Option<Instant>,
    pub(crate) marks: u32,
    pub(crate) counts: Vec<RecordCount>,
    pub(crate) warnings: Vec<String>,
    pub(crate) written: Option<String>,
    pub(crate) failure: Option<Failure>,
}

impl Recording {
    pub(crate) fn new(control: Control) -> Self {
        Self {
            folder: control.recordings.display().to_string(),
            control: Mutex::new(control),
            progress: Mutex::default(),
        }
    }
}
