//! Columns of kernel objects with their events, and of handles by type.

use super::{HandleTypeRow, ObjectEvent, ObjectEvents, ObjectRequest, ObjectRow, ObjectSort};
use etwkit_question::Format::{Id, Moment, Process, ProcessLine, Seconds, Whole, Word};
use etwkit_question::{Column, Line, Ranked, View, frames};

type ObjectEventColumn = Column<ObjectRequest, ObjectEvent>;

/// Events, below the line of each object.
pub(super) const OBJECTS: View<ObjectRequest, ObjectEvent> = View::new(
    &[
        ObjectEventColumn::new("Time", "Time", Moment, |_, event| event.ts_ns.into()),
        ObjectEventColumn::new("Event", "Event", Word, |_, event| {
            event.event.clone().into()
        })
        .or("(open before)"),
        ObjectEventColumn::new("Handle", "Handle", Word, |_, event| {
            event.handle.clone().into()
        }),
        ObjectEventColumn::new("Process", "Process", Word, |_, event| {
            name(event.event_process.as_deref(), event.event_pid).into()
        }),
        ObjectEventColumn::new("Tid", "Tid", Id, |_, event| event.event_tid.into()),
        ObjectEventColumn::new("Details", "", Word, |_, event| details(event).into()),
        ObjectEventColumn::new("Object", "Object", Word, |_, event| {
            object_name(&event.object).into()
        })
        .shown_when_merged(|_| true),
    ],
    |event| event.sort_value,
)
.ranking(|asked| {
    if asked.sort == ObjectSort::Id {
        Ranked::No
    } else {
        Ranked::Groups
    }
})
.with_headings(|_, events| events.first().map(|event| heading(&event.object)))
// An object that is only known from lists of open handles has no event.
.listing("  ", |event| event.event.is_some())
.with_below(|_, event| frames(event.stack.as_deref()));

type HandleTypeColumn = Column<ObjectRequest, HandleTypeRow>;

/// Handles by type.
pub(super) const TYPES: View<ObjectRequest, HandleTypeRow> = View::new(
    &[
        HandleTypeColumn::new("Leaked", "Leaked", Whole, |_, row| row.leaked.into()).cost(),
        HandleTypeColumn::new("Preexisting", "Open before", Whole, |_, row| row.preexisting.into()).sum(),
        HandleTypeColumn::new("Created", "Created", Whole, |_, row| row.created.into()).sum(),
        HandleTypeColumn::new("Duplicated", "Duplicated", Whole, |_, row| row.duplicated_in.into()).sum(),
        HandleTypeColumn::new("Closed", "Closed", Whole, |_, row| row.closed.into()).sum(),
        HandleTypeColumn::new("ClosedPreexisting", "Closed, open before", Whole, |_, row| {
            row.closed_preexisting.into()
        })
        .sum(),
        HandleTypeColumn::new("MeanLifetime", "Mean lifetime s", Seconds(6), |_, row| {
            row.lifetime_ns.checked_div(row.closed).into()
        }),
        HandleTypeColumn::new("MaxLifetime", "Max s", Seconds(6), |_, row| row.max_lifetime_ns.into()),
        HandleTypeColumn::new("Type", "Type", Word, |_, row| row.type_name.clone().into()).or("?"),
        HandleTypeColumn::new("Process", "Process", ProcessLine, |_, row| row.into())
            .shown_if(|asked| asked.types() == Some(true)),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {Created} created, {Duplicated} duplicated, {Closed} closed, {Leaked} leaked; open before: {ClosedPreexisting} \
     closed, {Preexisting} still open",
    |_, _| true,
);

fn name(process: Option<&str>, pid: Option<i64>) -> String {
    match (process, pid) {
        (None, None) => String::new(),
        (name, pid) => {
            let pid = pid.map_or_else(String::new, |pid| format!("({pid})"));
            format!("{}{pid}", name.unwrap_or("?"))
        }
    }
}

/// Returns an object by address and name, if no line above its events has them.
fn object_name(object: &ObjectRow) -> String {
    format!(
        "{} {}",
        object.address,
        object.name.as_deref().unwrap_or("")
    )
    .trim_end()
    .to_owned()
}

/// Returns the data of an event that has no column of its own.
fn details(event: &ObjectEvent) -> String {
    let mut parts: Vec<String> = Vec::new();
    let owner = name(event.owner_process.as_deref(), event.owner_pid);
    if matches!(
        event.event.as_deref(),
        Some("handle_duplicate" | "handle_inherit")
    ) {
        let source = name(event.source_process.as_deref(), event.source_pid);
        parts.push(format!(
            "from {source} {} to {owner}",
            event.source_handle.as_deref().unwrap_or("")
        ));
    } else if event.owner_pid != event.event_pid && !owner.is_empty() {
        parts.push(format!("of {owner}"));
    }
    if let Some(count) = event.count {
        parts.push(
            format!("{count} {}", event.tag.as_deref().unwrap_or(""))
                .trim_end()
                .to_owned(),
        );
    }
    if event.is_leaked == Some(true) {
        parts.push("not closed".to_owned());
    }
    parts.join("; ")
}

/// Returns the number of created and duplicated handles minus the closed ones.
const fn left(creates: i64, duplicates: i64, closes: i64) -> i64 {
    creates.saturating_add(duplicates).saturating_sub(closes)
}

/// Returns the line of an object.
fn heading(object: &ObjectRow) -> Line {
    let what = if object.is_map { "Mapped" } else { "Object" };
    let name = object
        .name
        .as_ref()
        .map_or_else(String::new, |name| format!(" {name}"));
    let line = Line::new(format!(
        "Id: {} {what}: {}{name} Lifetime: ",
        object.id, object.address
    ));
    let line = match (object.lifetime_ns, object.destroyed_ns) {
        (Some(ns), _) => line.value(Seconds(6), ns).words(" s"),
        (None, Some(_)) => line.words("not known"),
        (None, None) => line.words("not closed"),
    };
    let line = line.words(format!(
        " Type: {}",
        object.type_name.as_deref().unwrap_or("?")
    ));
    let line = references(
        object,
        if object.is_map {
            map(object, line)
        } else {
            handles(object, line)
        },
    );
    let line = object.inherited_by.iter().fold(line, |line, heir| {
        line.words(format!(" Inherited by: {heir}"))
    });
    if object.process_key.is_none() {
        return line;
    }
    line.words(" Created by: ").value(Process, object)
}

/// Returns the size and place of a mapped file.
fn map(object: &ObjectRow, line: Line) -> Line {
    let line = object.map_size_bytes.into_iter().fold(line, |line, bytes| {
        line.words(" Size: ").whole(bytes).words(" bytes")
    });
    object
        .map_offset_bytes
        .into_iter()
        .fold(line, |line, offset| {
            line.words(format!(" Offset: {offset:#x}"))
        })
}

/// Returns handles of an object.
fn handles(object: &ObjectRow, line: Line) -> Line {
    let &ObjectRow {
        creates,
        duplicates,
        closes,
        preexisting,
        preexisting_owners,
        ..
    } = object;
    let line = if creates.saturating_add(duplicates).saturating_add(closes) > 0 {
        let open = left(creates, duplicates, closes);
        line.words(format!(
            " Create+Duplicate-Close: {creates}+{duplicates}-{closes} = {open}"
        ))
    } else {
        line
    };
    if preexisting <= 0 {
        return line;
    }
    line.words(" Open before: ")
        .counted(preexisting, ["handle", "handles"])
        .words(" of ")
        .counted(preexisting_owners, ["process", "processes"])
}

fn references(object: &ObjectRow, line: Line) -> Line {
    if object.reference_changes <= 0 {
        return line;
    }
    let line = line.words(format!(" References: {:+} in ", object.reference_balance));
    line.counted(object.reference_changes, ["change", "changes"])
}

/// Returns sums over all objects.
pub(super) fn total_lines(all: &[ObjectEvents]) -> Vec<Line> {
    let objects = |maps: bool| {
        all.iter()
            .map(|of| &of.object)
            .filter(move |object| object.is_map == maps)
    };
    let sum =
        |maps: bool, of: fn(&ObjectRow) -> i64| objects(maps).map(of).fold(0, i64::saturating_add);
    let created = sum(false, |object| object.created_ns.is_some().into());
    let destroyed = sum(false, |object| object.destroyed_ns.is_some().into());
    let [creates, duplicates, closes] = [
        sum(false, |object| object.creates),
        sum(false, |object| object.duplicates),
        sum(false, |object| object.closes),
    ];
    let references = sum(false, |object| object.reference_changes);
    let maps = sum(true, |object| object.creates);
    let unmaps = sum(true, |object| object.closes);
    let counts = Line::new("Objects Created/Destroyed: ")
        .whole(created)
        .words("/")
        .whole(destroyed)
        .words(" Diff: ")
        .whole(created.saturating_sub(destroyed))
        .words(", Handles Created/Closed/Duplicated: ")
        .whole(creates)
        .words("/")
        .whole(closes)
        .words("/")
        .whole(duplicates)
        .words(" Diff: ")
        .whole(left(creates, duplicates, closes))
        .words(", RefChanges: ")
        .whole(references)
        .words(", FileMap/Unmap: ")
        .whole(maps)
        .words("/")
        .whole(unmaps);
    if maps.saturating_add(unmaps) <= 0 {
        return vec![counts];
    }
    let bytes = |of: fn(&&ObjectRow) -> bool| {
        objects(true)
            .filter(of)
            .filter_map(|object| object.map_size_bytes)
            .fold(0, i64::saturating_add)
    };
    let sizes = Line::new("Mapped: ")
        .whole(bytes(|object| object.creates > 0))
        .words(" bytes, unmapped: ")
        .whole(bytes(|object| object.closes > 0))
        .words(" bytes, not unmapped: ")
        .whole(bytes(|object| object.leaked > 0))
        .words(" bytes");
    vec![counts, sizes]
}

#[cfg(test)]
mod tests {
    use etwkit_question::Piece;

    use super::*;

    #[test]
    fn an_object_that_did_not_end_has_no_lifetime() {
        let words = |lifetime_ns, destroyed_ns| {
            let object = ObjectRow {
                lifetime_ns,
                destroyed_ns,
                ..ObjectRow::default()
            };
            heading(&object).pieces[1].clone()
        };
        let said = |text: &str| Piece::Words(text.to_owned());
        assert_eq!(words(None, None), said("not closed"));
        assert_eq!(words(None, Some(5)), said("not known"));
        assert_eq!(words(Some(5), Some(9)), Piece::Value(Seconds(6), 5.into()));
    }
}
