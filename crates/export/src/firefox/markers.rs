//! Markers: waits, ready times, operations on disks and files, and marks, with their descriptions
//! in the profiler.

use etwkit_sql::functions::wait_reason_name;

use crate::json::{milliseconds, text};
use crate::timeline::{Io, Item, Readying, Scene, What};

/// The presentation of the data of markers in the profiler. None has the name of a marker of
/// Firefox, since the profiler treats some of those specially.
pub(super) const SCHEMA: &str = r#"[
{"name":"EtwWait","tableLabel":"{marker.data.reason}","chartLabel":"{marker.data.reason}","tooltipLabel":"Wait","display":["marker-chart","marker-table"],"fields":[{"key":"reason","label":"Reason","format":"string"},{"key":"by","label":"Readied by","format":"string"}]},
{"name":"EtwReady","tableLabel":"{marker.data.by}","chartLabel":"Ready","tooltipLabel":"Ready","display":["marker-chart","marker-table"],"fields":[{"key":"by","label":"Readied by","format":"string"}]},
{"name":"EtwIo","tableLabel":"{marker.data.operation} {marker.data.path}","chartLabel":"{marker.data.operation} {marker.data.path}","tooltipLabel":"{marker.data.operation}","display":["marker-chart","marker-table","timeline-overview"],"fields":[{"key":"operation","label":"Operation","format":"string"},{"key":"path","label":"Path","format":"file-path"},{"key":"size","label":"Size","format":"bytes"},{"key":"offset","label":"Position","format":"bytes"},{"key":"disk","label":"Disk","format":"integer"},{"key":"status","label":"Status","format":"string"}]},
{"name":"EtwMark","tableLabel":"{marker.data.text}","chartLabel":"{marker.data.text}","tooltipLabel":"Mark","display":["marker-chart","marker-table","timeline-overview"],"fields":[{"key":"text","label":"Text","format":"string"}]}
]"#;

/// A marker.
pub(super) struct Marker {
    /// Its name.
    pub(super) name: String,
    /// Its data, as JSON.
    pub(super) data: String,
    /// Start, as JSON.
    pub(super) start: String,
    /// End, as JSON.
    pub(super) end: String,
    /// 0 for a point in time, 1 for an interval, 2 for an interval without an end.
    pub(super) phase: u8,
}

/// Converts an item into a marker; `None` for all other items.
pub(super) fn of(item: &Item, scene: &Scene<'_>) -> Option<Marker> {
    let (name, data, end) = match &item.what {
        What::Wait(wait) => {
            let reason = wait
                .reason
                .and_then(|reason| i32::try_from(reason).ok())
                .map(wait_reason_name);
            let fields = [
                ("reason", reason.map(|reason| text(&reason))),
                ("by", readied(wait.by, scene)),
            ];
            ("Wait".to_owned(), data("EtwWait", fields), wait.end_ns)
        }
        What::Ready(ready) => (
            "Ready".to_owned(),
            data("EtwReady", [("by", readied(ready.by, scene))]),
            ready.end_ns,
        ),
        What::Io(io) => (format!("{} I/O", io.kind()), operation(io), io.end_ns),
        What::Mark(mark) => {
            let at = milliseconds(item.time_ns);
            let data = data("EtwMark", [("text", Some(text(mark)))]);
            return Some(Marker {
                name: "Mark".to_owned(),
                data,
                start: at,
                end: "null".to_owned(),
                phase: 0,
            });
        }
        What::Slice(_) | What::Sample(_) => return None,
    };
    let start = milliseconds(item.time_ns);
    let (end, phase) = end.map_or_else(|| ("null".to_owned(), 2), |end| (milliseconds(end), 1));
    Some(Marker {
        name,
        data,
        start,
        end,
        phase,
    })
}

/// Returns data with the fields that have a value.
fn data<const N: usize>(kind: &str, fields: [(&str, Option<String>); N]) -> String {
    let fields = fields
        .into_iter()
        .filter_map(|(name, json)| Some(format!(",\"{name}\":{}", json?)));
    format!("{{\"type\":\"{kind}\"{}}}", fields.collect::<String>())
}

fn readied(by: Readying, scene: &Scene<'_>) -> Option<String> {
    let by = if by.is_dpc {
        Some("a DPC".to_owned())
    } else {
        scene.thread_label(by.thread)
    };
    by.map(|by| text(&by))
}

fn operation(io: &Io) -> String {
    let number = |number: Option<i64>| number.map(|number| number.to_string());
    data(
        "EtwIo",
        [
            ("operation", Some(text(&io.operation))),
            ("path", io.path.as_deref().map(text)),
            ("size", number(io.size_bytes)),
            ("offset", number(io.offset_bytes)),
            ("disk", number(io.disk)),
            (
                "status",
                io.status
                    .map(|status| format!("\"{:#010x}\"", status as u32)),
            ),
        ],
    )
}
