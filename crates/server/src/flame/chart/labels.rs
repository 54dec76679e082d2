//! Names of frames and states, each looked up once.

use std::collections::HashMap;

use etwkit_sql::functions::wait_reason_name;

use crate::flame::names::Names;
use crate::flame::tree::Kinds;

/// Marks a frame whose name was not looked up yet.
const NONE: u32 = u32::MAX;

/// Numbers of the names of a chart.
pub(super) struct Labels<'c, 'f> {
    names: &'c mut Names<'f>,
    by_frame: Vec<u32>,
    by_reason: HashMap<Option<i32>, u32>,
    /// Ready for a processor.
    pub(super) ready: u32,
    /// Waiting or ready: no event reports when the wait ended.
    pub(super) off: u32,
}

impl<'c, 'f> Labels<'c, 'f> {
    pub(super) fn new(names: &'c mut Names<'f>) -> Self {
        Self {
            by_frame: vec![NONE; names.frames.frames()],
            by_reason: HashMap::new(),
            ready: names.text("ready", Kinds::READY),
            off: names.text("off the processor", Kinds::WAITING),
            names,
        }
    }

    /// Returns the name of a frame.
    pub(super) fn frame(&mut self, frame: i32) -> u32 {
        let known = usize::try_from(frame)
            .ok()
            .and_then(|at| self.by_frame.get_mut(at));
        match known {
            Some(known) if *known == NONE => {
                *known = self.names.frame(frame);
                *known
            }
            Some(known) => *known,
            None => NONE,
        }
    }

    /// Returns the name of a wait for this reason.
    pub(super) fn waiting(&mut self, reason: Option<i32>) -> u32 {
        *self.by_reason.entry(reason).or_insert_with(|| {
            let text = reason.map_or_else(
                || "waiting".to_owned(),
                |reason| format!("waiting ({})", wait_reason_name(reason)),
            );
            self.names.text(&text, Kinds::WAITING)
        })
    }
}
