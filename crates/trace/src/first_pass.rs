//! Data that the first pass over a session collects for any kind of second pass.

use etwkit_decode::Decoder;
use etwkit_decode::kernel::Hook;
use etwkit_etl::session::TraceFile;
use etwkit_etl::{RawEvent, Session};

use crate::counts::Counts;
use crate::directory::DirectoryBuilder;
use crate::dotnet_summary::DotnetSummary;
use crate::scripts::Scripts;
use crate::system_config::SystemConfig;

/// Counts, names and descriptions. It needs all events in order of time.
#[derive(Default)]
pub(crate) struct FirstPass {
    pub(crate) facts: Tally,
    pub(crate) builder: DirectoryBuilder,
    pub(crate) dotnet: DotnetSummary,
    pub(crate) scripts: Scripts,
}

impl FirstPass {
    pub(crate) fn new(session: &Session) -> Self {
        let bytes = session.files().iter().map(TraceFile::size).sum();
        Self {
            builder: DirectoryBuilder::for_size(bytes),
            ..Self::default()
        }
    }

    /// Takes an event.
    #[inline]
    pub(crate) fn observe(&mut self, event: &RawEvent<'_>) {
        let hook = self.facts.observe(event);
        self.builder.observe_as(hook, event);
        if hook.is_none() {
            self.dotnet.observe(event);
        }
    }

    /// Takes an event that is not a kernel event, without counting it and without collecting its
    /// mentions.
    #[inline]
    pub(crate) fn observe_other(&mut self, event: &RawEvent<'_>) {
        self.facts.describe(None, event);
        self.builder.observe_in_order(None, event);
        self.dotnet.observe(event);
        self.scripts.observe(event);
    }
}

/// Data that one pass in the order of the file can collect.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) counts: Counts,
    pub(crate) config: SystemConfig,
    pub(crate) decoder: Decoder,
}

impl Tally {
    /// Takes an event and returns its hook if it is a kernel event.
    #[inline]
    pub(crate) fn observe(&mut self, event: &RawEvent<'_>) -> Option<Hook> {
        self.counts.add(event);
        let hook = Hook::of(event);
        self.describe(hook, event);
        hook
    }

    #[inline]
    fn describe(&mut self, hook: Option<Hook>, event: &RawEvent<'_>) {
        self.config.observe(hook, event);
        if hook.is_none() {
            self.decoder.observe(event);
        }
    }
}
