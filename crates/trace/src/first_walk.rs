//! What the first walk over a session collects for the second one, whatever that makes of it.

use etwkit_decode::Decoder;
use etwkit_etl::RawEvent;

use crate::counts::Counts;
use crate::directory::DirectoryBuilder;
use crate::summary::{DotnetSummary, SystemConfig};

/// Counts, names and descriptions. Wants all events in time order.
#[derive(Default)]
pub(crate) struct FirstWalk {
    pub(crate) counts: Counts,
    pub(crate) builder: DirectoryBuilder,
    pub(crate) config: SystemConfig,
    pub(crate) dotnet: DotnetSummary,
    pub(crate) decoder: Decoder,
}

impl FirstWalk {
    #[inline]
    pub(crate) fn observe(&mut self, event: &RawEvent<'_>) {
        self.counts.add(event);
        self.builder.observe(event);
        self.config.observe(event);
        self.dotnet.observe(event);
        self.decoder.observe(event);
    }
}
