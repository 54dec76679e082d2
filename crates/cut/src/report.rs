//! The output of the command.

use etwkit_base::digits::{counted, grouped};
use etwkit_trace::import::Range;
use serde_json::{Map, Value, json};

use crate::fate::Fate;
use crate::run::CutOutcome;

/// Nouns of a number of replaced texts.
const TEXTS: [&str; 2] = ["different text", "different texts"];

/// The report as lines of text.
#[must_use]
pub fn lines(done: &CutOutcome) -> Vec<String> {
    let cut = &done.cut;
    let (read, written) = done.sizes;
    let mut lines = vec![format!(
        "{}: {} of {} events, {} of {} bytes",
        done.out.display(),
        grouped(cut.total(true)),
        grouped(cut.total(true) + cut.total(false)),
        grouped(written),
        grouped(read),
    )];
    for kept in [true, false] {
        let fates = Fate::ALL.into_iter().filter(|fate| fate.is_kept() == kept);
        let counts: Vec<(Fate, u64)> = fates
            .filter_map(|fate| Some((fate, *cut.events.get(&fate)?)))
            // Fates without events would be lines of zeros.
            .filter(|(_, n)| *n > 0)
            .collect();
        if counts.is_empty() {
            continue;
        }
        lines.push(if kept {
            "Kept".to_owned()
        } else {
            "Dropped".to_owned()
        });
        let wide = counts
            .iter()
            .map(|(_, count)| grouped(*count).len())
            .fold(0, usize::max);
        lines.extend(
            counts
                .iter()
                .map(|(fate, n)| format!("  {:>wide$} {}", grouped(*n), fate.sentence())),
        );
    }
    if let Some(before) = cut.cut_before {
        lines.push(format!("It was a part before: {}", seconds(before)));
    }
    if let Some(texts) = cut.texts {
        lines.push(format!("Replaced {}", counted(texts, TEXTS)));
    }
    let losses = cut.damage.losses().len();
    if losses > 0 {
        lines.push(format!(
            "The recording is damaged in {}: events are missing",
            counted(losses as u64, ["place", "places"])
        ));
    }
    lines
}

/// The report of [`lines`] as JSON: kept and dropped events by reason. A reason without events
/// has 0.
#[must_use]
pub fn json(done: &CutOutcome) -> Value {
    let cut = &done.cut;
    let counts = |kept: bool| -> Map<String, Value> {
        let fates = Fate::ALL.into_iter().filter(|fate| fate.is_kept() == kept);
        let count = |fate: Fate| cut.events.get(&fate).map_or(0, |count| *count);
        fates
            .map(|fate| (fate.key().to_owned(), count(fate).into()))
            .collect()
    };
    let ends = |range: Range| {
        // An open end has no number.
        let bound = |ns: i64, open: i64| if ns == open { Value::Null } else { ns.into() };
        json!({"start_ns": bound(range.start_ns, i64::MIN), "end_ns": bound(range.end_ns, i64::MAX)})
    };
    json!({
        "traces": done.traces,
        "out": done.out,
        "range": cut.range.map(ends),
        "cut_before": cut.cut_before.map(ends),
        "kept": counts(true),
        "dropped": counts(false),
        "kept_events": cut.total(true),
        "dropped_events": cut.total(false),
        "kept_bytes": cut.bytes,
        "read_bytes": done.sizes.0,
        "written_bytes": done.sizes.1,
        "replaced_texts": cut.texts,
        "damaged_places": cut.damage.losses().len(),
    })
}

/// The texts that a redaction keeps, as lines of text: by reason, the most frequent first.
#[must_use]
pub fn checked_lines(done: &CutOutcome) -> Vec<String> {
    let cut = &done.cut;
    // Only a redaction is checked, and each one counts its texts.
    let mut lines = vec![format!(
        "Replaces {}, and drops {} not understood",
        counted(cut.texts.unwrap_or_default(), TEXTS),
        counted(not_understood(done), ["event that is", "events that are"]),
    )];
    for (reason, texts) in &cut.kept {
        let count = grouped(texts.len() as u64);
        let why = reason.sentence();
        lines.push(String::new());
        lines.push(format!("Kept: {why} ({count})"));
        let mut texts: Vec<(&String, &u64)> = texts.iter().collect();
        // The most frequent first, and then by text, so that the order is always the same.
        texts.sort_by_key(|(text, times)| (std::cmp::Reverse(**times), *text));
        let counted = texts.into_iter().map(|(text, times)| match times {
            1 => text.clone(),
            times => format!("{text} ({} times)", grouped(*times)),
        });
        lines.extend(filled(counted));
    }
    lines
}

/// Columns of a line of texts.
const LINE: usize = 100;

/// Returns indented lines with as many texts as fit into each.
fn filled(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        match lines.last_mut() {
            // A comma and a blank between two texts.
            Some(line) if line.chars().count() + text.chars().count() + 2 <= LINE => {
                line.push_str(", ");
                line.push_str(&text);
            }
            _ => lines.push(format!("  {text}")),
        }
    }
    lines
}

/// The texts of [`checked_lines`] as JSON: one object for each text.
#[must_use]
pub fn checked_json(done: &CutOutcome) -> Vec<Value> {
    let rows = done.cut.kept.iter().flat_map(|(reason, texts)| {
        texts
            .iter()
            .map(|(text, times)| json!({"reason": reason.key(), "text": text, "times": times}))
    });
    let sums = json!({
        "replaced_texts": done.cut.texts,
        "not_understood_events": not_understood(done),
    });
    [sums].into_iter().chain(rows).collect()
}

fn not_understood(done: &CutOutcome) -> u64 {
    let events = done.cut.events.get(&Fate::NotUnderstood);
    events.map_or(0, |count| *count)
}

fn seconds(range: Range) -> String {
    let bound = |ns: i64, open: i64| {
        if ns == open {
            String::new()
        } else {
            format!("{:.6}", ns as f64 / 1e9)
        }
    };
    format!(
        "{}..{} s",
        bound(range.start_ns, i64::MIN),
        bound(range.end_ns, i64::MAX)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fill_lines() {
        let texts = (0..40).map(|number| format!("text{number:02}"));
        let lines = filled(texts);
        assert_eq!(lines.len(), 4);
        assert!(lines[0].starts_with("  text00, text01, "), "{lines:?}");
        let is_full = |line: &String| (80..=LINE).contains(&line.len());
        assert!(lines[..3].iter().all(is_full), "{lines:?}");
        assert!(filled(std::iter::empty()).is_empty());
        let long = filled(["a".repeat(300), "b".to_owned()].into_iter());
        assert_eq!(long.len(), 2);
    }
}
