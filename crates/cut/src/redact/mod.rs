//! Redaction: texts are replaced, what is not understood is dropped.
//!
//! Each field of an event is one of these: a number, which stays; a text, a user or an address of a network,
//! which is replaced; bytes of which nothing says what they are, which are cleared. An event that nothing
//! describes, or that is not as its description says, is dropped. What describes events (manifests, metadata)
//! stays: it comes from the programs and not from those who use them.

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

/// What becomes of an event.
pub(crate) enum Redacted {
    /// It holds nothing that has to be replaced.
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
    /// Learns what describes events; wants all of them.
    pub(crate) fn observe(&mut self, event: &RawEvent<'_>) {
        self.decoder.observe(event);
    }

    pub(crate) fn finish_observing(&mut self) {
        self.decoder.finish_observing();
    }

    /// Replaces the texts of a trace header.
    pub(crate) fn header(&mut self, header: &mut TraceHeader) {
        header.session_name = self.names.text(&header.session_name);
        // The names of time zones are those of places.
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
            // Layouts of the kernel are known; that of a provider comes from the trace itself and may call a
            // text a number.
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

    /// Replaces users and packages in the items in front of a payload.
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

/// Whether an event holds descriptions of events and nothing else.
fn describes_events(event: &RawEvent<'_>) -> bool {
    let is_chunk = event.kind.is_manifest() && event.descriptor().id == CHUNK_ID;
    let is_info = event.kind.is_classic() && event.provider() == eventinfo::CLASS;
    is_chunk || is_info || CutMark::of(event).is_some()
}

/// Whether a text of a payload is still there.
fn still_holds(old: &[u8], new: &[u8]) -> bool {
    let texts = found_text::of(old);
    !texts.is_empty() && {
        let left = found_text::of(new);
        texts.iter().any(|text| left.contains(text))
    }
}
