//! Fields of events by name, for descriptions from any source.

use std::sync::Arc;

use etwkit_etl::RawEvent;
use etwkit_etl::bytes::Cursor;
use rustc_hash::FxHashMap;

use crate::schema::Type;
use crate::{Decoder, Plan, Spans};

/// Positions of `N` fields in the plans seen so far. Layouts differ between versions, and between
/// the trace and the built-in tables; the names of fields do not.
#[derive(Debug)]
pub struct NamedFields<const N: usize> {
    names: [&'static str; N],
    /// By address of the plan. The plan is kept alive, so that an address cannot be reused for
    /// another one.
    positions: FxHashMap<usize, (Arc<Plan>, [Option<usize>; N])>,
    spans: Spans,
}

/// The fields of one event.
#[derive(Debug, Clone, Copy)]
pub struct Values<'e, const N: usize> {
    plan: &'e Plan,
    positions: &'e [Option<usize>; N],
    spans: &'e Spans,
    payload: &'e [u8],
}

impl<const N: usize> NamedFields<N> {
    /// Creates a reader for fields with these names.
    #[must_use]
    pub fn new(names: [&'static str; N]) -> Self {
        Self {
            names,
            positions: FxHashMap::default(),
            spans: Spans::default(),
        }
    }

    /// Reads an event with the description in the trace, and with any other description if that is
    /// not enough for `read`. `None` if there is no description, the event is cut short, or `read`
    /// returns `None`.
    pub fn read<T>(
        &mut self,
        event: &RawEvent<'_>,
        decoder: &mut Decoder,
        read: impl Fn(Values<'_, N>) -> Option<T>,
    ) -> Option<T> {
        // The description in the trace comes first, even before files of the user: it matches the
        // recorded version.
        let own = decoder.own_plan(event).cloned();
        if let Some(found) = own
            // Tried by whether the fields are found, since a description may lack some that are
            // needed.
            .as_ref()
            .and_then(|plan| self.by_plan(plan, event.payload(), &read))
        {
            return Some(found);
        }
        let is = |plan: &Option<Arc<Plan>>, other: &Arc<Plan>| {
            plan.as_ref().is_some_and(|plan| Arc::ptr_eq(plan, other))
        };
        // The same plan would fail again.
        let best = decoder.plan(event).filter(|plan| !is(&own, plan));
        if let Some(found) = best
            .as_ref()
            .and_then(|plan| self.by_plan(plan, event.payload(), &read))
        {
            return Some(found);
        }
        // A description may match and still lack the fields that are needed.
        let built_in = decoder
            .built_in_plan(event)
            .filter(|plan| !is(&own, plan) && !is(&best, plan))?;
        self.by_plan(&built_in, event.payload(), &read)
    }

    fn by_plan<T>(
        &mut self,
        plan: &Arc<Plan>,
        payload: &[u8],
        read: impl Fn(Values<'_, N>) -> Option<T>,
    ) -> Option<T> {
        // Fields are looked up by name once for each plan, not for each event: network events come
        // by the million.
        let names = &self.names;
        let known = self.positions.entry(Arc::as_ptr(plan) as usize);
        let (plan, positions) =
            // The plan is kept alive, so that its address stays its own.
            known.or_insert_with(|| (Arc::clone(plan), names.map(|name| plan.field(name))));
        // A payload that is cut short, or of another version, would have other fields at these
        // positions.
        if !plan.locate(payload, &mut self.spans) {
            return None;
        }
        read(Values {
            plan,
            positions,
            spans: &self.spans,
            payload,
        })
    }
}

impl<'e, const N: usize> Values<'e, N> {
    /// The bytes of a field.
    #[must_use]
    pub fn bytes(&self, field: usize) -> Option<&'e [u8]> {
        self.spans
            .bytes(self.payload, (*self.positions.get(field)?)?)
    }

    /// An unsigned number of up to 8 bytes.
    #[must_use]
    pub fn u64(&self, field: usize) -> Option<u64> {
        self.spans
            .unsigned(self.payload, (*self.positions.get(field)?)?)
    }

    /// An unsigned number of up to 4 bytes.
    #[must_use]
    pub fn u32(&self, field: usize) -> Option<u32> {
        // A value that is too large for the field is damage and not a number to cut.
        u32::try_from(self.u64(field)?).ok()
    }

    /// A text of UTF-16 or single bytes, up to its end.
    #[must_use]
    pub fn text(&self, field: usize) -> Option<String> {
        let position = (*self.positions.get(field)?)?;
        let bytes = self.spans.bytes(self.payload, position)?;
        let ty = self.plan.schema().fields.get(position)?.ty;
        // The type comes from the description, as versions differ in it.
        Some(match ty {
            Type::UnicodeString | Type::RestUnicode => Cursor::new(bytes).text(),
            Type::AnsiString | Type::RestAnsi => {
                String::from_utf8_lossy(Cursor::new(bytes).ansi()).into_owned()
            }
            _ => return None,
        })
    }
}
