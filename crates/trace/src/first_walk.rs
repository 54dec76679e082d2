//! What the first walk over a session collects for the second one, whatever that makes of it.

use etwkit_decode::Decoder;
use etwkit_decode::kernel::Hook;
use etwkit_etl::RawEvent;

use crate::counts::Counts;
use crate::directory::DirectoryBuilder;
use crate::summary::{DotnetSummary, SystemConfig};

/// Counts, names and descriptions. Wants all events in time order.
#[derive(Default)]
pub(crate) struct FirstWalk {
    pub(crate) facts: Collected,
    pub(crate) builder: DirectoryBuilder,
    pub(crate) dotnet: DotnetSummary,
}

impl FirstWalk {
    /// Takes an event, and tells what kernel event it is.
    #[inline]
    pub(crate) fn observe(&mut self, event: &RawEvent<'_>) -> Option<Hook> {
        let hook = self.facts.observe(event);
        self.builder.observe_as(hook, event);
        if !event.kind.is_kernel() {
            self.dotnet.observe(event);
        }
        hook
    }
}

/// What can be collected in any order.
#[derive(Default)]
pub(crate) struct Collected {
    pub(crate) counts: Counts,
    pub(crate) config: SystemConfig,
    pub(crate) decoder: Decoder,
}

impl Collected {
    /// Takes an event, and tells what kernel event it is.
    #[inline]
    pub(crate) fn observe(&mut self, event: &RawEvent<'_>) -> Option<Hook> {
        self.counts.add(event);
        let hook = Hook::of(event);
        if hook.is_none_or(SystemConfig::wants) {
            self.config.observe(event);
        }
        if !event.kind.is_kernel() {
            self.decoder.observe(event);
        }
        hook
    }
}
