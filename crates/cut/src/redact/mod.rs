//! Redaction: texts are replaced, and events that are not understood are dropped.
//!
//! Each field of an event belongs to one of three kinds. Numbers stay. Texts, users and network
//! addresses are replaced. Bytes of unknown meaning are cleared. An event without a description, or
//! with a payload that does not match it, is dropped. Descriptions of events (manifests, metadata)
//! stay: they come from the programs and not from their users.

mod fields;
mod names;

use etwkit_decode::cut_mark::CutMark;
use etwkit_decode::eventsource::CHUNK_ID;
use etwkit_decode::kernel::Hook;
use etwkit_decode::{Decoder, eventinfo, found_text};
use etwkit_etl::wire::extended::kind;
use etwkit_etl::wire::trace_header::TraceHeader;
use etwkit_etl::{HeaderKind, RawEvent};

use names::Names;

/// The result of redacting one event.
pub(crate) enum Redacted {
    /// It contains nothing that has to be replaced.
    AsItIs,
    /// Its record, as long as it was.
    Record(Vec<u8>),
    /// It is dropped.
    NotUnderstood,
}

/// Redacts the events of a trace.
#[derive(Debug, Default)]
pub(crate) struct Redactor {
    decoder: Decoder,
    names: Names,
}

impl Redactor {
    /// Learns descriptions of events. It has to see all of them.
    pub(crate) fn observe(&mut self, event: &RawEvent<'_>) {
        self.decoder.observe(event);
    }

    pub(crate) fn finish_observing(&mut self) {
        self.decoder.finish_observing();
    }

    /// Replaces the texts of a trace header.
    pub(crate) fn header(&mut self, header: &mut TraceHeader) {
        header.session_name = self.names.text(&header.session_name);
        // Names of time zones contain names of places.
        let zone = &mut header.time_zone;
        zone.standard_name = self.names.text(&zone.standard_name);
        zone.daylight_name = self.names.text(&zone.daylight_name);
    }

    /// Different texts, users and addresses that were replaced.
    pub(crate) fn texts(&self) -> u64 {
        self.names.count()
    }

    pub(crate) fn event(&mut self, event: &RawEvent<'_>) -> Redacted {
        if event.kind == HeaderKind::Message {
            return Redacted::NotUnderstood;
        }
        let hook = Hook::of(event);
        if describes_events(event) {
            return Redacted::AsItIs;
        }
        let payload = event.payload();
        let plan = self.decoder.plan(event);
        let has_extended = has_private_items(event);
        match &plan {
            None if payload.is_empty() && !has_extended => return Redacted::AsItIs,
            None if !payload.is_empty() => return Redacted::NotUnderstood,
            // Kernel layouts are known. The layout of a provider comes from the trace itself and
            // may declare a text as a number.
            Some(plan) if hook.is_some() && fields::is_plain(plan, payload) => {
                return Redacted::AsItIs;
            }
            _ => {}
        }
        let mut record = event.record.to_vec();
        let at = record.len() - payload.len();
        let Some((head, new)) = record.split_at_mut_checked(at) else {
            return Redacted::NotUnderstood;
        };
        if has_extended {
            self.items(event, head);
        }
        if let Some(plan) = &plan
            && fields::redact(plan, new, &mut self.names).is_none()
        {
            return Redacted::NotUnderstood;
        }
        // A description that is wrong may take a text for numbers.
        if hook.is_none() && still_holds(payload, new) {
            return Redacted::NotUnderstood;
        }
        Redacted::Record(record)
    }

    /// Replaces users and packages in the items before a payload.
    fn items(&mut self, event: &RawEvent<'_>, head: &mut [u8]) {
        let base = event.record.as_ptr() as usize;
        for item in event.extended() {
            let start = (item.data.as_ptr() as usize).wrapping_sub(base);
            let Some(data) = head.get_mut(start..start.saturating_add(item.data.len())) else {
                continue;
            };
            match item.kind {
                kind::SID => self.names.sid(data),
                kind::PSM_KEY => self.names.wide(data),
                _ => {}
            }
        }
    }
}

fn has_private_items(event: &RawEvent<'_>) -> bool {
    event
        .extended()
        .any(|item| matches!(item.kind, kind::SID | kind::PSM_KEY))
}

/// True if an event holds only descriptions of events.
fn describes_events(event: &RawEvent<'_>) -> bool {
    let is_chunk = event.kind.is_manifest() && event.descriptor().id == CHUNK_ID;
    let is_info = event.kind.is_classic() && event.provider() == eventinfo::CLASS;
    is_chunk || is_info || CutMark::of(event).is_some()
}

/// True if a text of the payload is still readable after redaction.
fn still_holds(old: &[u8], new: &[u8]) -> bool {
    let texts = found_text::of(old);
    !texts.is_empty() && {
        let left = found_text::of(new);
        texts.iter().any(|text| left.contains(text))
    }
}
