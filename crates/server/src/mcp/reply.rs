//! Replies are small, exact and inert: rows are cut with a count of the omitted ones, numbers that
//! JSON readers would round are texts, and characters that could hide something are escaped.

use etwkit_terminal::escape;
use serde_json::{Map, Value, json};

use crate::mcp::arguments::Page;

/// Largest number of characters in a text of a row.
const TEXT: usize = 400;

/// Approximate limit of the bytes of all rows in an answer.
pub(crate) const BYTES: usize = 24_000;

/// JSON readers that only know floating point round whole numbers from here on.
const TOO_LARGE: u64 = 1 << 53;

/// Endings of the names of columns with bit patterns.
const PATTERNS: [&str; 4] = ["address", "hash", "object_id", "heap_handle"];

/// Converts a value of a column to the form for an agent.
pub(crate) fn cell(column: &str, value: Value) -> Value {
    match value {
        Value::Number(number) => {
            // A bit pattern is text regardless of its size, so that a column has one type in all
            // rows.
            let is_pattern = PATTERNS.iter().any(|end| column.ends_with(end)) && !number.is_f64();
            let size = number
                .as_i64()
                .map(i64::unsigned_abs)
                .or_else(|| number.as_u64());
            if is_pattern || size.is_some_and(|size| size >= TOO_LARGE) {
                number.to_string().into()
            } else {
                number.into()
            }
        }
        Value::String(text) => cut(&text).into(),
        Value::Array(all) => all.into_iter().map(|one| cell(column, one)).collect(),
        Value::Object(all) => row(all),
        other => other,
    }
}

/// Converts a row to the form for an agent.
pub(crate) fn row(row: Map<String, Value>) -> Value {
    row.into_iter()
        .map(|(name, value)| (name.clone(), cell(&name, value)))
        .collect::<Map<_, _>>()
        .into()
}

/// Cuts a text that is too long, and appends the number of omitted characters.
pub(crate) fn cut(text: &str) -> String {
    let count = text.chars().count();
    if count <= TEXT {
        return text.to_owned();
    }
    let begin: String = text.chars().take(TEXT).collect();
    format!("{begin}… ({} more characters)", count - TEXT)
}

/// Returns the requested rows of a table that are within the size limit, and the number of omitted
/// rows.
pub(crate) fn rows(
    total: usize,
    page: Page,
    bytes: usize,
    mut row: impl FnMut(usize) -> Value,
) -> Map<String, Value> {
    let mut all = Vec::new();
    let mut left = bytes;
    let end = page.skip.saturating_add(page.rows).min(total);
    for at in page.skip..end {
        let row = row(at);
        let size = row.to_string().len();
        // One row is shown regardless of its size: otherwise an agent could not reach the rows
        // after it.
        if size > left && !all.is_empty() {
            break;
        }
        left = left.saturating_sub(size);
        all.push(row);
    }
    let shown = all.len();
    let mut table = Map::new();
    table.insert("rows".to_owned(), all.into());
    let next = page.skip.saturating_add(shown);
    if shown < total {
        let more = (next < total).then(|| format!("ask again with skip {next}"));
        table.insert(
            "cut".to_owned(),
            json!({"shown": shown, "skipped": page.skip.min(total), "of": total,
                   "not_shown": total - shown, "more": more}),
        );
    }
    table
}

/// Returns the lines of a text that are within the size limit, and the number of omitted lines.
pub(crate) fn lines(text: &str) -> String {
    if text.len() <= BYTES {
        return text.to_owned();
    }
    // Cut at the end of a line, since half a row of a table could be taken for a whole one.
    let end = text.floor_char_boundary(BYTES);
    let (front, rest) = text.split_at(end);
    let (front, rest) = front.rsplit_once('\n').map_or((front, rest), |(front, _)| {
        (front, text.split_at(front.len()).1)
    });
    format!(
        "{front}\n… {} more lines were cut",
        rest.lines().filter(|line| !line.is_empty()).count()
    )
}

/// Escapes characters that could change the display of a text, in everything that is sent. Line
/// ends are kept.
pub(crate) fn inert(value: Value) -> Value {
    match value {
        Value::String(text) => harmless(&text).into(),
        Value::Array(all) => all.into_iter().map(inert).collect(),
        // Also names of members: fields of events have names that come from the trace.
        Value::Object(all) => all
            .into_iter()
            .map(|(name, value)| (harmless(&name), inert(value)))
            .collect::<Map<_, _>>()
            .into(),
        other => other,
    }
}

fn harmless(text: &str) -> String {
    text.split('\n')
        .map(escape::text)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_would_be_rounded_are_texts() {
        assert_eq!(
            cell("count", json!(9_007_199_254_740_991_i64)),
            json!(9_007_199_254_740_991_i64)
        );
        assert_eq!(
            cell("count", json!(-9_007_199_254_740_992_i64)),
            json!("-9007199254740992")
        );
        assert_eq!(cell("start_address", json!(4096)), json!("4096"));
        assert_eq!(cell("method_hash", json!(7)), json!("7"));
        assert_eq!(cell("cpu_percent", json!(0.5)), json!(0.5));
    }

    #[test]
    fn what_is_cut_is_counted() {
        let table = rows(
            100,
            Page { skip: 10, rows: 5 },
            BYTES,
            |at| json!({ "at": at }),
        );
        assert_eq!(table["rows"].as_array().unwrap().len(), 5);
        let expected = json!({"shown": 5, "skipped": 10, "of": 100, "not_shown": 95, "more": "ask again with skip 15"});
        assert_eq!(table["cut"], expected);
        let small = rows(2, Page { skip: 0, rows: 5 }, BYTES, |at| json!(at));
        assert!(!small.contains_key("cut"));
        let wide = rows(9, Page { skip: 0, rows: 9 }, 100, |_| json!("x".repeat(60)));
        assert_eq!(
            (
                wide["rows"].as_array().unwrap().len(),
                &wide["cut"]["not_shown"]
            ),
            (1, &json!(8))
        );
        assert_eq!(
            cut(&"é".repeat(TEXT + 2)),
            format!("{}… (2 more characters)", "é".repeat(TEXT))
        );
        let text = "line\n".repeat(BYTES / 5 + 10);
        assert!(
            lines(&text).ends_with("… 10 more lines were cut"),
            "{}",
            lines(&text).len()
        );
    }

    #[test]
    fn nothing_that_is_sent_moves_a_cursor_or_turns_text_round() {
        let sent = inert(json!({"name\u{202e}": ["a\u{1b}[2Jb\nc", {"x": "\u{9b}31m"}]}));
        assert_eq!(
            sent,
            json!({"name\\u{202e}": ["a\\u{1b}[2Jb\nc", {"x": "\\u{9b}31m"}]})
        );
    }
}
