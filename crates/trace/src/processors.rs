//! The number of processors, about which the parts of a trace may disagree.

use etwkit_etl::Session;
use etwkit_etl::session::TraceFile;

use crate::counts::Counts;
use crate::system_config::SystemConfig;

/// Highest number of processors: Windows has at most this many. More are the claim of damage.
pub(crate) const MAX_PROCESSORS: u32 = 2048;

/// The numbers of processors that the parts of a trace state; 0 if one states none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Processors {
    header: u32,
    config: u32,
    seen: u32,
}

impl Processors {
    pub(crate) fn of(session: &Session, config: &SystemConfig, counts: &Counts) -> Self {
        let headers = session.files().iter().map(TraceFile::header);
        let listed = config.processors.keys().map(|last| last.saturating_add(1));
        let counted = config.cpu.as_ref().map(|cpu| cpu.count);
        let known = |count: &u32| *count <= MAX_PROCESSORS;
        Self {
            header: headers.map(|header| header.cpu_count).fold(0, u32::max),
            config: listed.chain(counted).filter(known).fold(0, u32::max),
            seen: u32::try_from(counts.processors())
                .into_iter()
                .filter(known)
                .fold(0, u32::max),
        }
    }

    /// Their number: the highest one that is stated.
    pub(crate) fn count(self) -> u32 {
        self.header.max(self.config).max(self.seen)
    }

    /// The parts that disagree, as a sentence; `None` if they do not.
    pub(crate) fn disagreement(self) -> Option<String> {
        let Self {
            header,
            config,
            seen,
        } = self;
        // Processors without events are idle or parked.
        let agrees = seen <= header && (config == 0 || config == header);
        (!agrees).then(|| {
            let config = if config == 0 {
                String::new()
            } else {
                format!(", the configuration of the machine {config}")
            };
            format!(
                "the trace header counts {header} processors{config}, and events name {seen}: {} are \
                 assumed",
                self.count()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_number_counts_and_only_contradictions_are_told() {
        let told = |header, config, seen| {
            let all = Processors {
                header,
                config,
                seen,
            };
            (all.count(), all.disagreement())
        };
        assert_eq!(told(8, 8, 2), (8, None));
        assert_eq!(told(8, 0, 8), (8, None));
        let text = "the trace header counts 2 processors, the configuration of the machine 4, and \
                    events name 4: 4 are assumed";
        assert_eq!(told(2, 4, 4), (4, Some(text.to_owned())));
        let text = "the trace header counts 2 processors, and events name 4: 4 are assumed";
        assert_eq!(told(2, 0, 4), (4, Some(text.to_owned())));
        assert!(told(4, 8, 4).1.is_some());
    }
}
