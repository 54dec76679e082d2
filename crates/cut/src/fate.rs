//! The fate of each event: kept or dropped, with the reason.

use etwkit_decode::cut_mark::CutMark;
use etwkit_decode::kernel::{Hook, event_trace, group};
use etwkit_etl::RawEvent;

use crate::describing::is_describing;
use crate::event_choice::Verdict;
use crate::plan::{Plan, keeps_stack};

/// The fate of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// Kept: it is in the part and belongs to a requested process and provider.
    Within,
    /// Kept: it describes others.
    Describing,
    /// Kept: the numbers of the part need it.
    Needed,
    /// Dropped: it is outside of the part.
    Outside,
    /// Dropped: it belongs to another process or provider.
    Other,
    /// Dropped: its process is unknown.
    Unknown,
    /// Dropped: the header of a file that is merged, or the mark of an earlier cut.
    Replaced,
    /// Dropped: its content is not understood, so it cannot be redacted.
    NotUnderstood,
}

impl Fate {
    /// All fates, in the order of the report.
    pub(crate) const ALL: [Self; 8] = [
        Self::Within,
        Self::Describing,
        Self::Needed,
        Self::Outside,
        Self::Other,
        Self::Unknown,
        Self::Replaced,
        Self::NotUnderstood,
    ];

    /// True if the event is kept.
    #[must_use]
    pub const fn is_kept(self) -> bool {
        matches!(self, Self::Within | Self::Describing | Self::Needed)
    }

    /// The wording of this fate in the text report.
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::Within => "of the part",
            Self::Describing => "that describe others",
            Self::Needed => "outside of the part that its numbers need",
            Self::Outside => "outside of the part",
            Self::Other => "of other processes or providers",
            Self::Unknown => "of which no process is known",
            Self::Replaced => "headers and marks that new ones replace",
            Self::NotUnderstood => "that are not understood, so that they cannot be redacted",
        }
    }

    /// Its key in JSON.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Within => "within",
            Self::Describing => "describing",
            Self::Needed => "needed",
            Self::Outside => "outside",
            Self::Other => "other",
            Self::Unknown => "unknown_process",
            Self::Replaced => "replaced",
            Self::NotUnderstood => "not_understood",
        }
    }
}

/// Decides the fate of an event, given the verdict of the filters.
pub(crate) fn fate(event: &RawEvent<'_>, plan: &Plan, verdict: Verdict) -> Fate {
    let hook = Hook::of(event);
    // The new trace gets a header and a mark of its own.
    if is_header(hook) || CutMark::of(event).is_some() {
        return Fate::Replaced;
    }
    // Checked before the filters: events that the numbers of the part need are kept even if they
    // belong to another process.
    // Needed events are counted as part of it if they lie in it.
    if plan.needed.contains(event) {
        return if plan.part.holds(event.timestamp) {
            Fate::Within
        } else {
            Fate::Needed
        };
    }
    let describes = is_describing(hook, event);
    match verdict {
        Verdict::Wanted => {}
        // What describes others is kept even if another process logged it.
        Verdict::Named if describes => return Fate::Describing,
        Verdict::Named | Verdict::Other => return Fate::Other,
        Verdict::Unknown => return Fate::Unknown,
    }
    if plan.part.holds(event.timestamp) {
        Fate::Within
    } else if describes {
        Fate::Describing
    } else if plan.asked.holds(event.timestamp)
        || hook.and_then(|hook| keeps_stack(hook, event, &plan.asked, &plan.needed)) == Some(true)
    {
        // In a trace that was cut before all that is left outside of its part is needed.
        Fate::Needed
    } else {
        Fate::Outside
    }
}

/// True if the event is the header event of a file.
pub(crate) fn is_header(hook: Option<Hook>) -> bool {
    hook.is_some_and(|hook| {
        (hook.group, hook.opcode) == (group::EVENT_TRACE, event_trace::opcode::HEADER)
    })
}
