//! Redaction: texts are replaced, and events that are not understood lose their content.
//!
//! Each field of an event belongs to one of three kinds. Numbers stay. Texts, users and network
//! addresses are replaced. Bytes of unknown meaning are cleared. Descriptions of events (manifests,
//! metadata) stay: they come from the programs and not from their users.
//!
//! ```text
//! first pass:   events ─► evidence: whose each module is
//! second pass:  event ─► fields: places of texts ─► text, path: substitutes ─► rebuild: a new record
//! ```
//!
//! With [`Redaction::Private`], what is Microsoft's and public stays ([`known`], [`evidence`]), and
//! the rest gets substitutes of the same kind ([`substitutes`]). With [`Redaction::All`], each word
//! becomes another word of the same length ([`words`]).

mod addresses;
mod evidence;
mod fields;
mod hint;
mod known;
mod path;
mod rebuild;
mod substitutes;
mod text;
mod words;

use etwkit_decode::cut_mark::CutMark;
use etwkit_decode::eventsource::CHUNK_ID;
use etwkit_decode::kernel::Hook;
use etwkit_decode::{Decoder, Plan, Spans, eventinfo, found_text};
use etwkit_etl::wire::extended::kind;
use etwkit_etl::wire::trace_header::TraceHeader;
use etwkit_etl::{HeaderKind, RawEvent};

use evidence::Evidence;
pub use substitutes::Substitute;
pub use text::{KeptTexts, Reason};
use text::{Subject, Texts};
use words::Words;

/// What is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redaction {
    /// What is the sender's. Names of Windows' modules, processes and folders stay.
    Private,
    /// All texts.
    All,
}

/// The result of redacting one event.
pub(crate) enum Redacted {
    /// It contains nothing that has to be replaced.
    AsItIs,
    /// Its new record.
    Record(Vec<u8>),
    /// It is dropped.
    NotUnderstood,
}

/// Redacts the events of a trace.
#[derive(Debug, Default)]
pub(crate) struct Redactor {
    decoder: Decoder,
    means: Means,
    spans: Spans,
}

/// The means of a redaction.
#[derive(Debug)]
enum Means {
    Private {
        evidence: Box<Evidence>,
        texts: Box<Texts>,
    },
    All(Words),
}

impl Default for Means {
    fn default() -> Self {
        Self::All(Words::default())
    }
}

impl Redactor {
    pub(crate) fn new(redaction: Redaction) -> Self {
        Self {
            means: match redaction {
                Redaction::Private => Means::Private {
                    evidence: Box::default(),
                    texts: Box::default(),
                },
                Redaction::All => Means::All(Words::default()),
            },
            ..Self::default()
        }
    }

    /// Learns descriptions of events, and what is Microsoft's. It has to see all of them.
    pub(crate) fn observe(&mut self, event: &RawEvent<'_>) {
        self.decoder.observe(event);
        if let Means::Private { evidence, .. } = &mut self.means {
            evidence.observe(event);
        }
    }

    pub(crate) fn finish_observing(&mut self) {
        self.decoder.finish_observing();
        if let Means::Private { evidence, texts } = &mut self.means {
            evidence.finish(texts);
        }
    }

    /// Replaces the texts of a trace header.
    pub(crate) fn header(&mut self, header: &mut TraceHeader) {
        // Names of time zones contain names of places.
        let zone = &mut header.time_zone;
        match &mut self.means {
            Means::All(words) => {
                header.session_name = words.text(&header.session_name);
                zone.standard_name = words.text(&zone.standard_name);
                zone.daylight_name = words.text(&zone.daylight_name);
            }
            Means::Private { texts, .. } => {
                let mut whole =
                    |text: &str, kind| texts.text(text, hint::Hint::Whole(kind), Subject::Unknown);
                header.session_name = whole(&header.session_name, "session");
                zone.standard_name = whole(&zone.standard_name, "zone");
                zone.daylight_name = whole(&zone.daylight_name, "zone");
            }
        }
    }

    /// Different texts, users and addresses that were replaced.
    pub(crate) fn texts(&self) -> u64 {
        match &self.means {
            Means::All(words) => words.count(),
            Means::Private { texts, .. } => texts.substitutes.rows().len() as u64,
        }
    }

    /// Substitutes, and kept texts by reason; none if all texts are replaced.
    pub(crate) fn into_table(self) -> (Vec<Substitute>, KeptTexts) {
        match self.means {
            Means::All(_) => (Vec::new(), KeptTexts::new()),
            Means::Private { texts, .. } => {
                let texts = *texts;
                (texts.substitutes.into_rows(), texts.kept)
            }
        }
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
            None if !payload.is_empty() => return self.without_content(event),
            // Kernel layouts are known. The layout of a provider comes from the trace itself and
            // may declare a text as a number.
            Some(plan) if hook.is_some() && fields::is_plain(plan, payload) => {
                return Redacted::AsItIs;
            }
            _ => {}
        }
        let Some(mut head) = self.head(event, has_extended) else {
            return Redacted::NotUnderstood;
        };
        let Some(plan) = plan else {
            return Redacted::Record(head);
        };
        let Some((new, readable)) = self.payload(event, &plan, head.len()) else {
            return Redacted::NotUnderstood;
        };
        // A description that is wrong may take a text for numbers.
        if hook.is_none() && readable {
            return Redacted::NotUnderstood;
        }
        head.extend(new);
        match with_length(head, event.kind) {
            Some(record) => Redacted::Record(record),
            None => Redacted::NotUnderstood,
        }
    }

    /// The new payload, and true if texts of the old one are still readable.
    fn payload(
        &mut self,
        event: &RawEvent<'_>,
        plan: &Plan,
        head: usize,
    ) -> Option<(Vec<u8>, bool)> {
        let payload = event.payload();
        // The layouts of the kernel are known: of a shorter event the fields that it has are read.
        let is_kernel = Hook::of(event).is_some();
        match &mut self.means {
            Means::All(words) => {
                let mut new = payload.to_vec();
                fields::redact(plan, &mut new, words)?;
                let readable = still_holds(payload, &new);
                Some((new, readable))
            }
            Means::Private { evidence, texts } => {
                let subject = evidence.subject(event, plan, &mut self.spans);
                let rebuilt = rebuild::rebuild(plan, payload, is_kernel, head, subject, texts)?;
                let readable = Texts::is_readable(&rebuilt.numbers);
                Some((rebuilt.payload, readable))
            }
        }
    }

    /// The record of an event that nothing describes, without its payload: it is still counted.
    fn without_content(&mut self, event: &RawEvent<'_>) -> Redacted {
        if matches!(self.means, Means::All(_)) {
            return Redacted::NotUnderstood;
        }
        let head = self.head(event, has_private_items(event));
        match head.and_then(|head| with_length(head, event.kind)) {
            Some(record) => Redacted::Record(record),
            None => Redacted::NotUnderstood,
        }
    }

    /// The bytes before the payload, with users and packages replaced.
    fn head(&mut self, event: &RawEvent<'_>, has_extended: bool) -> Option<Vec<u8>> {
        let len = event.record.len().checked_sub(event.payload().len())?;
        let mut head = event.record.get(..len)?.to_vec();
        if has_extended {
            self.items(event, &mut head);
        }
        Some(head)
    }

    /// Replaces users and packages in the items before a payload.
    fn items(&mut self, event: &RawEvent<'_>, head: &mut [u8]) {
        let base = event.record.as_ptr() as usize;
        for item in event.extended() {
            let start = (item.data.as_ptr() as usize).wrapping_sub(base);
            let Some(data) = head.get_mut(start..start.saturating_add(item.data.len())) else {
                continue;
            };
            match (item.kind, &mut self.means) {
                (kind::SID, Means::All(words)) => words.sid(data),
                (kind::SID, Means::Private { texts, .. }) => texts.substitutes.sid(data),
                (kind::PSM_KEY, Means::All(words)) => words.wide(data),
                (kind::PSM_KEY, Means::Private { texts, .. }) => rebuild::package(data, texts),
                _ => {}
            }
        }
    }
}

/// A record with its length.
fn with_length(mut record: Vec<u8>, kind: HeaderKind) -> Option<Vec<u8>> {
    let len = u16::try_from(record.len()).ok()?.to_le_bytes();
    let at = if kind.is_kernel() { 4 } else { 0 };
    record.get_mut(at..at + 2)?.copy_from_slice(&len);
    Some(record)
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
