//! The mark of a trace that is a part of a larger one: an event that the cut command writes.
//!
//! A cut trace also holds events outside its time range: the events that describe others, and the
//! events that describe the state at its start. Readers that know the mark exclude these from their
//! numbers. For other readers the mark is an event that describes itself (TraceLogging).

use etwkit_etl::bytes::Cursor;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::wire::extended::kind;
use etwkit_etl::writer::ManifestEvent;
use etwkit_etl::{Guid, RawEvent};

/// Provider of the mark.
pub const PROVIDER: Guid = Guid::literal("5c1f0a7e-7d0b-4c57-9e0e-2f6d4b1c83a6");
/// Channel of events that describe themselves.
const CHANNEL: u8 = 11;
/// Information.
const LEVEL: u8 = 4;
/// Type of a signed number of 8 bytes in TraceLogging metadata.
const INT64: u8 = 9;

/// The time range that a trace is cut to: nanoseconds since time zero, both ends included.
/// `i64::MIN` and `i64::MAX` mean that it reaches to the start or the end of the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutMark {
    /// Start.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
}

impl CutMark {
    /// Reads a mark; `None` if the event is none.
    #[must_use]
    pub fn of(event: &RawEvent<'_>) -> Option<Self> {
        if !event.kind.is_manifest() || event.provider() != PROVIDER {
            return None;
        }
        let mut c = Cursor::new(event.payload());
        Some(Self {
            start_ns: c.i64()?,
            end_ns: c.i64()?,
        })
    }

    /// The smallest part that holds both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            start_ns: self.start_ns.min(other.start_ns),
            end_ns: self.end_ns.max(other.end_ns),
        }
    }

    /// Passes the event with this mark to `write`. It carries its own description.
    pub fn write<T>(self, timestamp: i64, write: impl FnOnce(ManifestEvent<'_>) -> T) -> T {
        // In the order of the description before it.
        let payload = [self.start_ns, self.end_ns].map(i64::to_le_bytes).concat();
        let metadata = sized(b"\0Cut\0StartNs\0", &[INT64], b"EndNs\0", &[INT64]);
        let traits = sized(b"Etwkit-Cut\0", &[], &[], &[]);
        let extended = [
            (kind::EVENT_SCHEMA_TL, &*metadata),
            (kind::PROVIDER_TRAITS, &*traits),
        ];
        write(ManifestEvent {
            timestamp,
            provider: PROVIDER,
            // No process of the recorded machine logged it. All bits set means none, because 0 is
            // the ID of the idle process.
            thread_id: u32::MAX,
            process_id: u32::MAX,
            descriptor: Descriptor {
                channel: CHANNEL,
                level: LEVEL,
                ..Descriptor::default()
            },
            extended: &extended,
            payload: &payload,
            ..ManifestEvent::default()
        })
    }
}

/// A block that starts with its own size.
// The size counts its own two bytes.
fn sized(a: &[u8], b: &[u8], c: &[u8], d: &[u8]) -> Vec<u8> {
    let content = [a, b, c, d].concat();
    let mut block = (content.len() as u16 + 2).to_le_bytes().to_vec();
    block.extend(content);
    block
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::ops::ControlFlow;

    use etwkit_etl::writer::{SessionOptions, TraceWriter};
    use etwkit_etl::{Order, Session};

    use super::*;
    use crate::Decoder;

    #[test]
    fn a_mark_reads_back_and_describes_itself() {
        let mark = CutMark {
            start_ns: -5,
            end_ns: i64::MAX,
        };
        let mut trace =
            TraceWriter::new(Cursor::new(Vec::new()), &SessionOptions::default()).unwrap();
        mark.write(7, |event| trace.write(0, event)).unwrap();
        let session = Session::open(vec![Box::new(trace.finish(1).unwrap().into_inner())]).unwrap();
        let (mut read, mut decoder) = (Vec::new(), Decoder::new());
        let all = |visit: &mut dyn FnMut(&RawEvent<'_>)| {
            let visit = |event: &RawEvent<'_>| {
                visit(event);
                ControlFlow::Continue(())
            };
            session.for_each(Order::File, visit).unwrap();
        };
        all(&mut |event| decoder.observe(event));
        decoder.finish_observing();
        all(&mut |event| {
            let plan = CutMark::of(event).and_then(|_| decoder.plan(event));
            read.extend(CutMark::of(event).zip(plan.map(|plan| plan.schema().name.to_string())));
        });
        assert_eq!(read, [(mark, "Cut".to_owned())]);
        assert_eq!(
            decoder.provider_name(PROVIDER).as_deref(),
            Some("Etwkit-Cut")
        );
    }
}
