//! What is wrong with a trace, which every command that reads one tells.

use etwkit_engine::Gaps;
use etwkit_etl::damage::{Damage, Place};
use etwkit_extract::Input;
use serde_json::{Map, Value, json};

use crate::printer::{Align, Printer, Table, WriteError, grouped};

/// How many places the text names; JSON has the first hundred.
const SHOWN_PLACES: usize = 5;

/// The damage between buffers and that of a walk over all events.
pub(crate) fn of_walk(input: &Input, walk: &etwkit_etl::session::Walk) -> Damage {
    let mut damage = input.session().damage().clone();
    damage.merge(&walk.damage);
    damage
}

/// What the trace lacks. `last` is the raw time of its last event.
pub(crate) fn gaps(input: &Input, damage: &Damage, last: Option<i64>) -> Gaps {
    let name = input.parts().iter().map(etwkit_extract::Part::label).collect::<Vec<_>>().join(" ");
    Gaps::of_trace(&name, &etwkit_trace::health::of(input.session(), damage, last))
}

/// Text for a trace without damage whose every event was read.
pub(crate) const NONE: &str = "none";

/// The last section of a text; `none` says how far the trace was checked if nothing is wrong.
pub(crate) fn print(
    printer: &mut Printer<'_>,
    input: &Input,
    damage: &Damage,
    none: &str,
) -> Result<(), WriteError> {
    printer.heading("Damage")?;
    if damage.is_empty() {
        return printer.line(&format!("  {none}"));
    }
    let right = Align::Right;
    let mut table =
        Table::new(&[("kind", Align::Left), ("places", right), ("bytes", right), ("meaning", Align::Left)]);
    for (kind, count) in damage.counts() {
        let (places, bytes) = (grouped(count.places), grouped(count.bytes));
        table.row([kind.name().to_owned(), places, bytes, kind.meaning().to_owned()]);
    }
    printer.table(&table)?;
    for place in damage.first_places().iter().take(SHOWN_PLACES) {
        let Place { kind, offset, bytes, .. } = place;
        let file = label(input, place);
        printer.line(&format!("  {kind} at offset {offset:#x} of {file}: {} bytes", grouped(*bytes)))?;
    }
    let places: u64 = damage.counts().map(|(_, count)| count.places).sum();
    match places.saturating_sub(SHOWN_PLACES as u64) {
        0 => Ok(()),
        more => printer.line(&format!("  and {} more places", grouped(more))),
    }
}

fn label(input: &Input, place: &Place) -> String {
    input.parts().get(place.file).map(etwkit_extract::Part::label).unwrap_or_default()
}

/// The same for machines; `counts` is empty if nothing is wrong.
pub(crate) fn json(damage: &Damage) -> Value {
    let count = |(kind, count): (etwkit_etl::damage::Kind, etwkit_etl::damage::Count)| {
        (kind.name().to_owned(), json!({"places": count.places, "bytes": count.bytes}))
    };
    let counts: Map<String, Value> = damage.counts().map(count).collect();
    let place =
        |p: &Place| json!({"kind": p.kind.name(), "file": p.file, "offset": p.offset, "bytes": p.bytes});
    let places: Value = damage.first_places().iter().map(place).collect();
    json!({"counts": counts, "first_places": places})
}
